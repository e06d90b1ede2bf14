"""Who listens to a habit is known without asking the engine of each signal in each tick."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

LONG = 100
"""Ticks after which nobody is asked any more who was never named (count)."""

LISTENER = """
    extends Node
    var heard := 0
    func hear(_status) -> void: heard += 1
    func listen(habit) -> void: habit.exited.connect(hear)
    func listen_typed(habit: Habit) -> void: habit.exited.connect(hear)
    func wait(habit: Habit) -> void:
        await habit.exited
        heard += 1
    func listen_to_tree(habit: Habit) -> void:
        (habit.get_habit_tree() as HabitTree).habit_exited.connect(func(_path, _status) -> void: heard += 1)
    func listen_by_name(habit: Node) -> void: habit.connect("exited", hear)
    var kept: Signal
    func listen_and_leave(habit) -> void:
        kept = habit.exited
        kept.connect(hear)
        kept.disconnect(hear)
    func listen_to_kept(_habit) -> void: kept.connect(hear)
    func listen_for(_habit, own) -> void: own.listen_itself(hear)
"""
OWN = """
    extends HabitCheckValue
    func listen_itself(hearer: Callable) -> void: exited.connect(hearer)
"""


@pytest.fixture
def listener(node, gdscript):
    made = gdscript(LISTENER).new()
    node("Node").add_child(made)
    return made


@pytest.fixture
def habits(node, scheduler, gdscript):
    """Ten habits that begin and end in each tick, of a tree that has lived for long; the last has a script."""
    tree = construct("HabitTree")
    tree.set("launch", 3)
    made = [construct("HabitCheckValue") for _ in range(9)] + [gdscript(OWN).new()]
    for number, habit in enumerate(made):
        habit.set("name", f"check{number}")
        habit.set("key", "nothing")
        tree.add_child(habit)
    node("Node", scheduler).add_child(tree)
    for _ in range(LONG):
        scheduler.step()
    return made


@pytest.mark.parametrize("how", ["listen", "listen_typed", "wait", "listen_to_tree"])
def test_a_signal_named_on_an_old_tree_reports_the_next_end(
    habits, scheduler, listener, how
):
    listener.call(how, habits[4])
    scheduler.step()
    assert listener.get("heard") == (10 if how == "listen_to_tree" else 1)


def test_a_late_connection_to_a_signal_reports_the_next_end(habits, scheduler, listener):
    listener.call("listen_and_leave", habits[4])
    for _ in range(LONG):
        scheduler.step()
    listener.call("listen_to_kept", habits[4])
    scheduler.step()
    assert listener.get("heard") == 1


def test_who_connects_in_python_is_told_of_the_next_end(habits, scheduler):
    heard = []
    habits[4].connect("exited", heard.append)
    scheduler.step()
    assert heard == [2]


def test_who_connects_by_name_is_told_within_a_second(habits, scheduler, listener):
    listener.call("listen_by_name", habits[4])
    for _ in range(60):
        scheduler.step()
    heard = listener.get("heard")
    assert heard > 0
    scheduler.step()
    assert listener.get("heard") == heard + 1


def test_a_script_naming_its_own_signal_is_heard_within_a_second(habits, scheduler, listener):
    listener.call("listen_for", None, habits[9])
    for _ in range(60):
        scheduler.step()
    assert listener.get("heard") > 0


def test_connections_made_before_the_tree_lives_hear_every_end(node, scheduler, listener):
    tree, habit = construct("HabitTree"), construct("HabitCheckValue")
    habit.set("key", "nothing")
    tree.add_child(habit)
    listener.call("listen_by_name", habit)
    node("Node", scheduler).add_child(tree)
    scheduler.step()
    assert listener.get("heard") == 1


def test_a_first_connection_keeps_hearing_when_others_leave(node, scheduler, gdscript):
    listener = gdscript(LISTENER + """
    var ends := 0
    func note(_path, _status) -> void: ends += 1
    func listen_to_all_by_name(tree: Node) -> void: tree.connect("habit_exited", note)
    func leave(tree: Node) -> void: tree.disconnect("habit_exited", note)
""").new()
    node("Node").add_child(listener)
    tree = construct("HabitTree")
    tree.set("launch", 3)
    habits = [construct("HabitCheckValue") for _ in range(10)]
    for habit in habits:
        habit.set("key", "nothing")
        tree.add_child(habit)
    listener.call("listen_by_name", habits[4])       # as a scene file does
    listener.call("listen_to_all_by_name", tree)
    node("Node", scheduler).add_child(tree)
    for _ in range(LONG):
        scheduler.step()
    assert listener.get("ends") == 10 * LONG
    listener.call("leave", tree)
    for _ in range(LONG):
        scheduler.step()
    assert listener.get("heard") == 2 * LONG


@pytest.mark.parametrize("which", range(10))
def test_a_connection_by_name_to_slow_habits_hears_every_end(node, scheduler, listener, which):
    tree = construct("HabitTree")
    tree.set("launch", 1)
    waits = [construct("HabitWait") for _ in range(10)]
    for wait in waits:
        wait.set("duration", 1.0)
        tree.add_child(wait)
    node("Node", scheduler).add_child(tree)
    for _ in range(60 * 25):                          # in the middle of the third round, and of a wait
        scheduler.step()
    assert tree.get_active_paths() != []
    while waits[which].is_active():                   # its end may be too near
        scheduler.step()
    listener.call("listen_by_name", waits[which])
    for _ in range(60 * 21):
        scheduler.step()
    assert listener.get("heard") == 2
