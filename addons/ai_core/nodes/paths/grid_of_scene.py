"""Grids of a scene: a TileMapLayer, a GridMap or an AStarGrid2D as a grid, with the positions of its cells."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, RefusedValue, Vector2i, Vector3i
from addons.ai_core.nodes.paths.tile_places import TilePlaces
from ai_core.maps.cell_moves import Corners
from ai_core.maps.grid import MOST_CELLS, Grid
from ai_core.maps.passage import GridPassage, nearest_free

SQUARE = 0
NO_ITEM = -1
OWN_DIAGONALS: tuple[tuple[int, Corners], ...] = ((8, "open"), (4, "closed"), (8, "half_open"), (8, "closed"))
"""Neighbors and corners of AStarGrid2D.DiagonalMode: always, never, at least one walkable, only if no obstacles."""


@dataclass(frozen=True)
class CellPlaces:
    """Positions of the cells of a grid.

    Attributes:
        first: column and row of the first cell in the scene.
        shape: (rows, columns).
        origin: center of the first cell (m, or pixels), (2,) or (3,).
        steps: (2, d): from one column to the next, and from one row to the next.
    """

    first: tuple[int, int]
    shape: tuple[int, int]
    origin: NDArray[np.float64]
    steps: NDArray[np.float64]

    @property
    def dimensions(self) -> int:
        return len(self.origin)

    def nearest_free(self, passage: GridPassage, place: Sequence[float], within: float) -> int | None:
        """Return the free cell nearest to a position within a distance, None if there is none; ignores heights."""
        return nearest_free(passage, np.array(place) - self.origin, within, steps=self.steps)

    @property
    def cell_size(self) -> float:
        """Length of the longer side of a cell (m, or pixels)."""
        return float(np.linalg.norm(self.steps, axis=1).max())

    def cell_at(self, name: str, place: Sequence[float]) -> int:
        """Return the cell of a position; ignores heights.

        Raises:
            RefusedValue: if it is not on the grid.
        """
        cell = int(self.cells_at(np.array([tuple(place)]))[0])
        if cell < 0:
            raise RefusedValue(f"{name} is not on the grid, got {tuple(place)}; its cell centers range from"
                               f" {self._shown(0, 0)} to {self._shown(self.shape[1] - 1, self.shape[0] - 1)}")
        return cell

    def cells_at(self, places: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the cells of positions (n, d), -1 for those that are not on the grid; ignores heights."""
        column, row = np.rint((places - self.origin) @ np.linalg.pinv(self.steps)).T
        is_here = (row >= 0) & (row < self.shape[0]) & (column >= 0) & (column < self.shape[1])
        found: NDArray[np.int32] = np.where(is_here, row * self.shape[1] + column, -1).astype(np.int32)
        return found

    def number(self, cell: object) -> int:
        """Return the number of a cell given as in the scene: Vector2i, or a GridMap's Vector3i.

        Raises:
            RefusedValue: if it is of another type, or not on the grid.
        """
        if not isinstance(cell, (Vector2i, Vector3i)):
            raise RefusedValue(f"cells must be Vector2i or Vector3i, got {cell!r}")
        numbers = tuple(cell)
        column, row = numbers[0] - self.first[0], numbers[-1] - self.first[1]
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            raise RefusedValue(
                f"cell {cell!r} is not on the grid of {self.shape[1]} by {self.shape[0]} from {self.first}")
        return row * self.shape[1] + column

    def points(self, cells: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the centers of cells, (n, 2) or (n, 3)."""
        rows, columns = np.divmod(cells, self.shape[1])
        return (self.origin + np.stack((columns, rows), axis=1) @ self.steps).astype(np.float32)

    def _shown(self, column: int, row: int) -> tuple[float, ...]:
        return tuple(np.round(self.origin + np.array((column, row)) @ self.steps, 2).tolist())


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
        raise RefusedValue(f"the GridMap has no cells at floor_level {level}")
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
        raise RefusedValue("the AStarGrid2D must have square cells, and needs update() after a change of its size")
    column, row, width, height = (int(one) for one in grid.region)
    costs = _walls("the AStarGrid2D", width, height)
    for y in range(height):
        for x in range(width):
            cell = Vector2i(column + x, row + y)
            if not grid.is_point_solid(cell):
                costs[y, x] = grid.get_point_weight_scale(cell)
    origin = np.array(tuple(grid.get_point_position(Vector2i(column, row))), float)
    return costs, CellPlaces((column, row), (height, width), origin, np.diag(np.array(tuple(grid.cell_size), float)))
