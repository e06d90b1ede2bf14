"""Quality of service: the share of each frame for AI, and how well AI kept to it.

A game with a target of 60 Hz has 16,667 µs a frame, of which AI gets a share. These two
define the budget; the rolling view shows the measured frames, and the work that exceeded
the budget.

Rejected: saving it. It describes this run on this machine, and no decision of AI
depends on it.
"""
from __future__ import annotations

from array import array
from collections.abc import Sequence

from ai_core.budget import Budget, Stopwatch, check_budget
from ai_core.errors import finite_number, whole_number
from ai_core.scheduling.statistics import Overrun

__all__ = ["TARGETS_HZ", "UNNAMED", "QualityOfService"]

TARGETS_HZ = (30, 60, 90)
"""Usual target frame rates of games (frames a second): consoles, screens, headsets."""

MAX_TARGET_HZ = 1000
"""Beyond it a frame has less than 1 ms, of which no share is worth sharing out."""

WINDOW_FRAMES = 600
"""Frames of the rolling view: ten seconds at 60 Hz.

With fewer, a spike is gone before it can be noticed; with more, a bad stretch
that is over still affects the p95.
"""

UNNAMED = "(nobody)"
"""Name of frames over the budget for which no work was reported.

No single piece used more than it was granted: the granularity of a stopwatch, the
scheduler's own time, or work of a scheduler that does not report overruns here.
"""


