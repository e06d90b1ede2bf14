"""Free ground over a grid: clearance beside a path, and the nearest position where a member can stand."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number

Floats = NDArray[np.float64]


class GridClearance:
    """Measures the free distance from a point in a direction over cells; the ``clearance`` of a squad.

    Args:
        free: shape (height, width), bool, True for free cells; x runs along columns.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.

    Raises:
        TypeError, ValueError: if ``free`` is not a two-dimensional array of bool, or a number is out of range.
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = checked_cells(free)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])

    def __call__(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return the free distance from each point in its direction, at most ``most_m``, shape (n,) (m).

        Cost: O(points * most_m / cell_size_m), at most that of the grid's sides.
        """
        across_m = sum(self._is_free.shape) * self._size_m      # beyond it all is outside, and blocked
        looked_m = min(most_m, across_m + self._size_m)
        axes = [0, 1] if points.shape[1] == 2 else [0, 2]
        steps = np.arange(0.0, looked_m, self._size_m / 4)
        samples = points[:, None, axes] + directions[:, None, axes] * steps[None, :, None]
        cells = np.floor((samples - self._origin) / self._size_m).astype(np.intp)
        height, width = self._is_free.shape
        column, row = cells[..., 0], cells[..., 1]
        is_inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        is_free = np.zeros(row.shape, np.bool_)
        is_free[is_inside] = self._is_free[row[is_inside], column[is_inside]]
        is_blocked = ~is_free
        first = is_blocked.argmax(axis=1)
        # The distance ends at the last free step.
        return np.where(is_blocked.any(axis=1), np.maximum(first - 1, 0) * (self._size_m / 4), most_m)


def checked_cells(free: ArrayLike) -> NDArray[np.bool_]:
    """Return cells as a two-dimensional array of bool, or raise ValueError."""
    cells = as_array("free", free)
    if cells.dtype != np.bool_ or cells.ndim != 2 or not cells.size:
        raise ValueError(f"free must be a (height, width) array of bool, got {cells.dtype} of {cells.shape}")
    return cells


NearestFree: TypeAlias = Callable[[Floats], Floats]
"""Callable that receives positions (n, d) (m) and returns for each the nearest one where a member can stand."""


class NearestFreeCell:
    """Finds the nearest position on a free cell; the ``standing`` of a squad.

    A position in a free cell stays unchanged; any other moves to the center of the nearest free cell, on
    a tie of the cell with the smallest number.

    Args:
        free: shape (height, width), bool, True for free cells; x runs along columns.
        cell_size_m: side of a cell (m), above 0.
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.

    Raises:
        TypeError, ValueError: if ``free`` is not a two-dimensional array of bool, no cell is free, or a number is
            out of range.

    >>> NearestFreeCell([[True, False, False]])(np.array([[2.5, 0.5], [0.2, 0.9]])).tolist()
    [[0.5, 0.5], [0.2, 0.9]]
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = checked_cells(free)
        if not self._is_free.any():
            raise ValueError("free must have at least one free cell, got none")
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])
        rows, columns = np.nonzero(self._is_free)
        self._middles = (np.stack([columns, rows], axis=1) + 0.5) * self._size_m + self._origin

    def __call__(self, places: Floats) -> Floats:
        """Return the nearest free positions, shape (n, d) (m). Cost: O(n), and O(cells) for each blocked position."""
        axes = [0, 1] if places.shape[1] == 2 else [0, 2]
        found = places.astype(np.float64)
        flat = found[:, axes]
        cells = np.floor((flat - self._origin) / self._size_m)
        inside = ((cells >= 0) & (cells < self._is_free.shape[::-1])).all(axis=1)
        stands = np.zeros(len(found), np.bool_)
        column, row = cells[inside].astype(np.intp).T
        stands[inside] = self._is_free[row, column]
        for number in np.flatnonzero(~stands):
            away = ((self._middles - flat[number]) ** 2).sum(axis=1)
            found[number, axes] = self._middles[int(away.argmin())]
        return found


__all__ = ["GridClearance", "NearestFree", "NearestFreeCell", "checked_cells"]
