"""Cover of a scene: positions beside walls, rays, and baking, in metres."""
from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, RefusedValue, Vector2, Vector3, singleton
from addons.ai_core.nodes.baking.baking_node import LevelBaking
from addons.ai_core.nodes.baking.scene_ground import mesh_below
from addons.ai_core.nodes.paths.grid_of_scene import Places, grid_of_scene
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D
from ai_core.budget import Budget
from ai_core.maps.cover.cover_baking import (
    CoverBaking,
    CoverBakingSettings,
    candidates_along_edges,
    candidates_from_grid,
    wall_edges,
)
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, CoverBody, CoverCandidates, CoverSpots
from ai_core.maps.grid import Grid

Points = NDArray[np.float32]

OFF_GROUND_SHARE = 1.0
"""Largest distance of the ground from a position where an agent can stand, as a share of its radius."""


FLOOR_ABOVE_M, FLOOR_BELOW_M = 0.3, 1.0
"""Distances above and below the navigation mesh in which the floor is searched (m): the mesh lies above
the floor by up to two of its ``cell_height``, which is 0.25 by default."""

ALL_LAYERS = 0xFFFFFFFF


class CoverScene:
    """Geometry of the scene of a CoverMap.

    Args:
        owner: the CoverMap, inside the tree.
        dimensions: 3 or 2.
        mask: physics layers that stop rays.
        pixels_per_m: pixels per metre; 1 in 3D.
    """

    def __init__(self, owner: Any, dimensions: int, mask: int, pixels_per_m: float) -> None:
        self._owner, self.dimensions, self.pixels_per_m = owner, dimensions, pixels_per_m
        self.rays: Any = (
            PhysicsSpace3D(owner, mask) if dimensions == 3 else PhysicsSpace2D(owner, mask, pixels_per_m))
        self.rays.node.hit_from_inside = True        # a ray that starts inside a body is blocked
        self.counted = 0

    @property
    def up(self) -> str:
        """Axis of heights."""
        return "y" if self.dimensions == 3 else "-z"

    def free(self) -> None:
        """Free the ray."""
        self.rays.free()

    def blocked(self, segments: Points) -> NDArray[np.bool_]:
        """Return for each segment whether a body blocks it, (n,)."""
        self.counted += len(segments)
        answers: NDArray[np.bool_] = ~self.rays.are_free(
            np.ascontiguousarray(segments[:, :3]), np.ascontiguousarray(segments[:, 3:]),
            np.zeros(len(segments), np.int64))
        return answers

    def on_floor(self, places: Points, half_m: float = 0.0) -> Points:
        """Return positions in 3D, (n, 3), moved to the floor (m): the nearest collision shape below.

        The layers that stop shots are searched first, then all layers. Without a floor, the position is unchanged.
        ``half_m`` is half the height of the cells whose centers the positions are (m): the floor is anywhere in them.

        Cost: about 5 engine calls per position.
        """
        ray, found = self.rays.node, places.copy()
        if not (ray.is_valid() and ray.is_inside_tree()):
            return found
        mask, ray.hit_from_inside = ray.collision_mask, False      # a body at the position is not the floor
        ray.target_position = Vector3(0, -FLOOR_ABOVE_M - FLOOR_BELOW_M - 2 * half_m, 0)
        for row, (x, y, z) in enumerate(places.tolist()):
            ray.global_position = Vector3(x, y + half_m + FLOOR_ABOVE_M, z)
            for layers in (mask, ALL_LAYERS):
                ray.collision_mask = layers
                ray.force_raycast_update()
                if ray.is_colliding():
                    found[row, 1] = ray.get_collision_point().y
                    break
        ray.collision_mask, ray.hit_from_inside = mask, True
        self.counted += len(places)
        return found

    def without(self, nodes: Iterable[Any]) -> None:
        """Let rays pass through the bodies of these nodes only.

        The bodies of a node are the node itself, or the bodies below it, or else the body above it.
        """
        ray, kind = self.rays.node, f"CollisionObject{self.dimensions}D"
        ray.clear_exceptions()
        for node in nodes:
            bodies = [node] if node.is_class(kind) else list(node.find_children("*", kind, True, False))
            above = node.get_parent()
            while not bodies and above is not None and above.is_class("Node"):
                bodies = [above] if above.is_class(kind) else []
                above = above.get_parent()
            for body in bodies:
                ray.add_exception(body)

    def place(self, name: str, target: Any, above_m: float = 0.0) -> list[float]:
        """Return the position of a node or a vector (m); of a node, ``above_m`` above its origin.

        Raises:
            RefusedValue: if it is neither, not finite, or outside the tree.
        """
        vector = Vector3 if self.dimensions == 3 else Vector2
        if isinstance(target, vector):
            numbers = list(target)
        elif isinstance(target, GDObject) and target.is_valid() and target.is_class(f"Node{self.dimensions}D"):
            if not target.is_inside_tree():
                raise RefusedValue(
                    f"{name} must be in the scene tree, but '{target.get_name()}' is not; add it before the call")
            numbers = list(target.global_position)
            if self.dimensions == 3:
                numbers[1] += above_m
        else:
            raise RefusedValue(f"{name} must be a Node{self.dimensions}D or a Vector{self.dimensions}, got {target!r}")
        full = [one / self.pixels_per_m for one in numbers] + [0.0] * (3 - self.dimensions)
        if not np.isfinite(full).all():
            raise RefusedValue(f"{name} must be finite, got {target!r}")
        return full

    def vector(self, place: Iterable[float]) -> Any:
        """Return a position (m) as an engine vector."""
        numbers = [float(one) * self.pixels_per_m for one in place][:self.dimensions]
        return Vector3(*numbers) if self.dimensions == 3 else Vector2(*numbers)

    def along_navigation(self, level: Any, body: CoverBody, spacing_m: float, reach_m: float) -> CoverCandidates:
        """Return positions along the edges of the navigation meshes at and below a node.

        Raises:
            ValueError: if there is no mesh, or it has other dimensions.
        """
        mesh = mesh_below(level, self.pixels_per_m)
        if mesh.dimensions != self.dimensions:
            raise ValueError(f"the navigation regions are {mesh.dimensions}D, but dimensions is {self.dimensions}D;"
                             f" set dimensions to {mesh.dimensions}D")
        vertices = mesh.vertices if self.dimensions == 3 else np.pad(mesh.vertices, ((0, 0), (0, 1)))
        edges = wall_edges(vertices, mesh.polygons)
        return candidates_along_edges(edges, spacing_m=spacing_m, reach_m=mesh.radius_m + reach_m, up=body.up)

    def of_grid(self, source: Any, cost_data: str, floor_level: int, wall_items: Any) -> CoverCandidates:
        """Return free cells beside walls; raise ValueError if the source is not a grid, or has other dimensions."""
        try:
            grid, places = grid_of_scene(source, 4, "closed", cost_data, floor_level, wall_items)
        except RefusedValue as error:
            raise ValueError(str(error)) from None
        if places.dimensions != self.dimensions:
            raise ValueError(
                f"the grid is {places.dimensions}D, but dimensions is {self.dimensions}D; set dimensions to"
                f" {places.dimensions}D")
        return candidates_from_grid(grid.passage(), self._middles(grid, places))

    def _middles(self, grid: Grid, places: Places) -> Points:
        middles = places.points(np.arange(grid.shape[0] * grid.shape[1], dtype=np.int32)) / self.pixels_per_m
        return np.pad(middles, ((0, 0), (0, 3 - self.dimensions))).astype(np.float32)

    def ground(self, body: CoverBody) -> Any:
        """Return a function that moves positions to the navigation map and the floor; None without a map."""
        viewport = self._owner.get_viewport()
        world = viewport.find_world_3d() if self.dimensions == 3 else viewport.find_world_2d()
        server, on_map = singleton(f"NavigationServer{self.dimensions}D"), world.get_navigation_map()
        origin = self.vector((0, 0, 0))
        if server.map_get_iteration_id(on_map) == 0 or int(server.map_get_closest_point_owner(on_map, origin)) == 0:
            return None                                   # the map is built on a thread, and is empty until then
        least_m = OFF_GROUND_SHARE * body.radius_m

        def ground(places: Points) -> Points:
            found = places.copy()
            for row, place in enumerate(places):
                there = server.map_get_closest_point(on_map, self.vector(place))
                numbers = [one / self.pixels_per_m for one in there] + [0.0] * (3 - self.dimensions)
                beside = np.array(numbers) - place
                beside[1] *= 0 if self.dimensions == 3 else 1        # heights do not count
                found[row] = numbers if np.linalg.norm(beside) <= least_m else np.nan
            if self.dimensions == 3:
                there = np.isfinite(found[:, 1])
                found[there] = self.on_floor(found[there])
            return found

        return ground


