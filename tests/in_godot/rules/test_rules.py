"""RuleSet and RuleMind: rules as text in a resource, thought by characters that differ."""
from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import construct

RULES = """
# who is hurt and in the open is afraid
fear: hurt and not covered -> afraid
flee: afraid > courage | salience 2, repeats, do run_away
attack: near | salience aggression, repeats
advance: always | repeats
"""

ACTOR = """
    extends Node3D
    var distance_m := 5.0
    var log := []
    func get_nearness() -> float: return clampf(1.0 - distance_m / 20.0, 0.0, 1.0)
    func run_away() -> void: log.append("runs")
"""


@pytest.fixture
def rule_set():
    def made(**settings):
        rules = construct("RuleSet")
        rules.set("facts", {"hurt": 0.0, "covered": 0.0, "near": "get_nearness"})
        rules.set("parameters", {"courage": 0.5, "aggression": 1.0})
        rules.set("rules", RULES)
        for name, value in settings.items():
            rules.set(name, value)
        return rules

    return made


@pytest.fixture
def character(node, scheduler, gdscript):
    """``character(rules, **settings)``: (actor, its RuleMind)."""
    script = gdscript(ACTOR)

    def made(rules, **settings):
        actor = node("Node3D", scheduler)
        actor.set_script(script)
        settings = {"think_automatically": False, "rule_set": rules, **settings}
        return actor, node("RuleMind", actor, **settings)

    return made


def test_freed_mind_leaves_no_reference_cycle(rule_set, character, physics_frames):
    actor, _ = character(rule_set())
    mind = construct("RuleMind")
    mind.set("rule_set", rule_set())
    actor.add_child(mind)
    physics_frames(2)
    gone = [weakref.ref(mind), weakref.ref(mind.core)]
    gc.disable()
    mind.free()
    del mind
    left = [one() for one in gone if one() is not None]
    gc.enable()
    assert left == []


def test_shared_rules_decide_by_each_minds_parameters(rule_set, character, signals):
    rules = rule_set()
    _, brave = character(rules, parameters={"courage": 0.9})
    runner, timid = character(rules, parameters={"courage": 0.1})
    fired = signals(timid, "rule_fired")
    for mind in (brave, timid):
        mind.set_fact("hurt", 0.6)
    assert (brave.decide(), timid.decide()) == ("attack", "flee")
    assert fired == [("flee",)]
    assert runner.get("log") == ["runs"]
    timid.set_parameter("courage", 0.7)
    assert timid.decide() == "attack"
    assert timid.get_parameter("courage") == pytest.approx(0.7)


def test_facts_are_asked_of_the_actor_and_concluded_by_rules(rule_set, character):
    actor, mind = character(rule_set())
    actor.set("distance_m", 30.0)
    assert mind.decide() == "advance"
    assert mind.get_grade("near") == 0.0
    actor.set("distance_m", 10.0)
    mind.set_fact("hurt", 0.4)
    assert list(mind.think()) == ["attack", "advance"]
    assert mind.get_grade("afraid") == pytest.approx(0.4)
    assert "facts: hurt 0.40, covered 0.00, near 0.50, afraid 0.40" in mind.to_text()
    assert list(mind.get_agenda()) == []


def test_a_mind_is_evaluated_as_often_as_its_rules_say(rule_set, character, physics_frames, signals):
    _, mind = character(rule_set(period=0.1), think_automatically=True, max_rules=1)
    fired = signals(mind, "rule_fired")
    physics_frames(25)
    assert len(fired) in (4, 5)
    mind.enabled = False
    count = len(fired)
    physics_frames(10)
    assert len(fired) == count


def test_it_is_loaded_as_it_was_saved(rule_set, character, scheduler):
    _, mind = character(rule_set())
    mind.set_fact("hurt", 0.6)
    mind.set_parameter("courage", 0.2)
    saved = scheduler.save_state()
    mind.set_fact("hurt", 0.0)
    mind.set_parameter("courage", 0.9)
    assert scheduler.load_state(saved)
    assert mind.decide() == "flee"


