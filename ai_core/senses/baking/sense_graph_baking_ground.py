"""The walkable ground of a level, as square cells: from a grid, or from a navigation mesh."""
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number, point, positions, shown

__all__ = ["GroundCells", "WalkableGrid", "WalkablePolygons"]

CLIMB_M = 0.5
"""Neighbouring cells may differ so much in height, and steps of steep ground more (m)."""

STEEPEST = 1.2
"""Rise per metre of ground that still is one: 50 degrees, what navigation meshes allow at most."""

NO_CELL = -1

Floats = NDArray[np.floating[Any]]
Ids = NDArray[np.int64]


class GroundCells:
    """Square cells of ground, in order of row, column and height.

    Args:
        column: (n, 2) int64, place along x and along the other axis of the ground, in cells.
        floor_m: (n,) float64, height of the ground (m).
        cell_m: side of a cell (m).
        up: "y" or "z", the axis of heights.
        radius_m: how far from walls the outermost cells end (m).
        corner_m: where column 0, 0 begins on the ground (m).

    Attributes:
        neighbors: (n, 4) int64, cells to +x, +row, -x, -row, ``NO_CELL`` for none, once
            ``join`` has found them.
    """

    def __init__(
        self, column: Ids, floor_m: Floats, *, cell_m: float, up: str, radius_m: float,
        corner_m: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.cell_m, self.up, self.radius_m = cell_m, up, radius_m
        self._corner_m = np.array(corner_m)
        self.climb_m = max(CLIMB_M, STEEPEST * cell_m)
        self._origin = column.min(axis=0) - 1
        self._width = int(column[:, 0].max() - self._origin[0]) + 2
        keys = self.keys(column)
        order = np.lexsort((floor_m, keys))
        keys, floor_m = keys[order], floor_m[order]
        is_own = np.ones(len(keys), np.bool_)      # what is as high as the one before is the same ground
        is_own[1:] = (keys[1:] != keys[:-1]) | (floor_m[1:] - floor_m[:-1] > self.climb_m)
        self.column, self.floor_m = column[order][is_own], floor_m[is_own]
        self._keys, self._first, self._count = np.unique(
            keys[is_own], return_index=True, return_counts=True)
        self.neighbors = np.full((len(self), 4), NO_CELL, np.int64)

    def __len__(self) -> int:
        return len(self.floor_m)

    def keys(self, column: Ids) -> Ids:
        """Return one number for each column; those of one row follow each other."""
        at = column - self._origin
        keys: Ids = at[:, 1] * self._width + at[:, 0]
        return keys

    def places(self, cells: int | list[int] | Ids | slice, above_m: float = 0.0) -> Floats:
        """Return the middles of cells (n, 3), so far above the ground (m)."""
        return self.points(self.column[cells] + 0.5, self.floor_m[cells] + above_m)

    def points(self, across: Floats | Ids, height: Floats) -> Floats:
        """Return points (n, 3) (m) of places on the ground (n, 2) in cells, and heights (n,) (m)."""
        ground = across * self.cell_m + self._corner_m
        first, second = ground[..., 0], ground[..., 1]
        order = (first, height, second) if self.up == "y" else (first, second, height)
        return np.stack(np.broadcast_arrays(*order), axis=-1)

    def join(self) -> Iterator[float]:
        """Find the neighbours; yield how far it has come."""
        found = np.empty((len(self), 4), np.int64)
        own = self.keys(self.column)
        for side, step in enumerate((1, self._width, -1, -self._width)):
            found[:, side] = self._beside(own + step)
            yield (side + 1) / 5
        ids = np.arange(len(self))
        for side in range(4):
            there = found[:, side]
            is_mutual = (there != NO_CELL) & (found[there, (side + 2) % 4] == ids)
            self.neighbors[:, side] = np.where(is_mutual, there, NO_CELL)

    def _beside(self, keys: Ids) -> Ids:
        """Return of each column of ``keys`` the cell nearest in height to the cell that asks."""
        row = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_there = self._keys[row] == keys
        best = np.full(len(keys), NO_CELL, np.int64)
        least = np.full(len(keys), self.climb_m)
        for storey in range(int(self._count.max())):
            asked = np.flatnonzero(is_there & (storey < self._count[row]))
            cells = self._first[row[asked]] + storey
            rise = np.abs(self.floor_m[cells] - self.floor_m[asked])
            is_better = rise <= least[asked] if storey == 0 else rise < least[asked]
            best[asked[is_better]] = cells[is_better]
            least[asked[is_better]] = rise[is_better]
        return best


class WalkableGrid:
    """A grid of walkable cells and their heights.

    Args:
        floor_m: shape (rows, columns), height of the ground (m), NaN for cells that are not
            walkable; or bool, True for walkable cells at the height of ``origin``.
        cell_m: side of a cell, above 0 (m).
        origin: the corner of the first cell (m); columns go along x, rows along z
            where y is up, along y where z is up.
        up: "y", as in 3D, or "z", as in a 2D world.
        radius_m: distance from the outermost cells to the walls, 0 or more (m).

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or no cell is walkable.
    """

    def __init__(
        self, floor_m: ArrayLike, cell_m: float, *, origin: object = (0, 0, 0), up: str = "y",
        radius_m: float = 0.0,
    ) -> None:
        self.cell_m, self.up, self.radius_m = _checked(cell_m, up, radius_m)
        grid = as_array("floor_m", floor_m)
        if grid.ndim != 2 or grid.dtype.kind not in "bfiu":
            raise ValueError(f"floor_m must have shape (rows, columns), got {shown(floor_m)}")
        if grid.dtype.kind == "b":
            grid = np.where(grid, 0.0, np.nan)
        if np.isinf(grid).any():
            raise ValueError("floor_m must hold finite heights, or NaN for cells that are not walkable, got inf")
        at = point("origin", origin).astype(np.float64)
        self._origin = at[[0, 2, 1]] if up == "y" else at
        self._floor_m = grid.astype(np.float64) + self._origin[2]
        self.area_m2 = self.looked_at_m2 = float(np.isfinite(grid).sum()) * self.cell_m**2
        _need_ground(self.area_m2)

    def cells(self) -> Generator[float, None, GroundCells]:
        """Yield how far it has come, 0 to 1, and return the cells.

        Cost: O(n log n) of cells, six steps.
        """
        rows, columns = np.nonzero(np.isfinite(self._floor_m))
        cells = GroundCells(
            np.stack((columns, rows), axis=1), self._floor_m[rows, columns], cell_m=self.cell_m,
            up=self.up, radius_m=self.radius_m, corner_m=(self._origin[0], self._origin[1]))
        yield 0.1
        yield from cells.join()
        return cells


class WalkablePolygons:
    """A navigation mesh: convex polygons that together are all walkable ground.

    Args:
        vertices: shape (n, 3), or (n, 2) where z is up (m).
        polygons: indices into ``vertices`` of the corners of each polygon, in order.
        cell_m: side of the cells that sample it, above 0 (m): half the narrowest
            door, or less.
        up: "y", as in 3D, or "z", as in a 2D world.
        radius_m: distance of the mesh to walls, its agent radius, 0 or more (m). Cells
            extend by at most this, so passages narrower than a cell are not lost.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or there is no walkable ground.
    """

    def __init__(
        self, vertices: ArrayLike, polygons: Sequence[ArrayLike], cell_m: float, *, up: str = "y",
        radius_m: float = 0.0,
    ) -> None:
        self.cell_m, self.up, self.radius_m = _checked(cell_m, up, radius_m)
        places = positions("vertices", vertices, dimensions=(2, 3) if up == "z" else (3,))
        full = np.zeros((len(places), 3))
        full[:, : places.shape[1]] = places
        self._corners = full[:, [0, 2, 1]] if up == "y" else full
        self._polygons = [_indices(number, one, len(full)) for number, one in enumerate(polygons)]
        self.area_m2 = sum(abs(_area_m2(self._corners[one])) for one in self._polygons)
        sides = [np.ptp(self._corners[one, :2], axis=0) for one in self._polygons]
        self.looked_at_m2 = float(sum(a * b for a, b in sides))
        _need_ground(self.area_m2)

    def cells(self) -> Generator[float, None, GroundCells]:
        """Yield how far it has come, 0 to 1, and return the cells.

        Cost: O(polygons, and cells below them), a polygon a step; then O(n log n) of cells,
        five steps.
        """
        columns, floors = [], []
        # Beyond the mesh there may be a wall, but none nearer than its radius.
        margin_m = min(0.5 * self.cell_m, self.radius_m)
        for number, polygon in enumerate(self._polygons):
            column, floor_m = _below(self._corners[polygon], self.cell_m, margin_m)
            columns.append(column)
            floors.append(floor_m)
            yield 0.5 * number / len(self._polygons)
        if not sum(map(len, columns)):
            raise ValueError(f"cell_m must be smaller than the ground, got {self.cell_m:g}")
        cells = GroundCells(np.concatenate(columns), np.concatenate(floors), cell_m=self.cell_m,
                      up=self.up, radius_m=self.radius_m - margin_m)
        yield 0.5
        yield from (0.5 + 0.5 * share for share in cells.join())
        return cells


def _below(corners: Floats, cell_m: float, margin_m: float) -> tuple[Ids, Floats]:
    """Return the columns whose middles lie in a convex polygon (k, 3), and its height there."""
    area = _area_m2(corners)
    low, high = corners[:, :2].min(axis=0) - margin_m, corners[:, :2].max(axis=0) + margin_m
    first, last = (np.floor(one / cell_m).astype(np.int64) for one in (low, high))
    columns, rows = np.meshgrid(
        np.arange(first[0], last[0] + 1), np.arange(first[1], last[1] + 1))
    u, v = (columns + 0.5) * cell_m, (rows + 0.5) * cell_m
    # By the box around it, too: else a sharp corner would reach far.
    is_in = (u >= low[0]) & (u < high[0]) & (v >= low[1]) & (v < high[1]) & (area != 0.0)
    for (a, b, _), (c, d, _) in pairwise([*corners.tolist(), corners[0].tolist()]):
        outward_u, outward_v = (d - b, a - c) if area > 0 else (b - d, c - a)
        reach = margin_m * (abs(outward_u) + abs(outward_v))
        is_in &= outward_u * (u - a) + outward_v * (v - b) <= reach
    found = np.stack((columns[is_in], rows[is_in]), axis=1)
    return found, _heights(corners, u[is_in], v[is_in])


def _heights(corners: Floats, u: Floats, v: Floats) -> Floats:
    """Return the height of the plane through a polygon, not beyond its corners."""
    ahead = np.roll(corners, -1, axis=0)
    normal = np.cross(corners, ahead).sum(axis=0)
    middle = corners.mean(axis=0)
    if normal[2] == 0:
        return np.full(len(u), middle[2])
    rise = (normal[0] * (u - middle[0]) + normal[1] * (v - middle[1])) / normal[2]
    heights: Floats = np.clip(middle[2] - rise, corners[:, 2].min(), corners[:, 2].max())
    return heights


def _area_m2(corners: Floats) -> float:
    """Return the area of a polygon seen from above, above 0 if it goes round leftwards."""
    u, v = corners[:, 0] - corners[0, 0], corners[:, 1] - corners[0, 1]
    return float((u * np.roll(v, -1) - v * np.roll(u, -1)).sum()) / 2


def _checked(cell_m: float, up: str, radius_m: float) -> tuple[float, str, float]:
    if up not in ("y", "z"):
        raise ValueError(f"up must be 'y' or 'z', got {shown(up)}")
    return (finite_number("cell_m", cell_m, above=0), up,
            finite_number("radius_m", radius_m, minimum=0))


def _indices(number: int, polygon: ArrayLike, count: int) -> Ids:
    indices = as_array("polygons", polygon)
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) < 3:
        raise ValueError(
            f"polygons[{number}] must hold at least three indices, got {shown(polygon)}")
    if indices.min() < 0 or indices.max() >= count:
        raise ValueError(
            f"polygons[{number}] must hold vertex indices from 0 to {count - 1},"
            f" got {shown(indices.tolist())}")
    return indices.astype(np.int64)


def _need_ground(area_m2: float) -> None:
    if not area_m2 > 0:
        raise ValueError("the ground has no walkable area, so there is nothing to bake")
