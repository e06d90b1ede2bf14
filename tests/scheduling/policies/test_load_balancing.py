"""The load balancing scheduler: who runs now, who waits, who took too much?"""
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.task_sets import greedy


def recorder(ran, name):
    return lambda turn: ran.append(name)


def test_equal_tasks_share_the_budget_equally_and_use_all_of_it(clock):
    scheduler, granted = Scheduler(clock), []
    for name in "abcdefghij":
        scheduler.add(greedy(granted, name))
    budget = Budget.of_steps(1000)
    scheduler.advance(budget)
    assert granted == [(name, 100) for name in "abcdefghij"]
    assert budget.used == 1000


def test_priority_weighs_the_shares(clock):
    scheduler, granted = Scheduler(clock), []
    for name, priority in (("a", 1), ("b", 2), ("c", 3)):
        scheduler.add(greedy(granted, name), priority=priority)
    scheduler.advance(Budget.of_steps(600))
    assert granted == [("a", 100), ("b", 200), ("c", 300)]


def test_what_one_leaves_goes_to_those_after_it(clock, stopwatch):
    scheduler, granted = Scheduler(clock), []
    for us in (10, 0, 0):
        scheduler.add(lambda turn, us=us: granted.append(turn.budget.left) or stopwatch.passes(us))
    scheduler.advance(Budget.of_time(90, stopwatch))
    assert granted == [30, 40, 80]


def test_what_does_not_fit_goes_first_on_the_next_frame(clock):
    scheduler, ran = Scheduler(clock), []
    for name in "abcd":
        scheduler.add(recorder(ran, name))
    scheduler.advance(Budget.of_steps(3))
    assert ran == ["a", "b", "c"]
    assert [task.name for task in scheduler.waiting] == ["<lambda>"]
    scheduler.advance(Budget.of_steps(3))
    assert ran[3:] == ["d", "a", "b"]


def test_the_longest_late_goes_first_and_ties_to_the_smallest_id(clock):
    scheduler, ran = Scheduler(clock), []
    scheduler.add(recorder(ran, "late from 1"), period_frames=8, phase_frames=7)
    scheduler.add(recorder(ran, "late from 0"), period_frames=8, phase_frames=8)
    scheduler.add(recorder(ran, "late from 0 too"), period_frames=8, phase_frames=8)
    for steps in (0, 0, 3):
        scheduler.advance(Budget.of_steps(steps))
    assert ran == ["late from 0", "late from 0 too", "late from 1"]


def test_work_carried_over_is_told_its_true_elapsed_time(clock):
    scheduler, elapsed = Scheduler(clock), []
    for _ in range(3):
        scheduler.add(lambda turn: elapsed.append(turn.elapsed_s), period_frames=6, phase_frames=0)
    for _ in range(9):
        scheduler.advance(Budget.of_steps(1))
        clock.advance()
    assert elapsed == pytest.approx([0.0, 0.1, 0.2, 0.6, 0.6, 0.6])
    assert [row["lateness_frames_max"] for row in scheduler.statistics()] == [0, 1, 2]


def test_budget_is_exceeded_only_by_the_one_overrunning_task(clock, stopwatch):
    overruns = []
    scheduler = Scheduler(clock, on_overrun=overruns.append)
    for name, us in (("polite", 20), ("hog", 500), ("patient", 20)):
        scheduler.add(lambda turn, us=us: stopwatch.passes(us), name=name)
    budget = Budget.of_time(100, stopwatch)
    scheduler.advance(budget)
    assert budget.used == 520
    assert [(overrun.name, overrun.granted, overrun.over) for overrun in overruns] == [
        ("hog", 40, 420)
    ]
    rows = {row["name"]: (row["runs"], row["overruns"]) for row in scheduler.statistics()}
    assert rows == {"polite": (1, 0), "hog": (1, 1), "patient": (0, 0)}


def test_a_failing_overrun_listener_stops_nobody(clock, stopwatch):
    def fail(overrun):
        raise ValueError("boom")

    faults = []
    scheduler = Scheduler(
        clock, on_overrun=fail, faults=FaultIsolation(report=faults.append)
    )
    hog = scheduler.add(lambda turn: stopwatch.passes(500))
    scheduler.advance(Budget.of_time(100, stopwatch))
    assert [fault.name for fault in faults] == ["on_overrun"]
    assert (hog.runs, hog.faults, scheduler.frame) == (1, 0, 1)


def test_exceeding_a_share_is_no_overrun_within_the_budget(clock, stopwatch):
    overruns = []
    scheduler = Scheduler(clock, on_overrun=overruns.append)
    scheduler.add(lambda turn: stopwatch.passes(60))
    scheduler.add(lambda turn: stopwatch.passes(30))
    scheduler.advance(Budget.of_time(100, stopwatch))
    assert overruns == []


def test_paused_and_removed_work_does_not_wait(clock):
    scheduler, ran = Scheduler(clock), []
    _, paused, removed, kept = (
        scheduler.add(recorder(ran, name), period_frames=4, phase_frames=0) for name in "fprk"
    )
    scheduler.advance(Budget.of_steps(1))
    scheduler.pause(paused)
    scheduler.remove(removed)
    assert scheduler.waiting == (kept,)
    scheduler.advance(Budget.of_steps(9))
    assert ran == ["f", "k"]


@given(
    periods=st.lists(st.integers(1, 5), min_size=1, max_size=8),
    budgets=st.lists(st.integers(0, 6), min_size=1, max_size=25),
)
def test_nothing_is_lost_against_a_plain_queue(periods, budgets):
    """The model: a list of (due since, id), served from its front; one a frame at least."""
    scheduler, ran = Scheduler(ManualClock()), []
    tasks = [scheduler.add(recorder(ran, i), period_frames=p) for i, p in enumerate(periods)]
    queue, expected = [], []
    for frame, steps in enumerate(budgets):
        waiting = {index for _, index in queue}
        queue += [
            (frame, index)
            for index, task in enumerate(tasks)
            if index not in waiting and (frame + task.phase_frames) % task.period_frames == 0
        ]
        served = max(steps, 1)
        expected += [index for _, index in queue[:served]]
        queue = queue[served:]
        scheduler.advance(Budget.of_steps(steps))
    assert ran == expected
    assert [*scheduler.waiting] == [tasks[index] for _, index in queue]


@given(costs=st.lists(st.integers(1, 80), min_size=1, max_size=12), us=st.integers(1, 200))
def test_at_any_cost_only_the_last_to_run_exceeds_the_budget(costs, us):
    spent, ran = [0], []
    scheduler = Scheduler(ManualClock())

    def costing(us):
        def work(turn):
            spent[0] += us * 1000
            ran.append(us)

        return work

    for cost in costs:
        scheduler.add(costing(cost))
    budget = Budget.of_time(us, lambda: spent[0])
    scheduler.advance(budget)
    assert sum(ran[:-1]) < us
    assert scheduler.overruns == (sum(ran) > us)
    assert len(ran) + len(scheduler.waiting) == len(costs)


def test_without_budget_one_task_a_frame_runs_so_none_starves(clock):
    scheduler, ran = Scheduler(clock), []
    for name in "abc":
        scheduler.add(recorder(ran, name))
    for _ in range(6):
        spent = Budget.of_steps(1)
        spent.spend()
        scheduler.advance(spent)
    assert ran == ["a", "b", "c", "a", "b", "c"]
