"""Behavioral level of detail: what runs at which importance, and how it is switched."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Whole
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Turn
from ai_core.snapshot import SnapshotError, from_json, restore, take, to_json


class Walker:
    """A character with two behaviors that overlap between 0.4 and 0.6."""

    def __init__(self, clock, **settings):
        self.clock = clock
        self.diary = []
        self.faults = FaultIsolation(quarantine_after=2, report=lambda fault: self.diary.append(fault.name))
        self.lod = BehavioralLOD(
            [self.behavior("plan", 0.4, 1.0), self.behavior("stroll", 0.0, 0.6)], faults=self.faults, **settings
        )
        self.scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
        self.scheduler.add(self.lod, name="walker")

    def behavior(self, name, lowest=0.0, highest=1.0, work=None):
        return LODBehavior(
            name=name, lowest=lowest, highest=highest, work=work or (lambda turn: None),
            enter=lambda before, data: self.diary.append(("enter", name, before and before.name, data)),
            exit=lambda after: self.diary.append(("exit", name, after and after.name)) or f"goal of {name}",
        )

    def at(self, importance):
        self.lod.importance = importance
        self.clock.advance()
        self.scheduler.advance(Budget.unlimited())
        return self.lod.current


def test_the_old_behavior_is_left_first_and_hands_its_data_on(clock):
    walker = Walker(clock)
    assert walker.at(0.9) == "plan"
    walker.diary.clear()
    assert walker.at(0.1) == "stroll"
    assert walker.diary == [("exit", "plan", "stroll"), ("enter", "stroll", "plan", "goal of plan")]


def test_a_game_may_convert_the_data_of_a_pair(clock):
    walker = Walker(clock)
    walker.lod.compress("plan", "stroll", lambda data: ("stall", data))
    walker.at(0.9)
    walker.at(0.1)
    walker.at(0.9)
    assert [one[3] for one in walker.diary if one[0] == "enter"] == [
        None, ("stall", "goal of plan"), "goal of stroll",
    ]


def test_long_wobbling_on_a_border_switches_once():
    lod = BehavioralLOD([
        LODBehavior(name="plan", work=print, lowest=0.45), LODBehavior(name="stroll", work=print, highest=0.55),
    ])
    for frame in range(10_000):
        lod.importance = 0.45 + 0.09 * math.sin(frame)
        lod.switch_if_needed()
    assert lod.switches == 2  # one enters, one leaves at the first dip below 0.45


@pytest.mark.slow
def test_viewer_wobbling_on_a_border_switches_only_once():
    importance = Importance(ImportanceSettings(distance=1.0, view=0, approach=0, size=0, near_m=0, far_m=100))
    importance.add(1)
    lod = BehavioralLOD([
        LODBehavior(name="plan", work=print, lowest=0.45), LODBehavior(name="stroll", work=print, highest=0.55),
    ])
    here, switches = np.zeros((1, 2), np.float32), []
    for frame in range(10_000):
        viewer = Viewer((50 + 4.9 * math.sin(frame / 7), 0.0))
        lod.importance = float(importance.update([viewer], here, 1 / 60)[0])
        lod.switch_if_needed()
        switches.append(lod.switches)
    assert set(switches) == {1}
    for away_m in range(50, 101):
        lod.importance = float(importance.update([Viewer((away_m, 0.0))], here, 1.0)[0])
        lod.switch_if_needed()
    assert (lod.current, lod.switches) == ("stroll", 2)


def test_crossing_the_whole_overlap_switches_once_per_direction(clock):
    walker = Walker(clock)
    walker.at(0.0)
    seen = [walker.at(n / 100) for n in range(101)]
    assert seen.index("plan") == 61
    assert walker.lod.switches == 2
    seen = [walker.at(n / 100) for n in range(100, -1, -1)]
    assert seen.index("stroll") == 61
    assert walker.lod.switches == 3


def test_fallback_runs_in_gaps_without_flapping_at_borders(clock):
    diary = []
    lod = BehavioralLOD(
        [LODBehavior(name="plan", work=diary.append, lowest=0.5)],
        fallback=LODBehavior(name="wait", work=diary.append), margin=0.05,
    )
    for frame in range(10_000):
        lod.importance = 0.5 + 0.04 * math.sin(frame)
        lod.switch_if_needed()
    assert (lod.current, lod.switches) == ("wait", 2)
    lod.importance = 0.56
    lod.switch_if_needed()
    assert lod.current == "plan"


@pytest.mark.parametrize("border", [0.5, 0.02, 0.98])
def test_ranges_that_only_touch_do_not_flap_on_the_border(border):
    lod = BehavioralLOD([
        LODBehavior(name="plan", work=print, lowest=border), LODBehavior(name="stroll", work=print, highest=border),
    ])
    wobble = min(0.049, min(border, 1 - border) / 2.1)
    for start, name in ((1.0, "plan"), (0.0, "stroll")):
        lod.importance = start
        lod.switch_if_needed()
        switches = lod.switches
        for frame in range(1_000):
            lod.importance = border + wobble * math.sin(frame)
            lod.switch_if_needed()
            assert (lod.current, lod.switches) == (name, switches)


def test_fallback_ends_where_slightly_overlapping_ranges_hold():
    lod = BehavioralLOD(
        [LODBehavior(name="plan", work=print, lowest=0.48, highest=0.8),
         LODBehavior(name="stroll", work=print, lowest=0.3, highest=0.52)],
        fallback=LODBehavior(name="wait", work=print),
    )
    for importance, name in ((0.9, "wait"), (0.5, "plan")):
        lod.importance = importance
        lod.switch_if_needed()
        assert lod.current == name


def test_fallback_ends_with_another_if_the_first_is_quarantined(clock):
    def fail(turn):
        raise OSError("no map")

    lod = BehavioralLOD(
        [LODBehavior(name="plan", work=fail, lowest=0.3, highest=0.9),
         LODBehavior(name="stroll", work=lambda turn: 0, highest=0.9)],
        fallback=LODBehavior(name="wait", work=lambda turn: 0),
        faults=FaultIsolation(quarantine_after=1, report=lambda fault: None),
    )
    seen = []
    for importance in (0.5, 1.0, 0.5):
        lod.importance = importance
        seen.append(lod(Turn(clock.now, 0.1, Budget.unlimited())))
    assert seen == ["plan", "wait", "stroll"]


def test_a_gap_without_a_fallback_is_named():
    with pytest.raises(ValueError, match=r"no range contains importance 0\.3 to 0\.5"):
        BehavioralLOD([
            LODBehavior(name="a", work=print, highest=0.3), LODBehavior(name="b", work=print, lowest=0.5)
        ])
    with pytest.raises(ValueError, match="range of 'a' is reversed"):
        BehavioralLOD([LODBehavior(name="a", work=print, lowest=0.7, highest=0.3)])
    BehavioralLOD([], fallback=LODBehavior(name="a", work=print))


def test_choice_time_is_deducted_from_the_behaviors_budget(clock, stopwatch):
    left = []
    lod = BehavioralLOD([LODBehavior(
        name="plan", work=lambda turn: left.append(turn.budget.left),
        enter=lambda before, data: stopwatch.passes(30),
    )])
    lod(Turn(clock.now, 0.1, Budget.of_time(100, stopwatch)))
    lod(Turn(clock.now, 0.1, Budget.of_time(100, stopwatch)))
    assert left == [70, 100]
    lod = BehavioralLOD([LODBehavior(name="plan", work=lambda turn: left.append(turn.budget.left))])
    lod(Turn(clock.now, 0.1, Budget.of_steps(5)))
    lod(Turn(clock.now, 0.1, Budget.of_steps(5)))
    assert left[2:] == [4, 5]


def test_generators_and_objects_work_and_restart_on_entry(clock):
    steps = []

    def wander(turn):
        for step in range(100):
            steps.append(step)
            yield

    class Planner:
        def advance(self, budget):
            steps.append("plan")

    lod = BehavioralLOD([
        LODBehavior(name="plan", work=Planner(), lowest=0.5), LODBehavior(name="wander", work=wander, highest=0.6),
    ])
    for importance in (0.1, 0.1, 0.9, 0.1):
        lod.importance = importance
        lod(Turn(clock.now, 0.1, Budget.of_steps(3)))
    assert steps == [0, 1, 2, 3, 4, "plan", 0, 1]


def test_importance_can_be_asked_for_each_turn(clock):
    values = iter([0.9, 0.1])
    walker = Walker(clock, importance=lambda: next(values))
    assert [walker.at(0), walker.at(0)] == ["plan", "stroll"]


def test_a_forced_behavior_runs_until_its_time_is_over(clock):
    walker = Walker(clock)
    walker.at(0.1)
    walker.lod.force("plan", for_s=0.35)
    assert [walker.at(0.1) for _ in range(6)] == ["plan"] * 4 + ["stroll"] * 2
    walker.lod.force("plan")
    assert walker.at(0.1) == "plan"
    walker.lod.unforce()
    assert walker.at(0.1) == "stroll"


def test_a_level_that_limits_assign_decides_alone(clock):
    walker = Walker(clock)
    walker.at(0.9)
    walker.lod.level = 1
    assert walker.at(0.9) == "stroll"
    walker.lod.level = 2
    assert walker.at(0.9) is None
    assert walker.diary[-1] == ("exit", "stroll", None)
    walker.lod.level = None
    assert walker.at(0.9) == "plan"


def test_raising_behavior_is_quarantined_until_released(clock):
    walker = Walker(clock)

    def fail(turn):
        raise OSError("no map")

    walker.lod = BehavioralLOD(
        [walker.behavior("plan", 0.4, 1.0, fail), walker.behavior("stroll", 0.0, 1.0)], faults=walker.faults
    )
    seen = []
    for _ in range(4):
        walker.lod.importance = 0.9
        seen.append(walker.lod(Turn(clock.now, 0.1, Budget.unlimited())))
    assert seen == ["plan", "plan", "stroll", "stroll"]
    walker.lod.release("plan")
    walker.lod.force("plan")
    assert walker.lod(Turn(clock.now, 0.1, Budget.unlimited())) == "plan"


def test_an_exit_or_enter_that_raises_leaves_no_switch_half_done(clock):
    told = []

    def fail(*_):
        raise OSError("broken")

    lod = BehavioralLOD(
        [LODBehavior(name="plan", work=print, lowest=0.5, exit=fail),
         LODBehavior(name="stroll", work=print, highest=0.5, enter=fail)],
        faults=FaultIsolation(report=lambda fault: told.append(fault.name)),
    )
    lod.importance = 0.9
    lod.switch_if_needed()
    lod.importance = 0.1
    lod.switch_if_needed()
    assert lod.current == "stroll"
    assert told == ["plan (exit)", "stroll (enter)"]


def test_characters_sharing_a_report_do_not_share_failures(clock):
    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)

    def fail(turn):
        raise OSError

    one, other = (
        BehavioralLOD([LODBehavior(name="plan", work=work)], faults=faults) for work in (fail, lambda turn: None)
    )
    turn = Turn(TimeIndex(0, 0.0), 0.0, Budget.unlimited())
    one(turn)
    assert (one(turn), other(turn)) == (None, "plan")


def test_misuse_is_told_at_the_call(clock):
    walker = Walker(clock)
    for wrong in (math.nan, -0.1, 1.1):
        with pytest.raises(ValueError, match="importance must be"):
            walker.lod.importance = wrong
    with pytest.raises(TypeError, match="importance must be a number, got True"):
        walker.lod.importance = True
    with pytest.raises(UnknownNameError, match="unknown behavior 'paln'; did you mean 'plan'"):
        walker.lod.force("paln")
    with pytest.raises(ValueError, match="for_s must be above 0"):
        walker.lod.force("plan", for_s=0)
    with pytest.raises(ValueError, match="two behaviors are named 'a'"):
        BehavioralLOD([LODBehavior(name="a", work=print), LODBehavior(name="a", work=print)])
    with pytest.raises(ValueError, match="behaviors must have at least one behavior"):
        BehavioralLOD([])
    with pytest.raises(TypeError, match="must hold LODBehavior"):
        BehavioralLOD([print])
    with pytest.raises(TypeError, match="work must be"):
        BehavioralLOD([LODBehavior(name="a", work=3)])
    with pytest.raises(ValueError, match="level must be at least 0"):
        walker.lod.level = -1
    with pytest.raises(ValueError, match="importance must be a finite number, got nan"):
        BehavioralLOD([LODBehavior(name="a", work=print)], importance=lambda: math.nan)(
            Turn(clock.now, 0.0, Budget.unlimited())
        )


def test_loaded_it_goes_on_without_entering_or_leaving_anything(clock):
    first, second = Walker(clock), Walker(clock)
    first.at(0.9)
    first.at(0.5)
    first.lod.force("stroll", for_s=0.25)
    first.at(0.5)
    state = from_json(to_json(take({"lod": first.lod})))
    second.diary.clear()
    restore(state, {"lod": second.lod})
    assert second.diary == []
    assert [first.at(0.5) for _ in range(4)] == [second.at(0.5) for _ in range(4)]
    assert first.lod.save_state() == second.lod.save_state()


class Plan(Saveable):
    """Work that is half done from turn to turn, and is saved."""

    STATE = DeclaredState(steps=Whole())

    def __init__(self):
        self.steps = 0

    def advance(self, budget):
        self.steps += 1


def test_saveable_work_is_saved_with_its_behaviors(clock):
    def planner():
        plan = Plan()
        return plan, BehavioralLOD([LODBehavior(name="plan", work=plan), LODBehavior(name="stroll", work=print)])

    (plan, lod), (other, loaded) = planner(), planner()
    for _ in range(3):
        lod(Turn(clock.now, 0.1, Budget.unlimited()))
    state = from_json(to_json(take({"lod": lod})))
    restore(state, {"lod": loaded})
    assert (plan.steps, other.steps) == (3, 3)
    state["parts"]["lod"]["works"]["plan"]["steps"] = -1
    with pytest.raises(SnapshotError, match=r"work of 'plan': .*steps"):
        restore(state, {"lod": loaded})
    state["parts"]["lod"]["works"] = {"plan": None, "stroll": {}}
    with pytest.raises(SnapshotError, match="work of 'stroll' has a saved state, but the current"):
        restore(state, {"lod": loaded})
    assert other.steps == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"current": "fly"}, "'current': unknown behavior 'fly'"),
        ({"importance": 2}, "'importance' must be at most 1"),
        ({"forced": ["plan", -1, True]}, r"'forced\[1\]'"),
        ({"failing": {"plan": [1, False]}}, "'failing.stroll' is missing"),
    ],
)
def test_a_damaged_save_is_refused(clock, change, message):
    lod = Walker(clock).lod
    before = json.dumps(lod.save_state())
    with pytest.raises(StateError, match=message):
        lod.prepare_state({**lod.save_state(), **change})
    assert json.dumps(lod.save_state()) == before
