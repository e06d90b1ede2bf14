"""A* from portal to portal, for searches over regions.

A portal is numbered by its region and its index there; the nodes of the search are the portals through which
the path enters a region.

Python twin of the kernel ``_portal_search``, with identical results.
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
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

NO_PORTAL = -1
"""Portal number that stands for no portal."""

INFINITE = float("inf")


class PortalGraph(NamedTuple):
    """Portals of a grid, with room for a fixed number of portals per region.

    Attributes:
        ways: (regions, room, room) float64, costs from portal to portal within a region, ``inf`` without a path.
        partners: (regions, room) int32, portal on the other side, ``NO_PORTAL`` for none.
        enter: (regions, room) float64, cost of entering the cell of the portal from the other side.
        counts: (regions,) int32, number of portals of each region.
    """

    ways: NDArray[np.float64]
    partners: NDArray[np.int32]
    enter: NDArray[np.float64]
    counts: NDArray[np.int32]


class PortalSearch(Protocol):
    """Memory for consecutive searches over portals."""

    def begin(
        self,
        start: int,
        goal: int,
        out: NDArray[np.float64],
        into: NDArray[np.float64],
        rest: NDArray[np.float64],
        direct: float,
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            start: region of the start.
            goal: region of the goal.
            out: (portals of the start region,), cost from the start to each portal.
            into: (portals of the goal region,), cost from each portal to the goal.
            rest: (regions, room), lower bound of the cost from each portal to the goal.
            direct: cost of the path within a common region of start and goal, ``inf`` without a path.
        """

    def advance(self, most: int) -> int:
        """Expand up to ``most`` portals; return their number, 0 when the search is done."""

    @property
    def is_done(self) -> bool:
        """True when the cheapest path over portals is found."""

    @property
    def cost(self) -> float:
        """Lowest cost so far: ``inf`` without a path, ``direct`` if no path over portals is cheaper."""

    def way(self) -> bytes:
        """Return the entered portals in order, as int32 bytes; empty for the direct path."""


@twin
def portal_search(
    ways: NDArray[np.float64],
    partners: NDArray[np.int32],
    enter: NDArray[np.float64],
    counts: NDArray[np.int32],
) -> PortalSearch:
    """Return memory for searches over portals; arrays as in ``PortalGraph``, referenced, not copied.

    Cost: 32 bytes per portal that there is room for, plus memory for the waiting portals.
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
        """Expand the next portal; return 1 if a portal was expanded, otherwise 0."""
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
