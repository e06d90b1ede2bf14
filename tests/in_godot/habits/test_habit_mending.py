"""A HabitTree that a mistake has stopped: what mends it, without a call of rebuild()?"""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, construct

WRONG = "nowhere.at_all:Nothing"


def made(class_name, parent, name, **settings):
    one = construct(class_name)
    for key, value in {"name": name, **settings}.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def brain(node, scheduler):
    """A tree that waits, and knows something."""
    one = construct("HabitTree")
    one.set("name", "Brain")
    made("HabitWait", one, "wait", duration=100.0)
    node("Node", scheduler, name="Bob").add_child(one)
    one.set_value("gold", 3)
    scheduler.step()
    return one


@pytest.fixture
def stopped(brain, scheduler, expect_errors):
    """The same after a habit was added that cannot be read."""
    expect_errors("nowhere")
    made("Habit", brain, "wrong", python_class=WRONG)
    scheduler.step()
    assert brain.to_text() == "not running"
    return brain


def free(tree):
    tree.get_node("wrong").free()


def remove_and_free(tree):
    wrong = tree.get_node("wrong")
    tree.remove_child(wrong)
    wrong.free()


def mend(tree):
    tree.get_node("wrong").set("python_class", "")


@pytest.mark.parametrize("how", [free, remove_and_free, mend])
def test_it_goes_on_by_itself_when_the_mistake_is_mended(stopped, scheduler, frames, how):
    how(stopped)
    frames(1)
    scheduler.step()
    assert stopped.get_active_paths() == ["Brain/wait"]
    assert stopped.get_value("gold") == 3


def test_one_that_is_still_wrong_says_so_once_for_each_change(stopped, scheduler, frames, expect_errors):
    expect_errors("nowhere", times=2)
    stopped.get_node("wait").set("duration", 5.0)
    stopped.get_node("wait").set("max_duration", 9.0)
    frames(2)
    frames(3)
    mend(stopped)
    frames(1)
    scheduler.step()
    assert stopped.get_active_paths() == ["Brain/wait"]


def test_a_tree_that_never_ran_starts_when_a_setting_is_repaired(
        node, scheduler, frames, expect_errors, physics_frames):
    tree = construct("HabitTree")
    inner = made("Habit", tree, "inner", launch=1)          # a sequence of nothing
    tree.set("actor", NodePath("nobody"))
    expect_errors("nobody")
    node("Node", scheduler).add_child(tree)
    physics_frames(2)
    expect_errors("inner")
    tree.set("actor", NodePath(".."))
    frames(1)
    made("HabitWait", inner, "wait", duration=9.0)
    frames(1)
    scheduler.step()
    assert [path.partition("/")[2] for path in tree.get_active_paths()] == ["inner/wait"]
    physics_frames(2)


def test_a_tree_that_leaves_while_stopped_starts_when_it_returns(stopped, scheduler, frames):
    parent = stopped.get_parent()
    parent.remove_child(stopped)
    free(stopped)
    frames(1)
    parent.add_child(stopped)
    scheduler.step()
    assert stopped.get_active_paths() == ["Brain/wait"]
