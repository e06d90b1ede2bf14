"""Periods of nodes have the scheduler's limit, at the property and in saves."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct
from addons.ai_core.nodes.characters.update_group import UpdateGroup
from ai_core.saving.fields import StateError
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

PERIODS = [
    *[(name, "period") for name in (
        "AIBehavior", "BehavioralLOD", "HabitTree", "ImportanceManager", "RuleMind", "StateMachine", "Strategist",
        "Timeslicer")],
    ("AIBehavior", "phase"), ("AIBehavior", "longest_period"), ("AIScheduler", "look_ahead"),
    ("AIScheduler", "nested_period"), ("GroupLOD", "closed_period"), ("GroupLOD", "member_period"),
    ("PollingStation", "lifetime_frames"), ("Squad", "think_period"), ("Squad", "march_period"),
]


@pytest.mark.parametrize(("class_name", "name"), PERIODS)
def test_a_period_beyond_the_limit_is_refused(class_name, name, expect_errors):
    expect_errors(f"{name} must be between", times=2)
    one = construct(class_name)
    one.set("name", "One")        # without a name the error waits for one
    was = one.get(name)
    for period in (MAX_PERIOD_FRAMES + 1, 2**63 - 1):
        one.set(name, period)
        assert one.get(name) == was
    one.set(name, MAX_PERIOD_FRAMES)
    assert one.get(name) == MAX_PERIOD_FRAMES
    one.free()


def habits(tree):
    wait = construct("HabitWait")
    wait.set("name", "wait")
    tree.add_child(wait)


def states(machine):
    state = construct("AIState")
    state.set("name", "rest")
    machine.add_child(state)


def rules(mind):
    one = construct("RuleSet")
    one.set("rules", "go: always | repeats")
    mind.set("rule_set", one)


@pytest.fixture(params=[("HabitTree", habits), ("StateMachine", states), ("RuleMind", rules)], ids=lambda one: one[0])
def thinker(request, node, scheduler):
    """``thinker()``: one more that decides, with the longest period."""
    class_name, fill = request.param

    def made():
        one = construct(class_name)
        one.set("period", MAX_PERIOD_FRAMES)
        fill(one)
        node("Node", scheduler).add_child(one)
        return one

    return made


def test_who_decides_most_rarely_has_a_phase_of_its_own(thinker, scheduler):
    for _ in range(6):
        thinker()
    (crowd,) = [one for one in scheduler.update_groups.values() if one.tick_groups]
    assert [pace.key for pace in crowd.tick_groups] == [(MAX_PERIOD_FRAMES, phase) for phase in range(6)]
    scheduler.step()


def test_whose_phase_got_free_is_taken_by_the_next(thinker, scheduler):
    first, second, _ = thinker(), thinker(), thinker()
    first.free()
    second.free()
    (crowd,) = [one for one in scheduler.update_groups.values() if one.tick_groups]
    thinker()
    thinker()
    assert sorted(pace.phase_frames for pace in crowd.tick_groups) == [0, 1, 2]


@pytest.fixture
def phased(node, scheduler, physics_frames):
    """``phased(parent)``: ten RuleMinds of period 10; returns their update group, and a list of the phases updated."""

    def made(parent):
        for _ in range(10):
            mind = construct("RuleMind")
            rules(mind)
            mind.set("period", 10)
            node("Node", parent).add_child(mind)
        physics_frames(1)
        (crowd,) = [one for one in parent.update_groups.values() if one.tick_groups]
        updated = []
        for one in crowd.tick_groups:
            one.population.tick = lambda *_, phase=one.phase_frames, **__: updated.append(phase)
        return crowd, updated

    return made


@pytest.mark.parametrize("runs_every", [1, 2, 3, 25])
def test_phases_in_frames_without_a_run_are_due_in_the_next(phased, scheduler, physics_frames, runs_every):
    crowd, updated = phased(scheduler)
    for frame in range(1, 151):
        scheduler.core.change(crowd.task, period_frames=1_000_000 if frame % runs_every else 1)
        physics_frames(1)
    each = 150 // max(10, runs_every)
    assert all(updated.count(phase) in (each - 1, each, each + 1) for phase in range(10)), updated


def test_phases_in_a_pause_are_due_in_the_next_period(phased, node, scheduler, physics_frames):
    level = node("AIScheduler", scheduler)
    _, updated = phased(level)
    for process_mode, frames in ((0, 13), (4, 65), (0, 10)):
        level.set("process_mode", process_mode)
        updated.clear()
        per_frame = []
        for _ in range(frames):
            before = len(updated)
            physics_frames(1)
            per_frame.append(len(updated) - before)
        assert set(per_frame[1:]) == {0 if process_mode else 1}
    assert sorted(updated[-10:]) == [*range(10)]


@pytest.mark.parametrize("place", ["beside", "below"])
def test_a_pause_of_the_scheduler_alone_is_no_time_of_trees(node, scheduler, gdscript, physics_frames, place):
    level = node("Node3D", scheduler)
    inner = node("AIScheduler", level)
    tree, habit = construct("HabitTree"), gdscript("""
        extends Habit
        var elapsed: Array[float] = []
        func _tick(elapsed_s: float) -> int:
            elapsed.append(elapsed_s)
            return 0
    """).new()
    tree.set("period", 3)
    tree.add_child(habit)
    node("Node3D", level if place == "beside" else inner).add_child(tree)
    physics_frames(8)
    elapsed = []
    for _ in range(3):
        before = len(habit.get("elapsed"))
        inner.set("process_mode", 4)
        physics_frames(60)
        assert len(habit.get("elapsed")) == before
        inner.set("process_mode", 0)
        physics_frames(10)
        elapsed += list(habit.get("elapsed"))[before:]
    assert elapsed == pytest.approx([elapsed[0], *[3 / 60] * (len(elapsed) - 1)])
    assert len(elapsed) in (9, 10)


def test_trees_that_slept_in_a_save_wake_in_their_phases(node, scheduler, physics_frames):
    trees = []
    for _ in range(10):
        tree = construct("HabitTree")
        tree.set("period", 10)
        tree.set("values", {"alarm": 0})
        for name, condition in (("Act", "alarm > 0"), ("Rest", "")):
            habit = construct("Habit")
            habit.set("name", name)
            habit.set("condition", condition)
            tree.add_child(habit)
        node("Node3D", scheduler).add_child(tree)
        trees.append(tree)
    physics_frames(60)
    assert scheduler.load_state(scheduler.save_state())
    for tree in trees:
        tree.set_value("alarm", 1)
    acting = []
    for _ in range(10):
        physics_frames(1)
        acting.append(sum("Act" in str(tree.get_active_paths()) for tree in trees))
    assert acting == [*range(1, 11)]


@pytest.mark.parametrize("period", [MAX_PERIOD_FRAMES + 1, 2**63 - 1])
def test_a_save_with_a_longer_period_is_refused(thinker, scheduler, period):
    one = thinker()
    state = one.saved()
    state["settings"]["period"] = period
    with pytest.raises(StateError, match=r"'settings.period'.*(between 1 and 1e.06|at most)"):
        one.prepared(state)
    (crowd,) = [crowd for crowd in scheduler.update_groups.values() if crowd.tick_groups]
    state = crowd.save_state()
    state["tick_groups"][0][0][0] = period
    with pytest.raises(StateError, match=r"tick_groups\[0\]\[0\]\[0\]"):
        UpdateGroup.prepare_state(crowd, state)
