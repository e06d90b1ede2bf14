"""The state of a timeslicer: results and their ages, and what is left of the batch."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from ai_core.errors import UnknownNameError, shown
from ai_core.faults import Failures
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.job_batch import UNREAD, FrameMoment, Job, RunningJob, SavedJobError, wait_for

if TYPE_CHECKING:
    from ai_core.scheduling.timeslicer import Timeslicer

__all__ = ["prepared_timeslicer", "saved_timeslicer"]

VERSION = 1


class _SavedBatch(NamedTuple):
    rest: deque[Job]
    flights: deque[RunningJob]
    unseen: list[tuple[Job, Any, FrameMoment]]


def saved_timeslicer(slicer: Timeslicer) -> State:
    """Return the state of a timeslicer between two updates."""
    _check_between_updates(slicer)
    plain, batch = slicer._values.plain, slicer._batch
    number_of = {job: number for number, job in enumerate(slicer._jobs.values())}
    for flight in batch.flights:
        wait_for(flight.future)
    # What was cancelled is started again before all others, as when the next update joins.
    cancelled = [job for job, future, _ in batch.flights if future.cancelled()]
    return {
        "version": VERSION,
        "now": list(slicer.clock.now),
        "updates": slicer._updates,
        "batches": slicer._batches,
        "jobs": batch.started - len(cancelled),
        "failures": slicer._failures,
        "keys": [_saved_key(slicer, job) for job in slicer._jobs.values()],
        "rest": [
            {
                "key": number_of[job],
                "input": None if job.input is UNREAD else plain(job.input, _place("input", job)),
                "read_at": None if job.input is UNREAD else list(job.read_at),
            }
            for job in [*cancelled, *batch.rest] if job in number_of
        ],
        "flights": [
            {"key": number_of[one.job], **_saved_flight(slicer, one)}
            for one in batch.flights if one.job in number_of and not one.future.cancelled()
        ],
        "unseen": [
            {"key": number_of[job], "result": plain(result, _place("result", job)), "read_at": list(read_at)}
            for job, result, read_at in batch.unseen if job in number_of
        ],
    }


def prepared_timeslicer(slicer: Timeslicer, state: object) -> Callable[[], None]:
    """Check a state against the keys that are here; return what loads it."""
    _check_between_updates(slicer)
    fields = Fields.versioned(state, version=VERSION)
    _, now_s = fields.moment("now")
    counts = {name: fields.whole(name) for name in ("updates", "batches", "failures")}
    started = fields.whole("jobs")
    reader = _Reader(slicer, counts["updates"], now_s)
    failing = [reader.key(one) for one in fields.groups("keys")]
    batch = _SavedBatch(
        deque(reader.rest(one) for one in fields.groups("rest")),
        deque(reader.flight(one) for one in fields.groups("flights")),
        [reader.unseen(one) for one in fields.groups("unseen")],
    )
    fields.end()
    jobs = reader.jobs

    def change() -> None:
        for job in slicer._jobs.values():
            slicer._faults.forget(job)
        # Those that are only here begin anew: their ages belong to what was before.
        extra = {key: Job(key) for key in slicer._jobs if key not in jobs}
        slicer._jobs = {**{job.key: job for job in jobs.values()}, **extra}
        for job, failures in zip(jobs.values(), failing, strict=True):
            slicer._faults.put_failures(job, failures)
        for name, count in counts.items():
            setattr(slicer, f"_{name}", count)
        slicer._batch.started = started
        for name, value in batch._asdict().items():
            setattr(slicer._batch, name, value)

    return change


def _check_between_updates(slicer: Timeslicer) -> None:
    if slicer._is_advancing:
        raise RuntimeError("jobs are running; save and load between two updates")


def _place(what: str, job: Job) -> str:
    return f"{what} of {job.key!s:.40}"


def _saved_key(slicer: Timeslicer, job: Job) -> State:
    return {
        "key": slicer._values.plain(job.key, "key"),
        "result": slicer._values.plain(job.result, _place("result", job)),
        "read_at": None if job.result_at is None else list(job.result_at),
        "is_failing": job.is_failing,
        **slicer._faults.failures_of(job).saved(),
    }


def _saved_flight(slicer: Timeslicer, flight: RunningJob) -> State:
    error = flight.future.exception()
    if error is None:
        text, result = None, slicer._values.plain(flight.future.result(), _place("result", flight.job))
    else:
        text, result = str(error) if isinstance(error, SavedJobError) else shown(error), None
    return {"result": result, "error": text, "read_at": list(flight.read_at)}


class _Reader:
    """Reads what refers to keys, each of which has one place in a batch."""

    def __init__(self, slicer: Timeslicer, updates: int, now_s: float) -> None:
        self._slicer = slicer
        self._updates, self._now_s = updates, now_s
        self.jobs: dict[Hashable, Job] = {}
        self._numbered: list[Job] = []
        self._placed: set[Job] = set()

    def key(self, fields: Fields) -> Failures:
        """Make the job of a key; return how it fails."""
        key = self._slicer._values.value(fields.anything("key"), fields.place_of("key"))
        if key not in self._slicer:
            unknown = UnknownNameError("key", key, self._slicer.keys)
            fields.refuse("key", f"has no job: {unknown}; add the saved keys before loading")
        if key in self.jobs:
            fields.refuse("key", "comes twice")
        # The key that is here: a save read by Godot says 1.0 where this program says 1.
        job = self.jobs[key] = Job(self._slicer._jobs[key].key)
        self._numbered.append(job)
        job.result = self._value(fields, "result")
        job.result_at = None if fields.anything("read_at") is None else self._moment(fields)
        job.is_failing = fields.flag("is_failing")
        failing = Failures.read(fields)
        if any(failing) and not job.is_failing:
            fields.refuse("is_failing", "must be true with failures in a row")
        fields.end()
        return failing

    def rest(self, fields: Fields) -> Job:
        """Return a job that is still to start, with the input that was read for it."""
        job = self._job(fields)
        given = self._value(fields, "input")
        if fields.anything("read_at") is not None:
            job.input, job.read_at = given, self._moment(fields)
        fields.end()
        return job

    def flight(self, fields: Fields) -> RunningJob:
        """Return a job that ran elsewhere, as one that has ended there."""
        job, result = self._job(fields), self._value(fields, "result")
        future: Future[Any] = Future()
        if fields.anything("error") is None:
            future.set_result(result)
        else:
            future.set_exception(SavedJobError(fields.text("error")))
        flight = RunningJob(job, future, self._moment(fields))
        fields.end()
        return flight

    def unseen(self, fields: Fields) -> tuple[Job, Any, FrameMoment]:
        """Return a job with a result that is not to be seen yet."""
        unseen = self._job(fields), self._value(fields, "result"), self._moment(fields)
        fields.end()
        return unseen

    def _job(self, fields: Fields) -> Job:
        number = fields.whole("key", maximum=len(self._numbered) - 1)
        job = self._numbered[number]
        if job in self._placed:
            fields.refuse("key", f"is already in the batch: {number}")
        self._placed.add(job)
        return job

    def _value(self, fields: Fields, name: str) -> Any:
        return self._slicer._values.value(fields.anything(name), fields.place_of(name))

    def _moment(self, fields: Fields) -> FrameMoment:
        update, seconds = fields.moment("read_at", latest_s=self._now_s)
        if update > self._updates:
            fields.refuse("read_at", f"is of update {update}, but there were only {self._updates}")
        return update, seconds
