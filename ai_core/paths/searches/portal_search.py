"""The heart of ways over regions: A* from portal to portal.

A portal is numbered by its region and its place there; a search stands at the one by
which it came in.

This is the twin in Python of ``_portal_search``, with the same results.
"""
from __future__ import annotations

from array import array
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.twins import twin

__all__ = ["INTERFACE", "NO_PORTAL", "PortalGraph", "PortalSearch", "portal_search"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

NO_PORTAL = -1
"""In place of the portal on the other side, where there is none."""

INFINITE = float("inf")


class PortalGraph(NamedTuple):
    """The portals of a grid; with room for so many in a region.

    Attributes:
        ways: (regions, room, room) float64, from portal to portal within a region, ``inf`` without a way.
        partners: (regions, room) int32, the portal on the other side, ``NO_PORTAL`` where there is none.
        enter: (regions, room) float64, what entering it from the other side costs.
        counts: (regions,) int32, portals in use.
    """

    ways: NDArray[np.float64]
    partners: NDArray[np.int32]
    enter: NDArray[np.float64]
    counts: NDArray[np.int32]


class PortalSearch(Protocol):
    """One search after the other, in the same memory."""

    def begin(
        self,
        start: int,
        goal: int,
        out: NDArray[np.float64],
        into: NDArray[np.float64],
        rest: NDArray[np.float64],
        direct: float,
    ) -> None:
        """Forget the last search and begin one.

        Args:
            start: the region it starts in.
            goal: the region it goes to.
            out: (portals of the start's region,), what it costs to each of them.
            into: (portals of the goal's region,), what it costs from each of them to the goal.
            rest: (regions, room), what it costs at least from each portal to the goal.
            direct: of a way that stays in the region of both, ``inf`` without one.
        """

    def advance(self, most: int) -> int:
        """Look at up to ``most`` portals; return how many. 0 when it is done."""

    @property
    def is_done(self) -> bool:
        """True if the cheapest way over portals is known."""

    @property
    def cost(self) -> float:
        """What it costs, ``inf`` if there is none; ``direct`` if none is cheaper."""

    def way(self) -> bytes:
        """Return the portals by which it comes into regions, in order, as int32; none if the way is direct."""


@twin
def portal_search(
    ways: NDArray[np.float64],
    partners: NDArray[np.int32],
    enter: NDArray[np.float64],
    counts: NDArray[np.int32],
) -> PortalSearch:
    """Return memory for searches over portals; arrays as in ``PortalGraph``, kept, not copied.

    Cost: 32 bytes a portal there is room for, and what waits.
    """
    return _PortalSearch(ways, partners, enter, counts)


class _PortalSearch:
    def __init__(
        self,
        ways: NDArray[np.float64],
        partners: NDArray[np.int32],
        enter: NDArray[np.float64],
        counts: NDArray[np.int32],
    ) -> None:
        self.graph = PortalGraph(ways, partners, enter, counts)
        self.room = ways.shape[1]
        self.is_done, self.cost = True, INFINITE

    def begin(
        self,
        start: int,
        goal: int,
        out: NDArray[np.float64],
        into: NDArray[np.float64],
        rest: NDArray[np.float64],
        direct: float,
    ) -> None:
        if not (0 <= start < len(self.graph.counts) and 0 <= goal < len(self.graph.counts)):
            raise IndexError("a region is not on the grid")
        if len(out) != self.graph.counts[start] or len(into) != self.graph.counts[goal]:
            raise ValueError("out and into must have as many numbers as portals")
        if rest.size != self.graph.partners.size:
            raise ValueError("rest must be (regions, room)")
        self.goal, self.into, self.rest = goal, into.tolist(), rest.reshape(-1).tolist()
        self.cost, self.end, self.is_done = direct, NO_PORTAL, False
        self.costs: dict[int, float] = {}
        self.came: dict[int, int] = {}
        self.waiting: list[tuple[float, int, float]] = []
        for j, so_far in enumerate(out.tolist()):
            self._cross(start, j, so_far, NO_PORTAL)

    def advance(self, most: int) -> int:
        looked = 0
        while looked < most and not self.is_done:
            looked += self._go_on()
        return looked

    def _cross(self, region: int, j: int, so_far: float, came: int) -> None:
        other = int(self.graph.partners[region, j])
        if so_far == INFINITE:
            return
        so_far += float(self.graph.enter[other // self.room, other % self.room])
        whole = so_far + self.rest[other]
        if so_far < self.costs.get(other, INFINITE) and whole < self.cost:
            self.costs[other], self.came[other] = so_far, came
            heappush(self.waiting, (whole, other, so_far))

    def _go_on(self) -> int:
        """Go on from the next portal; 1 if one was looked at."""
        if not self.waiting or self.waiting[0][0] >= self.cost:
            self.is_done = True
            return 0
        _, portal, so_far = heappop(self.waiting)
        if so_far > self.costs[portal]:
            return 0
        region, i = divmod(portal, self.room)
        if region == self.goal and so_far + self.into[i] < self.cost:
            self.cost, self.end = so_far + self.into[i], portal
        ways = self.graph.ways[region, i].tolist()
        for j in range(int(self.graph.counts[region])):
            if j != i:
                self._cross(region, j, so_far + ways[j], portal)
        return 1

    def way(self) -> bytes:
        portals = array("i")
        at = self.end
        while at != NO_PORTAL:
            portals.append(at)
            at = self.came[at]
        portals.reverse()
        return portals.tobytes()
