"""Choose phases so that periodic tasks do not pile up on the same frame.

One sign convention, everywhere: a task with period ``n`` and phase ``p`` is due
on frame ``f`` when ``(f + p) % n == 0``. Two tasks meet on some frame if, and
only if, their phases agree modulo the greatest common divisor of their periods.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown, whole_number
from ai_core.scheduling.frame_load import FrameLoad
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, checked_period, checked_phase

__all__ = [
    "LOOK_AHEAD_FRAMES",
    "DryRun",
    "PhaseTable",
    "Slot",
    "checked_slot",
    "common_multiple",
    "first_frame",
]

LOOK_AHEAD_FRAMES = 5040
"""How far ahead phases are judged, in frames.

5040 = lcm(1, ..., 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, ...) has 60
divisors: among tasks whose periods are such, every meeting that can ever
happen happens within it. A longer one makes adding a task slower; a shorter
one misses meetings.
"""


class Slot(NamedTuple):
    """When one task runs: every ``period_frames``, offset by ``phase_frames``."""

    period_frames: int
    phase_frames: int


class PhaseTable:
    """Where a further task meets the fewest others, judged by all frames it would join.

    A task joins the frames of one residue modulo its period. No phase has a
    lower busiest frame than the one found, over all time, if the common
    multiple of all periods is at most ``LOOK_AHEAD_FRAMES``; over the look-ahead
    otherwise. Tasks rarer than the look-ahead share no frame with others of the
    same period as long as there are frames enough.

    What it answers depends on what is in it, not on the order it came in.
    """

    def __init__(self) -> None:
        self._load = FrameLoad(LOOK_AHEAD_FRAMES)

    def add(self, slot: Slot) -> None:
        """Count a task in.

        Raises:
            TypeError: if ``slot`` is not a period and a phase.
            ValueError: if a number is out of range.

        Cost: O(LOOK_AHEAD_FRAMES / period).
        """
        slot = checked_slot(slot)
        self._load.add(slot.period_frames, first_frame(slot))

    def remove(self, slot: Slot) -> None:
        """Count out a task that was counted in.

        Raises:
            ValueError: if no task that is due on the same frames is counted in.
        """
        slot = checked_slot(slot)
        self._load.remove(slot.period_frames, first_frame(slot))

    def best_phase(self, period_frames: int) -> int:
        """Return the phase at which a further task meets the fewest others.

        Phases are compared by the busiest frame they would join, then by how
        many frames as busy they would join, then by the runs on all frames
        they would join; of equal ones the one due first is taken.

        Cost: O(LOOK_AHEAD_FRAMES), whatever the number of tasks.

        >>> table = PhaseTable()
        >>> table.add(Slot(2, 0))
        >>> table.best_phase(2)
        1
        """
        period = checked_period(period_frames)
        return -self._load.best_first_frame(period) % period if period > 1 else 0


class DryRun:
    """The textbook's way: run ahead without working, and take the frame with the fewest runs.

    It looks at one frame of those a task would join, so that its peaks are
    higher than a ``PhaseTable``'s; in return a short look-ahead is cheap.

    Args:
        look_ahead_frames: how many frames are run, 1 to MAX_PERIOD_FRAMES. The
            default sees every meeting of the usual periods.

    Source: 000_execution_management, Wright and Marshall's method.
    """

    def __init__(self, look_ahead_frames: int = LOOK_AHEAD_FRAMES) -> None:
        remedy = f"use {LOOK_AHEAD_FRAMES} if in doubt"
        frames = whole_number(
            "look_ahead_frames", look_ahead_frames,
            minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy,
        )
        self._load = np.zeros(frames, np.int32)
        self._counts: Counter[tuple[int, int]] = Counter()

    @property
    def load(self) -> NDArray[np.int32]:
        """Runs on each frame of the look-ahead, a copy."""
        return self._load.copy()

    def add(self, slot: Slot) -> None:
        """Count a task in. Cost: O(look_ahead_frames / period)."""
        slot = checked_slot(slot)
        first = first_frame(slot)
        self._counts[slot.period_frames, first] += 1
        self._load[first :: slot.period_frames] += 1

    def remove(self, slot: Slot) -> None:
        """Count out a task that was counted in.

        Raises:
            ValueError: if no task that is due on the same frames is counted in.
        """
        slot = checked_slot(slot)
        first = first_frame(slot)
        left = self._counts.pop((slot.period_frames, first), 0) - 1
        if left < 0:
            raise ValueError(f"{shown(slot)} is not counted in; remove what was added, once")
        if left:
            self._counts[slot.period_frames, first] = left
        self._load[first :: slot.period_frames] -= 1

    def best_phase(self, period_frames: int) -> int:
        """Return the phase that is due on the first frame with the fewest runs.

        Cost: O(look_ahead_frames), whatever the number of tasks.

        >>> dry_run = DryRun(look_ahead_frames=10)
        >>> dry_run.add(Slot(2, 0))
        >>> dry_run.best_phase(2)
        1
        """
        return -int(self._load.argmin()) % checked_period(period_frames)


def common_multiple(periods: Iterable[int], most: int) -> int | None:
    """Return the least common multiple of periods (frames); None if it is above ``most``."""
    common = 1
    for period in periods:
        common = lcm(common, period)
        if common > most:
            return None
    return common


def first_frame(slot: Slot) -> int:
    """Return the first frame, from 0, on which a task is due."""
    return -slot.phase_frames % slot.period_frames


def checked_slot(value: object) -> Slot:
    """Return ``value`` as a Slot, if it is a period and a phase in range."""
    if type(value) is Slot:
        period, phase = value
        if type(period) is type(phase) is int and 0 < period <= MAX_PERIOD_FRAMES and 0 <= phase <= MAX_PERIOD_FRAMES:
            return value
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"a slot must be a period and a phase, got {shown(value)}; use Slot(10, 0)")
    return Slot(checked_period(value[0]), checked_phase(value[1]))
