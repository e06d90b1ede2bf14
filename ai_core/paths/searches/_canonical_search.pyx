# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``canonical_search``: the same function, the same results.

Open moves come through the buffer protocol and are BORROWED for the life of the
memory, so that cells may change between two searches.
"""
cimport cython

include "_canonical_grid.pxi"
include "_with_goals.pxi"

from ai_core.paths.searches.canonical_moves import cost_of

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    RING = 8            # canonical_search.RING
    NUMBERS = 65535     # searches (count) until what they wrote is wiped

# What is known of a cell is one number: which search was here, what is left of the longest way (so that the
# best of the latest search is the greatest, and 0 is nothing), whether it waits, and the move that led here.
cdef enum:
    MOVE = 15
    WAITS = 16
    WAY = 5             # bits below the way

cdef uint64_t LONGEST = (<uint64_t> 1 << 43) - 1
cdef uint64_t NONE = ~(<uint64_t> 0)


@cython.final
cdef class Search(ToGoals):
    cdef uint64_t* nodes                # OWNED
    cdef Stack[RING] ring
    cdef Py_ssize_t waiting
    cdef uint64_t number, bucket, bound
    cdef double cost

    def __cinit__(self, open_moves):
        self.nodes = <uint64_t*> calloc(self.cells, sizeof(uint64_t))
        if self.nodes == NULL:
            raise MemoryError("no memory for a search")
        self.reached = self.start = NOWHERE

    def __dealloc__(self):
        cdef int slot
        free(self.nodes)
        for slot in range(RING):
            free(self.ring[slot].cells)

    def begin(self, int start, goals, double least_cost, double most_cost):
        cdef int slot
        cdef int32_t cell
        self.set_ends(start, goals, False)
        if self.number == NUMBERS:
            for cell in range(self.cells):
                self.nodes[cell] = 0
            self.number = 0
        self.number += 1
        for slot in range(RING):
            self.ring[slot].count = 0
        self.cost = least_cost
        self.bound = 0 if self.done else NONE
        self.bucket = self.estimate(start // self.width, start % self.width) >> BUCKET_BITS
        self.nodes[start] = self.base() | WAITS | AT_ONCE
        self.waiting = 1
        if not put(&self.ring[self.bucket & (RING - 1)], start):
            raise MemoryError("no memory for a search")

    cdef inline uint64_t base(self) noexcept nogil:
        """Return what a cell would hold to which the way has no length."""
        return self.number << 48 | LONGEST << WAY

    cdef inline uint64_t estimate(self, int32_t row, int32_t column) noexcept nogil:
        cdef int32_t down = self.top - row, aside = self.left - column
        down = row - self.bottom if row - self.bottom > down else down
        aside = column - self.right if column - self.right > aside else aside
        down = down if down > 0 else 0
        aside = aside if aside > 0 else 0
        if aside > down:
            return <uint64_t> STRAIGHT * <uint64_t> aside + <uint64_t> (DIAGONAL - STRAIGHT) * <uint64_t> down
        return <uint64_t> STRAIGHT * <uint64_t> down + <uint64_t> (DIAGONAL - STRAIGHT) * <uint64_t> aside

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t expanded = 0, waiting = self.waiting
        cdef int32_t cell, other, row, column
        cdef int move, passed
        cdef uint32_t tries
        cdef uint64_t here, there, whole, bucket = self.bucket, bound = self.bound, base = self.base()
        cdef uint64_t* nodes = self.nodes
        cdef uint8_t* open_moves = <uint8_t*> self.open_moves.buf
        cdef Stack* stack = &self.ring[bucket & (RING - 1)]
        cdef uint64_t[MOVES] length
        for move in range(MOVES):
            length[move] = <uint64_t> (DIAGONAL if DOWN[move] and RIGHT[move] else STRAIGHT) << WAY
        while expanded < most:
            passed = 0
            while stack.count == 0 and waiting:
                bucket += 1
                stack = &self.ring[bucket & (RING - 1)]
                passed += 1
                if passed > RING:
                    return CONTRADICTION
            if not waiting or bucket > bound >> BUCKET_BITS:
                self.done = True
                break
            stack.count -= 1
            waiting -= 1
            cell = stack.cells[stack.count]
            here = nodes[cell]
            if not here & WAITS:
                continue
            nodes[cell] = here ^ WAITS
            row = cell // self.width
            column = cell - row * self.width
            move = here & MOVE
            here &= ~(<uint64_t> 31)
            if bound != NONE and ((base - here) >> WAY) + self.estimate(row, column) >= bound:
                continue
            expanded += 1
            tries = TRIES[move << 8 | open_moves[cell]]
            while tries:
                move = <int> (tries & 15) - 1
                tries >>= 4
                other = cell + self.step[move]
                there = here - length[move]
                if there <= nodes[other]:
                    continue
                whole = ((base - there) >> WAY) + self.estimate(row + DOWN[move], column + RIGHT[move])
                if whole >= bound:
                    continue
                nodes[other] = there | WAITS | <uint64_t> move
                if self.is_goal(other):
                    self.reached, bound = other, (base - there) >> WAY
                if not put(&self.ring[whole >> BUCKET_BITS & (RING - 1)], other):
                    return NO_MEMORY
                waiting += 1
        self.bucket, self.waiting, self.bound = bucket, waiting, bound
        return expanded

    cdef bint is_known(self, int32_t cell) noexcept nogil:
        return self.nodes[cell] >> 48 == self.number

    cdef inline uint64_t way(self, int32_t cell) noexcept nogil:
        return (self.base() - (self.nodes[cell] & ~(<uint64_t> 31))) >> WAY

    def cost_to(self, int cell):
        if not 0 <= cell < self.cells or not self.is_known(cell):
            return float("inf")
        return cost_of(self.way(cell), self.cost)

    cdef int32_t came_from(self, int32_t cell) noexcept nogil:
        return cell - self.step[self.nodes[cell] & MOVE]

    def nearest(self):
        cdef int32_t cell, best = self.start
        cdef uint64_t far, least = NONE, way = 0
        with nogil:
            for cell in range(self.cells):
                if not self.is_known(cell) or self.nodes[cell] & WAITS:
                    continue
                far = self.estimate(cell // self.width, cell % self.width)
                if far < least or (far == least and self.way(cell) < way):
                    least, way, best = far, self.way(cell), cell
        return best


def canonical_search(open_moves):
    return Search(open_moves)
