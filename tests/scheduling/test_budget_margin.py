"""Stopping a little before a budget ends, by what frames went beyond it."""
from __future__ import annotations

import math
import random

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling import BudgetMargin, Scheduler
from ai_core.scheduling.policies import FADING, MOST_OF_BUDGET, MOST_RISE_NS, RISE
from tests.scheduling.makers import load_balancing, priority, requested_time

BUDGET_US = 1000


class World:
    """A hundred pieces of work of 10 to 90 µs, all due in every frame, and what the end of a frame takes."""

    def __init__(self, kind=load_balancing, *, margin, end_us=15):
        self.ns, self.over_us, self.end_us = 0, [], end_us
        self.scheduler, chance = kind(ManualClock(), margin=margin), random.Random(3)
        self.loop, self.scheduler._loop = self.scheduler._loop, self
        for _ in range(100):
            self.scheduler.add(self.work(chance), phase_frames=0)

    def __getattr__(self, name):
        """What a scheduler asks of its loop."""
        return getattr(self.loop, name)

    @property
    def is_overrun_known(self):
        return self.loop.is_overrun_known

    @is_overrun_known.setter
    def is_overrun_known(self, is_known):
        self.loop.is_overrun_known = is_known

    def leave_frame(self):
        self.ns += self.end_us * 1000
        self.loop.leave_frame()

    def work(self, chance):
        def work(turn):
            self.ns += chance.randint(10_000, 90_000)

        return work

    def frames(self, count):
        for _ in range(count):
            self.scheduler.advance(budget := Budget.of_time(BUDGET_US, lambda: self.ns))
            self.over_us.append((self.ns - budget.deadline_ns) / 1000)
        return self.over_us[-count:]


@pytest.mark.parametrize("kind", [load_balancing, requested_time])
def test_one_frame_in_a_hundred_exceeds_a_budget_by_a_part(kind):
    plain, held = World(kind, margin=None).frames(3000)[200:], World(kind, margin=BudgetMargin()).frames(3000)[200:]
    assert sum(one > 0 for one in plain) > 400
    assert 1 <= sum(one > 0 for one in held) <= 2800 / 25
    assert sorted(held)[-28] < 0.02 * BUDGET_US
    assert sum(held) / 2800 > -0.1 * BUDGET_US, "little of the budget is left unused"


def test_shares_end_before_the_margin():
    world = World(margin=BudgetMargin(), end_us=40)
    world.scheduler.remove_all()

    def fills_its_share(turn):
        while not turn.budget.is_spent:
            world.ns += 10_000

    world.scheduler.add(fills_its_share, phase_frames=0)
    over_us = sorted(world.frames(600)[200:])
    assert over_us[200] <= 0, "half of the frames keep to the budget, although 40 µs follow the only task"
    assert over_us[-1] < 40


def test_everybody_still_runs_and_somebody_in_every_frame():
    world = World(margin=BudgetMargin(), end_us=5_000)  # no margin helps
    world.frames(300)
    runs = [task.runs for task in world.scheduler.tasks]
    assert min(runs) > 0.8 * max(runs)
    assert sum(runs) >= 300


def test_one_long_frame_changes_the_margin_little():
    margin = BudgetMargin()
    margin.learn(500_000, 1_000_000)
    assert margin.ns == MOST_RISE_NS
    for _ in range(100):
        margin.learn(500_000, 1_000_000)
    assert margin.ns == 1_000_000 // MOST_OF_BUDGET, "half of the budget is always used"
    for _ in range(710):
        margin.learn(-1, 1_000_000)
    assert margin.ns == pytest.approx(250_000, rel=0.01)


def test_frames_that_a_margin_does_not_change_teach_nothing():
    margin = BudgetMargin()
    margin.learn(40_000, 120_000)
    assert margin.ns == 120_000 // RISE
    margin.learn(40_000, 1_000_000)
    margin.learn(500_001, 1_000_000)
    margin.learn(-500_000, 1_000_000, is_full=False)
    assert margin.ns == 50_000
    margin.learn(-500_000, 1_000_000, is_full=True)
    assert margin.ns == 50_000 - 50_000 // FADING


def test_a_piece_longer_than_any_margin_leaves_it_alone():
    world = World(margin=BudgetMargin())

    def greedy(turn):
        world.ns += 3_000_000

    world.scheduler.add(greedy, period_frames=20, phase_frames=0)
    over_us = world.frames(600)
    assert sum(one > 1500 for one in over_us) == 30
    assert world.scheduler._margin.ns < 0.2 * BUDGET_US * 1000


def test_budget_spent_before_its_frame_teaches_nothing():
    margin = BudgetMargin()
    margin.learn(4_000, 100_000)
    learned_ns = margin.ns
    margin.learn(4_200_000, -4_100_000)
    margin.learn(1_000, 0)
    assert margin.ns == learned_ns > 0


def test_who_runs_with_nothing_runs_all_the_same():
    world = World(priority, margin=BudgetMargin())
    world.frames(3)
    assert [task.runs for task in world.scheduler.tasks] == [3] * 100


def test_a_budget_of_steps_has_no_margin():
    world = World(margin=(margin := BudgetMargin()))
    for _ in range(10):
        world.scheduler.advance(Budget.of_steps(7))
    assert sum(task.runs for task in world.scheduler.tasks) == 70
    assert margin.ns == 0


def test_what_is_no_margin_is_refused(clock):
    with pytest.raises(TypeError, match=r"margin must be a BudgetMargin or None, got 0\.1"):
        Scheduler(clock, margin=0.1)


@pytest.mark.parametrize("spread", [0.03, 0.13])
def test_the_99th_of_100_frames_takes_the_budget(spread):
    margin, chance, taken = BudgetMargin(), random.Random(1), []
    for _ in range(10_000):
        noise = math.exp(abs(chance.gauss(0, 1)) * spread)
        taken.append((1_000_000 - margin.ns) * noise + chance.uniform(-40_000, 40_000))
        margin.learn(round(taken[-1]) - 1_000_000, 1_000_000)
    assert sorted(taken[500:])[9405] == pytest.approx(1_000_000, rel=0.03)


def test_hiccups_of_a_busy_system_leave_a_large_budget_usable():
    margin, chance = BudgetMargin(), random.Random(2)
    for _ in range(20_000):
        margin.learn(800_000 if chance.random() < 0.005 else -1, 2_000_000)
    assert 0 < margin.ns < 2_000_000 / 5
