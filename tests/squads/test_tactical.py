"""A squad that meets somebody: which tactic, who does what, and who may attack."""
from __future__ import annotations

import json

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.rules import Rule, RuleSet
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.scheduling.scheduler import Scheduler
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.situation import Sighting
from ai_core.squads.squad import Squad
from ai_core.squads.tactics import SITUATION_FACTS, SquadTask, Tactic, TacticByRules
from tests.squads.marching import march, marched, squad_of

rifle = Capabilities("ground", attack={"ground": 2.0}, toughness=10.0)
ENEMIES = [Sighting(7, (20.0, 0.0), rifle), Sighting(8, (20.0, 4.0), rifle)]


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def told():
    return []


def armed(count, clock, roles=None, **settings):
    squad = Squad("alpha", clock, **settings)
    for number in range(count):
        squad.add(number, (0, 2 * number), roles=(roles or {}).get(number, ()), capabilities=rifle)
    return squad


class Charge(Tactic):
    """Everybody attacks."""

    name = "charge"

    def plan(self, situation):
        return {one: SquadTask("attack", situation.enemies[0].position, situation.enemies[0].enemy_id)
                for one in situation.members} if situation.enemies else {}


def test_members_with_tasks_leave_slots_and_the_others_march_on(clock):
    squad = armed(4, clock, roles={3: ("scout",)})
    order = squad.move_to((40, 0))
    squad.use_tactic("scouting")
    march(squad, clock, seconds=7)
    assert squad.tasks[3].kind == "scout"
    scout, others = squad.positions[3], squad.positions[:3]
    assert scout[0] > others[:, 0].max() + 3
    marched(squad, clock)
    assert order.state == "done"
    squad.use_tactic(None)
    squad.move_to((40, 10))
    marched(squad, clock)
    assert squad.tasks == {}
    assert squad.marchers.away.max() < 0.3


def test_at_most_two_attack_at_once_and_the_others_stand_by(clock):
    squad = armed(5, clock, tactics=[Charge()], tokens=AttackTokens(2, max_hold_s=1.0, cooldown_s=0.0))
    squad.set_sightings(ENEMIES)
    squad.use_tactic("charge")
    attacked = set()
    for _ in range(100):
        squad.think()
        kinds = [task.kind for task in squad.tasks.values()]
        assert kinds.count("attack") == 2
        assert kinds.count("stand_by") == 3
        attacked |= {one for one, task in squad.tasks.items() if task.kind == "attack"}
        clock.advance(seconds=0.3)      # the time to come near counts as well
    assert attacked == set(range(5))


def test_bounding_ends_at_the_order_goal_and_completes_it(clock):
    squad = armed(4, clock)
    order = squad.move_to((30, 0))
    squad.use_tactic("bounding_overwatch")
    march(squad, clock, seconds=4)
    assert order.state == "marching"
    assert {task.kind for task in squad.tasks.values()} == {"bound", "overwatch"}
    marched(squad, clock)
    assert order.state == "done"
    assert squad.marchers.away.max() < 0.3


def test_a_commander_chooses_by_rules(clock, told):
    rules = RuleSet([
        Rule("flank", "met and strong > 0.6", lambda mind: "flanking", salience=2, repeats=True),
        Rule("screen", "met and outnumbered > 0.5", lambda mind: "sacrifice", salience=1, repeats=True),
        Rule("scout", "not met and has_scout", lambda mind: "scouting", repeats=True),
    ], facts=SITUATION_FACTS)
    squad = armed(4, clock, roles={0: ("scout",)}, choose_tactic=TacticByRules(rules),
                  on_event=lambda kind, squad, detail: told.append((kind, detail)))
    squad.think()
    assert squad.tactic == "scouting"
    squad.set_sightings(ENEMIES)
    squad.think()
    assert squad.tactic == "flanking"
    squad.set_sightings([Sighting(number, (20.0, number), rifle) for number in range(9)])
    squad.think()
    assert squad.tactic == "sacrifice"
    squad.set_sightings([])
    squad.remove(0)
    squad.think()
    assert squad.tactic is None
    assert [detail for kind, detail in told if kind == "tactic_changed"] == [
        "scouting", "flanking", "sacrifice", None]


