"""The last frames of a scheduler, for people: who ran in each, for how long, and who took it beyond the budget."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import whole_number

__all__ = ["FrameTimeline", "TimedFrame", "TimedRun"]

MOST_RUNS = 100
"""Runs kept one by one of a frame; later ones are only counted, or a crowd would fill the memory of whoever looks."""


class TimedRun(NamedTuple):
    """One run of one piece of work."""

    name: str
    depth: int
    """0 for work of the scheduler itself, 1 for work that ran inside that, ..."""
    begins_us: float
    """After the first run of the frame began, if nothing but runs took time (µs)."""
    used_us: float


@dataclass
class TimedFrame:
    """One frame in which something ran.

    Attributes:
        frame: its number.
        budget_us: what it could use (µs), 0 if it was unlimited.
        used_us: what its runs used together (µs).
        runs: as they ended, at most ``most_runs``.
        left_out: runs that were not kept.
        overran: name of the run that took it beyond the budget, empty if none did.
    """

    frame: int
    budget_us: float
    used_us: float = 0.0
    runs: list[TimedRun] = field(default_factory=list)
    left_out: int = 0
    overran: str = ""


class FrameTimeline:
    """Keeps the last frames of a scheduler: give it to ``trace.listen`` while somebody looks.

    Args:
        budget_us: asked as a frame begins: what it may use (µs), 0 without a limit.
        frames: how many are kept, 1 or more.
        most_runs: of a frame kept one by one, 1 or more.

    Cost: O(1) a run.
    """

    def __init__(
        self, budget_us: Callable[[], float], *, frames: int = 120, most_runs: int = MOST_RUNS,
    ) -> None:
        self._budget_us = budget_us
        self._most_runs = whole_number("most_runs", most_runs, minimum=1, remedy="1 keeps the first of each frame")
        self._frames: deque[TimedFrame] = deque(
            maxlen=whole_number("frames", frames, minimum=1, remedy="1 keeps the latest"))
        self._begins: list[float] = [0.0]      # of who runs now, the outermost first; last, of who runs next

    def since(self, frame: int) -> list[TimedFrame]:
        """Return the frames kept whose number is above ``frame``, the oldest first; all if none is that late.

        When an earlier save is loaded, frames begin anew, at lower numbers than were told already.
        """
        if self._frames and self._frames[-1].frame < frame:
            return list(self._frames)
        return [one for one in self._frames if one.frame > frame]

    def before_task(self, name: str, now: TimeIndex) -> None:
        """Told by the trace."""
        if self._frames and now.frame < self._frames[-1].frame:
            self._frames.clear()               # an earlier save was loaded
        if not self._frames or self._frames[-1].frame != now.frame:
            self._frames.append(TimedFrame(now.frame, self._budget_us()))
            self._begins = [0.0]
        self._begins.append(self._begins[-1])

    def after_task(self, name: str, now: TimeIndex, used_us: float) -> None:
        """Told by the trace."""
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
