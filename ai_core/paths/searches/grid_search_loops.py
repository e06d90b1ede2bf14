# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
# Without long rows of numbers, which -O3 is for: searches take 0.9 of the time with -O1, compiling half of it.
# distutils: extra_compile_args = -O1
# mypy: ignore-errors
"""Searches on grids, cell by cell, with buckets in place of a heap.

A bucket holds cells whose keys differ by less than its width, last in, first out; a cell that becomes cheaper
is expanded again. The path found is the cheapest when the bucket of its cost is empty, for any width.

- ``UniformSearch``: A* on grids with a single cost, with canonical moves only. Lengths are integers, so that no
  cell is expanded twice because of rounding errors, and eight buckets are enough.
- ``UniformField``: flow fields on such grids.
- ``WeightedSearch``: A* on any grid; it can also spread backwards from goals to all cells.
- ``RepairingSearch``: anytime search on any grid; each round reuses the last.

No loop runs without a bound that follows from sizes: beyond it the tables contradict each other, which is a fault
of this library, and raised, since a loop that does not end would freeze the game.
"""
from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves
from ai_core.paths.searches.canonical_moves import AT_ONCE, DIAGONAL, FIELD_RING, LENGTHS, SUCCESSORS, cost_of

__all__ = ["FAR", "NOWHERE", "RepairingSearch", "UniformField", "UniformSearch", "WeightedSearch"]

NOWHERE = -1
"""Cell number that stands for no cell."""
FAR = 2 ** 32 - 1
"""Marker of a field instead of a length: no path leads to a goal."""
CONTRADICTORY = (
    "internal error in a search: its tables contradict each other; make a new search, and report this with the grid")
DOWN = (-1, -1, -1, 0, 0, 1, 1, 1)
RIGHT = (-1, 0, 1, -1, 1, -1, 0, 1)
SHAPES = {4: (1.0, 1.0, 1.0), 6: (0.0, 0.5, 0.5), 8: (2 ** 0.5 - 1, 1.0, 2 ** 0.5 - 1)}
"""Values ``short``, ``far`` and ``both`` of an estimate, by number of neighbors: with ``down`` rows and ``aside``
columns left, it is ``down + short * aside`` if more rows than columns are left, else ``far * aside + both * down``.
On hexagonal grids columns count half cells, which accounts for the shift of odd rows."""

CONTRADICTION = cython.declare(cython.int, -2)
LONG = cython.declare(cython.int, 300)              # cells from which on the GIL is released: some 3 µs
INFINITE = cython.declare(cython.double, float("inf"))
WIDTH = cython.declare(cython.double, 0.5)
ROUNDS_FROM = cython.declare(cython.double, 4.0)
ROUNDING = cython.declare(cython.double, 1 + 1e-13)
NO_LENGTH = cython.declare(cython.ulonglong, 2 ** 64 - 1)
LONGEST = cython.declare(cython.ulonglong, 2 ** 43 - 1)

Node = cython.struct(
    cost=cython.double, search=cython.uint, came=cython.uchar, is_waiting=cython.uchar, turn=cython.ushort)
NODE = np.dtype([("cost", "f8"), ("search", "u4"), ("came", "u1"), ("is_waiting", "u1"), ("turn", "u2")])


def _tries():
    """Return by the move that led to a cell and the moves open there: those to try, each plus 1, in 4 bits each."""
    table = np.zeros(9 * 256, np.uint32)
    for at, bits in enumerate(SUCCESSORS):
        numbers = [move for move in range(8) if bits >> move & 1]
        table[at] = sum(move + 1 << 4 * place for place, move in enumerate(numbers))
    return table


TRIES = _tries()