class QualityOfService:
    """Provides the budget of each frame, and counts frames within the budget and overruns by name.

    Pass ``on_overrun`` to the outermost scheduler. Each frame: take the budget of ``begin``,
    advance the scheduler with it, then call ``end`` with the same budget.

    Args:
        target_hz: target frame rate of the game (frames a second), above 0, to 1000.
        ai_share: share of a frame that AI may take, above 0, to 1.
        window_frames: frames of the rolling view, 1 to 1,000,000.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Source: 000_execution_management, time budgets at 60 Hz.
    """

    def __init__(
        self, *, target_hz: float, ai_share: float, window_frames: int = WINDOW_FRAMES
    ) -> None:
        size = whole_number("window_frames", window_frames, minimum=1, maximum=1_000_000)
        # Of the frames of the rolling view, round and round: tuples of 600 frames would lie all over memory.
        self._used_us, self._over_us = (array("d", bytes(8 * size)) for _ in range(2))
        self._named: dict[int, tuple[Overrun, ...]] = {}  # by the place of a frame there, who took it too far
        self._overruns: list[Overrun] = []
        self._frames = 0
        self._frames_over = 0
        self._target_hz, self._ai_share = 0.0, 0.0
        self.aim(target_hz=target_hz, ai_share=ai_share)

    def aim(self, *, target_hz: float | None = None, ai_share: float | None = None) -> None:
        """Change the settings that are given, from the next frame on; keeps the counts.

        Raises:
            TypeError: if a number is of another type.
            ValueError: if a number is out of range; then nothing is changed.
        """
        hz = self._target_hz if target_hz is None else finite_number(
            "target_hz", target_hz, above=0, maximum=MAX_TARGET_HZ
        )
        share = self._ai_share if ai_share is None else finite_number(
            "ai_share", ai_share, above=0, maximum=1, remedy="use 0.15 for 15 % of a frame"
        )
        self._target_hz, self._ai_share = hz, share

    @property
    def target_hz(self) -> float:
        """Target frame rate of the game (frames a second)."""
        return self._target_hz

    @property
    def ai_share(self) -> float:
        """Share of a frame that AI may take."""
        return self._ai_share

    @property
    def frame_us(self) -> float:
        """Duration of a frame at the target rate (µs)."""
        return 1_000_000 / self._target_hz

    @property
    def budget_us(self) -> float:
        """Budget of AI per frame (µs)."""
        return self.frame_us * self._ai_share

    def begin(self, stopwatch: Stopwatch) -> Budget:
        """Return the budget of a frame, which starts now."""
        self._overruns.clear()
        return Budget.of_time(self.budget_us, stopwatch)

    def on_overrun(self, overrun: Overrun) -> None:
        """Record the work that exceeded the budget; called by a scheduler."""
        self._overruns.append(overrun)

    def end(self, budget: Budget) -> None:
        """Record a frame; call it when the outermost scheduler is done.

        Args:
            budget: the budget of ``begin``, or another budget of time.

        Raises:
            TypeError: if it is not a Budget.
            ValueError: if it does not measure time.

        Cost: O(1).
        """
        check_budget(budget)
        if budget.stopwatch is None:
            raise ValueError("budget must measure time, got a budget of steps; use Budget.of_time")
        self.note(budget.used, budget.over)

    def note(self, used_us: float, over_us: float) -> None:
        """Record a frame whose budget is kept elsewhere; like ``end``, which measures it.

        Args:
            used_us: time that the frame used (µs), 0 or more.
            over_us: overrun (µs), 0 if there was none.

        Raises:
            TypeError, ValueError: if an argument is not a number, or out of range.
        """
        used_us, over_us = finite_number("used_us", used_us, minimum=0), finite_number("over_us", over_us, minimum=0)
        place = self._frames % len(self._used_us)
        self._used_us[place], self._over_us[place] = used_us, over_us
        if self._named:
            self._named.pop(place, None)
        if self._overruns:
            self._named[place] = tuple(self._overruns)
            self._overruns.clear()
        self._frames += 1
        if over_us > 0:
            self._frames_over += 1

    def offenders(self) -> list[dict[str, object]]:
        """Return a row for each name that exceeded the budget of a frame, the worst first.

        Of the rolling view only. ``over_us`` is the overrun of the frames, each
        counted once, for the first name in it.

        Cost: O(window_frames).
        """
        rows: dict[str, dict[str, float]] = {}
        for place in self._kept():
            over_us, overruns = self._over_us[place], self._named.get(place)
            if over_us > 0:
                name = overruns[0].name if overruns else UNNAMED
                row = rows.setdefault(
                    name, {"frames_over": 0, "over_us_sum": 0.0, "over_us_max": 0.0, "used_us_max": 0.0}
                )
                row["frames_over"] += 1
                row["over_us_sum"] += over_us
                row["over_us_max"] = max(row["over_us_max"], over_us)
                used_us = overruns[0].used if overruns else 0.0
                row["used_us_max"] = max(row["used_us_max"], used_us)
        worst_first = sorted(rows, key=lambda name: (-rows[name]["over_us_sum"], name))
        return [{"name": name, **rows[name]} for name in worst_first]

    def report(self) -> dict[str, object]:
        """Return target and budget, totals of all frames, and the rolling view.

        Names that begin with ``recent_`` belong to the rolling view; its times
        are 0 before the first frame.

        Cost: O(window_frames log window_frames).
        """
        used = sorted(self._used_us[place] for place in self._kept())
        over = sorted(self._over_us[place] for place in self._kept())
        return {
            "target_hz": self._target_hz,
            "ai_share": self._ai_share,
            "frame_us": self.frame_us,
            "budget_us": self.budget_us,
            "frames": self._frames,
            "frames_kept": self._frames - self._frames_over,
            "frames_over": self._frames_over,
            "recent_frames": len(used),
            "recent_frames_over": sum(one > 0 for one in over),
            "recent_used_us_p50": _percentile(used, 50),
            "recent_used_us_p95": _percentile(used, 95),
            "recent_used_us_max": _percentile(used, 100),
            "recent_over_us_p95": _percentile(over, 95),
            "recent_over_us_max": _percentile(over, 100),
            "offenders": self.offenders(),
        }

    def clear(self) -> None:
        """Clear all frames; target and share are kept."""
        self._named.clear()
        self._frames = self._frames_over = 0

    def _kept(self) -> list[int]:
        """Return the places of the frames in the rolling view, the oldest first."""
        size = len(self._used_us)
        return [frame % size for frame in range(max(0, self._frames - size), self._frames)]


def _percentile(ascending: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many percent of all do not exceed; 0 of none."""
    return ascending[-(-percent * len(ascending) // 100) - 1] if ascending else 0.0
