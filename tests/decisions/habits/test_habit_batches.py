"""Habits that many characters have at once, ticked as a batch: what it is told, and how it ends runs."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import ChangeValue, ValueIs, Wait
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation
from ai_core.faults import FaultIsolation

SUCCEEDED = Status.SUCCEEDED

REST = Habit(
    "life",
    [ChangeValue("rest", "energy", 0.5, 1.0, can_activate=ValueIs("energy", "<", 0.3)),
     Habit("work", [ChangeValue("dig", "energy", -0.25, 0.25), Wait("breathe", 0.5)], Launch.SEQUENTIAL)])


def lives(count, *, together):
    trees = [HabitTree(REST, blackboard=Blackboard({"energy": n / count})) for n in range(count)]
    population = HabitPopulation()
    if together:
        for tree in trees:
            population.add(tree)
    seen = []
    for number in range(80):
        if together:
            population.tick(0.125)
        else:
            for tree in trees:
                tree.tick(0.125)
        seen.append([tree.active_paths() for tree in trees])
        if number == 40:
            trees[3].stop()
    for tree in trees:
        tree.stop()
    return seen, [tree.blackboard["energy"] for tree in trees]


def test_in_a_batch_all_live_as_they_would_alone():
    (alone, alone_energy), (together, energy) = lives(7, together=False), lives(7, together=True)
    assert together == alone
    assert energy == pytest.approx(alone_energy)


def test_batch_receives_times_owners_columns_and_ends_runs():
    seen = []

    def walk(batch):
        batch["x_m"] += 2.0 * batch.elapsed_s
        seen.append((batch.owners, batch.elapsed_s.tolist(), batch["x_m"].tolist()))
        return np.where(batch["x_m"] >= 4.0, 1, 0)

    def begin(context):
        context.memory["x_m"] = float(context.owner)

    ended = []
    root = Habit("walk", tick_batch=walk, columns=("x_m",), enter=begin,
                 exit=lambda c: ended.append((c.owner, c.status, c.memory["x_m"])))
    population = HabitPopulation()
    for owner in (0, 2):
        population.add(HabitTree(root, owner=owner))
    population.tick(0.5)
    population.tick(0.5)
    seen.clear()
    population.tick(0.5)
    assert seen == [([0, 2], [0.5, 0.5], [2.0, 4.0])]
    assert ended == [(2, SUCCEEDED, 4.0)]


def test_raising_batch_fails_its_runs_then_is_quarantined():
    faults, reports = None, []
    faults = FaultIsolation(report=reports.append)
    population = HabitPopulation(faults=faults)
    calls = []

    def broken(batch):
        calls.append(len(batch))
        if len(batch) > 1:
            raise ValueError("boom")

    root = Habit("root", [Habit("a", tick_batch=broken, cooldown_s=0.3), Habit("b")])
    trees = [population.add(HabitTree(root)) for _ in range(2)]
    for _ in range(30):
        population.tick(0.1)
    assert [report.name for report in reports] == ["tick_batch of root/a"] * 3
    assert reports[-1].is_quarantined
    assert trees[0].endings[1] == "failed"


@pytest.mark.parametrize(
    ("answer", "message"), [([1], "must return None or 2 integers"), ([0, 3], r"must return 0 \(running\)"),
                            ([0.5, 1.0], "integers, one per row")])
def test_what_a_batch_returns_is_checked(answer, message):
    population = HabitPopulation(faults=FaultIsolation(reraise=True))
    root = Habit("root", tick=lambda _: None, tick_batch=lambda batch: answer)
    for _ in range(2):
        population.add(HabitTree(root))
    population.tick(0.1)
    population.tick(0.1)
    with pytest.raises((TypeError, ValueError), match=message):
        population.tick(0.1)


def test_batch_receives_time_since_last_tick_after_rest_or_load():
    told, population = [], HabitPopulation()
    tree = population.add(HabitTree(Habit("walk", tick_batch=lambda batch: told.append(batch.elapsed_s.tolist()))))
    for _ in range(5):
        population.tick(1.0)
    population.pause(tree)
    population.tick(1.0)
    population.resume(tree)
    population.tick(1.0)
    population.tick(1.0)
    tree.prepare_state(tree.save_state())()
    population.tick(1.0)
    assert told == [[0.0], *[[1.0]] * 7]


def test_run_ended_by_its_batch_is_not_ticked_while_tree_waits():
    ticked, ended = [], []

    def walk(batch):
        ticked.append(batch.owners)
        return [int(len(batch) > 1 and owner == 1) for owner in batch.owners]

    root = Habit("walk", tick_batch=walk, exit=lambda context: ended.append(context.owner))
    population = HabitPopulation()
    population.add(HabitTree(Habit("root", tick=lambda _: None)))
    tree = [population.add(HabitTree(root, owner=owner)) for owner in (0, 1)][1]
    for _ in range(2):
        population.tick(1.0)        # both begin, and join
    ticked.clear()
    population.tick(1.0, Budget.of_steps(1))
    assert (population.is_unfinished, ended) == (True, [])
    population.pause(tree)
    population.resume(tree)
    tree.prepare_state(tree.save_state())()
    population.tick(1.0)
    assert (ticked, ended) == ([[0, 1], [0]], [1])
