"""Timeouts, cooldowns, repeats, retries and outcomes: right at any rate of ticks?"""
from __future__ import annotations

import pytest

from ai_core.decisions.habits.habit_status import FOR_EVER, Launch, Outcome, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from tests.decisions.diary import Diary

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


def ticks_until(tree, wanted, elapsed_s, most=100):
    for number in range(1, most):
        if tree.tick(elapsed_s) is wanted:
            return number
    raise AssertionError(f"never {wanted}")


@pytest.mark.parametrize(("elapsed_s", "ticks"), [(0.1, 11), (0.25, 5), (7.0, 2)])
def test_habit_over_its_time_limit_fails_in_that_tick(elapsed_s, ticks):
    tree = HabitTree(Habit("wait", timeout_s=1.0))
    assert ticks_until(tree, FAILED, elapsed_s) == ticks
    assert tree.endings == ["timed out"]


def test_a_timeout_ends_children_first_and_ticks_nobody():
    diary = Diary()
    tree = HabitTree(diary.habit("root", diary.habit("a"), timeout_s=1.0))
    tree.tick(0.1)
    diary.read()
    assert tree.tick(1.0) is FAILED
    assert diary.read() == ["exit a", "exit root"]


def test_a_hundred_tenths_of_a_second_are_ten_seconds():
    for start in range(20):
        tree = HabitTree(Habit("wait", timeout_s=10.0))
        for _ in range(start):
            tree.tick(0.1)
        tree.stop()
        assert ticks_until(tree, FAILED, 0.1, 200) == 101


@pytest.mark.parametrize("elapsed_s", [0.05, 0.1, 0.5, 1.0])
def test_cooldown_length_does_not_depend_on_tick_rate(elapsed_s):
    began = []
    shout = Habit(
        "shout", cooldown_s=2.0, enter=lambda context: began.append(context.tree.seconds), tick=lambda _: SUCCEEDED)
    tree = HabitTree(Habit("root", [shout, Habit("walk")]))
    while tree.seconds < 9.9:
        tree.tick(elapsed_s)
    assert began == pytest.approx([elapsed_s + 2.0 * n for n in range(5)])


def test_interrupted_habit_cools_down_and_the_view_shows_it():
    diary = Diary(wants="root walk")
    walk = diary.habit("walk", cooldown_s=3.0)
    tree = HabitTree(diary.habit("root", diary.habit("dodge"), walk, diary.habit("rest")))
    tree.tick(0.5)
    diary.wants = {"root", "dodge", "walk", "rest"}
    tree.tick(0.5)
    diary.wants.discard("dodge")
    diary.results["dodge"] = SUCCEEDED
    tree.tick(0.5)
    assert tree.active_paths() == ["root/rest"]
    assert "walk: pending, cools down for 2.50 s (before: interrupted by dodge)" in tree.to_text()
    tree.tick(2.5)
    assert tree.active_paths() == ["root/walk"]


def test_a_cooldown_is_forgotten_when_the_tree_stops():
    tree = HabitTree(Habit("root", [Habit("a", cooldown_s=5.0, tick=lambda _: SUCCEEDED)]))
    tree.tick(0.1)
    tree.stop()
    tree.tick(0.1)
    assert tree.endings[1] == "succeeded"


def test_repeating_habit_runs_in_following_ticks_then_succeeds():
    diary = Diary()
    diary.results["knock"] = SUCCEEDED
    root = diary.habit("root", diary.habit("knock", repeats=3), diary.habit("go"), launch=Launch.SEQUENTIAL)
    tree = HabitTree(root)
    said = []
    for _ in range(3):
        tree.tick(0.1)
        said.append(diary.read())
    once = ["enter knock", "tick knock", "exit knock"]
    assert said == [["enter root", *once], once, [*once, "enter go", "tick go"]]


def test_repeating_habit_yields_only_to_more_urgent_ones():
    diary = Diary(wants="root knock sit")
    diary.results["knock"] = SUCCEEDED
    root = diary.habit(
        "root", diary.habit("dodge"), diary.habit("knock", repeats=FOR_EVER), diary.habit("sit"))
    tree = HabitTree(root)
    tree.tick(0.1)
    tree.tick(0.1)
    assert "* knock: begins in the next tick, again after it succeeded" in tree.to_text()
    assert diary.count("enter knock") == diary.count("exit knock") == 2
    diary.wants.add("dodge")
    diary.read()
    tree.tick(0.1)
    assert diary.read() == ["enter dodge", "tick dodge"]


