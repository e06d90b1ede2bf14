"""Sight cones: an ordered set per sensor, the first that contains the target counts.

Several cones make up a field of view, each with its own acuity: a sharp long one ahead,
blunt ones at the sides, and a short one behind.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown
from ai_core.senses.sensation import Point

__all__ = [
    "CONE_NUMBERS", "NO_CONE", "SightCone", "aside_of", "bearings", "cone_towards",
    "first_cone_containing", "packed_cones",
]

NO_CONE = -1
"""Index that means "in none of the cones"."""

BORDER_TOLERANCE = 1e-6
"""Slack by which a target on a cone's border counts as inside (as a share).

Positions are float32, exact to about 1e-7 of their size. Smaller, and targets
placed on the border by hand fall outside by rounding; larger moves the border
of a narrow cone by visible amounts.
"""

CONE_NUMBERS = 5
"""Numbers of one cone among ``packed_cones`` (count)."""

NO_RIGHT = 1e-6
"""Length of ``forward x up`` below which a sensor faces straight up or down (no unit).

float32 does not distinguish smaller lengths from straight up: the right is noise then.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SightCone:
    """A part of a field of view, around the viewing direction of the sensor.

    Both angles are **full** angles, from border to border, and the border is
    inside. The horizontal angle is measured in the plane of the sensor's forward
    and right directions, the vertical angle out of that plane.

    Args:
        range_m: range (m); above 0.
        horizontal_rad: full angle from left to right (rad); above 0, at most 2π.
        vertical_rad: full angle from bottom to top (rad); above 0, at most π.
        acuity: factor on the strength of a visible source; 0 or more.
        lose_range_m: a target that is already seen stays visible up to here (m); None
            for ``range_m``, else at least ``range_m``.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.
    """

    range_m: float
    horizontal_rad: float
    vertical_rad: float
    acuity: float = 1.0
    lose_range_m: float | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "range_m", finite_number("range_m", self.range_m, above=0))
        horizontal_rad = finite_number(
            "horizontal_rad", self.horizontal_rad, above=0, maximum=math.tau,
            remedy="it is the full angle, in radians",
        )
        put(self, "horizontal_rad", horizontal_rad)
        vertical_rad = finite_number(
            "vertical_rad", self.vertical_rad, above=0, maximum=math.pi,
            remedy="it is the full angle, in radians",
        )
        put(self, "vertical_rad", vertical_rad)
        put(self, "acuity", finite_number("acuity", self.acuity, minimum=0))
        if self.lose_range_m is not None:
            lose_range_m = finite_number(
                "lose_range_m", self.lose_range_m, minimum=self.range_m,
                remedy="a seen target is lost beyond range_m, not before it",
            )
            put(self, "lose_range_m", lose_range_m)

    @classmethod
    def close_by(cls, range_m: float = 2.0, *, acuity: float = 1.0) -> SightCone:
        """Return a cone for nearness: awareness in every direction, also behind the sensor."""
        return cls(range_m, math.tau, math.pi, acuity)

    def widened(self, angle: float = 1.5, *, reach: float = 1.0) -> SightCone:
        """Return this cone widened, for a searching character.

        Args:
            angle: factor on both angles, above 0; limited to the full circle.
            reach: factor on the ranges, above 0.

        >>> SightCone(10.0, 1.0, 0.5).widened(2.0).horizontal_rad
        2.0
        """
        angle = finite_number("angle", angle, above=0)
        reach = finite_number("reach", reach, above=0)
        return SightCone(
            self.range_m * reach,
            min(math.tau, self.horizontal_rad * angle),
            min(math.pi, self.vertical_rad * angle),
            self.acuity,
            None if self.lose_range_m is None else self.lose_range_m * reach,
        )


def packed_cones(cones: Sequence[SightCone]) -> Floats:
    """Return cones as rows of numbers for the loops.

    Each row holds range_m, cos half horizontal, sin half vertical, acuity, and 1
    if it only keeps what is seen already, else 0. Cones with a ``lose_range_m``
    come a second time at the end, as far as that.

    Raises:
        TypeError: if one is not a ``SightCone``.
    """
    for cone in cones:
        if not isinstance(cone, SightCone):
            raise TypeError(f"sight_cones must hold SightCone, got {shown(cone)}")
    keeping = [cone for cone in cones if (cone.lose_range_m or 0) > cone.range_m]
    rows = [_packed(cone, cone.range_m, 0.0) for cone in cones]
    rows += [_packed(cone, cone.lose_range_m or cone.range_m, 1.0) for cone in keeping]
    return np.array(rows, np.float64).reshape(len(rows), CONE_NUMBERS)


def _packed(cone: SightCone, range_m: float, only_keeps: float) -> tuple[float, ...]:
    cos_half, sin_half = math.cos(cone.horizontal_rad / 2), math.sin(cone.vertical_rad / 2)
    return (range_m, cos_half, sin_half, cone.acuity, only_keeps)


def aside_of(up: Floats) -> Floats:
    """Return one unit vector at right angles to ``up``, always the same one."""
    least = int(np.abs(up).argmin())
    right = np.cross(np.eye(3)[least], up)
    return np.asarray(right / np.linalg.norm(right), np.float64)


