"""The sense graph: regions in which signals travel freely, and portals between them.

Portals lead one way, and each sense has a passage of its own through them: one-way
glass, a shut door, an air duct for smells, a camera that brings sight from afar.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, finite_number, point, shown, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.senses.modality import Modality
from ai_core.senses.sensation import Point
from ai_core.senses.sense_graph_lookup import Lookup, RegionLookup, ShapeLookup
from ai_core.senses.sense_graph_names import portals_here, saved_portals, without_names
from ai_core.senses.sense_graph_shapes import Shape, exact
from ai_core.senses.sense_graph_ways import Ways
from ai_core.senses.sense_graph_wind import PortalWinds

__all__ = ["Passage", "SenseGraph", "SensePortal", "SenseRegion"]

KEPT = "it is the share kept per metre"


@dataclass(frozen=True)
class Passage:
    """How one sense passes through a portal.

    Args:
        start: where it goes in (m); what leaves its region goes there first.
        end: where it comes out (m); None for ``start``.
        attenuation: share of the intensity kept per metre of ``distance_m``, 0 to 1;
            0 lets nothing through.
        distance_m: how long the way through is (m), 0 or more; it need not be the
            distance from start to end.
        shut_attenuation: takes the place of ``attenuation`` while the portal is shut.
        area_m2: how wide it is (m²), above 0; smells pass in proportion.
        wind_m_per_s: how fast the air goes through it towards its end (m/s), below 0 against
            it; smells go so much faster or slower, and not at all against a stronger wind.
        is_relayed: True for sight by camera and screen: who looks sees ``end``, and
            what shows there is seen from ``start``; else sight goes straight on.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if one is out of range.
    """

    start: Point
    end: Point | None = None
    attenuation: float = 1.0
    distance_m: float = 1.0
    shut_attenuation: float = 0.0
    area_m2: float = 1.0
    is_relayed: bool = False
    wind_m_per_s: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", exact("start", self.start))
        put(self, "end", self.start if self.end is None else exact("end", self.end))
        for name in ("attenuation", "shut_attenuation"):
            share = finite_number(name, getattr(self, name), minimum=0, maximum=1, remedy=KEPT)
            put(self, name, share)
        put(self, "distance_m", finite_number("distance_m", self.distance_m, minimum=0))
        put(self, "area_m2", finite_number("area_m2", self.area_m2, above=0))
        put(self, "wind_m_per_s", finite_number("wind_m_per_s", self.wind_m_per_s))
        _flag("is_relayed", self.is_relayed)


@dataclass(frozen=True)
class SenseRegion:
    """A part of the level in which signals travel freely.

    Args:
        name: no other region has it.
        shape: ``Box``, ``Prism`` or ``Boxes``; None where the graph has a ``lookup``.
        volume_m3: how large it is (m³), above 0; None for its shape's. Smells thin out in it.
        attenuation: share kept per metre, by modality; else the modality's own.
        dissipation: share lost per second, by modality, 0 to 1; else 0.
        is_baked: True if ``SenseGraphBaking`` made it, and may change its shape.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or the region has no volume.
    """

    name: str
    shape: Shape | None = None
    volume_m3: float | None = None
    attenuation: Mapping[str, float] = field(default_factory=dict)
    dissipation: Mapping[str, float] = field(default_factory=dict)
    is_baked: bool = False

    def __post_init__(self) -> None:
        _text("name of a region", self.name)
        if not self.name:
            raise ValueError("name of a region must not be empty")
        if self.shape is not None and not isinstance(self.shape, Shape):
            raise TypeError(f"shape must be a Box, a Prism, Boxes or None, got {shown(self.shape)}")
        volume = self.volume_m3
        if volume is None:
            if self.shape is None:
                raise ValueError(
                    f"region {self.name!r} has no volume; give it a shape or volume_m3"
                )
            volume = self.shape.volume_m3
        object.__setattr__(self, "volume_m3", finite_number("volume_m3", volume, above=0))
        _shares("attenuation", self.attenuation, KEPT)
        _shares("dissipation", self.dissipation, "it is the share lost per second")
        _flag("is_baked", self.is_baked)


@dataclass(frozen=True)
class SensePortal:
    """A way from one region into another, for some senses. It leads that way only.

    Args:
        from_region: name of the region it leaves.
        to_region: name of the region it leads into.
        passages: by modality; a sense that is not in it does not pass.
        name: portals of one name open and shut together: a door is two of them.
        is_open: at first.
        is_baked: True if ``SenseGraphBaking`` made it, and may move it.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if it leads back into its own region.
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
            raise ValueError(f"a portal must lead into another region, got {self.to_region!r}")
        _flag("is_open", self.is_open)
        _flag("is_baked", self.is_baked)
        if not isinstance(self.passages, Mapping):
            raise TypeError(f"passages must map modalities to Passage, got {shown(self.passages)}")
        for name, passage in self.passages.items():
            _text("a modality in passages", name)
            if not isinstance(passage, Passage):
                raise TypeError(f"passages[{name!r}] must be a Passage, got {shown(passage)}")

    def back(self) -> SensePortal:
        """Return the same way in the other direction, under the same name."""
        turned = {
            name: Passage(one.end or one.start, one.start, one.attenuation, one.distance_m,
                          one.shut_attenuation, one.area_m2, one.is_relayed, 0.0 - one.wind_m_per_s)
            for name, one in self.passages.items()
        }
        return SensePortal(
            self.to_region, self.from_region, turned, self.name, self.is_open, self.is_baked)


