"""How much is free beside a path: over a grid of cells."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number

__all__ = ["GridClearance", "checked_cells"]

Floats = NDArray[np.float64]


class GridClearance:
    """Free metres from a point in a direction, over cells; what a squad is handed as ``clearance``.

    Args:
        free: (height, width) bool, True where one can stand; x goes along columns.
        cell_size_m: side of a cell (m).
        origin: (x, y) of the corner of cell (0, 0) (m); in 3D x and z.

    Raises:
        TypeError, ValueError: if the cells are no rectangle of bool.
    """

    def __init__(self, free: ArrayLike, cell_size_m: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self._is_free = checked_cells(free)
        self._size_m = finite_number("cell_size_m", cell_size_m, above=0)
        self._origin = np.array([finite_number("origin", one) for one in origin])

    def __call__(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return how far it is free from each point in its direction, ``most_m`` at most.

        Cost: O(points * most_m / cell_size_m).
        """
        axes = [0, 1] if points.shape[1] == 2 else [0, 2]
        steps = np.arange(0.0, most_m, self._size_m / 4)
        ways = points[:, None, axes] + directions[:, None, axes] * steps[None, :, None]
        cells = np.floor((ways - self._origin) / self._size_m).astype(np.intp)
        height, width = self._is_free.shape
        column, row = cells[..., 0], cells[..., 1]
        is_inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        is_free = np.zeros(row.shape, np.bool_)
        is_free[is_inside] = self._is_free[row[is_inside], column[is_inside]]
        is_blocked = ~is_free
        first = is_blocked.argmax(axis=1)
        # Up to the last step that was still free.
        return np.where(is_blocked.any(axis=1), np.maximum(first - 1, 0) * (self._size_m / 4), most_m)


def checked_cells(free: ArrayLike) -> NDArray[np.bool_]:
    """Return cells as a rectangle of bool, or raise ValueError."""
    cells = as_array("free", free)
    if cells.dtype != np.bool_ or cells.ndim != 2 or not cells.size:
        raise ValueError(f"free must be a (height, width) array of bool, got {cells.dtype} of {cells.shape}")
    return cells
