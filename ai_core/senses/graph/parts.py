"""Parts of a sense graph: regions with shapes, and portals with a passage for each sense."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ai_core.errors import check_type, finite_number, keep_number, point, several, shares_by_name, shown
from ai_core.senses.sensation import Point

__all__ = ["FLAT_M", "Box", "Boxes", "Edge", "Passage", "Prism", "SensePortal", "SenseRegion", "Shape", "area_m2"]

FLAT_M = 0.5
"""Half the height of a shape given with two coordinates only (m): 1 m² counts as 1 m³."""

STRAIGHT_RAD = 1e-6
"""Bend of an outline that counts as straight (rad): more than rounding, less than a bend that is drawn."""

KEPT = "it is the share kept per metre"

T = TypeVar("T")

Edge = tuple[float, float, float, float]
"""A plane that bounds a shape: inside, ``x * a + y * b + z * c <= d``."""


class _Convex:
    @property
    def edges(self) -> tuple[Edge, ...]:
        """Planes that bound it besides ``minimum`` and ``maximum``."""
        return ()

    @property
    def parts(self) -> tuple[Self, ...]:
        """Convex shapes that it consists of: itself."""
        return (self,)


@dataclass(frozen=True)
class Box(_Convex):
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
        low, high = _exact("minimum", self.minimum), _exact("maximum", self.maximum)
        if np.shape(self.minimum) == np.shape(self.maximum) == (2,):
            low, high = (low[0], low[1], -FLAT_M), (high[0], high[1], FLAT_M)
        if not all(least < most for least, most in zip(low, high, strict=True)):
            raise ValueError(
                f"maximum must be greater than minimum on every axis, got {low} to {high}; a region needs a volume")
        object.__setattr__(self, "minimum", low)
        object.__setattr__(self, "maximum", high)

    @property
    def volume_m3(self) -> float:
        """Volume (m³)."""
        return math.prod(high - low for low, high in zip(self.minimum, self.maximum, strict=True))


@dataclass(frozen=True)
class Prism(_Convex):
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
        corners = tuple(_exact("corners", corner)[:2] for corner in several("corners", self.corners, object))
        if self.up not in ("y", "z"):
            raise ValueError(f"up must be 'y' or 'z', got {shown(self.up)}")
        low, high = finite_number("low_m", self.low_m), finite_number("high_m", self.high_m)
        if not low < high:
            raise ValueError(f"high_m must be above low_m, got {low:g} to {high:g}")
        area = area_m2(corners)
        if area == 0:
            raise ValueError(f"corners must enclose an area, got {shown(corners)}")
        if not _is_convex(corners if area > 0 else corners[::-1]):
            raise ValueError(
                f"corners must form a convex polygon, got {shown(corners)};"
                " split it into convex regions joined by portals")
        put = object.__setattr__
        put(self, "corners", corners if area > 0 else corners[::-1])
        put(self, "low_m", low)
        put(self, "high_m", high)

    @property
    def volume_m3(self) -> float:
        """Volume (m³)."""
        return area_m2(self.corners) * (self.high_m - self.low_m)

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

    def _upright(self, first: float, second: float, height: float) -> Point:
        return (first, height, second) if self.up == "y" else (first, second, height)


@dataclass(frozen=True)
class Boxes:
    """Several boxes that form one region, such as an L-shaped room.

    Args:
        parts: the boxes; they may touch and should not overlap: an overlap counts twice in the volume.

    Raises:
        TypeError: if a part is not a ``Box``.
        ValueError: if there is no box.
    """

    parts: Sequence[Box]

    def __post_init__(self) -> None:
        parts = several("parts", self.parts, Box)
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
"""Shape of a region."""


@dataclass(frozen=True)
class Passage:
    """How one sense passes through a portal.

    Args:
        start: entry point (m); signals that leave the region travel there first.
        end: exit point (m); None for ``start``.
        kept_per_m: share of the intensity kept per metre of ``distance_m``, 0 to 1; 0 lets nothing through.
        distance_m: length of the passage (m), 0 or more, 1 unless given; the distance from start to end does not count.
        closed_kept_per_m: replaces ``kept_per_m`` while the portal is closed.
        area_m2: cross-section (m²), above 0; smells pass in proportion.
        wind_m_per_s: speed of the air through it towards its end (m/s), negative for the other
            direction; smells travel faster or slower by it, and not at all against a stronger wind. If 0, the
            wind of ``SenseGraph.set_wind`` counts.
        is_relayed: True for sight by camera and screen: a sensor sees the screen at ``end``, and
            sources are seen from the camera at ``start``; else sight is a straight line.
        mirror_normal: for sight by a mirror, a disc of ``area_m2`` around ``start``, the direction that it
            faces: sources are seen by reflection; None for none. See ``mirror``.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.
    """

    start: Point
    end: Point | None = None
    kept_per_m: float = 1.0
    distance_m: float = 1.0
    closed_kept_per_m: float = 0.0
    area_m2: float = 1.0
    is_relayed: bool = False
    wind_m_per_s: float = 0.0
    mirror_normal: Point | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", _exact("start", self.start))
        put(self, "end", self.start if self.end is None else _exact("end", self.end))
        for name in ("kept_per_m", "closed_kept_per_m"):
            keep_number(self, name, minimum=0, maximum=1, remedy=KEPT)
        keep_number(self, "distance_m", minimum=0)
        keep_number(self, "area_m2", above=0)
        keep_number(self, "wind_m_per_s")
        check_type("is_relayed", self.is_relayed, bool)
        if self.mirror_normal is not None:
            x, y, z = _exact("mirror_normal", self.mirror_normal)
            length = math.hypot(x, y, z)
            if not length:
                raise ValueError("mirror_normal must not be the zero vector, got (0, 0, 0)")
            if self.end != self.start or self.is_relayed:
                raise ValueError("a passage with mirror_normal must not have another end or is_relayed")
            put(self, "mirror_normal", (x / length, y / length, z / length))

    @classmethod
    def mirror(cls, place: ArrayLike, normal: ArrayLike, radius_m: float) -> Passage:
        """Return the passage of sight by a round mirror.

        A sensor sees in it the sources whose mirror image lies behind the disc. A line of sight is queried from the
        mirror to the source only. The portal of a mirror may lead to its own region.

        Args:
            place: its centre (m).
            normal: the direction that it faces, of any length.
            radius_m: its radius (m), above 0.

        Raises:
            TypeError, ValueError: if an argument is of another type or out of range.

        Source: 001_world_interfacing, line of sight: mirrors extend the framework.
        """
        radius_m = finite_number("radius_m", radius_m, above=0)
        start, facing = _exact("place", place), _exact("normal", normal)
        return cls(start, distance_m=0.0, area_m2=math.pi * radius_m**2, mirror_normal=facing)


@dataclass(frozen=True)
class SenseRegion:
    """A part of the level in which signals travel freely.

    Args:
        name: unique in the graph.
        shape: ``Box``, ``Prism`` or ``Boxes``.
        volume_m3: volume (m³), above 0; None for that of the shape. Smells thin out in it.
        kept_per_m: share kept per metre, by modality; else that of the modality.
        dissipation: share lost per second, by modality, 0 to 1; else 0.
        is_baked: True if ``SenseGraphBaking`` made it, and may change its shape.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range.
    """

    name: str
    shape: Shape
    volume_m3: float | None = None
    kept_per_m: Mapping[str, float] = field(default_factory=dict)
    dissipation: Mapping[str, float] = field(default_factory=dict)
    is_baked: bool = False

    def __post_init__(self) -> None:
        check_type("name of a region", self.name, str)
        if not self.name:
            raise ValueError(f"name of a region must be a non-empty string, got {self.name!r}; portals refer to it")
        if not isinstance(self.shape, Shape):
            raise TypeError(f"shape must be a Box, a Prism or Boxes, got {shown(self.shape)}")
        volume = self.shape.volume_m3 if self.volume_m3 is None else self.volume_m3
        object.__setattr__(self, "volume_m3", finite_number("volume_m3", volume, above=0))
        shares_by_name("kept_per_m", self.kept_per_m, KEPT)
        shares_by_name("dissipation", self.dissipation, "it is the share lost per second")
        check_type("is_baked", self.is_baked, bool)


@dataclass(frozen=True)
class SensePortal:
    """A connection from one region to another, for some senses, in this direction only.

    Args:
        from_region: name of the region it starts in.
        to_region: name of the region it leads to.
        passages: by modality; senses that are not listed do not pass.
        name: portals of one name open and close together; a door consists of two.
        is_open: initial state.
        is_baked: True if ``SenseGraphBaking`` made it, and may move it.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if it leads to its own region, and not all its passages are mirrors.
    """

    from_region: str
    to_region: str
    passages: Mapping[str, Passage]
    name: str = ""
    is_open: bool = True
    is_baked: bool = False

    def __post_init__(self) -> None:
        for name, kind in (
                ("from_region", str), ("to_region", str), ("name", str), ("is_open", bool), ("is_baked", bool),
                ("passages", Mapping)):
            check_type(name, getattr(self, name), kind)
        for name, passage in self.passages.items():
            check_type("a modality in passages", name, str)
            check_type(f"passages[{name!r}]", passage, Passage)
        is_mirror = bool(self.passages) and all(one.mirror_normal is not None for one in self.passages.values())
        if self.from_region == self.to_region and not is_mirror:
            raise ValueError(f"a portal must lead to another region, got {self.to_region!r}; only mirrors may"
                " lead to their own region")

    def back(self) -> SensePortal:
        """Return the same portal in the other direction, with the same name."""
        passages = {
            name: replace(one, start=one.end or one.start, end=one.start, wind_m_per_s=0.0 - one.wind_m_per_s)
            for name, one in self.passages.items()
        }
        return replace(self, from_region=self.to_region, to_region=self.from_region, passages=passages)


def _exact(name: str, value: object) -> Point:
    """Return a point as plain numbers that float32 holds exactly, as positions are."""
    x, y, z = point(name, value).tolist()
    return (x, y, z)


def _sides(corners: Sequence[T]) -> list[tuple[T, T]]:
    """Return each corner with the next, the last with the first."""
    return list(pairwise([*corners, *corners[:1]]))


def area_m2(corners: Sequence[Sequence[float]]) -> float:
    """Return the area of a polygon (m²), negative for clockwise corners."""
    a, b = corners[0] if corners else (0.0, 0.0)      # far from the origin, products of coordinates would be rounded
    return sum((x - a) * (w - b) - (z - b) * (y - a) for (x, z), (y, w) in _sides(corners)) / 2


def _is_convex(corners: Sequence[tuple[float, float]]) -> bool:
    """Return whether an outline turns left at every corner, and makes one full turn in total; a star makes two."""
    headings = [math.atan2(w - z, y - x) for (x, z), (y, w) in _sides(corners) if (x, z) != (y, w)]
    bends = [math.remainder(after - before, math.tau) for before, after in _sides(headings)]
    return min(bends) >= -STRAIGHT_RAD and abs(sum(bends) - math.tau) < STRAIGHT_RAD