class SenseGraph:
    """Regions and portals of one level; ids are their places in the order given.

    Args:
        regions: every region.
        portals: every portal.
        lookup: finds the regions of positions; None to find them by their shapes.

    Attributes:
        regions: by id.
        portals: by id, as they were given.

    Raises:
        TypeError: if something is of another type.
        ValueError: if two regions have one name, or one has no shape and there is no lookup.
        UnknownNameError: if a portal leads to a region that is not there.

    Source: 001_world_interfacing, finite element model sense manager.
    """

    def __init__(
        self,
        regions: Iterable[SenseRegion],
        portals: Iterable[SensePortal] = (),
        *,
        lookup: Lookup | None = None,
    ) -> None:
        self.regions, self.portals = tuple(regions), tuple(portals)
        self._id_of: dict[str, int] = {}
        for region in self.regions:
            if not isinstance(region, SenseRegion):
                raise TypeError(f"regions must hold SenseRegion, got {shown(region)}")
            if region.name in self._id_of:
                raise ValueError(f"regions must differ in name, got {region.name!r} twice")
            self._id_of[region.name] = len(self._id_of)
        for portal in self.portals:
            if not isinstance(portal, SensePortal):
                raise TypeError(f"portals must hold SensePortal, got {shown(portal)}")
            self.region_id(portal.from_region)
            self.region_id(portal.to_region)
        self._named: dict[str, list[int]] = {}
        for number, portal in enumerate(self.portals):
            if portal.name:
                self._named.setdefault(portal.name, []).append(number)
        self._shapes: ShapeLookup | None = None
        self._lookup = self._lookup_of(lookup)
        self._is_open = [portal.is_open for portal in self.portals]
        self._ways: dict[tuple[str, float], Ways] = {}
        self._wind = PortalWinds(self.regions, self.portals, self._id_of)

    @property
    def modalities(self) -> list[str]:
        """Names of all senses that regions and portals speak of, sorted."""
        found = {name for portal in self.portals for name in portal.passages}
        for region in self.regions:
            found |= {*region.attenuation, *region.dissipation}
        return sorted(found)

    def region_id(self, region: str | int) -> int:
        """Return the id of a region, given by its name or its id.

        Raises:
            UnknownNameError: if there is none.
        """
        if isinstance(region, str):
            if region not in self._id_of:
                raise UnknownNameError("region", region, self._id_of)
            return self._id_of[region]
        number = whole_number("region", region, minimum=0, remedy="use its name")
        if number >= len(self.regions):
            raise UnknownNameError("region", region, self._id_of)
        return number

    def region_at(self, position: object) -> int:
        """Return the id of the region a position (m) is in, ``NOWHERE`` (-1) for none."""
        place = point("position", position)
        if self._shapes is not None:
            x, y, z = place.tolist()
            return self._shapes.of((x, y, z))
        return int(self._lookup(place[np.newaxis])[0])

    @property
    def regions_at(self) -> Callable[[NDArray[np.float32]], NDArray[np.int32]]:
        """Finds regions of many positions (n, 3); see ``Lookup``."""
        return self._lookup

    def is_open(self, portal: str | int) -> bool:
        """Return True if a portal is open, given by its name or its id."""
        return self._is_open[self._portal_ids(portal)[0]]

    def set_open(self, portal: str | int, is_open: bool) -> None:
        """Open or shut a portal by its id, or all that have a name.

        Raises:
            TypeError: if ``is_open`` is no bool.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name) and senses in use.
        """
        _flag("is_open", is_open)
        for portal_id in self._portal_ids(portal):
            self._is_open[portal_id] = is_open
            for ways in self._ways.values():
                ways.set_open(portal_id, is_open)

    def set_wind(self, portal: str | int, wind_m_per_s: float | None) -> None:
        """Let the air go through a portal: a fan, a draught, a corridor that smells one way.

        Args:
            portal: its id, or the name of several. Of one name those that lead the way of the
                first have the wind behind them, those that lead back have it against them.
            wind_m_per_s: how fast (m/s), below 0 the other way; None as its passages say.

        Raises:
            TypeError, ValueError: if it is no number.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name).
        """
        if wind_m_per_s is not None:
            wind_m_per_s = finite_number("wind_m_per_s", wind_m_per_s)
        portal_ids = self._portal_ids(portal)
        self._wind.put(portal_ids, wind_m_per_s)
        self._put_wind(portal_ids)

    def wind_set(self, portal: str | int) -> float | None:
        """Return what ``set_wind`` said of a portal last (m/s), None if nothing.

        Raises:
            UnknownNameError: if there is no such portal.
        """
        return self._wind.put_on(self._portal_ids(portal)[0])

    def blow(self, velocity: object) -> None:
        """Let a wind blow through the level (m/s): smells go with it from region to region.

        Through each portal goes what blows along it: from its start to its end, or, where they
        are one, from the middle of its region to that of the next. ``set_wind`` overrules it.

        Raises:
            TypeError, ValueError: if it is no velocity.

        Cost: O(portals).
        """
        x, y, z = point("velocity", velocity).tolist()
        self._wind.velocity = (x, y, z)
        self._put_wind(range(len(self.portals)))

    def ways(self, modality: Modality) -> Ways:
        """Return how one sense gets through the graph, as arrays; kept up to date."""
        key = (modality.name, modality.attenuation)
        if key not in self._ways:
            ways = self._ways[key] = Ways(self, modality, self._is_open)
            ways.set_wind({number: self._wind.of(number) for number in range(len(self.portals))})
        return self._ways[key]

    def save_state(self) -> State:
        """Return which portals are open, and how the wind blows; the rest belongs to the level."""
        return {
            "version": 3, "portals": saved_portals(self.portals), "is_open": list(self._is_open),
            "wind": self._wind.save_state(),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a save; return what opens and shuts portals of the same names here.
        A portal that is not in the save stays as it is.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=3, migrations={1: self._in_version_2, 2: without_names})
        saved = fields.items("is_open")
        if not all(type(one) is bool for one in saved):
            fields.refuse("is_open", "must hold true and false alone")
        here = portals_here(fields, self.portals, len(saved))
        wind = self._wind.loaded(fields.group("wind"), here)
        fields.end()

        def change() -> None:
            self._wind = wind
            self._put_wind(range(len(self.portals)))
            for portal_id, is_open in zip(here, saved, strict=True):
                if portal_id is not None and is_open != self._is_open[portal_id]:
                    self.set_open(portal_id, is_open)

        return change

    def _in_version_2(self, state: State) -> State:
        return {**state, "version": 2, "wind": self._wind.calm}

    def _put_wind(self, portal_ids: Iterable[int]) -> None:
        winds = {number: self._wind.of(number) for number in portal_ids}
        for ways in self._ways.values():
            ways.set_wind(winds)

    def _lookup_of(self, lookup: Lookup | None) -> Lookup:
        if lookup is not None:
            return RegionLookup(lookup, len(self.regions))
        shapes = []
        for region in self.regions:
            if region.shape is None:
                raise ValueError(
                    f"region {region.name!r} has no shape; give it one, or the graph a lookup"
                )
            shapes.append(region.shape)
        self._shapes = ShapeLookup(shapes)
        return self._shapes

    def _portal_ids(self, portal: str | int) -> list[int]:
        if isinstance(portal, str):
            if portal not in self._named:
                raise UnknownNameError("portal", portal, self._named)
            return self._named[portal]
        number = whole_number("portal", portal, minimum=0, remedy="use its name")
        if number >= len(self.portals):
            raise UnknownNameError("portal", portal, range(len(self.portals)))
        return [number]


def _text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a text, got {shown(value)}")


def _flag(what: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, got {shown(value)}")


def _shares(what: str, values: object, remedy: str) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must map modalities to numbers, got {shown(values)}")
    for name, value in values.items():
        _text(f"a modality in {what}", name)
        finite_number(f"{what}[{name!r}]", value, minimum=0, maximum=1, remedy=remedy)
