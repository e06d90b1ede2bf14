"""What a PollingStation asks the engine: lines of sight and ways, in 3D and 2D."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import (
    RefusedValue,
    Vector2,
    Vector3,
    are_all,
    read_bodies,
    read_transforms,
    singleton,
)
from addons.ai_core.nodes.sight_rays import SightRays
from addons.ai_core.nodes.sight_rays_2d import SightRays2D

NO_WAY = -1.0


class WorldQuestions:
    """Sight and ways in the world of a node.

    Args:
        node: in the tree when it is asked; rays live and die with it.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self.rays = SightRays(node, node.sight_mask)
        self._flat_rays: SightRays2D | None = None

    def set_masks(self) -> None:
        """Use the masks of the node."""
        self.rays.collision_mask = self._node.sight_mask
        if self._flat_rays is not None:
            self._flat_rays.collision_mask = self._node.sight_mask_2d

    def can_see_many(self, pairs: list[tuple[Any, Any]]) -> list[bool]:
        """Return for each pair of nodes whether nothing stands between; false where one is gone.

        Cost: one physics query a pair, in 3D all in one crossing.
        """
        self._need_tree("can_see")
        observers, targets = [one for one, _ in pairs], [one for _, one in pairs]
        if not (are_all(observers, "Node3D") and are_all(targets, "Node3D")):
            return [self._can_see(*pair) for pair in pairs]
        origins = np.zeros((len(pairs), 3), np.float32)
        goals = np.zeros((len(pairs), 3), np.float32)
        allowed = np.zeros(len(pairs), np.int64)
        read_transforms(observers, origins)
        read_transforms(targets, goals)
        read_bodies(targets, allowed)
        return (~self.rays.blocked(origins, goals, allowed)).tolist()

    def path_length(self, start: Any, goal: Any) -> float:
        """Return the length of the way over the navigation map, NO_WAY if there is none (yet)."""
        self._need_tree("path_length")
        viewport = self._node.get_viewport()
        if isinstance(start, Vector3):
            navigation, world = singleton("NavigationServer3D"), viewport.find_world_3d()
        else:
            navigation, world = singleton("NavigationServer2D"), viewport.find_world_2d()
        map_rid = world.get_navigation_map()
        if navigation.map_get_iteration_id(map_rid) == 0:
            return NO_WAY            # the map is still being built; asked again next frame
        way = navigation.map_get_path(map_rid, start, goal, True)
        if len(way) == 0 or np.linalg.norm(way[-1] - np.array(tuple(goal))) > self._node.reach_tolerance_m:
            return NO_WAY
        return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())

    def _can_see(self, observer: Any, target: Any) -> bool:
        if observer is None or target is None or not (observer.is_valid() and target.is_valid()):
            return False
        check_pair(observer, target)
        if observer.is_class("Node2D"):
            if self._flat_rays is None:
                self._flat_rays = SightRays2D(self._node, self._node.sight_mask_2d)
            return not self._flat_rays.is_blocked(observer, target)
        return self.can_see_many([(observer, target)])[0]

    def _need_tree(self, question: str) -> None:
        if not self._node.is_inside_tree():
            raise RefusedValue(f"{question} needs a world to look at; add the PollingStation to the scene first")


def check_pair(observer: Any, target: Any) -> None:
    """Raise unless two nodes can be asked about together."""
    if observer is None or target is None:
        raise RefusedValue("can_see needs two nodes, got null")
    for dimension in ("Node3D", "Node2D"):
        if observer.is_class(dimension) and target.is_class(dimension):
            return
    raise RefusedValue(
        f"can_see needs two Node3D or two Node2D, got {observer.get_class()} and {target.get_class()}")


def check_places(question: str, start: Any, goal: Any) -> None:
    """Raise unless two places are both in space, or both in the plane."""
    if type(start) is not type(goal) or not isinstance(start, (Vector2, Vector3)):
        raise RefusedValue(f"{question} needs two Vector3 or two Vector2, got {start!r} and {goal!r}")
    if not all(map(np.isfinite, (*start, *goal))):
        raise RefusedValue(f"{question} needs finite places, got {start!r} and {goal!r}")
