"""Definitions of habits: what is accepted, what is refused, what is shared?"""
from __future__ import annotations

import math
import sys

import pytest

from ai_core.decisions.habits.habit_plan import MAXIMUM_DEPTH
from ai_core.decisions.habits.habit_status import Launch
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.errors import CycleError


@pytest.mark.parametrize("name", ["", "a/b", 3, None])
def test_a_name_must_be_good_for_a_path(name):
    with pytest.raises(ValueError, match=r"must be a non-empty string without '/', got"):
        Habit(name)


@pytest.mark.parametrize("launch", [Launch.SEQUENTIAL, Launch.RANDOM])
@pytest.mark.parametrize("children", [[], [Habit("talk", non_blocking=True)]])
def test_a_habit_that_ends_with_its_children_needs_one_to_launch(launch, children):
    with pytest.raises(ValueError, match=rf"'patrol': a {launch.value} habit must have a blocking child"):
        Habit("patrol", children, launch)


def test_siblings_need_names_of_their_own():
    with pytest.raises(ValueError, match="habit 'fight': two children are named 'shoot'"):
        Habit("fight", [Habit("shoot"), Habit("dodge"), Habit("shoot")])


def test_a_child_that_is_no_habit_is_refused():
    with pytest.raises(TypeError, match="habit 'fight': every child must be a Habit, got 'sho"):
        Habit("fight", ["shoot"])


@pytest.mark.parametrize("weight", [0, -1, math.nan])
def test_a_weight_must_be_above_zero(weight):
    with pytest.raises(ValueError, match="habit 'joke': weight must be"):
        Habit("joke", weight=weight)


def test_a_launch_mode_is_no_string():
    with pytest.raises(TypeError, match="habit 'a': launch must be a Launch, got 'random'"):
        Habit("a", [Habit("b")], "random")


@pytest.mark.parametrize("moment", ["can_activate", "enter", "tick", "exit"])
def test_callbacks_must_be_callable(moment):
    with pytest.raises(TypeError, match=f"habit 'a': {moment} must be callable, got 'walk'"):
        Habit("a", **{moment: "walk"})


def test_a_definition_does_not_change():
    habit = Habit("talk", weight=2.0)
    with pytest.raises(AttributeError, match="make a new habit to change its weight"):
        habit.weight = 3.0
    assert habit.weight == 2.0


def test_children_appended_to_the_list_later_are_ignored():
    children = [Habit("a")]
    habit = Habit("root", children)
    children.append(Habit("b"))
    assert [child.name for child in habit.children] == ["a"]


class Recursive(Habit):
    """A habit that builds its children late, and lists itself among them."""

    @property
    def children(self):
        return (Habit("rest"), self)


def test_a_habit_below_itself_is_refused_with_its_path():
    with pytest.raises(CycleError, match="habit 'guard/work/work' must not be below itself"):
        HabitTree(Habit("guard", [Recursive("work")]))


def test_late_children_are_checked_too_and_the_path_is_told():
    class Late(Habit):
        @property
        def children(self):
            return (Habit("a"), Habit("a"))

    with pytest.raises(ValueError, match="habit 'guard/day/late': two children are named 'a'"):
        HabitTree(Habit("guard", [Habit("day", [Late("late")])]))


def chain(depth):
    habit = Habit("leaf")
    for level in range(depth - 1):
        habit = Habit(f"h{level}", [habit])
    return habit


def test_habits_nest_only_so_deep_that_ticking_is_safe():
    tree = HabitTree(chain(MAXIMUM_DEPTH))
    tree.tick(0.1)
    assert tree.active_paths()[0].count("/") == MAXIMUM_DEPTH - 1
    with pytest.raises(ValueError, match=f"habits nest deeper than {MAXIMUM_DEPTH} at"):
        HabitTree(chain(MAXIMUM_DEPTH + 1))


def test_a_root_that_is_no_habit_is_refused():
    with pytest.raises(TypeError, match="root must be a Habit, got 'guard'"):
        HabitTree("guard")


def test_random_habits_refuse_to_run_without_a_generator():
    root = Habit("root", [Habit("idle", [Habit("yawn")], Launch.RANDOM)])
    with pytest.raises(ValueError, match="'root/idle' requires a random generator; pass random=random"):
        HabitTree(root)
    with pytest.raises(TypeError, match=r"random must have a method random\(\), got 7"):
        HabitTree(root, random=7)


def test_one_definition_serves_many_characters_and_places():
    seen = []
    look = Habit("look", tick=lambda context: seen.append((context.owner, context.path)))
    root = Habit("root", [Habit("work", [look]), look])
    for owner in ("anna", "bert"):
        HabitTree(root, owner=owner).tick(0.1)
    HabitTree(look, owner="carl").tick(0.1)
    assert seen == [
        ("anna", "root/work/look"), ("bert", "root/work/look"), ("carl", "look")]


def test_characters_share_the_plan_and_stay_small():
    root = Habit("root", [Habit(f"habit {number}") for number in range(9)])
    trees = [HabitTree(root) for _ in range(3)]
    assert trees[0].plan is trees[1].plan is trees[2].plan

    tree = trees[0]
    own = [tree, tree.holds, tree.endings, tree._noticed, tree._now]
    assert sum(sys.getsizeof(part) for part in own) <= 1000


def test_subclass_overrides_behavior_and_callables_beat_methods():
    class Greet(Habit):
        def enter(self, context):
            context.blackboard["said"] = ["hello"]

        def tick(self, context):
            context.blackboard["said"].append("how are you")

    tree = HabitTree(Greet("greet"))
    tree.tick(0.1)
    assert tree.blackboard == {"said": ["hello", "how are you"]}

    tree = HabitTree(Greet("greet", tick=lambda context: context.blackboard["said"].append("bye")))
    tree.tick(0.1)
    assert tree.blackboard == {"said": ["hello", "bye"]}
