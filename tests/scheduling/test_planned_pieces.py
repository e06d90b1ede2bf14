"""Pieces of work that cannot pause are learned, and do not begin when their time is not left."""
from __future__ import annotations

import random

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.scheduling import Scheduler
from tests.scheduling.makers import load_balancing, requested_time

BUDGET_US = 1000


class World:
    """Tasks whose pieces take some time; ``ran`` holds the tasks of each frame."""

    def __init__(self, kind=load_balancing):
        self.ns, self.ran, self.over_us = 0, [], []
        self.scheduler: Scheduler = kind(ManualClock())

    def add(self, name, piece_us, *, pauses=False, **settings):
        def work(turn):
            self.ran[-1].append(name)
            self.ns += piece_us() * 1000
            while pauses and not turn.budget.is_spent:
                self.ns += piece_us() * 1000

        return self.scheduler.add(work, name=name, phase_frames=0, **settings)

    def frame(self, grants=None):
        self.ran.append([])
        budget = Budget.of_time(BUDGET_US, lambda: self.ns)
        self.scheduler.advance(budget if grants is None else RecordingBudget(budget, grants))
        self.over_us.append(max(0.0, (self.ns - budget.deadline_ns) / 1000))


@pytest.mark.parametrize("kind", [load_balancing, requested_time])
def test_long_pieces_wait_and_short_ones_use_the_rest(kind):
    world = World(kind)
    world.add("short", lambda: 300)
    world.add("long", lambda: 800)
    world.add("tiny", lambda: 20)
    for _ in range(60):
        world.frame()
    assert max(world.over_us[40:]) == 0
    assert all("tiny" in ran for ran in world.ran[40:])
    for name in ("short", "long", "tiny"):
        assert sum(name in ran for ran in world.ran) >= 20


def test_work_that_pauses_ends_with_the_budget():
    world = World()
    world.add("senses", lambda: 180, pauses=True)
    world.add("paths", lambda: 90, pauses=True)
    for _ in range(200):
        world.frame()
    assert sorted(world.over_us[50:])[148] <= 0.1 * BUDGET_US


def test_no_task_waits_longer_than_stated():
    chance = random.Random(5)
    world = World()
    tasks = [world.add(str(number), lambda: chance.choice((30, 200, 700, 1500))) for number in range(12)]
    for _ in range(400):
        world.frame()
    for task, row in zip(tasks, world.scheduler.statistics(), strict=True):
        assert row["lateness_frames_max"] <= world.scheduler.longest_wait_frames(task) == 11


@pytest.mark.parametrize("kind", [load_balancing, requested_time])
@pytest.mark.parametrize("seed", range(4))
def test_frames_with_planned_pieces_are_replayed(kind, seed):
    def life(chance):
        world = World(kind)
        for number in range(9):
            world.add(str(number), lambda: chance.choice((10, 60, 150, 400, 900)), period_frames=1 + number % 3)
        return world

    recorded, noted = life(random.Random(seed)), [[] for _ in range(80)]
    for grants in noted:
        recorded.frame(grants)
    assert max(task._piece_ns for task in recorded.scheduler.tasks) > 100_000
    replayed = life(random.Random(0))
    for grants in noted:
        replayed.ran.append([])
        replayed.scheduler.advance(ReplayBudget(grants))
    assert replayed.ran == recorded.ran


def test_one_long_frame_of_the_system_teaches_little():
    world, spike = World(), [0]
    task = world.add("short", lambda: 20 + spike[0])
    for number in range(100):
        spike[0] = 20_000 if number == 50 else 0
        world.frame()
    assert task._piece_ns <= 300_000


@pytest.mark.parametrize(("every", "least"), [(30, 0.75), (5, 0.75)])
def test_frames_of_a_busy_system_leave_a_share(every, least):
    world, granted = World(), []

    def work(turn):
        granted.append(turn.budget.left)
        world.ns += 3_000_000 if len(granted) % every == 0 else 0
        while not turn.budget.is_spent:
            world.ns += 60_000

    world.scheduler.add(work, name="senses", phase_frames=0)
    for _ in range(600):
        world.frame()
    assert sorted(granted[100:])[250] >= least * BUDGET_US


def test_the_first_run_of_its_kind_in_a_frame_is_planned_for():
    world, warm = World(), set()

    def think(turn):
        world.ran[-1].append("think")
        world.ns += 30_000 if len(world.ran) in warm else 190_000
        warm.add(len(world.ran))

    for _ in range(8):
        world.scheduler.add(lambda turn: think(turn), phase_frames=0)
    for number in range(4):
        world.add(f"service {number}", lambda: 420)
    for _ in range(200):
        world.frame()
    assert max(world.over_us[50:]) == 0
    assert max(task._piece_ns for task in world.scheduler.tasks if task.name == "<lambda>") < 50_000
    assert max(ran.count("think") for ran in world.ran[50:]) >= 4
