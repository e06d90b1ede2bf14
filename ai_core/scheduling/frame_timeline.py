"""The last frames of a scheduler, for display: the runs of each, their times, and the run that overran the budget."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import whole_number

__all__ = ["FrameTimeline", "TimedFrame", "TimedRun"]

MOST_RUNS = 100
"""Runs of a frame that are kept separately; later ones are only counted, to limit memory."""


class TimedRun(NamedTuple):
    """One run of one piece of work."""

    name: str
    depth: int
    """0 for work of the scheduler itself, 1 for work that ran inside that, ..."""
    begins_us: float
    """Start, from the start of the first run of the frame, if only runs take time (µs)."""
    used_us: float


@dataclass
class TimedFrame:
    """One frame in which work ran.

    Attributes:
        frame: its number.
        budget_us: its budget (µs), 0 if it was unlimited.
        used_us: time of all its runs together (µs).
        runs: in the order in which they ended, at most ``most_runs``.
        left_out: runs that were not kept.
        overran: name of the run that exceeded the budget, empty if none did.
    """

    frame: int
    budget_us: float
    used_us: float = 0.0
    runs: list[TimedRun] = field(default_factory=list)
    left_out: int = 0
    overran: str = ""


class FrameTimeline:
    """Keeps the last frames of a scheduler: pass it to ``trace.listen`` while a view is open.

    Args:
        budget_us: called when a frame begins: returns its budget (µs), 0 without a limit.
        frames: how many are kept, 1 or more.
        most_runs: runs kept separately per frame, 1 or more.

    Cost: O(1) a run.
    """

    def __init__(
        self, budget_us: Callable[[], float], *, frames: int = 120, most_runs: int = MOST_RUNS,
    ) -> None:
        self._budget_us = budget_us
        self._most_runs = whole_number("most_runs", most_runs, minimum=1, remedy="use 1 to keep the first run")
        self._frames: deque[TimedFrame] = deque(
            maxlen=whole_number("frames", frames, minimum=1, remedy="use 1 to keep the latest frame"))
        self._begins: list[float] = [0.0]      # of who runs now, the outermost first; last, of who runs next

    def since(self, frame: int) -> list[TimedFrame]:
        """Return the kept frames whose number is above ``frame``, the oldest first; all if none is that late.

        After an earlier save is loaded, frame numbers restart lower than those already returned.
        """
        if self._frames and self._frames[-1].frame < frame:
            return list(self._frames)
        return [one for one in self._frames if one.frame > frame]

    def before_task(self, name: str, now: TimeIndex) -> None:
        """Called by the trace."""
        if self._frames and now.frame < self._frames[-1].frame:
            self._frames.clear()               # an earlier save was loaded
        if not self._frames or self._frames[-1].frame != now.frame:
            self._frames.append(TimedFrame(now.frame, self._budget_us()))
            self._begins = [0.0]
        self._begins.append(self._begins[-1])

    def after_task(self, name: str, now: TimeIndex, used_us: float) -> None:
        """Called by the trace."""
        if len(self._begins) < 2:
            return                             # it had begun before anybody looked
        self._begins.pop()
        begins_us, depth = self._begins[-1], len(self._begins) - 1
        self._begins[-1] = ends_us = begins_us + used_us
        frame = self._frames[-1]
        if len(frame.runs) < self._most_runs:
            frame.runs.append(TimedRun(name, depth, begins_us, used_us))
        else:
            frame.left_out += 1
        if depth == 0:
            frame.used_us = ends_us
            if 0 < frame.budget_us < ends_us and not frame.overran:
                frame.overran = name
