"""Phases of a scheduler's tasks: chosen, judged, and chosen anew for all at once."""
from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.phasing import DryRun
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import frequency


def idle(turn):
    assert turn.budget.left >= 0


def peak(scheduler):
    return scheduler.phase_quality().runs.maximum


def filled(clock, periods, **settings):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, **settings)
    for period in periods:
        scheduler.add(idle, period_frames=period)
    return scheduler


def test_rephasing_lowers_the_peak_that_adding_one_by_one_left(clock):
    scheduler = filled(clock, [3, 6, 6, 9, 18])
    assert peak(scheduler) == 2
    before = [task.phase_frames for task in scheduler.tasks]
    moved = scheduler.rephase()
    after = [task.phase_frames for task in scheduler.tasks]
    assert moved == sum(old != new for old, new in zip(before, after, strict=True)) > 0
    assert peak(scheduler) == 1


def test_given_phases_stay_and_automatic_ones_go_around_them(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    given_ones = [scheduler.add(idle, period_frames=4, phase_frames=7) for _ in range(3)]
    scheduler.add(idle, period_frames=4)
    scheduler.rephase()
    assert [task.phase_frames for task in given_ones] == [7, 7, 7]
    assert scheduler.tasks[3].phase_frames != 3


def test_phases_are_chosen_by_measured_work_cost_where_known(clock, stopwatch):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, stopwatch=stopwatch)
    for us in (100, 100, 1, 1):
        scheduler.add(lambda turn, us=us: stopwatch.passes(us), period_frames=2)
    first, second = scheduler.tasks[:2]
    scheduler.remove(scheduler.tasks[3])
    scheduler.change(second, phase_frames=first.phase_frames)
    second._automatic_phase = True
    for _ in range(4):
        scheduler.advance(Budget.unlimited())
    assert scheduler.phase_quality().cost_us.maximum >= 200
    scheduler.rephase()
    assert scheduler.phase_quality().cost_us.maximum == 101


def test_the_worst_frame_and_who_meets_there_are_named(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    for name, period, phase in (("a", 2, 0), ("b", 3, 1), ("c", 4, 1)):
        scheduler.add(idle, period_frames=period, phase_frames=phase, name=name)
    quality = scheduler.phase_quality()
    assert (quality.is_exact, quality.worst_frame, quality.worst_names) == (True, 2, ["a", "b"])


def test_the_textbooks_dry_run_may_choose_phases(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, phasing=DryRun(look_ahead_frames=10))
    assert [scheduler.add(idle, period_frames=2).phase_frames for _ in range(3)] == [0, 1, 0]


@pytest.mark.parametrize("value", [7, "dry run", DryRun.add, DryRun, False])
def test_what_chooses_no_phases_is_refused(clock, value):
    with pytest.raises(TypeError, match="phasing must be a PhaseTable or None"):
        Scheduler(clock, policy=Policy.FREQUENCY, phasing=value)


def test_a_phase_that_was_given_may_be_chosen_again(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    scheduler.add(idle, period_frames=2, phase_frames=0)
    task = scheduler.add(idle, period_frames=2)
    assert (task.phase_frames, task.is_automatic_phase) == (1, True)
    scheduler.change(task, phase_frames=0)
    assert (task.phase_frames, task.is_automatic_phase) == (0, False)
    scheduler.choose_phase(task)
    assert (task.phase_frames, task.is_automatic_phase) == (1, True)
    scheduler.remove(task)
    with pytest.raises(ValueError, match="was removed"):
        scheduler.choose_phase(task)


def test_without_costs_the_same_tasks_get_the_same_phases(clock, stopwatch):
    phases = []
    for dear_us in (0, 500):
        scheduler = Scheduler(clock, policy=Policy.FREQUENCY, stopwatch=stopwatch)
        for number in range(6):
            us = dear_us * (number < 2)
            scheduler.add(lambda turn, us=us: stopwatch.passes(us), period_frames=2 + number % 3)
        for _ in range(12):
            scheduler.advance(Budget.unlimited())
        scheduler.rephase(by_cost=False)
        phases.append([task.phase_frames for task in scheduler.tasks])
    assert phases[0] == phases[1]


def test_quarantined_task_counts_in_no_quality_and_gets_no_phase(clock):
    def fail(turn):
        raise ValueError

    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=faults)
    failing = [scheduler.add(fail, period_frames=2, phase_frames=0) for _ in range(3)]
    for task in failing:
        task._automatic_phase = True
    scheduler.add(idle, period_frames=2, phase_frames=0)
    scheduler.advance(Budget.unlimited())
    assert scheduler.phase_quality().runs.maximum == 1
    assert scheduler.rephase() == 0
    scheduler.release(failing[0])
    assert scheduler.rephase() == 1


frames_between = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["rephase", "phase", "period", "add", "remove", "pause"])),
    max_size=8,
)


@settings(max_examples=20)
@given(st.sampled_from([frequency]),
       st.lists(st.integers(1, 9), min_size=2, max_size=6), frames_between, st.data())
def test_gap_is_a_period_and_below_two_across_a_phase_change(kind, periods, events, data):
    """Every gap is exactly the period, but for one with a change of its own phase in it."""
    scheduler, ran = kind(ManualClock()), {}
    for period in periods:
        ours(scheduler, ran, period)
    moved = {}
    for frames, event in events:
        for _ in range(frames):
            scheduler.advance(Budget.unlimited())
        before = {task: (task.period_frames, task.phase_frames) for task in scheduler.tasks}
        disturb(scheduler, ran, event, data)
        for task, (period, phase) in before.items():
            if (task.period_frames, task.phase_frames % task.period_frames) != (period, phase % period):
                moved.setdefault(task, []).append((scheduler.frame, period + task.period_frames - 1))
    for _ in range(20):
        scheduler.advance(Budget.unlimited())
    for task, frames in ran.items():
        for one, following in pairwise(frames):
            longest = [most for frame, most in moved.get(task, []) if one < frame <= following]
            if not longest:
                assert following - one == task.period_frames
            elif len(longest) == 1:
                assert following - one <= longest[0]


def ours(scheduler, ran, period):
    task = scheduler.add(lambda turn: ran[task].append(scheduler.frame), period_frames=period)
    ran[task] = []


def disturb(scheduler, ran, event, data):
    task = data.draw(st.sampled_from(scheduler.tasks))
    match event:
        case "rephase":
            scheduler.rephase()
        case "phase":
            scheduler.change(task, phase_frames=data.draw(st.integers(0, 20)))
        case "period":  # of one that has not run: gaps of several periods are another matter
            if not ran[task]:
                scheduler.change(task, period_frames=data.draw(st.integers(1, 9)))
        case "add":
            ours(scheduler, ran, data.draw(st.integers(1, 9)))
        case "remove" if len(scheduler.tasks) > 1:
            scheduler.remove(task)
        case "pause":
            other = scheduler.add(idle, period_frames=3)
            scheduler.pause(other)
            scheduler.remove(other)
