"""The timeslicer: one short job for each of many keys, a slice of the keys in each update."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import UnknownNameError, shown, whole_number
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import State
from ai_core.saving.values import SavedValues
from ai_core.scheduling.job_batch import FrameMoment, Job, JobBatch
from ai_core.scheduling.timeslicer_state import prepared_timeslicer, saved_timeslicer
from ai_core.scheduling.timing import Timing
from ai_core.scheduling.work import check_runs_in_one_go

NO_LIMIT = 1 << 62
"""Jobs in an update if their number is not limited (count): more than any memory holds."""


def checked_limits(
    jobs_per_update: int | None, executor: Executor | None
) -> tuple[int, Executor | None]:
    """Return the most jobs in an update, and the executor.

    Raises:
        TypeError: if the number is not whole, or the executor is none.
        ValueError: if the number is less than 1, or missing beside an executor.
    """
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {shown(executor)};"
            " use None to run jobs in the calling thread"
        )
    if jobs_per_update is not None:
        remedy = "use None for no limit but the budget"
        return whole_number("jobs_per_update", jobs_per_update, minimum=1, remedy=remedy), executor
    if executor is not None:
        raise ValueError(
            "jobs_per_update must be given with an executor, got None; the run time of a job"
            " in another thread is not known when it starts"
        )
    return NO_LIMIT, None


def check_callables(
    job: Callable[..., Any], inputs: Callable[[Any], Any] | None, timing: Timing
) -> None:
    """Check that ``job`` and ``inputs`` can be called as the timing will call them.

    Raises:
        TypeError: if one cannot be called so, or would not run in one go.
        ValueError: if the timing reads inputs together and ``inputs`` is None.
    """
    if inputs is None:
        if timing.reads_together:
            raise ValueError(
                f"inputs must be given with {timing.name}, got None; this timing reads all inputs"
                " when a batch begins"
            )
        _check_callable("job", job, "key")
    else:
        _check_callable("job", job, "key", "input")
        _check_callable("inputs", inputs, "key")


def _check_callable(what: str, function: object, *arguments: str) -> None:
    if not callable(function):
        raise TypeError(f"{what} must be a callable, got {shown(function)}")
    check_runs_in_one_go(what, function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in elsewhere; nothing can be known
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise TypeError(
            f"{what} must take ({', '.join(arguments)}), got {shown(function)} with {signature}"
        ) from None


class Timeslicer:
    """Runs the same job for many keys, a slice of them in each update, and keeps the results.

    A batch is one job for each key, in the order the keys were added. An update (one
    ``advance``) continues the batch until ``jobs_per_update`` have run or the budget is
    spent; at least one runs, so a batch of n jobs takes at most n updates. When the batch is
    complete, the next update starts another. A new key waits for the next batch, because
    otherwise new keys could keep a batch from ever ending; a removed key is left out at once.

    A job that raises is reported. Its key keeps its last good result, ``is_failing``, and is
    left out of batches after several failures in a row, until ``release``.

    With an executor, jobs run on its threads or processes; inputs are still read in the calling
    thread, in order, and results taken in order. They equal those of a single thread if a job
    depends only on its key and input. All methods are for the thread that calls ``advance``.

    Args:
        clock: source of ``now``.
        job: called as ``job(key, input)``, or ``job(key)`` without ``inputs``; returns the
            result, in one call.
        inputs: called as ``inputs(key)`` when the timing says so; None lets a job read
            the world when it runs, for timings that read inputs one by one.
        timing: when inputs are read, and when results become visible.
        jobs_per_update: most jobs that an update starts, 1 or more; None for no limit but
            the budget. It is required with an executor: the run time of jobs there is
            not known when they start.
        executor: runs the jobs; the caller shuts it down. None for the calling thread.
        joins_next_update: with an executor, wait for jobs at the start of the next update
            and not at the end of their own: meanwhile the game continues, and results shown
            one by one become visible one update later.
        name: for reports; None for the name of the job.
        faults: handles jobs that raise; None reports to the log.
        values: writes keys, inputs and results into saves; None for plain data.

    Source: 002_timeslicing, whose ring buffer loses results when a batch grows and is
    searched from its end for each.
    """

    def __init__(
        self,
        clock: Clock,
        job: Callable[..., Any],
        *,
        inputs: Callable[[Any], Any] | None = None,
        timing: Timing = Timing.AIAO,
        jobs_per_update: int | None = None,
        executor: Executor | None = None,
        joins_next_update: bool = False,
        name: str | None = None,
        faults: FaultIsolation | None = None,
        values: SavedValues | None = None,
    ) -> None:
        checked_clock(clock)
        if not isinstance(timing, Timing):
            raise TypeError(f"timing must be a Timing, got {shown(timing)}; use Timing.AIAO")
        check_callables(job, inputs, timing)
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"name must be a non-empty string, got {shown(name)}")
        if not isinstance(joins_next_update, bool):
            raise TypeError(f"joins_next_update must be a bool, got {shown(joins_next_update)}")
        self._clock, self._timing = clock, timing
        self._name = name or str(getattr(job, "__name__", type(job).__name__))
        self._most, self._executor = checked_limits(jobs_per_update, executor)
        self._joins_next_update = joins_next_update
        self._faults = given_faults(faults)
        self._values = values if values is not None else SavedValues()
        self._jobs: dict[Hashable, Job] = {}
        self._batch = JobBatch(job, inputs, timing, self._failed, self._faults.succeeded)
        self._updates = self._batches = self._failures = 0
        self._is_advancing = False

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._jobs
        except TypeError:  # what cannot be hashed is not here
            return False

    @property
    def clock(self) -> Clock:
        """Source of ``now``."""
        return self._clock

    @property
    def timing(self) -> Timing:
        """When inputs are read, and when results become visible."""
        return self._timing

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """All keys, failing ones included, in the order added."""
        return tuple(self._jobs)

    @property
    def is_between_batches(self) -> bool:
        """True if no batch is running: the next update starts one."""
        return self._batch.is_over

    @property
    def updates(self) -> int:
        """Number of updates; ages count these."""
        return self._updates

    @property
    def jobs_per_update(self) -> int | None:
        """Most jobs that an update starts, None for no limit; may be set between updates."""
        return self._most if self._most < NO_LIMIT else None

    @jobs_per_update.setter
    def jobs_per_update(self, most: int | None) -> None:
        self._most, _ = checked_limits(most, self._executor)

    @property
    def executor(self) -> Executor | None:
        """Runs the jobs, None for the calling thread; may be set between updates, no job is lost."""
        return self._executor

    @executor.setter
    def executor(self, executor: Executor | None) -> None:
        _, self._executor = checked_limits(self.jobs_per_update, executor)

    def add(self, key: Hashable) -> None:
        """Run the job for ``key``, too, from the next batch on.

        Raises:
            TypeError: if it cannot be hashed.
            ValueError: if it already has a job, or is NaN, which equals nothing.

        Cost: O(1).
        """
        try:
            is_here = key in self._jobs
        except TypeError:
            raise TypeError(_unhashable(key)) from None
        if key != key:
            raise ValueError(f"key must be equal to itself, got {shown(key)}; use an id or a name")
        if is_here:
            raise ValueError(f"key {shown(key)} already has a job; remove it first")
        self._jobs[key] = Job(key)

    def remove(self, key: Hashable) -> None:
        """Remove ``key`` and its result; the result of a job still running on an executor is dropped.

        Raises:
            UnknownNameError: if the key is unknown.

        Cost: O(1).
        """
        job = self._job(key)
        job.is_removed = True
        del self._jobs[key]
        self._faults.forget(job)

    def release(self, key: Hashable) -> None:
        """Release a key from quarantine, with all its tries, from the next batch on.

        Raises:
            UnknownNameError: if the key is unknown.
        """
        self._faults.release(self._job(key))

    def advance(self, budget: Budget) -> int:
        """Run an update, and return the number of jobs started.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by one of the jobs, or if the executor was shut down;
                set another, or None: no job is lost.

        Cost: O(jobs started); O(keys) in addition when a batch begins.
        """
        if not isinstance(budget, Budget):
            check_budget(budget)  # type: ignore[unreachable]  # says what it should be
        if self._is_advancing:
            raise RuntimeError("the timeslicer is already advancing; a job must not advance it")
        self._is_advancing = True
        try:  # all of an update that runs a job here, without a call for it
            batch, self._updates = self._batch, self._updates + 1
            moment = (self._updates, self._clock.now.seconds)
            if batch.flights:
                batch.join()
            if (not batch.rest or batch.rest[0].is_removed) and batch.is_over:
                jobs = [job for job in self._jobs.values() if self._may_run(job)]
                self._batches += bool(jobs)
                batch.begin(jobs, moment)
            if self._executor is None:
                return batch.run(budget, self._most, moment)
            return self._start(self._executor, budget, moment)
        finally:
            self._is_advancing = False

    def result_of(self, key: Hashable, default: Any = None) -> Any:
        """Return the last good result that is visible, ``default`` before the first.

        Raises:
            UnknownNameError: if the key is unknown.

        Cost: O(1).
        """
        try:
            job = self._jobs[key]
        except (KeyError, TypeError):
            job = self._job(key)
        return default if job.result_at is None else job.result

    def age_updates(self, key: Hashable) -> int | None:
        """Return how many updates ago the input of the result was read; None without a result.

        After each update it is within the bounds of ``Timing.age_bounds_updates``.

        Raises:
            UnknownNameError: if the key is unknown.
        """
        read_at = self._job(key).result_at
        return None if read_at is None else self._updates - read_at[0]

    def age_s(self, key: Hashable) -> float | None:
        """Return how long ago the input of the result was read (s, game time).

        Raises:
            UnknownNameError: if the key is unknown.
        """
        read_at = self._job(key).result_at
        return None if read_at is None else self._clock.now.seconds - read_at[1]

    def is_failing(self, key: Hashable) -> bool:
        """Return True if the last try failed, so that the result is of an earlier one.

        Raises:
            UnknownNameError: if the key is unknown.
        """
        return self._job(key).is_failing

    def is_quarantined(self, key: Hashable) -> bool:
        """Return True if it failed too often, and is left out until ``release``.

        Raises:
            UnknownNameError: if the key is unknown.
        """
        return self._faults.is_quarantined(self._job(key))

    def statistics(self) -> dict[str, int]:
        """Return the current number of keys, and totals of updates, batches, jobs and failures."""
        return {
            "keys": len(self._jobs),
            "updates": self._updates,
            "batches": self._batches,
            "jobs": self._batch.started,
            "failures": self._failures,
        }

    def save_state(self) -> State:
        """Return results, ages, and the rest of the batch, as plain data.

        Waits for jobs that run on an executor, and saves them with their results.

        Raises:
            StateError: if a key, an input or a result is not plain; see ``values``.
            RuntimeError: if called by one of the jobs.
        """
        return saved_timeslicer(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the current keys; return the function that loads it.

        Keys that are not in the save are kept, without a result, and join the next batch.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
            RuntimeError: if called by one of the jobs.
        """
        return prepared_timeslicer(self, state)

    def _start(self, executor: Executor, budget: Budget, moment: FrameMoment) -> int:
        batch = self._batch
        started = batch.started
        batch.start(executor, budget, self._most, moment)
        started = batch.started - started
        if not self._joins_next_update:
            batch.join()
        return started

    def _may_run(self, job: Job) -> bool:
        return not (job.is_failing and self._faults.is_quarantined(job))

    def _failed(self, job: Job, error: Exception) -> None:
        self._failures += 1
        name = f"{self._name}({shown(job.key)})"
        try:
            self._faults.failed(job, name, self._clock.now.frame, error)
        finally:
            if job.is_removed:  # by itself, while it ran
                self._faults.forget(job)

    def _job(self, key: Hashable) -> Job:
        try:
            return self._jobs[key]
        except KeyError:
            raise UnknownNameError("key", key, self._jobs) from None
        except TypeError:
            raise TypeError(_unhashable(key)) from None


def _unhashable(key: object) -> str:
    return f"key must be hashable, got {shown(key)}; use an id or a name"


__all__ = ["NO_LIMIT", "Timeslicer", "check_callables", "checked_limits"]
