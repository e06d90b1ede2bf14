"""Grids of a scene: a TileMapLayer, a GridMap or an AStarGrid2D as a grid, with the positions of its cells."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, RefusedValue, Vector2i, Vector3i
from ai_core.maps.cell_moves import Corners
from ai_core.maps.grid import MOST_CELLS, Grid
from ai_core.maps.passage import GridPassage, nearest_free

ISOMETRIC, HALF_OFFSET, HEXAGON = 1, 2, 3
HORIZONTAL = 0
ROW_SHARE = {ISOMETRIC: 0.5, HALF_OFFSET: 1.0, HEXAGON: 0.75}
"""Distance of two rows as a share of the tile height; the rest overlaps."""

Numbers = NDArray[np.float64]
Wholes = NDArray[np.int64]


class GridPlaces:
    """Positions of the cells of a grid in the scene.

    A subclass has ``shape`` (rows, columns), ``cells_at``, ``points``, ``steps`` and ``first``.
    """

    def cell_at(self, name: str, place: Sequence[float]) -> int:
        """Return the cell of a position, ignoring heights; raise RefusedValue if it is not on the grid."""
        cell = int(self.cells_at(np.array([tuple(place)]))[0])
        if cell < 0:
            first, last = (
                tuple(np.round(one.astype(float), 2).tolist())
                for one in self.points(np.array((0, self.shape[0] * self.shape[1] - 1), np.int32)))
            raise RefusedValue(
                f"{name} is not on the grid, got {tuple(place)}; its corner cells are at {first} and {last}")
        return cell

    def nearest_free(self, passage: GridPassage, place: Sequence[float], within: float) -> int | None:
        """Return the free cell nearest to a position within a distance, None if there is none; ignores heights."""
        offset = np.array(tuple(place)) - self.points(np.zeros(1, np.int32))[0]
        return nearest_free(passage, offset, within, steps=self.steps)

    def _numbers(self, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of cells, -1 for those that are not on the grid."""
        is_here = (rows >= 0) & (rows < self.shape[0]) & (columns >= 0) & (columns < self.shape[1])
        found: NDArray[np.int32] = np.where(is_here, rows * self.shape[1] + columns, -1).astype(np.int32)
        return found

    def _number(self, cell: object, row: int, column: int) -> int:
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            raise RefusedValue(
                f"cell {cell!r} is not on the grid of {self.shape[1]} by {self.shape[0]} from {self.first}")
        return row * self.shape[1] + column