NUMBERS_A_SPOT = 9


class CoverSceneBaking(LevelBaking):
    """Bakes the cover of a CoverMap: create it, advance it, then read ``spots``.

    Args:
        node: the CoverMap.
        box: lowest and highest corner of the area to bake (m), None for the whole level.

    Attributes:
        stage: present work, as text.

    Raises:
        ValueError: if there is nothing to bake.
    """

    stage = "searching for cover along walls"

    def __init__(self, node: Any, box: tuple[list[float], list[float]] | None) -> None:
        self.box = box
        body, scene, settings, half_m = node.body, node.scene, core_settings(node, node.unit), 0.0
        if node.source == node.Source.GRID:
            grid = node.get_node_or_null(node.grid_node)
            if grid is None:
                raise ValueError("grid_node is not a node; choose the TileMapLayer or GridMap")
            candidates = scene.of_grid(grid, node.cost_data, node.floor_level, node.wall_items)
            if grid.is_class("GridMap"):
                half_m = abs(grid.to_global(Vector3(0, grid.cell_size.y, 0)).y - grid.global_position.y) / 2
        else:
            level = node.get_node_or_null(node.level)
            if level is None:
                raise ValueError(f"level '{node.level}' is not a node; choose the root of the level")
            candidates = scene.along_navigation(level, body, **settings["spots"])
        if box is not None:
            candidates = candidates.within(*box)
        scene.without(node.object_nodes())                 # movable objects are not part of the level
        self._node = node
        self._core = CoverBaking(
            candidates, scene.blocked, body=body,
            ground=partial(scene.on_floor, half_m=half_m) if scene.dimensions == 3 else None,
            settings=CoverBakingSettings(**settings["baking"]))

    @property
    def spots(self) -> CoverSpots:
        """The spots found; RuntimeError before baking is done."""
        return self._core.result

    def advance(self, budget: Budget) -> None:
        """Continue until baking is done or the budget is spent."""
        self._node.scene.without(self._node.object_nodes())
        self._core.advance(budget)


