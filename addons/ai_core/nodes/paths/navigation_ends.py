"""Tests whether a path over the navigation map leads to a goal below, above or beside the map."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.gd import RID, Vector3

ABOVE_MAP_M = 2.0
"""Largest distance of a goal above or below the map (m): a baked mesh lies some cells above the floor, and the center
of a character above both."""

OVER_M = 0.01
"""Distance from the normal of a slope within which a position is over that slope (m)."""

WALL = 0.1
"""Upward share of a normal below which the surface is a wall."""


def ends_at(server: Any, map_rid: RID, end: list[float], goal: Any, tolerance_m: float) -> bool:
    """Return whether a path over a map leads to a goal.

    It does if it ends within the tolerance; in 3D also if it ends right above or below the goal, up to
    ``ABOVE_MAP_M``, and no part of the map, such as the ledge on which the goal lies, is nearer. The nearest place to
    a goal over a slope lies up or down that slope.

    Args:
        server, map_rid: the engine's server and map.
        end: last point of the path.
        goal: a Vector3 or Vector2.
        tolerance_m: largest distance of the end from the goal (m; pixels in 2D).

    Cost: up to two small queries if the path ends near the goal but not within the tolerance, else none.
    """
    if math.dist(end, goal) <= tolerance_m:
        return True
    if len(end) == 2 or abs(end[1] - goal.y) > ABOVE_MAP_M:
        return False
    nearest = server.map_get_closest_point(map_rid, goal)
    if math.hypot(end[0] - goal.x, end[2] - goal.z) <= tolerance_m and math.dist(end, nearest) <= tolerance_m:
        return True
    on_map = right_on_map(server, map_rid, goal, nearest)
    return on_map is not None and min(math.dist(end, nearest), math.dist(end, on_map)) <= tolerance_m


def right_on_map(server: Any, map_rid: RID, goal: Vector3, nearest: Vector3) -> Vector3 | None:
    """Return the position on the map right below or above a goal, None if the map is beside it.

    Args:
        server, map_rid: the engine's server and map.
        goal: goal position.
        nearest: the nearest position on the map.

    Cost: one small query.
    """
    normal = tuple(server.map_get_closest_point_normal(map_rid, goal))
    length = math.hypot(*normal)                 # the engine does not normalize it
    if abs(normal[1]) <= WALL * length:
        return None
    away = [to - at for to, at in zip(goal, nearest, strict=True)]
    off = sum(one * up for one, up in zip(away, normal, strict=True)) / length**2
    beside_m = math.hypot(*(one - off * up for one, up in zip(away, normal, strict=True)))
    above_m = off * length**2 / normal[1]
    return None if beside_m > OVER_M or abs(above_m) > ABOVE_MAP_M else Vector3(goal.x, goal.y - above_m, goal.z)
