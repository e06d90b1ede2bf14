"""Virtual methods overridden in Python are called as those of scripts are."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, construct, declared_classes, is_overridden
from tests.in_godot.bridge import overriding_nodes
from tests.in_godot.squads.squad_world import recruits


@pytest.fixture
def told():
    overriding_nodes.told.clear()
    return overriding_nodes.told


@pytest.fixture
def run(node, scheduler):
    """``run(habit)``: a tree that runs a habit."""

    def made(habit):
        root = construct("HabitTree")
        root.add_child(habit)
        node("Node3D", scheduler).add_child(root)
        return root

    return made


def test_a_habit_of_a_python_class_runs_its_own_methods(run, told, physics_frames):
    habit = construct("ShoutingHabit")
    habit.is_allowed = False
    root = run(habit)
    physics_frames(3)
    assert told == []
    assert "_can_activate() returned false" in root.to_text()
    habit.is_allowed = True
    physics_frames(60)
    assert told[:2] == ["enter", "exit"]
    assert habit.ticks >= 3


def test_super_calls_the_override_of_a_base(run, told, physics_frames):
    run(construct("LouderHabit"))
    physics_frames(2)
    assert told[:2] == ["enter", "louder"]


def test_a_script_overrides_the_python_class_of_its_node(run, told, gdscript, physics_frames):
    habit = gdscript("""
        extends LouderHabit
        var times := 0
        func _enter() -> void: times += 1
    """).new()
    run(habit)
    physics_frames(2)
    assert (told, habit.get("times")) == ([], 1)


def test_a_failing_override_is_reported_with_its_name(run, told, expect_errors, physics_frames):
    expect_errors("HabitTree/ShoutingHabit", times=1)
    habit = construct("ShoutingHabit")
    habit.set("name", "ShoutingHabit")
    habit.ticks = "none"                   # to which 1 cannot be added
    run(habit)
    physics_frames(1)
    assert told[0] == "enter"


def test_states_and_transitions_of_python_classes_are_asked(node, scheduler, told, physics_frames):
    machine = construct("StateMachine")
    for name in "AB":
        state = construct("ShoutingState")
        state.set("name", name)
        machine.add_child(state)
    transition = construct("GuardedTransition")
    transition.event, transition.to = "go", NodePath("../../B")
    machine.get_node("A").add_child(transition)
    node("Node3D", scheduler).add_child(machine)
    physics_frames(1)
    machine.send_event("go")
    physics_frames(1)
    assert told == ["enter A"]
    transition.may = True
    machine.send_event("go")
    physics_frames(1)
    assert told == ["enter A", "exit A", "enter B"]


def test_a_squad_of_a_python_class_chooses(node, scheduler, told, physics_frames):
    squad = node("ShoutingSquad", scheduler, command=2)
    recruits(node, scheduler, squad, 2)
    physics_frames(30)
    assert told
    assert squad.tactic == "flanking"


def test_a_group_of_a_python_class_is_simulated_and_opened(node, scheduler, told, physics_frames):
    node("ImportanceManager", scheduler, period=1, smoothing_time=0.0, distance_weight=1.0, view_weight=0.0,
         approach_weight=0.0, size_weight=0.0, near_distance=0.0, far_distance=100.0)
    node("ImportanceViewer", node("Node3D", scheduler), field_of_view=math.tau)
    body = node("Node3D", scheduler, position=Vector3(90, 0, 0))
    node("ShoutingGroup", body, closed_period=1, member_period=1)
    physics_frames(10)
    assert set(told) == {"simulate"}
    body.set("position", Vector3(10, 0, 0))
    physics_frames(10)
    assert told[-1] == "Ann"
    body.set("position", Vector3(90, 0, 0))
    physics_frames(10)
    assert "compress" in told


def test_only_classes_that_override_pay(node):
    """The nodes of ai_core override none of their own virtual methods, so that theirs are not called."""
    ours = [cls for cls in declared_classes if cls.__module__.startswith("addons.ai_core.nodes")]
    assert [cls.__name__ for cls in ours if cls.overridden_hooks] == []
    assert not is_overridden(node("Habit"), "_enter")
    assert is_overridden(node("ShoutingLevel"), "_lod_enter")
