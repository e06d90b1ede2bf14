"""The direct access scheduler: finds due tasks without looking at all tasks."""
from __future__ import annotations

from functools import partial
from typing import Unpack

import ai_core.scheduling.rounds as rounds
from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import whole_number
from ai_core.faults import NO_FAILURES
from ai_core.scheduling.batched_round import BatchedRound
from ai_core.scheduling.bucket import Bucket
from ai_core.scheduling.rounds import NEVER_NS, Call, Round
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.settings import SchedulerSettings
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.work import CallableRunner

__all__ = ["DirectAccessScheduler"]

TIMED_FRAMES = 60
"""How long each task is timed after an untimed round overran the budget (frames).

A second: a task that overruns repeatedly is then reported for certain.
"""


class DirectAccessScheduler(Scheduler):
    """Runs each task on every frame with ``(frame + phase) % period == 0``.

    Its results equal those of a FrequencyScheduler, and it looks only at due tasks. Callables
    that run together and do not fail share a Turn; their run records follow from the frames,
    and are written when they are read. So a run costs little more than the call, unless a
    trace listens or steps are limited.

    Work that can be called in batches (it has ``batch_of``) is. Reading a stopwatch after each
    takes longer than such work, so with ``timed_every`` most rounds of a batch are timed as a
    whole: times of tasks are known from the other rounds, and from all rounds as long as the
    budget may not suffice. If a round timed as a whole still overruns, the task with the longest
    run so far is reported, and all tasks are timed for a while.

    Args:
        clock: source of ``now``.
        timed_every: every n-th round of a batch is timed task by task (count); 1 for all.
        settings: faults, trace, stopwatch and so on, as for every Scheduler.

    Raises:
        ValueError: if ``timed_every`` is below 1.

    Cost: O(due) a frame.
    Source: 000_execution_management, direct access; its listing takes the
    remainder of the wrong number.
    """

    def __init__(self, clock: Clock, *, timed_every: int = 1, **settings: Unpack[SchedulerSettings]) -> None:
        super().__init__(clock, **settings)
        self._timed_every = whole_number(
            "timed_every", timed_every, minimum=1, remedy="use 1 to time each task in every round"
        )
        self._timed_until = 0
        self._joining: list[Task] = []

    def _run_frame(self, budget: Budget) -> None:
        trace, deadline_ns = self._trace, budget.deadline_ns
        is_heard = trace.before_task or trace.after_task or trace.task_ran
        if is_heard or (deadline_ns is None and budget.charges_runs):
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
        plain: list[Bucket] = []
        due = self._due_buckets
        try:
            if self._table.has_batches:
                for bucket in due:
                    batched = bucket.batched
                    if batched is None:
                        plain.append(bucket)
                        continue
                    if plain:  # one round for all in a row that are in no batches
                        self._run_round(self._begun(plain, budget), budget)
                        plain = []
                    self._run_batched(batched, budget)
                due = plain
            if due:
                self._run_round(self._begun(due, budget), budget)
        except BaseException:  # something was let through, so not all have run that were to
            self._joining.clear()  # nobody is in step with a round that did not end
            for bucket in self._due_buckets:
                bucket.dissolve(self._call_of)
            raise
        finally:
            self._table.round = None

    def _begun(self, buckets: list[Bucket], budget: Budget) -> Round:
        moment = self._table.moment
        assert moment is not None
        turn, stopwatch = Turn(moment[0], 0.0, budget), budget.stopwatch or self._stopwatch
        limit_ns = NEVER_NS if budget.deadline_ns is None else self._limit_of(budget)
        return rounds.begin_round(buckets, moment, turn, stopwatch, limit_ns)

    def _run_batched(self, one: BatchedRound, budget: Budget) -> None:
        table = self._table
        every = 1 if self._frame < self._timed_until else self._timed_every
        limit_ns = NEVER_NS if budget.deadline_ns is None else self._limit_of(budget)
        assert table.moment is not None
        one.begin(table.moment, budget, budget.stopwatch or self._stopwatch, limit_ns, every)
        table.round, goes_on = one, True
        while goes_on:
            failure = None
            try:
                if one.run():
                    return
            except Exception as error:
                failure = error
                one.end_call()
            self._look_at_calls(one, budget, failure)
            goes_on = one.goes_on()

    def _limit_of(self, budget: Budget) -> int:
        """Return when somebody is to be named as overrunning (ns)."""
        deadline_ns = budget.deadline_ns
        return NEVER_NS if deadline_ns is None or self._overrun_told else min(deadline_ns, NEVER_NS)

    def _run_round(self, one: Round, budget: Budget) -> None:
        self._table.round = one
        while one.goes_on():
            turn, failure = one.turn, None
            try:
                for call in one:
                    call(turn)
            except Exception as error:
                failure = error
                one.end_call()
            self._look_at_calls(one, budget, failure)

    def _look_at_calls(self, one: Round, budget: Budget, failure: Exception | None) -> None:
        if one.was_late():
            self._overran_in_step(budget, one.begun_ns, one.ended_ns)
        if failure is not None:
            self._fail_in_step(failure)

    def _overran_in_step(self, budget: Budget, begun_ns: int, ended_ns: int) -> None:
        if self._overrun_told or budget.deadline_ns is None:
            return  # by the task itself, which ran out of step
        task, now = self._overrunner(), self._clock.now
        granted, used = (budget.deadline_ns - begun_ns) / 1000, (ended_ns - begun_ns) / 1000
        self._emit_overrun(Overrun(task._name, task._id, now, granted, used, budget.over), task)

    def _overrunner(self) -> Task:
        """Return who went beyond the budget; of a round that was timed as a whole, who took longest so far."""
        one = self._table.round
        if one is None or getattr(one, "is_timed", True):
            return self._begun_last()
        bucket = one.bucket
        assert isinstance(bucket, Bucket)
        bucket.settle_times()
        self._timed_until = self._frame + 1 + TIMED_FRAMES
        return max(bucket.tasks, key=lambda task: (task._record.times()["max_used_us"], -task._id))

    def _fail_in_step(self, failure: Exception) -> None:
        task = self._begun_last()
        if task._in_step_since < 0 or task._bucket is None:
            raise failure  # it ran by itself, and what it raised was to be let through
        task._bucket.settle_running(task)
        self._touch(task)
        self._settle(task, failure)

    def _begun_last(self) -> Task:
        one = self._table.round
        assert one is not None
        assert isinstance(one.bucket, Bucket)
        return one.bucket.tasks[one.place - 1]

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
        if not self._joining:
            Scheduler._end_frame(self)  # as super() does, in half the time
            return
        joining, self._joining = self._joining, []
        touched = set(self._touched)
        super()._end_frame()
        for task in joining:
            bucket = task._bucket
            is_steady = task not in touched and self._faults.failures_of(task) == NO_FAILURES
            if bucket is not None and is_steady and isinstance(task._runner, CallableRunner):
                bucket.join(task, task._runner.run)
