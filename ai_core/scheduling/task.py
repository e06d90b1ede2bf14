"""A piece of work in a scheduler: its handle, its settings with their ranges, and how it is saved."""
from __future__ import annotations

from math import inf
from typing import Any

from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, shown, whole_number
from ai_core.faults import Failures
from ai_core.saving.inner_state import inner_state
from ai_core.saving.kinds import Flag, Kind, Number, Record, Row, Seconds, Text, Whole
from ai_core.scheduling.run_loops import TaskRun, Turn
from ai_core.scheduling.work import Runner, Work

__all__ = [
    "LARGEST_REQUEST",
    "MAX_PERIOD_FRAMES",
    "MAX_PRIORITY",
    "MIN_PRIORITY",
    "SAVED_TASK",
    "Task",
    "Turn",
    "Work",
    "checked_period",
    "checked_phase",
    "checked_priority",
]

MAX_PERIOD_FRAMES = 1_000_000
"""Longest period and phase (frames): 4.6 hours at 60 frames a second.

For rarer work send a delayed event.
"""

MIN_PRIORITY = 1e-6
"""Smallest priority (no unit). Less beside a normal task would never run."""

MAX_PRIORITY = 1e6
"""Largest priority (no unit). More would starve every normal task."""

LARGEST_REQUEST = 1e9
"""Largest requested budget (µs or steps): 17 minutes, more than any frame has."""

NS_PER_US = 1000
"""Stopwatches count nanoseconds; reports are in microseconds."""


class Task(TaskRun):
    """A handle of a piece of work; returned by ``add`` of a scheduler.

    Reading is always allowed, also after removal. It is changed only through its
    scheduler: ``pause``, ``resume``, ``change``, ``release``, ``remove``.
    """

    def __init__(
        self, owner: Any, task_id: int, name: str, work: Work, runner: Runner, added_at: TimeIndex
    ) -> None:
        super().__init__()
        self._owner = owner
        self._id = task_id
        self._name = name
        self._work = work
        self._runner = runner
        self._call = runner.run
        self._last_frame, self._last_s = added_at
        self._automatic_phase = False
        self._paused = False
        self._is_saved = True
        self._is_placed = False     # whether it is in the due table

    def __repr__(self) -> str:
        state = "removed" if self.is_removed else "paused" if self._paused else "scheduled"
        return (
            f"<Task {self._id} {shown(self._name)} {state},"
            f" period {self._period}, phase {self._phase}>"
        )

    @property
    def id(self) -> int:
        """Number within its scheduler, never reused; ties go to the smallest."""
        return int(self._id)

    @property
    def name(self) -> str:
        """Name in reports, traces and statistics; need not be unique."""
        return self._name

    @property
    def work(self) -> Work:
        """The work, as passed to ``add``."""
        return self._work

    @property
    def period_frames(self) -> int:
        """Frames from one run to the next (frames of its scheduler)."""
        return int(self._period)

    @property
    def phase_frames(self) -> int:
        """Offset: it is due when ``(frame + phase) % period == 0``."""
        return int(self._phase)

    @property
    def is_automatic_phase(self) -> bool:
        """True if the scheduler chooses the phase, and ``rephase`` may choose a better one."""
        return self._automatic_phase

    @property
    def priority(self) -> float:
        """Weight of its share of the budget, with policies that share it out."""
        return float(self._priority)

    @property
    def is_paused(self) -> bool:
        """True between ``pause`` and ``resume``."""
        return self._paused

    @property
    def is_removed(self) -> bool:
        """True after ``remove``: it no longer belongs to its scheduler."""
        return bool(self._is_removed)

    @property
    def runs(self) -> int:
        """Number of runs, failures included."""
        return int(self._runs)

    @property
    def last_run(self) -> TimeIndex:
        """When it last ran; when it was added, if it never ran."""
        return TimeIndex(self._last_frame, self._last_s)

    @property
    def used_us(self) -> float:
        """Time used in all runs (µs); 0 if nothing measures time.

        If only some runs are measured, the total is estimated from them.
        """
        measured = self._measured_runs
        return self._used_ns / NS_PER_US * self._runs / measured if measured else 0.0

    @property
    def faults(self) -> int:
        """Number of runs that raised."""
        return int(self._faults)

    # Saved values that are not attributes.

    @property
    def _failures(self) -> Failures:
        failures: Failures = self._owner._faults.failures_of(self)
        return failures

    @property
    def _work_state(self) -> object:
        return inner_state(self._work)

    def _put_saved(self, saved: dict[str, Any]) -> None:
        """Set the values that ``SAVED_TASK`` has read, except the failures and the state of the work."""
        for name, kind in SAVED_TASK.kinds.items():
            if name not in ("failures", "work"):
                setattr(self, str(kind.at), saved[name])
        self._p95_ns = 0


SAVED_TASK = Record(
    dict,
    id=Whole(at="_id"),
    name=Text(at="_name"),
    period_frames=Whole(1, MAX_PERIOD_FRAMES, at="_period"),
    phase_frames=Whole(0, MAX_PERIOD_FRAMES, at="_phase"),
    is_automatic_phase=Flag(at="_automatic_phase"),
    priority=Number(MIN_PRIORITY, MAX_PRIORITY, at="_priority"),
    bias=Number(1e-6, 1e6, at="_bias"),
    request=Number(-1, LARGEST_REQUEST, at="_request"),
    is_paused=Flag(at="_paused"),
    due_since=Whole(-1, at="_due_since"),
    last_frame=Whole(at="_last_frame"),
    last_s=Seconds(at="_last_s"),
    runs=Whole(at="_runs"),
    faults=Whole(at="_faults"),
    overruns=Whole(at="_overruns"),
    lateness_frames=Whole(at="_lateness_frames"),
    max_lateness_frames=Whole(at="_max_lateness_frames"),
    measured_runs=Whole(at="_measured_runs"),
    used_ns=Whole(at="_used_ns"),
    max_used_ns=Whole(at="_max_used_ns"),
    failures=Row(Failures, Whole(), Flag(), at="_failures"),
    work=Kind(at="_work_state"),
)
"""How a task is saved."""


def checked_period(value: object, name: str = "period_frames") -> int:
    """Return ``value`` if it is a valid period (frames)."""
    is_rarer = isinstance(value, int) and value > MAX_PERIOD_FRAMES
    remedy = "send a delayed event for rarer work" if is_rarer else "use 1 to run every frame"
    return whole_number(name, value, minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy)


def checked_phase(value: object) -> int:
    """Return ``value`` if it is a valid phase (frames)."""
    is_later = isinstance(value, int) and value > MAX_PERIOD_FRAMES
    remedy = "use phase % period, which is due on the same frames" if is_later else "use None for an automatic phase"
    return whole_number("phase_frames", value, minimum=0, maximum=MAX_PERIOD_FRAMES, remedy=remedy)


def checked_priority(value: object) -> float:
    """Return ``value`` if it is a valid priority."""
    is_more = isinstance(value, int | float) and MAX_PRIORITY < value < inf
    remedy = "give the others less instead" if is_more else "pause a task to give it nothing"
    return finite_number("priority", value, minimum=MIN_PRIORITY, maximum=MAX_PRIORITY, remedy=remedy)
