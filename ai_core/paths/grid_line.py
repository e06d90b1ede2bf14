"""Straight lines on a grid: the cells they pass, and whether they are open."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ai_core.errors import check_type, positions
from ai_core.maps.passage import GridPassage

__all__ = ["cells_on_line", "highest_cost_on_line", "line_is_open"]

SAME = 1e-9
"""Crossings of a line (shares, no unit) nearer than this are one: the line passes through a corner. Rounding errors
are far smaller."""


def cells_on_line(start: Sequence[float], end: Sequence[float]) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """Yield every cell that a straight line passes, from the cell of its start.

    A line passes a cell if it runs through its inside; an end on the border does not count. A line along
    a border belongs to the cell with the larger row or column.

    Args:
        start: (row, column); integers are the centers of cells.
        end: (row, column), the same.

    Returns:
        Row, column and None for each cell; instead of None the step into the cell, (-1 or 1, -1 or 1),
        if the line enters it through a corner. The two parts of the step lead to the cells beside the corner.

    Cost: O(cells passed).
    """
    rows, columns = end[0] - start[0], end[1] - start[1]
    row, column = _first_cell(start[0], rows), _first_cell(start[1], columns)
    down, right = (1 if rows > 0 else -1), (1 if columns > 0 else -1)
    # Shares of the line at which it crosses the next border between rows, and between columns.
    next_row = (row + down / 2 - start[0]) / rows if rows else math.inf
    next_column = (column + right / 2 - start[1]) / columns if columns else math.inf
    yield row, column, None
    while min(next_row, next_column) < 1 - SAME:
        corner = None
        if abs(next_row - next_column) <= SAME:
            row, column, corner = row + down, column + right, (down, right)
            next_row, next_column = next_row + down / rows, next_column + right / columns
        elif next_row < next_column:
            row, next_row = row + down, next_row + down / rows
        else:
            column, next_column = column + right, next_column + right / columns
        yield row, column, corner


def _first_cell(place: float, going: float) -> int:
    """Return the row or column of the start of a line; on a border, the one that the line enters."""
    return math.ceil(place + 0.5) - 1 if going < 0 else math.floor(place + 0.5)


def highest_cost_on_line(passage: GridPassage, start: Sequence[float], end: Sequence[float]) -> float:
    """Return the highest cell cost on a straight line, ``inf`` if the line is not open.

    A line is open if all its cells can be entered and the corner rule of the passage allows the corners it
    passes; the result is the same in both directions.

    Cost: O(cells passed).
    """
    height, width = passage.shape
    costs, highest = passage.costs.reshape(-1).data, 0.0
    # Always from the same end, so that rounding is the same in both directions.
    for row, column, corner in cells_on_line(*sorted((tuple(start), tuple(end)))):
        if not (0 <= row < height and 0 <= column < width):
            return math.inf
        highest = max(highest, costs[row * width + column])
        if corner is not None and passage.corners != "open":
            beside = (costs[(row - corner[0]) * width + column], costs[row * width + column - corner[1]])
            is_blocked = math.inf in beside if passage.corners == "closed" else beside == (math.inf, math.inf)
            highest = math.inf if is_blocked else highest
        if highest == math.inf:
            return math.inf
    return highest


def line_is_open(passage: GridPassage, start: Sequence[float], end: Sequence[float]) -> bool:
    """Return whether the straight line between two positions is open; arguments as ``highest_cost_on_line``.

    The result is the same in both directions. An end exactly on the border of a cell does not enter that cell.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape.
    """
    check_type("passage", passage, GridPassage)
    places = positions("start and end", [start, end], dimensions=(2,)).tolist()
    return highest_cost_on_line(passage, *places) < math.inf
