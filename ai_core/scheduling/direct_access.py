"""The direct access scheduler: what is due is found, not looked for."""
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from sys import getrefcount

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import TimeIndex
from ai_core.scheduling.bucket import Call
from ai_core.scheduling.round_times import RoundTimes
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.work import CallableRunner

__all__ = ["DirectAccessScheduler"]


NEVER_NS = 1 << 62
"""Later than any stopwatch shows (ns); whole, as comparing with a float takes twice as long."""


def _references_of_a_local() -> int:
    turn = Turn(TimeIndex(0, 0.0), 0.0, Budget.unlimited())
    return getrefcount(turn)


NOT_KEPT = _references_of_a_local()
"""References to a Turn that only the scheduler holds: then it may be filled in anew.

Counted and not written down, as Python versions differ. A new Turn for each
bucket would take longer than all else that is done for it.
"""


class DirectAccessScheduler(Scheduler):
    """Runs each task on every frame with ``(frame + phase) % period == 0``.

    Does what a FrequencyScheduler does, in every outcome, and looks at nothing
    that is not due. Tasks that are callables, run together and do not fail
    share a Turn; what each of them did follows from the frames, and is written
    down when somebody asks. So a run costs little more than the call, unless a
    trace listens or steps are limited.

    Cost: O(due) a frame.
    Source: 000_execution_management, direct access; its listing takes the
    remainder of the wrong number.
    """

    _joining: list[Task]

    def _run_frame(self, budget: Budget) -> None:
        self._joining = []
        trace = self._trace
        is_heard = trace.before_task or trace.after_task or trace.task_ran
        is_plain = budget.deadline_ns is not None or not budget.charges_runs
        if is_heard or not is_plain:
            self._run_one_by_one(budget)
        else:
            self._run_in_step(budget)

    def _run_one_by_one(self, budget: Budget) -> None:
        due = self._due()
        for bucket in self._due_buckets:
            bucket.dissolve(self._call_of)
        for task in due:
            if self._may_run(task):
                self._run(task, budget, budget)

    def _run_in_step(self, budget: Budget) -> None:
        stopwatch = budget.stopwatch or self._stopwatch
        is_over = False
        try:
            if stopwatch is None:
                self._run_untimed(budget)
            else:
                self._run_timed(budget, stopwatch)
            is_over = True
        finally:
            if not is_over:  # something was let through, so not all have run that were to
                self._joining.clear()  # nobody is in step with a round that did not end
                for bucket in self._due_buckets:
                    bucket.dissolve(self._call_of)
            self._table.running = self._table.calls = None

    def _run_untimed(self, budget: Budget) -> None:
        table, moment = self._table, self._table.moment
        assert moment is not None
        now, seconds = moment.now, moment.seconds
        turn = Turn(now, 0.0, budget)
        for bucket in self._due_buckets:
            if getrefcount(turn) > NOT_KEPT:
                turn = Turn(now, 0.0, budget)
            turn.elapsed_s = seconds - bucket.last.seconds
            table.running = bucket
            table.calls = calls = iter(bucket)
            while True:
                try:
                    for call in calls:
                        call(turn)
                    break
                except Exception as error:
                    failure = error
                self._fail_in_step(failure)
            bucket.last = moment

    def _run_timed(self, budget: Budget, stopwatch: Stopwatch) -> None:
        table, moment = self._table, self._table.moment
        assert moment is not None
        now, seconds, ended_ns = moment.now, moment.seconds, stopwatch()
        turn = Turn(now, 0.0, budget)
        for bucket in self._due_buckets:
            if getrefcount(turn) > NOT_KEPT:
                turn = Turn(now, 0.0, budget)
            turn.elapsed_s = seconds - bucket.last.seconds
            table.running = bucket
            table.calls = calls = iter(bucket)
            stamps = self._run_round(calls, turn, stopwatch, ended_ns)
            ended_ns = stamps[-1]
            bucket.last = moment
            times = bucket.times
            if times is None:
                bucket.times = times = RoundTimes(len(bucket))
            times.note(stamps)

    def _run_round(
        self, calls: Iterator[Call], turn: Turn, stopwatch: Stopwatch, ended_ns: int
    ) -> list[int]:
        """Return when the round began and when each task ended, which is when the next began."""
        deadline_ns = turn.budget.deadline_ns
        limit_ns = NEVER_NS if deadline_ns is None or self._overrun_told else deadline_ns
        stamps = [ended_ns]
        note = stamps.append
        while True:
            failure: Exception | None = None
            try:
                for call in calls:
                    call(turn)
                    ended_ns = stopwatch()
                    note(ended_ns)
                    if ended_ns > limit_ns:
                        break
                else:
                    return stamps
            except Exception as error:
                failure = error
                ended_ns = stopwatch()
                note(ended_ns)
            if ended_ns > limit_ns:
                limit_ns = NEVER_NS
                self._overran_in_step(turn.budget, *stamps[-2:])
            if failure is not None:
                self._fail_in_step(failure)

    def _overran_in_step(self, budget: Budget, begun_ns: int, ended_ns: int) -> None:
        if self._overrun_told or budget.deadline_ns is None:
            return  # by the task itself, which ran out of step
        task, now = self._begun_last(), self._clock.now
        granted, used = (budget.deadline_ns - begun_ns) / 1000, (ended_ns - begun_ns) / 1000
        self._tell_overrun(Overrun(task._name, task._id, now, granted, used, budget.over), task)

    def _fail_in_step(self, failure: Exception) -> None:
        task = self._begun_last()
        if task._in_step_since < 0 or task._bucket is None:
            raise failure  # it ran by itself, and what it raised was to be let through
        task._bucket.settle_running(task)
        self._touch(task)
        self._settle(task, failure)

    def _begun_last(self) -> Task:
        bucket = self._table.running
        assert bucket is not None
        return bucket.begun_last()

    def _call_of(self, task: Task) -> Call:
        return partial(self._run_by_itself, task)

    def _run_by_itself(self, task: Task, turn: Turn) -> None:
        if self._may_run(task):
            self._run(task, turn.budget, turn.budget)
            self._joining.append(task)

    def _touch(self, task: Task) -> None:
        bucket = task._bucket
        if bucket is not None and task._in_step_since >= 0 and bucket.is_to_come(task):
            bucket.leave(task, self._call_of(task))
        super()._touch(task)

    def _end_frame(self) -> None:
        touched = set(self._touched)
        super()._end_frame()
        for task in self._joining:
            bucket = task._bucket
            is_steady = task not in touched and self._faults.failures_of(task) == (0, False)
            if bucket is not None and is_steady and isinstance(task._runner, CallableRunner):
                bucket.join(task, task._runner.run)
