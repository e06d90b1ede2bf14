"""What each piece of work got, used and waited for."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.clock import TimeIndex

__all__ = ["Overrun", "RunRecord"]


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


class RunRecord:
    """Running totals for one task; constant size, however often it runs."""

    __slots__ = (
        "faults",
        "granted_us",
        "lateness_frames",
        "max_lateness_frames",
        "max_used_us",
        "overruns",
        "runs",
        "used_us",
    )

    def __init__(self) -> None:
        self.runs = 0
        self.faults = 0
        self.overruns = 0
        self.granted_us = 0.0
        self.used_us = 0.0
        self.max_used_us = 0.0
        self.lateness_frames = 0
        self.max_lateness_frames = 0

    def add_run(self, granted_us: float, used_us: float, lateness_frames: int) -> None:
        """Count one run that was given, used and waited this much."""
        self.runs += 1
        self.granted_us += granted_us
        self.used_us += used_us
        self.lateness_frames += lateness_frames
        if used_us > self.max_used_us:
            self.max_used_us = used_us
        if lateness_frames > self.max_lateness_frames:
            self.max_lateness_frames = lateness_frames

    def as_dict(self) -> dict[str, float]:
        """Return the totals, and means per run (0 before the first run).

        The µs are 0 where nothing measures time; a budget of steps grants none.
        """
        runs = max(1, self.runs)
        return {
            "runs": self.runs,
            "granted_us_mean": self.granted_us / runs,
            "used_us_mean": self.used_us / runs,
            "used_us_max": self.max_used_us,
            "lateness_frames_mean": self.lateness_frames / runs,
            "lateness_frames_max": self.max_lateness_frames,
            "faults": self.faults,
            "overruns": self.overruns,
        }