def test_failed_habit_is_retried_up_to_its_limit_only():
    diary = Diary()
    diary.results["open"] = FAILED
    tree = HabitTree(diary.habit("open", retries=2))
    assert [tree.tick(0.1) for _ in range(3)] == [RUNNING, RUNNING, FAILED]
    diary.results["open"] = SUCCEEDED
    assert tree.tick(0.1) is SUCCEEDED


def test_retries_count_beside_repeats():
    diary = Diary()
    tree = HabitTree(diary.habit("open", retries=1, repeats=2))
    results = [FAILED, SUCCEEDED, SUCCEEDED]
    said = []
    for one in results:
        diary.results["open"] = one
        said.append(tree.tick(0.1))
    assert said == [RUNNING, RUNNING, SUCCEEDED]


@pytest.mark.parametrize(
    ("outcome", "of_success", "of_failure"),
    [
        (Outcome.UNCHANGED, SUCCEEDED, FAILED),
        (Outcome.INVERTED, FAILED, SUCCEEDED),
        (Outcome.ALWAYS_SUCCEEDED, SUCCEEDED, SUCCEEDED),
        (Outcome.ALWAYS_FAILED, FAILED, FAILED)])
def test_the_parent_is_told_the_outcome_and_exit_how_it_ended(outcome, of_success, of_failure):
    ended = []
    for result, expected in ((SUCCEEDED, of_success), (FAILED, of_failure)):
        one = Habit("one", outcome=outcome, tick=lambda _, result=result: result, exit=lambda c: ended.append(c.status))
        ended.clear()
        assert HabitTree(Habit("root", [one], Launch.SEQUENTIAL)).tick(0.1) is expected
        assert HabitTree(one).tick(0.1) is expected
        assert ended == [result, result]


def test_a_fallback_tries_one_after_the_other_until_one_succeeds():
    diary = Diary(wants="root door window roof")
    diary.results = {"door": FAILED}
    names = ("key", "door", "window", "roof")
    tree = HabitTree(diary.habit("root", *(diary.habit(name) for name in names), launch=Launch.FALLBACK))
    tree.tick(0.1)
    assert diary.read() == ["enter root", "enter door", "tick door", "exit door", "enter window", "tick window"]
    diary.results["window"] = SUCCEEDED
    assert tree.tick(0.1) is SUCCEEDED
    assert diary.read() == ["tick window", "exit window", "exit root"]


def test_a_fallback_fails_when_none_succeeds_or_none_can_run():
    diary = Diary(wants="root a")
    diary.results["a"] = FAILED
    tree = HabitTree(diary.habit("root", diary.habit("a"), diary.habit("b"), launch=Launch.FALLBACK))
    assert tree.tick(0.1) is FAILED
    diary.wants = {"root"}
    assert tree.tick(0.1) is FAILED


def test_ended_habit_that_wants_again_goes_before_less_urgent():
    diary = Diary()
    tree = HabitTree(diary.habit("root", diary.habit("swing"), diary.habit("walk")))
    tree.tick(0.1)
    diary.results["swing"] = SUCCEEDED
    diary.read()
    tree.tick(0.1)
    assert diary.read() == [
        "tick swing", "exit swing", "enter swing", "tick swing", "exit swing", "enter walk", "tick walk"]


def test_a_thousand_steps_that_end_at_once_are_spread_over_ticks():
    count = []
    step = [Habit(f"step {n}", tick=lambda _: count.append(1) or SUCCEEDED) for n in range(1000)]
    tree = HabitTree(Habit("root", [Habit("many", step, Launch.SEQUENTIAL, repeats=FOR_EVER)]))
    per_tick = []
    for _ in range(4):
        before = len(count)
        tree.tick(0.1)
        per_tick.append(len(count) - before)
    assert max(per_tick) <= 256
    assert sum(per_tick) == 1000
    tree.tick(0.1)
    assert len(count) > 1000


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("timeout_s", 0, "'a': timeout_s must be above 0"),
        ("timeout_s", "soon", "'a': timeout_s must be a number"),
        ("cooldown_s", -1, "'a': cooldown_s must be at least 0"),
        ("repeats", 0, "'a': repeats must be at least 1, got 0; or use FOR_EVER"),
        ("retries", 1.5, "'a': retries must be an integer"),
        ("outcome", "inverted", "'a': outcome must be an Outcome, got 'inverted'"),
        ("wakes_on", "alarm", r"'a': wakes_on must be a sequence of names, got 'alarm'; write \('alarm',\)"),
        ("begins_on", [3], "'a': begins_on must hold non-empty strings, got 3"),
        ("asks_every_s", -0.1, "'a': asks_every_s must be at least 0")])
def test_options_that_cannot_be_are_refused(option, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Habit("a", **{option: value})
