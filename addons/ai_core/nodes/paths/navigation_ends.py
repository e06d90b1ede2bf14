"""Whether a way over the engine's navigation map leads to a goal, which lies below, above or beside that map."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.gd import RID, Vector3

ABOVE_MAP_M = 2.0
"""How far a goal may be above or below the map (m): a baked mesh lies some of its cells above the floor, and the
middle of a character above both."""

OVER_M = 0.01
"""What is this near to the line that stands on a slope, in its nearest place, is over that slope (m)."""

WALL = 0.1
"""Upward part of a normal (share) below which what it stands on is a wall."""


def ends_at(server: Any, map_rid: RID, end: list[float], goal: Any, tolerance_m: float) -> bool:
    """Return whether a way over a map leads to a goal.

    It does if it ends within the tolerance; in 3D also right above or below, up to ``ABOVE_MAP_M``, where the map has
    nothing that is nearer to the goal, such as the ledge on which it lies. What is nearest to a goal over a slope
    lies up or down that slope.

    Args:
        server, map_rid: the engine's server and map.
        end: the way's last point.
        goal: a Vector3 or Vector2.
        tolerance_m: how far off it may end (m; pixels in 2D).

    Cost: up to two small queries if it ends near the goal but not within the tolerance, else none.
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
    """Return the place of the map right below or above a goal, None if the map is beside it.

    Args:
        server, map_rid: the engine's server and map.
        goal: where.
        nearest: the place of the map that is nearest to it.

    Cost: one small query.
    """
    normal = tuple(server.map_get_closest_point_normal(map_rid, goal))
    length = math.hypot(*normal)                 # the engine leaves it as long as it comes
    if abs(normal[1]) <= WALL * length:
        return None
    away = [to - at for to, at in zip(goal, nearest, strict=True)]
    off = sum(one * up for one, up in zip(away, normal, strict=True)) / length**2
    beside_m = math.hypot(*(one - off * up for one, up in zip(away, normal, strict=True)))
    above_m = off * length**2 / normal[1]
    return None if beside_m > OVER_M or abs(above_m) > ABOVE_MAP_M else Vector3(goal.x, goal.y - above_m, goal.z)
