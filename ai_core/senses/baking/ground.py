"""The walkable ground of a level as square cells, from a grid or a navigation mesh."""
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import as_array, finite_number, point, positions, shown
from ai_core.senses.graph.parts import area_m2

__all__ = [
    "NO_CELL", "Floats", "GroundCells", "Ids", "WalkableGrid", "WalkablePolygons", "Work", "blocks", "rows_of_cells"]

CLIMB_M = 0.5
"""Largest difference in height of neighbouring cells on flat ground (m); with less, stairs end the ground."""

STEEPEST = 1.2
"""Largest rise per metre of ground: 50 degrees, the maximum of navigation meshes."""

NO_CELL = -1
"""Neighbour of a cell beside a wall."""

Floats = NDArray[np.floating[Any]]
"""Coordinates, heights and distances."""

Ids = NDArray[np.int64]
"""Cells, rooms, and places counted in cells."""

BLOCK_CELLS = 512
"""Cells handled between two looks at the budget (count), 50 to 100 µs."""

ROWS_A_STEP = 16
"""Rows of cells put together between two looks at the budget (count)."""

T = TypeVar("T")
Work = Generator[float, None, T]
"""A part of baking: yields after each step how far it is, 0 to 1, at least, and returns its result."""


def blocks(count: int) -> Iterator[slice]:
    """Yield slices of ``BLOCK_CELLS`` cells, up to ``count``."""
    for begin in range(0, count, BLOCK_CELLS):
        yield slice(begin, min(begin + BLOCK_CELLS, count))


def rows_of_cells(column: Ids) -> Work[dict[int, Ids]]:
    """Return the cells of each row of the ground, in their order. Cost: O(n log BLOCK_CELLS)."""
    found: dict[int, list[Ids]] = {}
    for part in blocks(len(column)):
        order = np.argsort(column[part, 1], kind="stable")
        begins = np.flatnonzero(np.diff(column[part, 1][order])) + 1
        for cells in np.split(part.start + order, begins):
            found.setdefault(int(column[cells[0], 1]), []).append(cells)
        yield 0.0
    rows: dict[int, Ids] = {}
    for number, row in enumerate(sorted(found)):
        rows[row] = np.concatenate(found[row])
        if number % ROWS_A_STEP == 0:
            yield 0.0
    return rows


