# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# mypy: ignore-errors
"""Searches with a heap: A* from jump point to jump point (JPS+), with its jump distances, and from portal to portal.

Jumps are for grids with 8 neighbors, a single cost and closed corners. Of all paths of equal length, one that
turns from diagonals to straight lines as early as possible is enough; so only cells at the end of a wall
are worth a stop: jump points.

A jump of n > 0 leads to a jump point n cells away; n <= 0 means that there is no jump point, and a wall after -n cells.

Source: Harabor, Grastien, Improving Jump Point Search, 2014; Rabin, Silva, JPS+: An Extreme A* Speed
Optimization for Static Uniform Cost Grids, 2015.
"""
from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

from ai_core.paths.searches.canonical_moves import SUCCESSORS

__all__ = ["LONGEST_SIDE", "NO_PORTAL", "JumpDistances", "JumpSearch", "PortalSearch"]

NO_PORTAL = -1
"""Portal number that stands for no portal."""

LONGEST_SIDE = 32_766
"""Longest side of a grid (cells): jumps are 16-bit integers."""

TRIES = np.frombuffer(SUCCESSORS, np.uint8).copy()

CONTRADICTORY = (
    "internal error in a search: its tables contradict each other; make a new search, and report this with the grid")

DOWN = cython.declare(cython.int[8], [-1, -1, -1, 0, 0, 1, 1, 1])       # maps.cell_moves.SQUARE_8
RIGHT = cython.declare(cython.int[8], [-1, 0, 1, -1, 1, -1, 0, 1])
# Two straight moves for each move: the parts of a diagonal, or those at right angles to a straight move.
SIDE_A = cython.declare(cython.int[8], [1, 3, 1, 1, 1, 6, 3, 6])
SIDE_B = cython.declare(cython.int[8], [3, 4, 4, 6, 6, 3, 4, 4])
STRAIGHT = cython.declare(cython.int[4], [1, 3, 4, 6])
DIAGONAL = cython.declare(cython.int[4], [0, 2, 5, 7])
ALL_DIAGONALS = cython.declare(cython.int, 1 << 0 | 1 << 2 | 1 << 5 | 1 << 7)

SQRT_2 = cython.declare(cython.double, 2 ** 0.5)
LONG = cython.declare(cython.int, 64)               # cells from which on the GIL is released: some 5 µs
LONG_OF_PORTALS = cython.declare(cython.int, 8)
INFINITE = cython.declare(cython.double, float("inf"))
MOST_ENTRIES = cython.declare(cython.int, 12)       # that one cell adds to the heap: 4 straight, twice 4 diagonal
LAST_NUMBER = cython.declare(cython.uint, 2 ** 32 - 1)

Stop = cython.struct(
    straights=cython.int,       # straight moves of the path to the cell
    diagonals=cython.int,       # its diagonal moves
    came=cython.int,            # stop before it
    search=cython.uint,         # number of the search that wrote this; to others the cell is unknown
    to_try=cython.uchar,        # moves to try, as bits
    tried=cython.uchar)
STOP = np.dtype([("straights", "i4"), ("diagonals", "i4"), ("came", "i4"), ("search", "u4"), ("to_try", "u1"),
                 ("tried", "u1")], align=True)

Entry = cython.struct(cost=cython.double, cell=cython.int)      # the cell, or the portal
ENTRY = np.dtype([("cost", "f8"), ("cell", "i4")], align=True)


