# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# Row by row, with branches: as fast with -O1 as with -O3, compiled in half of the time.
# distutils: extra_compile_args = -O1
# mypy: ignore-errors
"""Loops of regions: paths within a region, and joined runs of cells.

A field holds for each cell of a region the next move towards one portal. The costs of these paths, from portal to
portal, are what ``PortalSearch`` adds up; fields then turn the portals that it finds into cells.
"""
from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves

__all__ = ["NO_MOVE", "FieldGround", "RegionFields", "follow", "join_runs", "root_of"]

NO_MOVE = 255
"""Marker instead of a move: the cell is the target, or no path leads to it."""

ENDLESS = "internal error in the fields of a region: a path has no end; make a new RegionGraph, and report this"
INFINITE = cython.declare(cython.double, float("inf"))
SQRT_2 = cython.declare(cython.double, 2 ** 0.5)

NO_CELLS = cython.declare(cython.int[::1], memoryview(np.zeros(0, np.int32)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def cost_of_length(length: cython.longlong) -> cython.double:
    """Return what ``canonical_moves.cost_of`` returns for cells that cost 1; literals divide faster than names."""
    diagonals: cython.longlong = length % 13_860 * 5_741 % 13_860
    straights: cython.longlong = (length - diagonals * 19_601) // 13_860
    return straights + SQRT_2 * diagonals


@cython.final
@cython.cclass
class FieldGround:
    """The arrays of a grid on which fields are computed and followed.

    Args:
        open_moves: (height, width) uint8, open moves as bits; referenced, not copied.
        costs: (height, width) float32, cost of entering each cell; referenced, not copied.
        moves: moves of the grid, a square one.
    """

    opened: cython.uchar[::1]
    entering: cython.float[::1]
    height: cython.int
    width: cython.int
    moves: cython.int
    downs: cython.int[::1]              # by move
    rights: cython.int[::1]
    lengths: cython.double[::1]
    even_lengths: cython.double[::1]    # the same as integers

    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> None:
        if len(moves.lengths) not in (4, 8):
            raise ValueError("regions are for square grids")
        for name, array, dtype in (("open_moves", open_moves, np.uint8), ("costs", costs, np.float32)):
            if array.dtype != dtype or array.ndim != 2 or not array.flags.c_contiguous:
                raise TypeError(f"{name} must be (height, width) {dtype.__name__}")
        if open_moves.shape != costs.shape:
            raise ValueError("open_moves and costs must have the same shape")
        self.opened, self.entering = memoryview(open_moves.reshape(-1)), memoryview(costs.reshape(-1))
        self.height, self.width = costs.shape
        self.moves = len(moves.lengths)
        downs, rights = np.array(moves.even, np.int32).T.copy()
        self.downs, self.rights = memoryview(downs), memoryview(rights)
        self.lengths = memoryview(np.array(moves.lengths))
        self.even_lengths = memoryview(np.where(downs * rights, 19_601.0, 13_860.0))


@cython.final
@cython.cclass
class RegionFields:
    """Fields in one rectangle of a grid: for each cell, the next move on a cheapest path to each of some targets.

    Of moves on paths of equal cost, the one with the smallest number is taken. On a grid with a single cost, lengths
    are integers, as in ``canonical_moves``: paths of the same moves in another order have equal length.

    Args:
        ground: the grid.
        top: first row of the rectangle.
        left: first column of the rectangle.
        moves: (n, rows, columns) uint8, next moves to n targets, or ``NO_MOVE``; referenced, and written by ``fill``.
    """

    moves = cython.declare(object, visibility="readonly")
    ground: FieldGround
    top: cython.int
    left: cython.int
    rows: cython.int
    columns: cython.int
    count: cython.int
    fields: cython.uchar[::1]       # next moves, flat

    def __init__(self, ground: FieldGround, top: int, left: int, moves: NDArray[np.uint8]) -> None:
        if moves.dtype != np.uint8 or moves.ndim != 3 or not moves.flags.c_contiguous:
            raise TypeError("moves must be (n, rows, columns) uint8")
        self.ground, self.top, self.left, self.moves = ground, top, left, moves
        self.count, self.rows, self.columns = moves.shape
        self.fields = memoryview(moves.reshape(-1))
        if not (0 <= top <= ground.height - self.rows and 0 <= left <= ground.width - self.columns):
            raise IndexError("the rectangle is not on the grid")

    @cython.cfunc
    @cython.exceptval(-1)
    def cell_in(self, cell: cython.int) -> cython.int:
        """Return the number of a cell within the rectangle."""
        row: cython.int = cell // self.ground.width - self.top
        column: cython.int = cell % self.ground.width - self.left
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError("a cell is not in the rectangle")
        return row * self.columns + column

    def fill(
        self, targets: list[int], starts: list[int], uniform_cost: cython.double, first: cython.int = 0
    ) -> NDArray[np.float64]:
        """Compute the fields of some targets, and return the costs of the paths from some cells to them.

        Args:
            targets: n cells in the rectangle, of the fields from ``first`` on.
            starts: m cells in the rectangle.
            uniform_cost: common cost of all cells that can be entered; 0 if costs differ.
            first: number of the first of these fields.

        Returns:
            (m, n) float64, costs from each start to each target, ``inf`` without a path.

        Cost: O(n * cells of the rectangle).
        """
        if not 0 <= first <= first + len(targets) <= self.count:
            raise ValueError("there must be a field for each target")
        ends: list = [self.cell_in(cell) for cell in targets]
        begins: list = [self.cell_in(cell) for cell in starts]
        lengths: cython.double[::1] = memoryview(np.empty(self.rows * self.columns))
        queue: cython.int[::1] = memoryview(np.empty(self.rows * self.columns, np.int32))
        costs = np.empty((len(begins), len(ends)))
        found: cython.double[:, ::1] = costs
        is_even: cython.bint = uniform_cost != 0
        target: cython.int
        cell: cython.int
        number: cython.int
        i: cython.int
        is_filled: cython.bint
        for number, target in enumerate(ends):
            with cython.nogil:
                is_filled = self.spread(first + number, target, is_even, lengths, queue)
                if is_filled:
                    self.write_moves(first + number, target, is_even, lengths)
            if not is_filled:
                raise RuntimeError(ENDLESS)
            for i, cell in enumerate(begins):
                found[i, number] = lengths[cell]
                if is_even and lengths[cell] != INFINITE:
                    found[i, number] = cost_of_length(cython.cast(cython.longlong, lengths[cell])) * uniform_cost
        return costs

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def spread(
        self, number: cython.int, target: cython.int, is_even: cython.bint, lengths: cython.double[::1],
        queue: cython.int[::1],
    ) -> cython.bint:
        """Write the lengths of paths from all cells to one; both are numbered within the rectangle.

        Whatever the order, the least sums result; cells that may spread soon go to the front. False if that takes
        more turns than any costs of 0 or more can: a loop that did not end would freeze the game.
        Meanwhile the field marks the cells that wait, so that there is room for all in the queue.
        """
        opened, downs, rights, fields = self.ground.opened, self.ground.downs, self.ground.rights, self.fields
        steps: cython.double[::1] = self.ground.even_lengths if is_even else self.ground.lengths
        rows, columns = self.rows, self.columns
        cells: cython.int = rows * columns
        first: cython.Py_ssize_t = number
        front: cython.int = 0
        waiting: cython.int = 1
        turns: cython.longlong = cells
        turns *= 8 * turns
        first *= cells
        for cell in range(cells):
            lengths[cell], fields[first + cell] = INFINITE, 255
        lengths[target], queue[0], fields[first + target] = 0, target, 0
        while waiting:
            cell = queue[front]
            front = front + 1 if front + 1 < cells else 0
            waiting -= 1
            turns -= 1
            if turns < 0:
                return False
            fields[first + cell] = 255
            so_far = lengths[cell]
            row, column = cell // columns, cell % columns
            place = (self.top + row) * self.ground.width + self.left + column
            here = 1 if is_even else self.ground.entering[place]
            for move in range(self.ground.moves):    # a move is open both ways or neither
                if not opened[place] >> move & 1:
                    continue
                if not (0 <= row + downs[move] < rows and 0 <= column + rights[move] < columns):
                    continue
                other = cell + downs[move] * columns + rights[move]
                length = so_far + steps[move] * here
                if length >= lengths[other]:
                    continue
                lengths[other] = length
                if fields[first + other] != 255:
                    continue
                fields[first + other] = 0
                if waiting and length < lengths[queue[front]]:
                    front = front - 1 if front else cells - 1
                    queue[front] = other
                else:
                    queue[(front + waiting) % cells] = other
                waiting += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_moves(
        self, number: cython.int, target: cython.int, is_even: cython.bint, lengths: cython.double[::1],
    ) -> cython.void:
        """Write the first move from each cell that the lengths allow."""
        opened, downs, rights, width = self.ground.opened, self.ground.downs, self.ground.rights, self.ground.width
        fields = self.fields
        steps: cython.double[::1] = self.ground.even_lengths if is_even else self.ground.lengths
        rows, columns = self.rows, self.columns
        first: cython.Py_ssize_t = number
        first *= rows * columns
        for cell in range(rows * columns):
            if cell == target or lengths[cell] == INFINITE:
                continue
            row, column = cell // columns, cell % columns
            place = (self.top + row) * width + self.left + column
            for move in range(self.ground.moves):
                if not opened[place] >> move & 1:
                    continue
                if not (0 <= row + downs[move] < rows and 0 <= column + rights[move] < columns):
                    continue
                length = steps[move]
                if not is_even:
                    length *= self.ground.entering[place + downs[move] * width + rights[move]]
                if lengths[cell + downs[move] * columns + rights[move]] + length == lengths[cell]:
                    fields[first + cell] = move
                    break

    def costs_from(self, cell: cython.int) -> NDArray[np.float64]:
        """Return the costs from one cell to all targets, (n,) float64, -1 without a path.

        Cost: O(cells of the paths).
        """
        costs = np.empty(self.count)
        found: cython.double[::1] = costs
        no_cells: cython.int[::1] = NO_CELLS
        begin: cython.int = self.cell_in(cell)
        count: cython.int
        number: cython.int
        for number in range(self.count):
            count, found[number] = self.walk(number, begin, no_cells, 0)
            if count < 0:
                raise RuntimeError(ENDLESS)
            if count == 0:
                found[number] = -1
        return costs

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def walk(
        self, number: cython.int, begin: cython.int, out: cython.int[::1], count: cython.int,
    ) -> tuple[cython.int, cython.double]:
        """Follow a field; write the cells after the first into ``out``, if that has room, from ``count`` on.

        Returns:
            ``count`` and the cells that followed, -1 if there is no end, and the cost of the path.
        """
        downs, rights, lengths = self.ground.downs, self.ground.rights, self.ground.lengths
        entering, width, fields = self.ground.entering, self.ground.width, self.fields
        cells: cython.int = self.rows * self.columns
        last: cython.int = count + cells
        at: cython.Py_ssize_t = number
        cell: cython.Py_ssize_t = self.top + begin // self.columns
        cost: cython.double = 0
        cell = cell * width + self.left + begin % self.columns
        at = at * cells + begin
        move = fields[at]
        while move != 255:
            if count >= last:
                return -1, cost
            at += downs[move] * self.columns + rights[move]
            cell += downs[move] * width + rights[move]
            cost += lengths[move] * entering[cell]
            if out.shape[0]:
                out[count] = cell
            count += 1
            move = fields[at]
        return count, cost


def follow(fields: list[RegionFields], numbers: list[int], starts: list[int]) -> NDArray[np.int32]:
    """Return the joined paths from each start to the target of its field, (n,) int32, all cells.

    Args:
        fields: fields in one rectangle each.
        numbers: for each of them, the number of the field to follow.
        starts: start cell in each rectangle.

    Raises:
        IndexError: if a cell is not in its rectangle, or there is no such field.
        RuntimeError: if a path has no end.

    Cost: O(cells of the paths).
    """
    most: cython.Py_ssize_t = 0
    one: RegionFields
    for one in fields:
        most += 1 + one.rows * one.columns
    out = np.empty(most, np.int32)
    cells: cython.int[::1] = out
    count: cython.int = 0
    number: cython.int
    start: cython.int
    _: cython.double
    for one, number, start in zip(fields, numbers, starts, strict=True):
        if not 0 <= number < one.count:
            raise IndexError("there is no such field")
        cells[count] = start
        count, _ = one.walk(number, one.cell_in(start), cells, count + 1)
        if count < 0:
            raise RuntimeError(ENDLESS)
    return out[:count].copy()


@cython.ccall
@cython.exceptval(-1)
def root_of(parents: list, run: cython.longlong) -> cython.longlong:
    """Return the root of a run, and shorten the way to it.

    Args:
        parents: of each run a run it is joined with; a root has itself.
        run: number of the run.
    """
    above: cython.longlong = parents[run]
    while above != run:
        above = parents[above]
        parents[run] = above
        run, above = above, parents[above]
    return run


def join_runs(
    parents: list, runs: cython.int[:, :], opened: cython.uchar[:, :], move: cython.int, right: cython.int,
    parity: cython.int,
) -> None:
    """Join the runs that a move leads to from each row to the next; the root of joined runs is the smallest.

    Args:
        parents: as in ``root_of``.
        runs: (n + 1, width) int32, number of the run of each cell.
        opened: (n, width) uint8, open moves as bits.
        move: number of the move.
        right: columns that it goes to the right.
        parity: rows from which it is taken: 0 even, 1 odd, as bit 7 of ``opened`` says; -1 all.
    """
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    one: cython.longlong
    other: cython.longlong
    last_one: cython.longlong
    last_other: cython.longlong
    for row in range(opened.shape[0]):
        last_one = last_other = -1
        for column in range(opened.shape[1]):
            if not opened[row, column] >> move & 1 or (parity >= 0 and opened[row, column] >> 7 != parity):
                continue
            one, other = runs[row, column], runs[row + 1, column + right]
            if one == last_one and other == last_other:
                continue
            last_one, last_other = one, other
            one, other = root_of(parents, one), root_of(parents, other)
            if one != other:
                parents[max(one, other)] = min(one, other)