def test_facts_of_a_situation_are_grades(clock):
    squad = armed(3, clock, roles={1: ("healer",)})
    squad.set_sightings(ENEMIES)
    situation = squad.situation()

    class Mind:
        owner = situation

    grades = {name: ask(Mind) for name, ask in SITUATION_FACTS.items()}
    assert all(0 <= grade <= 1 for grade in grades.values())
    assert grades["met"] == grades["has_healer"] == grades["can_hit"] == 1
    assert grades["outnumbered"] == pytest.approx(2 / 5)
    assert grades["strong"] == pytest.approx(1.5 / 2.5)
    assert grades["near"] == pytest.approx(1 - np.hypot(20, 2) / 30, abs=1e-6)


def test_a_commander_chooses_by_habits(clock):
    squad = armed(4, clock)
    commander = HabitTree(Habit("command", [
        Habit("fight", can_activate=lambda context: context.blackboard.get("met"), wakes_on=("met",),
              enter=lambda context: squad.use_tactic("flanking"), exit=lambda context: squad.use_tactic(None),
              tick=lambda context: Status.RUNNING if squad.sightings else Status.SUCCEEDED),
        Habit("travel"),
    ]), name="commander", blackboard=Blackboard())
    commander.tick(0.1)
    assert squad.tactic is None
    squad.set_sightings(ENEMIES)
    commander.blackboard["met"] = bool(squad.sightings)
    commander.tick(0.1)
    assert squad.tactic == "flanking"
    squad.set_sightings([])
    commander.blackboard["met"] = False
    commander.tick(0.1)
    assert squad.tactic is None


def test_raising_tactic_is_reported_and_all_stay_in_formation(clock):
    class Broken(Tactic):
        name = "broken"

        def plan(self, situation):
            return {0: SquadTask("go", (0.0, float("nan")))}

    faults = []
    squad = armed(3, clock, tactics=[Broken()], faults=FaultIsolation(report=faults.append))
    squad.use_tactic("broken")
    order = squad.move_to((10, 0))
    marched(squad, clock)
    assert order.state == "done"
    assert squad.tasks == {}
    assert "must have a position of 2 finite coordinates" in str(faults[0].error)
    assert len(faults) == 3                        # then it is quarantined


def test_a_squad_releases_the_rules_that_choose_its_tactic(clock):
    answers = []
    rules = RuleSet([Rule("rush", "met", lambda mind: answers.pop(), repeats=True)], facts=SITUATION_FACTS)
    faults = FaultIsolation(report=lambda fault: None)
    squad = armed(3, clock, choose_tactic=TacticByRules(rules, faults=faults), tactics=[Charge()], faults=faults)
    squad.set_sightings(ENEMIES)
    for _ in range(3):
        squad.think()
    answers.append("charge")
    squad.think()
    assert squad.tactic is None
    squad.release()
    squad.think()
    assert squad.tactic == "charge"


def test_who_is_lost_has_no_task_and_no_token(clock):
    squad = armed(3, clock, tactics=[Charge()])
    squad.set_sightings(ENEMIES)
    squad.use_tactic("charge")
    squad.think()
    squad.remove(0)
    assert 0 not in squad.tasks
    assert 0 not in squad.tokens.holders


def test_a_split_squad_has_tactics_and_tokens_of_its_own(clock):
    squad = armed(6, clock)
    other = squad.split([4, 5], "beta")
    assert other.tactics == squad.tactics
    squad.set_sightings(ENEMIES)
    squad.use_tactic("flanking")
    squad.think()
    assert other.tactic is None
    assert other.tasks == {}


def test_a_squad_says_without_whom_its_tactic_continues(clock):
    events = []
    squad = armed(4, clock, on_event=lambda kind, _, detail: events.append((kind, detail)))
    squad.set_sightings(ENEMIES)
    squad.use_tactic("flanking")
    for _ in range(15):                                 # nobody moves
        squad.think()
        clock.advance(seconds=1.0)
    [given_up] = [detail for kind, detail in events if kind == "tasks_given_up"]
    assert len(given_up) == 2
    assert "flank" not in {task.kind for task in squad.tasks.values()}


def test_pause_of_its_scheduler_uses_up_no_patience_of_a_tactic(clock):
    events = []
    squad = armed(4, clock, on_event=lambda kind, _, detail: events.append(kind))
    scheduler = Scheduler(clock)
    scheduler.add(squad.think, period_frames=15, name="thinks")
    squad.set_sightings(ENEMIES)
    squad.use_tactic("flanking")

    def given_up_after(seconds):                        # nobody moves
        for _ in range(round(60 * seconds)):
            clock.advance(seconds=1 / 60)
            scheduler.advance(Budget.unlimited())
        return "tasks_given_up" in events

    assert not given_up_after(6)
    clock.advance(seconds=30.0)
    scheduler.skip_time(30.0)
    assert not given_up_after(3)
    restored = armed(4, clock)
    restored.prepare_state(json.loads(json.dumps(squad.save_state())))()
    assert restored.situation().now_s == squad.situation().now_s == pytest.approx(9.0)
    assert given_up_after(3)


