"""What a class does when the engine notifies it is done, whoever extends it and calls ``super()`` or not."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import KeptHook, NodeRow, construct, has_entered, notify
from addons.ai_core.nodes.habits.habit_tree import HabitTree
from tests.in_godot.bridge.silent_nodes import told

ASKED = """
    extends {extended}
    static var asked := 0
    func _can_activate() -> bool:
        asked += 1
        return false
"""


@pytest.fixture(autouse=True)
def _nothing_told():
    told.clear()


@pytest.fixture
def brain_of(node, scheduler):
    """``brain_of(habit, kind)``: a tree in the scene with that habit."""
    body = node("Node3D", scheduler, name="Bob")

    def make(habit, kind="HabitTree"):
        made = construct(kind)
        made.set("name", "Brain")
        habit.set("name", "Habit")
        made.add_child(habit)
        body.add_child(made)
        return made

    return make


def test_a_habit_that_hides_its_exit_notification_is_not_called(
    brain_of, scheduler, gdscript, expect_errors
):
    expect_errors("RuntimeError: fails before it could call anything", times=1)
    script = gdscript(ASKED.format(extended="SilentHabit"))
    brain = brain_of(script.new())
    scheduler.step()
    assert script.get("asked") == 1
    brain.get_node("Habit").free()
    scheduler.step()
    assert told == ["entered", "left"]
    assert brain.to_text().count("Habit") == 0


def test_what_each_class_of_a_line_does_is_done_once_in_order(brain_of, expect_errors):
    expect_errors("RuntimeError: fails before it could call anything", times=1)
    brain = brain_of(construct("LoudHabit"))
    assert told == ["entered", "part entered"]
    told.clear()
    habit = brain.get_node("Habit")
    habit.free()
    assert told == ["first", "left"]


def test_what_a_node_is_told_by_hand_is_told_to_its_whole_line(brain_of, expect_errors):
    expect_errors("RuntimeError: fails before it could call anything", times=1)
    brain = brain_of(construct("SilentHabit"))
    habit = brain.get_node("Habit")
    notify(habit, "on_exit_tree")
    assert brain._is_changed
    notify(habit, "on_entered")
    assert told == ["entered", "left", "entered"]
    habit.free()


def test_a_behavior_that_hides_its_exit_calls_nothing_afterwards(node, scheduler, gdscript):
    script = gdscript("""
        extends Node
        static var calls := 0
        func think(_elapsed_s: float) -> void: calls += 1
    """)
    target = script.new()
    scheduler.add_child(target)
    behavior = construct("SilentBehavior")
    target.add_child(behavior)
    scheduler.step()
    assert target.get("calls") == 1
    target.free()
    scheduler.step()
    assert script.get("calls") == 1
    assert scheduler.get_stats()["behaviors"] == []


def test_a_tree_enters_before_its_class_and_exits_despite_errors(brain_of, scheduler, expect_errors):
    expect_errors("RuntimeError: cannot end", times=1)
    brain = brain_of(construct("Habit"), "SilentTree")
    assert told == ["running"]
    core = brain.core
    brain.free()
    scheduler.step()
    assert core.active_paths() == []
    assert scheduler.update_groups["habit trees"].save_state()["tick_groups"] == []


def test_a_row_calls_nobody_who_was_freed_though_nobody_told_it(gdscript):
    script = gdscript(ASKED.format(extended="Habit"))
    nodes = [script.new() for _ in range(3)]
    row, ask = NodeRow(nodes, [("entered",)] * 3), KeptHook("_can_activate", "part")
    assert ask.first_of(row, (0, 1, 2)) == 3
    assert not row.has_listeners()
    nodes[1].free()
    assert ask.first_of(row, (0, 1, 2)) == -2
    assert row.has_listeners()
    assert nodes[2].get("asked") == 4
    for one in (nodes[0], nodes[2]):
        one.free()


def test_a_row_is_of_nodes_that_know_when_they_are_freed(node):
    with pytest.raises(TypeError, match="a row needs nodes of classes written in Python, got <Node#"):
        NodeRow([node("Node")])


def test_members_of_a_branch_that_enters_are_not_told(node, scheduler, monkeypatch):
    told_by = []
    monkeypatch.setattr(HabitTree, "habits_changed", lambda tree: told_by.append(tree))
    tree, habit, below = construct("HabitTree"), construct("Habit"), construct("Habit")
    tree.add_child(habit)
    habit.add_child(below)
    assert not has_entered(habit)
    scheduler.add_child(tree)
    assert told_by == []
    assert has_entered(habit)
    assert has_entered(below)
    habit.add_child(construct("Habit"))
    assert told_by == [tree]
    tree.remove_child(habit)
    assert not has_entered(below)
    told_by.clear()
    tree.add_child(habit)
    assert told_by == [tree], "by the topmost alone"
