"""The sense graph: regions in which signals travel freely, and portals between them."""
from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, finite_number, named, point, shown, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.senses.graph.sense_graph_lookup import Lookup, RegionLookup, ShapeLookup
from ai_core.senses.graph.sense_graph_names import portals_here, saved_portals
from ai_core.senses.graph.sense_graph_parts import SensePortal, SenseRegion, check_flag
from ai_core.senses.graph.sense_graph_ways import PortalTable
from ai_core.senses.graph.sense_graph_wind import PortalWinds
from ai_core.senses.modality import Modality

__all__ = ["SenseGraph"]


class SenseGraph:
    """The regions and portals of a level; the id of each is its index.

    Args:
        regions: every region.
        portals: every portal.
        lookup: finds the regions of positions; None to find them by their shapes.

    Attributes:
        regions: by id.
        portals: by id, as passed in.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if two regions have the same name, or a region has no shape and there is no lookup.
        UnknownNameError: if a portal leads to an unknown region.

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
                raise ValueError(f"regions must have unique names, got {region.name!r} twice")
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
        self._ways: dict[tuple[str, float], PortalTable] = {}
        self._wind = PortalWinds(self.regions, self.portals, self._id_of)

    @property
    def modalities(self) -> list[str]:
        """Names of all modalities in regions and portals, sorted."""
        found = {name for portal in self.portals for name in portal.passages}
        for region in self.regions:
            found |= {*region.kept_per_m, *region.dissipation}
        return sorted(found)

    def region_id(self, region: str | int) -> int:
        """Return the id of a region, given by its name or its id.

        Raises:
            UnknownNameError: if there is none.
        """
        if isinstance(region, str):
            return named("region", region, self._id_of)
        number = whole_number("region", region, minimum=0, remedy="use its name")
        if number >= len(self.regions):
            raise UnknownNameError("region", region, self._id_of)
        return number

    def region_at(self, position: object) -> int:
        """Return the id of the region that contains a position (m), ``NOWHERE`` (-1) for none."""
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
        """Open or close a portal given by its id, or all portals of a name.

        Raises:
            TypeError: if ``is_open`` is not a bool.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name) and senses in use.
        """
        check_flag("is_open", is_open)
        for portal_id in self._portal_ids(portal):
            self._is_open[portal_id] = is_open
            for ways in self._ways.values():
                ways.set_open(portal_id, is_open)

    def set_portal_wind(self, portal: str | int, wind_m_per_s: float | None) -> None:
        """Set the wind through a portal: a fan, a draught, a corridor that smells in one direction.

        Args:
            portal: its id, or the name of several. Of portals of one name, those in the
                direction of the first have a tail wind, those in the other direction a head wind.
            wind_m_per_s: speed (m/s), negative against the portal; None for that of its passages.

        Raises:
            TypeError, ValueError: if it is not a number.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name).
        """
        if wind_m_per_s is not None:
            wind_m_per_s = finite_number("wind_m_per_s", wind_m_per_s)
        portal_ids = self._portal_ids(portal)
        self._wind.put(portal_ids, wind_m_per_s)
        self._put_wind(portal_ids)

    def portal_wind(self, portal: str | int) -> float | None:
        """Return the last value of ``set_portal_wind`` for a portal (m/s), None if there is none.

        Raises:
            UnknownNameError: if there is no such portal.
        """
        return self._wind.put_on(self._portal_ids(portal)[0])

    def set_wind(self, velocity: object) -> None:
        """Set the wind over the whole level (m/s): smells drift with it from region to region.

        The wind through a portal is its component along the portal: from its start to its end, or,
        where these are the same, from the middle of its region to that of the next. ``set_portal_wind``
        overrides it.

        Raises:
            TypeError, ValueError: if it is not a velocity.

        Cost: O(portals).
        """
        x, y, z = point("velocity", velocity).tolist()
        self._wind.velocity = (x, y, z)
        self._put_wind(range(len(self.portals)))

    def ways(self, modality: Modality) -> PortalTable:
        """Return how one sense gets through the graph, as arrays; kept up to date."""
        key = (modality.name, modality.kept_per_m)
        if key not in self._ways:
            ways = self._ways[key] = PortalTable(self, modality, self._is_open)
            ways.set_portal_wind({number: self._wind.of(number) for number in range(len(self.portals))})
        return self._ways[key]

    def save_state(self) -> State:
        """Return which portals are open, and the winds; regions and portals themselves belong to the level."""
        return {
            "version": 1, "portals": saved_portals(self.portals), "is_open": list(self._is_open),
            "wind": self._wind.save_state(),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a save; return the function that opens and closes portals of the same names here.
        A portal that is not in the save keeps its state.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=1)
        saved = fields.items("is_open")
        if not all(type(one) is bool for one in saved):
            fields.refuse("is_open", "must hold only true and false")
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

    def _put_wind(self, portal_ids: Iterable[int]) -> None:
        winds = {number: self._wind.of(number) for number in portal_ids}
        for ways in self._ways.values():
            ways.set_portal_wind(winds)

    def _lookup_of(self, lookup: Lookup | None) -> Lookup:
        if lookup is not None:
            return RegionLookup(lookup, len(self.regions))
        shapes = []
        for region in self.regions:
            if region.shape is None:
                raise ValueError(
                    f"region {region.name!r} has no shape; add a shape, or pass a lookup to the graph"
                )
            shapes.append(region.shape)
        self._shapes = ShapeLookup(shapes)
        return self._shapes

    def _portal_ids(self, portal: str | int) -> list[int]:
        if isinstance(portal, str):
            return named("portal", portal, self._named)
        number = whole_number("portal", portal, minimum=0, remedy="use its name")
        if number >= len(self.portals):
            raise UnknownNameError("portal", portal, range(len(self.portals)))
        return [number]