def test_judging_whom_it_sees(clock):
    squad = armed(6, clock)
    squad.set_sightings(ENEMIES)
    assert squad.judge().kind == "fight"
    squad.set_sightings([])
    assert squad.judge().reasons[0] == "no enemy is met"


def test_enemies_of_unknown_strength_are_named_and_not_counted(clock):
    squad = armed(6, clock)
    squad.set_sightings([Sighting(7, (9.0, 0.0))])
    assert squad.judge() == ("hold", 1.0, ("1 enemy of unknown strength",))
    squad.set_sightings([*ENEMIES, Sighting(77, (9.0, 0.0)), Sighting(78, (9.0, 1.0))])
    clock.advance(seconds=5.0)
    stance = squad.judge()
    assert (stance.kind, stance.reasons[-1]) == ("fight", "not counted: 2 enemies of unknown strength")


@pytest.mark.parametrize("tactic", ["bounding_overwatch", "flanking", "sacrifice", "suppressing_fire"])
def test_a_squad_saved_in_the_middle_of_a_tactic_goes_on(clock, tactic):
    squad = armed(5, clock, roles={2: ("vip",)})
    squad.set_sightings(ENEMIES)
    squad.move_to((40, 0))
    squad.use_tactic(tactic)
    march(squad, clock, seconds=3)
    other = squad_of(1, clock)
    other.prepare_state(json.loads(json.dumps(squad.save_state())))()
    assert other.tactic == tactic
    assert dict(other.tasks) == dict(squad.tasks)
    for one in (squad, other):
        one.set_sightings(squad.sightings)
    states = []
    for one in (squad, other):
        one.think()
        one.move_slots(0.1)
        states.append(one.save_state())
    assert states[0] == states[1]


@pytest.mark.parametrize("change", [
    {"tactic": "dance"}, {"tactic": ["dance", {}]}, {"sightings": [{"id": 1}]}, {"tasks": [[77, ["a", None, None]]]},
    {"tokens": {}}, {"choice": {"version": 1}}, {"more": 1},
])
def test_what_is_no_state_of_tactics_is_refused(clock, change):
    squad = armed(3, clock)
    state = squad.save_state()
    with pytest.raises(StateError):
        squad.prepare_state({**state, **change})


@pytest.mark.parametrize(("use", "error", "complaint"), [
    (lambda one: one.use_tactic("flank"), UnknownNameError, "unknown tactic 'flank'; did you mean 'flanking'"),
    (lambda one: one.why_not("flank"), UnknownNameError, "unknown tactic"),
    (lambda one: one.add_tactic("flank"), TypeError, "tactic must be a Tactic with a name"),
    (lambda one: one.set_sightings([7]), TypeError, "sightings must hold Sighting"),
    (lambda one: one.set_sightings(None), TypeError, "sightings must be a sequence of Sighting"),
    (lambda one: one.split(None, "n"), TypeError, "member_ids must be a sequence of ids, got None"),
    (lambda one: one.think("x"), TypeError, "turn must be a Turn of a scheduler, got 'x'; give none"),
    (lambda one: one.remove(True), TypeError, "member_id must be an integer, got True"),
    (lambda one: one.row_of("0"), TypeError, "member_id must be an integer, got '0'"),
    (lambda one: one.set_sightings([*ENEMIES, ENEMIES[0]]), ValueError, "enemy 7 occurs twice"),
    (lambda one: one.set_sightings([Sighting(1, (0, 0, 0))]), ValueError, "enemy 1 must have 2 coordinates"),
])
def test_mistakes_are_clear_errors(clock, use, error, complaint):
    squad = armed(2, clock)
    with pytest.raises(error, match=complaint):
        use(squad)


def test_a_rule_that_returns_no_name_is_a_clear_error(clock):
    faults = []
    rules = RuleSet([Rule("odd", "met", lambda mind: 3, repeats=True)], facts=SITUATION_FACTS)
    squad = armed(2, clock, choose_tactic=TacticByRules(rules), faults=FaultIsolation(report=faults.append))
    squad.set_sightings(ENEMIES)
    squad.think()
    assert "rule 'odd' must return the name of a tactic or None, got 3" in str(faults[0].error)
