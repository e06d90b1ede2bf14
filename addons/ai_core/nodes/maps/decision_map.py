"""DecisionMap: influence maps of the ground in layers, updated within the budget and drawn over the ground."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import array_of
from addons.ai_core.bridge.gd import (
    Color,
    Node,
    NodePath,
    PackedFloat32Array,
    RefusedValue,
    Variant,
    Vector2,
    Vector2i,
    Vector3,
    construct,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import Dimensions, no_points, packed
from addons.ai_core.nodes.debugging.game_picture import LegendPart
from addons.ai_core.nodes.maps.map_writer import GROUP, MapWriters
from addons.ai_core.nodes.paths.grid_of_scene import grid_of_scene
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    enter_group,
    exit_group,
    leave_scheduler,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.maps import decision_map as library
from ai_core.maps import map_queries
from ai_core.maps.choke_points import choke_points as narrow_places
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import MapLayer, standard_layers
from ai_core.saving.fields import State
from ai_core.scheduling.task import Task, Turn

INTERNAL = 1
RGBA8 = 5
COLD, WARM, HOT = (0.1, 0.25, 0.9), (0.95, 0.8, 0.2), (0.95, 0.1, 0.1)
LEAST_ALPHA, MOST_ALPHA = 0.12, 0.75
"""Opacity of the lowest and the highest values: cells of value 0 stay visible, and the game shows through all."""

ABOVE_GROUND_M = 0.1


def heat_colors(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return colors from cold to hot, (height, width, 4), by share of the largest value."""
    largest = float(values.max())
    share = (values / largest if largest > 0 else np.zeros_like(values))[..., None]
    stops = np.array([COLD, WARM, HOT])
    low, high = np.where(share < 0.5, stops[0], stops[1]), np.where(share < 0.5, stops[1], stops[2])
    mixed = low + (high - low) * (2 * share % 1.0 + (share == 1.0))
    alpha = np.where(share > 0, LEAST_ALPHA + (MOST_ALPHA - LEAST_ALPHA) * share, LEAST_ALPHA / 2)
    return np.ascontiguousarray(np.concatenate((mixed, alpha), axis=2) * 255, np.uint8)


class MapOverlay:
    """A texture of cells on a plane over the map, or on a sprite in 2D.

    Args:
        node: the DecisionMap, which gets it as an internal child.
    """

    def __init__(self, node: Any) -> None:
        self._texture: Any = None
        self._image = construct("Image")
        size, corner = node.size, node.corner
        if node.is_flat:
            self.node = construct("Sprite2D")
            self.node.top_level, self.node.centered, self.node.z_index = True, False, 4095
            self.node.position = corner
            self.node.scale = Vector2(node.cell_size, node.cell_size)
            self.node.texture_filter = 1            # nearest: cells stay visible
        else:
            self.node, plane = construct("MeshInstance3D"), construct("PlaneMesh")
            plane.size = size
            self.node.mesh, self.node.top_level, self.node.cast_shadow = plane, True, 0
            self.node.position = Vector3(
                corner.x + size.x / 2, node.shown_height + ABOVE_GROUND_M, corner.y + size.y / 2)
        self._legend = LegendPart(self.node)
        node.add_child(self.node, False, INTERNAL)

    def show(self, layer: str, values: NDArray[np.float32]) -> None:
        """Draw the values of a layer. Cost: O(cells); for debugging, not for players."""
        largest = float(values.max())
        colors = ((0.0, COLD), (0.5, WARM), (1.0, HOT)) if largest > 0 else ((0.0, COLD),)
        self._legend.put({f"{layer} {share * largest:.3g}": Color(*color, 1.0) for share, color in colors})
        height, width = values.shape
        self._image.set_data(width, height, False, RGBA8, heat_colors(values).tobytes())
        if self._texture is not None:
            self._texture.update(self._image)
            return
        self._texture = construct("ImageTexture")
        self._texture.set_image(self._image)
        if self.node.is_class("Sprite2D"):
            self.node.texture = self._texture
            return
        material = construct("StandardMaterial3D")
        material.shading_mode, material.transparency, material.cull_mode = 0, 1, 2
        material.texture_filter = 0
        material.albedo_texture = self._texture
        self.node.material_override = material

    def free(self) -> None:
        """Remove the drawing, and release its resources, which the engine would report as leaked."""
        self._legend.free()
        if self.node.is_valid():
            self.node.queue_free()
        self._texture = self._image = None


