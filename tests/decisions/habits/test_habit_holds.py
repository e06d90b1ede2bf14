"""Holds: what may not be interrupted, by whom, and until when?"""
from __future__ import annotations

import pytest

from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.diary import Diary

SUCCEEDED, FAILED = Status.SUCCEEDED, Status.FAILED


def held_tree(diary, **held):
    return HabitTree(
        diary.habit(
            "root",
            diary.habit("die", urgency=10),
            diary.habit("dodge"),
            diary.habit("act", diary.habit("swing", **held))))


def test_uninterruptible_habit_is_never_interrupted_by_siblings():
    diary = Diary(wants="root act swing")
    tree = held_tree(diary, uninterruptible=True)
    tree.tick(0.1)
    diary.wants |= {"die", "dodge"}
    tree.tick(0.1)
    assert tree.active_paths() == ["root/act/swing"]
    diary.results["swing"] = SUCCEEDED
    tree.tick(0.1)  # ends below "act", which then may be interrupted
    tree.tick(0.1)
    assert tree.active_paths() == ["root/die"]


def test_hold_with_priority_is_broken_by_more_urgent_habits():
    diary = Diary(wants="root act swing")
    tree = held_tree(diary, enter=lambda context: context.hold(5))
    tree.tick(0.1)
    diary.wants.add("dodge")
    tree.tick(0.1)
    assert tree.active_paths() == ["root/act/swing"]
    diary.wants.add("die")
    tree.tick(0.1)
    assert tree.active_paths() == ["root/die"]


def test_a_hold_does_not_stop_the_parents_own_end():
    diary = Diary()
    root = diary.habit("root", diary.habit("a", uninterruptible=True), ticks=True)
    tree = HabitTree(root)
    tree.tick(0.1)
    diary.results["root"] = FAILED
    tree.tick(0.1)
    assert diary[-2:] == ["exit a", "exit root"]
    assert tree.holds == {}


def test_only_an_active_habit_can_hold():
    kept = []
    tree = HabitTree(Habit("root", enter=kept.append))
    tree.tick(0.1)
    tree.stop()
    with pytest.raises(RuntimeError, match="'root' is not active and cannot hold"):
        kept[0].hold()
