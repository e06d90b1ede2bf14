"""A* with callbacks: on graphs, with a cost function, or with a goal function.

It calls functions for every place, so it runs interpreted; on grids without such functions
``WeightedSearch`` finds paths of the same cost about 20 times faster.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, indices, shown
from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.graph import Graph
from ai_core.maps.passage import GridPassage
from ai_core.paths.searches.grid_search_loops import NOWHERE, SHAPES

__all__ = ["CallbackSearch", "callback_search", "check_goals", "estimate_on_grid", "nothing_known"]

StepCost = Callable[[int, int, float], float]
MovesFrom = Callable[[int], Iterable[tuple[int, float]]]
Estimate = Callable[[int], float]


class CallbackSearch:
    """Single search; ties go to the smallest place number.

    Args:
        start: start place.
        is_goal: returns whether a place is a goal; called once for each expanded place.
        moves_from: returns (place, cost) of every move from a place.
        estimate: returns a lower bound of the cost from a place to a goal, at most the cost of a move
            plus the estimate at its end; 0 if unknown.

    Attributes:
        is_done: True when a goal is reached at the lowest cost, or no goal can be reached.
        reached: the goal reached, or ``NOWHERE``.
    """

    def __init__(self, start: int, is_goal: Callable[[int], bool], moves_from: MovesFrom, estimate: Estimate) -> None:
        self.is_done = False
        self.reached = NOWHERE
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
                if longer < costs.get(other, math.inf):
                    costs[other] = longer
                    self._came[other] = place
                    heappush(waiting, (longer + self._estimate(other), other, longer))
        return count

    def cost_to(self, place: int) -> float:
        """Return the cost of the path found to a place, ``inf`` without a path."""
        return self._costs.get(place, math.inf)

    def path_to(self, place: int) -> NDArray[np.int32]:
        """Return the places of the path from the start to a place, (n,) int32."""
        places = [place]
        while place != self._start:
            place = self._came[place]
            places.append(place)
        return np.array(places[::-1], np.int32)

    def nearest(self) -> int:
        """Return the expanded place nearest to a goal; ties go to the lower cost, then the smaller number."""
        if not self._expanded:
            return self._start
        return min(self._expanded, key=lambda place: (self._estimate(place), self._costs[place], place))


def check_goals(size: int, goals: object) -> NDArray[np.int32] | Callable[[int], bool]:
    """Return goals as ascending place numbers, or unchanged if they are a function."""
    if callable(goals):
        return goals
    if type(goals) is int and 0 <= goals < size:
        return np.array([goals], np.int32)      # a sixth of the time
    if type(goals) is tuple and len(goals) == 2:     # it would lead to one of two cells, without a word
        raise TypeError(
            f"goals must be a place, or a list of several, got {shown(goals)}; use grid.cell(row, column) for a cell")
    is_several = isinstance(goals, Iterable) and not isinstance(goals, np.ndarray)
    found = indices("goals", list(goals) if is_several else goals, size)  # type: ignore[call-overload]
    if not len(found):
        raise ValueError("goals must contain at least one place, got none")
    return np.unique(found)


def callback_search(
    ground: GridPassage | Graph, start: int, goals: NDArray[np.int32] | Callable[[int], bool],
    step_cost: StepCost | None,
) -> CallbackSearch:
    """Return a search that calls functions for moves, costs or goals."""
    moves = _moves_on_grid(ground) if isinstance(ground, GridPassage) else ground.moves_from
    if step_cost is not None:
        moves = _costed(moves, step_cost)
    if callable(goals):
        return CallbackSearch(start, goals, moves, nothing_known)
    estimate = (
        estimate_on_grid(ground, goals) if isinstance(ground, GridPassage) else _estimate_on_graph(ground, goals))
    return CallbackSearch(start, frozenset(goals.tolist()).__contains__, moves, estimate)


def _moves_on_grid(passage: GridPassage) -> MovesFrom:
    width, costs, open_moves = passage.shape[1], passage.costs.reshape(-1), passage.open_moves.reshape(-1)
    steps = [[down * width + right for down, right in goes] for goes in (passage.moves.even, passage.moves.odd)]
    lengths, is_hexagonal = passage.moves.lengths, passage.moves.is_hexagonal

    def moves_from(cell: int) -> Iterator[tuple[int, float]]:
        bits = int(open_moves[cell])
        for move, step in enumerate(steps[1 if is_hexagonal and bits & ODD_ROW else 0]):
            if bits >> move & 1:
                yield cell + step, lengths[move] * float(costs[cell + step])

    return moves_from


def _costed(moves_from: MovesFrom, step_cost: StepCost) -> MovesFrom:
    def costed(place: int) -> Iterator[tuple[int, float]]:
        for other, usual in moves_from(place):
            cost = step_cost(place, other, usual)
            if cost == math.inf:
                continue
            name = f"step_cost from {place} to {other}"
            if finite_number(name, cost) < usual:
                raise ValueError(
                    f"{name} must not be less than the usual {usual:g}, got {shown(cost)};"
                    " lower the costs of the ground instead, for a class of movers")
            yield other, cost

    return costed


def nothing_known(place: int) -> float:
    """Return 0: the estimate where nothing is known of the goals."""
    return 0.0


def estimate_on_grid(passage: GridPassage, goals: NDArray[np.int32]) -> Estimate:
    """Return a lower bound of the cost to the rectangle around the goals; see ``SHAPES``."""
    width, is_hexagonal, least = passage.shape[1], passage.moves.is_hexagonal, passage.least_cost
    short, far, both = SHAPES[len(passage.moves.lengths)]
    rows, columns = np.divmod(goals, width)
    columns = 2 * columns + rows % 2 if is_hexagonal else columns
    top, bottom, left, right = int(rows.min()), int(rows.max()), int(columns.min()), int(columns.max())

    def estimate(cell: int) -> float:
        row, column = divmod(cell, width)
        column = 2 * column + (row & 1) if is_hexagonal else column
        down = top - row if row < top else row - bottom if row > bottom else 0
        aside = left - column if column < left else column - right if column > right else 0
        return least * (down + short * aside if aside < down else far * aside + both * down)

    return estimate


def _estimate_on_graph(graph: Graph, goals: NDArray[np.int32]) -> Estimate:
    if graph.positions is None or not graph.cost_per_m:
        return nothing_known
    positions, ends, per_m = graph.positions, graph.positions[goals], graph.cost_per_m

    def estimate(place: int) -> float:
        return float(np.sqrt(((ends - positions[place]) ** 2).sum(axis=1)).min()) * per_m

    return estimate
