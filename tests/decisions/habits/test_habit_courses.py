"""A course acts in place of the tick of a habit, until there is something to decide."""
from __future__ import annotations

import pytest

from ai_core.decisions import Blackboard, Habit, HabitTree


@pytest.fixture
def walker():
    """A tree whose habit follows a course, with the times of its ticks and of the course."""
    ticks, steps, is_free = [], [], [True]

    def course(elapsed_s):
        if is_free[0]:
            steps.append(elapsed_s)
        return is_free[0]

    def tick(run):
        ticks.append((run.elapsed_s, run.course is None))
        run.follow(course, "alarm", "health", at_most_s=1.0)

    tree = HabitTree(
        Habit("walk", tick=tick), owner=None, name="walker", blackboard=Blackboard({"health": 1.0}, name="of walker"))
    tree.tick(0.0)
    return tree, ticks, steps, is_free


def test_courses_are_called_in_place_of_ticks(walker):
    tree, ticks, steps, _ = walker
    for _ in range(3):
        tree.tick(0.25)
    assert (len(ticks), steps) == (1, [0.25] * 3)


def test_course_that_returns_false_leaves_its_turn_to_the_tick(walker):
    tree, ticks, steps, is_free = walker
    tree.tick(0.25)
    is_free[0] = False
    tree.tick(0.5)
    assert (ticks[1:], steps) == ([(0.5, True)], [0.25])


@pytest.mark.parametrize("change", ["message", "value", "time"])
def test_courses_end_by_what_they_name(walker, change):
    tree, ticks, steps, _ = walker
    tree.tick(0.25)
    if change == "message":
        tree.notify("another")
        tree.tick(0.25)
        assert len(ticks) == 1
        tree.notify("alarm")
    elif change == "value":
        tree.blackboard["health"] = 0.5
    tree.tick(0.25 if change != "time" else 0.75)
    assert len(ticks) == 2
    tree.tick(0.25)
    assert len(ticks) == 2, "it follows again"
    assert steps[-1] == 0.25


def test_courses_that_raise_end_the_habit(walker):
    tree, _, _, is_free = walker
    is_free.clear()
    tree.tick(0.25)
    assert not tree.is_active


def test_courses_end_with_their_run():
    steps = []
    sensed = [False]
    root = Habit("root", [
        Habit("flee", can_activate=lambda run: sensed[0]),
        Habit("walk", tick=lambda run: run.follow(lambda elapsed_s: steps.append(elapsed_s) or True))])
    tree = HabitTree(root, name="walker")
    tree.tick(0.0)
    tree.tick(0.25)
    sensed[0] = True
    tree.tick(0.25)
    tree.tick(0.25)
    assert len(steps) == 1
    run = tree.root_run.child
    tree.stop()
    with pytest.raises(RuntimeError, match="not active"):
        run.follow(lambda elapsed_s: True)
