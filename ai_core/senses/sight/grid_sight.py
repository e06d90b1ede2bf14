"""Lines of sight on a grid, where A sees B exactly when B sees A.

A line runs from the middle of one cell to the middle of another, and at every step along
its longer side it passes through the cell nearest to it. Where it runs exactly between
two cells, it is free if either is: so the answer is the same in both directions, and when
the level is rotated by quarter turns or mirrored. The cells at the ends of a line do not
count: walls themselves are seen.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import as_array, shown, whole_number

__all__ = ["GridSight"]

FARTHEST_CELLS = 256
"""Largest radius of a field of view (cells): 200,000 lines, a second where all is open."""

Flags = NDArray[np.bool_]


class GridSight(Described):
    """Lines of sight and fields of view on a grid.

    Args:
        is_opaque: (height, width) bool, cells that block sight. Kept, not
            copied: cells may be changed in it.

    Raises:
        TypeError: if it is not an array of bool.
        ValueError: if it has another shape, or no cell.

    >>> sight = GridSight(np.array([[False, True, False], [False, False, False]]))
    >>> sight.are_free([[0, 0], [0, 0]], [[0, 2], [1, 2]]).tolist()
    [False, True]
    """

    def __init__(self, is_opaque: Flags) -> None:
        if not isinstance(is_opaque, np.ndarray) or is_opaque.dtype != np.bool_:
            raise TypeError(f"is_opaque must be a NumPy array of bool, got {shown(is_opaque)}")
        if is_opaque.ndim != 2 or not is_opaque.size:
            raise ValueError(f"is_opaque must have shape (height, width), got {is_opaque.shape}")
        self.is_opaque = is_opaque

    def are_free(self, starts: ArrayLike, ends: ArrayLike) -> Flags:
        """Return for many lines whether the cells between their ends are free.

        Args:
            starts: (n, 2), row and column of cells of the grid.
            ends: (n, 2), likewise.

        Returns:
            (n,) bool.

        Raises:
            TypeError: if they are not integers.
            ValueError: if their shapes differ, or a cell is not on the grid.

        Cost: O(cells on the lines up to the first that is opaque).
        """
        first, last = self._cells("starts", starts), self._cells("ends", ends)
        if len(first) != len(last):
            raise ValueError(f"starts and ends must have the same length, got {len(first)} and {len(last)}")
        return _lines_are_free(self.is_opaque, first, last)

    def field_of_view(self, cell: ArrayLike, radius: int) -> Flags:
        """Return which cells are seen from one cell.

        Args:
            cell: row and column.
            radius: in cells, 0 to ``FARTHEST_CELLS``, Euclidean distance.

        Returns:
            (2 * radius + 1, 2 * radius + 1) bool, the cell itself in the middle;
            cells outside the grid are not seen.

        Raises:
            TypeError, ValueError: if the cell is not on the grid, or the radius
                is out of range.

        Cost: that of ``are_free`` for each cell in the radius.
        """
        radius = whole_number("radius", radius, minimum=0, maximum=FARTHEST_CELLS)
        (row, column), = self._cells("cell", as_array("cell", cell)[np.newaxis]).tolist()
        offsets = np.indices((2 * radius + 1, 2 * radius + 1)) - radius
        cells = offsets + np.array([row, column]).reshape(2, 1, 1)
        is_there = (cells >= 0) & (cells < np.array(self.is_opaque.shape).reshape(2, 1, 1))
        seen: Flags = (offsets * offsets).sum(axis=0) <= radius * radius
        seen &= is_there.all(axis=0)
        ends = cells[:, seen].T
        seen[seen] = self.are_free(np.broadcast_to((row, column), ends.shape), ends)
        return seen

    def _cells(self, name: str, cells: ArrayLike) -> NDArray[np.int32]:
        array = as_array(name, cells)
        if array.shape == (0,):
            array = np.zeros((0, 2), np.int32)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} must be integers, got {shown(cells)}")
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(f"{name} must have shape (n, 2), got {array.shape}")
        if not ((array >= 0) & (array < self.is_opaque.shape)).all():
            raise ValueError(f"{name} must lie on the grid of shape {self.is_opaque.shape}, got {shown(cells)}")
        return np.ascontiguousarray(array, np.int32)


def _lines_are_free(is_opaque: Flags, starts: NDArray[np.int32], ends: NDArray[np.int32]) -> Flags:
    flat, width = np.ascontiguousarray(is_opaque).ravel(), is_opaque.shape[1]
    is_free = np.ones(len(starts), np.bool_)
    offsets = (ends - starts).T.astype(np.int64)
    sizes = np.abs(offsets)
    strides = np.sign(offsets) * np.array([[width], [1]])
    is_steep = sizes[0] >= sizes[1]
    steps, drift = np.where(is_steep, sizes, sizes[::-1])
    along, aside = np.where(is_steep, strides, strides[::-1])
    cell = starts[:, 0].astype(np.int64) * width + starts[:, 1]
    # lead: how far the line has left its cell, times 2 * steps.
    lines = np.stack([np.arange(len(cell)), cell, steps, 2 * steps, 2 * drift, along, aside, steps])
    step = 1
    while True:
        goes_on = lines[2] > step
        if not goes_on.all():
            lines = lines[:, goes_on]
        if not lines.shape[1]:
            return is_free
        number, cell, _, whole, double_drift, along, aside, lead = lines
        cell += along
        lead += double_drift
        has_left = lead >= whole
        lead -= whole * has_left
        cell += aside * has_left
        is_blocked = flat[cell]
        # Exactly between this cell and the one before: either will do.
        occlusion = np.flatnonzero(is_blocked & has_left & (lead == 0))
        is_blocked[occlusion] = flat[cell[occlusion] - aside[occlusion]]
        if is_blocked.any():
            is_free[number[is_blocked]] = False
            lines[2, is_blocked] = 0
        step += 1
