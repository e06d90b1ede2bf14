"""A method with await cannot answer at once: conditions and guards that call one say so, and are not true."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import StringName, construct

AWAITS = "a method with await was called where its answer is needed at once"

ACTOR = """
    extends Node3D
    func may() -> bool:
        await get_tree().process_frame
        return true
"""

HABIT = """
    extends Habit
    func _can_activate() -> bool:
        await get_tree().process_frame
        return true
    func _tick(_elapsed_s: float) -> int: return STATUS_RUNNING
"""

TRANSITION = """
    extends StateTransition
    func _is_allowed() -> bool:
        await get_tree().process_frame
        return true
"""


@pytest.fixture
def bob(scheduler, gdscript):
    made = gdscript(ACTOR).new()
    made.set("name", "Bob")
    scheduler.add_child(made)
    return made


@pytest.mark.parametrize("setting", ["condition", "can_activate_method", "_can_activate"])
def test_a_habit_that_awaits_does_not_begin(bob, gdscript, physics_frames, expect_errors, setting):
    tree = construct("HabitTree")
    habit = gdscript(HABIT).new() if setting.startswith("_") else construct("HabitWait")
    if setting == "condition":
        habit.set(setting, "may()")
    elif setting == "can_activate_method":
        habit.set(setting, StringName("may"))
    tree.add_child(habit)
    expect_errors(AWAITS, at_least=1)
    bob.add_child(tree)
    physics_frames(5)
    assert not habit.is_active()


@pytest.mark.parametrize("setting", ["guard_expression", "guard_method", "_is_allowed"])
def test_a_transition_that_awaits_is_not_taken(bob, gdscript, physics_frames, expect_errors, setting):
    machine, idle, alert = construct("StateMachine"), construct("AIState"), construct("AIState")
    leave = gdscript(TRANSITION).new() if setting.startswith("_") else construct("StateTransition")
    idle.set("name", "Idle"), alert.set("name", "Alert")
    leave.set("event", "go"), leave.set("to", "../../Alert")
    if setting == "guard_expression":
        leave.set(setting, "may()")
    elif setting == "guard_method":
        leave.set(setting, StringName("may"))
    idle.add_child(leave)
    for one in (idle, alert):
        machine.add_child(one)
    bob.add_child(machine)
    physics_frames(2)
    expect_errors(AWAITS, at_least=1)
    assert machine.send_event("go") is False
    assert machine.get_state() == "Idle"
