"""Parts of a sense graph: regions, and portals with a passage for each sense.

Portals lead in one direction, and each sense has a passage of its own through them: one-way
glass, a closed door, an air duct for smells, a camera that shows a distant place.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ai_core.errors import finite_number, shown
from ai_core.senses.graph.sense_graph_shapes import Shape, exact
from ai_core.senses.sensation import Point

__all__ = ["Passage", "SensePortal", "SenseRegion", "check_flag"]

KEPT = "it is the share kept per metre"


@dataclass(frozen=True)
class Passage:
    """How one sense passes through a portal.

    Args:
        start: entry point (m); signals that leave the region travel there first.
        end: exit point (m); None for ``start``.
        kept_per_m: share of the intensity kept per metre of ``distance_m``, 0 to 1;
            0 lets nothing through.
        distance_m: length of the passage (m), 0 or more; it may differ from the
            distance from start to end.
        closed_kept_per_m: replaces ``kept_per_m`` while the portal is closed.
        area_m2: cross-section (m²), above 0; smells pass in proportion.
        wind_m_per_s: speed of the air through it towards its end (m/s), negative for the other
            direction; smells travel faster or slower by it, and not at all against a stronger wind.
        is_relayed: True for sight by camera and screen: a sensor sees the screen at ``end``, and
            sources are seen from the camera at ``start``; else sight is a straight line.

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

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", exact("start", self.start))
        put(self, "end", self.start if self.end is None else exact("end", self.end))
        for name in ("kept_per_m", "closed_kept_per_m"):
            share = finite_number(name, getattr(self, name), minimum=0, maximum=1, remedy=KEPT)
            put(self, name, share)
        put(self, "distance_m", finite_number("distance_m", self.distance_m, minimum=0))
        put(self, "area_m2", finite_number("area_m2", self.area_m2, above=0))
        put(self, "wind_m_per_s", finite_number("wind_m_per_s", self.wind_m_per_s))
        check_flag("is_relayed", self.is_relayed)


@dataclass(frozen=True)
class SenseRegion:
    """A part of the level in which signals travel freely.

    Args:
        name: unique in the graph.
        shape: ``Box``, ``Prism`` or ``Boxes``; None if the graph has a ``lookup``.
        volume_m3: volume (m³), above 0; None for that of the shape. Smells thin out in it.
        kept_per_m: share kept per metre, by modality; else that of the modality.
        dissipation: share lost per second, by modality, 0 to 1; else 0.
        is_baked: True if ``SenseGraphBaking`` made it, and may change its shape.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or the region has no volume.
    """

    name: str
    shape: Shape | None = None
    volume_m3: float | None = None
    kept_per_m: Mapping[str, float] = field(default_factory=dict)
    dissipation: Mapping[str, float] = field(default_factory=dict)
    is_baked: bool = False

    def __post_init__(self) -> None:
        _text("name of a region", self.name)
        if not self.name:
            raise ValueError("name of a region must be a non-empty string")
        if self.shape is not None and not isinstance(self.shape, Shape):
            raise TypeError(f"shape must be a Box, a Prism, Boxes or None, got {shown(self.shape)}")
        volume = self.volume_m3
        if volume is None:
            if self.shape is None:
                raise ValueError(
                    f"region {self.name!r} has no volume; set shape or volume_m3"
                )
            volume = self.shape.volume_m3
        object.__setattr__(self, "volume_m3", finite_number("volume_m3", volume, above=0))
        _shares("kept_per_m", self.kept_per_m, KEPT)
        _shares("dissipation", self.dissipation, "it is the share lost per second")
        check_flag("is_baked", self.is_baked)


@dataclass(frozen=True)
class SensePortal:
    """A connection from one region to another, for some senses, in this direction only.

    Args:
        from_region: name of the region it starts in.
        to_region: name of the region it leads to.
        passages: by modality; senses that are not listed do not pass.
        name: portals of one name open and close together: a door is two of them.
        is_open: initial state.
        is_baked: True if ``SenseGraphBaking`` made it, and may move it.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if it leads to its own region.
    """

    from_region: str
    to_region: str
    passages: Mapping[str, Passage]
    name: str = ""
    is_open: bool = True
    is_baked: bool = False

    def __post_init__(self) -> None:
        for what in ("from_region", "to_region", "name"):
            _text(what, getattr(self, what))
        if self.from_region == self.to_region:
            raise ValueError(f"a portal must lead to another region, got {self.to_region!r}")
        check_flag("is_open", self.is_open)
        check_flag("is_baked", self.is_baked)
        if not isinstance(self.passages, Mapping):
            raise TypeError(f"passages must map modality names to Passage, got {shown(self.passages)}")
        for name, passage in self.passages.items():
            _text("a modality in passages", name)
            if not isinstance(passage, Passage):
                raise TypeError(f"passages[{name!r}] must be a Passage, got {shown(passage)}")

    def back(self) -> SensePortal:
        """Return the same portal in the other direction, with the same name."""
        turned = {
            name: Passage(one.end or one.start, one.start, one.kept_per_m, one.distance_m,
                          one.closed_kept_per_m, one.area_m2, one.is_relayed, 0.0 - one.wind_m_per_s)
            for name, one in self.passages.items()
        }
        return SensePortal(
            self.to_region, self.from_region, turned, self.name, self.is_open, self.is_baked)


def _text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {shown(value)}")


def check_flag(what: str, value: object) -> None:
    """Raise TypeError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, got {shown(value)}")


def _shares(what: str, values: object, remedy: str) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must map modality names to numbers, got {shown(values)}")
    for name, value in values.items():
        _text(f"a modality in {what}", name)
        finite_number(f"{what}[{name!r}]", value, minimum=0, maximum=1, remedy=remedy)