def check_grid(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16]) -> None:
    """Raise TypeError or ValueError if the arrays are not those of one grid."""
    if open_moves.dtype != np.uint8 or open_moves.ndim != 2 or not open_moves.flags.c_contiguous:
        raise TypeError("open_moves must be (height, width) uint8")
    if jumps.dtype != np.int16 or jumps.ndim != 3 or not jumps.flags.c_contiguous:
        raise TypeError("jumps must be (height, width, 8) int16")
    if jumps.shape != (*open_moves.shape, 8):
        raise ValueError("jumps must be (height, width, 8) of the shape of open_moves")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def next_jump(
    opened: cython.uchar[::1], jumps: cython.short[::1], cell: cython.Py_ssize_t, move: cython.int, step: cython.int,
    side_a: cython.int, side_b: cython.int, is_diagonal: cython.bint,
) -> cython.short:
    """Return the jump from a cell, computed from the jumps of the next cell."""
    if not opened[cell] >> move & 1:    # as beyond the border
        return 0
    beyond: cython.Py_ssize_t = 8 * (cell + step)
    farther: cython.short = jumps[beyond + move]
    stops: cython.bint
    if is_diagonal:
        stops = jumps[beyond + side_a] > 0 or jumps[beyond + side_b] > 0
    else:   # where a wall beside ends
        stops = (~opened[cell] & opened[cell + step] & (1 << side_a | 1 << side_b)) != 0
    return 1 if stops else farther + 1 if farther > 0 else farther - 1


