"""Choose phases so that periodic tasks do not pile up on the same frame.

One sign convention, in the dry run and in the real one: a task with period
``n`` and phase ``p`` is due on frame ``f`` when ``(f + p) % n == 0``.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOOK_AHEAD_FRAMES", "DryRun", "Slot", "runs_per_frame"]

LOOK_AHEAD_FRAMES = 5040
"""Length of the dry run, in frames.

5040 = lcm(1, ..., 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, ...) has 60
divisors: among tasks whose periods are such, every meeting that can ever
happen happens within it, so the phase found is exactly the best. A longer run
makes adding a task slower; a shorter one misses meetings.
"""


class Slot(NamedTuple):
    """When one task runs: every ``period_frames``, offset by ``phase_frames``."""

    period_frames: int
    phase_frames: int


class DryRun:
    """How many tasks would run on each of the next ``LOOK_AHEAD_FRAMES`` frames.

    Kept up to date task by task, so that choosing a phase costs the same
    beside ten tasks as beside ten thousand.

    Source: 000_execution_management, Wright and Marshall's method. Theirs
    looks at single frames; here a phase is judged by all the frames it joins.
    """

    def __init__(self) -> None:
        self._load = np.zeros(LOOK_AHEAD_FRAMES, np.int32)

    @property
    def load(self) -> NDArray[np.int32]:
        """Runs on each frame, shape (LOOK_AHEAD_FRAMES,), a copy."""
        return self._load.copy()

    def add(self, slot: Slot) -> None:
        """Count a task in. Cost: O(LOOK_AHEAD_FRAMES / period)."""
        self._load[_first_due(slot) :: slot.period_frames] += 1

    def remove(self, slot: Slot) -> None:
        """Count out a task that was counted in."""
        self._load[_first_due(slot) :: slot.period_frames] -= 1

    def best_phase(self, period_frames: int) -> int:
        """Return the phase at which a further task meets the fewest others.

        Phases are compared by the busiest frame they would join, then by how
        many frames as busy they would join, then by the runs on all frames
        they would join; of equal ones the smallest is taken.

        Cost: O(LOOK_AHEAD_FRAMES), whatever the number of tasks.

        >>> dry_run = DryRun()
        >>> dry_run.add(Slot(2, 0))
        >>> dry_run.best_phase(2)
        1
        """
        width = min(period_frames, LOOK_AHEAD_FRAMES)
        rows = LOOK_AHEAD_FRAMES // width
        # One row per phase, side by side in memory: several times faster to sum up.
        joined = np.ascontiguousarray(self._load[: rows * width].reshape(rows, width).T)
        busiest = joined.max(axis=1)
        as_busy = np.count_nonzero(joined == busiest[:, None], axis=1)
        phases = -np.arange(width) % period_frames
        return int(phases[np.lexsort((phases, joined.sum(axis=1), as_busy, busiest))[0]])


def runs_per_frame(slots: Iterable[Slot], frames: int) -> list[int]:
    """Return how many tasks are due on each of the first ``frames`` frames.

    >>> runs_per_frame([Slot(2, 0), Slot(3, 1)], 6)
    [1, 0, 2, 0, 1, 1]
    """
    load = [0] * frames
    for slot in slots:
        for frame in range(_first_due(slot), frames, slot.period_frames):
            load[frame] += 1
    return load


def _first_due(slot: Slot) -> int:
    return -slot.phase_frames % slot.period_frames
