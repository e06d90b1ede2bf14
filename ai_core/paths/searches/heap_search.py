"""A* over anything that tells its moves one by one: graphs, costs by function, goals by predicate.

It calls back for every place, so it is interpreted; on grids without such
functions ``bucket_search`` finds ways of the same cost some 20 times faster.
"""
from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

__all__ = ["HeapSearch"]

INFINITE = float("inf")


class HeapSearch:
    """One search.

    Ties go to the smallest place.

    Args:
        start: where it begins.
        is_goal: whether a place is a goal; asked once for each place expanded.
        moves_from: gives (place, cost) for every move from a place.
        estimate: gives what it costs at least from a place to a goal; never more than
            a move and the estimate at its end. 0 where nothing is known.

    Attributes:
        is_done: True if a goal is reached at the least cost, or never will be.
        reached: the goal, or -1.
    """

    def __init__(
        self,
        start: int,
        is_goal: Callable[[int], bool],
        moves_from: Callable[[int], Iterable[tuple[int, float]]],
        estimate: Callable[[int], float],
    ) -> None:
        self.is_done = False
        self.reached = -1
        self._start = start
        self._is_goal, self._moves_from, self._estimate = is_goal, moves_from, estimate
        self._ways = {start: 0.0}
        self._came: dict[int, int] = {}
        self._expanded: dict[int, float] = {}
        self._waiting = [(estimate(start), start, 0.0)]

    def advance(self, most: int) -> int:
        """Expand up to ``most`` places; return how many. 0 when nothing is left to do."""
        waiting, ways, count = self._waiting, self._ways, 0
        while count < most and not self.is_done:
            if not waiting:
                self.is_done = True
                break
            _, place, way = heappop(waiting)
            if way > ways[place]:
                continue
            if self._is_goal(place):
                self.reached, self.is_done = place, True
                break
            count += 1
            self._expanded[place] = way
            for other, cost in self._moves_from(place):
                longer = way + cost
                if longer < ways.get(other, INFINITE):
                    ways[other] = longer
                    self._came[other] = place
                    heappush(waiting, (longer + self._estimate(other), other, longer))
        return count

    def cost_to(self, place: int) -> float:
        """Return what the way found to a place costs, ``inf`` if there is none."""
        return self._ways.get(place, INFINITE)

    def way_to(self, place: int) -> bytes:
        """Return the places of the way found to a place, from the start, as int32."""
        places = array("i", [place])
        while place != self._start:
            place = self._came[place]
            places.append(place)
        places.reverse()
        return places.tobytes()

    def nearest(self) -> int:
        """Return the place expanded that is nearest to a goal; ties go to the cheaper, then the smaller."""
        if not self._expanded:
            return self._start
        return min(self._expanded, key=lambda place: (self._estimate(place), self._ways[place], place))
