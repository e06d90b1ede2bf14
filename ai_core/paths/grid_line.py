"""Whether one can walk straight from one place to another on a grid."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ai_core.errors import positions, shown
from ai_core.maps.passage import Passage

__all__ = ["cells_on_line", "dearest_on_line", "line_is_open"]

SAME = 1e-9
"""Shares of a line (no unit) that differ by less are one: there it goes through a corner. Rounding is far below."""


def cells_on_line(start: Sequence[float], end: Sequence[float]) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """Give every cell that a straight line passes, from the one it begins in.

    A line passes a cell if it runs inside it, not if an end of it just touches the border. A line along
    a border counts to the cell of the larger row or column.

    Args:
        start: row and column, where whole numbers are the middles of cells.
        end: likewise.

    Returns:
        Of each cell row, column, and None; or, if the line comes into it through a corner, the
        step to it: (-1 or 1, -1 or 1). The cells beside that corner lie at the two parts of it.

    Cost: O(cells passed).
    """
    rows, columns = end[0] - start[0], end[1] - start[1]
    row, column = _first_cell(start[0], rows), _first_cell(start[1], columns)
    down, right = (1 if rows > 0 else -1), (1 if columns > 0 else -1)
    # When the line crosses the next border between rows, and between columns, in shares of it.
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
    """Return the row or column in which a line begins: from a border, the one it goes into."""
    return math.ceil(place + 0.5) - 1 if going < 0 else math.floor(place + 0.5)


def dearest_on_line(passage: Passage, start: Sequence[float], end: Sequence[float]) -> float:
    """Return what the dearest cell on a straight line costs, ``inf`` if it is not open.

    It is open if all its cells can be entered, and through corners as the passage says; in both directions alike.

    Args:
        passage: of a square grid.
        start: row and column; whole numbers are the middles of cells.
        end: likewise.

    Cost: O(cells passed).
    """
    height, width = passage.shape
    costs, dearest = passage.costs.reshape(-1).data, 0.0
    # Always from the same end: rounding is then the same in both directions.
    for row, column, corner in cells_on_line(*sorted((tuple(start), tuple(end)))):
        if not (0 <= row < height and 0 <= column < width):
            return math.inf
        dearest = max(dearest, costs[row * width + column])
        if corner is not None and passage.corners != "open":
            beside = (costs[(row - corner[0]) * width + column], costs[row * width + column - corner[1]])
            shut = math.inf in beside if passage.corners == "closed" else beside == (math.inf, math.inf)
            dearest = math.inf if shut else dearest
        if dearest == math.inf:
            return math.inf
    return dearest


def line_is_open(passage: Passage, start: Sequence[float], end: Sequence[float]) -> bool:
    """Return whether one can walk straight between two places, in both directions; arguments as ``dearest_on_line``.

    An end exactly on the border of a cell does not enter that cell.

    Raises:
        TypeError, ValueError: if one is no passage, or no place.
    """
    if not isinstance(passage, Passage):
        raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
    places = positions("start and end", [start, end], dimensions=(2,)).tolist()
    return dearest_on_line(passage, *places) < math.inf
