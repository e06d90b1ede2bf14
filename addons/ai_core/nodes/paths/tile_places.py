"""Positions of the tiles of isometric, half-offset and hexagonal maps, and their cells in a grid.

Whatever the layout of a TileSet, the centers of its tiles lie in rows (in columns, if the offset axis is vertical),
and every second row is shifted by half a tile. So the position of a tile determines its row and its half columns; a
hexagonal grid uses the rows, a square grid the two diagonals of a diamond.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RefusedValue, Vector2i
from ai_core.maps.passage import GridPassage, nearest_free

ISOMETRIC, HALF_OFFSET, HEXAGON = 1, 2, 3
HORIZONTAL = 0
ROW_SHARE = {ISOMETRIC: 0.5, HALF_OFFSET: 1.0, HEXAGON: 0.75}
"""Distance of two rows as a share of the tile height; the rest overlaps."""

Numbers = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class TilePlaces:
    """Positions of the cells of a grid of such tiles.

    Attributes:
        shape: (rows, columns).
        first: row and column of the first cell, as ``_rows_of`` returns them; an even row.
        is_diamond: True for isometric tiles, where rows and columns of the grid are the two diagonals.
        is_upright: True for a vertical offset axis, where rows of the grid are columns of tiles.
        tile: width and row step of a tile, along rows and across them (pixels).
        corners: (2, 2, 2), positions of the tiles at 0 and 1 in both coordinates.
        double: (2, 2), steps by two tiles in each coordinate.
        axes, origin: axes and origin of the layer in the world.
    """

    shape: tuple[int, int]
    first: tuple[int, int]
    is_diamond: bool
    is_upright: bool
    tile: tuple[float, float]
    corners: Numbers
    double: Numbers
    axes: Numbers
    origin: Numbers

    dimensions = 2

    @staticmethod
    def of(layer: Any, cells: Sequence[Any]) -> TilePlaces:
        """Return the positions of a grid around the cells of a TileMapLayer.

        Raises:
            RefusedValue: if the layer has no tiles.
        """
        if not len(cells):
            raise RefusedValue("the TileMapLayer has no tiles; place some, or choose another grid")
        tiles = layer.tile_set
        shape, is_upright = int(tiles.tile_shape), int(tiles.tile_offset_axis) != HORIZONTAL
        width, height = (float(one) for one in tiles.tile_size)
        if is_upright:
            width, height = height, width
        at = np.array([[tuple(layer.map_to_local(Vector2i(x, y))) for y in range(2)] for x in range(2)], float)
        double = np.array([tuple(layer.map_to_local(Vector2i(*one))) for one in ((2, 0), (0, 2))], float) - at[0, 0]
        placed = np.array(tuple(layer.global_transform), float).reshape(3, 2)
        places = TilePlaces(
            (0, 0), (0, 0), shape == ISOMETRIC, is_upright, (width, height * ROW_SHARE[shape]), at, double,
            placed[:2].T, placed[2])
        rows = places._rows_of(np.array([tuple(one) for one in cells], np.int64))
        low, high = rows.min(axis=0), rows.max(axis=0)
        low[0] -= low[0] % 2                           # the first row must not be shifted
        size = high - low + 1
        return TilePlaces(
            (int(size[0]), int(size[1])), (int(low[0]), int(low[1])), places.is_diamond, is_upright, places.tile,
            at, double, places.axes, places.origin)

    @property
    def neighbors(self) -> int | None:
        """6 for tiles with six neighbors; None where diagonals are a setting."""
        return None if self.is_diamond else 6

    @property
    def cell_size(self) -> float:
        """Distance between adjacent tiles in the world (pixels)."""
        width, step = self.tile
        half = np.array((width / 2, step)) if self.is_diamond else np.array((width, 0.0))
        return float(np.linalg.norm(self.axes @ (half[::-1] if self.is_upright else half)))

    def cells_of(self, tiles: Sequence[Any]) -> tuple[Wholes, Wholes]:
        """Return rows and columns in the grid of tile coordinates."""
        rows = self._rows_of(np.array([tuple(one) for one in tiles], np.int64).reshape(-1, 2)) - self.first
        return rows[:, 0], rows[:, 1]

    def number(self, cell: object) -> int:
        """Return the number of the cell of a tile's Vector2i.

        Raises:
            RefusedValue: if it is of another type, or not on the grid.
        """
        if not isinstance(cell, Vector2i):
            raise RefusedValue(f"cells must be Vector2i, got {cell!r}")
        rows, columns = self.cells_of([cell])
        return self._number(f"cell {cell!r}", int(rows[0]), int(columns[0]))

    def cell_at(self, name: str, place: Sequence[float]) -> int:
        """Return the cell whose center is nearest to a position.

        Raises:
            RefusedValue: if it is not on the grid.
        """
        cell = int(self.cells_at(np.array([tuple(place)]))[0])
        return self._number(f"{name} {tuple(place)}", *divmod(cell, self.shape[1]))

    def cells_at(self, places: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the cells whose centers are nearest to positions (n, 2), -1 for those that are not on the grid."""
        inside = np.linalg.solve(self.axes, (places - self.origin).T).T - self.corners[0, 0]
        half = np.array(self.tile[::-1 if self.is_upright else 1]) / 2
        around = np.stack([self._split(inside + np.array(step) * half) for step in product((-1, 0, 1), repeat=2)])
        apart = np.linalg.norm(self._inside(around.reshape(-1, 2)).reshape(around.shape) - inside, axis=2)
        nearest = np.argmin(apart, axis=0)
        row, column = (around[nearest, np.arange(len(places))] - self.first).T
        is_here = (row >= 0) & (row < self.shape[0]) & (column >= 0) & (column < self.shape[1])
        is_here &= apart.min(axis=0) <= max(self.tile)
        found: NDArray[np.int32] = np.where(is_here, row * self.shape[1] + column, -1).astype(np.int32)
        return found

    def nearest_free(self, passage: GridPassage, place: Sequence[float], within: float) -> int | None:
        """Return the free cell nearest to a position within a distance, None if there is none."""
        first, column, row = self._inside(np.array([(0, 0), (0, 1), (2, 0)])) @ self.axes.T
        offset = np.array(tuple(place)) - self.points(np.zeros(1, np.int32))[0]
        return nearest_free(passage, offset, within, steps=((column - first), (row - first) / 2))

    def points(self, cells: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the centers of cells in the world, (n, 2)."""
        rows = np.stack(np.divmod(np.asarray(cells, np.int64), self.shape[1]), axis=1) + self.first
        inside = self._inside(rows) + self.corners[0, 0]
        return (inside @ self.axes.T + self.origin).astype(np.float32)

    def _number(self, subject: str, row: int, column: int) -> int:
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            raise RefusedValue(f"{subject} is not on the grid, which has {self.shape[1]} by {self.shape[0]} cells")
        return row * self.shape[1] + column

    def _rows_of(self, tiles: Wholes) -> Wholes:
        """Return rows and columns of tiles (n, 2), relative to the tile at 0, 0."""
        odd = tiles & 1
        inside = self.corners[odd[:, 0], odd[:, 1]] - self.corners[0, 0] + (tiles - odd) / 2 @ self.double
        return self._split(inside)

    def _split(self, inside: Numbers) -> Wholes:
        """Return rows and columns of positions near centers of tiles, relative to the tile at 0, 0."""
        along, across = (inside[..., 1], inside[..., 0]) if self.is_upright else (inside[..., 0], inside[..., 1])
        width, step = self.tile
        if self.is_diamond:
            half, row = along / (width / 2), across / step
            return np.rint(np.stack(((row - half) / 2, (row + half) / 2), axis=-1)).astype(np.int64)
        rows = np.rint(across / step).astype(np.int64)
        columns = np.rint((along / (width / 2) - (rows & 1)) / 2).astype(np.int64)
        return np.stack((rows, columns), axis=-1)

    def _inside(self, rows: Wholes) -> Numbers:
        """Return the centers of cells by rows and columns, relative to the tile at 0, 0."""
        width, step = self.tile
        row, column = rows[:, 0], rows[:, 1]
        if self.is_diamond:
            along, across = (column - row) * (width / 2), (column + row) * step
        else:
            along, across = (column + 0.5 * (row & 1)) * width, row * step
        return np.stack((across, along) if self.is_upright else (along, across), axis=1).astype(np.float64)