@cython.final
@cython.cclass
class JumpDistances:
    """Writer of the jump distances of one grid.

    Args:
        open_moves: (height, width) uint8, open moves as bits; referenced, not copied.
        jumps: (height, width, 8) int16, jump distances; referenced, and written by ``fill_lines`` and ``repair``.

    Cost: after the first ``repair`` 1 byte per cell.
    """

    opened: cython.uchar[::1]
    jumps: cython.short[::1]
    height: cython.int
    width: cython.int
    marks: cython.uchar[::1]        # by cell, the diagonal moves whose jumps may differ, as bits
    eights: cython.ulonglong[::1]   # the same, of eight cells each
    firsts: cython.int[::1]         # by row, the first marked column, and the last
    lasts: cython.int[::1]

    def __init__(self, open_moves: NDArray[np.uint8], jumps: NDArray[np.int16]) -> None:
        check_grid(open_moves, jumps)
        self.opened, self.jumps = memoryview(open_moves.reshape(-1)), memoryview(jumps.reshape(-1))
        self.height, self.width = open_moves.shape
        self.firsts = memoryview(np.zeros(0, np.int32))

    def fill_lines(self, move: cython.int, first: cython.int, last: cython.int) -> None:
        """Compute the jumps in one direction from the cells of some lines: rows, or columns for moves along a row.

        Args:
            move: number of the move. For a diagonal, the jumps of all straight moves must be computed already.
            first: first line, counted against the direction of the move; those before it must be computed already.
            last: line after the last; at most the number of lines.

        Cost: O(cells of the lines).
        """
        if not 0 <= move < 8:
            raise ValueError("move must be 0 to 7")
        lines: cython.int = self.height if DOWN[move] else self.width
        if first < 0 or last > lines:
            raise IndexError("a line is not on the grid")
        comes_back: cython.bint = DOWN[move] > 0 or (DOWN[move] == 0 and RIGHT[move] > 0)
        line: cython.int
        with cython.nogil:
            for line in range(first, last):
                self.fill_line(move, lines - 1 - line if comes_back else line)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fill_line(self, move: cython.int, line: cython.int) -> cython.void:
        opened, jumps = self.opened, self.jumps
        step: cython.int = DOWN[move] * self.width + RIGHT[move]
        side_a: cython.int = SIDE_A[move]
        side_b: cython.int = SIDE_B[move]
        is_diagonal: cython.bint = DOWN[move] and RIGHT[move]
        along: cython.int = 1 if DOWN[move] else self.width
        cell: cython.Py_ssize_t = line * self.width if DOWN[move] else line
        for _ in range(self.width if DOWN[move] else self.height):
            jumps[8 * cell + move] = next_jump(opened, jumps, cell, move, step, side_a, side_b, is_diagonal)
            cell += along

    def repair(self, cells: NDArray[np.int32]) -> None:
        """Update the jumps that depend on changed cells.

        Cost: O(changed jumps + n + height).
        """
        changed: list = cells.tolist()
        if changed and not 0 <= min(changed) <= max(changed) < self.height * self.width:
            raise IndexError("a cell is not on the grid")
        if not self.firsts.shape[0]:
            eights = np.zeros((self.height * self.width + 7) // 8, np.uint64)
            self.eights, self.marks = memoryview(eights), memoryview(eights.view(np.uint8))
            self.firsts = memoryview(np.full(self.height, self.width, np.int32))
            self.lasts = memoryview(np.full(self.height, -1, np.int32))
        cell: cython.int
        row: cython.int
        i: cython.int
        for cell in changed:
            self.repair_around(cell)
        for i in range(4):      # last: they depend on straight jumps
            self.repair_diagonals(DIAGONAL[i])
        for row in range(self.height):
            self.firsts[row], self.lasts[row] = self.width, -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def repair_around(self, cell: cython.int) -> cython.void:
        """Update straight jumps around a changed cell, and mark diagonal ones.

        Open moves differ up to a cell away, and a jump depends on those of the next cell too.
        """
        for row in range(max(0, cell // self.width - 2), min(self.height, cell // self.width + 3)):
            for column in range(max(0, cell % self.width - 2), min(self.width, cell % self.width + 3)):
                self.mark(row, column, ALL_DIAGONALS)
                for i in range(4):
                    self.repair_line(row, column, STRAIGHT[i])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def repair_line(self, row: cython.int, column: cython.int, move: cython.int) -> cython.void:
        """Update straight jumps from a cell back against their move, as far as they differ."""
        step: cython.int = DOWN[move] * self.width + RIGHT[move]
        cell: cython.Py_ssize_t = row * self.width + column
        while 0 <= row < self.height and 0 <= column < self.width:
            jump = next_jump(self.opened, self.jumps, cell, move, step, SIDE_A[move], SIDE_B[move], False)
            before = self.jumps[8 * cell + move]
            if jump == before:
                return
            self.jumps[8 * cell + move] = jump
            if (jump > 0) != (before > 0):
                for i in range(4):      # diagonals that may turn here
                    other = DIAGONAL[i]
                    if move == SIDE_A[other] or move == SIDE_B[other]:
                        self.mark(row - DOWN[other], column - RIGHT[other], 1 << other)
            row -= DOWN[move]
            column -= RIGHT[move]
            cell -= step

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def mark(self, row: cython.int, column: cython.int, bits: cython.int) -> cython.void:
        if 0 <= row < self.height and 0 <= column < self.width:
            self.marks[row * self.width + column] |= bits
            self.firsts[row], self.lasts[row] = min(self.firsts[row], column), max(self.lasts[row], column)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def repair_diagonals(self, move: cython.int) -> cython.void:
        """Update marked jumps and those that depend on them: row by row, as memory lies, each cell once."""
        marks, eights, opened, jumps = self.marks, self.eights, self.opened, self.jumps
        down: cython.int = DOWN[move]
        right: cython.int = RIGHT[move]
        side_a: cython.int = SIDE_A[move]
        side_b: cython.int = SIDE_B[move]
        step: cython.int = down * self.width + right
        bit: cython.int = 1 << move
        width, height = self.width, self.height
        row: cython.int = height - 1 if down > 0 else 0
        first: cython.int = width       # marked columns, as far as they come from the row before
        last: cython.int = -1
        while 0 <= row < height:
            column, end = min(first, self.firsts[row]), max(last, self.lasts[row])
            first, last = width, -1
            cell = row * width + column
            while column <= end:
                if not cell & 7 and not eights[cell >> 3]:
                    column += 8
                    cell += 8
                    continue
                if marks[cell] & bit:
                    marks[cell] ^= bit
                    jump = next_jump(opened, jumps, cell, move, step, side_a, side_b, True)
                    if jump != jumps[8 * cell + move]:
                        jumps[8 * cell + move] = jump
                        if 0 <= row - down < height and 0 <= column - right < width:
                            marks[cell - step] |= bit
                            first, last = min(first, column - right), column - right
                column += 1
                cell += 1
            row -= down


@cython.cclass
class HeapSearch:
    """A base of A* with a heap of cells or portals, expanded in slices; on a tie the smaller number comes first.

    ``work`` expands; it stops early where the heap has no room for what one expansion adds, and ``advance`` makes room.
    """

    is_done = cython.declare(cython.bint, visibility="readonly")
    heap: Entry[::1]                # what waits, and the costs of whole paths over it
    waiting: cython.int
    room: cython.int
    entries: cython.int             # that one expansion adds
    long: cython.int                # expansions from which on the GIL is released: some 5 µs

    @cython.cfunc
    def prepare(self, entries: cython.int, long: cython.int):
        self.entries, self.long, self.waiting, self.room, self.is_done = entries, long, 0, 0, True
        self.grow()

    @cython.cfunc
    def grow(self):
        room: cython.int = 2 * self.room + 256 + self.entries
        heap = np.zeros(room, ENTRY).view(np.recarray)
        if self.room:
            heap[:self.room] = self.heap
        self.heap, self.room = heap, room

    def advance(self, most: cython.Py_ssize_t) -> int:
        """Expand up to ``most`` cells or portals; return their number, less than ``most`` when the search ends."""
        expanded: cython.Py_ssize_t = 0
        while expanded < most and not self.is_done:
            if self.room - self.waiting < self.entries:
                self.grow()
            if most - expanded >= self.long:
                with cython.nogil:
                    expanded += self.work(most - expanded)
            else:
                expanded += self.work(most - expanded)
        return expanded

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return how many were expanded, fewer where the heap has no room; subclasses do it."""
        return 0

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def push(self, cost: cython.double, cell: cython.int) -> cython.void:
        at: cython.int = self.waiting
        self.waiting += 1
        while at:
            above = (at - 1) >> 1
            if self.heap[above].cost < cost or (self.heap[above].cost == cost and self.heap[above].cell <= cell):
                break
            self.heap[at] = self.heap[above]
            at = above
        self.heap[at].cost, self.heap[at].cell = cost, cell

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def pop(self) -> cython.int:
        found: cython.int = self.heap[0].cell
        at: cython.int = 0
        below: cython.int = 1
        last: cython.int = self.waiting - 1
        cost: cython.double = self.heap[last].cost
        cell: cython.int = self.heap[last].cell
        self.waiting = last
        while below < last:
            if below + 1 < last and self.is_before(below + 1, self.heap[below].cost, self.heap[below].cell):
                below += 1
            if not self.is_before(below, cost, cell):
                break
            self.heap[at] = self.heap[below]
            at, below = below, 2 * below + 1
        self.heap[at].cost, self.heap[at].cell = cost, cell
        return found

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def is_before(self, at: cython.int, cost: cython.double, cell: cython.int) -> cython.bint:
        """Return whether an entry of the heap comes before another; ties go to the smaller cell."""
        return self.heap[at].cost < cost or (self.heap[at].cost == cost and self.heap[at].cell < cell)


@cython.final
@cython.cclass
class JumpSearch(HeapSearch):
    """Memory for consecutive searches to one goal each, with a heap. Costs assume a cost of 1 per cell.

    Args:
        open_moves: (height, width) uint8, open moves as bits; referenced, not copied.
        jumps: (height, width, 8) int16, jump distances; referenced, not copied.

    Attributes:
        is_done: True when the cheapest path is found, or the goal cannot be reached.
        reached: the goal once it is reached, or -1.

    Cost: 20 bytes per cell.
    """

    reached = cython.declare(cython.int, visibility="readonly")
    opened: cython.uchar[::1]
    jumps: cython.short[::1]
    cells: cython.int
    width: cython.int
    start: cython.int
    goal: cython.int
    number: cython.uint             # of the search
    stops: Stop[::1]                # by cell
    tries: cython.uchar[::1]        # ``SUCCESSORS``
    path: object                    # (n,) int32, room for a path
    path_cells: cython.int[::1]     # the same

    def __init__(self, open_moves: NDArray[np.uint8], jumps: NDArray[np.int16]) -> None:
        check_grid(open_moves, jumps)
        self.opened, self.jumps = memoryview(open_moves.reshape(-1)), memoryview(jumps.reshape(-1))
        self.cells, self.width = open_moves.size, open_moves.shape[1]
        self.stops, self.tries = np.zeros(self.cells, STOP).view(np.recarray), memoryview(TRIES)
        self.number = 0
        self.path = np.empty(256, np.int32)
        self.path_cells = memoryview(self.path)
        self.prepare(MOST_ENTRIES, LONG)
        self.begin(0, 0)

    def begin(self, start: cython.int, goal: cython.int) -> None:
        """Discard the last search and start one between two cells."""
        if not (0 <= start < self.cells and 0 <= goal < self.cells):
            raise IndexError("a cell is not on the grid")
        if self.number == LAST_NUMBER:
            raise OverflowError("too many searches")
        self.number += 1
        self.start, self.goal, self.is_done = start, goal, start == goal
        self.reached = start if self.is_done else -1
        self.stops[start].search, self.stops[start].came = self.number, start
        self.stops[start].straights = self.stops[start].diagonals = 0
        self.stops[start].to_try, self.stops[start].tried = 255, 0
        self.waiting = 0
        self.push(0, start)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        while expanded < most and self.room - self.waiting >= self.entries:
            if not self.waiting:
                self.is_done = True
                break
            cell = self.pop()
            bits = self.stops[cell].to_try
            if not bits:
                continue
            if cell == self.goal:
                self.reached, self.is_done = cell, True
                break
            expanded += 1
            self.stops[cell].to_try = 0
            self.stops[cell].tried |= bits
            self.expand(cell, bits)
        return expanded

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def expand(self, cell: cython.int, bits: cython.int) -> cython.void:
        """Try moves from a cell, also to the row or the column of the goal."""
        rows: cython.int = self.goal // self.width - cell // self.width
        columns: cython.int = self.goal % self.width - cell % self.width
        straights: cython.int = self.stops[cell].straights
        diagonals: cython.int = self.stops[cell].diagonals
        first: cython.Py_ssize_t = cell
        first *= 8
        for move in range(8):
            jump = self.jumps[first + move]
            if not jump or not bits >> move & 1:
                continue
            far = jump if jump > 0 else -jump
            down, right = DOWN[move] * rows, RIGHT[move] * columns
            if DOWN[move] and RIGHT[move]:
                turn = right if right < down else down
                if 0 < turn <= far and turn != jump:
                    self.stop_at(cell, move, turn, straights, diagonals + turn)
                if jump > 0:
                    self.stop_at(cell, move, jump, straights, diagonals + jump)
            else:
                if (columns == 0 if DOWN[move] else rows == 0) and 0 < down + right <= far:
                    jump = down + right
                if jump > 0:
                    self.stop_at(cell, move, jump, straights + jump, diagonals)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def stop_at(
        self, came: cython.int, move: cython.int, count: cython.int, straights: cython.int, diagonals: cython.int,
    ) -> cython.void:
        """Note a path to a cell if it is shorter than those known, or as long with other moves to try."""
        step: cython.int = DOWN[move] * self.width + RIGHT[move]
        cell: cython.int = came + count * step
        tries: cython.int = self.tries[256 * move + self.opened[cell]] | 1 << move
        # Counts first, one product after: paths of equal length have equal values, whatever their order of moves.
        cost: cython.double = straights + SQRT_2 * diagonals
        is_known: cython.bint = self.stops[cell].search == self.number
        if is_known:
            known = self.stops[cell].straights + SQRT_2 * self.stops[cell].diagonals
            if cost > known:
                return
            is_known = cost == known
        if is_known:
            tries &= ~(self.stops[cell].tried | self.stops[cell].to_try)
            if not tries:
                return
            self.stops[cell].to_try |= tries
        else:
            self.stops[cell].straights, self.stops[cell].diagonals = straights, diagonals
            self.stops[cell].came, self.stops[cell].search = came, self.number
            self.stops[cell].to_try, self.stops[cell].tried = tries, 0
        rows = self.goal // self.width - cell // self.width
        columns = self.goal % self.width - cell % self.width
        rows = -rows if rows < 0 else rows
        columns = -columns if columns < 0 else columns
        if rows > columns:
            rows, columns = columns, rows
        self.push((straights + columns - rows) + SQRT_2 * (diagonals + rows), cell)

    def cost_to(self, cell: cython.int) -> float:
        """Return the cost of the path found to a stop, ``inf`` without a path."""
        if not 0 <= cell < self.cells or self.stops[cell].search != self.number:
            return float("inf")
        return float(self.stops[cell].straights + SQRT_2 * self.stops[cell].diagonals)

    def path_to(self, cell: cython.int) -> NDArray[np.int32]:
        """Return the cells of the path from the start to a stop, (n,) int32."""
        if not 0 <= cell < self.cells or self.stops[cell].search != self.number:
            raise ValueError("there is no path to that cell")
        length: cython.int = 1
        at: cython.int = cell
        while at != self.start:
            length += self.apart(at, self.stops[at].came)
            at = self.stops[at].came
            if length > self.cells:
                raise RuntimeError(CONTRADICTORY)
        if length > self.path_cells.shape[0]:
            self.path = np.empty(2 * length, np.int32)
            self.path_cells = memoryview(self.path)
        self.write_path(cell, length)
        return self.path[:length].copy()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_path(self, cell: cython.int, end: cython.int) -> cython.void:
        """Write the path to a stop, from its end."""
        out: cython.int[::1] = self.path_cells
        out[0] = self.start
        while cell != self.start:
            before = self.stops[cell].came
            step = self.width * sign(before // self.width - cell // self.width)
            step += sign(before % self.width - cell % self.width)
            at = cell
            for _ in range(self.apart(cell, before)):
                end -= 1
                out[end] = at
                at += step
            cell = before

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apart(self, cell: cython.int, other: cython.int) -> cython.int:
        """Return the number of moves between two stops; more than there are cells if they are the same."""
        rows: cython.int = abs(other // self.width - cell // self.width)
        columns: cython.int = abs(other % self.width - cell % self.width)
        return self.cells + 1 if rows == columns == 0 else max(rows, columns)


@cython.final
@cython.cclass
class PortalSearch(HeapSearch):
    """Memory for consecutive searches by A* from portal to portal.

    A portal is numbered by its region and its index there; the nodes of the search are the portals through which
    the path enters a region. Regions may change in the arrays between two searches.

    Args:
        portal_costs: (regions, room, room) float64, costs from portal to portal within a region, ``inf`` without
            a path; all arrays are referenced, not copied.
        partners: (regions, room) int32, portal on the other side, ``NO_PORTAL`` for none.
        enter: (regions, room) float64, cost of entering the cell of the portal from the other side.
        counts: (regions,) int32, number of portals of each region.

    Attributes:
        is_done: True when the cheapest path over portals is found.
        cost: lowest cost so far: ``inf`` without a path, ``direct`` if no path over portals is cheaper.

    Cost: 12 bytes per portal that there is room for, plus memory for the waiting portals.
    """

    cost = cython.declare(cython.double, visibility="readonly")
    portal_costs: cython.double[:, :, ::1]
    partners: cython.int[:, ::1]
    enter: cython.double[::1]
    counts: cython.int[::1]
    regions: cython.int
    most: cython.int                # portals of a region
    goal: cython.int
    end: cython.int                 # last portal of the best path so far
    ends: cython.double[::1]        # costs from each of the goal's portals to it
    rest: cython.double[::1]
    costs: cython.double[::1]       # by portal, the least cost from the start so far, and the portal before it
    came: cython.int[::1]

    def __init__(
        self, portal_costs: NDArray[np.float64], partners: NDArray[np.int32], enter: NDArray[np.float64],
        counts: NDArray[np.int32],
    ) -> None:
        regions, most = partners.shape
        if (portal_costs.shape, enter.shape, counts.shape) != ((regions, most, most), (regions, most), (regions,)):
            raise ValueError(
                "portal_costs must be (regions, room, room), partners and enter (regions, room), counts (regions)")
        self.regions, self.most = regions, most
        self.portal_costs = memoryview(portal_costs)
        self.partners, self.counts = memoryview(partners), memoryview(counts)
        self.enter = memoryview(enter.reshape(-1))
        self.costs = memoryview(np.empty(regions * most))
        self.came = memoryview(np.empty(regions * most, np.int32))
        self.cost, self.end = INFINITE, -1
        self.prepare(most, LONG_OF_PORTALS)

    def begin(
        self, start: cython.int, goal: cython.int, out: NDArray[np.float64], into: NDArray[np.float64],
        rest: NDArray[np.float64], direct: cython.double,
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            out: (portals of the start region,) float64, cost from the start to each portal.
            into: (portals of the goal region,) float64, cost from each portal to the goal; referenced, not copied.
            rest: (regions, room) float64, lower bound of the cost from each portal to the goal; referenced.
            direct: cost of the path within a common region of start and goal, ``inf`` without a path.

        Cost: O(regions * room).
        """
        if not (0 <= start < self.regions and 0 <= goal < self.regions):
            raise IndexError("a region is not on the grid")
        if len(out) != self.counts[start] or len(into) != self.counts[goal]:
            raise ValueError("out and into must have as many numbers as portals")
        if rest.shape != (self.regions, self.most):
            raise ValueError("rest must be (regions, room)")
        self.ends, self.rest = memoryview(into), memoryview(rest.reshape(-1))
        self.goal, self.cost, self.end, self.waiting, self.is_done = goal, direct, -1, 0, False
        i: cython.int
        for i in range(self.regions * self.most):
            self.costs[i] = INFINITE
        so_far: cython.double
        for i, so_far in enumerate(out.tolist()):
            self.cross(start, i, so_far, -1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        while expanded < most and self.room - self.waiting >= self.entries:
            if not self.waiting or self.heap[0].cost >= self.cost:
                self.is_done = True
                break
            whole = self.heap[0].cost
            portal = self.pop()
            so_far = self.costs[portal]
            if whole > so_far + self.rest[portal]:      # the portal became cheaper since, and was expanded then
                continue
            expanded += 1
            region, index = portal // self.most, portal % self.most
            if region == self.goal and so_far + self.ends[index] < self.cost:
                self.cost, self.end = so_far + self.ends[index], portal
            for other in range(self.counts[region]):
                if other != index:
                    self.cross(region, other, so_far + self.portal_costs[region, index, other], portal)
        return expanded

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def cross(self, region: cython.int, index: cython.int, so_far: cython.double, came: cython.int) -> cython.void:
        """Note the portal on the other side of one, if it becomes cheaper."""
        if so_far == INFINITE:
            return
        portal: cython.int = self.partners[region, index]
        cost: cython.double = so_far + self.enter[portal]
        whole: cython.double = cost + self.rest[portal]
        if cost < self.costs[portal] and whole < self.cost:
            self.costs[portal], self.came[portal] = cost, came
            self.push(whole, portal)

    def portals(self) -> NDArray[np.int32]:
        """Return the entered portals of the best path in order, (n,) int32; none for the direct path."""
        found: list = []
        portal: cython.int = self.end
        while portal != -1:
            found.append(portal)
            portal = self.came[portal]
            if len(found) > self.regions * self.most:
                raise RuntimeError(CONTRADICTORY)
        return np.array(found[::-1], np.int32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sign(number: cython.int) -> cython.int:
    return 1 if number > 0 else -1 if number < 0 else 0
