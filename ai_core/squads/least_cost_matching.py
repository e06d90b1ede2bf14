"""Core of slot assignment: matches rows to columns at the least total cost.

The algorithm finds shortest augmenting paths with dual prices (Jonker and Volgenant): each row in
turn gets a column, and earlier rows change theirs where that lowers the total. Of equal paths the one
that ends sooner is taken, then the one with the smaller column.

This module is the Python twin of ``_least_cost_matching``, with the same results.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.twins import twin

__all__ = ["INTERFACE", "match_rows"]

INTERFACE = 1
"""Version of the interface; raised with every change of names, arguments or results, here and in the kernel."""

NONE = -1


@twin
def match_rows(costs: NDArray[np.float64], out: NDArray[np.int32]) -> int:
    """Match each row to a column that no other row has; return the number of matched rows.

    A row stays unmatched only if it cannot be matched in addition to all rows before it.

    Args:
        costs: float64, shape (rows, columns), C-contiguous, rows <= columns; ``inf`` forbids a pair.
        out: int32, shape (rows,), overwritten with columns, -1 for an unmatched row.

    Raises:
        TypeError, ValueError: if an array has another type or shape.

    Cost: O(rows**2 * columns) at worst.
    """
    rows, columns = _checked(costs, out)
    row_prices, column_prices = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, NONE, np.int32)
    out[:] = NONE
    matched = 0
    for first in range(rows):
        ways = np.full(columns, np.inf)           # cost of the cheapest path found to each column
        came = np.full(columns, NONE, np.int32)   # and the row before it
        is_open = np.ones(columns, np.bool_)
        way, row, visited, end = 0.0, first, [first], NONE
        while end == NONE:
            reached = ((costs[row] - row_prices[row]) - column_prices) + way
            is_better = (reached < ways) & is_open
            ways[is_better], came[is_better] = reached[is_better], row
            waiting = np.where(is_open, ways, np.inf)
            way = float(waiting.min())
            if way == np.inf:
                break
            nearest = np.flatnonzero(waiting == way)
            free = nearest[row_of[nearest] == NONE]
            column = int(free[0] if len(free) else nearest[0])
            is_open[column] = False
            row = int(row_of[column])
            if row == NONE:
                end = column
            else:
                visited.append(row)
        if end == NONE:
            continue
        row_prices[first] += way
        for one in visited[1:]:
            row_prices[one] += way - ways[out[one]]
        column_prices[~is_open] -= way - ways[~is_open]
        _augment(first, end, came, row_of, out)
        matched += 1
    return matched


def _augment(
    first: int, end: int, came: NDArray[np.int32], row_of: NDArray[np.int32], out: NDArray[np.int32]
) -> None:
    """Match every row on the augmenting path to the column after it."""
    column = end
    while True:
        row = int(came[column])
        row_of[column] = row
        out[row], column = column, int(out[row])
        if row == first:
            return


def _checked(costs: NDArray[np.float64], out: NDArray[np.int32]) -> tuple[int, int]:
    if costs.dtype != np.float64 or costs.ndim != 2 or not costs.flags.c_contiguous:
        raise TypeError("costs must be an array of 2 dimensions and 8 bytes an element, without gaps")
    if out.dtype != np.int32 or out.ndim != 1:
        raise TypeError("out must be an array of 1 dimensions and 4 bytes an element, kind 'i'")
    rows, columns = costs.shape
    if rows > columns or len(out) != rows:
        raise ValueError("costs must not have more rows than columns, and out as many as rows")
    return rows, columns
