"""Lines of sight on a grid, where A sees B exactly when B sees A.

A line runs from the middle of one cell to the middle of another, and at every step along
its longer side it passes through the cell nearest to it. Where it runs exactly between
two cells, it is free if either is: so the answer is the same in both directions, and when
the level is rotated by quarter turns or mirrored. The cells at the ends of a line do not
count: walls themselves are seen.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import as_array, shown, whole_number

__all__ = ["GridSight", "cells_seen", "lines_are_free"]

FARTHEST_CELLS = 256
"""Largest radius of a field of view (cells): half a million cells, 0.2 s where all is open."""

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
        is_free = np.ones(len(first), np.bool_)
        lines_are_free(self.is_opaque, first, last, is_free)
        return is_free

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

        Cost: O(cells seen), and an array of the answer's size.
        """
        radius = whole_number("radius", radius, minimum=0, maximum=FARTHEST_CELLS)
        row, column = self._cell(cell)
        seen = np.zeros((2 * radius + 1, 2 * radius + 1), np.bool_)
        cells_seen(self.is_opaque, row, column, radius, seen)
        return seen

    def _cell(self, cell: ArrayLike) -> tuple[int, int]:
        if isinstance(cell, np.ndarray):
            cell = cell.tolist()
        if not isinstance(cell, Sequence) or len(cell) != 2:
            raise ValueError(f"cell must be (row, column), got {shown(cell)}")
        height, width = self.is_opaque.shape
        row = whole_number("row of cell", cell[0], minimum=0, maximum=height - 1, remedy="use a cell of the grid")
        column = whole_number(
            "column of cell", cell[1], minimum=0, maximum=width - 1, remedy="use a cell of the grid")
        return row, column

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
        occlusion = np.flatnonzero(is_blocked & has_left & (lead == 0))
        is_blocked[occlusion] = flat[cell[occlusion] - aside[occlusion]]
        if is_blocked.any():
            out_free[number[is_blocked]] = False
            lines[2, is_blocked] = 0
        step += 1


def cells_seen(
    is_opaque: Flags, row: int, column: int, radius: int, out_seen: NDArray[np.bool_]
) -> None:
    """Write which cells around one are seen from it: those to which a line is free.

    The same as asking ``lines_are_free`` for each, by directions instead: in each of eight
    wedges those that are free are kept, column by column, as intervals of slopes, ends
    included. Slopes are fractions of whole numbers, so nothing is rounded.

    Args:
        is_opaque: (height, width).
        row: of the cell, on the grid.
        column: of the cell, on the grid.
        radius: how far (cells), at most ``FARTHEST_CELLS``.
        out_seen: (2 * radius + 1, 2 * radius + 1), all False.

    Cost: O(cells seen).
    """
    out_seen[radius, radius] = True
    for down in (1, -1):
        for right in (1, -1):
            quarter = is_opaque[_onward(row, down, radius), _onward(column, right, radius)]
            seen = out_seen[_onward(radius, down, radius), _onward(radius, right, radius)]
            for cells, out in ((quarter, seen), (quarter.T, seen.T)):
                found = _seen_in_wedge(cells.tolist(), radius)
                out[tuple(np.array(found, np.intp).reshape(-1, 2).T)] = True


def _onward(begin: int, step: int, count: int) -> slice:
    """Return the slice from one row or column on, this way or that, as far as ``count`` more."""
    end = begin + step * (count + 1)
    return slice(begin, None if end < 0 else end, step)


Slopes = tuple[int, int, int, int]
"""An interval of slopes: from numerator, denominator, to numerator, denominator."""


def _seen_in_wedge(columns: list[list[bool]], radius: int) -> list[tuple[int, int]]:
    """Return what is seen between straight ahead and 45 degrees aside: how far ahead, how far aside.

    Args:
        columns: what is opaque, by how far ahead and how far aside.
        radius: how far (cells).
    """
    seen: list[tuple[int, int]] = []
    free: list[Slopes] = [(0, 1, 1, 1)]
    for far in range(1, len(columns)):
        column = columns[far]
        most = min(len(column) - 1, math.isqrt(radius * radius - far * far))
        after: list[Slopes] = []
        for slopes in free:
            low, low_part, high, high_part = slopes
            first, last = -(-low * far // low_part), min(high * far // high_part, most)
            seen += [(far, aside) for aside in range(first, last + 1)]
            first = max(0, -((low_part - 2 * far * low) // (2 * low_part)))
            last = (2 * far * high + high_part) // (2 * high_part)
            if last < len(column) and True not in column[first : last + 1]:
                after.append(slopes)
            else:
                after += _left_free(slopes, column, far, first, last)
        free = after
        if not free:
            break
    return seen


def _left_free(
    slopes: Slopes, column: list[bool], far: int, aside: int, last: int
) -> list[Slopes]:
    """Return what the cells of one column, from one to another, leave free of an interval."""
    low, low_part, high, high_part = slopes
    free: list[Slopes] = []
    while aside <= last:
        begin = aside
        while aside <= last and (aside >= len(column) or column[aside]):
            aside += 1
        if aside == begin:
            aside += 1
            continue
        # A run of opaque cells hides what lies between its edges, but not the edges.
        if low * 2 * far <= (2 * begin - 1) * low_part:
            free.append((low, low_part, 2 * begin - 1, 2 * far))
        low, low_part = 2 * aside - 1, 2 * far
    if low * high_part <= high * low_part:
        free.append((low, low_part, high, high_part))
    return free
