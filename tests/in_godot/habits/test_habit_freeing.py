"""A habit frees what it stands in, or beside what it stands: nobody that is gone is called, the others go on."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import StringName, Vector3, construct

FATAL = """
    extends Habit
    var victim: Node
    var moment := ""
    func _can_activate() -> bool: return at("can_activate")
    func _enter() -> void: at("enter")
    func _tick(_elapsed_s: float) -> int:
        at("tick")
        return STATUS_RUNNING
    func _exit() -> void: at("exit")
    func at(now: String) -> bool:
        if now == moment and is_instance_valid(victim): victim.free()
        return true
"""

ACTOR = """
    extends Node3D
    var victim: Node
    var moment := ""
    func can_activate() -> bool: return at("can_activate")
    func enter() -> void: at("enter")
    func tick(_elapsed_s: float) -> int:
        at("tick")
        return 0
    func exit() -> void: at("exit")
    func give(habit: Habit, named: String) -> void: habit.set_callable(named, Callable(self, named))
    func at(now: String) -> bool:
        if now == moment and is_instance_valid(victim): victim.free()
        return true
"""

MOMENTS = ("can_activate", "enter", "tick", "exit")


def named(parent, node, name):
    node.set("name", name)
    parent.add_child(node)
    return node


def live(tree, physics_frames):
    """Let the habit begin, go on, and be interrupted."""
    physics_frames(3)
    if tree.is_valid():
        tree.set_value("go", True)
    physics_frames(3)


def tree_with(habit, character):
    """Return a HabitTree with ``Brain/around/it``, where ``it`` is the habit, and what may be freed."""
    tree, around, beside = construct("HabitTree"), construct("Habit"), construct("Habit")
    urgent = named(tree, construct("Habit"), "urgent")
    urgent.set("condition", "go")
    tree.set_value("go", False)
    tree.set("name", "Brain")
    named(tree, around, "around")
    named(around, habit, "it")
    named(around, beside, "beside").set("non_blocking", True)
    return tree, {"tree": tree, "around": around, "beside": beside, "character": character}


@pytest.mark.parametrize("victim", ["tree", "around", "beside", "character"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_scripts_of_what_is_gone_are_not_called(node, scheduler, gdscript, physics_frames, moment, victim):
    character = node("Node3D", scheduler)
    habit = gdscript(FATAL).new()
    tree, victims = tree_with(habit, character)
    habit.set("moment", moment)
    habit.set("victim", victims[victim])
    character.add_child(tree)
    other = node("HabitTree", node("Node3D", scheduler))
    named(other, construct("Habit"), "walk")
    live(tree, physics_frames)
    assert not victims[victim].is_valid()
    assert list(other.get_active_paths()) == ["HabitTree/walk"]
    if tree.is_valid():
        assert list(tree.get_active_paths()) == ["Brain/urgent"]


LEAVING = FATAL.replace("""
        if now == moment and is_instance_valid(victim): victim.free()""", """
        names.append(get_actor().name)
        if now == moment and victim.get_parent(): victim.get_parent().remove_child(victim)""").replace(
    "var victim", "var names := []\n    var victim")


@pytest.mark.parametrize("victim", ["tree", "character"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_habit_that_removes_its_character_ends_and_restarts(
    node, scheduler, gdscript, physics_frames, moment, victim,
):
    character = node("Node3D", scheduler)
    character.set("name", "Bob")
    habit = gdscript(LEAVING).new()
    tree, victims = tree_with(habit, character)
    habit.set("moment", moment)
    habit.set("victim", victims[victim])
    character.add_child(tree)
    live(tree, physics_frames)
    assert not tree.is_inside_tree()
    assert set(map(str, habit.get("names"))) == {"Bob"}
    habit.set("moment", "")
    other = node("Node3D", scheduler)
    if victim == "character":
        character.remove_child(tree)
        character.free()
    other.add_child(tree)
    physics_frames(2)
    assert tree.actor_node() == other
    assert list(tree.get_active_paths())
    tree.actor = tree.get_path_to(scheduler)
    assert tree.actor_node() == scheduler


@pytest.mark.parametrize("victim", ["tree", "character"])
@pytest.mark.parametrize("signal", ["habit_entered", "entered", "habit_exited", "exited"])
@pytest.mark.parametrize("kind", ["HabitMoveTo", "HabitPatrol", "HabitSearch", "HabitFlee"])
def test_a_signal_may_remove_a_habit_that_walks(node, scheduler, gdscript, physics_frames, kind, signal, victim):
    character, target = node("CharacterBody3D", scheduler), node("Node3D", scheduler, position=Vector3(1, 0, 1.5))
    habit = construct(kind)
    tree, victims = tree_with(habit, character)
    tree.set_value("seen", target)
    if kind != "HabitPatrol":
        habit.set("target_key", "seen")
    remover = gdscript("""
        extends Node
        var victim: Node
        func remove(_a = null, _b = null) -> void:
            if victim.get_parent(): victim.get_parent().remove_child(victim)
    """).new()
    scheduler.add_child(remover)
    remover.set("victim", victims[victim])
    source, listener = tree if signal.startswith("habit_") else habit, remover.get("remove")
    source.connect(signal, listener)
    character.add_child(tree)
    live(tree, physics_frames)
    assert not tree.is_inside_tree()
    source.disconnect(signal, listener)
    tree.set_value("go", False)
    (character if victim == "tree" else scheduler).add_child(victims[victim])
    physics_frames(3)
    assert all(path.startswith("Brain/around/") for path in tree.get_active_paths())
    assert tree.get_active_paths()
    assert tree.walker.crowd is not None, "it walks around others again"


@pytest.mark.parametrize(("way", "victim"), [
    ("methods of the actor", "tree"), ("methods of the actor", "around"),    # an object whose method runs stays
    ("Callables", "tree"), ("Callables", "around"), ("Callables", "character"),
])
@pytest.mark.parametrize("moment", MOMENTS)
def test_methods_and_callables_of_what_is_gone_are_not_called(
    node, scheduler, gdscript, physics_frames, way, moment, victim,
):
    character = gdscript(ACTOR).new()
    scheduler.add_child(character)
    caller = character
    if way == "Callables":
        caller = gdscript(ACTOR).new()
        scheduler.add_child(caller)
    habit = construct("Habit")
    tree, victims = tree_with(habit, character)
    caller.set("moment", moment)
    caller.set("victim", victims[victim])
    for one in MOMENTS:
        if way == "Callables":
            caller.call("give", habit, one)
        else:
            habit.set(f"{one}_method", StringName(one))
    character.add_child(tree)
    live(tree, physics_frames)
    assert not victims[victim].is_valid()


@pytest.mark.parametrize("victim", ["tree", "around", "character"])
@pytest.mark.parametrize(("kind", "whose", "what", "named"), [
    ("HabitCallMethod", "target", "method_name", "free_it"), ("HabitEmitSignal", "source", "signal_name", "told"),
])
def test_what_a_built_in_habit_calls_or_tells_may_free_it(
    node, scheduler, gdscript, physics_frames, kind, whose, what, named, victim,
):
    character = node("Node3D", scheduler)
    caller = gdscript(ACTOR + "    signal told\n    func free_it() -> void: victim.free()\n").new()
    scheduler.add_child(caller)
    caller.connect("told", caller.free_it)
    habit = construct(kind)
    tree, victims = tree_with(habit, character)
    caller.set("victim", victims[victim])
    habit.set(whose, caller.get_path())
    habit.set(what, StringName(named))
    character.add_child(tree)
    live(tree, physics_frames)
    assert not victims[victim].is_valid()


FREED = [
    ("habit_entered", "around"), ("habit_entered", "it"), ("habit_entered", "character"), ("habit_exited", "around"),
    ("habit_exited", "it"), ("habit_exited", "character"), ("entered", "around"), ("entered", "character"),
    ("exited", "tree"), ("exited", "character"), ("velocity_changed", "tree"), ("velocity_changed", "character")]
STANDING = "HabitPatrol", "HabitAttack"      # habits that emit no velocity here


@pytest.mark.parametrize(("kind", "signal", "victim"), [
    (kind, signal, victim) for kind in ("HabitMoveTo", "HabitPatrol", "HabitSearch", "HabitFlee", "HabitAttack")
    for signal, victim in FREED if signal != "velocity_changed" or kind not in STANDING])
def test_a_signal_may_free_a_habit_that_walks(
    node, scheduler, gdscript, physics_frames, expect_errors, kind, signal, victim,
):
    expect_errors("while a signal is being emitted from it", at_least=0)      # the engine's, for what emits
    character, target = node("CharacterBody3D", scheduler), node("Node3D", scheduler, position=Vector3(1, 0, 1.5))
    habit = construct(kind)
    tree, victims = tree_with(habit, character)
    victims["it"] = habit
    tree.set_value("seen", target)
    if kind != "HabitPatrol":
        habit.set("target_key", "seen")
    killer = gdscript("""
        extends Node
        var victim: Node
        func kill(_a = null, _b = null) -> void:
            if is_instance_valid(victim): victim.free()
    """).new()
    scheduler.add_child(killer)
    killer.set("victim", victims[victim])
    (tree if signal.startswith("habit_") else habit).connect(signal, killer.get("kill"))
    character.add_child(tree)
    other = node("HabitTree", node("Node3D", scheduler))
    named(other, construct("Habit"), "walk")
    live(tree, physics_frames)
    physics_frames(3)
    assert not victims[victim].is_valid()
    assert list(other.get_active_paths()) == ["HabitTree/walk"]
    if tree.is_valid():
        assert list(tree.get_active_paths()) == ["Brain/urgent"]
