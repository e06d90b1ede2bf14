"""Lines of sight on a grid, where A sees B exactly when B sees A.

A line runs from the middle of one cell to the middle of another, and at every
step along its longer side it passes through the cell nearest to it. Where it
runs exactly between two, it is free if either is: so the answer is the same
both ways, and when the level is turned by quarters or mirrored. Where a line
begins and ends does not count: walls themselves are seen.

This is the twin in NumPy of ``_grid_sight``, with the same results.
"""
from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown, whole_number
from ai_core.twins import twin

__all__ = ["INTERFACE", "GridSight", "lines_are_free"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

FARTHEST_CELLS = 256
"""Largest radius of a field of view (cells): half a million cells, 0.1 s in NumPy."""

Flags = NDArray[np.bool_]


class GridSight:
    """Who sees which cell of a grid.

    Args:
        is_opaque: (height, width) bool, cells that nothing is seen through. Kept,
            not copied: cells may be opened and shut in it.

    Raises:
        TypeError: if it is no array of bool.
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

    def are_free(self, starts: object, ends: object) -> Flags:
        """Return for many lines whether nothing stands between their ends.

        Args:
            starts: (n, 2), row and column of cells of the grid.
            ends: (n, 2), likewise.

        Returns:
            (n,) bool.

        Raises:
            TypeError: if they are not whole numbers.
            ValueError: if their shapes differ, or a cell is not on the grid.

        Cost: O(cells on the lines up to the first that is opaque).
        """
        first, last = self._cells("starts", starts), self._cells("ends", ends)
        if len(first) != len(last):
            raise ValueError(f"starts and ends must be as many, got {len(first)} and {len(last)}")
        is_free = np.ones(len(first), np.bool_)
        lines_are_free(self.is_opaque, first, last, is_free)
        return is_free

    def field_of_view(self, cell: object, radius: int) -> Flags:
        """Return which cells are seen from one cell.

        Args:
            cell: row and column.
            radius: how far (cells), 0 to ``FARTHEST_CELLS``, as the crow flies.

        Returns:
            (2 * radius + 1, 2 * radius + 1) bool, the cell itself in the middle;
            what is not on the grid is not seen.

        Raises:
            TypeError, ValueError: if the cell is not on the grid, or the radius
                is out of range.

        Cost: O(radius squared) lines.
        """
        radius = whole_number("radius", radius, minimum=0, maximum=FARTHEST_CELLS)
        (row, column), = self._cells("cell", [cell]).tolist()
        around = _disc(radius)
        ends = around + np.array([row, column], np.int32)
        height, width = self.is_opaque.shape
        on_grid = (ends[:, 0] >= 0) & (ends[:, 0] < height) & (ends[:, 1] >= 0) & (ends[:, 1] < width)
        if not on_grid.all():
            around, ends = around[on_grid], ends[on_grid]
        is_free = np.ones(len(ends), np.bool_)
        starts = np.broadcast_to(np.array([row, column], np.int32), ends.shape)
        lines_are_free(self.is_opaque, np.ascontiguousarray(starts), ends, is_free)
        seen = np.zeros((2 * radius + 1, 2 * radius + 1), np.bool_)
        seen[around[:, 0] + radius, around[:, 1] + radius] = is_free
        return seen

    def _cells(self, name: str, cells: object) -> NDArray[np.int32]:
        array = np.asarray(cells)
        if array.shape == (0,):
            array = np.zeros((0, 2), np.int32)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} must be whole numbers, got {shown(cells)}")
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(f"{name} must have shape (n, 2), got {array.shape}")
        if not ((array >= 0) & (array < self.is_opaque.shape)).all():
            raise ValueError(f"{name} must be on the grid of {self.is_opaque.shape}, got {shown(cells)}")
        return np.ascontiguousarray(array, np.int32)


@twin
def lines_are_free(
    is_opaque: Flags, starts: NDArray[np.int32], ends: NDArray[np.int32], out_free: Flags
) -> None:
    """Write for each line whether nothing stands between its ends.

    Args:
        is_opaque: (height, width).
        starts: (n, 2), on the grid.
        ends: (n, 2), on the grid.
        out_free: (n,).

    Cost: O(cells on the lines up to the first that is opaque).
    """
    flat, width = np.ascontiguousarray(is_opaque).ravel(), is_opaque.shape[1]
    out_free[:] = True
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
            return
        number, cell, _, whole, double_drift, along, aside, lead = lines
        cell += along
        lead += double_drift
        has_left = lead >= whole
        lead -= whole * has_left
        cell += aside * has_left
        is_blocked = flat[cell]
        # Exactly between this cell and the one before: either will do.
        between = np.flatnonzero(is_blocked & has_left & (lead == 0))
        is_blocked[between] = flat[cell[between] - aside[between]]
        if is_blocked.any():
            out_free[number[is_blocked]] = False
            lines[2, is_blocked] = 0
        step += 1


@functools.lru_cache(maxsize=8)
def _disc(radius: int) -> NDArray[np.int32]:
    """Return the cells around the origin that are in reach of it, by row, then column."""
    line = np.arange(-radius, radius + 1, dtype=np.int32)
    rows, columns = np.meshgrid(line, line, indexing="ij")
    inside = rows * rows + columns * columns <= radius * radius
    return np.stack([rows[inside], columns[inside]], axis=1)