def bearings(
    offsets: Floats, forwards: NDArray[np.float32], up: Floats | Point, aside: Floats | Point | None = None
) -> Floats:
    """Return where targets are as sensors see it: metres to the right, up and ahead.

    Args:
        offsets: shape (n, 3), from each sensor to its target (m).
        forwards: shape (n, 3), unit length, where each sensor faces.
        up: shape (3,), unit length.
        aside: shape (3,), the right of a sensor that faces straight up or down
            and so has none of its own; None for ``aside_of(up)``.

    Returns:
        Shape (n, 3), float64.

    Cost: O(n).
    """
    n = len(offsets)
    if not n:
        return np.empty((0, 3))
    # Three directions, their first two coordinates a second time, so that products across are of slices.
    frame = np.empty((3, 5, n))
    right, above, ahead = frame
    ahead[:3], ahead[3:] = forwards.T, forwards.T[:2]
    across = _crossed(ahead, np.array([*up, *up[:2]])[:, np.newaxis])
    length = np.sqrt(_added(across * across))
    if length.min() < NO_RIGHT:
        is_vertical = length < NO_RIGHT
        fixed = aside_of(np.asarray(up)) if aside is None else np.asarray(aside)
        length[is_vertical] = 1.0
        right[:3] = np.where(is_vertical, fixed[:, np.newaxis], across / length)
    else:
        np.divide(across, length, out=right[:3])
    right[3:] = right[:2]
    above[:3] = _crossed(right, ahead)
    return _added((frame[:, :3] * offsets.T).swapaxes(0, 1)).T


def first_cone_containing(bearing: Floats, cones: Floats) -> NDArray[np.intp]:
    """Return for each target the first of its sensor's cones that contains it.

    A target exactly where the sensor is lies in every cone.

    Args:
        bearing: shape (n, 3), from ``bearings`` (m).
        cones: shape (n, k, 5), rows of ``packed_cones``; a range below 0
            stands for no cone.

    Returns:
        Shape (n,): index of the cone, or ``NO_CONE``.

    Cost: O(n * k).
    """
    inside = _are_inside(bearing, cones)
    if not cones.shape[1]:
        return np.full(len(bearing), NO_CONE, np.intp)
    first: NDArray[np.intp] = inside.argmax(axis=1)
    return np.where(inside.any(axis=1), first, NO_CONE)


def _are_inside(bearing: Floats, cones: Floats) -> NDArray[np.bool_]:
    """Return (n, k), whether each cone of each target's sensor contains it."""
    right, above, ahead = bearing.T * bearing.T
    distance = right + ahead
    across = np.sqrt(distance)[:, np.newaxis]
    distance += above
    np.sqrt(distance, out=distance)
    slack = BORDER_TOLERANCE * distance
    _, above, ahead = bearing.T
    inside: NDArray[np.bool_] = (distance - slack)[:, np.newaxis] <= cones[:, :, 0]
    inside &= (ahead + slack)[:, np.newaxis] >= cones[:, :, 1] * across
    inside &= (np.abs(above) - slack)[:, np.newaxis] <= cones[:, :, 2] * distance[:, np.newaxis]
    return inside


def cone_towards(
    offset: Point,
    forward: Sequence[float],
    up: Sequence[float],
    aside: Sequence[float],
    cones: Sequence[Sequence[float]],
) -> int:
    """Return which cone contains one target: ``bearings`` and ``first_cone_containing`` for one.

    The same to the last bit, and faster than NumPy for a handful.

    Args:
        offset: from the sensor to its target (m).
        forward: unit length.
        up: unit length.
        aside: see ``bearings``.
        cones: rows of ``packed_cones``.

    Cost: O(cones).
    """
    (x, y, z), (fx, fy, fz), (ux, uy, uz) = offset, forward, up
    # To the right, forward x up, of unit length; then above, right x forward. Written out: calls would cost more.
    rx, ry, rz = fy * uz - fz * uy, fz * ux - fx * uz, fx * uy - fy * ux
    length = math.sqrt(rx * rx + ry * ry + rz * rz)
    if length < NO_RIGHT:
        rx, ry, rz = aside
    else:
        rx, ry, rz = rx / length, ry / length, rz / length
    above = (ry * fz - rz * fy) * x + (rz * fx - rx * fz) * y + (rx * fy - ry * fx) * z
    ahead, across = fx * x + fy * y + fz * z, rx * x + ry * y + rz * z
    across = across * across + ahead * ahead
    distance = math.sqrt(across + above * above)
    across = math.sqrt(across)
    slack = BORDER_TOLERANCE * distance
    for k, (range_m, cos_half, sin_half, _, _) in enumerate(cones):
        if (
            distance - slack <= range_m
            and ahead + slack >= cos_half * across
            and abs(above) - slack <= sin_half * distance
        ):
            return k
    return NO_CONE


# Nothing that NumPy might fuse or reorder.


def _crossed(a: Floats, b: Floats) -> Floats:
    """Return a x b of columns (5, n) whose first two come again at the end."""
    found: Floats = a[1:4] * b[2:5]
    found -= a[2:5] * b[1:4]
    return found


def _added(products: Floats) -> Floats:
    """Return the sum of three, the first two added first."""
    found: Floats = products[0] + products[1]
    found += products[2]
    return found
