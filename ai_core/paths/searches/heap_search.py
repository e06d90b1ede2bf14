"""A* with callbacks for moves: for graphs, cost functions and goal functions.

It calls functions for every place, so it runs interpreted; on grids without such functions
``WeightedSearch`` finds paths of the same cost about 20 times faster.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeapSearch"]

INFINITE = float("inf")


class HeapSearch:
    """Single search; ties go to the smallest place number.

    Args:
        start: start place.
        is_goal: returns whether a place is a goal; called once for each expanded place.
        moves_from: returns (place, cost) of every move from a place.
        estimate: returns a lower bound of the cost from a place to a goal, at most the cost of a move
            plus the estimate at its end; 0 if unknown.

    Attributes:
        is_done: True when a goal is reached at the lowest cost, or no goal can be reached.
        reached: the goal reached, or -1.
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
        self._costs = {start: 0.0}
        self._came: dict[int, int] = {}
        self._expanded: dict[int, float] = {}
        self._waiting = [(estimate(start), start, 0.0)]

    def advance(self, most: int) -> int:
        """Expand up to ``most`` places; return their number, 0 when the search is done."""
        waiting, costs, count = self._waiting, self._costs, 0
        while count < most and not self.is_done:
            if not waiting:
                self.is_done = True
                break
            _, place, cost_so_far = heappop(waiting)
            if cost_so_far > costs[place]:
                continue
            if self._is_goal(place):
                self.reached, self.is_done = place, True
                break
            count += 1
            self._expanded[place] = cost_so_far
            for other, cost in self._moves_from(place):
                longer = cost_so_far + cost
                if longer < costs.get(other, INFINITE):
                    costs[other] = longer
                    self._came[other] = place
                    heappush(waiting, (longer + self._estimate(other), other, longer))
        return count

    def cost_to(self, place: int) -> float:
        """Return the cost of the path found to a place, ``inf`` without a path."""
        return self._costs.get(place, INFINITE)

    def path_to(self, place: int) -> NDArray[np.int32]:
        """Return the places of the path from the start to a place, (n,) int32."""
        places = [place]
        while place != self._start:
            place = self._came[place]
            places.append(place)
        places.reverse()
        return np.array(places, np.int32)

    def nearest(self) -> int:
        """Return the expanded place nearest to a goal; ties go to the lower cost, then the smaller number."""
        if not self._expanded:
            return self._start
        return min(self._expanded, key=lambda place: (self._estimate(place), self._costs[place], place))
