# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``jump_search``: the same function, the same results.

Arrays come through the buffer protocol. They are BORROWED for the life of the
memory, so that jumps may change in them between two searches.
"""
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

include "_jump_grid.pxi"
include "_in_slices.pxi"

cdef int NOWHERE = -1
cdef double SQRT_2 = 2 ** 0.5


cdef struct Stop:
    double way
    int32_t straight, slanted, came
    uint32_t search     # that wrote it; others have not been here
    uint8_t to_try, tried


cdef struct Entry:
    double whole
    int32_t cell


cdef inline bint is_before(Entry* one, Entry* other) noexcept nogil:
    return one.whole < other.whole or (one.whole == other.whole and one.cell < other.cell)


cdef class Search(InSlices):
    cdef Grid grid
    cdef Stop* stops                    # OWNED
    cdef Entry* heap                    # OWNED
    cdef Py_ssize_t waiting, room
    cdef uint32_t number
    cdef int32_t start, goal, goal_row, goal_column, width
    cdef uint8_t tries[MOVES][256]
    cdef readonly int reached

    def __cinit__(self, open_moves, jumps):
        self.grid = Grid(open_moves, jumps)
        self.width = self.grid.width
        self.stops = <Stop*> calloc(<size_t> self.grid.height * self.width, sizeof(Stop))
        if self.stops == NULL:
            raise MemoryError("no memory for a search")
        for move in range(MOVES):
            for bits in range(256):
                self.tries[move][bits] = tries_after(move, bits)
        self.begin(0, 0)

    def __dealloc__(self):
        free(self.stops)
        free(self.heap)

    def begin(self, int start, int goal):
        cdef int32_t cells = self.grid.height * self.width
        if not (0 <= start < cells and 0 <= goal < cells):
            raise IndexError("a cell is not on the grid")
        self.number += 1
        if self.number == 0:
            raise OverflowError("too many searches")
        self.start, self.goal = start, goal
        self.goal_row, self.goal_column = goal // self.width, goal % self.width
        self.done = start == goal
        self.reached = start if self.done else NOWHERE
        self.waiting = 0
        self.stops[start].search, self.stops[start].way = self.number, 0
        self.stops[start].straight = self.stops[start].slanted = 0
        self.stops[start].to_try, self.stops[start].tried = 255, 0
        if not self.push(0, start):
            raise MemoryError("no memory for a search")

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t expanded = 0
        cdef int32_t cell, rows, columns, down, right, jump, far, turn
        cdef int move, bits
        cdef int16_t* jumps
        cdef Stop* stop
        while expanded < most:
            if not self.waiting:
                self.done = True
                break
            cell = self.pop()
            stop = &self.stops[cell]
            bits = stop.to_try
            if not bits:
                continue
            if cell == self.goal:
                self.reached, self.done = cell, True
                break
            expanded += 1
            stop.to_try = 0
            stop.tried |= bits
            rows, columns = self.goal_row - cell // self.width, self.goal_column - cell % self.width
            jumps = <int16_t*> self.grid.jumps.buf + <Py_ssize_t> cell * MOVES
            for move in range(MOVES):
                jump = jumps[move]
                if not bits >> move & 1 or not jump:
                    continue
                down, right = DOWN[move] * rows, RIGHT[move] * columns
                far = jump if jump > 0 else -jump
                if DOWN[move] and RIGHT[move]:
                    turn = right if right < down else down
                    if 0 < turn <= far and turn != jump and not self.stop_at(cell, stop, move, turn):
                        return NO_MEMORY
                elif (columns == 0 if DOWN[move] else rows == 0) and 0 < down + right <= far:
                    jump = down + right
                if jump > 0 and not self.stop_at(cell, stop, move, jump):
                    return NO_MEMORY
        return expanded

    cdef inline bint stop_at(self, int32_t cell, Stop* stop, int move, int32_t count) noexcept nogil:
        cdef int32_t step = DOWN[move] * self.width + RIGHT[move]
        cdef int32_t other = cell + count * step
        cdef int32_t straight = stop.straight, slanted = stop.slanted, rows, columns
        cdef uint8_t tries = self.tries[move][(<uint8_t*> self.grid.open_moves.buf)[other - step]]
        cdef Stop* known = &self.stops[other]
        cdef double way
        if DOWN[move] and RIGHT[move]:
            slanted += count
        else:
            straight += count
        way = SQRT_2 * slanted
        way = straight + way
        if known.search != self.number or way < known.way:
            known.search, known.way, known.straight, known.slanted = self.number, way, straight, slanted
            known.came, known.to_try, known.tried = cell, tries, 0
        elif way > known.way:
            return True
        else:
            tries &= ~(known.tried | known.to_try)
            if not tries:
                return True
            known.to_try |= tries
        rows, columns = self.goal_row - other // self.width, self.goal_column - other % self.width
        rows = -rows if rows < 0 else rows
        columns = -columns if columns < 0 else columns
        if rows > columns:
            rows, columns = columns, rows
        way = SQRT_2 * (slanted + rows)
        way = (straight + columns - rows) + way
        return self.push(way, other)

    cdef inline bint push(self, double whole, int32_t cell) noexcept nogil:
        cdef Py_ssize_t at = self.waiting, above, room
        cdef Entry* more
        cdef Entry entry
        if at == self.room:
            room = 256 if self.room == 0 else 2 * self.room
            more = <Entry*> realloc(self.heap, <size_t> room * sizeof(Entry))
            if more == NULL:
                return False
            self.heap, self.room = more, room
        self.waiting += 1
        entry.whole, entry.cell = whole, cell
        while at:
            above = (at - 1) >> 1
            if not is_before(&entry, &self.heap[above]):
                break
            self.heap[at] = self.heap[above]
            at = above
        self.heap[at] = entry
        return True

    cdef inline int32_t pop(self) noexcept nogil:
        cdef int32_t cell = self.heap[0].cell
        cdef Py_ssize_t at = 0, below
        cdef Entry entry
        self.waiting -= 1
        entry = self.heap[self.waiting]
        while True:
            below = 2 * at + 1
            if below >= self.waiting:
                break
            if below + 1 < self.waiting and is_before(&self.heap[below + 1], &self.heap[below]):
                below += 1
            if not is_before(&self.heap[below], &entry):
                break
            self.heap[at] = self.heap[below]
            at = below
        self.heap[at] = entry
        return cell

    cdef int32_t step_back(self, int32_t cell) noexcept nogil:
        """Return the step from a cell towards the stop before it."""
        cdef int32_t before = self.stops[cell].came
        cdef int32_t rows = before // self.width - cell // self.width, columns = before % self.width - cell % self.width
        return ((rows > 0) - (rows < 0)) * self.width + (columns > 0) - (columns < 0)

    def cost_to(self, int cell):
        if not 0 <= cell < self.grid.height * self.width or self.stops[cell].search != self.number:
            return float("inf")
        return self.stops[cell].way

    def path_to(self, int cell):
        cdef int32_t at = cell, step, before, stops = 0
        cdef Py_ssize_t length = 1, i, count
        cdef int32_t* out
        if not 0 <= cell < self.grid.height * self.width or self.stops[cell].search != self.number:
            raise ValueError("there is no way to that cell")
        while at != self.start:
            step, before = self.step_back(at), self.stops[at].came
            stops += 1
            if stops > self.grid.height * self.width or step == 0 or (before - at) % step or (before - at) // step < 1:
                raise RuntimeError(CONTRADICTORY)
            length += (before - at) // step
            at = before
        found = PyBytes_FromStringAndSize(NULL, length * sizeof(int32_t))
        out = <int32_t*> PyBytes_AsString(found)
        at = cell
        length -= 1
        out[length] = at
        while at != self.start:
            step, before = self.step_back(at), self.stops[at].came
            count = (before - at) // step
            for i in range(count):
                at += step
                length -= 1
                out[length] = at
        return found


cdef int tries_after(int move, int open_moves) noexcept:
    cdef int32_t down = DOWN[move], right = RIGHT[move], side
    cdef int bits = 1 << move
    if down and right:
        return bits | 1 << move_of(down, 0) | 1 << move_of(0, right)
    for side in range(-1, 2, 2):
        if not open_moves >> move_of(side * right, side * down) & 1:
            bits |= 1 << move_of(side * right, side * down) | 1 << move_of(down + side * right, right + side * down)
    return bits


def jump_search(open_moves, jumps):
    return Search(open_moves, jumps)
