"""The combat example of source 004, step by step."""
from __future__ import annotations

import pytest

from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.diary import Diary


class Swing(Habit):
    """A blow that must be finished once begun: 0.3 s, then it is over at 0.5 s."""

    def __init__(self, diary):
        super().__init__("melee")
        self.diary = diary

    def can_activate(self, context):
        return "melee" in self.diary.wants

    def enter(self, context):
        self.diary.append("enter melee")
        context.hold()

    def tick(self, context):
        self.diary.append("tick melee")
        if context.time_in_habit_s >= 0.3:
            context.release()
        return Status.SUCCEEDED if context.time_in_habit_s >= 0.5 else Status.RUNNING

    def exit(self, context):
        self.diary.append("exit melee")


@pytest.fixture
def diary():
    return Diary(wants="guard fight attack shoot")


@pytest.fixture
def guard(diary):
    fight = diary.habit(
        "fight",
        diary.habit("dodge"),
        Swing(diary),
        diary.habit("attack", diary.habit("shoot")))
    return HabitTree(diary.habit("guard", fight))


def test_fight_runs_attack_and_attack_runs_shoot(guard, diary):
    guard.tick(0.1)
    assert diary.read() == [
        "enter guard", "enter fight", "enter attack", "enter shoot", "tick shoot"]
    assert guard.active_paths() == ["guard/fight/attack/shoot"]


def test_shot_at_guard_ends_attack_subtree_before_dodge_begins(guard, diary):
    guard.tick(0.1)
    diary.read()

    diary.wants.add("dodge")
    guard.tick(0.1)

    assert diary.read() == ["exit shoot", "exit attack", "enter dodge", "tick dodge"]
    assert guard.active_paths() == ["guard/fight/dodge"]


def test_when_dodge_is_over_attack_begins_anew_from_pending(guard, diary):
    guard.tick(0.1)
    diary.wants.add("dodge")
    guard.tick(0.1)
    diary.read()

    diary.results["dodge"] = Status.SUCCEEDED
    diary.wants.discard("dodge")
    guard.tick(0.1)

    assert diary.read() == [
        "tick dodge", "exit dodge", "enter attack", "enter shoot", "tick shoot"]


def test_swing_is_uninterruptible_in_its_stretch_but_not_after(guard, diary):
    diary.wants.add("melee")
    guard.tick(0.1)
    diary.read()

    diary.wants.add("dodge")
    for _ in range(3):
        guard.tick(0.1)
        assert diary.read() == ["tick melee"]
    guard.tick(0.1)

    assert diary.read() == ["exit melee", "enter dodge", "tick dodge"]


def test_the_hold_of_an_earlier_swing_protects_no_later_one(guard, diary):
    diary.wants.add("melee")
    guard.tick(0.1)
    guard.tick(0.3)
    diary.wants.discard("melee")
    guard.tick(0.2)  # over
    assert guard.active_paths() == ["guard/fight/attack/shoot"]

    diary.wants.add("dodge")
    guard.tick(0.1)
    assert guard.active_paths() == ["guard/fight/dodge"]
