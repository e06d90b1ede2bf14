"""What is wrong with a habit is told with its path in the tree, and what to do."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import StringName, Vector2, Vector3, construct


def tree_with(habit):
    tree, fight = construct("HabitTree"), construct("Habit")
    for one, name in ((tree, "Brain"), (fight, "fight"), (habit, "swing")):
        one.set("name", name)
    fight.add_child(habit)
    tree.add_child(fight)
    return tree


SETTINGS = {
    "no key": ("HabitSetValue", {"key": ""}, "Brain/fight/swing: key must be a non-empty string, got ''"),
    "no expression": ("Habit", {"condition": "1 +"}, "Brain/fight/swing: condition of 'swing': cannot parse '1 +'"),
    "no name": (
        "Habit", {"wakes_on": [""]}, "Brain/fight/swing: habit 'swing': wakes_on must hold non-empty strings, got ''"),
    "no such module": ("Habit", {"python_class": "nowhere:Swing"}, "of 'swing': there is no module 'nowhere'"),
    "no module at all": ("Habit", {"python_class": ":Swing"}, "write \"module:Class\""),
}


@pytest.mark.parametrize(("kind", "settings", "message"), SETTINGS.values(), ids=list(SETTINGS))
def test_a_wrong_setting_is_told_with_the_path_of_the_habit(
        node, scheduler, expect_errors, kind, settings, message, physics_frames):
    habit = construct(kind)
    for name, value in settings.items():
        habit.set(name, value)
    tree = tree_with(habit)
    expect_errors(message, times=1)
    node("Node3D", scheduler).add_child(tree)
    assert tree.to_text() == "not running"
    physics_frames(2)


def test_a_tick_that_awaits_is_told_how_to_wait(node, scheduler, gdscript, physics_frames, expect_errors):
    tree = tree_with(gdscript("""
        extends Habit
        func _tick(_elapsed_s: float) -> int:
            @warning_ignore("redundant_await")
            await get_tree().process_frame
            return STATUS_SUCCEEDED
    """).new())
    expect_errors("the tick of 'Brain/fight/swing' uses await; call wait_s() or wait_for() instead", times=3)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(5)


def test_a_missing_actor_method_is_a_warning_and_one_error(
    node, scheduler, physics_frames, expect_errors,
):
    habit = construct("Habit")
    habit.set("tick_method", StringName("hit"))
    tree = tree_with(habit)
    expect_errors("tick of Brain/fight/swing': 'Bob' has no method hit(); add it, or name another method", times=3)
    node("Node3D", scheduler, name="Bob").add_child(tree)
    physics_frames(5)
    assert habit._get_configuration_warnings() == ["'Bob' has no method hit(); add it, or name another method"]


@pytest.mark.parametrize(("kind", "speed", "distance"), [("Node3D", 3.0, 0.5), ("CharacterBody2D", 100.0, 8.0)])
def test_defaults_of_movement_are_those_of_the_dimension(node, scheduler, kind, speed, distance):
    habit = construct("HabitMoveTo")
    node(kind, scheduler).add_child(tree_with(habit))
    assert (habit.speed, habit.arrival_distance) == (speed, distance)


def test_a_habit_that_waits_for_nothing_is_told_what_to_call(node, scheduler, gdscript, physics_frames, expect_errors):
    tree = tree_with(gdscript("extends Habit\nfunc _enter() -> void: wait_for([])").new())
    expect_errors("names must hold non-empty strings, got (); use wait_s to wait for a time", times=1)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(2)


TARGETS = {
    "a node in 3D": (lambda node: node("Node3D"), "must be a node or a point in 2D, like the actor, got <Node3D"),
    "a node without a place": (lambda node: node("Node"), "must be a Node3D, a Node2D or a point, got <Node#"),
    "a text": (lambda node: "door", "must be a Node3D, a Node2D or a point, got 'door'"),
    "no place at all": (lambda node: Vector2(float("nan"), 0), "must be a finite position, got Vector2(nan, 0)"),
}


@pytest.mark.parametrize("kind", ["HabitMoveTo", "HabitLookAt"])
@pytest.mark.parametrize(("target", "message"), TARGETS.values(), ids=list(TARGETS))
def test_a_target_that_the_actor_cannot_go_to_is_told(
    node, scheduler, physics_frames, expect_errors, kind, target, message,
):
    habit = construct(kind)
    habit.set("target_key", "goal")
    tree = tree_with(habit)
    tree.set_value("goal", target(node))
    expect_errors(f"Brain/fight/swing': 'goal' {message}")
    node("Node2D", scheduler, name="Bob").add_child(tree)
    physics_frames(2)


@pytest.mark.parametrize("kind", ["HabitMoveTo", "HabitLookAt"])
def test_a_target_that_is_not_set_is_told(node, scheduler, physics_frames, expect_errors, kind):
    habit, idle = construct(kind), construct(kind)
    habit.set("target_key", "goal")
    expect_errors("Brain/fight/swing': 'goal' is not on the blackboard, or its node was freed; set it to a node or")
    node("Node2D", scheduler, name="Bob").add_child(tree_with(habit))
    expect_errors("has no target; set target_node, target_key or target_point, or set sensor of the HabitTree")
    node("Node2D", scheduler, name="Ann").add_child(tree_with(idle))
    physics_frames(2)
    idle.target_point = Vector2(0, 0)
    assert idle._get_configuration_warnings() == []


@pytest.mark.parametrize("kind", ["HabitMoveTo", "HabitLookAt"])
def test_an_actor_without_a_place_is_told(node, scheduler, physics_frames, expect_errors, kind):
    tree = tree_with(construct(kind))
    expect_errors("Brain/fight/swing': the actor 'Bob' (Node) has no position; use a Node3D or a Node2D")
    node("Node", scheduler, name="Bob").add_child(tree)
    physics_frames(2)


def test_a_2d_point_is_no_3d_target_but_a_3d_point_is_one_in_2d(
    node, scheduler, physics_frames, expect_errors,
):
    for kind, place in (("Node3D", Vector2(3, 0)), ("Node2D", Vector3(30, 0, 9))):
        habit = construct("HabitMoveTo")
        habit.set("target_key", "goal")
        habit.set("speed", 3000.0)
        tree = tree_with(habit)
        tree.set_value("goal", place)
        if kind == "Node3D":
            expect_errors("'goal' must be a node or a point in 3D, like the actor, got Vector2(3, 0)")
        actor = node(kind, scheduler)
        actor.add_child(tree)
        physics_frames(3)
    assert actor.get("position") == Vector2(30, 0)


def test_a_quarantined_habit_is_reported_and_runs_when_released(
    node, scheduler, physics_frames, expect_errors, signals,
):
    habit = construct("HabitMoveTo")
    habit.set("target_key", "goal")
    habit.set("speed", 3000.0)
    tree = tree_with(habit)
    ends = signals(habit, "exited")
    expect_errors("and is quarantined: fix it, then call release_quarantined() of its node", times=1)
    expect_errors("'goal' is not on the blackboard")
    actor = node("Node2D", scheduler, name="Bob")
    actor.add_child(tree)
    physics_frames(6)
    tree.set_value("goal", Vector2(30, 0))
    physics_frames(3)
    assert actor.get("position") == Vector2(0, 0)
    assert "quarantined after repeated failures" in tree.to_text()
    ends.clear()
    tree.release_quarantined()
    physics_frames(3)
    assert ends[0] == (1,)
    assert actor.get("position") == Vector2(30, 0)


def test_all_expressions_that_cannot_be_parsed_are_reported(node, scheduler, physics_frames, expect_errors):
    tree = tree_with(construct("Habit"))
    tree.get_node("fight").set("condition", "1 +")
    tree.get_node("fight/swing").set("condition", "2 *")
    for text in ("condition of 'fight': cannot parse '1 +'", "condition of 'swing': cannot parse '2 *'"):
        expect_errors(text, times=1)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(3)


@pytest.mark.parametrize(("kind", "said"), [
    ("Habit", "is not a child of a HabitTree or Habit and never runs"),
    ("AIState", "is not a child of a StateMachine or AIState and has no effect"),
    ("StateTransition", "is not a child of a StateMachine or AIState and has no effect"),
])
def test_a_stray_part_is_reported_in_the_game(kind, said, node, scheduler, expect_errors, frames):
    expect_errors(said, times=1)
    node(kind, node("Node3D", scheduler))
    frames(3)
