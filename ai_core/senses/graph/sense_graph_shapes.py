"""Shapes of regions: axis-aligned boxes, upright prisms, and sets of boxes, for rooms, corridors and yards."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ai_core.errors import finite_number, point, shown
from ai_core.senses.sensation import Point

__all__ = ["Box", "Boxes", "Edge", "Prism", "Shape", "exact"]

FLAT_M = 0.5
"""Half the height of a shape given with two coordinates only (m): 1 m² counts as 1 m³."""

Edge = tuple[float, float, float, float]
"""A plane that bounds a shape: inside, ``x * a + y * b + z * c <= d``."""


@dataclass(frozen=True)
class Box:
    """An axis-aligned box.

    Args:
        minimum: its lowest corner (m); with two coordinates, a rectangle in a 2D world.
        maximum: its highest corner (m).

    Raises:
        TypeError: if a corner does not hold numbers.
        ValueError: if it has no volume.
    """

    minimum: Point
    maximum: Point

    def __post_init__(self) -> None:
        low, high = exact("minimum", self.minimum), exact("maximum", self.maximum)
        if np.shape(self.minimum) == np.shape(self.maximum) == (2,):
            low, high = (low[0], low[1], -FLAT_M), (high[0], high[1], FLAT_M)
        if not all(least < most for least, most in zip(low, high, strict=True)):
            raise ValueError(
                f"maximum must be greater than minimum on every axis, got {low} to {high};"
                " a region needs a volume"
            )
        object.__setattr__(self, "minimum", low)
        object.__setattr__(self, "maximum", high)

    @property
    def volume_m3(self) -> float:
        """Volume (m³)."""
        return math.prod(high - low for low, high in zip(self.minimum, self.maximum, strict=True))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Planes that bound it besides ``minimum`` and ``maximum``: none."""
        return ()

    @property
    def parts(self) -> tuple[Box, ...]:
        """Convex shapes it consists of: itself."""
        return (self,)


@dataclass(frozen=True)
class Prism:
    """A convex polygon with a height.

    Args:
        corners: of the polygon, in order, clockwise or counter-clockwise (m): (x, z) where
            y is up, (x, y) where z is up.
        low_m: lower end along the up axis (m).
        high_m: upper end (m).
        up: "y", as in 3D, or "z", as in a 2D world.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if the polygon is not convex, or the prism has no volume.
    """

    corners: Sequence[tuple[float, float]]
    low_m: float = -FLAT_M
    high_m: float = FLAT_M
    up: str = "y"

    def __post_init__(self) -> None:
        corners = tuple(exact("corners", corner)[:2] for corner in self.corners)
        if self.up not in ("y", "z"):
            raise ValueError(f"up must be 'y' or 'z', got {shown(self.up)}")
        low, high = finite_number("low_m", self.low_m), finite_number("high_m", self.high_m)
        if not low < high:
            raise ValueError(f"high_m must be above low_m, got {low:g} to {high:g}")
        turns = _turns(corners)
        if len(corners) < 3 or not any(turns):
            raise ValueError(f"corners must enclose an area, got {shown(corners)}")
        if min(turns) < 0 < max(turns) or not _goes_round_once(corners):
            raise ValueError(
                f"corners must form a convex polygon, got {shown(corners)};"
                " split it into convex regions joined by portals"
            )
        put = object.__setattr__
        put(self, "corners", corners if max(turns) > 0 else corners[::-1])
        put(self, "low_m", low)
        put(self, "high_m", high)

    @property
    def volume_m3(self) -> float:
        """Volume (m³)."""
        doubled = sum(x * w - z * y for (x, z), (y, w) in _sides(self.corners))
        return doubled / 2 * (self.high_m - self.low_m)

    @property
    def minimum(self) -> Point:
        """Lowest corner of the box around it (m)."""
        across, along = zip(*self.corners, strict=True)
        return self._upright(min(across), min(along), self.low_m)

    @property
    def maximum(self) -> Point:
        """Highest corner of the box around it (m)."""
        across, along = zip(*self.corners, strict=True)
        return self._upright(max(across), max(along), self.high_m)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Planes that bound it besides ``minimum`` and ``maximum``."""
        found = []
        for (x, z), (y, w) in _sides(self.corners):
            a, b = w - z, x - y
            found.append((*self._upright(a, b, 0.0), a * x + b * z))
        return tuple(found)

    @property
    def parts(self) -> tuple[Prism, ...]:
        """Convex shapes it consists of: itself."""
        return (self,)

    def _upright(self, first: float, second: float, height: float) -> Point:
        return (first, height, second) if self.up == "y" else (first, second, height)


@dataclass(frozen=True)
class Boxes:
    """Several boxes that form one region, such as an L-shaped room.

    Args:
        parts: the boxes; they may touch and should not overlap: an
            overlap counts twice in the volume.

    Raises:
        TypeError: if a part is not a ``Box``.
        ValueError: if there is no box.
    """

    parts: Sequence[Box]

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        for part in parts:
            if not isinstance(part, Box):
                raise TypeError(f"parts must hold Box, got {shown(part)}")
        if not parts:
            raise ValueError("parts must hold at least one Box; a region needs a volume")
        object.__setattr__(self, "parts", parts)

    @property
    def volume_m3(self) -> float:
        """Volume (m³)."""
        return math.fsum(part.volume_m3 for part in self.parts)

    @property
    def minimum(self) -> Point:
        """Lowest corner of the box around it (m)."""
        x, y, z = (min(axis) for axis in zip(*(part.minimum for part in self.parts), strict=True))
        return (x, y, z)

    @property
    def maximum(self) -> Point:
        """Highest corner of the box around it (m)."""
        x, y, z = (max(axis) for axis in zip(*(part.maximum for part in self.parts), strict=True))
        return (x, y, z)


Shape = Box | Prism | Boxes
"""Shape of a region; other shapes need a custom ``lookup``."""


def exact(name: str, value: object) -> Point:
    """Return a point as plain numbers that float32 holds exactly, as positions are."""
    x, y, z = point(name, value).tolist()
    return (x, y, z)


def _sides(
    corners: Sequence[tuple[float, float]],
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(pairwise([*corners, corners[0]]))


def _turns(corners: Sequence[tuple[float, float]]) -> list[float]:
    """Return for every corner how sharply the outline turns there: above 0 to the left."""
    ahead = [*corners[1:], *corners[:1]]
    after = [*corners[2:], *corners[:2]]
    return [
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        for a, b, c in zip(corners, ahead, after, strict=False)
    ]


def _goes_round_once(corners: Sequence[tuple[float, float]]) -> bool:
    """Return False for a star, which turns one way all along and still is not convex."""
    around = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in _sides(corners) if a != b]
    bends = [math.remainder(b - a, math.tau) for a, b in pairwise([*around, around[0]])]
    return abs(abs(sum(bends)) - math.tau) < 1e-6
