"""rebuild() inside a signal of its own tree is accepted, and done when the tick or the stop is over."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

LISTENER = """
    extends Node3D
    var rebuilds := 0
    var texts := []
    func listen(tree: HabitTree, names: Array) -> void:
        for one in names: tree.connect(one, func(_path, _how) -> void: again(tree))
    func again(tree: HabitTree) -> void:
        rebuilds += 1
        tree.rebuild()
        texts.append(tree.to_text())
    func grow(tree: HabitTree) -> void:
        tree.habit_exited.connect(func(_path, _status) -> void: add(tree), CONNECT_ONE_SHOT)
    func add(tree: HabitTree) -> void:
        var more := HabitWait.new()
        more.name = "more"
        more.duration = 50.0
        tree.add_child(more)
        tree.rebuild()
        texts.append(tree.to_text())
"""


def made(class_name, parent, name, **settings):
    one = construct(class_name)
    for key, value in {"name": name, **settings}.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def bob(node, scheduler, gdscript):
    """A character that rebuilds its tree when it hears of it."""
    character = node("Node3D", scheduler, name="Bob")
    character.set_script(gdscript(LISTENER))
    return character


@pytest.fixture
def brain(bob):
    """"urgent" as long as there is "go", else "wait"; both below "both"."""
    one = construct("HabitTree")
    one.set("name", "Brain")
    one.set("values", {"go": False})
    both = made("Habit", one, "both")
    made("HabitWait", both, "urgent", duration=0.05, condition="go")
    made("HabitWait", both, "wait", duration=100.0)
    bob.add_child(one)
    return one


def live(brain, scheduler):
    for go in (False, True, False):
        if brain.is_valid():
            brain.set_value("go", go)
        for _ in range(6):
            scheduler.step()


@pytest.mark.parametrize("names", [["habit_exited"], ["habit_entered"], ["habit_exited", "habit_entered"]])
@pytest.mark.parametrize("ends", ["tree", "character", "out", "level"])
def test_rebuilding_on_each_change_may_free_tree_or_level(
    brain, bob, scheduler, frames, names, ends,
):
    bob.call("listen", brain, names)
    live(brain, scheduler)
    assert bob.get("rebuilds") >= 2
    assert brain.get_active_paths() == ["Brain/both/wait"]
    if ends == "out":
        bob.remove_child(brain)
        brain.free()
    else:
        {"tree": brain, "character": bob, "level": scheduler}[ends].free()
    frames(2)
    assert not brain.is_valid()


def test_habits_added_in_a_signal_exist_after_the_tick(brain, bob, scheduler):
    scheduler.step()
    bob.call("grow", brain)
    brain.set_value("go", True)
    scheduler.step()
    assert "more" not in bob.get("texts")[0]
    assert "more" in brain.to_text()
    assert brain.get_active_paths() == ["Brain/both/urgent"]


def test_what_was_added_as_the_habits_stop_is_there_at_once(brain, bob, scheduler):
    scheduler.step()
    bob.call("grow", brain)
    brain.stop_habits()
    assert "more" in brain.to_text()
    scheduler.step()
    assert brain.get_active_paths() == ["Brain/both/wait"]


def test_trees_without_a_name_of_their_own_share_a_definition(node, scheduler, physics_frames):
    trees = []
    for _ in range(2):
        tree, habit = construct("HabitTree"), construct("Habit")
        habit.set("name", "Idle")
        tree.add_child(habit)
        node("Node3D", scheduler).add_child(tree)
        trees.append(tree)
    physics_frames(2)
    assert trees[0].get_name() != trees[1].get_name()
    assert [list(tree.get_active_paths()) for tree in trees] == [["HabitTree/Idle"]] * 2
    assert trees[0].core.definition is trees[1].core.definition


def test_an_active_habit_may_lose_its_script(node, scheduler, gdscript, physics_frames):
    script = gdscript("""
        extends Habit
        static var ticks := 0
        func _tick(_elapsed: float) -> int:
            ticks += 1
            return 0
        func _exit() -> void: pass
    """)
    tree, habit = construct("HabitTree"), script.new()
    tree.add_child(habit)
    node("Node3D", scheduler).add_child(tree)
    physics_frames(3)
    assert habit.is_active()
    habit.set_script(None)
    physics_frames(1)
    tree.rebuild()
    physics_frames(2)
    assert script.get("ticks") == 3
    assert habit.is_active()