MISTAKES = {
    "rule 'flee', line 2, column 14: unknown fact in the condition 'afrad'": "\nflee: hurt > afrad\n",
    "rule 'flee', line 1, column 15: the condition: a condition must have the form": "flee: hurt and | salience 2",
    "line 2, column 3: a rule must read": "flee: hurt\n  attack near",
    "rule 'flee', line 1, column 14: an option must be one of salience NUMBER": "flee: hurt | salty 3",
    "rule 'flee', line 1, column 23: must be a finite number or the name": "flee: hurt | salience 2x",
    "rule 'flee', line 2, column 1: two rules have this name": "flee: hurt\nflee: near",
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_is_reported_with_rule_line_and_column(message, rule_set):
    assert message in rule_set(rules=MISTAKES[message]).get_error()


def test_a_mind_with_wrong_rules_says_so_and_does_not_run(rule_set, character, expect_errors, physics_frames):
    expect_errors("rule 'flee', line 1, column 7: unknown fact in the condition 'hurts'", times=1)
    _, mind = character(rule_set(rules="flee: hurts"))
    expect_errors("does not run", times=1)
    mind.call("think")
    physics_frames(2)


@pytest.mark.parametrize(("settings", "message"), [
    ({"parameters": {"corage": 1.0}}, "parameters do not fit the rules: unknown parameter 'corage'"),
    ({"rule_set": None}, "has no rule_set and does nothing"),
])
def test_what_a_mind_lacks_is_warned_of(settings, message, rule_set, character, expect_errors, physics_frames):
    expect_errors(message, times=1)
    character(rule_set(), **settings)
    physics_frames(2)


def test_the_page_is_true(rule_set, node, scheduler, gdscript):
    page = (Path(__file__).parents[3] / "docs" / "godot" / "rules.md").read_text(encoding="utf-8")
    [script] = re.findall(r"```gdscript\n(.*?)```", page, re.DOTALL)
    [text] = re.findall(r"```text\n(fear:.*?)```", page, re.DOTALL)
    soldier = gdscript(script).new()
    mind = construct("RuleMind")
    mind.set("name", "RuleMind")
    mind.set("think_automatically", False)
    mind.set("rule_set", rule_set(rules=text))
    soldier.add_child(mind)
    scheduler.add_child(soldier)
    soldier.call("take_hit", 0.4)
    assert soldier.get("story") == ["attack"]
    soldier.call("take_hit", 0.3)
    assert soldier.get("story") == ["attack", "flee", "runs"]


def test_changed_rules_count_at_once_and_facts_stay(rule_set, character, scheduler):
    rules = rule_set()
    _, mind = character(rules)
    mind.set_fact("hurt", 0.6)
    mind.set_parameter("aggression", 1.5)
    assert mind.decide() == "flee"
    rules.set("rules", RULES.replace("advance: always", "wait: always"))
    assert list(mind.get_agenda()) == ["attack", "wait"]      # flee has fired in this thought
    rules.set("parameters", {"courage": 0.7, "aggression": 1.0})       # one that the mind has not set itself
    assert list(mind.think()) == ["attack", "wait"]
    mind.parameters = {"courage": 0.1}
    assert list(mind.think()) == ["flee", "attack", "wait"]
    assert (mind.get_grade("hurt"), mind.get_parameter("courage"), mind.get_parameter("aggression")) == \
        pytest.approx((0.6, 0.1, 1.5))


def test_a_changed_period_counts_at_once(rule_set, character, physics_frames, signals):
    rules = rule_set(period=0.1)
    _, mind = character(rules, think_automatically=True, max_rules=1)
    fired = signals(mind, "rule_fired")
    physics_frames(25)
    rules.set("period", 10.0)
    del fired[:]
    physics_frames(25)
    assert fired == []


def test_after_a_mistake_in_a_game_the_former_rules_stay(rule_set, character, physics_frames, expect_errors):
    rules = rule_set()
    _, mind = character(rules)
    rules.set("rules", "flee: hurts")
    rules.set("rules", "flee: hurt")            # corrected in the same frame
    physics_frames(2)
    expect_errors("rule 'flee', line 1, column 7: unknown fact in the condition 'hurts'", times=1)
    rules.set("rules", "flee: hurts")
    physics_frames(2)
    mind.set_fact("hurt", 1.0)
    assert mind.decide() == "flee"


def test_a_mind_follows_its_own_rules_only(rule_set, character, physics_frames):
    first, second = rule_set(), rule_set()
    actor, mind = character(first)
    mind.rule_set = second
    mind.set_fact("hurt", 0.6)
    first.set("rules", "one: always")
    assert mind.get_grade("hurt") == pytest.approx(0.6)
    actor.free()
    second.set("rules", "one: always")          # nobody listens any more
    physics_frames(1)


def test_a_grade_that_is_out_of_range_names_mind_and_fact(rule_set, character, physics_frames, expect_errors):
    actor, mind = character(rule_set(facts={"hurt": 0.0, "covered": 0.0, "near": "get_scale"}))
    expect_errors(f"behavior '{mind.get_path()}: fact 'near'': get_scale() of the actor must return a number", times=3)
    for _ in range(4):
        mind.think()
    actor, mind = character(rule_set(facts={"hurt": 0.0, "covered": 0.0, "near": "get_child_count"}))
    for _ in range(2):
        actor.add_child(construct("Node"))
    said = f"behavior '{mind.get_path()}: fact 'near'': the grade of 'near' must be at most 1, got 3"
    expect_errors(said, times=3)
    expect_errors(
        f"{said}; it failed 3 times in a row and is quarantined: fix it, then call release_quarantined() of its node")
    for _ in range(4):
        mind.think()


def test_a_mind_outside_the_tree_says_so(rule_set, character, expect_errors):
    actor, mind = character(rule_set())
    actor.remove_child(mind)
    expect_errors("is outside the scene tree and cannot answer; check is_inside_tree() before", times=1)
    mind.call("get_grade", "near")
    mind.free()
