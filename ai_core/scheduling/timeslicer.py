"""The timeslicer: one short job for each of many keys, a slice of the keys in each update."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from enum import Enum
from types import SimpleNamespace
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import UnknownNameError, check_type, checked_name, shown, whole_number
from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import ClockNow, DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import Flag, Kind, ListOf, Moment, OneOf, Optional, Record, Text, Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.work import check_function

__all__ = ["Timeslicer", "Timing"]


class Timing(Enum):
    """Inputs together or one by one, results together or one by one.

    "Together" is at the start of a batch: all inputs of the batch that begins, and all
    results of the batch that is complete. Choose by the consistency that agents need.

    - ``AIAO``: each job reads its input when it runs, and its result is visible at once. The
      most recent results; agents have seen the world at different times.
    - ``SIAO``: all inputs are read at the same time, results appear one by one. All agents see
      a target that moves meanwhile at the same place.
    - ``SISO``: all inputs are read at the same time, and all results change at the same time.
      An incomplete batch is never visible: maps, votes, plans for a squad.
    - ``AISO``: inputs one by one, results at the same time. For completeness.

    With batches of n updates, results are 0 to n - 1 updates old after an update (AIAO), 0 to 2n - 2 (SIAO),
    n to 2n - 1 (SISO) or 1 to 2n - 1 (AISO); with an executor one more for AIAO and SIAO.

    Source: 002_timeslicing (asynchronous and synchronous input and output).
    """

    AIAO = (False, False)
    SIAO = (True, False)
    SISO = (True, True)
    AISO = (False, True)


FrameMoment = tuple[int, float]
"""The number of an update, and the game time (s) in which it ran."""

NO_LIMIT = 1 << 62
"""Jobs in an update if their number is not limited (count): more than any memory holds."""

STAGES = ("idle", "rest", "running", "unseen")
"""Stages of a saved job: in no batch; to be started; started on an executor; with a result that is not visible yet."""


class SavedJobError(Exception):
    """An exception that a job raised before the game was saved, reported after loading."""


class Job:
    """The job of one key: what it has of the present batch, and its last good result.

    Attributes:
        value: its input until it has run, then a result that is not visible yet.
        read_at: when that input was read; None if it was not.
        future: a Future of the executor, while it runs there.
        result: the visible result.
        result_at: when the input of the visible result was read; None without a result.
    """

    __slots__ = ("future", "is_failing", "is_removed", "key", "read_at", "result", "result_at", "value")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.value: Any = None
        self.read_at: FrameMoment | None = None
        self.future: Any = None
        self.result: Any = None
        self.result_at: FrameMoment | None = None
        self.is_failing = False
        self.is_removed = False

    def show(self, result: Any, read_at: FrameMoment | None) -> None:
        """Make a result visible; the job has nothing of the batch left."""
        self.result, self.result_at, self.value, self.read_at = result, read_at, None, None


_MOMENT = Moment(lambda update, seconds: (update, seconds))


class Timeslicer(Saveable):
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
        executor: runs the jobs; the caller shuts it down. None for the calling thread. Jobs are waited for at the
            start of the next update: meanwhile the game continues, and results shown one by one become visible one
            update later.
        name: for reports; None for the name of the job.
        faults: handles jobs that raise; None reports to the log.
        values: writes keys, inputs and results into saves; None for plain data.

    Methods that take a key raise UnknownNameError if it is unknown.

    A save waits for jobs that run on an executor, and contains them with their results. Keys that are not in a
    save are kept when it is loaded, without a result, and join the next batch.

    Source: 002_timeslicing, whose ring buffer loses results when a batch grows and is
    searched from its end for each.
    """

    SHOWN = ("timing", "keys")

    STATE = DeclaredState(
        now=ClockNow(at="_clock.now"),
        updates=Whole(at="_updates"),
        batches=Whole(at="_batches"),
        jobs=Whole(at="_started"),
        failures=Whole(at="_failures"),
        keys=ListOf(
            Record(SimpleNamespace, key=Kind(), result=Kind(), result_at=Optional(_MOMENT), is_failing=Flag(),
                   failures=FAILURES_STATE, stage=OneOf(STAGES), value=Kind(), read_at=Optional(_MOMENT),
                   error=Optional(Text())),
            at="_saved_keys"),
    )

    def __init__(
        self,
        clock: Clock,
        job: Callable[..., Any],
        *,
        inputs: Callable[[Any], Any] | None = None,
        timing: Timing = Timing.AIAO,
        jobs_per_update: int | None = None,
        executor: Executor | None = None,
        name: str | None = None,
        faults: FaultIsolation | None = None,
        values: SavedValues | None = None,
    ) -> None:
        checked_clock(clock)
        check_type("timing", timing, Timing, "use Timing.AIAO")
        self._reads_together, self._shows_together = timing.value
        if inputs is not None:
            check_function("inputs", inputs, "(key)")
        elif self._reads_together:
            raise ValueError(
                f"inputs must be given with {timing.name}, got None; this timing reads all inputs when a batch begins")
        check_function("job", job, *(("(key)", 1) if inputs is None else ("(key, input)", 2)))
        self._clock, self._timing, self._call, self._inputs = clock, timing, job, inputs
        self._name = checked_name("name", getattr(job, "__name__", type(job).__name__) if name is None else name)
        self.run_on(executor, jobs_per_update)
        self._faults = given_faults(faults)
        self._values = values if values is not None else SavedValues()
        self._jobs: dict[Hashable, Job] = {}
        # Of the batch, in the order of the keys: jobs to start, removed ones too; jobs on the executor; jobs whose
        # results are seen when the batch is complete.
        self._rest: deque[Job] = deque()
        self._running: deque[Job] = deque()
        self._unseen: list[Job] = []
        self._started = self._updates = self._batches = self._failures = 0
        self._is_advancing = False

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._jobs
        except TypeError:  # an unhashable key
            return False

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
        rest = self._rest
        while rest and rest[0].is_removed:
            rest.popleft()
        return not rest and not self._running

    def run_on(self, executor: Executor | None, jobs_per_update: int | None = None) -> None:
        """Run jobs elsewhere from the next update on; no job is lost. Arguments as of the class."""
        if executor is not None and not isinstance(executor, Executor):
            raise TypeError(
                f"executor must be a concurrent.futures.Executor, got {shown(executor)}; use None for this thread")
        if jobs_per_update is not None:
            remedy = "use None for no limit but the budget"
            jobs_per_update = whole_number("jobs_per_update", jobs_per_update, minimum=1, remedy=remedy)
        elif executor is not None:
            raise ValueError(
                "jobs_per_update must be given with an executor, got None; the run time of a job there is unknown")
        self._most, self._executor = jobs_per_update or NO_LIMIT, executor

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

        Cost: O(1).
        """
        job = self._job(key)
        job.is_removed = True
        del self._jobs[key]
        self._faults.forget(job)

    def release(self, key: Hashable) -> None:
        """Release a key from quarantine, with all its tries, from the next batch on."""
        self._faults.release(self._job(key))

    def advance(self, budget: Budget) -> int:
        """Run an update, and return the number of jobs started.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by one of the jobs, or if the executor was shut down;
                ``run_on`` another, or None: no job is lost.

        Cost: O(jobs started); O(keys) in addition when a batch begins.
        """
        check_budget(budget)
        if self._is_advancing:
            raise RuntimeError("the timeslicer is already advancing; a job must not advance it")
        self._is_advancing = True
        try:  # all of an update that runs a job here, without a call for it
            self._updates += 1
            moment = (self._updates, self._clock.now.seconds)
            if self._running:
                self._join()
            if (not self._rest or self._rest[0].is_removed) and self.is_between_batches:
                self._begin_batch(moment)
            started = self._started
            if self._executor is None:
                self._run(budget, moment)
            else:
                self._start(self._executor, budget, moment)
            return self._started - started
        finally:
            self._is_advancing = False

    def result_of(self, key: Hashable, default: Any = None) -> Any:
        """Return the last good result that is visible, ``default`` before the first.

        Cost: O(1).
        """
        try:
            job = self._jobs[key]
        except (KeyError, TypeError):
            job = self._job(key)
        return default if job.result_at is None else job.result

    def age_updates(self, key: Hashable) -> int | None:
        """Return how many updates ago the input of the result was read; None without a result."""
        read_at = self._job(key).result_at
        return None if read_at is None else self._updates - read_at[0]

    def age_s(self, key: Hashable) -> float | None:
        """Return how long ago the input of the result was read (s, game time)."""
        read_at = self._job(key).result_at
        return None if read_at is None else self._clock.now.seconds - read_at[1]

    def is_failing(self, key: Hashable) -> bool:
        """Return True if the last try failed, so that the result is of an earlier one."""
        return self._job(key).is_failing

    def is_quarantined(self, key: Hashable) -> bool:
        """Return True if it failed too often, and is left out until ``release``."""
        return self._faults.is_quarantined(self._job(key))

    def statistics(self) -> dict[str, int]:
        """Return the current number of keys, and totals of updates, batches, jobs and failures."""
        return {
            "keys": len(self._jobs),
            "updates": self._updates,
            "batches": self._batches,
            "jobs": self._started,
            "failures": self._failures,
        }

    # -- a batch

    def _begin_batch(self, moment: FrameMoment) -> None:
        """Make the results of the complete batch visible, and begin a batch with the jobs that may run."""
        jobs = [job for job in self._jobs.values() if not (job.is_failing and self._faults.is_quarantined(job))]
        self._batches += bool(jobs)
        unseen, self._unseen = self._unseen, []
        for job in unseen:
            job.show(job.value, job.read_at)
        if not self._reads_together or self._inputs is None:
            self._rest.extend(jobs)
            return
        for job in jobs:
            if job.is_removed:  # while the inputs of others were read
                continue
            try:
                job.value = self._inputs(job.key)
            except Exception as error:  # an exception from reading concerns this key alone
                self._failed(job, error)
            else:
                job.read_at = moment
                self._rest.append(job)

    def _run(self, budget: Budget, moment: FrameMoment) -> None:
        """Run jobs here, at least one, until the limit is reached or the budget is spent."""
        call, inputs, rest, most = self._call, self._inputs, self._rest, self._most
        unseen = self._unseen if self._shows_together else None
        ran = 0
        try:
            while rest:
                job = rest.popleft()
                if job.is_removed:
                    continue
                ran += 1
                read_at = job.read_at
                try:  # written out: a call of our own for each job would cost as much as all else
                    if inputs is None:
                        read_at, result = moment, call(job.key)
                    elif read_at is None:
                        read_at, result = moment, call(job.key, inputs(job.key))
                    else:
                        given, job.value, job.read_at = job.value, None, None
                        result = call(job.key, given)
                except Exception as error:  # an exception of a job concerns this job alone
                    self._failed(job, error)
                else:
                    if job.is_failing:
                        self._succeeded(job)
                    if unseen is None:
                        job.result, job.result_at = result, read_at
                    else:
                        job.value, job.read_at = result, read_at
                        unseen.append(job)
                if ran >= most:  # a budget of time counts steps, too: a replay knows by them after which job it ended
                    budget.spend()
                    break
                if budget.spends(1):
                    break
        finally:
            self._started += ran

    def _start(self, executor: Executor, budget: Budget, moment: FrameMoment) -> None:
        """Start jobs on an executor until the limit is reached or the budget is spent."""
        rest, ran = self._rest, 0
        while rest and ran < self._most:
            job = rest.popleft()
            if job.is_removed:
                continue
            ran += 1
            try:
                if job.read_at is None:
                    job.value, job.read_at = None if self._inputs is None else self._inputs(job.key), moment
            except Exception as error:  # as above
                self._failed(job, error)
            else:
                try:
                    job.future = executor.submit(self._call, job.key, *(() if self._inputs is None else (job.value,)))
                except BaseException:
                    self._put_back([job])
                    raise
                self._running.append(job)
            self._started += 1
            budget.spend()
            if budget.is_spent:
                break

    def _wait(self) -> None:
        """Wait for all jobs on the executor; put back those that were cancelled, as when a pool shuts down."""
        for job in self._running:
            # Not concurrent.futures.wait, which waits forever for jobs that a pool cancelled as it shut down.
            with suppress(CancelledError):
                job.future.exception()
        cancelled = [job for job in self._running if job.future.cancelled()]
        if cancelled:
            self._running = deque(job for job in self._running if not job.future.cancelled())
            self._started -= len(cancelled)
            self._put_back(cancelled)

    def _put_back(self, jobs: list[Job]) -> None:
        """Let jobs that were not run be the next; they read their input when they run if the timing says so."""
        self._rest.extendleft(reversed(jobs))
        for job in jobs if not self._reads_together else ():
            job.value = job.read_at = None

    def _join(self) -> None:
        """Wait for all jobs on the executor, and take their results in the order in which they were started."""
        self._wait()
        while self._running:
            job = self._running.popleft()
            read_at, job.value, job.read_at = job.read_at, None, None
            if job.is_removed:
                continue
            try:
                result = job.future.result()
            except Exception as error:  # as above
                self._failed(job, error)
                continue
            if job.is_failing:
                self._succeeded(job)
            if self._shows_together:
                job.value, job.read_at = result, read_at
                self._unseen.append(job)
            else:
                job.show(result, read_at)

    def _failed(self, job: Job, error: Exception) -> None:
        job.is_failing = True
        self._failures += 1
        name = f"{self._name}({shown(job.key)})"
        try:
            self._faults.failed(job, name, self._clock.now.frame, error)
        finally:
            if job.is_removed:  # by itself, while it ran
                self._faults.forget(job)

    def _succeeded(self, job: Job) -> None:
        job.is_failing = False
        self._faults.succeeded(job)

    def _job(self, key: Hashable) -> Job:
        try:
            return self._jobs[key]
        except KeyError:
            raise UnknownNameError("key", key, self._jobs) from None
        except TypeError:
            raise TypeError(_unhashable(key)) from None

    # -- saving

    def _check_at_rest(self) -> None:
        if self._is_advancing:
            raise RuntimeError("jobs are running; save and load between two updates")
        self._wait()

    @property
    def _saved_keys(self) -> list[SimpleNamespace]:
        stages = {job: stage for stage, jobs in zip(
            STAGES, ((), self._rest, self._running, self._unseen), strict=True) for job in jobs}
        return [self._saved(job, stages.get(job, "idle")) for job in self._jobs.values()]

    @_saved_keys.setter
    def _saved_keys(self, loaded: list[tuple[Job, str, Failures]]) -> None:
        for job in self._jobs.values():
            self._faults.forget(job)
        extra = [Job(key) for key in self._jobs]  # without the ages of the time before
        self._jobs = {job.key: job for job, _, _ in loaded}
        for job in extra:
            self._jobs.setdefault(job.key, job)
        for job, _, failures in loaded:
            self._faults.put_failures(job, failures)
        rest, running, self._unseen = (
            [job for job, stage, _ in loaded if stage == wanted] for wanted in STAGES[1:])
        self._rest, self._running = deque(rest), deque(running)

    def _saved(self, job: Job, stage: str) -> SimpleNamespace:
        value, error = job.value, None
        if stage == "running":
            raised = job.future.exception()
            if raised is None:
                value = job.future.result()
            else:
                value, error = None, str(raised) if isinstance(raised, SavedJobError) else shown(raised)
        name, plain = f"{job.key!s:.40}", self._values.plain
        return SimpleNamespace(
            key=plain(job.key, "key"), result=plain(job.result, f"result of {name}"), result_at=job.result_at,
            is_failing=job.is_failing, failures=self._faults.failures_of(job), stage=stage,
            value=plain(value, f"{'input' if stage == 'rest' else 'result'} of {name}"), read_at=job.read_at,
            error=error)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Make jobs of the saved keys."""
        jobs: dict[Hashable, Job] = {}
        kept = []
        for index, saved in enumerate(values.keys):
            place = f"keys[{index}]"
            left_out = self._values.left_out
            key = self._values.value(saved.key, f"{place}.key")
            if self._values.left_out != left_out:       # an object that was missing when it was saved
                continue
            if key not in self:
                known = UnknownNameError("key", key, self._jobs)
                refuse(f"{place}.key", f"has no job: {known}; add the saved keys before loading")
            if key in jobs:
                refuse(f"{place}.key", "occurs twice")
            job = jobs[key] = Job(self._jobs[key].key)  # a save read by Godot says 1.0 where this program says 1
            job.result, job.result_at = self._values.value(saved.result, f"{place}.result"), saved.result_at
            job.value, job.read_at = self._values.value(saved.value, f"{place}.value"), saved.read_at
            kept.append(saved)
            job.is_failing = saved.is_failing
            if any(saved.failures) and not saved.is_failing:
                refuse(f"{place}.is_failing", "must be true with failures in a row")
            if saved.read_at is None and saved.stage in ("running", "unseen"):
                refuse(f"{place}.read_at", "is missing; the input of a job that was started has been read")
            if saved.stage == "running":
                job.future = Future()
                if saved.error is None:
                    job.future.set_result(job.value)
                else:
                    job.future.set_exception(SavedJobError(saved.error))
            for name in ("read_at", "result_at"):
                update, seconds = getattr(saved, name) or (0, 0.0)
                if seconds > values.now.seconds:
                    refuse(f"{place}.{name}", f"must be at most {values.now.seconds:g} s, got {seconds:g}")
                if update > values.updates:
                    refuse(f"{place}.{name}", f"is of update {update}, but there were only {values.updates}")
        values.keys = [
            (job, saved.stage, saved.failures) for job, saved in zip(jobs.values(), kept, strict=True)]


def _unhashable(key: object) -> str:
    return f"key must be hashable, got {shown(key)}; use an id or a name"
