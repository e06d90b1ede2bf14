"""The view of sensors, drawn as filled fans that end at walls."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.debugging.game_picture import DrawnShapes, Points

RAY_STEP_RAD, NEAR_STEP_RAD = math.radians(3), math.radians(15)
"""Angle from one ray of a fan to the next (rad), of sight and of what is nearby."""

FEWEST_RAYS = 4
"""Rays of a fan (count)."""

RAYS_OF_ALL = 1200
"""Rays of all fans together (count), about; many fans have fewer rays each. A ray takes up to 8 physics queries."""

HALVINGS = 7
"""Steps to find where a ray is stopped (count): the range is divided by 2 ** 7."""

FLOOR_BELOW_M, ABOVE_FLOOR_M = 4.0, 0.06
"""In 3D a fan lies on the floor, if there is one so far below the eye."""

NEAREST_OPACITY, FARTHEST_OPACITY = 0.42, 0.1
NEAR_OPACITY = 0.22
COLORS = ((1.0, 0.85, 0.3), (1.0, 0.55, 0.15), (1.0, 0.22, 0.16))
"""Colors of sight by the awareness of the target of which the sensor is most aware."""

MEANINGS = ("sight, unaware", "sight, suspicious", "sight, alert")
NEAR_COLOR, NEAR_MEANING = (0.55, 0.8, 0.9), "sees nearby in every direction"


def sight_fans(space: Any, sensors: Sequence[Any], bodies: NDArray[np.int64], unit: float) -> list[DrawnShapes]:
    """Return the fans of all sensors, in units of the scene.

    Args:
        space: the PhysicsSpace3D or PhysicsSpace2D of their manager.
        sensors: Sensor3D or Sensor2D nodes.
        bodies: shape (n,), instance id of the body of each, which does not stop its own sight; 0 for none.
        unit: length of a metre in units of the scene.

    Cost: ``RAYS_OF_ALL`` rays at most, 8 queries each; for debugging, not for players.
    """
    if not sensors:
        return []
    poses = [_pose(one, unit) for one in sensors]
    eyes = np.array([eye for eye, _, _ in poses], np.float32)
    drawn = _drawn_heights(space, eyes, bodies) if not sensors[0].is_flat else None
    fans = [fan for row, one in enumerate(sensors) for fan in _fans(row, one, unit)]
    wanted = [fan.angle_rad / (NEAR_STEP_RAD if fan.meaning == NEAR_MEANING else RAY_STEP_RAD) for fan in fans]
    scale = min(1.0, RAYS_OF_ALL / sum(wanted))
    rays = np.array([max(FEWEST_RAYS, round(scale * count)) for count in wanted]) + 1
    first = np.concatenate([[0], np.cumsum(rays)])
    rows = np.repeat([fan.row for fan in fans], rays)
    angles = np.concatenate(
        [np.linspace(-0.5, 0.5, count) * fan.angle_rad for fan, count in zip(fans, rays, strict=True)])[:, None]
    ahead, right = (np.array([pose[axis] for pose in poses])[rows] for axis in (1, 2))
    directions = np.cos(angles) * ahead + np.sin(angles) * right
    reached = _reached(space, eyes[rows], directions, np.repeat([fan.range_m for fan in fans], rays), bodies[rows])
    edges = eyes[rows] + directions * reached[:, None]
    return [
        _filled(fan, eyes[fan.row], edges[begin:end], unit, None if drawn is None else drawn[fan.row])
        for fan, begin, end in zip(fans, first[:-1], first[1:], strict=True)]


def _drawn_heights(space: Any, eyes: Points, bodies: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the height at which each fan is drawn: just above the floor, or that of the eye (m)."""
    down = np.tile(np.float32([0, -1, 0]), (len(eyes), 1))
    depths = _reached(space, eyes, down, np.full(len(eyes), FLOOR_BELOW_M), bodies)
    found: NDArray[np.float32] = eyes[:, 1] - np.where(depths < FLOOR_BELOW_M, depths - ABOVE_FLOOR_M, 0)
    return found


def _reached(
    space: Any, starts: Points, directions: NDArray[np.floating], ranges: NDArray[np.floating],
    bodies: NDArray[np.int64],
) -> NDArray[np.floating]:
    """Return how far each ray comes (m)."""

    def are_free(rows: NDArray[np.intp], lengths: NDArray[np.floating]) -> NDArray[np.bool_]:
        ends = (starts[rows] + directions[rows] * lengths[:, None]).astype(np.float32)
        found: NDArray[np.bool_] = space.are_free(starts[rows], ends, bodies[rows])
        return found

    reached = np.array(ranges, np.float64)
    stopped = np.flatnonzero(~are_free(np.arange(len(reached)), reached))
    low, high = np.zeros(len(stopped)), reached[stopped]
    for _ in range(HALVINGS if len(stopped) else 0):
        middle = (low + high) / 2
        is_free = are_free(stopped, middle)
        low, high = np.where(is_free, middle, low), np.where(is_free, high, middle)
    reached[stopped] = low
    return reached


def _pose(sensor: Any, unit: float) -> tuple[Points, Points, Points]:
    """Return the eye (m), and the directions ahead and right."""
    dimensions = 2 if sensor.is_flat else 3
    rows = np.array(sensor.global_transform, np.float64).reshape(-1, dimensions)
    axes = rows[:-1] if sensor.is_flat else rows[:-1].T
    directions = [np.array(one[:dimensions]) @ axes for one in (sensor.frame.ahead, sensor.frame.right)]
    eye, ahead, right = (np.pad(one, (0, 3 - dimensions)) for one in (rows[-1] / unit, *directions))
    return eye, ahead / (np.linalg.norm(ahead) or 1), right / (np.linalg.norm(right) or 1)


class _Fan(NamedTuple):
    """A fan to draw: the row of its sensor, its range and full angle, and how it looks."""

    row: int
    range_m: float
    angle_rad: float
    color: tuple[float, float, float]
    meaning: str
    opacity: float


def _fans(row: int, sensor: Any, unit: float) -> list[_Fan]:
    level = min(2, max((one["level"] for one in sensor.get_known_targets()), default=0))
    fans = [_Fan(row, reach_m, angle_rad, COLORS[level], MEANINGS[level], NEAREST_OPACITY)
            for reach_m, angle_rad in sensor.seen_ranges(unit)]
    if sensor.near_range > 0:
        fans.append(_Fan(row, sensor.near_range / unit, math.tau, NEAR_COLOR, NEAR_MEANING, NEAR_OPACITY))
    return fans


def _filled(fan: _Fan, eye: Points, edge: NDArray[np.floating], unit: float, height: float | None) -> DrawnShapes:
    """Return the triangles of a fan in units of the scene, paler with distance; at a height, if one is given."""
    # The corners of the triangles between the eye and each two neighbors on the edge.
    corners = np.stack((np.broadcast_to(eye, edge[1:].shape), edge[:-1], edge[1:]), axis=1).reshape(-1, 3)
    away = np.sqrt(((corners - eye) ** 2).sum(axis=1)) / fan.range_m
    if height is not None:
        corners[:, 1] = height
    opacity = fan.opacity + (FARTHEST_OPACITY - fan.opacity) * away
    return DrawnShapes(
        (corners * unit).astype(np.float32), fan.color, fan.meaning, opacity.astype(np.float32), is_filled=True)
