"""What is due on each of the next frames, and where one more task adds least to the worst."""
from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

__all__ = ["FrameLoad"]

NARROW_FRAMES = 40
"""Periods below this are turned into one row per residue (frames): NumPy is slow on short rows."""

ONE_AS_BUSY = 1 << 46
"""What one more frame as busy counts, against loads summed up (no unit).

Above any such sum: 5040 frames of 100,000 tasks of the greatest weight, 2 ** 16, all due.
"""


class FrameLoad:
    """Runs, or weights, due on each of a number of frames.

    A task of period ``n`` whose first frame is ``f`` is due on all frames of
    residue ``f`` modulo ``n``; these are judged together. A task rarer than
    ``frames`` counts on one frame, its first one modulo ``frames``.

    Args:
        frames: how many frames are looked at, 1 or more.
    """

    def __init__(self, frames: int) -> None:
        self.frames = frames
        # As long again and never filled: lets every period fill its last row.
        self._cells = np.zeros(2 * frames, np.int64)
        self.cells: NDArray[np.int64] = self._cells[:frames]
        self._counts: dict[tuple[int, int], int] = {}

    def add(self, period_frames: int, first_frame: int, weight: int = 1) -> None:
        """Count a task in. Cost: O(frames / period)."""
        task = (period_frames, first_frame)
        self._counts[task] = self._counts.get(task, 0) + 1
        self._put(period_frames, first_frame, weight)

    def remove(self, period_frames: int, first_frame: int, weight: int = 1) -> None:
        """Count out a task that was counted in.

        Raises:
            ValueError: if no task of this period and first frame is counted in.
        """
        task = (period_frames, first_frame)
        count = self._counts.get(task, 0)
        if not count:
            raise ValueError(
                f"no task of period {period_frames} that is first due on frame {first_frame}"
                " is counted; remove each added task only once"
            )
        if count == 1:
            del self._counts[task]
        else:
            self._counts[task] = count - 1
        self._put(period_frames, first_frame, -weight)

    def best_first_frame(self, period_frames: int, choice: int = 0) -> int:
        """Return the first frame for one more task, 0 to period - 1.

        First frames are compared by the busiest frame the task would join,
        then by how many frames as busy, then by the load of all it would join.
        Of equal ones ``choice`` 0 takes the soonest, 1 the next, and so round.

        Cost: O(frames), 5 to 40 µs at 5040 frames, whatever is counted in.
        """
        if period_frames > self.frames:
            return self._best_for_rare(period_frames)
        return _best_of_residues(self._cells, -(-self.frames // period_frames), period_frames, choice)

    def by_first_frame(self, period_frames: int) -> tuple[list[int], list[int], list[int]]:
        """Return by first frame: the busiest load joined, frames as busy, loads summed up.

        Args:
            period_frames: at most ``frames``.
        """
        cells, axis = self._by_residue(period_frames)
        busiest = cells.max(axis=axis, keepdims=True)
        as_busy = (cells == busiest).sum(axis=axis)
        return busiest.ravel().tolist(), as_busy.tolist(), cells.sum(axis=axis).tolist()

    def _put(self, period_frames: int, first_frame: int, weight: int) -> None:
        if period_frames > self.frames:
            self._cells[first_frame % self.frames] += weight
        else:
            self.cells[first_frame::period_frames] += weight

    def _best_for_rare(self, period_frames: int) -> int:
        """Return a frame of the best residue, away from all that are just as rare."""
        common = gcd(period_frames, self.frames)
        residue = self.best_first_frame(common)
        soonest = residue + common * int(self.cells[residue::common].argmin())
        best, fewest = soonest, self._counts.get((period_frames, soonest), 0)
        for first_frame in range(soonest, period_frames, self.frames):
            if fewest == 0:
                break
            there = self._counts.get((period_frames, first_frame), 0)
            if there < fewest:
                best, fewest = first_frame, there
        return best

    def _by_residue(self, period_frames: int) -> tuple[NDArray[np.int64], int]:
        return _by_residue(self._cells, -(-self.frames // period_frames), period_frames)


def _best_of_residues(cells: NDArray[np.int64], rows: int, period_frames: int, choice: int) -> int:
    """Return the residue modulo ``period_frames`` whose cells are best, as ``best_first_frame`` compares them.

    Args:
        cells: loads, each 0 or more; the first ``rows * period_frames`` count.
        rows: cells of each residue, 1 or more.
        period_frames: 1 or more.
        choice: which of equal ones, 0 or more.
    """
    table, axis = _by_residue(cells, rows, period_frames)
    busiest = table.max(axis=axis)
    least = busiest.min()
    best = (busiest == least).nonzero()[0]
    if len(best) > 1 and rows > 1:
        if 4 * len(best) < len(busiest):
            table = table[best] if axis else table[:, best]
        score = (table + (table == least) * ONE_AS_BUSY).sum(axis=axis)
        if len(score) > len(best):
            score = score[best]
        best = best[score == score.min()]
    return int(best[choice % len(best)])


def _by_residue(cells: NDArray[np.int64], rows: int, period_frames: int) -> tuple[NDArray[np.int64], int]:
    """Return loads by residue, and the axis along which frames of one residue lie."""
    table = cells[: rows * period_frames].reshape(rows, period_frames)
    if period_frames < NARROW_FRAMES:
        return np.ascontiguousarray(table.T), 1
    return table, 0
