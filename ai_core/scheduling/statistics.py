"""What each piece of work got, used and waited for."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ai_core.clock import TimeIndex

__all__ = ["NS_PER_US", "RECENT_RUNS", "Overrun", "RunRecord"]

RECENT_RUNS = 64
"""Runs that the 95th percentile looks back on (count): the worst three of them decide.

Fewer, and it is the maximum by another name; more, and it tells of a game long past.
"""

NS_PER_US = 1000
"""Stopwatches show nanoseconds; what people read is in microseconds."""

MOST_PENDING = 2 * RECENT_RUNS
"""Times noted before they are summed up, two for each run (count); 15 µs then."""


class Overrun(NamedTuple):
    """Which work took a scheduler beyond the budget it was advanced with.

    Attributes:
        name: the task's name.
        task_id: the task's id in its scheduler.
        now: when it happened.
        granted: what the task had been given (µs, or steps).
        used: what it used (µs, or steps).
        over: how far the whole budget was exceeded (µs, or steps).
    """

    name: str
    task_id: int
    now: TimeIndex
    granted: float
    used: float
    over: float


class _Times:
    """Lengths of time, summed up, and the latest of them."""

    __slots__ = ("longest_us", "recent_ns", "total_us")

    def __init__(self, total_us: float = 0.0, longest_us: float = 0.0) -> None:
        self.total_us = total_us
        self.longest_us = longest_us
        self.recent_ns: list[float] = []

    @property
    def p95_us(self) -> float:
        """What 95 % of recent runs stayed within, 0 if there were none."""
        if not self.recent_ns:
            return 0.0
        ordered = sorted(self.recent_ns)
        return ordered[-(-95 * len(ordered) // 100) - 1] / NS_PER_US

    def add(self, total_ns: float, longest_ns: float, recent_ns: Sequence[float]) -> None:
        self.total_us += total_ns / NS_PER_US
        self.longest_us = max(self.longest_us, longest_ns / NS_PER_US)
        self.recent_ns = [*self.recent_ns, *recent_ns][-RECENT_RUNS:]


class RunRecord:
    """Running totals for one task; bounded size, however often it runs."""

    __slots__ = (
        "_granted",
        "_measured_runs",
        "_pending_ns",
        "_used",
        "faults",
        "lateness_frames",
        "max_lateness_frames",
        "overruns",
        "runs",
    )

    def __init__(self) -> None:
        self.runs = 0
        self.faults = 0
        self.overruns = 0
        self.lateness_frames = 0
        self.max_lateness_frames = 0
        self._measured_runs = 0
        self._pending_ns: list[float] | None = None  # what each run was given and used, in turn
        self._granted: _Times | None = None
        self._used: _Times | None = None

    def note_run(self, granted_ns: float, used_ns: float) -> None:
        """Note one run, what it was given and what it used; 0 is given where nothing is shared out."""
        self.runs += 1
        pending = self._pending_ns
        if pending is None:
            self._pending_ns = pending = []
        pending += (granted_ns, used_ns)
        if len(pending) >= MOST_PENDING:
            self._sum_up()

    def note_rounds(
        self, runs: int, total_ns: int, longest_ns: int, recent_ns: Sequence[float]
    ) -> None:
        """Note what several runs used that were given nothing of their own."""
        _, used = self._sum_up()
        self._measured_runs += runs
        used.add(total_ns, longest_ns, recent_ns)

    def note_lateness(self, lateness_frames: int) -> None:
        """Note that one run came so late."""
        self.lateness_frames += lateness_frames
        self.max_lateness_frames = max(self.max_lateness_frames, lateness_frames)

    @property
    def measured_runs(self) -> int:
        """Runs that a stopwatch measured."""
        return self._measured_runs + len(self._pending_ns or ()) // 2

    @property
    def used_us(self) -> float:
        """Time used by all runs (µs)."""
        return self._sum_up()[1].total_us if self.measured_runs else 0.0

    @property
    def mean_used_us(self) -> float | None:
        """Mean time of a run (µs), None if none was measured."""
        return self.used_us / self.measured_runs if self.measured_runs else None

    def times(self) -> dict[str, float]:
        """Return the totals and maxima (µs), as ``put_times`` takes them."""
        granted, used = self._sum_up() if self.measured_runs else (NOTHING, NOTHING)
        return {
            "granted_us": granted.total_us,
            "max_granted_us": granted.longest_us,
            "used_us": used.total_us,
            "max_used_us": used.longest_us,
        }

    def put_times(
        self, measured_runs: int, *, granted_us: float, max_granted_us: float, used_us: float,
        max_used_us: float,
    ) -> None:
        """Set what ``times`` returned, and of how many runs; percentiles begin anew."""
        self._measured_runs, self._pending_ns = measured_runs, None
        self._granted = _Times(granted_us, max_granted_us)
        self._used = _Times(used_us, max_used_us)

    def as_dict(self) -> dict[str, float]:
        """Return totals, means per run and 95th percentiles (0 before the first run).

        Times are of the runs that were measured: 0 where nothing measures them.
        Only schedulers that share out a budget grant any; under the others all
        work draws on the one budget of the frame.
        """
        measured, runs = max(1, self.measured_runs), max(1, self.runs)
        granted, used = self._sum_up() if self.measured_runs else (NOTHING, NOTHING)
        return {
            "runs": self.runs,
            "granted_us_mean": granted.total_us / measured,
            "granted_us_p95": granted.p95_us,
            "granted_us_max": granted.longest_us,
            "used_us_mean": used.total_us / measured,
            "used_us_p95": used.p95_us,
            "used_us_max": used.longest_us,
            "lateness_frames_mean": self.lateness_frames / runs,
            "lateness_frames_max": self.max_lateness_frames,
            "faults": self.faults,
            "overruns": self.overruns,
        }

    def _sum_up(self) -> tuple[_Times, _Times]:
        if self._granted is None or self._used is None:
            self._granted, self._used = _Times(), _Times()
        pending, self._pending_ns = self._pending_ns, None
        if pending:
            self._measured_runs += len(pending) // 2
            for times, noted in ((self._granted, pending[::2]), (self._used, pending[1::2])):
                times.add(sum(noted), max(noted), noted)
        return self._granted, self._used


NOTHING = _Times()
"""Stands where no run was measured: a simulation without a stopwatch keeps nothing else."""
