"""Searches with callbacks: on graphs, with a cost function, or with a goal function."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import as_array, finite_number, shown, whole_number
from ai_core.maps.cell_moves import ODD_ROW, GridMoves
from ai_core.maps.graph import Graph
from ai_core.maps.passage import GridPassage
from ai_core.paths.searches.grid_search_loops import SHAPES
from ai_core.paths.searches.heap_search import HeapSearch

__all__ = ["callback_search", "check_goals"]

StepCost = Callable[[int, int, float], float]
MovesFrom = Callable[[int], Iterator[tuple[int, float]]]


class Estimate(NamedTuple):
    """Lower bound of the length of a path to the bounding rectangle of the goals, in moves of length 1.

    With ``down`` rows and ``aside`` columns left, it is ``down + short * aside`` if more rows than
    columns are left, otherwise ``far * aside + both * down``. On hexagonal grids columns count half
    cells, which accounts for the shift of odd rows.

    Attributes:
        rows_down: rows left from each row.
        columns_aside: columns left from each column, for even and for odd rows.
        short: see above.
        far: see above.
        both: see above.
    """

    rows_down: list[int]
    columns_aside: tuple[list[int], list[int]]
    short: float
    far: float
    both: float

    @classmethod
    def to(cls, goals: NDArray[np.int32], moves: GridMoves, height: int, width: int) -> Estimate:
        """Return the estimate for goals.

        Cost: O(height + width + goals).
        """
        rows, columns = np.divmod(goals, width)
        even = odd = np.arange(width)
        if moves.is_hexagonal:
            columns, even, odd = 2 * columns + rows % 2, 2 * even, 2 * odd + 1
        short, far, both = SHAPES[len(moves.lengths)]
        return cls(
            _outside(np.arange(height), rows), (_outside(even, columns), _outside(odd, columns)), short, far, both
        )

    def from_cell(self, cell: int) -> float:
        """Return the estimate from one cell."""
        row, column = divmod(cell, len(self.columns_aside[0]))
        down, aside = self.rows_down[row], self.columns_aside[row & 1][column]
        return down + self.short * aside if aside < down else self.far * aside + self.both * down


def _outside(lines: NDArray[np.int_], goals: NDArray[np.int_]) -> list[int]:
    """Return the distances of rows or columns from the range of the goals."""
    far: list[int] = np.maximum(np.maximum(goals.min() - lines, lines - goals.max()), 0).tolist()
    return far


def check_goals(size: int, goals: object) -> NDArray[np.int32] | Callable[[int], bool]:
    """Return goals as ascending place numbers, or unchanged if they are a function.

    Raises:
        TypeError: if they are neither integers nor a function.
        ValueError: if there is no goal, or a goal is not one of ``size`` places.
    """
    if callable(goals):
        return goals
    if isinstance(goals, int | np.integer):
        goals = [whole_number("goals", goals, minimum=0, maximum=size - 1)]
    if not isinstance(goals, Iterable):
        raise TypeError(f"goals must be integers or a function, got {shown(goals)}")
    array = as_array("goals", goals if isinstance(goals, np.ndarray) else list(goals))
    if array.size == 0:
        raise ValueError("goals must contain at least one place, got none")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"goals must be integers or a function, got {shown(goals)}")
    if not (int(array.min()) >= 0 and int(array.max()) < size):
        raise ValueError(f"goals must be 0 to {size - 1}, got {shown(goals)}")
    return np.unique(array).astype(np.int32)


def callback_search(
    ground: GridPassage | Graph,
    start: int,
    goals: NDArray[np.int32] | Callable[[int], bool],
    step_cost: StepCost | None,
) -> HeapSearch:
    """Return a search that calls functions for moves, costs or goals.

    Args:
        ground: grid passage or graph.
        start: start place.
        goals: checked goals, the result of ``check_goals``.
        step_cost: cost of a move; None for the costs of the ground.
    """
    moves = _moves_on_grid(ground) if isinstance(ground, GridPassage) else _moves_on_graph(ground)
    if step_cost is not None:
        moves = _costed(moves, step_cost)
    if callable(goals):
        return HeapSearch(start, goals, moves, _nothing_known)
    estimate = (
        _estimate_on_grid(ground, goals) if isinstance(ground, GridPassage) else _estimate_on_graph(ground, goals))
    return HeapSearch(start, frozenset(goals.tolist()).__contains__, moves, estimate)


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


def _moves_on_graph(graph: Graph) -> MovesFrom:
    def moves_from(place: int) -> Iterator[tuple[int, float]]:
        return iter(graph.moves_from(place))

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
                    " lower the costs of the ground instead, for a class of movers"
                )
            yield other, cost

    return costed


def _nothing_known(place: int) -> float:
    return 0.0


def _estimate_on_grid(passage: GridPassage, goals: NDArray[np.int32]) -> Callable[[int], float]:
    estimate, least = Estimate.to(goals, passage.moves, *passage.shape), passage.least_cost
    return lambda cell: least * estimate.from_cell(cell)


def _estimate_on_graph(graph: Graph, goals: NDArray[np.int32]) -> Callable[[int], float]:
    if graph.positions is None or not graph.cost_per_m:
        return _nothing_known
    positions, ends, per_m = graph.positions, graph.positions[goals], graph.cost_per_m

    def estimate(place: int) -> float:
        return float(np.sqrt(((ends - positions[place]) ** 2).sum(axis=1)).min()) * per_m

    return estimate
