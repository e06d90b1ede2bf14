"""Wind through the portals of a sense graph: what passages say, a wind over all, or set by hand."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ai_core.saving.fields import Fields, State
from ai_core.senses.sensation import Point

if TYPE_CHECKING:
    from ai_core.senses.graph.sense_graph_parts import SensePortal, SenseRegion

__all__ = ["PortalWinds", "Wind"]

STILL: Point = (0.0, 0.0, 0.0)

Wind = float | Mapping[str, float]
"""Through one portal (m/s): the same for every sense, or by modality."""


class PortalWinds:
    """What blows through each portal.

    Args:
        regions: by id.
        portals: by id.
        id_of: ids of regions by their names.

    Attributes:
        velocity: of the wind over all of the level (m/s).
    """

    def __init__(
        self, regions: Sequence[SenseRegion], portals: Sequence[SensePortal], id_of: Mapping[str, int]
    ) -> None:
        self._regions, self._portals, self._id_of = regions, portals, id_of
        self.velocity = STILL
        self._put: dict[int, float] = {}

    @property
    def calm(self) -> State:
        """What is saved of winds that are as the passages say."""
        return {"velocity": list(STILL), "portals": [], "wind_m_per_s": []}

    def put(self, portal_ids: Sequence[int], wind_m_per_s: float | None) -> None:
        """Let the air go so fast through portals, in the direction of the first; None as at first."""
        first = self._portals[portal_ids[0]]
        for number in portal_ids:
            is_back = self._portals[number].to_region == first.from_region
            if wind_m_per_s is None:
                self._put.pop(number, None)
            else:
                self._put[number] = -wind_m_per_s if is_back else wind_m_per_s

    def put_on(self, number: int) -> float | None:
        """Return what was put on a portal (m/s), None if nothing."""
        return self._put.get(number)

    def of(self, number: int) -> Wind:
        """Return what blows through a portal."""
        if number in self._put:
            return self._put[number]
        return {
            name: passage.wind_m_per_s + self._along(number, passage.start, passage.end or passage.start)
            for name, passage in self._portals[number].passages.items()
        }

    def save_state(self) -> State:
        """Return it as plain data."""
        portals = sorted(self._put)
        return {
            "velocity": list(self.velocity), "portals": portals,
            "wind_m_per_s": [self._put[one] for one in portals],
        }

    def loaded(self, fields: Fields, here: Sequence[int | None]) -> PortalWinds:
        """Return the winds that were saved; raises StateError if they cannot be.

        Args:
            fields: what ``save_state`` returned.
            here: for each portal of the save its id here, None if it is gone.
        """
        found = PortalWinds(self._regions, self._portals, self._id_of)
        found.velocity = fields.point("velocity")
        portals = fields.wholes("portals", maximum=len(here) - 1)
        winds = fields.numbers("wind_m_per_s", count=len(portals))
        for number, wind in zip(portals, winds, strict=True):
            portal_id = here[number]
            if portal_id is not None:
                found._put[portal_id] = wind
        fields.end()
        return found

    def _along(self, number: int, start: Point, end: Point) -> float:
        """Return how much of the wind over all blows along a passage."""
        if self.velocity == STILL:
            return 0.0
        if start == end:
            portal = self._portals[number]
            start, end = (self._middle(name) for name in (portal.from_region, portal.to_region))
        way = [b - a for a, b in zip(start, end, strict=True)]
        length = math.hypot(*way)
        return sum(v * w for v, w in zip(self.velocity, way, strict=True)) / length if length else 0.0

    def _middle(self, region: str) -> Point:
        shape = self._regions[self._id_of[region]].shape
        if shape is None:
            return STILL
        x, y, z = ((a + b) / 2 for a, b in zip(shape.minimum, shape.maximum, strict=True))
        return (x, y, z)
