"""Area of a map: a regular raster of square cells over the ground."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number, indices, positions, whole_number
from ai_core.maps.grid import MOST_CELLS

__all__ = ["OUTSIDE", "MapArea"]

OUTSIDE = -1
"""Cell number that ``cells_of`` returns for a position outside the area."""


class MapArea:
    """Square cells over the ground, numbered ``row * width + column``.

    Columns follow x, rows follow the second axis: y in 2D, z on the ground of a 3D world,
    where the height is ignored. Two areas with equal numbers are equal.

    Args:
        height, width: rows and columns (count), 1 or more.
        cell_m: side length of a cell (m), above 0.
        origin: (2,), the corner with the smallest coordinates (m).

    Raises:
        TypeError, ValueError: if an argument has the wrong type or is out of range.

    >>> area = MapArea(4, 8, cell_m=2.0, origin=(-8.0, 0.0))
    >>> area.cell_at((-7.0, 3.0)), area.center_of(8)
    (8, (-7.0, 3.0))
    """

    def __init__(self, height: int, width: int, *, cell_m: float = 1.0, origin: Sequence[float] = (0.0, 0.0)) -> None:
        height = whole_number("height", height, minimum=1, maximum=MOST_CELLS)
        width = whole_number("width", width, minimum=1, maximum=MOST_CELLS)
        if height * width > MOST_CELLS:
            raise ValueError(f"an area must have at most {MOST_CELLS} cells, got {height} × {width}; use larger cells")
        self.shape = (height, width)
        self.size = height * width
        self.cell_m = finite_number("cell_m", cell_m, above=0)
        corner = positions("origin", [origin], dimensions=(2,))[0]
        self.origin = (float(corner[0]), float(corner[1]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapArea) and (self.shape, self.cell_m, self.origin) == (
            other.shape, other.cell_m, other.origin)

    def __hash__(self) -> int:
        return hash((self.shape, self.cell_m, self.origin))

    def __repr__(self) -> str:
        return f"<MapArea {self.shape[0]} × {self.shape[1]} cells of {self.cell_m:g} m from {self.origin}>"

    def cells_of(self, places: ArrayLike) -> NDArray[np.int32]:
        """Return the cell of each position, ``OUTSIDE`` for positions outside the area.

        Args:
            places: (n, 2) on the ground, or (n, 3) with the height as second coordinate (m).

        Raises:
            TypeError, ValueError: if the positions have another shape or are not finite.

        Cost: O(n).
        """
        ground = self.on_ground(places)
        found = np.floor((ground.astype(np.float64) - self.origin) / self.cell_m)
        column, row = found[:, 0], found[:, 1]
        is_inside = (column >= 0) & (row >= 0) & (column < self.shape[1]) & (row < self.shape[0])
        return np.where(is_inside, row * self.shape[1] + column, OUTSIDE).astype(np.int32)

    @staticmethod
    def on_ground(places: ArrayLike) -> NDArray[np.float32]:
        """Return positions as (n, 2); the second of three coordinates, the height, is dropped."""
        checked = positions("positions", places)
        return checked[:, ::2] if checked.shape[1] == 3 else checked

    def cell_at(self, place: Sequence[float]) -> int:
        """Return the cell of one position, ``OUTSIDE`` if it is outside the area."""
        return int(self.cells_of([place])[0])

    def centers_of(self, cells: ArrayLike) -> NDArray[np.float32]:
        """Return the centers of cells, (n, 2) (m).

        Raises:
            TypeError, ValueError: if a number is not a cell of this area.
        """
        rows, columns = np.divmod(self.checked_cells(cells), self.shape[1])
        middles = (np.stack((columns, rows), axis=1) + 0.5) * self.cell_m + self.origin
        return middles.astype(np.float32)

    def center_of(self, cell: int) -> tuple[float, float]:
        """Return the center of a cell (m)."""
        x, y = self.centers_of([cell])[0].tolist()
        return (x, y)

    def checked_cells(self, cells: ArrayLike) -> NDArray[np.int32]:
        """Return cell numbers as (n,) int32.

        Raises:
            TypeError: if they are not integers.
            ValueError: if a number is outside the area.
        """
        return indices("cells", cells, self.size)

    def cells_within(self, place: Sequence[float], radius_m: float) -> NDArray[np.int32]:
        """Return the cells with centers within a radius (m) of a position, ascending.

        Raises:
            TypeError, ValueError: if an argument has the wrong type or is out of range.

        Cost: O(cells of the square around the circle).
        """
        radius_m = finite_number("radius_m", radius_m, minimum=0)
        x, y = (self.on_ground([place])[0].astype(np.float64) - self.origin) / self.cell_m - 0.5
        reach = radius_m / self.cell_m
        height, width = self.shape
        rows, columns = _within(y, reach, height), _within(x, reach, width)
        is_near = (rows[:, None] - y) ** 2 + (columns[None, :] - x) ** 2 <= reach * reach
        near: NDArray[np.int32] = (rows[:, None] * width + columns[None, :])[is_near].astype(np.int32)
        return near


def _within(middle: float, reach: float, count: int) -> NDArray[np.int64]:
    """Return the integers from 0 to below ``count`` at most ``reach`` from ``middle``."""
    first, last = np.clip((np.ceil(middle - reach), np.floor(middle + reach) + 1), 0, count)
    return np.arange(int(first), int(last))