def packed_spots(spots: CoverSpots) -> NDArray[np.float32]:
    """Return spots as numbers, ``NUMBERS_A_SPOT`` each."""
    rows = np.empty((len(spots), NUMBERS_A_SPOT), np.float32)      # filled: joined columns take eight times as long
    rows[:, :3], rows[:, 3:6] = spots.places, spots.towards
    rows[:, 6], rows[:, 7], rows[:, 8] = spots.is_low, spots.exposures, spots.peeks
    return rows.reshape(-1)


def spots_of_packed(numbers: NDArray[np.float32]) -> CoverSpots:
    """Return spots from the numbers of ``packed_spots``; raise ValueError if the numbers are not spots."""
    if len(numbers) % NUMBERS_A_SPOT or not np.isfinite(numbers).all():
        raise ValueError(f"baked must have {NUMBERS_A_SPOT} finite numbers per spot, got {len(numbers)}; bake again")
    rows = np.asarray(numbers, np.float32).reshape(-1, NUMBERS_A_SPOT)
    peeks = rows[:, 8].astype(np.uint8)
    if ((peeks & ~np.uint8(LEFT | RIGHT | OVER)) != 0).any() or ((rows[:, 7] < 0) | (rows[:, 7] > 1)).any():
        raise ValueError("baked has invalid numbers; bake again")
    return CoverSpots(rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6] != 0, rows[:, 7].copy(), peeks)
