"""String pulling: a way from cell to cell, or through a corridor, pulled straight."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number, numbers, shown
from ai_core.maps.passage import Passage
from ai_core.paths.grid_line import dearest_on_line
from ai_core.paths.searches.cells_along import costs_along, moves_along

__all__ = ["pull_cells", "pull_through"]

SHORTER = 1 + 1e-9
"""How much dearer a straight piece may be for rounding."""


def pull_cells(passage: Passage, cells: ArrayLike) -> NDArray[np.int32]:
    """Return those cells of a way at which it turns, once it is pulled straight.

    Between two of them one can walk straight: all that lies on the line is open, and
    it costs no more than the way did, were all of it as dear as its dearest cell.

    Args:
        passage: of a square grid.
        cells: (n,), of a way on it.

    Raises:
        ValueError: if they are no way of open moves, or the grid is hexagonal.

    Cost: O(n * cells between two turns).

    >>> from ai_core.maps.grid import Grid
    >>> grid = Grid([[True] * 4] * 3, neighbors=4)
    >>> pull_cells(grid.passage(), [0, 1, 5, 6, 10, 11]).tolist()
    [0, 11]
    """
    if passage.moves.is_hexagonal:
        raise ValueError("passage must be of a square grid, got a hexagonal one; walk from cell to cell there")
    way = as_array("cells", cells)
    if way.ndim != 1 or way.dtype.kind not in "iu" or (way.size and not (
            int(way.min()) >= 0 and int(way.max()) < passage.costs.size)):
        raise ValueError(f"cells must be cells of the grid, (n,), got {shown(cells)}")
    way = way.astype(np.int32)
    if len(way) < 3:
        return way
    if (moves_along(passage, way) < 0).any():
        raise ValueError("cells must be a way of open moves, from each to the next; it may have been found before"
                         " a change: ask for it anew")
    left = costs_along(passage, way).tolist()
    places = np.stack(np.divmod(way, passage.shape[1]), axis=1).tolist()
    kept, at = [0], 1
    while at < len(way) - 1:
        first = kept[-1]
        if not _is_no_dearer(passage, places[first], places[at + 1], left[first] - left[at + 1]):
            kept.append(at)
        at += 1
    return way[[*kept, len(way) - 1]]


def _is_no_dearer(passage: Passage, start: list[int], end: list[int], cost: float) -> bool:
    dearest = dearest_on_line(passage, start, end)
    return dearest < math.inf and dearest * math.dist(start, end) <= cost * SHORTER


def pull_through(start: ArrayLike, goal: ArrayLike, portals: ArrayLike, *, margin: float = 0.0) -> NDArray[np.float64]:
    """Return the shortest way through a corridor: the funnel algorithm.

    Args:
        start: (2,), in front of the first portal.
        goal: (2,), behind the last.
        portals: (n, 2, 2), in order; of each the end to the left and the end to the right, as one goes
            (left is towards larger y, when going towards larger x).
        margin: kept from the ends of portals, 0 or more; in those that are too narrow for it, the
            middle is gone through.

    Returns:
        (m, 2), from the start to the goal, and where it turns.

    Raises:
        ValueError: if they have another shape, are not finite, or the margin is negative.

    Cost: O(n) as a rule, O(n²) at worst.
    Source: Hershberger and Snoeyink 1994; Mononen, the simple funnel.

    >>> pull_through((0, 0), (4, 0), [[(2, 3), (2, 1)]]).tolist()
    [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0]]
    """
    finite_number("margin", margin, minimum=0)
    ends = [numbers("start", start), numbers("goal", goal)]
    gates = numbers("portals", portals)
    gates = gates.reshape(0, 2, 2) if not gates.size else gates
    if any(end.shape != (2,) for end in ends) or gates.ndim != 3 or gates.shape[1:] != (2, 2):
        raise ValueError(f"start and goal must be (2,), portals (n, 2, 2), got {shown(portals)}")
    if not (np.isfinite(gates).all() and np.isfinite(ends).all()):
        raise ValueError("start, goal and portals must be finite")
    gates = np.concatenate([_narrowed(gates, margin), np.stack([ends[1], ends[1]])[None]])
    points = _funnel(tuple(ends[0].tolist()), [[tuple(end) for end in gate] for gate in gates.tolist()])
    return np.array(points)


def _narrowed(gates: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    across = gates[:, 1] - gates[:, 0]
    width = np.maximum(np.hypot(across[:, 0], across[:, 1]), 1e-300)[:, None]
    inward = across * np.minimum(0.5, margin / width)
    return np.stack([gates[:, 0] + inward, gates[:, 1] - inward], axis=1)


Point = tuple[float, ...]


def _funnel(start: Point, gates: list[list[Point]]) -> list[Point]:
    points, apex, left, right = [start], start, start, start
    left_at = right_at = at = 0
    while at < len(gates):
        new_left, new_right = gates[at]
        if _turn(apex, right, new_right) >= 0:
            if apex == right or _turn(apex, left, new_right) < 0:
                right, right_at = new_right, at
            else:  # the right side passes the left one: the way turns there
                points.append(left)
                apex = right = left
                right_at, at = left_at, left_at + 1
                left = right
                continue
        if _turn(apex, left, new_left) <= 0:
            if apex == left or _turn(apex, right, new_left) > 0:
                left, left_at = new_left, at
            else:
                points.append(right)
                apex = left = right
                left_at, at = right_at, right_at + 1
                continue
        at += 1
    points.append(gates[-1][0])
    return [point for before, point in zip([None, *points], points, strict=False) if point != before]


def _turn(apex: Point, one: Point, other: Point) -> float:
    """Return above 0 if the other lies to the left of the one, seen from the apex."""
    return (one[0] - apex[0]) * (other[1] - apex[1]) - (one[1] - apex[1]) * (other[0] - apex[0])
