"""Errands: long work under a scheduler, run once to its end."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.scheduling.interruptible import Interruptible
from ai_core.scheduling.long_work import BackgroundJob, Suspendable
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.long_work.test_suspendable import Digging, closing, counting


@pytest.fixture
def faults():
    return FaultIsolation(report=lambda fault: None)


@pytest.fixture
def scheduler(clock, faults):
    return Scheduler(clock, faults=faults)


def frames(scheduler, count, steps=2):
    for _ in range(count):
        scheduler.clock.advance()
        scheduler.advance(Budget.of_steps(steps))


def test_it_tells_the_result_once_and_removes_its_task(scheduler):
    told = []
    job = BackgroundJob(scheduler, Suspendable(counting, 5), then=told.append, name="count")
    frames(scheduler, 2)
    assert (told, job.task.name, job.task.is_removed) == ([], "count", False)
    frames(scheduler, 3)
    assert (told, job.task.is_removed, scheduler.tasks) == ([15], True, ())
    assert job.work.result == 15


def test_job_is_named_after_its_work_and_takes_task_settings(scheduler):
    task = BackgroundJob(scheduler, Suspendable(counting, 5), period_frames=4, phase_frames=1, priority=2).task
    assert (task.name, task.period_frames, task.phase_frames, task.priority) == ("Suspendable", 4, 1, 2)


def test_a_listener_that_raises_is_told_again(scheduler):
    told = []

    def then(result):
        told.append(result)
        if len(told) == 1:
            raise LookupError("nobody home")

    job = BackgroundJob(scheduler, Suspendable(counting, 2), then=then)
    frames(scheduler, 4, steps=9)
    assert (told, job.task.faults, job.task.is_removed) == ([3, 3], 1, True)


def test_raising_work_is_retried_quarantined_and_released(scheduler):
    told, broken = [], [True]

    def search():
        yield
        if broken:
            raise OSError
        return "found"

    job = BackgroundJob(scheduler, Suspendable(search), then=told.append)
    frames(scheduler, 9)
    assert (job.task.faults, told) == (3, [])
    broken.clear()
    scheduler.release(job.task)
    frames(scheduler, 2)
    assert told == ["found"]


def test_cancelling_removes_the_task_and_closes_the_work(scheduler):
    closed, told = [], []
    job = BackgroundJob(scheduler, Suspendable(closing, closed), then=told.append)
    frames(scheduler, 1)
    job.cancel()
    job.cancel()
    assert (closed, scheduler.tasks, job.work.is_cancelled) == ([True], (), True)
    frames(scheduler, 2)
    assert told == []


def test_cancelling_ends_the_work_also_when_its_task_was_removed(scheduler):
    closed = []
    job = BackgroundJob(scheduler, Suspendable(closing, closed))
    frames(scheduler, 1)
    scheduler.remove(job.task)
    job.cancel()
    assert (closed, job.work.is_cancelled) == ([True], True)


def test_work_that_raises_as_it_is_cancelled_is_reported_by_name(clock):
    def falling():
        try:
            while True:
                yield
        finally:
            raise OSError("fell")

    faults = []
    scheduler = Scheduler(clock, faults=FaultIsolation(report=faults.append))
    job = BackgroundJob(scheduler, Suspendable(falling), name="climb")
    frames(scheduler, 1)
    job.cancel()
    assert [(fault.name, str(fault.error)) for fault in faults] == [("climb", "fell")]
    assert (scheduler.tasks, job.work.is_cancelled, scheduler._faults._in_a_row) == ((), True, {})


def test_work_that_was_cancelled_elsewhere_loses_its_task(scheduler):
    job = BackgroundJob(scheduler, Suspendable(closing, []))
    job.work.cancel()
    frames(scheduler, 1)
    assert job.task.is_removed


def test_the_listener_may_cancel_it_or_begin_another(scheduler):
    told = []

    def again(result):
        told.append(result)
        first.cancel()
        BackgroundJob(scheduler, Suspendable(counting, 3), then=told.append)

    first = BackgroundJob(scheduler, Suspendable(counting, 2), then=again)
    frames(scheduler, 6, steps=9)
    assert (told, scheduler.tasks) == ([3, 6], ())


def test_what_cannot_be_run_or_told_is_refused(scheduler):
    with pytest.raises(TypeError, match="scheduler must be a Scheduler, got 5"):
        BackgroundJob(5, Suspendable(counting, 2))
    with pytest.raises(TypeError, match="work must be an Interruptible, got 5"):
        BackgroundJob(scheduler, 5)
    with pytest.raises(TypeError, match="then must be a callable or None, got 3"):
        BackgroundJob(scheduler, Suspendable(counting, 2), then=3)
    with pytest.raises(ValueError, match="period_frames"):
        BackgroundJob(scheduler, Suspendable(counting, 2), period_frames=0)
    assert scheduler.tasks == ()


def test_saved_with_its_scheduler_it_goes_on_where_it_was(clock, scheduler):
    told = []
    BackgroundJob(scheduler, Suspendable(Digging()), then=told.append, name="dig")
    frames(scheduler, 2)
    state = json.loads(json.dumps(scheduler.save_state()))
    other = Scheduler(clock)
    job = BackgroundJob(other, Suspendable(Digging()), then=told.append, name="dig")
    other.prepare_state(state)()
    assert job.work.progress == 0.8
    frames(other, 1, steps=1)
    assert told == []
    frames(other, 1)
    assert (told, other.tasks) == (["5 m"], ())


def test_a_damaged_save_is_refused(scheduler):
    job = BackgroundJob(scheduler, Suspendable(Digging()))
    state = job.save_state()
    with pytest.raises(StateError, match="'work': 'is_done' is missing"):
        job.prepare_state({**state, "work": {"version": 1}})
    with pytest.raises(StateError, match="'more' is an unknown field"):
        job.prepare_state({**state, "more": 1})


def test_work_that_is_not_saveable_is_left_as_it_is(clock, scheduler):
    class Search(Interruptible):
        is_done, progress = False, 0.0

        def advance(self, budget):
            self.progress = 0.5

    job = BackgroundJob(scheduler, Search())
    frames(scheduler, 1)
    scheduler.prepare_state(scheduler.save_state())()
    assert job.work.progress == 0.5