Points = NDArray[np.float32]


@gdclass(icon="res://addons/ai_core/icons/decision_map.svg", keywords="influence map, heat map, threat map")
class DecisionMap(Node):
    """Influence maps of the ground in layers, such as resources, conflict, threat and exploration.

    Units write with write(), write_batch(), or a MapWriter below each. An update takes the written values, fades old
    values, spreads and blurs, one slice per frame of the AIScheduler. Queries return values of the last complete
    update.
    """

    Dimensions = Dimensions

    dimensions = export(
        Dimensions, Dimensions.THREE, words=("3D", "2D"), live=False,
        doc="3D: the map covers x and z of a 3D world; heights are ignored. 2D: the map covers x and y.")
    corner = export(
        Vector2, Vector2(-32, -32), range=(-100_000, 100_000, 0.1), or_greater=True, unit="m", live=False,
        doc="Corner of the area with the smallest coordinates: x and z, in 2D x and y.")
    size = export(
        Vector2, Vector2(64, 64), range=(0.1, 100_000, 0.1), or_greater=True, unit="m", live=False,
        doc="Size of the area from the corner.")
    cell_size = export(
        float, 2.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m", live=False,
        doc="Side length of a cell; the length of a few steps of a unit is precise enough.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m", live=False,
        shown_when=("dimensions", Dimensions.TWO),
        doc="Number of pixels in a metre in 2D, for the shares that layers keep per metre.")
    layers = export(
        list, (), hint=array_of("DecisionLayer"), live=False,
        doc="Layers of the map. If empty: resources, objectives, conflict, threat, friends, visibility and"
            " exploration.")
    walls = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), live=False,
        doc="TileMapLayer or GridMap with walls: values do not spread through cells whose center is not walkable, nor"
            " outside its used cells. If empty, there are no walls. Call ground_changed() after its cells change.")
    update_interval = export(
        float, 0.25, range=(0, 60, 0.01), or_greater=True, unit="s", group="Optimizations", on_set="_period_set",
        doc="Game time from the start of one update to the start of the next.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_priority_set", doc="Weight of the map's share of the budget.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show",
        doc="If true, draws shown_layer over the ground of the running game.")
    shown_layer = export(str, "threat", on_set="_show", doc="Name of the layer that is drawn.")
    shown_height = export(
        float, 0.0, range=(-1000, 1000, 0.1), or_greater=True, unit="m", on_set="_redraw",
        shown_when=("dimensions", Dimensions.THREE), doc="Height of the ground over which the layer is drawn.")

    map_updated = signal(("frame", int),
        doc="Emitted when an update is complete; frame is the frame in which the update started.")

    def __init__(self) -> None:
        self._core: library.DecisionMap | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._overlay: MapOverlay | None = None
        self._emitted_updates = 0
        self._wrong: list[str] = []     # errors of layers that are left out
        self._reported: set[str] = set()
        self._reported_layer = ""       # an unknown shown_layer
        self.writers = MapWriters(self)

    def on_enter_tree(self) -> None:
        enter_group(self, GROUP)

    def on_entered(self) -> None:
        if self._task is not None:
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        self._task = self._scheduler.schedule_service(self, self._frame, "update", priority=self.priority)
        call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        exit_group(self, GROUP)
        self._hide()
        self.writers.release_all()
        leave_scheduler(self, self._scheduler, self._task)
        self._core = self._task = self._scheduler = None

    @property
    def core(self) -> library.DecisionMap:
        """The library's decision map, for strategists and behaviors written in Python.

        It is created on first use, because a script may set its settings before.
        """
        if self._core is None:
            if self._task is None:
                raise RefusedValue("does not run; add it to a scene with an AIScheduler")
            layers, self._wrong = self.made_layers()
            try:
                area = self.made_area()
                self._core = library.DecisionMap(
                    area, layers, self._scheduler.clock, is_open=self.made_walls(area), period_s=self.update_interval)
            except ValueError as error:
                raise RefusedValue(f"is not used: {error}") from None
            self._emitted_updates = 0
        return self._core

    @method
    def write(self, layer: str, place: Variant, strength: float) -> bool:
        """Write a strength at a position for the next update; return false if it is outside the map."""
        ground = self.ground_of(place)
        with self._refusing() as core:
            return core.write_at(layer, [ground], strength) == 1

    @method
    def write_batch(self, layer: str, places: Variant, strengths: PackedFloat32Array) -> int:
        """Write at many positions, a PackedVector3Array or PackedVector2Array; return the number on the map.

        A single strength is used for all positions.
        """
        grounds = self.grounds_of(places)
        amounts = np.asarray(strengths, np.float32)
        with self._refusing() as core:
            return core.write_at(layer, grounds, float(amounts[0]) if len(amounts) == 1 else amounts)

    @method
    def write_circle(self, layer: str, place: Variant, radius: float, strength: float) -> int:
        """Write into every cell whose center is within a radius (m; in 2D px), such as the view of a unit.

        Returns the number of cells.
        """
        ground = self.ground_of(place)
        with self._refusing() as core:
            return core.write(layer, core.area.cells_within(ground, radius * self.unit_m), strength)

    @method
    def value_at(self, layer: str, place: Variant) -> float:
        """Return the value of a layer at a position; 0 outside the map."""
        ground = self.ground_of(place)
        with self._refusing() as core:
            cell = core.area.cell_at(ground)
            return 0.0 if cell == OUTSIDE else float(core.picture[layer].flat[cell])

    @method
    def total_within(self, layer: str, place: Variant, radius: float) -> float:
        """Return the sum of a layer over the cells whose centers are within a radius (m; in 2D px)."""
        ground = self.ground_of(place)
        with self._refusing() as core:
            cells = core.area.cells_within(ground, radius * self.unit_m)
            return float(core.picture[layer].reshape(-1)[cells].sum(dtype=np.float64))

    @method
    def best_cell(self, weights: Variant) -> Variant:
        """Return the center of the best cell of a layer, or of layers by weight: {"resources": 1, "threat": -2}.

        Of equal cells the one in the first row, then in the first column. Null if no cell is above 0.
        """
        found = self._best(weights, 1, 1)
        return self.place_of_ground(found[0].tolist()) if len(found) else None

    @method(after_error="_no_points")
    def best_cells(self, weights: Variant, count: int, apart_cells: int = 1) -> Variant:
        """Return the centers of the best cells above 0, the best first, with a least distance of apart_cells."""
        return self.places_of_grounds(self._best(weights, count, apart_cells))

    @method(after_error="_no_points")
    def frontier(self, layer: str = "exploration", known_below_s: float = 60.0) -> Variant:
        """Return the centers of known cells beside unknown cells, where scouting continues."""
        with self._refusing() as core:
            cells = map_queries.frontier(core.picture[layer], known_below_s, is_open=core.is_open)
            return self.places_of_grounds(core.area.centers_of(cells))

    @method
    def ground_changed(self) -> None:
        """Read walls again, after cells of the TileMapLayer or GridMap changed.

        Queries use the new walls at once, values spread around them from the next update on, and a Strategist finds
        the narrow places again at its next thought. The cost grows with the cells of both.
        """
        with self._refusing() as core:
            core.set_open(self.made_walls(core.area))

    @method(after_error="_no_points")
    def choke_points(self, max_width_cells: int = 3) -> Variant:
        """Return the narrow places between wide areas; requires walls. Takes about 10 ms, so call it once."""
        with self._refusing() as core:
            if core.is_open is None:
                raise ValueError("choke_points needs walls; set walls to a TileMapLayer or GridMap")
            cells = [point.cell for point in narrow_places(core.is_open, max_width_cells)]
            return self.places_of_grounds(core.area.centers_of(np.array(cells, np.int32)))

    @method
    def get_values(self, layer: str) -> PackedFloat32Array:
        """Return all values of a layer, row by row; get_shape() returns the length of a row."""
        with self._refusing() as core:
            return core.picture[layer].reshape(-1).copy()

    @method
    def get_shape(self) -> Vector2i:
        """Return the numbers of columns and rows."""
        height, width = self.core.area.shape
        return Vector2i(width, height)

    @method
    def get_stats(self) -> dict:
        """Return counts as a Dictionary.

        Keys: updates (complete ones), written (strengths), writers, cells, layers (their names), is_updating, and
        age_s of the last complete update.
        """
        core = self.core
        return {
            "updates": core.updates, "written": core.written, "writers": len(self.writers),
            "cells": core.area.size, "layers": list(core.layers), "is_updating": not core.is_done,
            "age_s": core.clock.now.seconds - core.picture.at.seconds,
        }

    save_state, load_state = saving("all layers and the progress of an update")

    def is_in_use(self) -> bool:
        try:
            return self.core is not None
        except RefusedValue:
            return False

    def saved(self) -> State:
        return self.core.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        change = self.core.prepare_state(state)

        def change_all() -> None:
            change()
            self._emitted_updates = self.core.updates
            self._show()

        return change_all

    def _frame(self, turn: Turn) -> None:
        try:
            core = self.core
        except RefusedValue as error:
            self._report([*self._wrong, str(error)])
            return
        self._report(self._wrong)
        if core.is_done and core.is_due:
            self.writers.write(core)
            core.begin()
        if not core.is_done:
            core.advance(turn.budget)
        if core.updates != self._emitted_updates:
            self._emitted_updates = core.updates
            if self.show_in_game:
                self._scheduler.draw_later(self, self._show)
            self.map_updated.emit(core.picture.at.frame)

    def _report(self, mistakes: list[str]) -> None:
        for mistake in mistakes:
            if mistake not in self._reported:
                report_error(mistake, self)
        self._reported = set(mistakes)

    def _best(self, weights: Any, count: int, apart_cells: int) -> NDArray[np.float32]:
        with self._refusing() as core:
            if isinstance(weights, str):
                values = core.picture[weights]
            elif isinstance(weights, dict) and weights:
                values = core.picture.combined({str(name): weight for name, weight in weights.items()})
            else:
                raise TypeError(f"weights must be the name of a layer, or weights by layer name, got {weights!r}")
            cells = map_queries.best_cells(
                values, count, apart_cells=apart_cells, where=core.is_open, above=0.0)
            return core.area.centers_of(cells)

    @contextmanager
    def _refusing(self) -> Iterator[library.DecisionMap]:
        """Turn errors of the library into errors of the node."""
        core = self.core
        try:
            yield core
        except (ValueError, TypeError, LookupError, RuntimeError) as problem:
            raise RefusedValue(str(problem)) from None

    def _show(self) -> None:
        if not self.show_in_game or self._core is None:
            self._hide()
            return
        if self.shown_layer not in self._core.layers:
            self._hide()
            if self.shown_layer != self._reported_layer:
                self._reported_layer = self.shown_layer
                report_next_frame(self, self._mistakes_of_showing)
            return
        self._reported_layer = ""
        if self._overlay is None:
            self._overlay = MapOverlay(self)
        self._overlay.show(self.shown_layer, self._core.picture[self.shown_layer])

    def _mistakes_of_showing(self) -> list[str]:
        if not self.show_in_game or self._core is None or self.shown_layer in self._core.layers:
            return []
        return [f"shown_layer must be one of {', '.join(self._core.layers)}, got {self.shown_layer!r};"
                " nothing is shown"]

    def _redraw(self) -> None:
        self._hide()
        self._show()

    def _hide(self) -> None:
        if self._overlay is not None:
            self._overlay.free()
            self._overlay = None

    def _period_set(self) -> None:
        if self._core is not None:
            self._core.period_s = self.update_interval

    def _priority_set(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, period_frames=1, phase_frames=0, priority=self.priority)

    def _in_use(self) -> None:
        if self._core is not None and (self._core.has_begun or self._core.written):
            raise RefusedValue("cannot change while the map runs; set it before the map is first used")
        self._core = None

    def _get_configuration_warnings(self) -> list[str]:
        warnings = scheduler_warnings(self)
        try:
            self.made_area()
        except ValueError as error:
            warnings.append(str(error))
        return [*warnings, *self.made_layers()[1], *self._walls_warnings()]

    def _walls_warnings(self) -> list[str]:
        if not str(self.walls):
            return []
        source = self.get_node_or_null(self.walls)
        if source is not None and (source.is_class("TileMapLayer") or source.is_class("GridMap")):
            return []
        return [f"walls is '{self.walls}', which is no TileMapLayer or GridMap; the map is not used until it is one"]

    def made_area(self) -> MapArea:
        """Return the library's area; raise ValueError if it has no cells, or too many."""
        width, height = (round(side / self.cell_size) for side in (self.size.x, self.size.y))
        if width < 1 or height < 1:
            raise ValueError(f"size must be at least one cell of {self.cell_size:g} each way, got {tuple(self.size)}")
        unit = self.unit_m
        return MapArea(height, width, cell_m=self.cell_size * unit,
                       origin=(self.corner.x * unit, self.corner.y * unit))

    @property
    def unit_m(self) -> float:
        """Length of the scene's unit (m); in 2D the length of a pixel."""
        return 1 / self.unit

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    @property
    def is_flat(self) -> bool:
        return bool(self.dimensions == self.Dimensions.TWO)

    def made_layers(self) -> tuple[list[MapLayer], list[str]]:
        """Return the library's layers, and the errors of those that are left out."""
        made: dict[str, MapLayer] = {}
        wrong = []
        for place, resource in enumerate(self.layers):
            try:
                if resource is None:
                    raise ValueError("must be a DecisionLayer, got null; choose one")
                layer = resource.layer()
                if layer.name in made:
                    raise ValueError(f"layer_name {layer.name!r} is used twice; give each layer its own name")
                made[layer.name] = layer
            except (TypeError, ValueError) as error:
                wrong.append(f"layers[{place}] is ignored: {error}")
        return list(made.values()) if self.layers else list(standard_layers()), wrong

    def ground_of(self, place: Any) -> tuple[float, float]:
        """Return a position of the engine on the ground (m).

        Raises:
            RefusedValue: if it is not a vector of this map's dimensions.
        """
        if not isinstance(place, Vector2 if self.is_flat else Vector3):
            raise RefusedValue(f"place must be a Vector{2 if self.is_flat else 3}, got {place!r}")
        if self.is_flat:
            return (place.x * self.unit_m, place.y * self.unit_m)
        return (place.x, place.z)

    def grounds_of(self, places: Any) -> Points:
        """Return packed positions of the engine on the ground, (n, 2) (m)."""
        array = packed(places, 2 if self.is_flat else 3, "places").astype(np.float32)
        return array * np.float32(self.unit_m) if self.is_flat else array[:, ::2]

    def place_of_ground(self, ground: Sequence[float], height: float = 0.0) -> Any:
        """Return a position on the ground (m) as an engine vector."""
        if self.is_flat:
            return Vector2(ground[0] / self.unit_m, ground[1] / self.unit_m)
        return Vector3(ground[0], height, ground[1])

    @property
    def _no_points(self) -> Points:
        return no_points(2 if self.is_flat else 3)

    def places_of_grounds(self, grounds: Points) -> Points:
        """Return positions on the ground (m) as packed vectors of the engine; in 3D at height 0."""
        if self.is_flat:
            return (grounds / np.float32(self.unit_m)).astype(np.float32)
        return np.insert(grounds, 1, 0.0, axis=1).astype(np.float32)

    def made_walls(self, area: MapArea) -> NDArray[np.bool_] | None:
        """Return which cells have a walkable center, None without walls.

        Raises:
            RefusedValue: if the node is not a grid.
        """
        if not str(self.walls):
            return None
        source = self.get_node_or_null(self.walls)  # type: ignore[attr-defined]
        try:
            grid, places = grid_of_scene(source, 4, "closed", "", 0, ())
        except RefusedValue as error:
            raise RefusedValue(f"walls: {error}") from None
        middles = self.places_of_grounds(area.centers_of(np.arange(area.size)))
        cells = places.cells_at(middles)
        return ((cells >= 0) & np.isfinite(grid.passage().costs).ravel()[cells]).reshape(area.shape)
