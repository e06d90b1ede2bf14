"""One character's mind: what it knows, which rule fires, and when again."""
from __future__ import annotations

import json
import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.rules import MOST_FIRINGS, FiredRule, Rule, RuleMind, RuleSet
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


def says(word):
    return lambda mind: word


FIGHT = RuleSet(
    [
        Rule("fear", "hurt and not safe", concludes="afraid"),
        Rule("attack", "near and not afraid", says("attack"), salience="aggression"),
        Rule("flee", "afraid > courage", says("flee"), salience=1.0),
        Rule("wait", "", says("wait"), salience=-1.0, repeats=True)],
    facts={"near": 0.0, "hurt": 0.0, "safe": 0.0},
    parameters={"aggression": 0.5, "courage": 0.5})


def names(fired):
    return [one.rule for one in fired]


def quiet(reports=None):
    return FaultIsolation(report=(lambda fault: None) if reports is None else reports.append)


def test_rules_fire_by_salience_then_by_degree_of_match():
    rules = RuleSet(
        [Rule("low", "a", says(1)), Rule("weak", "b", says(2), salience=2), Rule("strong", "a", says(3), salience=2),
         Rule("same", "a", says(4), salience=2)],
        facts={"a": 0.75, "b": 0.5})
    assert RuleMind(rules).think() == [
        FiredRule("strong", 0.75, 3), FiredRule("same", 0.75, 4), FiredRule("weak", 0.5, 2), FiredRule("low", 0.75, 1)]


def test_rule_fires_again_only_after_a_fact_it_reads_changed():
    mind = RuleMind(FIGHT)
    mind.set("near", 1.0)
    assert names(mind.think()) == ["attack", "wait"]
    assert names(mind.think()) == ["wait"]
    mind.set("near", 1.0)
    assert names(mind.think()) == ["wait"]
    mind.set("near", 0.5)
    assert names(mind.think()) == ["attack", "wait"]


def test_concluded_facts_follow_at_once_and_fall_with_basis():
    mind = RuleMind(FIGHT)
    mind.set("hurt", 0.75)
    assert mind.grade("afraid") == 0.75
    mind.set("safe", True)
    assert mind.grade("afraid") == 0.0


def test_one_rule_set_makes_characters_of_different_kinds():
    brave = RuleMind(FIGHT, parameters={"courage": 0.9})
    coward = RuleMind(FIGHT, parameters={"courage": 0.1})
    for mind in (brave, coward):
        mind.set("near", 1.0)
        mind.set("hurt", 0.4)
    assert [mind.think(most=1)[0].result for mind in (brave, coward)] == ["attack", "flee"]
    coward.set_parameter("courage", 0.5)
    assert coward.parameter("courage") == 0.5
    assert names(coward.think(most=1)) == ["attack"]


def test_a_single_decision_leaves_the_rest_on_the_agenda():
    mind = RuleMind(FIGHT)
    mind.set("near", 1.0)
    assert mind.agenda() == [("attack", 0.5, 1.0), ("wait", -1.0, 1.0)]
    assert names(mind.think(most=1)) == ["attack"]
    assert mind.agenda() == [("wait", -1.0, 1.0)]


def test_a_fact_that_is_asked_is_asked_once_a_thought():
    asked = []

    def nearness(mind):
        asked.append(mind.owner)
        return 0.5

    rules = RuleSet([Rule("a", "near", says(1)), Rule("b", "near", says(2))], facts={"near": nearness})
    mind = RuleMind(rules, owner="bob")
    assert mind.grade("near") == 0.0
    mind.think()
    assert (asked, mind.grade("near")) == (["bob"], 0.5)


def test_what_a_rule_sets_lets_others_fire_in_the_same_thought():
    rules = RuleSet(
        [
            Rule("shout", "enemy", lambda mind: mind.set("alarm", mind.grade("enemy"))),
            Rule("run", "alarm", says("run"))],
        facts={"enemy": 1.0, "alarm": 0.0})
    assert names(RuleMind(rules).think()) == ["shout", "run"]


def test_circular_rules_are_cut_off_and_reported():
    reports = []
    rules = RuleSet(
        [Rule("on", "not lit", lambda mind: mind.set("lit", 1)), Rule("off", "lit", lambda mind: mind.set("lit", 0))],
        facts={"lit": 0.0})
    mind = RuleMind(rules, name="bob", faults=quiet(reports))
    assert len(mind.think()) == MOST_FIRINGS + 2
    assert [one.name for one in reports] == ["bob: its own rules"]
    assert len(mind.think(most=7)) == 7
    assert len(reports) == 1


def test_many_rules_that_fire_once_are_no_endless_chain():
    reports = []
    rules = RuleSet([Rule(f"r{number}", "a", says(number)) for number in range(150)], facts={"a": 1.0})
    mind = RuleMind(rules, faults=quiet(reports))
    assert (len(mind.think()), len(mind.think()), reports) == (150, 0, [])


