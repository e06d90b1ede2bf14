"""Whatever is done to habit trees while they live: nothing fails, and each habit that began ends exactly once."""
from __future__ import annotations

import random

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct

SCRIPT = """
    extends Habit
    static var chance := RandomNumberGenerator.new()
    var entered_count := 0
    var exited_count := 0
    var stays := false
    func _can_activate() -> bool: return chance.randi() % 3 > 0
    func _enter() -> void:
        entered_count += 1
        if chance.randi() % 20 == 0: hold()
    func _exit() -> void: exited_count += 1
    func _tick(_elapsed_s: float) -> int:
        var tree: HabitTree = get_habit_tree()
        match chance.randi() % 40:
            0: tree.notify("boo")
            1: tree.set_value("x", chance.randi() % 3)
            2: wait_s(0.1)
            3: wait_for(["boo"], 0.5)
            4: tree.stop_habits()
            5: if not stays: queue_free()
            6: tree.enabled = false
            7: tree.rebuild()
            8: tree.period = 1 + chance.randi() % 3
            9: tree.priority = 0.5
            10, 11, 12: return STATUS_SUCCEEDED
            13, 14: return STATUS_FAILED
        return STATUS_RUNNING
"""
SETTINGS = {
    "condition": ["x > 1", "x == 2 and x < 5", "x != 1 or x == 3"], "non_blocking": [True], "outcome": [1, 2, 3],
    "wakes_on": [PackedStringArray(["boo", "x"])], "begins_on": [PackedStringArray(["boo"])], "cooldown": [0.1],
    "timeout": [0.3], "repeats": [2], "retries": [1],
}


class World:
    def __init__(self, seed, script, bodies):
        self.random, self.script, self.bodies, self.trees = random.Random(seed), script, bodies, []
        script.get("chance").set("seed", seed)

    def habit(self, depth=0):
        habit = self.script.new()
        for name, values in SETTINGS.items():
            if self.random.random() < 0.15:
                habit.set(name, self.random.choice(values))
        if depth < 2 and self.random.random() < 0.5:
            for _ in range(self.random.randrange(1, 4)):
                habit.add_child(self.habit(depth + 1))
        return habit

    def add_tree(self):
        tree = construct("HabitTree")
        tree.set_value("x", 0)
        tree.set("squad", self.random.choice(["", "a", "b"]))
        tree.add_child(first := self.script.new())
        first.set("stays", True)         # a tree without habits is a mistake, and says so
        for _ in range(self.random.randrange(3)):
            tree.add_child(self.habit())
        self.random.choice(self.bodies).add_child(tree)
        self.trees.append(tree)

    def do_something(self):
        self.trees = [tree for tree in self.trees if tree.is_valid()]
        if len(self.trees) < 2:
            self.add_tree()
        tree = self.random.choice(self.trees)
        habit = self.random.choice(habits_below(tree))
        what = self.random.choice((
            self.add_tree, tree.free, lambda: self.random.choice([tree, habit]).add_child(self.habit()),
            lambda: None if habit.get("stays") else habit.free(),
            lambda: tree.set("enabled", self.random.random() < 0.7),
            lambda: self.random.choice([tree, *self.bodies]).set("process_mode", self.random.choice([0, 4])),
            lambda: tree.notify("boo"), lambda: tree.set_value("x", self.random.randrange(3)),
            lambda: tree.set_value("y", 1, "world"), lambda: (habit.set("cooldown", 0.2), tree.rebuild()),
            lambda: habit.get_parent().move_child(habit, 0), lambda: self.move(tree),
            lambda: tree.habit_exited.connect(lambda path, status: None)))
        what()

    def move(self, tree):
        tree.get_parent().remove_child(tree)
        self.random.choice(self.bodies).add_child(tree)


def habits_below(node):
    return [one for child in node.get_children() for one in (child, *habits_below(child))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_trees_are_changed_at_random(node, scheduler, gdscript, physics_frames, seed):
    other = node("AIScheduler", budget=0.0)
    world = World(seed, gdscript(SCRIPT), [node("Node3D", parent) for parent in (scheduler, scheduler, other)])
    for step in range(150):
        world.do_something()
        for one in (scheduler, other):
            one.step()
        if step % 5 == 0:
            physics_frames(1)            # what asked to be freed goes
    assert [row["faults"] for one in (scheduler, other) for row in one.get_stats()["behaviors"]] == [0, 0]
    begun = 0
    for tree in world.trees:
        for habit in habits_below(tree) if tree.is_valid() else ():
            begun += habit.get("entered_count")
            assert habit.get("entered_count") - habit.get("exited_count") == habit.is_active(), habit.get_path()
    assert begun
