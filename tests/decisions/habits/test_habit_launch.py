"""How habits launch their children: which begin, go on and end, and when?"""
from __future__ import annotations

import random

import pytest

from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.diary import Diary, FixedNumbers

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


def test_first_child_that_can_run_runs_and_the_rest_stay_pending():
    diary = Diary(wants="root b c")
    tree = HabitTree(diary.habit("root", *(diary.habit(name) for name in "abc")))
    assert tree.tick(0.1) is RUNNING
    assert diary.read() == ["enter root", "enter b", "tick b"]


def test_a_less_urgent_child_never_interrupts():
    diary = Diary(wants="root a")
    tree = HabitTree(diary.habit("root", diary.habit("a"), diary.habit("b")))
    tree.tick(0.1)
    diary.wants.add("b")
    tree.tick(0.1)
    assert tree.active_paths() == ["root/a"]


def test_a_child_goes_on_although_it_could_not_begin_now():
    diary = Diary(wants="root a b")
    tree = HabitTree(diary.habit("root", diary.habit("a"), diary.habit("b")))
    tree.tick(0.1)
    diary.wants.discard("a")
    tree.tick(0.1)
    assert tree.active_paths() == ["root/a"]


def test_next_willing_child_begins_in_the_tick_the_last_one_ends():
    diary = Diary()
    diary.results["a"] = FAILED
    tree = HabitTree(diary.habit("root", diary.habit("a"), diary.habit("b")))
    tree.tick(0.1)
    assert diary.read() == ["enter root", "enter a", "tick a", "exit a", "enter b", "tick b"]


def test_habits_that_end_at_once_run_only_once_a_tick():
    diary = Diary()
    diary.results = {"a": SUCCEEDED, "b": SUCCEEDED}
    tree = HabitTree(diary.habit("root", diary.habit("a"), diary.habit("b")))
    assert tree.tick(0.1) is RUNNING
    diary.read()
    assert tree.tick(0.1) is RUNNING
    assert diary.read() == ["enter a", "tick a", "exit a", "enter b", "tick b", "exit b"]


def test_prioritized_habit_ends_by_own_tick_with_its_children():
    diary = Diary()
    root = diary.habit("root", diary.habit("a", diary.habit("b")), ticks=True)
    tree = HabitTree(root)
    tree.tick(0.1)
    diary.read()
    diary.results["root"] = SUCCEEDED
    assert tree.tick(0.1) is SUCCEEDED
    assert diary.read() == ["tick root", "exit b", "exit a", "exit root"]


def test_sequence_runs_children_in_order_and_ends_with_the_last():
    diary = Diary()
    root = diary.habit(
        "root", diary.habit("draw"), diary.habit("aim"), diary.habit("fire"),
        launch=Launch.SEQUENTIAL)
    tree = HabitTree(root)
    tree.tick(0.1)
    assert diary.read() == ["enter root", "enter draw", "tick draw"]
    diary.results = {"draw": SUCCEEDED, "aim": SUCCEEDED}
    tree.tick(0.1)
    assert diary.read() == [
        "tick draw", "exit draw", "enter aim", "tick aim", "exit aim", "enter fire", "tick fire"]
    diary.results["fire"] = SUCCEEDED
    assert tree.tick(0.1) is SUCCEEDED
    assert diary.read() == ["tick fire", "exit fire", "exit root"]


def test_a_sequence_fails_with_a_child_that_fails():
    diary = Diary()
    diary.results["a"] = FAILED
    tree = HabitTree(
        diary.habit("root", diary.habit("a"), diary.habit("b"), launch=Launch.SEQUENTIAL))
    assert tree.tick(0.1) is FAILED
    assert diary.read() == ["enter root", "enter a", "tick a", "exit a", "exit root"]


def test_a_sequence_fails_when_a_child_cannot_run_in_its_turn():
    diary = Diary(wants="root a")
    diary.results["a"] = SUCCEEDED
    tree = HabitTree(
        diary.habit("root", diary.habit("a"), diary.habit("b"), launch=Launch.SEQUENTIAL))
    assert tree.tick(0.1) is FAILED
    assert diary.read() == ["enter root", "enter a", "tick a", "exit a", "exit root"]


def test_a_sequence_does_not_ask_earlier_children_again():
    diary = Diary()
    diary.results["a"] = SUCCEEDED
    tree = HabitTree(
        diary.habit("root", diary.habit("a"), diary.habit("b"), launch=Launch.SEQUENTIAL))
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.active_paths() == ["root/b"]


