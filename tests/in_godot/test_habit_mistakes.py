"""What is wrong with a habit is told with its path in the tree, and what to do."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import StringName, construct


def tree_with(habit):
    tree, fight = construct("HabitTree"), construct("Habit")
    for one, name in ((tree, "Brain"), (fight, "fight"), (habit, "swing")):
        one.set("name", name)
    fight.add_child(habit)
    tree.add_child(fight)
    return tree


SETTINGS = {
    "no key": ("HabitSetValue", {"key": ""}, "Brain/fight/swing: key must be text, got ''"),
    "no expression": ("Habit", {"condition": "1 +"}, "Brain/fight/swing: condition of 'swing': cannot read '1 +'"),
    "no name": ("Habit", {"wakes_on": [""]}, "Brain/fight/swing: habit 'swing': wakes_on must hold names, got ''"),
    "no such module": ("Habit", {"python_class": "nowhere:Swing"}, "of 'swing': there is no module 'nowhere'"),
    "no module at all": ("Habit", {"python_class": ":Swing"}, "write \"module:Class\""),
}


@pytest.mark.parametrize(("kind", "settings", "message"), SETTINGS.values(), ids=list(SETTINGS))
def test_a_wrong_setting_is_told_with_the_path_of_the_habit(node, scheduler, expect_errors, kind, settings, message):
    habit = construct(kind)
    for name, value in settings.items():
        habit.set(name, value)
    tree = tree_with(habit)
    expect_errors(message, times=1)
    node("Node3D", scheduler).add_child(tree)
    assert tree.to_text() == "not running"


def test_a_tick_that_awaits_is_told_how_to_wait(node, scheduler, gdscript, physics_frames, expect_errors):
    tree = tree_with(gdscript("""
        extends Habit
        func _tick(_elapsed_s: float) -> int:
            @warning_ignore("redundant_await")
            await get_tree().process_frame
            return STATUS_SUCCEEDED
    """).new())
    expect_errors("the tick of 'Brain/fight/swing' awaits something; call wait_s() or wait_for() instead", times=3)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(5)


def test_a_method_that_the_actor_does_not_have_is_warned_of_and_told_in_one_line(
    node, scheduler, physics_frames, expect_errors,
):
    habit = construct("Habit")
    habit.set("tick_method", StringName("hit"))
    tree = tree_with(habit)
    expect_errors("tick of Brain/fight/swing': 'Bob' has no method hit(); write it, or name another", times=3)
    node("Node3D", scheduler, name="Bob").add_child(tree)
    physics_frames(5)
    assert habit._get_configuration_warnings() == ["'Bob' has no method hit(); write it, or name another"]


def test_a_habit_that_waits_for_nothing_is_told_what_to_call(node, scheduler, gdscript, physics_frames, expect_errors):
    tree = tree_with(gdscript("extends Habit\nfunc _enter() -> void: wait_for([])").new())
    expect_errors("wait_for needs names, got (); to wait for time use wait_s", times=1)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(2)
