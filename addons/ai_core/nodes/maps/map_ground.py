"""Where a DecisionMap lies in the scene: its settings, and places of the engine as places on its ground."""
from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import array_of
from addons.ai_core.bridge.gd import (
    NodePath,
    RefusedValue,
    Vector2,
    Vector3,
    export,
    node_path,
)
from addons.ai_core.nodes.characters.agent_places import packed
from addons.ai_core.nodes.paths.grid_of_scene import CellPlaces, grid_of_scene
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer, standard_layers

Points = NDArray[np.float32]


class MapGround:
    """The properties of a DecisionMap that say where it lies and what it shows; a part of that class."""

    class Dimensions(IntEnum):
        THREE = 0
        TWO = 1

    dimensions = export(
        Dimensions, Dimensions.THREE, on_set="_in_use",
        doc="Three: over the ground of a 3D world, x and z; heights are not asked for. Two: over x and y.")
    corner = export(
        Vector2, Vector2(-32, -32), on_set="_in_use",
        doc="The corner with the smallest coordinates: x and z (m), in 2D x and y (pixels).")
    size = export(Vector2, Vector2(64, 64), on_set="_in_use", doc="How far it reaches from there (m; in 2D pixels).")
    cell_size = export(
        float, 2.0, range=(0.1, 1000, 0.1), or_greater=True, on_set="_in_use",
        doc="Side of a cell (m; in 2D pixels). Coarse is right: a few steps of a unit.")
    pixels_per_m = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", on_set="_in_use",
        shown_when=("dimensions", Dimensions.TWO), doc="How long a metre is in 2D, for what layers keep per metre.")
    layers = export(
        list, (), hint=array_of("DecisionLayer"), on_set="_in_use",
        doc="What it knows. None: resources, objectives, conflict, threat, friends, visibility, exploration.")
    walls = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), on_set="_in_use",
        doc="A TileMapLayer or GridMap: nothing spreads through cells of the map whose middle cannot be walked.")

    def made_area(self) -> MapArea:
        """Return the area of the library.

        Raises:
            ValueError: if it has no cells, or too many.
        """
        width, height = (round(side / self.cell_size) for side in (self.size.x, self.size.y))
        if width < 1 or height < 1:
            raise ValueError(f"size must be at least one cell of {self.cell_size:g} each way, got {tuple(self.size)}")
        unit = self.unit_m
        return MapArea(height, width, cell_m=self.cell_size * unit,
                       origin=(self.corner.x * unit, self.corner.y * unit))

    @property
    def unit_m(self) -> float:
        """Length of the scene's unit (m): of a pixel in 2D."""
        return 1 / self.pixels_per_m if self.is_flat else 1.0

    @property
    def is_flat(self) -> bool:
        return bool(self.dimensions == self.Dimensions.TWO)

    def made_layers(self) -> list[MapLayer]:
        """Return the layers of the library.

        Raises:
            ValueError: naming the one that is wrong.
        """
        made = []
        for place, resource in enumerate(self.layers):
            if resource is None:
                raise ValueError(f"layers[{place}] must be a DecisionLayer, got null; choose one")
            try:
                made.append(resource.layer())
            except (TypeError, ValueError) as error:
                raise ValueError(f"layers[{place}]: {error}") from None
        names = [layer.name for layer in made]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"layers have {twice!r} twice; give each a name of its own")
        return made or list(standard_layers())

    def ground_of(self, place: Any) -> tuple[float, float]:
        """Return a place of the engine on the ground (m).

        Raises:
            RefusedValue: if it is none of this map's kind.
        """
        if not isinstance(place, Vector2 if self.is_flat else Vector3):
            raise RefusedValue(f"place must be a Vector{2 if self.is_flat else 3}, got {place!r}")
        if self.is_flat:
            return (place.x * self.unit_m, place.y * self.unit_m)
        return (place.x, place.z)

    def grounds_of(self, places: Any) -> Points:
        """Return places of the engine, packed, on the ground, (n, 2) (m)."""
        array = packed(places, 2 if self.is_flat else 3, "places").astype(np.float32)
        return array * np.float32(self.unit_m) if self.is_flat else array[:, ::2]

    def place_of_ground(self, ground: Sequence[float], height: float = 0.0) -> Any:
        """Return a place on the ground (m) as the engine's vector."""
        if self.is_flat:
            return Vector2(ground[0] / self.unit_m, ground[1] / self.unit_m)
        return Vector3(ground[0], height, ground[1])

    def places_of_grounds(self, grounds: Points) -> Points:
        """Return places on the ground (m) as packed vectors of the engine; in 3D at height 0."""
        if self.is_flat:
            return (grounds / np.float32(self.unit_m)).astype(np.float32)
        return np.insert(grounds, 1, 0.0, axis=1).astype(np.float32)

    def made_walls(self, area: MapArea) -> NDArray[np.bool_] | None:
        """Return where the middles of cells can be walked, None without walls.

        Raises:
            RefusedValue: if the node is no grid.
        """
        if not str(self.walls):
            return None
        source = self.get_node_or_null(self.walls)  # type: ignore[attr-defined]
        grid, places = grid_of_scene(source, 4, "closed", "", 0, ())
        middles = self.places_of_grounds(area.centers_of(np.arange(area.size)))
        return _is_walkable(np.isfinite(grid.passage().costs), places, middles).reshape(area.shape)


def _is_walkable(free: NDArray[np.bool_], places: CellPlaces, middles: Points) -> NDArray[np.bool_]:
    steps = np.rint((middles - places.origin) @ np.linalg.pinv(places.steps)).astype(np.int64)
    columns, rows = steps[:, 0], steps[:, 1]
    is_inside = (rows >= 0) & (columns >= 0) & (rows < places.shape[0]) & (columns < places.shape[1])
    found = np.zeros(len(middles), np.bool_)
    found[is_inside] = free[rows[is_inside], columns[is_inside]]
    return found
