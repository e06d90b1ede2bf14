"""Clocks: the only source of time, as a frame number and seconds of game time."""
from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple, Protocol

from ai_core.errors import MOST, finite_number, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.saving.kinds import Moment

__all__ = ["Clock", "ManualClock", "TimeIndex", "checked_clock", "moment_s"]


class TimeIndex(NamedTuple):
    """A point in time: ``frame`` counts up from 0, ``seconds`` is game time (s)."""

    frame: int
    seconds: float


moment_of = tuple.__new__
"""Builds a TimeIndex in half the time of a constructor call; every frame needs one."""


class Clock(Protocol):
    """Interface of a clock. Nothing in ai_core reads the wall clock."""

    @property
    def now(self) -> TimeIndex:
        """The current time; constant during a frame."""
        ...


class ManualClock(Saveable):
    """A clock that the caller advances: an engine's frame, a test, a replay or a tool.

    Args:
        seconds_per_frame: game time that each frame adds by default (s); above 0.

    Attributes:
        now: the current time, read-only; ``advance`` changes it. It is a plain
            attribute because nearly every call reads it, and a property takes
            five times as long.
    """

    SHOWN = ("now", "seconds_per_frame")

    STATE = DeclaredState(now=Moment(TimeIndex), steady_since=Moment(TimeIndex, at="_steady_since"))

    def __init__(self, seconds_per_frame: float = 1 / 60) -> None:
        self._step_s = finite_number("seconds_per_frame", seconds_per_frame, above=0)
        self.now = TimeIndex(0, 0.0)
        self._steady_since = self.now

    @property
    def seconds_per_frame(self) -> float:
        """Game time that a frame adds when ``advance`` gets no ``seconds`` (s)."""
        return self._step_s

    def advance(self, frames: int = 1, *, seconds: float | None = None) -> TimeIndex:
        """Advance the clock and return the new time.

        Args:
            frames: number of frames, 0 or more.
            seconds: game time that passes in all these frames together (s), 0 or
                more; None for ``frames * seconds_per_frame``.

        Raises:
            ValueError: if an argument is negative, or the new time would be later
                than a save holds; the clock is unchanged then.
        """
        if type(frames) is not int or not 0 <= frames <= MOST:
            frames = whole_number("frames", frames, minimum=0, remedy="time does not go back")
        frame, now_s = self.now
        frame += frames
        if seconds is None:
            # Multiplied, not added up: a million steady frames drift by nothing.
            since = self._steady_since
            now_s = since.seconds + (frame - since.frame) * self._step_s
        else:
            if type(seconds) is not float or not 0 <= seconds <= LATEST_S:
                seconds = finite_number(
                    "seconds", seconds, minimum=0, maximum=LATEST_S, remedy="time does not go back")
            now_s += seconds
        if frame > MOST or now_s > LATEST_S:
            raise ValueError(f"the clock must not exceed {MOST} frames or {LATEST_S:g} s, got {frame} and {now_s:g}")
        self.now = now = moment_of(TimeIndex, (frame, now_s))
        if seconds is not None:
            self._steady_since = now
        return now

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.steady_since.frame > values.now.frame or values.steady_since.seconds > values.now.seconds:
            refuse("steady_since", f"must not be after now, got {tuple(values.steady_since)}")


def checked_clock(clock: Clock) -> Clock:
    """Return the clock; raise TypeError if it has no ``now``."""
    if not isinstance(getattr(clock, "now", None), TimeIndex):
        raise TypeError(f"clock must have a 'now', got {shown(clock)}; use ManualClock()")
    return clock


def moment_s(name: str, seconds: object) -> float:
    """Return ``seconds`` as a game time that a save can hold (s)."""
    if type(seconds) is float and -LATEST_S <= seconds <= LATEST_S:     # as nearly always
        return seconds
    return finite_number(name, seconds, minimum=-LATEST_S, maximum=LATEST_S)