@dataclass(frozen=True)
class TilePlaces(GridPlaces):
    """Positions of the cells of a grid of isometric, half-offset or hexagonal tiles.

    Whatever the layout of a TileSet, the centers of its tiles lie in rows (in columns, if the offset axis is
    vertical), and every second row is shifted by half a tile. So the position of a tile determines its row and its
    half columns; a hexagonal grid uses the rows, a square grid the two diagonals of a diamond.

    Attributes:
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
        return self._number(cell, int(rows[0]), int(columns[0]))

    def cells_at(self, places: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the cells whose centers are nearest to positions (n, 2), -1 for those that are not on the grid."""
        inside = np.linalg.solve(self.axes, (places - self.origin).T).T - self.corners[0, 0]
        half = np.array(self.tile[::-1 if self.is_upright else 1]) / 2
        around = np.stack([self._split(inside + np.array(step) * half) for step in product((-1, 0, 1), repeat=2)])
        apart = np.linalg.norm(self._inside(around.reshape(-1, 2)).reshape(around.shape) - inside, axis=2)
        nearest = np.argmin(apart, axis=0)
        found = self._numbers(*(around[nearest, np.arange(len(places))] - self.first).T)
        found[apart.min(axis=0) > max(self.tile)] = -1
        return found

    @property
    def steps(self) -> Numbers:
        first, column, row = self._inside(np.array([(0, 0), (0, 1), (2, 0)])) @ self.axes.T
        return np.stack((column - first, (row - first) / 2))

    def points(self, cells: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the centers of cells in the world, (n, 2)."""
        rows = np.stack(np.divmod(np.asarray(cells, np.int64), self.shape[1]), axis=1) + self.first
        inside = self._inside(rows) + self.corners[0, 0]
        return (inside @ self.axes.T + self.origin).astype(np.float32)

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


SQUARE = 0
NO_ITEM = -1
OWN_DIAGONALS: tuple[tuple[int, Corners], ...] = ((8, "open"), (4, "closed"), (8, "half_open"), (8, "closed"))
"""Neighbors and corners of AStarGrid2D.DiagonalMode: always, never, at least one walkable, only if no obstacles."""


@dataclass(frozen=True)
class CellPlaces(GridPlaces):
    """Positions of the cells of a grid at even steps.

    Attributes:
        first: column and row of the first cell in the scene.
        origin: center of the first cell (m, or pixels), (2,) or (3,).
        steps: (2, d): from one column to the next, and from one row to the next.
    """

    first: tuple[int, int]
    shape: tuple[int, int]
    origin: Numbers
    steps: Numbers

    @property
    def dimensions(self) -> int:
        return len(self.origin)

    @property
    def cell_size(self) -> float:
        """Length of the longer side of a cell (m, or pixels)."""
        return float(np.linalg.norm(self.steps, axis=1).max())

    def cells_at(self, places: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the cells of positions (n, d), -1 for those that are not on the grid; ignores heights."""
        columns, rows = np.rint((places - self.origin) @ np.linalg.pinv(self.steps)).T
        return self._numbers(rows, columns)

    def number(self, cell: object) -> int:
        """Return the number of a cell given as in the scene: Vector2i, or a GridMap's Vector3i.

        Raises:
            RefusedValue: if it is of another type, or not on the grid.
        """
        if not isinstance(cell, (Vector2i, Vector3i)):
            raise RefusedValue(f"cells must be Vector2i or Vector3i, got {cell!r}")
        numbers = tuple(cell)
        return self._number(cell, numbers[-1] - self.first[1], numbers[0] - self.first[0])

    def points(self, cells: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the centers of cells, (n, 2) or (n, 3)."""
        rows, columns = np.divmod(cells, self.shape[1])
        return (self.origin + np.stack((columns, rows), axis=1) @ self.steps).astype(np.float32)


Places = CellPlaces | TilePlaces
"""Positions of the cells of a grid: at even steps, or like tiles."""


def grid_of_scene(
    source: Any, neighbors: int, corners: Corners, cost_data: str, floor_level: int, wall_items: Sequence[int]
) -> tuple[Grid, Places]:
    """Return the grid of a node or an AStarGrid2D; hexagonal and half-offset tiles have 6 neighbors.

    Raises:
        RefusedValue: if the source is not a grid, or is empty.
    """
    kind = str(source.get_class()) if isinstance(source, GDObject) and source.is_valid() else ""
    places: Places
    if kind == "TileMapLayer":
        costs, places = _tiles(source, cost_data)
        neighbors = getattr(places, "neighbors", None) or neighbors
    elif kind == "GridMap":
        costs, places = _grid_map(source, floor_level, set(wall_items))
    elif kind == "AStarGrid2D":
        costs, places = _points(source)
        neighbors, corners = OWN_DIAGONALS[source.diagonal_mode]
    else:
        raise RefusedValue(f"a grid must be a TileMapLayer, a GridMap or an AStarGrid2D, got {source!r}")
    try:
        return Grid(costs, neighbors=neighbors, corners=corners), places
    except (TypeError, ValueError) as error:
        raise RefusedValue(f"{kind}: {error}") from None


def _walls(source: str, width: int, height: int) -> NDArray[np.float32]:
    if width <= 0 or height <= 0 or width * height > MOST_CELLS:
        raise RefusedValue(f"{source} has {width} by {height} cells; it must have at least 1, and at most {MOST_CELLS}")
    return np.full((height, width), np.inf, np.float32)


def _laid(first: tuple[int, int], shape: tuple[int, ...], middle_of: Any) -> CellPlaces:
    """Return the positions of cells, from the centers of three cells."""
    column, row = first
    origin, next_column, next_row = (
        np.array(tuple(middle_of(*cell)), float) for cell in ((column, row), (column + 1, row), (column, row + 1)))
    return CellPlaces(first, (shape[0], shape[1]), origin, np.stack((next_column - origin, next_row - origin)))


def _tiles(layer: Any, cost_data: str) -> tuple[NDArray[np.float32], Places]:
    tiles = layer.tile_set
    if tiles is None:
        raise RefusedValue("the TileMapLayer needs a TileSet; set tile_set")
    if cost_data and tiles.get_custom_data_layer_by_name(cost_data) < 0:
        raise RefusedValue(f"the TileSet has no custom data layer {cost_data!r}; add it, or leave cost_data empty")
    used = layer.get_used_cells()
    places: Places
    if tiles.tile_shape == SQUARE:
        column, row, width, height = (int(one) for one in layer.get_used_rect())
        costs = _walls("the TileMapLayer", width, height)
        places = _laid((column, row), costs.shape, lambda x, y: layer.to_global(layer.map_to_local(Vector2i(x, y))))
        columns, rows = np.array([tuple(one) for one in used], np.int64).reshape(-1, 2).T - [[column], [row]]
    else:
        places = TilePlaces.of(layer, used)
        costs = _walls("the TileMapLayer", places.shape[1], places.shape[0])
        rows, columns = places.cells_of(used)
    layers = range(tiles.get_physics_layers_count())
    for cell, at_row, at_column in zip(used, rows.tolist(), columns.tolist(), strict=True):
        data = layer.get_cell_tile_data(cell)
        if data is None:
            continue
        if cost_data:
            value = float(data.get_custom_data(cost_data) or 0)
            cost = value if value > 0 else np.inf
        else:
            cost = np.inf if any(data.get_collision_polygons_count(one) for one in layers) else 1.0
        costs[at_row, at_column] = cost
    return costs, places


def _grid_map(grid_map: Any, level: int, wall_items: set[int]) -> tuple[NDArray[np.float32], CellPlaces]:
    floor = [tuple(cell) for cell in grid_map.get_used_cells() if tuple(cell)[1] == level]
    if not floor:
        levels = sorted({int(tuple(cell)[1]) for cell in grid_map.get_used_cells()})
        has = f"set floor_level to one of {', '.join(map(str, levels[:9]))}" if levels else "the GridMap is empty"
        raise RefusedValue(f"the GridMap has no cells at floor_level {level}; {has}")
    (column, row), (last_column, last_row) = (
        [int(end(cell[axis] for cell in floor)) for axis in (0, 2)] for end in (min, max))
    costs = _walls("the GridMap", last_column - column + 1, last_row - row + 1)
    item_at = grid_map.get_cell_item
    for x, y, z in floor:
        if item_at(Vector3i(x, y, z)) not in wall_items and item_at(Vector3i(x, y + 1, z)) == NO_ITEM:
            costs[z - row, x - column] = 1
    return costs, _laid(
        (column, row), costs.shape,
        lambda x, z: grid_map.to_global(grid_map.map_to_local(Vector3i(x, level, z))))


def _points(grid: Any) -> tuple[NDArray[np.float32], CellPlaces]:
    if grid.is_dirty() or grid.cell_shape != SQUARE:
        problem = "has other cells" if grid.cell_shape != SQUARE else "was changed without update()"
        raise RefusedValue(f"the AStarGrid2D must have square cells and be up to date, but it {problem}; call update()"
                           f" with cell_shape CELL_SHAPE_SQUARE")
    column, row, width, height = (int(one) for one in grid.region)
    costs = _walls("the AStarGrid2D", width, height)
    for y in range(height):
        for x in range(width):
            cell = Vector2i(column + x, row + y)
            if not grid.is_point_solid(cell):
                costs[y, x] = grid.get_point_weight_scale(cell)
    origin = np.array(tuple(grid.get_point_position(Vector2i(column, row))), float)
    return costs, CellPlaces((column, row), (height, width), origin, np.diag(np.array(tuple(grid.cell_size), float)))
