"""Sight cones: an ordered set per sensor, the first that contains the target counts.

Several cones make up a field of view, each with its own acuity: a sharp long one ahead,
blunt ones at the sides, and a short one behind.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, keep_number

__all__ = ["CONE_NUMBERS", "SightCone", "aside_of", "packed_cones"]

CONE_NUMBERS = 5
"""Numbers of one cone among ``packed_cones`` (count)."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SightCone:
    """A part of a field of view, around the viewing direction of the sensor.

    Both angles are **full** angles, from border to border, and the border is inside. The horizontal angle is measured
    in the plane of the sensor's forward and right directions, the vertical angle out of that plane.

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
        keep_number(self, "range_m", above=0)
        for name, most in (("horizontal_rad", math.tau), ("vertical_rad", math.pi)):
            keep_number(self, name, above=0, maximum=most, remedy="it is the full angle, in radians")
        keep_number(self, "acuity", minimum=0)
        if self.lose_range_m is not None:
            keep_number(
                self, "lose_range_m", minimum=self.range_m,
                remedy="a seen target is lost beyond range_m, not before it")

    @classmethod
    def close_by(cls, range_m: float = 2.0, *, acuity: float = 1.0) -> SightCone:
        """Return a cone for nearness: awareness in every direction, also behind the sensor."""
        return cls(range_m, math.tau, math.pi, acuity)

    def widened(self, angle: float = 1.5) -> SightCone:
        """Return this cone with both angles multiplied by a factor above 0, for a searching character.

        >>> SightCone(10.0, 1.0, 0.5).widened(2.0).horizontal_rad
        2.0
        """
        angle = finite_number("angle", angle, above=0)
        return replace(
            self, horizontal_rad=min(math.tau, self.horizontal_rad * angle),
            vertical_rad=min(math.pi, self.vertical_rad * angle))


def packed_cones(cones: Sequence[SightCone]) -> Floats:
    """Return cones as rows of numbers for the loops.

    Each row holds range_m, cos half horizontal, sin half vertical, acuity, and 1 if it only keeps what is seen already,
    else 0. Cones with a ``lose_range_m`` come a second time at the end, as far as that.
    """
    ranges = [(cone, cone.range_m, 0.0) for cone in cones]
    ranges += [(cone, cone.lose_range_m or 0.0, 1.0) for cone in cones if (cone.lose_range_m or 0) > cone.range_m]
    rows = [
        (range_m, math.cos(cone.horizontal_rad / 2), math.sin(cone.vertical_rad / 2), cone.acuity, only_keeps)
        for cone, range_m, only_keeps in ranges]
    return np.array(rows, np.float64).reshape(len(rows), CONE_NUMBERS)


def aside_of(up: Floats) -> Floats:
    """Return one unit vector at right angles to ``up``, always the same one."""
    least = int(np.abs(up).argmin())
    right = np.cross(np.eye(3)[least], up)
    return np.asarray(right / np.linalg.norm(right), np.float64)
