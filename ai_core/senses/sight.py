"""Sight cones: an ordered set per sensor, the first that contains the target counts.

Sharp and far ahead, blunt at the sides, a little behind the ears: several
cones make up one field of view, each with its own acuity.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown

__all__ = ["NO_CONE", "SightCone", "bearings", "first_cone_containing", "packed_cones"]

NO_CONE = -1
"""What stands for "in none of the cones" among indices of cones."""

BORDER_TOLERANCE = 1e-6
"""Slack by which a target on a cone's border counts as inside (as a share).

Positions are float32, exact to about 1e-7 of their size. Smaller, and targets
placed on the border by hand fall outside by rounding; larger moves the border
of a narrow cone by visible amounts.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SightCone:
    """One part of a field of view, around the direction the sensor faces.

    Both angles are **full** angles, from border to border, and the border is
    inside. The horizontal one is measured in the plane the sensor looks along
    (forward and right), the vertical one out of that plane.

    Args:
        range_m: how far it reaches (m); above 0.
        horizontal_rad: full angle from left to right (rad); above 0, at most 2π.
        vertical_rad: full angle from bottom to top (rad); above 0, at most π.
        acuity: factor on the strength of what is seen; 0 or more.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.
    """

    range_m: float
    horizontal_rad: float
    vertical_rad: float
    acuity: float = 1.0

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


def packed_cones(cones: Sequence[SightCone]) -> Floats:
    """Return cones as rows of (range_m, cos half horizontal, sin half vertical, acuity).

    Raises:
        TypeError: if one is not a ``SightCone``.
    """
    for cone in cones:
        if not isinstance(cone, SightCone):
            raise TypeError(f"sight_cones must hold SightCone, got {shown(cone)}")
    rows = [
        (
            cone.range_m,
            math.cos(cone.horizontal_rad / 2),
            math.sin(cone.vertical_rad / 2),
            cone.acuity,
        )
        for cone in cones
    ]
    return np.array(rows, np.float64).reshape(len(rows), 4)


def bearings(
    offsets: Floats, forwards: NDArray[np.float32], up: Floats
) -> Floats:
    """Return where targets are as sensors see it: metres to the right, up and ahead.

    Args:
        offsets: shape (n, 3), from each sensor to its target (m).
        forwards: shape (n, 3), unit length, where each sensor faces.
        up: shape (3,), unit length. A sensor that faces straight up or down
            has no right of its own and is given a fixed one.

    Returns:
        Shape (n, 3), float64.

    Cost: O(n).
    """
    ahead = forwards.astype(np.float64)
    right = np.cross(ahead, up)
    length = np.linalg.norm(right, axis=1)
    # 1e-6 is what float32 can tell from straight up.
    right[length < 1e-6] = _any_right_of(up)
    right /= np.where(length < 1e-6, 1.0, length)[:, np.newaxis]
    above = np.cross(right, ahead)
    seen_along = np.stack((right, above, ahead), axis=1)
    found: Floats = np.einsum("nij,nj->ni", seen_along, offsets)
    return found


def first_cone_containing(bearing: Floats, cones: Floats) -> NDArray[np.intp]:
    """Return for each target the first of its sensor's cones that contains it.

    A target exactly where the sensor is lies in every cone.

    Args:
        bearing: shape (n, 3), from ``bearings`` (m).
        cones: shape (n, k, 4), rows of ``packed_cones``; a range below 0
            stands for no cone.

    Returns:
        Shape (n,): index of the cone, or ``NO_CONE``.

    Cost: O(n * k).
    """
    right, above, ahead = (bearing[:, np.newaxis, axis] for axis in range(3))
    across = np.hypot(right, ahead)
    distance = np.hypot(across, above)
    slack = BORDER_TOLERANCE * distance
    inside = distance - slack <= cones[:, :, 0]
    inside &= ahead + slack >= cones[:, :, 1] * across
    inside &= np.abs(above) - slack <= cones[:, :, 2] * distance
    first: NDArray[np.intp] = inside.argmax(axis=1) if cones.shape[1] else np.zeros(
        len(bearing), np.intp
    )
    return np.where(inside.any(axis=1), first, NO_CONE)


def _any_right_of(up: Floats) -> Floats:
    """Return one unit vector at right angles to ``up``, always the same one."""
    least = int(np.abs(up).argmin())
    right = np.cross(np.eye(3)[least], up)
    return np.asarray(right / np.linalg.norm(right), np.float64)
