"""Conditions that keep watch: they gate, end and interrupt habits, with hysteresis in time."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct
from addons.ai_core.nodes.habits.habit_condition import ConditionScope

GATES, ENDS, INTERRUPTS, BOTH = ConditionScope


def habit(name, *children, kind="Habit", **settings):
    one = construct(kind)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    for child in children:
        one.add_child(child)
    return one


@pytest.fixture
def brain(node, scheduler):
    def made(*habits, **values):
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        tree.set("values", {"sees": False, **values})
        for one in habits:
            tree.add_child(one)
        node("Node3D", scheduler).add_child(tree)
        return tree

    return made


def active(tree):
    return [path.removeprefix("Brain/") for path in tree.get_active_paths()]


def lives(tree, physics_frames, sees, frames=1):
    tree.set_value("sees", sees)
    physics_frames(frames)
    return active(tree)


@pytest.mark.parametrize(("scope", "story"), [
    (GATES, ["Patrol", "Patrol", "Patrol"]), (ENDS, ["Patrol", "Patrol", "Patrol"]),
    (INTERRUPTS, ["Patrol", "Chase", "Chase"]), (BOTH, ["Patrol", "Chase", "Patrol"]),
])
def test_scopes_interrupt_and_end_as_they_say(brain, physics_frames, scope, story):
    tree = brain(habit("Chase", condition="sees", condition_scope=scope), habit("Patrol"))
    assert [lives(tree, physics_frames, sees)[0] for sees in (False, True, False)] == story


@pytest.mark.parametrize(("scope", "after"), [(GATES, "Chase"), (ENDS, "Patrol")])
def test_a_gate_opens_once_nothing_of_lower_priority_runs(brain, physics_frames, scope, after):
    tree = brain(habit("Chase", condition="sees", condition_scope=scope), habit("Patrol", timeout=0.1))
    assert lives(tree, physics_frames, True, 1) == ["Chase"]
    assert lives(tree, physics_frames, False, 2) == [after]
    if scope == ENDS:
        assert lives(tree, physics_frames, True, 2) == ["Patrol"]
        physics_frames(10)
        assert active(tree) == ["Chase"]


def test_a_condition_of_declared_values_lets_the_tree_sleep(brain, physics_frames):
    work = habit("Work", habit("Hammer", kind="HabitWait", duration=60.0), condition="sees", condition_scope=BOTH)
    tree = brain(work, habit("Rest", kind="HabitWait", duration=0.0, until_notified="dinner"))
    assert lives(tree, physics_frames, False, 3) == ["Rest"]
    assert tree.is_asleep()
    assert lives(tree, physics_frames, True, 3) == ["Work/Hammer"]
    assert lives(tree, physics_frames, False, 1) == ["Rest"]


@pytest.mark.parametrize("condition", ["sees and true_property", "sees == [true][0]", "sees and late"])
def test_other_conditions_are_checked_in_every_tick(node, scheduler, gdscript, physics_frames, condition):
    tree = construct("HabitTree")
    tree.set("name", "Brain")
    tree.add_child(habit("Chase", condition=condition, condition_scope=BOTH))
    tree.add_child(habit("Patrol"))
    actor = node("Node3D", scheduler)
    actor.set_script(gdscript("extends Node3D\nvar true_property = true"))
    actor.add_child(tree)
    tree.set_value("late", True)
    assert lives(tree, physics_frames, False, 2) == ["Patrol"]
    assert lives(tree, physics_frames, True) == ["Chase"]
    assert lives(tree, physics_frames, False) == ["Patrol"]


def test_nothing_flaps_within_the_times_of_a_condition(brain, physics_frames, signals):
    chase = habit("Chase", condition="sees", condition_scope=BOTH, for_at_least=0.2, for_at_most=0.5)
    tree = brain(chase, habit("Patrol"))
    entered = signals(chase, "entered")
    for _ in range(10):
        lives(tree, physics_frames, True, 6)
        lives(tree, physics_frames, False, 6)
    assert (entered, active(tree)) == ([], ["Patrol"])
    assert lives(tree, physics_frames, True, 12) == ["Patrol"]
    assert lives(tree, physics_frames, True, 2) == ["Chase"]
    for _ in range(5):
        assert lives(tree, physics_frames, False, 28) == ["Chase"]
        assert lives(tree, physics_frames, True, 5) == ["Chase"]
    assert lives(tree, physics_frames, False, 30) == ["Chase"]
    assert lives(tree, physics_frames, False, 2) == ["Patrol"]
    assert len(entered) == 1


def test_a_wait_ends_with_the_condition_and_outlives_its_changes(brain, physics_frames, gdscript):
    script = gdscript("""
        extends Habit
        var ticks = []
        func _enter(): wait_s(0.5)
        func _tick(elapsed_s): ticks.append(snappedf(elapsed_s, 0.01)); return STATUS_SUCCEEDED
    """)
    wait = habit("Wait", condition="level > 1", condition_scope=BOTH)
    wait.set_script(script)
    tree = brain(wait, habit("Patrol"), level=2)
    physics_frames(2)
    for level in (3, 4, 5):
        tree.set_value("level", level)
        physics_frames(5)
    assert (active(tree), wait.get("ticks").copy()) == (["Wait"], [])
    physics_frames(16)
    assert list(wait.get("ticks")) == [0.5]
    tree.set_value("level", 0)
    physics_frames(1)
    assert active(tree) == ["Patrol"]


def test_a_wait_for_a_message_survives_other_changes(brain, physics_frames, signals):
    wait = habit("Wait", kind="HabitWait", duration=0.0, until_notified="door", condition="level > 1",
                 condition_scope=BOTH)
    tree = brain(wait, habit("Patrol"), level=2)
    ends = signals(wait, "exited")
    physics_frames(2)
    tree.set_value("level", 3)
    physics_frames(2)
    assert (active(tree), ends) == (["Wait"], [])
    tree.notify("door")
    physics_frames(1)
    assert ends == [(1,)]


def test_the_times_of_a_condition_are_saved(brain, scheduler, physics_frames):
    chase = habit("Chase", condition="sees", condition_scope=BOTH, for_at_most=0.5)
    tree = brain(chase, habit("Patrol"))
    lives(tree, physics_frames, True)
    lives(tree, physics_frames, False, 20)
    saved = scheduler.save_state()
    physics_frames(20)
    assert active(tree) == ["Patrol"]
    scheduler.load_state(saved)
    physics_frames(5)
    assert active(tree) == ["Chase"]
    physics_frames(8)
    assert active(tree) == ["Patrol"]
