"""Where one can stand: what a squad is handed so that posts of its tactics do not lie in walls."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number
from ai_core.squads.clearance import checked_cells

__all__ = ["GridStanding", "Standing"]

Floats = NDArray[np.float64]

Standing: TypeAlias = Callable[[Floats], Floats]
"""Told places (n, d) (m), returns for each the nearest one where somebody can stand: itself, if he can there."""


class GridStanding:
    """The nearest place to stand over cells; what a squad is handed as ``standing``.

    A place in a free cell is itself; any other is the middle of the nearest free cell, of equal ones
    the smallest number.

    Args:
        free: (height, width) bool, True where one can stand; x goes along columns.
        cell_size_m: side of a cell (m).
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.

    Raises:
        TypeError, ValueError: if the cells are no rectangle of bool, or none is free.

    >>> GridStanding([[True, False, False]])(np.array([[2.5, 0.5], [0.2, 0.9]])).tolist()
    [[0.5, 0.5], [0.2, 0.9]]
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = checked_cells(free)
        if not self._is_free.any():
            raise ValueError("free must have a cell where one can stand, got none")
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])
        rows, columns = np.nonzero(self._is_free)
        self._middles = (np.stack([columns, rows], axis=1) + 0.5) * self._size_m + self._origin

    def __call__(self, places: Floats) -> Floats:
        """Return where one can stand, (n, d). Cost: O(places), and O(cells) for each that is in a wall."""
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
