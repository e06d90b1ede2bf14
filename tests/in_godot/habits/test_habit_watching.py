"""Who watches values of a HabitTree's blackboard: told whatever others do, and until freed."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

WATCHER = """
    extends Node
    var heard := []
    func hear(key: String, value: Variant) -> void: heard.append([key, value])
    func watch(tree: HabitTree, key: String) -> void: tree.watch_value(key, hear)
    func unwatch(tree: HabitTree, key: String) -> void: tree.unwatch_value(key, hear)
    func deaf() -> void: pass
    func watch_deaf(tree: HabitTree, key: String) -> void: tree.watch_value(key, deaf)
"""


@pytest.fixture
def brain(node, scheduler):
    made, walk = construct("HabitTree"), construct("Habit")
    made.set("name", "Brain")
    walk.set("name", "walk")
    made.add_child(walk)
    node("Node3D", scheduler, name="Bob").add_child(made)
    return made


@pytest.fixture
def watcher(gdscript, scheduler):
    script = gdscript(WATCHER)

    def make():
        made = script.new()
        scheduler.add_child(made)
        return made

    return make


def test_a_freed_watcher_is_dropped_and_others_are_notified(brain, watcher, physics_frames):
    gone, stays = watcher(), watcher()
    for one in (gone, stays):
        one.call("watch", brain, "health")
    gone.free()
    brain.set_value("health", 1)
    brain.set_value("health", 2)
    assert stays.get("heard") == [["health", 1], ["health", 2]]


def test_a_watcher_that_cannot_be_called_stops_nobody(brain, watcher, expect_errors):
    deaf, stays = watcher(), watcher()
    deaf.call("watch_deaf", brain, "health")
    stays.call("watch", brain, "health")
    expect_errors("the callback that watches 'health'", times=1)
    brain.call("set_value", "health", 1)
    assert (brain.get_value("health"), stays.get("heard")) == (1, [["health", 1]])


def test_watchers_hear_the_world_before_and_after_the_tree_lives(
    brain, watcher, node, scheduler, physics_frames,
):
    other, walk, one = construct("HabitTree"), construct("Habit"), watcher()
    other.add_child(walk)
    one.call("watch", other, "alarm")
    character = node("Node3D", scheduler)
    character.add_child(other)
    physics_frames(1)
    brain.set_value("alarm", 1, "world")
    assert one.get("heard") == [["alarm", 1]]
    character.remove_child(other)
    brain.set_value("alarm", 2, "world")
    character.add_child(other)
    physics_frames(1)
    brain.set_value("alarm", 3, "world")
    assert one.get("heard") == [["alarm", 1], ["alarm", 2], ["alarm", 3]]


def test_a_removed_watcher_and_a_freed_tree_notify_nothing(brain, watcher):
    ann, bob = watcher(), watcher()
    for one in (ann, ann, bob):
        one.call("watch", brain, "health")
    brain.set_value("health", 1)
    ann.call("unwatch", brain, "health")
    ann.call("unwatch", brain, "health")
    brain.set_value("health", 2)
    brain.free()
    assert (ann.get("heard"), bob.get("heard")) == ([["health", 1]], [["health", 1], ["health", 2]])


def test_a_waiting_habit_wakes_although_a_watcher_fails(
    brain, watcher, physics_frames, expect_errors,
):
    hurry = construct("Habit")
    hurry.set("name", "hurry")
    hurry.set("condition", "alarm")
    hurry.set("wakes_on", ["alarm"])
    brain.set_value("alarm", False)
    brain.add_child(hurry)
    brain.move_child(hurry, 0)
    watcher().call("watch_deaf", brain, "alarm")
    physics_frames(3)
    expect_errors("the callback that watches 'alarm'", times=1)
    brain.call("set_value", "alarm", True)
    physics_frames(2)
    assert list(brain.get_active_paths()) == ["Brain/hurry"]
