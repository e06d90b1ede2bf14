"""Lines of fire over a grid: cells as high as what stands on them."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, positions, shown
from ai_core.maps.cover.cover_spots import UPWARD

__all__ = ["CellSight"]

SEGMENTS_AT_ONCE = 1024
"""Segments looked at in one go (count): each takes some 100 bytes for each cell that the longest crosses."""

NEARLY = 1e-6
"""Share of a cell by which a line may touch a corner without entering the cell behind it."""


class CellSight:
    """Whether cells stand between two places; hand it in wherever ``blocked`` is asked for.

    A line is blocked by a cell if it passes through it below the cell's height. The cells in
    which it begins and ends count, too. Cells are square, or sheared as isometric ones are.

    Args:
        heights_m: (height, width), how high a cell stops lines (m): 0 where it does not, ``inf``
            for a wall; or bool, True for a wall.
        origin: (3,) the middle of the first cell, on the ground (m).
        steps: (2, 3) from one column to the next, and from one row to the next (m).
        up: axis of heights.

    Raises:
        TypeError, ValueError: if something is of another shape, negative or NaN.
    """

    def __init__(
        self, heights_m: ArrayLike, *, origin: ArrayLike = (0, 0, 0), steps: ArrayLike = ((1, 0, 0), (0, 0, 1)),
        up: str = "y",
    ) -> None:
        heights = as_array("heights_m", heights_m)
        if heights.dtype == np.bool_:
            heights = np.where(heights, np.inf, 0.0)
        if heights.ndim != 2 or not heights.size or heights.dtype.kind not in "iuf" or not (heights >= 0).all():
            raise ValueError(f"heights_m must be (height, width) numbers of 0 or more, or bool, got {shown(heights_m)}")
        if up not in UPWARD:
            raise ValueError(f"up must be one of {', '.join(UPWARD)}, got {shown(up)}")
        self.heights_m = np.array(heights, np.float32)
        self._origin = positions("origin", as_array("origin", origin)[None], dimensions=(3,))[0].astype(np.float64)
        ways = positions("steps", steps, dimensions=(3,)).astype(np.float64)
        if len(ways) != 2 or np.linalg.matrix_rank(ways) < 2:
            raise ValueError(f"steps must be two ways that are not along each other, got {shown(steps)}")
        self._cells = np.linalg.pinv(ways)
        self._upward = np.array(UPWARD[up])

    def __call__(self, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return for segments (n, 6) whether something stands in the way.

        Cost: O(n · cells of the longest), in NumPy.
        """
        blocked = np.zeros(len(segments), np.bool_)
        for first in range(0, len(segments), SEGMENTS_AT_ONCE):
            rows = slice(first, first + SEGMENTS_AT_ONCE)
            blocked[rows] = self._blocked(segments[rows])
        return blocked

    def _blocked(self, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
        starts = np.asarray(segments[:, :3], np.float64) - self._origin
        ends = np.asarray(segments[:, 3:], np.float64) - self._origin
        flat, flat_end = starts @ self._cells + 0.5, ends @ self._cells + 0.5
        low, rises = (starts @ self._upward)[:, None], (ends @ self._upward - starts @ self._upward)[:, None]
        way = flat_end - flat
        crossings = self._crossings(flat, way)
        firsts, lasts = crossings[:, :-1], crossings[:, 1:]
        middles = (firsts + lasts) / 2
        height, width = self.heights_m.shape
        columns = np.floor(flat[:, :1] + way[:, :1] * middles).astype(np.int64)
        rows = np.floor(flat[:, 1:] + way[:, 1:] * middles).astype(np.int64)
        is_on = (lasts - firsts > NEARLY) & (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        lowest = low + np.minimum(firsts * rises, lasts * rises)
        there = self.heights_m.reshape(-1)[np.where(is_on, rows * width + columns, 0)]
        blocked: NDArray[np.bool_] = (is_on & (lowest < there)).any(axis=1)
        return blocked

    @staticmethod
    def _crossings(flat: NDArray[np.float64], way: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where each line crosses from cell to cell, 0 to 1, ascending; 1 beyond its last."""
        lowest, highest = np.minimum(flat, flat + way), np.maximum(flat, flat + way)
        most = int((np.floor(highest) - np.floor(lowest)).max(initial=0)) + 1
        lines = np.floor(lowest)[:, :, None] + 1 + np.arange(most)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (lines - flat[:, :, None]) / way[:, :, None]
        shares = np.where((lines < highest[:, :, None]) & np.isfinite(shares), np.clip(shares, 0, 1), 1.0)
        ends = np.broadcast_to((0.0, 1.0), (len(flat), 2))
        return np.sort(np.concatenate((ends, shares.reshape(len(flat), -1)), axis=1), axis=1)
