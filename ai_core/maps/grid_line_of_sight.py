"""Line of sight and fire over a grid of cells with heights."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import as_array, positions, shown
from ai_core.maps.cover.cover_spots import UPWARD

__all__ = ["GridLineOfSight"]

SEGMENTS_AT_ONCE = 1024
"""Segments per batch (count): each takes about 100 bytes for each cell that the longest segment crosses."""

NEARLY = 1e-6
"""Share of a cell (no unit) that a line may overlap at a corner without entering the cell."""


class GridLineOfSight(Described):
    """Tests whether cells block the line between two positions; pass it as any ``blocked`` argument.

    A cell blocks a line that passes through it below the height of the cell. The cells of both
    ends count too. Cells are square, or sheared as on isometric maps.

    Args:
        heights_m: (height, width), height up to which a cell blocks lines (m): 0 for open ground,
            ``inf`` for a wall; or bool, True for a wall.
        origin: (3,) center of cell 0 on the ground (m).
        steps: (2, 3) offsets to the next column and to the next row (m).
        up: axis of heights: "y", "z" or "-z".

    Raises:
        TypeError, ValueError: if an argument has the wrong shape, is negative or NaN.
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
        axes = positions("steps", steps, dimensions=(3,)).astype(np.float64)
        if len(axes) != 2 or np.linalg.matrix_rank(axes) < 2:
            raise ValueError(f"steps must be two vectors that are not parallel, got {shown(steps)}")
        self._cells = np.linalg.pinv(axes)
        self._upward = np.array(UPWARD[up])

    def __call__(self, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return (n,) bool for segments (n, 6): True where a cell blocks the line.

        Cost: O(n · cells of the longest segment), in NumPy.
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
        offset = flat_end - flat
        crossings = self._crossings(flat, offset)
        firsts, lasts = crossings[:, :-1], crossings[:, 1:]
        middles = (firsts + lasts) / 2
        height, width = self.heights_m.shape
        columns = np.floor(flat[:, :1] + offset[:, :1] * middles).astype(np.int64)
        rows = np.floor(flat[:, 1:] + offset[:, 1:] * middles).astype(np.int64)
        is_on = (lasts - firsts > NEARLY) & (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        lowest = low + np.minimum(firsts * rises, lasts * rises)
        there = self.heights_m.reshape(-1)[np.where(is_on, rows * width + columns, 0)]
        blocked: NDArray[np.bool_] = (is_on & (lowest < there)).any(axis=1)
        return blocked

    @staticmethod
    def _crossings(flat: NDArray[np.float64], offset: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of each line at which it enters a new cell, 0 to 1, ascending; padded with 1."""
        lowest, highest = np.minimum(flat, flat + offset), np.maximum(flat, flat + offset)
        most = int((np.floor(highest) - np.floor(lowest)).max(initial=0)) + 1
        lines = np.floor(lowest)[:, :, None] + 1 + np.arange(most)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (lines - flat[:, :, None]) / offset[:, :, None]
        shares = np.where((lines < highest[:, :, None]) & np.isfinite(shares), np.clip(shares, 0, 1), 1.0)
        ends = np.broadcast_to((0.0, 1.0), (len(flat), 2))
        return np.sort(np.concatenate((ends, shares.reshape(len(flat), -1)), axis=1), axis=1)
