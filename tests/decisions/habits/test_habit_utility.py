"""Utility habits: the child with the highest score runs."""
from __future__ import annotations

import pytest

from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.habits.utility import Consideration, Score, falling, power
from ai_core.faults import FaultIsolation


def by_key(key):
    return lambda context: context.blackboard.get(key, 0.0)


def needs(*names, inertia=0.0, **options):
    return Habit("needs", [
        Habit(name, score=by_key(name), **options) for name in names], Launch.UTILITY, inertia=inertia)


def active(tree):
    return [path.rpartition("/")[2] for path in tree.active_paths()]


def test_the_child_with_the_highest_score_runs():
    tree = HabitTree(needs("eat", "sleep", "play"), blackboard={"eat": 0.2, "sleep": 0.7, "play": 0.7})
    tree.tick(0.1)
    assert active(tree) == ["sleep"]
    tree.blackboard["eat"] = 0.8
    tree.tick(0.1)
    assert active(tree) == ["eat"]
    assert tree.root_run.child.reason == "interrupted sleep"


def test_inertia_keeps_the_active_child():
    tree = HabitTree(needs("eat", "sleep", inertia=0.25), blackboard={"eat": 0.5, "sleep": 0.25})
    seen = []
    for sleep in (0.25, 0.75, 0.8125, 0.5):
        tree.blackboard["sleep"] = sleep
        tree.tick(0.1)
        seen += active(tree)
    assert seen == ["eat", "eat", "sleep", "sleep"]


def test_no_child_runs_with_scores_of_zero_or_less():
    tree = HabitTree(needs("eat", "sleep"), blackboard={"eat": 0.0, "sleep": -1.0})
    assert tree.tick(0.1) is Status.RUNNING
    assert active(tree) == ["needs"]


def test_next_best_begins_when_a_child_ends():
    root = Habit("needs", [
        Habit("eat", score=lambda _: 2.0, tick=lambda _: Status.SUCCEEDED, cooldown_s=1.0),
        Habit("sleep", score=lambda _: 1.0)], Launch.UTILITY)
    tree = HabitTree(root)
    tree.tick(0.5)
    assert (active(tree), tree.endings[1]) == (["sleep"], "succeeded")


def test_held_child_is_not_interrupted_by_a_higher_score():
    tree = HabitTree(needs("eat", "sleep", uninterruptible=True), blackboard={"eat": 0.5, "sleep": 0.25})
    tree.tick(0.1)
    tree.blackboard["sleep"] = 1.0
    tree.tick(0.1)
    assert active(tree) == ["eat"]


def test_child_with_a_condition_is_scored_only_if_it_holds():
    root = Habit("needs", [
        Habit("eat", score=lambda _: 2.0, can_activate=lambda _: False), Habit("sleep", score=lambda _: 1.0),
    ], Launch.UTILITY)
    tree = HabitTree(root)
    tree.tick(0.1)
    assert (active(tree), tree.scores) == (["sleep"], {2: 1.0})


def test_scores_are_shown_as_text():
    tree = HabitTree(needs("eat", "sleep"), blackboard={"eat": 0.5, "sleep": 0.25})
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.to_text().splitlines()[2:] == [
        "  * eat: active for 0.10 s, score 0.50, can activate", "    sleep: pending, score 0.25"]


@pytest.mark.parametrize("bad", [lambda _: 1 / 0, lambda _: None, lambda _: float("nan")])
def test_score_that_cannot_be_is_reported(bad):
    log = []
    root = Habit("needs", [Habit("eat", score=bad), Habit("sleep", score=lambda _: 1.0)], Launch.UTILITY)
    tree = HabitTree(root, faults=FaultIsolation(report=lambda fault: log.append(fault.name)))
    tree.tick(0.1)
    assert (active(tree), log) == (["sleep"], ["needs: score of needs/eat"])


def test_utility_habit_continues_after_loading():
    board = {"eat": 0.5, "sleep": 0.25}
    tree, other = (HabitTree(needs("eat", "sleep", inertia=0.25), blackboard=dict(board)) for _ in range(2))
    tree.tick(0.1)
    other.prepare_state(tree.save_state())()
    for one in (tree, other):
        one.blackboard["sleep"] = 0.625
        one.tick(0.1)
    assert active(tree) == active(other) == ["eat"]
    assert tree.save_state() == other.save_state()


def test_children_of_utility_habits_need_a_score():
    with pytest.raises(ValueError, match="'needs': the child 'eat' of a utility habit has no score; give it one"):
        Habit("needs", [Habit("eat")], Launch.UTILITY)


def test_score_is_the_mean_of_shaped_considerations():
    seen = []
    score = Score(
        Consideration("hunger", power(2)), Consideration(lambda context: context.owner, falling, high=10.0), weight=2.0)
    root = Habit("needs", [Habit("eat", score=lambda context: seen.append(score(context)) or 1.0)], Launch.UTILITY)
    HabitTree(root, owner=7.5, blackboard={"hunger": 0.5}).tick(0.1)
    HabitTree(root, owner=99.0, blackboard={"hunger": 0.5}).tick(0.1)
    HabitTree(root, owner=0.0).tick(0.1)
    assert seen == [0.5, 0.0, 0.0]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Score(), "considerations must hold at least one Consideration"),
    (lambda: Score(by_key("x"), weight=0), "weight must be above 0"),
    (lambda: Consideration("x", low=1.0, high=1.0), "high must be above 1"),
    (lambda: power(0), "exponent must be above 0"),
    (lambda: Habit("x", inertia=-1), "inertia must be at least 0")])
def test_mistakes_in_scores_are_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_values_of_considerations_are_keys_or_callables():
    with pytest.raises(TypeError, match="value must be a key of the blackboard or a callable, got 3"):
        Consideration(3)
    with pytest.raises(TypeError, match="curve must be callable"):
        Consideration("x", 2)