def test_a_random_habit_runs_one_child_and_ends_with_it():
    diary = Diary()
    root = diary.habit("root", *(diary.habit(name) for name in "abc"), launch=Launch.RANDOM)
    tree = HabitTree(root, random=FixedNumbers(0.5, 0.99, 0.0))
    tree.tick(0.1)
    assert diary.read() == ["enter root", "enter b", "tick b"]
    diary.results["b"] = SUCCEEDED
    assert tree.tick(0.1) is SUCCEEDED
    tree.tick(0.1)
    assert tree.active_paths() == ["root/c"]


@pytest.mark.parametrize("result", [SUCCEEDED, FAILED])
def test_a_random_habit_ends_as_its_child_did(result):
    diary = Diary()
    diary.results["a"] = result
    root = diary.habit("root", diary.habit("a"), launch=Launch.RANDOM)
    assert HabitTree(root, random=FixedNumbers(0.0)).tick(0.1) is result


def test_children_are_chosen_as_often_as_their_weights_say():
    counts = {"rare": 0, "common": 0}

    def count(context):
        counts[context.path.split("/")[1]] += 1
        return SUCCEEDED

    root = Habit(
        "root", [Habit("rare", tick=count), Habit("common", tick=count, weight=3)], Launch.RANDOM)
    tree = HabitTree(root, random=random.Random(7))
    for _ in range(2000):
        tree.tick(0.1)
    assert counts["common"] / counts["rare"] == pytest.approx(3, rel=0.15)


def test_draw_has_only_runnable_children_and_fails_if_none():
    diary = Diary(wants="root c")
    root = diary.habit("root", *(diary.habit(name) for name in "abc"), launch=Launch.RANDOM)
    tree = HabitTree(root, random=FixedNumbers(0.0))
    tree.tick(0.1)
    assert tree.active_paths() == ["root/c"]

    diary = Diary(wants="root")
    root = diary.habit("root", diary.habit("a"), launch=Launch.RANDOM)
    assert HabitTree(root, random=FixedNumbers()).tick(0.1) is FAILED
    assert diary.read() == ["enter root", "exit root"]


def test_non_blocking_child_runs_alongside_and_ends_with_parent():
    diary = Diary(wants="root talk walk sing")
    root = diary.habit(
        "root",
        diary.habit("talk", non_blocking=True),
        diary.habit("run"),
        diary.habit("walk"),
        diary.habit("sing", non_blocking=True),
        ticks=True)
    tree = HabitTree(root)
    tree.tick(0.1)
    assert diary.read() == [
        "enter root", "tick root", "enter walk", "tick walk",
        "enter talk", "tick talk", "enter sing", "tick sing"]
    assert tree.active_paths() == ["root/talk", "root/walk", "root/sing"]

    diary.wants.add("run")
    tree.tick(0.1)
    assert diary.read() == [
        "tick root", "exit walk", "enter run", "tick run", "tick talk", "tick sing"]
    diary.results["root"] = FAILED
    tree.tick(0.1)
    assert diary.read() == ["tick root", "exit sing", "exit talk", "exit run", "exit root"]


def test_ended_non_blocking_child_is_asked_again_at_next_tick():
    diary = Diary()
    diary.results["talk"] = SUCCEEDED
    tree = HabitTree(diary.habit("root", diary.habit("talk", non_blocking=True)))
    tree.tick(0.1)
    tree.tick(0.1)
    assert diary.read() == ["enter root"] + ["enter talk", "tick talk", "exit talk"] * 2


@pytest.mark.parametrize("launch", list(Launch))
@pytest.mark.parametrize("result", [SUCCEEDED, FAILED])
def test_parent_ignores_the_outcome_of_a_non_blocking_child(launch, result):
    diary = Diary()
    diary.results["voice"] = result
    tree = HabitTree(diary.habit(
        "root", diary.habit("a", score=lambda _: 1.0), diary.habit("voice", non_blocking=True), launch=launch),
        random=random.Random(1))
    assert [tree.tick(0.1) for _ in range(3)] == [RUNNING] * 3
    assert tree.active_paths() == ["root/a"]
    assert diary.read().count("enter voice") == 3


def test_a_sequence_has_non_blocking_children_beside_every_step():
    diary = Diary()
    root = diary.habit(
        "root", diary.habit("a"), diary.habit("b"), diary.habit("voice", non_blocking=True),
        launch=Launch.SEQUENTIAL)
    tree = HabitTree(root)
    tree.tick(0.1)
    diary.results["a"] = SUCCEEDED
    tree.tick(0.1)
    assert tree.active_paths() == ["root/b", "root/voice"]
    assert diary.read().count("enter voice") == 1
