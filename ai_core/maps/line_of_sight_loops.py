# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# mypy: ignore-errors
"""Lines over a grid of cells with heights, cell by cell."""
from __future__ import annotations

import cython
from cython.cimports.libc.math import ceil, floor

__all__ = ["find_blocked"]

NEARLY = cython.declare(cython.double, 1e-6)    # share of a line that may lie in a cell without entering it, at corners


def find_blocked(
    lines: cython.const[cython.double][:, ::1], heights: cython.const[cython.float][:, ::1], out: cython.uchar[::1]
) -> None:
    """Write 1 for each line that passes through a cell below the height of the cell, 0 for the others.

    Args:
        lines: float64, shape (n, 6): column, row and height of the start, then the way from there to the end; a cell
            is 1 by 1, cell (0, 0) starts at column 0 and row 0.
        heights: float32, shape (rows, columns).
        out: uint8, shape (n,), overwritten.

    Cost: O(cells that a line crosses) each; cells outside the grid count as one.
    """
    index: cython.Py_ssize_t
    if lines.shape[1] != 6 or len(out) != len(lines):
        raise ValueError("lines must have six columns, and out as many as lines")
    for index in range(lines.shape[0]):
        out[index] = is_blocked(
            lines[index, 0], lines[index, 1], lines[index, 2],
            lines[index, 3], lines[index, 4], lines[index, 5], heights)


@cython.cfunc
@cython.exceptval(check=False)
def is_blocked(
    column: cython.double, row: cython.double, height: cython.double, columns: cython.double, rows: cython.double,
    rise: cython.double, heights: cython.const[cython.float][:, ::1],
) -> cython.bint:
    """Return whether a cell blocks the line from (column, row, height) that is (columns, rows, rise) long."""
    most_column: cython.double = heights.shape[1]
    most_row: cython.double = heights.shape[0]
    next_column: cython.double = first_border(column, columns, most_column)
    next_row: cython.double = first_border(row, rows, most_row)
    at: cython.double = 0
    until: cython.double = 0
    column_at: cython.double = 0
    row_at: cython.double = 0
    middle: cython.double = 0
    lowest: cython.double = 0
    is_past_column: cython.bint = False
    while at < 1:
        column_at = share_at(next_column, column, columns, most_column)
        row_at = share_at(next_row, row, rows, most_row)
        is_past_column = column_at <= row_at
        until = column_at if is_past_column else row_at
        if until - at > NEARLY:
            middle = (at + until) / 2
            column_at = floor(column + columns * middle)
            row_at = floor(row + rows * middle)
            if 0 <= column_at < most_column and 0 <= row_at < most_row:
                lowest = height + (at if rise > 0 else until) * rise
                if lowest < heights[cython.cast(cython.Py_ssize_t, row_at), cython.cast(cython.Py_ssize_t, column_at)]:
                    return True
        at = until
        if is_past_column:
            next_column += 1 if columns > 0 else -1
        else:
            next_row += 1 if rows > 0 else -1
    return False


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def first_border(start: cython.double, way: cython.double, most: cython.double) -> cython.double:
    """Return the first border between cells that a line crosses along one axis."""
    if way > 0:
        return max(floor(start) + 1, 0.0)
    return min(ceil(start) - 1, most)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def share_at(border: cython.double, start: cython.double, way: cython.double, most: cython.double) -> cython.double:
    """Return the share of a line at which it crosses a border, 0 to 1; 1 if it crosses none in the grid any more."""
    if way == 0 or border < 0 or border > most:
        return 1.0
    return max(0.0, min((border - start) / way, 1.0))
