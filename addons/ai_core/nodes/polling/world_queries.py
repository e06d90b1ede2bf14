"""WorldQueries: the queries of a PollingStation to the engine: lines of sight and paths, in 3D and 2D."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import (
    RefusedValue,
    Vector2,
    Vector3,
    get_object,
    see_between,
    singleton,
)
from addons.ai_core.nodes.paths.navigation_ends import ends_at
from addons.ai_core.nodes.scheduling.scheduler_lookup import when_settled
from addons.ai_core.nodes.senses.sight_rays import FlatSightRays, SightRays

NO_PATH = -1.0


class WorldQueries:
    """Lines of sight and paths in the world of a node.

    Args:
        node: must be in the tree for queries; owns the rays.

    Attributes:
        is_there: whether the node is in the tree.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self.is_there = False
        self._is_settled = True
        self._was_asked_early = False
        self.rays = SightRays(node, node.sight_mask)
        self._flat_rays = FlatSightRays(node, node.sight_mask_2d)

    def set_masks(self) -> None:
        """Copy the sight masks of the node to the rays."""
        self.rays.collision_mask = self._node.sight_mask
        self._flat_rays.collision_mask = self._node.sight_mask_2d

    def enter(self) -> None:
        """Start queries, after the node entered the tree; rays may not meet the walls of the scene yet."""
        self.is_there, self._is_settled = True, False
        when_settled(self._node, self._settle)

    def _settle(self) -> None:
        self._is_settled = True
        if self._was_asked_early:
            self._was_asked_early = False
            self._node.invalidate("can_see")

    def can_see_many(self, observers: bytes, targets: bytes) -> Any:
        """Return for each pair of nodes whether nothing blocks the line between them; false if a node is gone.

        Before its first physics frame, rays do not meet the walls of a scene, and every answer is false.

        Args:
            observers: instance ids, in the format of ObjectIds.
            targets: instance ids, as many.

        Cost: one physics query per pair, all in one crossing.
        """
        if not self.is_there:
            self._need_tree("can_see")
        seen = see_between(observers, targets, self.rays.node, self._flat_rays.node)
        if type(seen) is int:                # the index of an invalid pair
            check_pair(*(get_object(int(np.frombuffer(ids, np.uint64)[seen])) for ids in (observers, targets)))
        if not self._is_settled:
            self._was_asked_early = True
            return type(seen)(len(seen))         # all false
        return seen

    def path_length(self, start: Any, goal: Any) -> float:
        """Return the length of the path on the navigation map (m; in 2D pixels), NO_PATH without a path or map."""
        self._need_tree("path_length")
        viewport = self._node.get_viewport()
        if isinstance(start, Vector3):
            navigation, world = singleton("NavigationServer3D"), viewport.find_world_3d()
        else:
            navigation, world = singleton("NavigationServer2D"), viewport.find_world_2d()
        map_rid = world.get_navigation_map()
        if navigation.map_get_iteration_id(map_rid) == 0:
            return NO_PATH            # the map is still being built; the next frame queries it again
        path = navigation.map_get_path(map_rid, start, goal, True)
        tolerance_m = self._node.reach_tolerance
        if len(path) == 0 or not ends_at(navigation, map_rid, path[-1].tolist(), goal, tolerance_m):
            return NO_PATH
        return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())

    def _need_tree(self, question: str) -> None:
        if not self._node.is_inside_tree():
            raise RefusedValue(f"{question} needs a world; add the PollingStation to the scene first")


def ids_of(nodes: Any) -> bytes:
    """Return the instance ids of nodes in the format of ObjectIds; 0 for None."""
    return np.array([getattr(node, "instance_id", 0) for node in nodes], np.uint64).tobytes()


def check_pair(observer: Any, target: Any) -> None:
    """Raise RefusedValue unless both nodes are Node3D or both are Node2D."""
    if observer is None or target is None:
        raise RefusedValue("can_see needs two nodes, got null")
    for dimension in ("Node3D", "Node2D"):
        if observer.is_class(dimension) and target.is_class(dimension):
            return
    raise RefusedValue(
        f"can_see needs two Node3D or two Node2D, got {observer.get_class()} and {target.get_class()}")


def check_parts(topic: str, wanted: str, key: Any) -> None:
    """Raise RefusedValue unless a key of a built-in topic has two elements."""
    if len(key) != 2:
        raise RefusedValue(f"the key of topic {topic!r} must be {wanted}, got {list(key)!r}")


def check_places(question: str, start: Any, goal: Any) -> None:
    """Raise RefusedValue unless both positions are finite Vector3, or both finite Vector2."""
    if type(start) is not type(goal) or not isinstance(start, (Vector2, Vector3)):
        raise RefusedValue(f"{question} needs two Vector3 or two Vector2, got {start!r} and {goal!r}")
    if not all(map(np.isfinite, (*start, *goal))):
        raise RefusedValue(f"{question} needs finite positions, got {start!r} and {goal!r}")
