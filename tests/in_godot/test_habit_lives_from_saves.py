"""Random lives of HabitTree nodes: from a save they go on as they did."""
from __future__ import annotations

import json
import random

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct
from ai_core.budget import Budget
from ai_core.scheduling.task import Turn

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
    "condition": ["x > 1", "x == 2 and x < 5", "x != 1 or x == 3"], "non_blocking": [True], "outcome": [1, 2, 3],
    "wakes_on": [PackedStringArray(["boo", "x"])], "begins_on": [PackedStringArray(["boo"])], "cooldown_s": [0.1],
    "timeout_s": [0.3], "repeats": [2], "retries": [1]
}
PAUSED = 4


def random_habit(chance, script, depth=0):
    habit = script.new()
    habit.set("often", chance.randint(2, 9))
    for name, values in SETTINGS.items():
        if chance.random() < 0.2 and (name != "non_blocking" or depth):
            habit.set(name, chance.choice(values))
    if depth < 2 and chance.random() < 0.5:
        for _ in range(chance.randint(1, 3)):
            habit.add_child(random_habit(chance, script, depth + 1))
        if not all(one.get("non_blocking") for one in habit.get_children()):
            habit.set("launch", chance.randrange(4))
    return habit


def habits_below(node):
    return [one for child in node.get_children() for one in (child, *habits_below(child))]


@pytest.fixture
def world(node, scheduler, gdscript):
    """``world(chance)``: some trees, each of a character; what their habits count and log is saved."""
    script = gdscript(SCRIPT)

    def build(chance):
        scheduler.set("automatic_phasing", chance.random() < 0.5)
        trees = []
        for number in range(chance.randint(1, 5)):
            tree = construct("HabitTree")
            tree.set("name", "Tree")
            tree.set("period_frames", chance.choice([1, 1, 2, 3, 5]))
            tree.set("random_seed", number + 1)
            tree.set_value("x", 0)
            for _ in range(chance.randint(1, 3)):
                tree.add_child(random_habit(chance, script))
            node("Node3D", scheduler, name=f"C{number}").add_child(tree)
            trees.append(tree)
        return trees

    return build


def something_happens(chance, scheduler, trees):
    tree, dice = chance.choice(trees), chance.random()
    character = tree.get_parent()
    if dice < 0.25:
        tree.tell("boo")
    elif dice < 0.4:
        tree.set_value("x", chance.randrange(4))
    elif dice < 0.44:
        tree.set("enabled", not tree.get("enabled"))
    elif dice < 0.48:
        character.set("process_mode", 0 if character.get("process_mode") else PAUSED)
    elif dice < 0.5:
        tree.stop_habits()
    elif dice < 0.56 and "habit trees" in scheduler.crowds:      # one more turn, with little time
        scheduler.crowds["habit trees"](Turn(scheduler.clock.now, 0.0, Budget.of_steps(chance.randint(1, 3))))


# The first three went on otherwise when it was not saved how much those who were paused had yet to live.
@pytest.mark.parametrize("seed", [30, 64, 96, *range(6)])
def test_trees_go_on_from_a_save_as_they_did(world, scheduler, physics_frames, seed):
    chance = random.Random(seed)
    trees = world(chance)

    def lived(chance, frames):
        diary = []
        for _ in range(frames):
            something_happens(chance, scheduler, trees)
            physics_frames(1)
            diary.append([
                (list(one.get_active_paths()), [list(habit.get("log")) for habit in habits_below(one)])
                for one in trees])
        return diary

    lived(chance, chance.randint(1, 30))
    state = json.loads(json.dumps(scheduler.save_state()))
    modes = [one.get_parent().get("process_mode") for one in trees]
    first = lived(random.Random(seed + 1), 25)
    for one, mode in zip(trees, modes, strict=True):
        one.get_parent().set("process_mode", mode)
    assert scheduler.load_state(state)
    assert lived(random.Random(seed + 1), 25) == first