def test_characters_think_at_their_own_speed_by_a_parameter():
    rules = RuleSet([Rule("a", "", says(1), repeats=True)], facts={}, parameters={"thinks_every_s": 0.5},
                    period_s="thinks_every_s")
    quick, slow = RuleMind(rules, parameters={"thinks_every_s": 0.25}), RuleMind(rules)
    thoughts = {mind: sum(mind.update(0.125) is not None for _ in range(16)) for mind in (quick, slow)}
    assert (thoughts[quick], thoughts[slow]) == (8, 4)


def test_a_scheduler_runs_it_as_work():
    clock = ManualClock()
    scheduler, told = Scheduler(clock, policy=Policy.FREQUENCY), []
    mind = RuleMind(RuleSet([Rule("a", "", told.append, repeats=True)], facts={}))
    scheduler.add(mind, period_frames=2, phase_frames=0)
    for _ in range(6):
        clock.advance()
        scheduler.advance(Budget.unlimited())
    assert told == [mind] * 3


def test_a_rule_that_raises_is_reported_and_the_others_fire():
    reports = []
    rules = RuleSet([Rule("bad", "a", lambda mind: 1 / 0), Rule("good", "a", says(1))], facts={"a": 1.0})
    mind = RuleMind(rules, name="bob", faults=quiet(reports))
    assert mind.think() == [FiredRule("bad", 1.0, None), FiredRule("good", 1.0, 1)]
    assert [one.name for one in reports] == ["bob: rule 'bad'"]


def test_failing_rule_or_fact_is_quarantined_until_released():
    asked, fired, reports = [], [], []

    def broken(mind):
        asked.append(1)
        return math.nan

    def fails(mind):
        fired.append(1)
        raise RuntimeError

    rules = RuleSet([Rule("bad", "b", fails, repeats=True)], facts={"a": broken, "b": 1.0})
    mind = RuleMind(rules, name="bob", faults=quiet(reports))
    for _ in range(5):
        mind.think()
    assert (len(asked), len(fired)) == (3, 3)
    assert "the grade of 'a' must be a finite number, got nan" in str(reports[0].error)
    assert mind.save_state()["failing"][0] == ["fact 'a'", [3, True]]
    mind.release_quarantined()
    mind.think()
    assert (len(asked), len(fired)) == (4, 4)


def test_in_tests_a_failure_comes_through_after_the_thought():
    fired = []
    rules = RuleSet([Rule("bad", "", lambda mind: 1 / 0), Rule("good", "", fired.append)], facts={})
    mind = RuleMind(rules, faults=FaultIsolation(reraise=True))
    with pytest.raises(ZeroDivisionError):
        mind.think()
    assert fired == [mind]


@pytest.mark.parametrize("grade", [math.nan, math.inf, -0.1, 1.1, "1", None])
def test_a_grade_must_be_one(grade):
    with pytest.raises((TypeError, ValueError), match="the grade of 'near' must be"):
        RuleMind(FIGHT).set("near", grade)


def test_misuse_is_told_at_the_call():
    mind = RuleMind(RuleSet(
        [Rule("a", "near", concludes="close")], facts={"near": 0.0, "seen": lambda mind: 1.0}, parameters={"bold": 1.0}
    ))
    for call, error, message in (
        (lambda: mind.set("nearr", 1), UnknownNameError, "unknown fact 'nearr'; did you mean 'near'?"),
        (lambda: mind.set(["near"], 1), UnknownNameError, "unknown fact"),
        (lambda: mind.grade("x"), UnknownNameError, "unknown fact 'x'"),
        (lambda: mind.set("close", 1), ValueError, "fact 'close' is concluded by a rule; set the facts"),
        (lambda: mind.set("seen", 1), ValueError, "fact 'seen' is computed at every thought"),
        (lambda: mind.parameter("bolt"), UnknownNameError, "unknown parameter 'bolt'; did you mean 'bold'?"),
        (lambda: mind.set_parameter("bold", math.nan), ValueError, "parameter 'bold' must be a finite number"),
        (lambda: mind.think(most=0), ValueError, "most must be at least 1"),
        (lambda: mind.think(most=True), TypeError, "most must be an integer"),
        (lambda: mind.update(-1), ValueError, "elapsed_s must be at least 0"),
        (lambda: mind.advance(0.1), TypeError, r"without one, call update(elapsed_s)"),
        (lambda: RuleMind([]), TypeError, "rules must be a RuleSet"),
        (lambda: RuleMind(mind.rules, parameters={"speed": 1}), UnknownNameError, "unknown parameter 'speed'")):
        with pytest.raises(error) as raised:
            call()
        assert message in str(raised.value)


def test_a_mind_thinks_not_from_inside_its_own_thought():
    errors = []

    def again(mind):
        for call in (mind.think, mind.save_state, lambda: mind.prepare_state({})):
            with pytest.raises(RuntimeError) as raised:
                call()
            errors.append(str(raised.value))

    RuleMind(RuleSet([Rule("a", "", again)], facts={})).think()
    assert "was called from inside its own thought" in errors[0]
    assert "save and load between two frames" in errors[1]


