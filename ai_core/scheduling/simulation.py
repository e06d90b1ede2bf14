"""A simulation: clock, scheduler and the loop over frames in one object."""
from __future__ import annotations

from typing import Any

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Part, Saveable
from ai_core.saving.fields import LATEST_S
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task, Work

__all__ = ["Simulation"]

MOST_FRAMES_PER_SECOND = 1_000_000
"""Largest rate (frames a second): steps of 1 µs."""

class Simulation(Saveable):
    """Runs work in frames of equal length, as fast as they come.

    A frame advances the scheduler, then the clock: the first frame is at 0 s. A game, whose engine has a loop and
    a clock of its own, uses a Scheduler and a ManualClock instead.

    Args:
        frames_per_second: rate of the frames in game time, above 0.
        steps_per_frame: budget of each frame (steps); None for no limit.
        settings: other arguments of Scheduler, such as ``policy``.

    Attributes:
        clock: time of the simulation; for senses, events and other parts.
        scheduler: runs the work; the parts of a simulation may add theirs.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range.

    >>> simulation = Simulation(frames_per_second=10)
    >>> times = []
    >>> task = simulation.add(lambda turn: times.append(turn.now.seconds), period_frames=2, phase_frames=0)
    >>> simulation.run(seconds=0.5)
    >>> times
    [0.0, 0.2, 0.4]
    """

    STATE = DeclaredState(clock=Part(), scheduler=Part())

    def __init__(
        self, *, frames_per_second: float = 60, steps_per_frame: int | None = None, **settings: Any
    ) -> None:
        rate = finite_number(
            "frames_per_second", frames_per_second, above=0, maximum=MOST_FRAMES_PER_SECOND, remedy="use 60")
        if steps_per_frame is not None:
            whole_number("steps_per_frame", steps_per_frame, minimum=0, remedy="use None for no limit")
        self._steps_per_frame = steps_per_frame
        self._rate = rate
        self.clock = ManualClock(seconds_per_frame=1 / rate)
        self.scheduler = Scheduler(self.clock, **settings)

    def __repr__(self) -> str:
        return f"<Simulation at {self.clock.now.seconds:g} s, {len(self.scheduler.tasks)} tasks>"

    def add(self, work: Work, **settings: Any) -> Task:
        """Run ``work`` every so many frames from now on, and return its handle; arguments as of ``Scheduler.add``."""
        return self.scheduler.add(work, **settings)

    def run(self, *, frames: int | None = None, seconds: float | None = None) -> None:
        """Run frames.

        Args:
            frames: how many, 0 or more.
            seconds: length in game time instead (s), rounded to whole frames.

        Raises:
            TypeError: if neither or both are given, or one is no number.
            ValueError: if a number is out of range.
        """
        if (frames is None) == (seconds is None):
            raise TypeError(f"give frames or seconds, got frames={shown(frames)}, seconds={shown(seconds)}")
        if seconds is not None:
            frames = round(finite_number("seconds", seconds, minimum=0, maximum=LATEST_S) * self._rate)
        count = whole_number("frames", frames, minimum=0)
        steps, advance, tick = self._steps_per_frame, self.scheduler.advance, self.clock.advance
        for _ in range(count):
            advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
            tick()
