"""Random lives of HabitTree nodes: from a save they go on as they did."""
from __future__ import annotations

import random
from functools import partial

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct
from ai_core.budget import Budget
from ai_core.scheduling.task import Turn
from tests.in_godot.saving.lives import PAUSED, assert_they_go_on

SCRIPT = """
    extends Habit
    var log := []
    var ticks := 0
    var often := 5
    func _enter() -> void: log.append("in")
    func _exit() -> void: log.append("out")
    func _tick(elapsed_s: float) -> int:
        ticks += 1
        log.append(snappedf(elapsed_s, 0.001))
        if ticks % 7 == 3: wait_s(0.1)
        if ticks % 11 == 5: wait_for(["boo"], 0.3)
        if ticks % often == 0: return STATUS_SUCCEEDED
        if ticks % 13 == 12: return STATUS_FAILED
        return STATUS_RUNNING
    func _save_state() -> Variant: return [ticks, log]
    func _load_state(state: Variant) -> void:
        ticks = state[0]
        log = state[1]
"""
SETTINGS = {
    "condition": ["x > 1", "x == 2 and x < 5", "x != 1 or x == 3", "y > 1"], "non_blocking": [True],
    "outcome": [1, 2, 3], "wakes_on": [PackedStringArray(["boo", "x"])],
    "begins_on": [PackedStringArray(["boo"])], "cooldown": [0.1], "timeout": [0.3], "repeats": [2], "retries": [1]
}
SEEDS = (89, 92, 114, 132, 136, 144, 162, 169, 0, 1, 2)        # most went on otherwise when all woke once


def random_habit(chance, script, name, depth=0):
    habit = script.new()
    habit.set("name", name)
    habit.set("often", chance.randint(2, 9))
    for setting, values in SETTINGS.items():
        if chance.random() < 0.2 and (setting != "non_blocking" or depth):
            habit.set(setting, chance.choice(values))
    if depth < 2 and chance.random() < 0.5:
        for number in range(chance.randint(1, 3)):
            habit.add_child(random_habit(chance, script, f"{name}{number}", depth + 1))
        if not all(one.get("non_blocking") for one in habit.get_children()):
            habit.set("launch", chance.randrange(4))
    return habit


def habits_below(node):
    return [one for child in node.get_children() for one in (child, *habits_below(child))]


@pytest.fixture
def world(node, gdscript):
    """``world(chance, scheduler)``: some trees, each of a character; what their habits count and log is saved."""
    script = gdscript(SCRIPT)

    def build(chance, scheduler):
        scheduler.set("automatic_phasing", chance.random() < 0.5)
        trees = []
        for number in range(chance.randint(1, 5)):
            tree = construct("HabitTree")
            tree.set("name", "Tree")
            tree.set("period", chance.choice([1, 1, 2, 3, 5]))
            tree.set("random_seed", number + 1)
            tree.set("squad", chance.choice(["", "red"]))
            tree.set_value("x", 0)
            for name in "abc"[:chance.randint(1, 3)]:
                tree.add_child(random_habit(chance, script, name))
            node("Node3D", scheduler, name=f"C{number}").add_child(tree)
            tree.set_value("y", 0, "world")
            trees.append(tree)
        return trees

    return build


def something_happens(chance, scheduler, trees):
    tree, dice = chance.choice(trees), chance.random()
    character = tree.get_parent()
    if dice < 0.25:
        tree.notify("boo")
    elif dice < 0.35:
        tree.set_value("x", chance.randrange(4))
    elif dice < 0.4:
        tree.set_value("y", chance.randrange(4), "world")
    elif dice < 0.44:
        tree.set("enabled", not tree.get("enabled"))
    elif dice < 0.48:
        character.set("process_mode", 0 if character.get("process_mode") else PAUSED)
    elif dice < 0.5:
        tree.stop_habits()
    elif dice < 0.51:
        tree.set("period", chance.choice([1, 2, 3]))
    elif dice < 0.52:
        tree.set("priority", chance.choice([1.0, 2.0]))
    elif dice < 0.56 and "habit trees" in scheduler.update_groups:      # one more turn, with little time
        scheduler.update_groups["habit trees"](Turn(scheduler.clock.now, 0.0, Budget.of_steps(chance.randint(1, 3))))


def lived(physics_frames, scheduler, trees, chance, frames):
    """Return what happened in so many frames, in each of which something may happen to somebody."""
    diary = []
    for _ in range(frames):
        something_happens(chance, scheduler, trees)
        physics_frames(1)
        diary.append([
            (list(one.get_active_paths()), [list(habit.get("log")) for habit in habits_below(one)]) for one in trees])
    return diary


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_go_on_from_a_save_as_they_did(world, node, scheduler, physics_frames, seed):
    def build_anew():
        again = node("AIScheduler", budget=0.0)
        return again, world(random.Random(seed), again)

    chance = random.Random(seed)
    assert_they_go_on(
        seed, chance, scheduler, world(chance, scheduler), build_anew, partial(lived, physics_frames),
        lambda trees: [one.get_parent() for one in trees])
