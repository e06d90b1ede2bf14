"""String pulling: straightens a path of cells, or finds the shortest path through portals."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number, numbers, shown
from ai_core.maps.passage import GridPassage
from ai_core.paths.grid_line import highest_cost_on_line
from ai_core.paths.searches.cells_along import costs_along, moves_along

__all__ = ["pull_cells", "pull_through"]

SHORTER = 1 + 1e-9
"""Factor by which a straight segment may cost more, for rounding errors (no unit)."""


def pull_cells(passage: GridPassage, cells: ArrayLike) -> NDArray[np.int32]:
    """Return the cells at which a path turns after straightening.

    The straight line between two of them is open, and its length times its highest cell cost is at
    most the cost of the original path between them.

    Args:
        passage: passage of a square grid.
        cells: (n,) int, cells of a path.

    Raises:
        ValueError: if the cells are not a path of open moves, or the grid is hexagonal.

    Cost: O(n * cells between two turns).

    >>> from ai_core.maps.grid import Grid
    >>> grid = Grid([[True] * 4] * 3, neighbors=4)
    >>> pull_cells(grid.passage(), [0, 1, 5, 6, 10, 11]).tolist()
    [0, 11]
    """
    if passage.moves.is_hexagonal:
        raise ValueError("passage must be of a square grid, got a hexagonal one; follow the path cell by cell")
    path_cells = as_array("cells", cells)
    if path_cells.ndim != 1 or path_cells.dtype.kind not in "iu" or (path_cells.size and not (
            int(path_cells.min()) >= 0 and int(path_cells.max()) < passage.costs.size)):
        raise ValueError(f"cells must be cells of the grid, shape (n,), got {shown(cells)}")
    path_cells = path_cells.astype(np.int32)
    if len(path_cells) < 3:
        return path_cells
    if (moves_along(passage, path_cells) < 0).any():
        raise ValueError("cells must be a path of open moves; if cells have changed since it was found, request a new"
                         " path")
    left = costs_along(passage, path_cells).tolist()
    places = np.stack(np.divmod(path_cells, passage.shape[1]), axis=1).tolist()
    kept, at = [0], 1
    while at < len(path_cells) - 1:
        first = kept[-1]
        if not _costs_no_more(passage, places[first], places[at + 1], left[first] - left[at + 1]):
            kept.append(at)
        at += 1
    return path_cells[[*kept, len(path_cells) - 1]]


def _costs_no_more(passage: GridPassage, start: list[int], end: list[int], cost: float) -> bool:
    highest = highest_cost_on_line(passage, start, end)
    return highest < math.inf and highest * math.dist(start, end) <= cost * SHORTER


def pull_through(start: ArrayLike, goal: ArrayLike, portals: ArrayLike, *, margin: float = 0.0) -> NDArray[np.float64]:
    """Return the shortest path through a sequence of portals (funnel algorithm).

    Args:
        start: (2,), position before the first portal.
        goal: (2,), position behind the last portal.
        portals: (n, 2, 2), in order; for each the left end and the right end in walking direction
            (towards larger x, left is towards larger y).
        margin: distance kept from the ends of portals, 0 or more; the path goes through the middle of
            portals that are too narrow for it.

    Returns:
        (m, 2) float64, start, turns and goal.

    Raises:
        ValueError: if an argument has another shape or is not finite, or the margin is negative.

    Cost: O(n) on average, O(n²) in the worst case.
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
        raise ValueError(
            f"start, goal and portals must be finite, got {shown(ends)} and {shown(portals)}; remove open ends")
    gates = np.concatenate([_narrowed(gates, margin), np.stack([ends[1], ends[1]])[None]])
    points = _funnel(tuple(ends[0].tolist()), [[tuple(end) for end in gate] for gate in gates.tolist()])
    return np.array(points)


def _narrowed(gates: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    across = gates[:, 1] - gates[:, 0]
    width = np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
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
            else:  # the right side crosses the left one: the path turns there
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
    """Return a value above 0 if ``other`` is to the left of ``one``, seen from the apex."""
    return (one[0] - apex[0]) * (other[1] - apex[1]) - (one[1] - apex[1]) * (other[0] - apex[0])
