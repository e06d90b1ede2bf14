"""A batch of short jobs, run a slice at a time, here or on an executor."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from typing import Any, NamedTuple

from ai_core.budget import Budget
from ai_core.scheduling.timing import Timing

__all__ = ["UNREAD", "FrameMoment", "Job", "JobBatch", "RunningJob", "SavedJobError", "wait_for"]

FrameMoment = tuple[int, float]
"""The number of an update, and the game time (s) in which it ran."""

UNREAD: Any = object()
"""Stands for an input that was not read yet; None may be an input."""


class SavedJobError(Exception):
    """What a job raised before the game was saved, told after it was loaded."""


class Job:
    """What is known of one key: its input if that was read, and its last good result."""

    __slots__ = ("input", "is_failing", "is_removed", "key", "read_at", "result", "result_at")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.input: Any = UNREAD
        self.read_at: FrameMoment = (0, 0.0)
        self.result: Any = None
        self.result_at: FrameMoment | None = None
        self.is_failing = False
        self.is_removed = False


class RunningJob(NamedTuple):
    """A job that runs on an executor, and when its input was read."""

    job: Job
    future: Future[Any]
    read_at: FrameMoment


class JobBatch:
    """What is left of a batch, what runs elsewhere, and results not to be seen yet.

    Args:
        call: the job.
        inputs: reads the input of a key; None if the job takes none.
        timing: when inputs are read and results are seen.
        on_failed: told which job raised, and what; it may raise, and nothing is lost.
        on_mended: told of a job that no longer fails.

    Attributes:
        rest: jobs still to start, in order; removed ones too, which are left out.
        flights: jobs on an executor, in the order they were started.
        unseen: results to be seen when the batch is over, with when inputs were read.
        started: jobs started so far, failures included.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        inputs: Callable[[Any], Any] | None,
        timing: Timing,
        on_failed: Callable[[Job, Exception], object],
        on_mended: Callable[[Job], object],
    ) -> None:
        self._call = call
        self._inputs = inputs
        self._reads_together, self._shows_together = timing.reads_together, timing.shows_together
        self._on_failed = on_failed
        self._on_mended = on_mended
        self.rest: deque[Job] = deque()
        self.flights: deque[RunningJob] = deque()
        self.unseen: list[tuple[Job, Any, FrameMoment]] = []
        self.started = 0

    @property
    def is_over(self) -> bool:
        """True if nothing is left to start or to wait for."""
        rest = self.rest
        while rest and rest[0].is_removed:
            rest.popleft()
        return not rest and not self.flights

    def begin(self, jobs: Iterable[Job], moment: FrameMoment) -> None:
        """Let the results of the batch that is over be seen, and begin with these jobs."""
        unseen, self.unseen = self.unseen, []
        for job, result, read_at in unseen:
            job.result, job.result_at = result, read_at
        if not self._reads_together or self._inputs is None:
            self.rest.extend(jobs)
            return
        for job in jobs:
            if job.is_removed:  # while the inputs of others were read
                continue
            try:
                job.input = self._inputs(job.key)
            except Exception as error:  # whatever reading raises stays with this key
                self._fail(job, error)
            else:
                job.read_at = moment
                self.rest.append(job)

    def run(self, budget: Budget, most: int, moment: FrameMoment) -> int:
        """Run jobs here until ``most`` have run or the budget is spent, one at least; return how many ran."""
        call, inputs, rest = self._call, self._inputs, self.rest
        unseen = self.unseen if self._shows_together else None
        ran = 0
        try:
            while rest:
                job = rest.popleft()
                if job.is_removed:
                    continue
                ran += 1
                read_at = moment
                try:  # written out: a call of our own for each job would cost as much as all else
                    if inputs is None:
                        result = call(job.key)
                    elif job.input is UNREAD:
                        result = call(job.key, inputs(job.key))
                    else:
                        read_at, given, job.input = job.read_at, job.input, UNREAD
                        result = call(job.key, given)
                except Exception as error:  # whatever a job raises stays with it
                    self._fail(job, error)
                else:
                    if job.is_failing:
                        self._mend(job)
                    if unseen is None:
                        job.result, job.result_at = result, read_at
                    else:
                        unseen.append((job, result, read_at))
                if ran >= most:  # of time is reported, too: a replay knows by it after which job it was spent
                    budget.spend()
                    break
                if budget.spends(1):
                    break
        finally:
            self.started += ran
        return ran

    def start(self, executor: Executor, budget: Budget, most: int, moment: FrameMoment) -> None:
        """Start jobs on an executor until ``most`` were started or the budget is spent.

        Raises:
            RuntimeError: if the executor was shut down; the job is started later.
        """
        rest, ran = self.rest, 0
        while rest and ran < most:
            job = rest.popleft()
            if job.is_removed:
                continue
            ran += 1
            try:
                given = self._read(job)
            except Exception as error:  # as above
                self.started += 1
                self._fail(job, error)
            else:
                try:
                    future = executor.submit(self._call, job.key, *given)
                except BaseException:
                    rest.appendleft(job)
                    raise
                self.started += 1
                read_at = moment if job.input is UNREAD else job.read_at
                self.flights.append(RunningJob(job, future, read_at))
            budget.spend()
            if budget.is_spent:
                break

    def join(self) -> None:
        """Wait for all jobs on the executor, and take their results in order of starting.

        A job that was cancelled, as when a pool shuts down, is put back to be started again.
        """
        for flight in self.flights:
            wait_for(flight.future)
        cancelled = []
        try:
            while self.flights:
                flight = self.flights.popleft()
                if flight.future.cancelled():
                    cancelled.append(flight.job)
                else:
                    self._take(*flight)
        finally:
            self.started -= len(cancelled)
            self.rest.extendleft(reversed(cancelled))

    def _take(self, job: Job, future: Future[Any], read_at: FrameMoment) -> None:
        job.input = UNREAD
        if job.is_removed:
            return
        try:
            result = future.result()
        except Exception as error:  # whatever a job raises stays with it
            self._fail(job, error)
            return
        if job.is_failing:
            self._mend(job)
        if self._shows_together:
            self.unseen.append((job, result, read_at))
        else:
            job.result, job.result_at = result, read_at

    def _read(self, job: Job) -> tuple[Any, ...]:
        if self._inputs is None:
            return ()
        return (self._inputs(job.key) if job.input is UNREAD else job.input,)

    def _fail(self, job: Job, error: Exception) -> None:
        job.is_failing = True
        self._on_failed(job, error)

    def _mend(self, job: Job) -> None:
        job.is_failing = False
        self._on_mended(job)


def wait_for(future: Future[Any]) -> None:
    """Wait until a job has ended, however; a cancelled one has ended.

    ``concurrent.futures.wait`` would wait forever for those that a pool cancelled as it shut down.
    """
    with suppress(CancelledError):
        future.exception()
