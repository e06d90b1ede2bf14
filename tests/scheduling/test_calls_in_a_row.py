"""Work in C that can be called in a row: everything comes out as if each were called alone."""
from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from tests.scheduling.makers import load_balancing, priority


class Rows:
    """What the bridge does in C."""

    @staticmethod
    def call_row(calls, turn, now_ns, limit_ns, ended_ns):
        calls[0].world.rows.append(len(calls))
        for place, call in enumerate(calls):
            if call.is_alone:
                return place
            call(turn)
            ended_ns[place] = call.world.watch()
            if ended_ns[place] > limit_ns or call.meddles:
                return place + 1
        return len(calls)


class Alone:
    """Work that takes its time, and now and then changes what others are to do."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        self.is_alone, self.meddles = number % 7 == 3, number % 5 == 1

    def __call__(self, turn):
        world = self.world
        world.ns += world.chance.randrange(20_000)
        world.seen.append((world.clock.now.frame, self.number, turn.elapsed_s))
        if self.is_alone and world.chance.randrange(4) == 0:
            raise ValueError("a fault")
        if self.meddles:
            world.meddle()


class InARow(Alone, Rows):
    """The same, called many at once."""


class World:
    """A crowd that lives some frames on budgets that are too small for all."""

    def __init__(self, seed, make, kind, size=40):
        self.chance, self.clock, self.seen, self.rows, self.ns = random.Random(seed), ManualClock(), [], [], 0
        self.scheduler = make(self.clock, faults=FaultIsolation(report=lambda fault: None))
        self.tasks = [
            self.scheduler.add(kind(self, number), period_frames=1 + number % 3 * (seed % 2), name=f"work {number}")
            for number in range(size)
        ]

    def watch(self):
        """Read the time, which work alone takes: a row reads it once more than its calls do alone."""
        return self.ns

    def meddle(self):
        task, act = self.chance.choice(self.tasks), self.chance.randrange(9)
        if task.is_removed:
            return
        if act == 0:
            self.scheduler.change(task, priority=self.chance.choice([0.1, 3, 7]))
        elif act == 1:
            self.scheduler.pause(task)
        elif act == 2:
            self.scheduler.resume(task)
        elif act == 3 and len(self.scheduler.tasks) > 5:
            self.scheduler.remove(task)
        elif act == 4:
            self.scheduler.release(task)

    def live(self, frames):
        for _ in range(frames):
            self.scheduler.advance(Budget.of_time(self.chance.choice([0.0, 100.0, 300.0, 5000.0]), self.watch))
            self.clock.advance()
        return self.seen, self.scheduler.statistics(), self.scheduler.overruns


class InAnotherRow(InARow):
    """Another kind of such work: what makes the one is not handed the other."""


def test_two_kinds_of_such_work_stand_in_rows_of_their_own():
    def in_pairs(world, number):
        return (InARow, InAnotherRow)[number // 2 % 2](world, number)

    world = World(0, load_balancing, in_pairs)
    for task in world.tasks:
        task.work.is_alone = task.work.meddles = False
    for _ in range(2):
        world.scheduler.advance(Budget.of_time(1e6, world.watch))
    assert [number for _, number, _ in world.seen] == 2 * list(range(40))
    assert world.rows == [2] * 20


@settings(max_examples=30)
@given(seed=st.integers(0, 1 << 30), make=st.sampled_from([load_balancing, priority]))
def test_work_that_is_called_in_a_row_does_what_it_does_alone(seed, make):
    assert World(seed, make, InARow).live(12) == World(seed, make, Alone).live(12)


def test_who_runs_undisturbed_is_called_many_at_once():
    world = World(0, load_balancing, InARow, size=300)
    for task in world.tasks:
        task.work.is_alone = task.work.meddles = False
    for _ in range(2):  # the first time each is looked at by itself
        world.scheduler.advance(Budget.of_time(1e6, world.watch))
    assert [number for _, number, _ in world.seen] == 2 * list(range(300))
    assert world.rows == [16, 32, 64, 64, 64, 60]


def test_where_each_one_disturbs_few_are_looked_at_in_vain():
    world = World(0, load_balancing, InARow, size=100)
    for task in world.tasks:
        task.work.is_alone, task.work.meddles = False, True
    world.meddle = lambda: None
    for _ in range(2):
        world.scheduler.advance(Budget.of_time(1e6, world.watch))
    assert len(world.seen) == 200
    assert world.rows[:5] == [16, 1, 2, 1, 2]
    assert sum(world.rows) < 16 + 2 * 100


def test_time_between_two_rows_counts_for_first_of_the_latter():
    world = World(0, load_balancing, InARow, size=300)
    for task in world.tasks:
        task.work.is_alone = task.work.meddles = False

    def watch():  # looking at it is what takes time here
        world.ns += 100
        return world.ns

    world.watch = watch
    world.scheduler.advance(Budget.of_time(1e6, watch))
    before_us, begun_ns = [task.used_us for task in world.tasks], world.ns
    world.scheduler.advance(Budget.of_time(1e6, watch))
    used_us = sum(task.used_us for task in world.tasks) - sum(before_us)
    looked_before_the_first = 3  # as the budget was made, as the frame began, and as the first of all began
    assert used_us * 1000 == pytest.approx(world.ns - begun_ns - 100 * looked_before_the_first)