def test_the_text_shows_what_it_knows_and_what_it_would_do():
    mind = RuleMind(FIGHT, name="bob", parameters={"aggression": 0.75})
    mind.set("near", 0.5)
    assert mind.to_text().splitlines() == [
        "bob: aggression 0.75, courage 0.5",
        "  facts: near 0.50, hurt 0.00, safe 0.00, afraid 0.00",
        "  attack (salience 0.75, met 0.50)",
        "  wait (salience -1, met 1.00)"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"facts": {}}, "'facts.near' is missing"),
        ({"parameters": {"aggression": 1.0, "courage": 0.5, "luck": 1}}, "'parameters.luck' is an unknown field"),
        ({"parameters": {"aggression": math.nan, "courage": 0.5}}, "'parameters.aggression' must be a finite number"),
        ({"fired": {"attack": [0, 0], "flee": [1], "wait": [0, 0]}}, "'fired.flee' must be a list of 2"),
        ({"moment": 0}, "'facts.near[1]' must be at most 'moment', 0, got 1"),
        ({"waited_s": -1.0}, "'waited_s' must be at least 0"),
        ({"failing": [["rule 'x'", [1, False]]]}, "unknown callback")])
def test_mismatched_state_is_refused_and_nothing_changes(change, says):
    mind = RuleMind(FIGHT)
    mind.set("near", 0.5)
    mind.think()
    before = json.loads(json.dumps(mind.save_state()))
    with pytest.raises(StateError) as raised:
        mind.prepare_state({**before, **change})
    assert says in str(raised.value)
    assert mind.save_state() == before


def test_a_grade_out_of_range_is_refused_in_a_state():
    mind = RuleMind(FIGHT)
    state = mind.save_state()
    state["facts"]["near"] = [2.0, 0]
    with pytest.raises(StateError, match=r"'facts\.near\[0\]' must be at most 1, got 2\.0"):
        mind.prepare_state(state)


def test_who_wants_to_know_is_told_each_rule_that_fires():
    heard = []
    rules = RuleSet([Rule("a", "", lambda mind: 1, salience=1), Rule("b", "", lambda mind: 2)], facts={})
    mind = RuleMind(rules, on_fired=heard.append)
    assert mind.think() == heard
    assert [fired.rule for fired in heard] == ["a", "b"]

    def broken(fired):
        raise RuntimeError(f"cannot show {fired.rule}")

    mind = RuleMind(rules, on_fired=broken)
    with pytest.raises(RuntimeError, match="cannot show a"):
        mind.think()
    assert mind.think() == []


def test_how_many_may_fire_is_checked_before_time_passes():
    mind = RuleMind(RuleSet([Rule("wait", "", says("wait"), repeats=True)], facts={}, period_s=1.0))
    mind.update(0.25)
    before = mind.save_state()
    for most in (0, 1.5):
        with pytest.raises((TypeError, ValueError), match="most must be"):
            mind.update(0.25, most)
    assert mind.save_state() == before


def test_a_mind_of_other_rules_continues_by_names():
    before = RuleMind(FIGHT, parameters={"courage": 0.4})
    before.set("hurt", 0.75)
    before.set_parameter("aggression", 2.0)
    assert names(before.think()) == ["flee", "wait"]
    rules = RuleSet(
        [
            Rule("flee", "hurt > courage", says("flee")), Rule("hide", "hurt", says("hide")),
            Rule("attack", "near", says("attack"), salience="aggression"), Rule("wait", "", says("wait"))],
        facts={"near": 0.25, "hurt": 0.0, "afraid": 0.0}, parameters={"courage": 0.5, "aggression": 1.0})
    mind = RuleMind(rules)
    mind.continue_from(before)
    assert [mind.grade(one) for one in ("near", "hurt", "afraid")] == [0.25, 0.75, 0.0]     # afraid was concluded
    assert (mind.parameter("courage"), mind.parameter("aggression")) == (0.5, 2.0)
    assert names(mind.think()) == ["attack", "hide"]                                        # the others have fired
    with pytest.raises(TypeError, match="before must be a RuleMind"):
        mind.continue_from("before")


def hurt_by(grade, courage=1.0):
    return RuleSet(
        [Rule("flee", "hurt", says("flee"))], facts={"hurt": grade}, parameters={"courage": courage})


def continued(before, *others):
    for rules in others:
        mind = RuleMind(rules)
        mind.continue_from(before)
        before = mind
    return before


def test_what_was_set_stays_through_any_number_of_other_rules():
    before = RuleMind(hurt_by(0.2))
    before.set("hurt", 0.8)
    before.set_parameter("courage", 2.0)
    mind = continued(before, hurt_by(0.8, courage=2.0), hurt_by(0.5, courage=3.0))
    assert (mind.grade("hurt"), mind.parameter("courage")) == (0.8, 2.0)
    before.set("hurt", 0.2)
    assert continued(before, hurt_by(0.9)).grade("hurt") == 0.2


def test_another_beginning_is_a_change_for_rules_that_fired():
    before = RuleMind(hurt_by(1.0))
    assert names(before.think()) == ["flee"]
    assert names(continued(before, hurt_by(1.0)).think()) == []
    assert names(continued(before, hurt_by(0.5)).think()) == ["flee"]
