"""What each piece of work received, used and waited for."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ai_core.clock import TimeIndex
from ai_core.scheduling.run_times import RECENT_RUNS, RunTimes

__all__ = ["NS_PER_US", "RECENT_RUNS", "Overrun", "RunRecord"]

NS_PER_US = 1000
"""Stopwatches count nanoseconds; reports are in microseconds."""

class Overrun(NamedTuple):
    """The task that took a scheduler beyond its budget.

    Attributes:
        name: name of the task.
        task_id: id of the task in its scheduler.
        now: game time of the overrun.
        granted: budget of the task (µs, or steps).
        used: what it used (µs, or steps).
        over: excess over the whole budget (µs, or steps).
    """

    name: str
    task_id: int
    now: TimeIndex
    granted: float
    used: float
    over: float


class RunRecord:
    """Running totals for one task; bounded size, however often it runs."""

    __slots__ = (
        "_before_us",
        "_counted_runs",
        "_measured_runs",
        "faults",
        "lateness_frames",
        "max_lateness_frames",
        "overruns",
        "run_times",
    )

    def __init__(self) -> None:
        self.faults = 0
        self.overruns = 0
        self.lateness_frames = 0
        self.max_lateness_frames = 0
        self.run_times: RunTimes | None = None  # a simulation without a stopwatch never makes one
        self._counted_runs = 0
        self._measured_runs = 0
        self._before_us = NOTHING

    @property
    def runs(self) -> int:
        """All runs; those that were noted with their times count as they are noted."""
        return self._counted_runs + (0 if self.run_times is None else self.run_times.noted)

    @runs.setter
    def runs(self, runs: int) -> None:
        self._counted_runs += runs - self.runs

    def note_run(self, granted_ns: float, used_ns: int) -> None:
        """Note one run, what it was given and what it used; 0 is given where nothing is shared out."""
        if self.run_times is None:
            self.run_times = RunTimes()
        self.run_times.note_run(granted_ns, used_ns)

    def note_rounds(self, runs: int, total_ns: int, longest_ns: int, recent_ns: Sequence[int]) -> None:
        """Note what several runs, counted before, used that were given nothing of their own."""
        if self.run_times is None:
            self.run_times = RunTimes()
        self._measured_runs += runs
        self.run_times.note_rounds(total_ns, longest_ns, recent_ns)

    def note_lateness(self, lateness_frames: int) -> None:
        """Note that one run came so late."""
        self.lateness_frames += lateness_frames
        self.max_lateness_frames = max(self.max_lateness_frames, lateness_frames)

    @property
    def measured_runs(self) -> int:
        """Runs that a stopwatch measured."""
        return self._measured_runs + (0 if self.run_times is None else self.run_times.noted)

    @property
    def used_us(self) -> float:
        """Time used by all runs (µs)."""
        return self.times()["used_us"]

    @property
    def mean_used_us(self) -> float | None:
        """Mean time of a run (µs), None if none was measured."""
        return self.used_us / self.measured_runs if self.measured_runs else None

    def times(self) -> dict[str, float]:
        """Return the totals and maxima (µs), as ``put_times`` takes them."""
        before, times = self._before_us, self.run_times
        (granted_ns, most_ns, _), (used_ns, longest_ns, _) = (
            (NO_TIMES, NO_TIMES) if times is None else (times.granted(), times.used())
        )
        return {
            "granted_us": before["granted_us"] + granted_ns / NS_PER_US,
            "max_granted_us": max(before["max_granted_us"], most_ns / NS_PER_US),
            "used_us": before["used_us"] + used_ns / NS_PER_US,
            "max_used_us": max(before["max_used_us"], longest_ns / NS_PER_US),
        }

    def put_times(
        self, measured_runs: int, *, granted_us: float, max_granted_us: float, used_us: float,
        max_used_us: float,
    ) -> None:
        """Set what ``times`` returned, and of how many runs; percentiles begin anew."""
        self._counted_runs, self._measured_runs, self.run_times = self.runs, measured_runs, None
        self._before_us = {
            "granted_us": granted_us, "max_granted_us": max_granted_us, "used_us": used_us,
            "max_used_us": max_used_us,
        }

    def as_dict(self) -> dict[str, float]:
        """Return totals, means per run and 95th percentiles (0 before the first run).

        Times are of the runs that were measured: 0 where nothing measures them.
        Only schedulers that share out a budget grant any; under the others all
        work draws on the one budget of the frame.
        """
        measured, runs, times = max(1, self.measured_runs), max(1, self.runs), self.times()
        recent = self.run_times
        granted_p95, used_p95 = (
            (0.0, 0.0) if recent is None else (_p95_us(recent.granted()[2]), _p95_us(recent.used()[2]))
        )
        return {
            "runs": self.runs,
            "granted_us_mean": times["granted_us"] / measured,
            "granted_us_p95": granted_p95,
            "granted_us_max": times["max_granted_us"],
            "used_us_mean": times["used_us"] / measured,
            "used_us_p95": used_p95,
            "used_us_max": times["max_used_us"],
            "lateness_frames_mean": self.lateness_frames / runs,
            "lateness_frames_max": self.max_lateness_frames,
            "faults": self.faults,
            "overruns": self.overruns,
        }


def _p95_us(recent_ns: Sequence[int]) -> float:
    """Return what 95 % of recent runs stayed within, 0 if there were none."""
    if not recent_ns:
        return 0.0
    ordered = sorted(recent_ns)
    return ordered[-(-95 * len(ordered) // 100) - 1] / NS_PER_US


NOTHING = {"granted_us": 0.0, "max_granted_us": 0.0, "used_us": 0.0, "max_used_us": 0.0}
NO_TIMES = 0, 0, ()
"""Stand where no run was measured: a simulation without a stopwatch keeps nothing else."""
