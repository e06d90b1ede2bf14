"""What all that share a budget promise: nobody starves, and a wave of new work makes no spike."""
from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import load_balancing, priority, requested_time

POLICIES = [load_balancing, priority, requested_time]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one.__name__)


@each_policy
@pytest.mark.parametrize("us", [-1, math.nan, math.inf, -math.inf])
def test_no_budget_that_makes_no_sense_ever_reaches_a_scheduler(policy, us, clock, stopwatch):
    with pytest.raises(ValueError, match="us must be"):
        policy(clock).advance(Budget.of_time(us, stopwatch))


@each_policy
@pytest.mark.parametrize("budget", [None, 100, 2.5, "100"])
def test_a_number_is_no_budget(policy, budget, clock):
    with pytest.raises(TypeError, match="budget must be a Budget"):
        policy(clock).advance(budget)


@each_policy
def test_a_misspelt_setting_is_refused(policy, clock):
    with pytest.raises(TypeError, match="activation_per_frame"):
        policy(clock, activation_per_frame=3)


@each_policy
def test_an_empty_scheduler_runs_nothing_and_counts_its_frames(policy, clock):
    scheduler = policy(clock, learns_bias=True)
    scheduler.advance(Budget.of_steps(5))
    assert (scheduler.frame, scheduler.waiting) == (1, ())


@each_policy
def test_a_failure_let_through_loses_nobody_who_waits(policy, clock):
    scheduler = policy(clock, faults=FaultIsolation(reraise=True))
    bad = scheduler.add(lambda turn: 1 / 0, period_frames=50, phase_frames=0, priority=9)
    others = [scheduler.add(lambda turn: None, period_frames=50, phase_frames=0) for _ in range(3)]
    with pytest.raises(ZeroDivisionError):
        scheduler.advance(Budget.of_steps(99))
    assert set(others[1:]) <= set(scheduler.waiting)
    scheduler.pause(bad)
    for _ in range(2):
        scheduler.advance(Budget.of_steps(99))
    assert [task.runs > 0 for task in others[1:]] == [True, True]


@each_policy
@settings(max_examples=20)
@given(data=st.data())
def test_nobody_starves_whatever_the_mix(policy, data):
    """Every wait, from falling due to running, is within what the scheduler states."""
    count = data.draw(st.integers(1, 7))
    spent = [0]
    scheduler = policy(ManualClock(), learns_bias=data.draw(st.booleans()))
    runs = {}
    for number in range(count):
        period = data.draw(st.integers(1, 6))
        priority = data.draw(st.sampled_from([0.2, 1, 1, 3]))
        cost = data.draw(st.integers(0, 300))

        def work(turn, number=number, cost=cost):
            spent[0] += cost
            turn.budget.spend(cost)
            runs.setdefault(number, []).append(scheduler.frame)

        task = scheduler.add(work, period_frames=period, priority=priority)
        if policy is requested_time:
            scheduler.request(task, data.draw(st.none() | st.integers(0, 200)))
    tasks = scheduler.tasks
    bounds = [scheduler.longest_wait_frames(task) for task in tasks]
    amounts = data.draw(st.lists(st.sampled_from([0, 1, 7, 100]), min_size=1, max_size=6))
    timed = data.draw(st.booleans())
    for frame in range(2 * max(bounds) + 8):
        amount = amounts[frame % len(amounts)]
        scheduler.advance(Budget.of_time(amount, lambda: spent[0] * 1000) if timed else Budget.of_steps(amount))
    for number, task in enumerate(tasks):
        assert longest_wait(task, runs.get(number, []), scheduler.frame) <= bounds[number]


def longest_wait(task, ran_on, frames):
    """The model: from each frame on which it falls due, if it does not wait already, to its run."""
    due_since, longest = None, 0
    for frame in range(frames):
        if due_since is None and (frame + task.phase_frames) % task.period_frames == 0:
            due_since = frame
        if frame in ran_on:
            longest = max(longest, frame - due_since if due_since is not None else 0)
            due_since = None
    return max(longest, frames - 1 - due_since if due_since is not None else 0)


def test_the_bound_of_load_balancing_is_reached_but_not_passed(clock):
    scheduler = Scheduler(clock)
    tasks = [scheduler.add(lambda turn: None) for _ in range(5)]
    for _ in range(20):
        scheduler.advance(Budget.of_steps(0))
    waits = [row["lateness_frames_max"] for row in scheduler.statistics()]
    assert max(waits) == scheduler.longest_wait_frames(tasks[0]) == 4


def test_least_priority_runs_within_its_stated_bound(clock):
    scheduler = Scheduler(clock, policy=Policy.REQUESTED_TIME)
    scheduler.add(lambda turn: None, priority=100)
    least = scheduler.add(lambda turn: None, priority=0.5)
    assert scheduler.longest_wait_frames(least) == 201
    for _ in range(202):
        scheduler.advance(Budget.of_steps(0))
    assert least.runs == 1
