"""Searches with callbacks: on graphs, with a cost function, or with a goal function."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import as_array, finite_number, shown, whole_number
from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.graph import Graph
from ai_core.maps.passage import GridPassage
from ai_core.paths.searches.bucket_search import Estimate
from ai_core.paths.searches.heap_search import HeapSearch

__all__ = ["callback_search", "check_goals"]

StepCost = Callable[[int, int, float], float]
MovesFrom = Callable[[int], Iterator[tuple[int, float]]]


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
