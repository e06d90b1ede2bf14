"""The frequency scheduler: what runs on which frame?"""
from __future__ import annotations

from math import lcm

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


def run(scheduler, frames, clock=None):
    for _ in range(frames):
        scheduler.advance(Budget.unlimited())
        if clock is not None:
            clock.advance()


def load_per_frame(scheduler, frames):
    load = []
    for _ in range(frames):
        before = sum(task.runs for task in scheduler.tasks)
        run(scheduler, 1)
        load.append(sum(task.runs for task in scheduler.tasks) - before)
    return load


def think(turn):
    assert turn.elapsed_s >= 0


def test_thirty_agents_every_tenth_frame_make_a_flat_load(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    for _ in range(30):
        scheduler.add(think, period_frames=10)
    assert load_per_frame(scheduler, frames=10) == [3] * 10


def test_phase_moves_a_run_earlier_and_may_exceed_the_period(clock):
    ran = []
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    for phase in (0, 1, 5):
        scheduler.add(
            lambda turn, phase=phase: ran.append((phase, scheduler.frame)),
            period_frames=3,
            phase_frames=phase,
        )
    run(scheduler, 4)
    assert ran == [(0, 0), (5, 1), (1, 2), (0, 3)]


@given(
    slots=st.lists(
        st.tuples(st.integers(1, 12), st.one_of(st.none(), st.integers(0, 30))), max_size=8
    )
)
def test_due_frames_are_those_of_the_rule(slots):
    scheduler, ran = Scheduler(ManualClock(), policy=Policy.FREQUENCY), []
    tasks = [
        scheduler.add(
            lambda turn, index=index: ran.append((scheduler.frame, index)),
            period_frames=period,
            phase_frames=phase,
        )
        for index, (period, phase) in enumerate(slots)
    ]
    run(scheduler, 40)
    assert ran == [
        (frame, index)
        for frame in range(40)
        for index, task in enumerate(tasks)
        if (frame + task.phase_frames) % task.period_frames == 0
    ]


@settings(max_examples=25)
@given(periods=st.lists(st.integers(1, 6), min_size=1, max_size=6), strangers=st.data())
def test_task_runs_once_per_period_whatever_happens_to_others(periods, strangers):
    scheduler = Scheduler(ManualClock(), policy=Policy.FREQUENCY)
    ours = [scheduler.add(think, period_frames=period) for period in periods]
    other = scheduler.add(think, period_frames=3)
    multiple = lcm(*periods)
    for _ in range(multiple):
        run(scheduler, 1)
        match strangers.draw(st.integers(0, 3)):
            case 0:
                scheduler.pause(other)
            case 1:
                scheduler.remove(other)
                other = scheduler.add(think, period_frames=2)
            case 2:
                scheduler.change(other, period_frames=5)
    assert [task.runs for task in ours] == [multiple // period for period in periods]


def test_rare_work_is_told_the_true_time_since_it_last_ran(clock):
    elapsed = []
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(lambda turn: elapsed.append(turn.elapsed_s), period_frames=4, phase_frames=2)
    run(scheduler, 8, clock)
    assert elapsed == pytest.approx([0.2, 0.4])


def test_all_due_work_runs_even_on_a_spent_budget(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    tasks = [scheduler.add(think) for _ in range(3)]
    scheduler.advance(Budget.of_steps(0))
    assert [task.runs for task in tasks] == [1, 1, 1]


def test_nobody_is_named_for_a_budget_that_was_exceeded_before(clock, stopwatch):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(lambda turn: stopwatch.passes(us=10))
    budget = Budget.of_time(100, stopwatch)
    stopwatch.passes(us=101)
    scheduler.advance(budget)
    assert scheduler.overruns == 0


def test_the_first_to_exceed_the_budget_is_named_once(clock, stopwatch):
    overruns = []
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, on_overrun=overruns.append)
    for name, us in (("short", 40), ("long", 100), ("last", 10)):
        scheduler.add(lambda turn, us=us: stopwatch.passes(us), name=name)
    scheduler.advance(Budget.of_time(100, stopwatch))
    assert [(overrun.name, overrun.granted, overrun.used, overrun.over) for overrun in overruns] == [
        ("long", 60, 100, 40)
    ]