@cython.cclass
class Buckets:
    """A base of searches: cells that wait in a ring of buckets, expanded in slices.

    ``work`` expands; it stops early where there is no room for another cell's moves, and ``advance`` makes room.
    """

    is_done = cython.declare(cython.bint, visibility="readonly")
    open_moves: cython.uchar[:, ::1]
    moves_of: cython.uchar[::1]
    width: cython.int
    height: cython.int
    cells: cython.int
    head: cython.int[::1]           # first entry of each bucket, -1 for none
    entry_cell: cython.int[::1]
    entry_next: cython.int[::1]
    spare: cython.int               # first entry that is free again
    used: cython.int
    room: cython.int
    waiting: cython.int

    def __init__(self, open_moves, buckets):
        self.open_moves = memoryview(open_moves)
        self.moves_of = memoryview(open_moves.reshape(-1))
        self.height, self.width = open_moves.shape
        self.cells = self.height * self.width
        self.head = memoryview(np.full(buckets, -1, np.int32))
        self.room = 0
        self.grow(128)
        self.empty()
        self.is_done = True

    @cython.cfunc
    def grow(self, room: cython.int):
        cells, following = np.zeros(room, np.int32), np.zeros(room, np.int32)
        if self.room:
            cells[:self.room], following[:self.room] = self.entry_cell, self.entry_next
        self.entry_cell, self.entry_next, self.room = memoryview(cells), memoryview(following), room

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def empty(self) -> cython.void:
        for slot in range(self.head.shape[0]):
            self.head[slot] = -1
        self.used, self.spare, self.waiting = 0, -1, 0

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def put(self, slot: cython.int, cell: cython.int) -> cython.void:
        """Put a cell on top of a bucket; there is room."""
        entry: cython.int = self.spare
        if entry >= 0:
            self.spare = self.entry_next[entry]
        else:
            entry = self.used
            self.used += 1
        self.entry_cell[entry] = cell
        self.entry_next[entry] = self.head[slot]
        self.head[slot] = entry
        self.waiting += 1

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def take(self, slot: cython.int) -> cython.int:
        """Take the cell on top of a bucket that is not empty."""
        entry: cython.int = self.head[slot]
        self.head[slot] = self.entry_next[entry]
        self.entry_next[entry] = self.spare
        self.spare = entry
        self.waiting -= 1
        return self.entry_cell[entry]

    @cython.cfunc
    def make_room(self):
        """Prepare a slice: ``work`` can neither grow arrays nor run out of them."""
        if self.room - self.used < 16:
            self.grow(2 * self.room)

    @cython.cfunc
    def wait(self, slot: cython.int, cell: cython.int):
        """Put a cell on top of a bucket, and make room for it where needed."""
        if self.used == self.room:
            self.grow(2 * self.room)
        self.put(slot, cell)

    def advance(self, most: cython.Py_ssize_t) -> int:
        """Expand up to ``most`` cells; return their number: less than ``most`` when the search ends."""
        return self.expand(most)

    @cython.cfunc
    def expand(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        did: cython.Py_ssize_t
        while expanded < most and not self.is_done:
            self.make_room()
            if most - expanded >= LONG:
                with cython.nogil:
                    did = self.work(most - expanded)
            else:
                did = self.work(most - expanded)
            if did == CONTRADICTION:
                raise RuntimeError(CONTRADICTORY)
            expanded += did
        return expanded

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return how many cells were expanded, or CONTRADICTION; subclasses do it."""
        return CONTRADICTION


@cython.cclass
class ToGoals(Buckets):
    """A base of searches that knows the start, the goals and the rectangle around these."""

    start: cython.int
    top: cython.int                 # of the rectangle; in rows of hexagons half columns count
    bottom: cython.int
    left: cython.int
    right: cython.int
    goal: cython.int                # the only one, or -1
    is_goal_of: cython.uchar[::1]   # a flag per cell, if there are several
    reached = cython.declare(cython.int, visibility="readonly")

    @cython.cfunc
    def set_goals(self, goals, is_hexagonal: cython.bint):
        cell: cython.int
        row: cython.int
        column: cython.int
        numbers = goals.tolist()
        self.goal = numbers[0] if len(numbers) == 1 else -1
        if len(numbers) > 1:
            self.is_goal_of = memoryview(np.zeros(self.cells, np.uint8))
        self.top = self.left = 0x7FFFFFFF
        self.bottom = self.right = -1
        for number in numbers:
            if not 0 <= number < self.cells:
                raise IndexError("a goal is not on the grid")
            cell = number
            if len(numbers) > 1:
                self.is_goal_of[cell] = 1
            row, column = cell // self.width, cell % self.width
            if is_hexagonal:
                column = 2 * column + (row & 1)
            self.top, self.bottom = min(self.top, row), max(self.bottom, row)
            self.left, self.right = min(self.left, column), max(self.right, column)

    @cython.cfunc
    def set_ends(self, start, goals, is_hexagonal: cython.bint):
        if not 0 <= start < self.cells:
            raise IndexError("the start is not on the grid")
        self.set_goals(goals, is_hexagonal)
        self.start = start
        self.is_done = self.is_goal(start)
        self.reached = start if self.is_done else -1

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def is_goal(self, cell: cython.int) -> cython.bint:
        return cell == self.goal if self.goal >= 0 else self.is_goal_of[cell]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_known(self, cell: cython.int) -> cython.bint:
        """Return whether this search has been at a cell."""
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def came_from(self, cell: cython.int) -> cython.int:
        """Return the cell before one on the path to it."""
        return -1

    def path_to(self, cell: cython.int) -> NDArray[np.int32]:
        """Return the cells of the path from the start to a cell, (n,) int32."""
        if not 0 <= cell < self.cells or not self.is_known(cell):
            raise ValueError("there is no path to that cell")
        at = cell
        count = 1
        while at != self.start:
            at = self.came_from(at)
            count += 1
            if not 0 <= at < self.cells or count > self.cells:
                raise RuntimeError(CONTRADICTORY)
        found = np.empty(count, np.int32)
        places: cython.int[::1] = memoryview(found)
        places[0], at = self.start, cell
        for place in range(count - 1, 0, -1):
            places[place] = at
            at = self.came_from(at)
        return found


@cython.final
@cython.cclass
class UniformSearch(ToGoals):
    """A* on a grid with a single cost, for passages that ``canonical_moves`` suit.

    What is known of a cell is one number: which search was here, what is left of the longest length (so that the
    best of the latest search is the greatest, and 0 is nothing), whether the cell waits, and the move that led to it.
    A bucket holds lengths that differ in their low 13 bits, 0.6 moves; half or twice that is slower.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.

    Cost: 8 bytes per cell.
    """

    nodes: cython.ulonglong[::1]
    tries: cython.uint[::1]
    steps: cython.int[::1]
    downs: cython.int[::1]
    rights: cython.int[::1]
    lengths: cython.ulonglong[::1]  # of the moves, shifted by the five low bits
    number: cython.ulonglong
    bucket: cython.ulonglong
    bound: cython.ulonglong
    cost: cython.double

    def __init__(self, open_moves: NDArray[np.uint8]) -> None:
        Buckets.__init__(self, open_moves, 8)
        self.nodes, self.tries = memoryview(np.zeros(self.cells, np.uint64)), memoryview(TRIES)
        self.downs, self.rights = memoryview(np.array(DOWN, np.int32)), memoryview(np.array(RIGHT, np.int32))
        self.steps = memoryview(np.array(DOWN, np.int32) * self.width + np.array(RIGHT, np.int32))
        self.lengths = memoryview(np.array(LENGTHS, np.uint64) << 5)
        self.number, self.reached, self.start, self.cost = 0, -1, -1, 1.0

    def begin(
        self, start: cython.int, goals: NDArray[np.int32], least_cost: cython.double, most_cost: cython.double,
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            start: start cell.
            goals: (n,) int32, at least one goal cell, ascending.
            least_cost: the single cost of all cells that can be entered.
            most_cost: the same.
        """
        self.set_ends(start, goals, False)
        if self.number == 65535:
            self.nodes = memoryview(np.zeros(self.cells, np.uint64))
            self.number = 0
        self.number += 1
        self.empty()
        self.cost = least_cost
        self.bound = 0 if self.is_done else NO_LENGTH
        self.bucket = self.estimate(start // self.width, start % self.width) >> 13
        self.nodes[start] = self.base() | 16 | 8
        self.wait(self.bucket & 7, start)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def base(self) -> cython.ulonglong:
        """Return what a cell would hold to which the path has no length."""
        return self.number << 48 | LONGEST << 5

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def estimate(self, row: cython.int, column: cython.int) -> cython.ulonglong:
        down: cython.int = self.top - row
        aside: cython.int = self.left - column
        down = row - self.bottom if row - self.bottom > down else down
        aside = column - self.right if column - self.right > aside else aside
        down = down if down > 0 else 0
        aside = aside if aside > 0 else 0
        if aside > down:
            return cython.cast(cython.ulonglong, 13860) * aside + cython.cast(cython.ulonglong, 5741) * down
        return cython.cast(cython.ulonglong, 13860) * down + cython.cast(cython.ulonglong, 5741) * aside

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        bucket: cython.ulonglong = self.bucket
        bound: cython.ulonglong = self.bound
        base: cython.ulonglong = self.base()
        width: cython.int = self.width
        nodes: cython.ulonglong[::1] = self.nodes
        moves_of, table, steps, downs, rights = self.moves_of, self.tries, self.steps, self.downs, self.rights
        lengths: cython.ulonglong[::1] = self.lengths
        while expanded < most and self.room - self.used >= 8:
            slot = cython.cast(cython.int, bucket & 7)
            passed = 0
            while self.head[slot] < 0 and self.waiting:
                bucket += 1
                slot = cython.cast(cython.int, bucket & 7)
                passed += 1
                if passed > 8:
                    return CONTRADICTION
            if not self.waiting or bucket > bound >> 13:
                self.is_done = True
                break
            cell = self.take(slot)
            here = nodes[cell]
            if not here & 16:
                continue
            nodes[cell] = here ^ 16
            row = cell // width
            column = cell - row * width
            move = cython.cast(cython.int, here & 15)
            here = here >> 5 << 5
            if bound != NO_LENGTH and ((base - here) >> 5) + self.estimate(row, column) >= bound:
                continue
            expanded += 1
            tries: cython.uint = table[move << 8 | moves_of[cell]]
            while tries:
                move = cython.cast(cython.int, tries & 15) - 1
                tries >>= 4
                other = cell + steps[move]
                there = here - lengths[move]
                if there <= nodes[other]:
                    continue
                whole = ((base - there) >> 5) + self.estimate(row + downs[move], column + rights[move])
                if whole >= bound:
                    continue
                nodes[other] = there | 16 | move
                if self.is_goal(other):
                    self.reached, bound = other, (base - there) >> 5
                self.put(cython.cast(cython.int, whole >> 13 & 7), other)
        self.bucket, self.bound = bucket, bound
        return expanded

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_known(self, cell: cython.int) -> cython.bint:
        return self.nodes[cell] >> 48 == self.number

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def length_to(self, cell: cython.int) -> cython.ulonglong:
        return (self.base() - (self.nodes[cell] >> 5 << 5)) >> 5

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def came_from(self, cell: cython.int) -> cython.int:
        return cell - self.steps[self.nodes[cell] & 15]

    def cost_to(self, cell: cython.int) -> float:
        """Return the cost of the path found to a cell, ``inf`` without a path."""
        if not 0 <= cell < self.cells or not self.is_known(cell):
            return INFINITE
        return cost_of(self.length_to(cell), self.cost)

    def nearest(self) -> int:
        """Return the expanded cell nearest to the goals; ties go to the lower cost, then the smaller number."""
        cell: cython.int
        best: cython.int = self.start
        far: cython.ulonglong
        least: cython.ulonglong = NO_LENGTH
        length: cython.ulonglong = 0
        with cython.nogil:
            for cell in range(self.cells):
                if not self.is_known(cell) or self.nodes[cell] & 16:
                    continue
                far = self.estimate(cell // self.width, cell % self.width)
                if far < least or (far == least and self.length_to(cell) < length):
                    least, length, best = far, self.length_to(cell), cell
        return best


@cython.final
@cython.cclass
class UniformField(Buckets):
    """Flow fields on a grid with a single cost: lengths and moves from the goals to all cells.

    From a cell taken from its bucket, straight moves continue as a run while only the same move is to be tried: most
    cells are written by a run and never wait. Lengths that a run wrote too high are overwritten later.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.

    Attributes:
        is_too_far: True if the field ended because a path became too long for the integers.

    Cost: memory for the waiting cells.
    """

    lengths: cython.uint[::1]
    moves: cython.uchar[::1]
    tries: cython.uint[::1]
    steps: cython.int[::1]
    is_diagonal: cython.uchar[::1]
    longest: cython.uint
    bucket: cython.uint
    is_too_far = cython.declare(cython.bint, visibility="readonly")

    def __init__(self, open_moves: NDArray[np.uint8], longest: cython.uint = FAR - 514 * DIAGONAL) -> None:
        Buckets.__init__(self, open_moves, FIELD_RING)
        self.tries, self.longest, self.is_too_far = memoryview(TRIES), longest, False
        self.steps = memoryview(np.array(DOWN, np.int32) * self.width + np.array(RIGHT, np.int32))
        self.is_diagonal = memoryview((np.array(LENGTHS) == DIAGONAL).view(np.uint8))

    def begin(self, goals: NDArray[np.int32], out_lengths: NDArray[np.uint32], out_moves: NDArray[np.uint8]) -> None:
        """Start a field.

        Args:
            goals: (n,) int32, at least one goal cell, ascending.
            out_lengths: (height, width) uint32, overwritten until the field is done: length of the path from each
                cell to a goal, in the unit of ``canonical_moves``; ``FAR`` without a path.
            out_moves: (height, width) uint8, overwritten until the field is done: move that leads to each cell from
                the next cell of its path, ``AT_ONCE`` for goals; arbitrary without a path.
        """
        if out_lengths.size != self.cells or out_moves.size != self.cells:
            raise ValueError("out_lengths and out_moves must be uint32 and uint8 of the shape of the grid")
        self.is_done, self.is_too_far, self.bucket = True, False, 0
        self.lengths, self.moves = memoryview(out_lengths.reshape(-1)), memoryview(out_moves.reshape(-1))
        self.empty()
        out_lengths.fill(FAR)
        cell: cython.int
        for goal in goals.tolist():
            if not 0 <= goal < self.cells:
                raise IndexError("a goal is not on the grid")
            cell = goal
            self.lengths[cell], self.moves[cell] = 0, AT_ONCE
            self.wait(0, cell)
        self.is_done = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        written: cython.Py_ssize_t = 0
        move: cython.int
        alone: cython.uint
        length: cython.uint
        last: cython.uint
        bucket: cython.uint = self.bucket
        lengths: cython.uint[::1] = self.lengths
        moves, moves_of, table = self.moves, self.moves_of, self.tries
        while written < most and self.room - self.used >= 8:
            passed = 0
            while self.head[bucket & 1023] < 0 and self.waiting:
                bucket += 1
                passed += 1
                if passed > 1024:
                    return CONTRADICTION
            if not self.waiting:
                self.is_done = True
                break
            cell = self.take(bucket & 1023)
            here = lengths[cell]
            if here >> 13 != bucket:
                continue            # the cell became nearer since, and was expanded then
            if here > self.longest:
                self.is_done = self.is_too_far = True
                break
            written += 1
            tries: cython.uint = table[moves[cell] << 8 | moves_of[cell]]
            while tries:
                move = cython.cast(cython.int, tries & 15) - 1
                tries >>= 4
                # A run continues while its move is the only one to try; diagonals have no runs.
                alone = 256 if self.is_diagonal[move] else move + 1
                length = here + (19601 if self.is_diagonal[move] else 13860)
                last = length + 512 * 13860
                other = cell + self.steps[move]
                while length < lengths[other]:
                    lengths[other], moves[other] = length, move
                    after = table[move << 8 | moves_of[other]]
                    if after != alone or length == last:
                        if after:
                            self.put(length >> 13 & 1023, other)
                        break
                    written += 1
                    other += self.steps[move]
                    length += 13860
        self.bucket = bucket
        return written


@cython.cclass
class CostedSearch(ToGoals):
    """A base of searches with costs: what is known of each cell, and the moves by kind of grid."""

    nodes: Node[::1]
    costs: cython.float[::1]
    neighbors: cython.int               # 4, 6 or 8
    steps: cython.int[::1]              # by move; of odd rows of hexagons from 8 on
    downs: cython.int[::1]
    rights: cython.int[::1]
    lengths: cython.double[::1]
    number: cython.uint                 # of the search; what others wrote counts as unknown
    short: cython.double
    far: cython.double
    both: cython.double
    least_cost: cython.double
    per_bucket: cython.double

    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> None:
        if open_moves.shape != costs.shape:
            raise ValueError("open_moves and costs must have the same shape")
        Buckets.__init__(self, open_moves, 1025)
        self.costs, self.neighbors = memoryview(costs.reshape(-1)), len(moves.lengths)
        self.nodes = np.zeros(self.cells, NODE).view(np.recarray)
        tables = np.zeros((2, 8, 2), np.int32)
        tables[0, :self.neighbors], tables[1, :self.neighbors] = moves.even, moves.odd
        downs, rights = (np.ascontiguousarray(tables[..., axis].reshape(-1)) for axis in (0, 1))
        self.downs, self.rights, self.steps = map(memoryview, (downs, rights, downs * np.int32(self.width) + rights))
        self.lengths = memoryview(np.resize(np.array(moves.lengths, np.float64), 8))
        self.short, self.far, self.both = SHAPES[self.neighbors]
        self.number, self.reached, self.start = 0, -1, -1

    @cython.cfunc
    def forget(self):
        """Forget the last search: whatever it wrote has another number."""
        if self.number == 2 ** 32 - 1:
            raise OverflowError("too many searches")
        self.number += 1
        self.empty()

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def odd(self, cell: cython.int) -> cython.int:
        """Return where the moves of a cell begin in the tables."""
        return 8 if self.neighbors == 6 and self.moves_of[cell] & 128 else 0

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def before(self, cell: cython.int) -> cython.int:
        """Return the cell from which the move to this one came."""
        move: cython.int = cython.cast(cython.int, self.nodes[cell].came)
        if self.neighbors != 6:
            return cell - self.steps[move]
        row = cell // self.width - self.downs[move]
        return cell - self.steps[8 * (row & 1) + move]

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def write(self, cell: cython.int, cost: cython.double, came: cython.int) -> cython.void:
        self.nodes[cell].search, self.nodes[cell].cost = self.number, cost
        self.nodes[cell].came, self.nodes[cell].is_waiting = came, 1

    @cython.cfunc
    @cython.inline
    @cython.final
    @cython.nogil
    @cython.exceptval(check=False)
    def estimate(self, row: cython.int, column: cython.int) -> cython.double:
        """Return a lower bound of the length from a cell to the rectangle of the goals."""
        down: cython.int = 0
        aside: cython.int = 0
        if self.neighbors == 6:
            column = 2 * column + (row & 1)
        if row < self.top:
            down = self.top - row
        elif row > self.bottom:
            down = row - self.bottom
        if column < self.left:
            aside = self.left - column
        elif column > self.right:
            aside = column - self.right
        if aside < down:
            return down + self.short * aside
        return self.far * aside + self.both * down

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_known(self, cell: cython.int) -> cython.bint:
        return self.nodes[cell].search == self.number

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def came_from(self, cell: cython.int) -> cython.int:
        return self.before(cell)


@cython.final
@cython.cclass
class WeightedSearch(CostedSearch):
    """A* on any grid. It can also spread backwards from goals to all cells.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.
        costs: (height, width) float32, cost of entering each cell; referenced, not copied.
        moves: moves of the grid.

    Cost: 16 bytes per cell.
    """

    bucket: cython.longlong
    is_backward: cython.bint
    in_rounds: cython.bint              # whether what gets cheaper within a bucket waits for all that waits there
    uniform_cost: cython.double
    bound: cython.double

    def begin(
        self, start: cython.int, goals: NDArray[np.int32], least_cost: cython.double, most_cost: cython.double,
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            start: start cell.
            goals: (n,) int32, at least one goal cell, ascending.
            least_cost: lowest cost of a cell that can be entered; 0 disables estimates.
            most_cost: highest cost of a cell that can be entered.
        """
        self.set_ends(start, goals, self.neighbors == 6)
        self.clear(least_cost, most_cost)
        self.is_backward, self.least_cost = False, least_cost
        self.bound = 0 if self.is_done else INFINITE
        self.bucket = cython.cast(
            cython.longlong, least_cost * self.estimate(start // self.width, start % self.width) * self.per_bucket)
        self.begin_at(start)

    def spread(self, goals: NDArray[np.int32], least_cost: cython.double, most_cost: cython.double) -> None:
        """Discard the last search and start one from the goals to all cells, backwards; arguments as for ``begin``.

        Costs and paths then lead from each cell to the cheapest goal; ``flow`` returns them.
        """
        self.set_goals(goals, self.neighbors == 6)
        self.clear(least_cost, most_cost)
        self.is_backward, self.start, self.least_cost = True, -1, 0
        self.is_done, self.reached, self.bound, self.bucket = False, -1, INFINITE, 0
        for goal in goals.tolist():
            self.begin_at(goal)

    @cython.cfunc
    def clear(self, least_cost: cython.double, most_cost: cython.double):
        # A move increases cost plus estimate by at most 1.5 times the sum of the two costs.
        wide: cython.double = 1.5 * (least_cost + most_cost) / 1022
        narrow: cython.double = WIDTH * least_cost
        self.forget()
        self.in_rounds = wide > ROUNDS_FROM * least_cost
        self.per_bucket = 1 / (narrow if narrow >= wide else wide)
        self.uniform_cost = least_cost if least_cost == most_cost else 0.0

    @cython.cfunc
    def begin_at(self, cell: cython.int):
        self.write(cell, 0, 255)
        self.wait(self.bucket & 1023, cell)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def next_bucket(self) -> cython.int:
        """Return the bucket that is next, -1 where the tables contradict each other."""
        slot: cython.int = cython.cast(cython.int, self.bucket & 1023)
        passed: cython.int = 0
        while self.head[slot] < 0 and self.waiting:
            if self.head[1024] >= 0:
                self.head[slot], self.head[1024] = self.head[1024], -1
                break
            self.bucket += 1
            slot = cython.cast(cython.int, self.bucket & 1023)
            passed += 1
            if passed > 1024:
                return -1
        return slot

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        limit: cython.double = self.bound / ROUNDING
        bucket: cython.longlong
        nodes: Node[::1] = self.nodes
        moves_of, costs, steps, downs, rights = self.moves_of, self.costs, self.steps, self.downs, self.rights
        lengths, width, neighbors, number = self.lengths, self.width, self.neighbors, self.number
        is_backward, least_cost, per_bucket, in_rounds = (
            self.is_backward, self.least_cost, self.per_bucket, self.in_rounds)
        while expanded < most and self.room - self.used >= 8:
            slot = self.next_bucket()
            if slot < 0:
                return CONTRADICTION
            bucket = self.bucket
            if not self.waiting or bucket > self.bound * per_bucket:
                self.is_done = True
                break
            cell = self.take(slot)
            if not nodes[cell].is_waiting:
                continue
            nodes[cell].is_waiting = 0
            so_far = cython.cast(cython.double, nodes[cell].cost)
            row = cell // width
            column = cell - row * width
            if self.reached != -1 and so_far + least_cost * self.estimate(row, column) >= limit:
                continue
            expanded += 1
            bits = moves_of[cell]
            odd = self.odd(cell)
            # Backwards a move costs what the cell here does.
            price = costs[cell] if is_backward else self.uniform_cost
            for move in range(neighbors):
                if not bits >> move & 1:
                    continue
                other = cell + steps[odd + move]
                cost = so_far + lengths[move] * (price if price else costs[other])
                if nodes[other].search == number and cost * ROUNDING >= nodes[other].cost:
                    continue
                whole = cost
                if not is_backward:
                    whole = cost + least_cost * self.estimate(
                        row + downs[odd + move], column + rights[odd + move])
                    if whole >= limit:
                        continue
                nodes[other].search, nodes[other].cost = number, cost
                nodes[other].came, nodes[other].is_waiting = move, 1
                if not is_backward and self.is_goal(other):
                    self.reached, self.bound, limit = other, cost, cost / ROUNDING
                into = cython.cast(cython.longlong, whole * per_bucket)
                into = into if into > bucket else bucket
                # What gets cheaper within a bucket that is wide is parked for another round.
                slot = 1024 if in_rounds and into == bucket else cython.cast(cython.int, into & 1023)
                self.put(slot, other)
        return expanded

    def cost_to(self, cell: cython.int) -> float:
        """Return the cost of the path found to a cell, ``inf`` without a path."""
        if not 0 <= cell < self.cells or not self.is_known(cell):
            return INFINITE
        return cython.cast(cython.double, self.nodes[cell].cost)

    def flow(self, out_costs: NDArray[np.float64], out_next: NDArray[np.int32]) -> None:
        """Write the results of ``spread``: for each cell the cost to a goal, and the next cell on the path.

        Args:
            out_costs: (cells,) float64, ``inf`` without a path.
            out_next: (cells,) int32, the cell itself for goals, ``NOWHERE`` without a path.
        """
        cell: cython.int
        costs: cython.double[::1] = memoryview(out_costs.reshape(-1))
        following: cython.int[::1] = memoryview(out_next.reshape(-1))
        if len(costs) != self.cells or len(following) != self.cells:
            raise ValueError("out_costs and out_next must be float64 and int32 of the shape of the grid")
        with cython.nogil:
            for cell in range(self.cells):
                if self.nodes[cell].search != self.number:
                    costs[cell], following[cell] = INFINITE, -1
                else:
                    costs[cell] = self.nodes[cell].cost
                    following[cell] = cell if self.nodes[cell].came == 255 else self.before(cell)

    def nearest(self) -> int:
        """Return the expanded cell nearest to the goals; ties go to the lower cost, then the smaller number."""
        cell: cython.int
        best: cython.int = self.start
        far: cython.double
        least: cython.double = INFINITE
        cost: cython.double = 0
        with cython.nogil:
            for cell in range(self.cells):
                if self.nodes[cell].search != self.number or self.nodes[cell].is_waiting:
                    continue
                far = self.estimate(cell // self.width, cell % self.width)
                if far < least or (far == least and self.nodes[cell].cost < cost):
                    least, cost, best = far, self.nodes[cell].cost, cell
        return best


@cython.final
@cython.cclass
class RepairingSearch(CostedSearch):
    """Anytime search (ARA*) on any grid: a quick first path, then cheaper ones; each round reuses the last.

    The search runs backwards from the goals, so that its results stay valid when the mover moves. Estimates are
    multiplied by ``weight``, which directs the search to the start. In a round with a weight above 1, no cell is
    expanded twice; cells that become cheaper are parked for the next round, which sorts all waiting cells again.
    The buckets range from the lower bound of the cost to the highest cost that waits; dearer cells are parked, too.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.
        costs: (height, width) float32, cost of entering each cell; referenced, not copied.
        moves: moves of the grid.

    Attributes:
        is_done: True when the round is over; after a round of weight 1 the path is the cheapest, or none exists.
        cost: cost of the best path, ``inf`` if none is found yet.
        least: lower bound of the cost of any path.

    Cost: 16 bytes per cell.
    """

    bucket: cython.int
    due: cython.int                     # cells that wait in the ring; the others are parked
    most_cost: cython.double
    weight: cython.double
    lowest: cython.double               # key at which the buckets begin
    round: cython.int
    is_even: cython.bint
    tries: cython.uint[::1]
    gathered: cython.int[::1]
    cost = cython.declare(cython.double, visibility="readonly")
    least = cython.declare(cython.double, visibility="readonly")

    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> None:
        CostedSearch.__init__(self, open_moves, costs, moves)
        self.tries = memoryview(TRIES)
        self.cost, self.least, self.round, self.due, self.bucket = 0.0, 0.0, 0, 0, 0

    def begin(
        self, start: cython.int, goals: NDArray[np.int32], least_cost: cython.double, most_cost: cython.double,
        weight: cython.double, is_even: cython.bint,
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            weight: factor of the estimates, 1 or more.
            is_even: True if ``canonical_moves`` suit the current passage: fewer moves are tried.
        """
        self.check(start, "the start")
        numbers = [self.check(goal, "a goal") for goal in goals.tolist()]
        self.forget()
        self.least_cost, self.most_cost, self.is_even = least_cost, most_cost, is_even
        for cell in numbers:
            self.write_new(cell, 0, 255)
        self.is_done, self.cost, self.least, self.round = False, INFINITE, 0, 0
        self.repair(start, weight)

    def adopt(self, cells: NDArray[np.int32], costs: NDArray[np.float64]) -> None:
        """Adopt a path before the first cell is expanded.

        Args:
            cells: (n,) int32, cells from the start to a goal, connected by open moves.
            costs: (n,) float64, cost from each of them to the goal.
        """
        numbers, values = cells.tolist(), costs.tolist()
        for i in range(len(numbers) - 2, -1, -1):
            at: cython.int = self.check(numbers[i], "a cell")
            towards: cython.int = self.check(numbers[i + 1], "a cell")
            if self.nodes[at].search != self.number or values[i] < self.nodes[at].cost:
                self.write_new(at, values[i], self.move_from(towards, at))
        self.repair(self.start, self.weight)

    def repair(self, start: cython.int, weight: cython.double) -> None:
        """Start another round that reuses the results so far.

        Args:
            start: cell of the mover: unchanged, on the best path, or any cell while there is no path.
            weight: as for ``begin``; should not be larger than before.

        Cost: O(waiting cells).
        """
        cell: cython.int
        self.check(start, "the start")
        self.start, self.weight = start, weight
        self.top = self.bottom = start // self.width
        self.left = start % self.width
        if self.neighbors == 6:
            self.left = 2 * self.left + (self.top & 1)
        self.right = self.left
        is_known: cython.bint = self.nodes[start].search == self.number
        self.cost = cython.cast(cython.double, self.nodes[start].cost) if is_known else INFINITE
        self.round += 1
        if self.round == 65535:         # begin to count again
            for cell in range(self.cells):
                self.nodes[cell].turn = 0
            self.round = 1
        self.gathered = memoryview(np.zeros(self.waiting + 1, np.int32))
        if self.sort() == CONTRADICTION:
            raise RuntimeError(CONTRADICTORY)

    @cython.cfunc
    def check(self, cell, what):
        if not 0 <= cell < self.cells:
            raise IndexError(f"{what} is not on the grid")
        return cell

    @cython.cfunc
    def move_from(self, cell: cython.int, other: cython.int):
        # On grids of one or two columns several moves have the same step; only one of them is open.
        move: cython.int
        odd: cython.int = 8 * (cell // self.width & 1)
        for move in range(self.neighbors):
            if self.moves_of[cell] >> move & 1 and self.steps[odd + move] == other - cell:
                return move
        raise ValueError("cells must be neighbors, one after the other")

    @cython.cfunc
    def write_new(self, cell: cython.int, cost: cython.double, came: cython.int):
        self.write(cell, cost, came)
        self.nodes[cell].turn = 0
        self.wait(1024, cell)

    @cython.cfunc
    def make_room(self):
        Buckets.make_room(self)
        if not self.due:        # the next round is sorted
            self.gathered = memoryview(np.zeros(self.waiting + 1, np.int32))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(self) -> cython.int:
        """Put what waits in order; return CONTRADICTION where the tables contradict each other, else 0."""
        count: cython.int = self.gather()
        if count == CONTRADICTION:
            return CONTRADICTION
        self.sort_in(count)
        self.is_done = self.due == 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gather(self) -> cython.int:
        """Take all that wait and may lead to a better path; learn what paths cost at least."""
        count: cython.int = 0
        least: cython.double = INFINITE
        for slot in range(1025):
            while self.head[slot] >= 0:
                if self.waiting <= 0:
                    return CONTRADICTION
                cell = self.take(slot)
                if self.nodes[cell].is_waiting != 1:
                    continue
                whole = self.least_cost * self.estimate(cell // self.width, cell % self.width)
                whole = cython.cast(cython.double, self.nodes[cell].cost) + whole
                if whole * ROUNDING >= self.cost:
                    self.nodes[cell].is_waiting = 0
                    continue
                self.nodes[cell].is_waiting = 2         # so that it is gathered once
                self.gathered[count] = cell
                count += 1
                least = whole if whole < least else least
        self.least = least if least < self.cost else self.cost
        return count

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def key_of(self, cell: cython.int) -> cython.double:
        left: cython.double = self.least_cost * self.estimate(cell // self.width, cell % self.width)
        return self.nodes[cell].cost + self.weight * left

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_in(self, count: cython.int) -> cython.void:
        """Put the gathered cells into buckets; there is room, for as many came out."""
        high: cython.double = 0
        narrow: cython.double = WIDTH * self.least_cost
        for i in range(count):
            self.nodes[self.gathered[i]].is_waiting = 1
            key = self.key_of(self.gathered[i])
            high = key if key > high else high
        high = high + 1.5 * (self.weight * self.least_cost + self.most_cost)
        high = high if high < self.cost else self.cost
        self.lowest = self.least if self.least < high else high
        width = (high - self.lowest) / 1022
        self.per_bucket = 1 / (width if width > narrow else narrow)
        self.bucket, self.due = 1024, 0
        for i in range(count):
            self.put(self.slot_of(self.gathered[i], self.key_of(self.gathered[i])), self.gathered[i])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def slot_of(self, cell: cython.int, key: cython.double) -> cython.int:
        """Return the bucket for a cell; it is parked if it is not its turn in this round, or far off."""
        slot: cython.double = (key - self.lowest) * self.per_bucket
        if key >= self.cost or slot >= 1024 or (self.weight > 1 and self.nodes[cell].turn == self.round):
            return 1024
        self.due += 1
        if slot < self.bucket:
            self.bucket = cython.cast(cython.int, slot)
        return cython.cast(cython.int, slot)

    def advance(self, most: cython.Py_ssize_t) -> int:
        """Expand up to ``most`` cells; return their number, 0 when the round is over."""
        expanded: cython.Py_ssize_t
        if self.is_done:
            return 0
        expanded = self.expand(most)
        if self.weight == 1:        # no path is cheaper than the bucket that is looked at
            least = self.cost
            if not self.is_done:
                least = min(least, self.lowest + self.bucket / self.per_bucket)
            self.least = max(self.least, least)
        return expanded

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def work(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        expanded: cython.Py_ssize_t = 0
        all_moves: cython.int = (1 << self.neighbors) - 1
        while expanded < most and not self.is_done and self.room - self.used >= 8:
            if not self.due:
                if self.waiting >= self.gathered.shape[0]:
                    break                           # advance() makes room
                if self.sort() == CONTRADICTION:
                    return CONTRADICTION
            while self.due and self.head[self.bucket] < 0:
                self.bucket += 1
                if self.bucket == 1024:
                    return CONTRADICTION
            if not self.due or self.lowest * self.per_bucket + self.bucket > self.cost * self.per_bucket:
                self.is_done = True
                break
            cell = self.take(self.bucket)
            self.due -= 1
            if not self.nodes[cell].is_waiting:
                continue
            self.nodes[cell].is_waiting, self.nodes[cell].turn = 0, self.round
            so_far = cython.cast(cython.double, self.nodes[cell].cost)
            row, column = cell // self.width, cell % self.width
            if (so_far + self.least_cost * self.estimate(row, column)) * ROUNDING >= self.cost:
                continue
            expanded += 1
            odd = self.odd(cell)
            came = cython.cast(cython.int, self.nodes[cell].came)
            came = came if self.is_even and came != 255 else 8
            tries: cython.uint = self.tries[came << 8 | self.moves_of[cell] & all_moves]
            while tries:
                move = cython.cast(cython.int, tries & 15) - 1
                tries >>= 4
                other = cell + self.steps[odd + move]
                cost = so_far + self.lengths[move] * self.costs[cell]
                if self.nodes[other].search == self.number and cost * ROUNDING >= self.nodes[other].cost:
                    continue
                left = self.least_cost * self.estimate(row + self.downs[odd + move], column + self.rights[odd + move])
                if (cost + left) * ROUNDING >= self.cost:
                    continue
                if self.nodes[other].search != self.number:
                    self.nodes[other].search, self.nodes[other].turn, self.nodes[other].is_waiting = self.number, 0, 0
                self.nodes[other].cost, self.nodes[other].came = cost, move
                if other == self.start:
                    self.cost = cost
                    continue
                self.nodes[other].is_waiting = 1
                self.put(self.slot_of(other, cost + self.weight * left), other)
        return expanded

    def path(self) -> NDArray[np.int32]:
        """Return the cells of the best path from start to goal, (n,) int32."""
        cell: cython.int = self.start
        if self.nodes[cell].search != self.number:
            raise ValueError("there is no path yet")
        found = [cell]
        while self.nodes[cell].came != 255:
            cell = self.before(cell)
            if not 0 <= cell < self.cells or len(found) > self.cells:
                raise RuntimeError(CONTRADICTORY)
            found.append(cell)
        return np.array(found, np.int32)