class GroundCells:
    """Square cells of ground, in order of row, column and height; ``ground_cells`` makes them.

    Args:
        column: (n, 2) int64, place along x and along the other axis of the ground, in cells.
        floor_m: (n,) float64, height of the ground (m).
        cell_m: side of a cell (m).
        up: "y" or "z", the axis of heights.
        radius_m: distance from the outermost cells to the walls (m).
        corner_m: where column 0, 0 begins on the ground (m).

    Attributes:
        neighbors: (n, 4) int64, cells to +x, +row, -x, -row, ``NO_CELL`` for none; filled by ``join``.
    """

    def __init__(
        self, column: Ids, floor_m: Floats, *, cell_m: float, up: str, radius_m: float,
        corner_m: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.cell_m, self.up, self.radius_m = cell_m, up, radius_m
        self._corner_m = np.array(corner_m)
        self.column, self.floor_m, self.climb_m = column, floor_m, climb_m(cell_m)
        low = column.min(axis=0) - 1
        self._row_step = int(np.ptp(column[:, 0])) + 3
        self._keys = (column[:, 1] - low[1]) * self._row_step + column[:, 0] - low[0]
        self.neighbors = np.full((len(self), 4), NO_CELL, np.int64)

    def __len__(self) -> int:
        return len(self.floor_m)

    def places(self, cells: int | list[int] | Ids | slice, above_m: float = 0.0) -> Floats:
        """Return the centres of cells (n, 3), at a height above the ground (m)."""
        return self.points(self.column[cells] + 0.5, self.floor_m[cells] + above_m)

    def points(self, across: Floats | Ids, height_m: Floats) -> Floats:
        """Return points (n, 3) (m) of places on the ground (n, 2) in cells, and heights (n,) (m)."""
        ground = across * self.cell_m + self._corner_m
        first, second = ground[..., 0], ground[..., 1]
        order = (first, height_m, second) if self.up == "y" else (first, second, height_m)
        return np.stack(np.broadcast_arrays(*order), axis=-1)

    def join(self) -> Iterator[float]:
        """Find the neighbours; yields the progress."""
        first = np.flatnonzero(np.concatenate(([True], self._keys[1:] != self._keys[:-1])))
        columns, storeys = self._keys[first], np.diff(first, append=len(self))
        found = np.empty((len(self), 4), np.int64)
        yield 0.6
        for part in blocks(len(self)):
            for side, step in enumerate((1, self._row_step, -1, -self._row_step)):
                wanted = self._keys[part] + step
                row = np.minimum(np.searchsorted(columns, wanted), len(columns) - 1)
                count = np.where(columns[row] == wanted, storeys[row], 0)
                found[part, side] = self._nearest_storey(self.floor_m[part], first[row], count)
                yield 0.6 + 0.2 * part.start / len(self)
        for part in blocks(len(self)):
            ids = np.arange(part.start, part.stop)
            for side in range(4):
                there = found[part, side]
                is_mutual = (there != NO_CELL) & (found[there, (side + 2) % 4] == ids)
                self.neighbors[part, side] = np.where(is_mutual, there, NO_CELL)
            yield 0.8 + 0.2 * part.start / len(self)

    def _nearest_storey(self, floor_m: Floats, first: Ids, count: Ids) -> Ids:
        """Return for heights the cell nearest in height among ``count`` cells from ``first`` on."""
        best = np.full(len(floor_m), NO_CELL, np.int64)
        least_m = np.full(len(floor_m), np.nextafter(self.climb_m, np.inf))
        for storey in range(int(count.max())):
            rows = np.flatnonzero(storey < count)
            cells = first[rows] + storey
            rise_m = np.abs(self.floor_m[cells] - floor_m[rows])
            is_better = rise_m < least_m[rows]
            best[rows[is_better]], least_m[rows[is_better]] = cells[is_better], rise_m[is_better]
        return best


def climb_m(cell_m: float) -> float:
    """Return the largest difference in height of neighbouring cells (m)."""
    return max(CLIMB_M, STEEPEST * cell_m)


def ground_cells(
    column: Ids, floor_m: Floats, *, cell_m: float, up: str, radius_m: float,
    corner_m: tuple[float, float] = (0.0, 0.0),
) -> Work[GroundCells]:
    """Return the cells of places in any order, in steps; arguments as of ``GroundCells``.

    Cost: O(n log n), a row of the ground a step.
    """
    rows = yield from rows_of_cells(column)
    kept: list[Ids] = []
    for cells in rows.values():
        x, height_m = column[cells, 0], floor_m[cells]
        order = np.lexsort((height_m, x))
        x, height_m = x[order], height_m[order]
        is_storey = np.ones(len(x), np.bool_)      # ground as high as the cell before is the same ground
        is_storey[1:] = (x[1:] != x[:-1]) | (height_m[1:] - height_m[:-1] > climb_m(cell_m))
        kept.append(cells[order[is_storey]])
        yield 0.5
    places = np.concatenate(kept)
    made = GroundCells(column[places], floor_m[places], cell_m=cell_m, up=up, radius_m=radius_m, corner_m=corner_m)
    yield 0.6
    yield from made.join()
    return made


class WalkableGrid(Described):
    """A grid of walkable cells and their heights.

    Args:
        floor_m: shape (rows, columns), height of the ground (m), NaN for cells that are not
            walkable; or bool, True for walkable cells at the height of ``origin``.
        cell_m: side of a cell, above 0 (m).
        origin: the corner of the first cell (m); columns go along x, rows along z where y is up, along y where z is up.
        up: "y", as in 3D, or "z", as in a 2D world.
        radius_m: distance from the outermost cells to the walls, 0 or more (m).

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or no cell is walkable.
    """

    SHOWN = ("cell_m", "area_m2")

    def __init__(
        self, floor_m: ArrayLike, cell_m: float, *, origin: ArrayLike = (0, 0, 0), up: str = "y", radius_m: float = 0.0,
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
        self.area_m2 = self.sampled_m2 = float(np.isfinite(grid).sum()) * self.cell_m**2
        _check_area(self.area_m2)

    def cells(self) -> Work[GroundCells]:
        """Return the cells, in steps.

        Cost: O(n log n) of cells, a row of them a step.
        """
        columns, floors = [], []
        for row, floor_m in enumerate(self._floor_m):
            x = np.flatnonzero(np.isfinite(floor_m))
            columns.append(np.stack((x, np.full(len(x), row)), axis=1))
            floors.append(floor_m[x])
            yield 0.5 * row / len(self._floor_m)
        cells = yield from ground_cells(
            np.concatenate(columns), np.concatenate(floors), cell_m=self.cell_m,
            up=self.up, radius_m=self.radius_m, corner_m=(self._origin[0], self._origin[1]))
        return cells


class WalkablePolygons(Described):
    """A navigation mesh: convex polygons that together are all walkable ground.

    Args:
        vertices: shape (n, 3), or (n, 2) where z is up (m).
        polygons: indices into ``vertices`` of the corners of each polygon, in order.
        cell_m: side of the cells that sample it, above 0 (m): half the narrowest door, or less.
        up: "y", as in 3D, or "z", as in a 2D world.
        radius_m: distance of the mesh to walls, its agent radius, 0 or more (m). Cells
            extend by at most this, so passages narrower than a cell are not lost.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or there is no walkable ground.
    """

    SHOWN = ("cell_m", "area_m2")

    def __init__(
        self, vertices: ArrayLike, polygons: Sequence[ArrayLike], cell_m: float, *, up: str = "y",
        radius_m: float = 0.0,
    ) -> None:
        self.cell_m, self.up, self.radius_m = _checked(cell_m, up, radius_m)
        places = positions("vertices", vertices, dimensions=(2, 3) if up == "z" else (3,))
        full = np.zeros((len(places), 3))
        full[:, : places.shape[1]] = places
        corners = full[:, [0, 2, 1]] if up == "y" else full
        self._polygons = [corners[_indices(number, one, len(full))] for number, one in enumerate(polygons)]
        self.area_m2 = sum(abs(area_m2(one[:, :2].tolist())) for one in self._polygons)
        self.sampled_m2 = float(sum(np.ptp(one[:, :2], axis=0).prod() for one in self._polygons))
        _check_area(self.area_m2)

    def cells(self) -> Work[GroundCells]:
        """Return the cells, in steps.

        Cost: O(polygons, and cells below them), a polygon a step; then O(n log n) of cells.
        """
        columns, floors = [], []
        # A wall may stand beyond the mesh, but at its radius or more.
        margin_m = min(0.5 * self.cell_m, self.radius_m)
        for number, corners in enumerate(self._polygons):
            column, floor_m = _cells_below(corners, self.cell_m, margin_m)
            columns.append(column)
            floors.append(floor_m)
            yield 0.5 * number / len(self._polygons)
        if not sum(map(len, columns)):
            raise ValueError(f"cell_m must be smaller than the ground, got {self.cell_m:g}")
        cells = yield from ground_cells(
            np.concatenate(columns), np.concatenate(floors), cell_m=self.cell_m, up=self.up,
            radius_m=self.radius_m - margin_m)
        return cells


def _cells_below(corners: Floats, cell_m: float, margin_m: float) -> tuple[Ids, Floats]:
    """Return the columns whose centres lie in a convex polygon (k, 3) or at its margin, and its height there."""
    area = area_m2(corners[:, :2].tolist())
    low, high = corners[:, :2].min(axis=0) - margin_m, corners[:, :2].max(axis=0) + margin_m
    first, last = (np.floor(one / cell_m).astype(np.int64) for one in (low, high))
    columns, rows = np.meshgrid(np.arange(first[0], last[0] + 1), np.arange(first[1], last[1] + 1))
    u, v = (columns + 0.5) * cell_m, (rows + 0.5) * cell_m
    # The bounding box limits what the margin adds at a sharp corner.
    is_in = (u >= low[0]) & (u < high[0]) & (v >= low[1]) & (v < high[1]) & (area != 0.0)
    for (a, b, _), (c, d, _) in pairwise([*corners.tolist(), corners[0].tolist()]):
        outward_u, outward_v = (d - b, a - c) if area > 0 else (b - d, c - a)
        reach = margin_m * (abs(outward_u) + abs(outward_v))
        is_in &= outward_u * (u - a) + outward_v * (v - b) <= reach
    return np.stack((columns[is_in], rows[is_in]), axis=1), _heights_m(corners, u[is_in], v[is_in])


def _heights_m(corners: Floats, u: Floats, v: Floats) -> Floats:
    """Return heights of the plane through a polygon, within the heights of its corners."""
    normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    middle = corners.mean(axis=0)
    if normal[2] == 0:
        return np.full(len(u), middle[2])
    rise = (normal[0] * (u - middle[0]) + normal[1] * (v - middle[1])) / normal[2]
    heights: Floats = np.clip(middle[2] - rise, corners[:, 2].min(), corners[:, 2].max())
    return heights


def _checked(cell_m: float, up: str, radius_m: float) -> tuple[float, str, float]:
    if up not in ("y", "z"):
        raise ValueError(f"up must be 'y' or 'z', got {shown(up)}")
    return finite_number("cell_m", cell_m, above=0), up, finite_number("radius_m", radius_m, minimum=0)


def _indices(number: int, polygon: ArrayLike, count: int) -> Ids:
    indices = as_array("polygons", polygon)
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) < 3:
        raise ValueError(f"polygons[{number}] must hold at least three indices, got {shown(polygon)}")
    if indices.min() < 0 or indices.max() >= count:
        raise ValueError(
            f"polygons[{number}] must hold vertex indices from 0 to {count - 1}, got {shown(indices.tolist())}")
    return indices.astype(np.int64)


def _check_area(area_m2: float) -> None:
    if not area_m2 > 0:
        raise ValueError("the ground has no walkable area; add walkable cells or polygons")
