# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# mypy: ignore-errors
"""Matching of rows to columns at the least total cost.

The algorithm finds shortest augmenting paths with dual prices (Jonker and Volgenant): each row in
turn gets a column, and earlier rows change theirs where that lowers the total. Of equal paths the one
that ends sooner is taken, then the one with the smaller column.
"""
from __future__ import annotations

import cython
import numpy as np

__all__ = ["Matching"]

NONE = cython.declare(cython.int, -1)
INFINITY = cython.declare(cython.double, float("inf"))


@cython.final
@cython.cclass
class Matching:
    """Matches each row to a column that no other row has, row by row.

    A row stays unmatched only if it cannot be matched in addition to all rows before it.

    Args:
        costs: float64, shape (rows, columns), C-contiguous, rows <= columns; ``inf`` forbids a pair.
        out: int32, shape (rows,), overwritten with columns, -1 for an unmatched row.

    Attributes:
        matched: number of matched rows.
    """

    matched = cython.declare(cython.int, visibility="readonly")
    row: cython.int            # the next to match
    compared: cython.longlong  # costs compared so far
    costs: cython.double[:, ::1]
    out: cython.int[::1]
    row_prices: cython.double[::1]
    column_prices: cython.double[::1]
    path_costs: cython.double[::1]
    row_of: cython.int[::1]
    came_from: cython.int[::1]
    waiting: cython.int[::1]   # columns not reached yet, in any order
    reached: cython.int[::1]   # columns reached, in the order they were
    visited: cython.int[::1]   # rows on the paths to them
    rows: cython.int
    columns: cython.int

    def __init__(self, costs, out):
        self.rows, self.columns = costs.shape
        if self.rows > self.columns or len(out) != self.rows:
            raise ValueError("costs must not have more rows than columns, and out as many as rows")
        out[:] = -1
        self.costs, self.out = memoryview(costs), memoryview(out)
        self.matched = self.row = 0
        self.compared = 0
        self.row_prices = memoryview(np.zeros(self.rows))
        self.column_prices, self.path_costs = memoryview(np.zeros(self.columns)), memoryview(np.zeros(self.columns))
        self.row_of = memoryview(np.full(self.columns, -1, np.int32))
        self.came_from, self.waiting, self.reached = (memoryview(np.zeros(self.columns, np.int32)) for _ in range(3))
        self.visited = memoryview(np.zeros(self.columns + 1, np.int32))

    def advance(self, most: cython.longlong) -> cython.bint:
        """Match rows until that many costs have been compared, one row at least; return whether all have been tried.

        Cost: about 1.5 ns for each compared cost; all rows compare O(rows**2 * columns) at worst.
        """
        end: cython.longlong = self.compared + most
        with cython.nogil:
            while self.row < self.rows:
                self.matched += self.add_row(self.row)
                self.row += 1
                if self.compared >= end:
                    break
        return self.row == self.rows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_row(self, first: cython.int) -> cython.int:
        """Match one more row; return 1 if there is a column for it."""
        row: cython.int = first
        end: cython.int = NONE
        left: cython.int = self.columns
        found: cython.int = 0
        cost: cython.double = 0
        costs, path_costs, column_prices = self.costs, self.path_costs, self.column_prices
        waiting, came_from, row_of = self.waiting, self.came_from, self.row_of
        for index in range(self.columns):
            path_costs[index] = INFINITY
            waiting[index] = index
        while end == NONE:
            price = self.row_prices[row]
            best, best_cost, best_column = NONE, INFINITY, NONE
            self.compared += left
            for index in range(left):
                column = waiting[index]
                reached = ((costs[row, column] - price) - column_prices[column]) + cost
                if reached < path_costs[column]:
                    path_costs[column] = reached
                    came_from[column] = row
                if path_costs[column] < best_cost or (
                        best != NONE and path_costs[column] == best_cost and self.is_before(column, best_column)):
                    best, best_cost, best_column = index, path_costs[column], column
            if best == NONE:
                return 0
            cost = best_cost
            left -= 1
            waiting[best] = waiting[left]
            self.reached[found] = best_column
            found += 1
            row = row_of[best_column]
            if row == NONE:
                end = best_column
            else:
                self.visited[found] = row
        self.row_prices[first] += cost
        for index in range(1, found):
            row = self.visited[index]
            self.row_prices[row] += cost - self.path_costs[self.out[row]]
        for index in range(found):
            column = self.reached[index]
            self.column_prices[column] -= cost - self.path_costs[column]
        column = end
        while True:
            row = self.came_from[column]
            self.row_of[column] = row
            following = self.out[row]
            self.out[row] = column
            column = following
            if row == first:
                return 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_before(self, column: cython.int, other: cython.int) -> cython.bint:
        """Of equal costs, the free column comes first, then the smaller one."""
        is_free: cython.bint = self.row_of[column] == NONE
        if is_free == (self.row_of[other] == NONE):
            return column < other
        return is_free
