# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``repairing_search``: the same function, the same results.

Arrays come through the buffer protocol. Those of the passage are BORROWED for
the life of the memory, so that cells may change in them between two searches.
"""
cimport cython

include "_bucket_ring.pxi"
include "_canonical_moves.pxi"

INTERFACE = 3
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef double INFINITE = 1e300 * 1e300

cdef enum:
    MOST_ROUNDS = 65535
    ANY_MOVE = 8        # canonical_moves.AT_ONCE


@cython.final
cdef class Search(Grid):
    cdef int32_t bucket
    cdef Py_ssize_t due                 # that wait in the ring; the others are parked
    cdef int32_t start, start_row, start_column
    cdef double least_cost, most_cost, weight, base
    cdef int round
    cdef bint is_even
    cdef readonly double cost, least

    def begin(self, int start, goals, double least_cost, double most_cost, double weight, bint is_even):
        cdef int32_t cell
        self.checked(start, "the start")
        numbers = [self.checked(goal, "a goal") for goal in goals.tolist()]
        self.forget(least_cost, most_cost)
        self.least_cost, self.most_cost, self.is_even = least_cost, most_cost, is_even
        for cell in numbers:
            self.write(cell, 0, AT_ONCE)
            self.park(cell)
        self.done, self.cost, self.least, self.round = False, INFINITE, 0, 0
        self.repair(start, weight)

    def adopt(self, cells, ways):
        cdef int32_t cell, towards
        cdef double way
        numbers, costs = cells.tolist(), ways.tolist()
        for i in range(len(numbers) - 2, -1, -1):
            cell, towards, way = self.checked(numbers[i], "a cell"), self.checked(numbers[i + 1], "a cell"), costs[i]
            if self.nodes[cell].search != self.number or way < self.nodes[cell].way:
                self.write(cell, way, self.move_from(towards, cell))
                self.park(cell)
        self.repair(self.start, self.weight)

    cdef int move_from(self, int32_t cell, int32_t other) except -1:
        # On grids of one or two columns several moves have the same step; only one of them is open.
        cdef int move, bits = (<uint8_t*> self.open_moves.buf)[cell]
        for move in range(self.moves):
            if bits >> move & 1 and self.table[cell // self.width & 1][move].step == other - cell:
                return move
        raise ValueError("cells must be neighbors, one after the other")

    cdef void write(self, int32_t cell, double way, int came) noexcept:
        self.nodes[cell].search, self.nodes[cell].way = self.number, way
        self.nodes[cell].came, self.nodes[cell].is_waiting, self.nodes[cell].round = came, 1, 0

    cdef int park(self, int32_t cell) except -1:
        if not put(&self.ring, PARKED, cell):
            raise MemoryError("no memory for a search")
        return 0

    def repair(self, int start, double weight):
        self.checked(start, "the start")
        self.start, self.weight = start, weight
        self.start_row, self.start_column = start // self.width, start % self.width
        if self.kind == 6:
            self.start_column = 2 * self.start_column + (self.start_row & 1)
        self.cost = self.nodes[start].way if self.nodes[start].search == self.number else INFINITE
        self.next_round()
        checked_work(self.sort())

    cdef void next_round(self) noexcept nogil:
        cdef int32_t cell
        self.round += 1
        if self.round == MOST_ROUNDS:       # begin to count again
            for cell in range(self.cells):
                self.nodes[cell].round = 0
            self.round = 1

    cdef Py_ssize_t sort(self) noexcept nogil:
        """Put what waits in order; return what ``work`` returns where something is wrong, else 0."""
        cdef Py_ssize_t count
        cdef int32_t* cells = <int32_t*> malloc(<size_t> (self.ring.waiting + 1) * sizeof(int32_t))
        if cells == NULL:
            return NO_MEMORY
        count = self.gather(cells)
        if count >= 0:
            self.sort_in(cells, count)
            self.done = self.due == 0
            count = 0
        free(cells)
        return count

    cdef Py_ssize_t gather(self, int32_t* cells) noexcept nogil:
        """Take all that wait and may lead to a better way; learn what ways cost at least."""
        cdef Py_ssize_t count = 0
        cdef int32_t slot, cell
        cdef double whole, least = INFINITE
        cdef Node* node
        for slot in range(BUCKETS + 1):
            while self.ring.head[slot] != NONE:
                if self.ring.waiting <= 0:
                    return CONTRADICTION
                cell = take(&self.ring, slot)
                node = &self.nodes[cell]
                if node.is_waiting != 1:
                    continue
                whole = node.way + self.least_cost * self.estimate(cell // self.width, cell % self.width)
                if whole * ROUNDING >= self.cost:
                    node.is_waiting = 0
                    continue
                node.is_waiting = 2         # so that it is gathered once
                cells[count] = cell
                count += 1
                least = whole if whole < least else least
        self.least = least if least < self.cost else self.cost
        return count

    cdef inline double key_of(self, int32_t cell) noexcept nogil:
        cdef double left = self.least_cost * self.estimate(cell // self.width, cell % self.width)
        return self.nodes[cell].way + self.weight * left

    cdef void sort_in(self, int32_t* cells, Py_ssize_t count) noexcept nogil:
        """Put cells into buckets; there is room, for as many came out."""
        cdef double high = 0, key, reach, width, narrow = WIDTH * self.least_cost
        cdef Py_ssize_t i
        for i in range(count):
            self.nodes[cells[i]].is_waiting = 1
            key = self.key_of(cells[i])
            high = key if key > high else high
        reach = 1.5 * (self.weight * self.least_cost + self.most_cost)
        high = high + reach
        high = high if high < self.cost else self.cost
        self.base = self.least if self.least < high else high
        width = (high - self.base) / (BUCKETS - 2)
        self.per_bucket = 1 / (width if width > narrow else narrow)
        self.bucket, self.due = BUCKETS, 0
        for i in range(count):
            put(&self.ring, self.slot_of(cells[i], self.key_of(cells[i])), cells[i])

    cdef inline int32_t slot_of(self, int32_t cell, double key) noexcept nogil:
        """Return the bucket for a cell; it is parked if it is not its turn in this round, or far off."""
        cdef double slot = (key - self.base) * self.per_bucket
        if key >= self.cost or slot >= BUCKETS or (self.weight > 1 and self.nodes[cell].round == self.round):
            return PARKED
        self.due += 1
        if slot < self.bucket:
            self.bucket = <int32_t> slot
        return <int32_t> slot

    cdef inline double estimate(self, int32_t row, int32_t column) noexcept nogil:
        cdef int32_t down, aside
        if self.kind == 6:
            column = 2 * column + (row & 1)
        down = row - self.start_row if row > self.start_row else self.start_row - row
        aside = column - self.start_column if column > self.start_column else self.start_column - column
        if aside < down:
            return down + self.short * aside
        return self.far * aside + self.both * down

    def advance(self, Py_ssize_t most):
        cdef Py_ssize_t expanded
        if self.done:
            return 0
        expanded = self.slice(most)
        if self.weight == 1:
            self.learn_least()
        return expanded

    cdef void learn_least(self) noexcept:
        """In a round of weight 1 no way is cheaper than the bucket that is looked at."""
        cdef double least = self.cost
        if not self.done and self.base + self.bucket / self.per_bucket < least:
            least = self.base + self.bucket / self.per_bucket
        self.least = least if least > self.least else self.least

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t expanded = 0
        cdef int32_t cell, other, row, column
        cdef int move, came, bits, all_moves = (1 << self.moves) - 1
        cdef uint32_t tries
        cdef double way, left, key, so_far, here
        cdef Py_ssize_t failed
        cdef Node* node
        cdef Move* table
        cdef Ring* ring = &self.ring
        cdef uint8_t* open_moves = <uint8_t*> self.open_moves.buf
        cdef float* costs = <float*> self.costs.buf
        while expanded < most and not self.done:
            if not self.due:
                failed = self.sort()
                if failed:
                    return failed
            while self.due and ring.head[self.bucket] == NONE:
                self.bucket += 1
                if self.bucket == BUCKETS:
                    return CONTRADICTION
            if not self.due or self.base * self.per_bucket + self.bucket > self.cost * self.per_bucket:
                self.done = True
                break
            cell = take(ring, self.bucket)
            self.due -= 1
            if not self.nodes[cell].is_waiting:
                continue
            self.nodes[cell].is_waiting, self.nodes[cell].round = 0, self.round
            so_far, here = self.nodes[cell].way, costs[cell]
            row, column = cell // self.width, cell % self.width
            if (so_far + self.least_cost * self.estimate(row, column)) * ROUNDING >= self.cost:
                continue
            expanded += 1
            bits = open_moves[cell]
            table = &self.table[1 if self.kind == 6 and bits & ODD_ROW else 0][0]
            came = self.nodes[cell].came if self.is_even and self.nodes[cell].came != AT_ONCE else ANY_MOVE
            tries = TRIES[came << 8 | bits & all_moves]
            while tries:
                move = <int> (tries & 15) - 1
                tries >>= 4
                other = cell + table[move].step
                way = table[move].length * here
                way = so_far + way
                node = &self.nodes[other]
                if node.search == self.number and way * ROUNDING >= node.way:
                    continue
                left = self.least_cost * self.estimate(row + table[move].down, column + table[move].right)
                if (way + left) * ROUNDING >= self.cost:
                    continue
                if node.search != self.number:
                    node.search, node.round = self.number, 0
                node.way, node.came = way, move
                if other == self.start:
                    self.cost = way
                    continue
                node.is_waiting = 1
                key = self.weight * left
                if not put(ring, self.slot_of(other, way + key), other):
                    return NO_MEMORY
        return expanded

    def way(self):
        cdef int32_t length = 1, at = self.start
        cdef int32_t* out
        if self.nodes[at].search != self.number:
            raise ValueError("there is no way yet")
        while self.nodes[at].came != AT_ONCE:
            at = self.before(at)
            length += 1
            if length > self.cells or not 0 <= at < self.cells:
                raise RuntimeError(CONTRADICTORY)
        found = PyBytes_FromStringAndSize(NULL, length * sizeof(int32_t))
        out = <int32_t*> PyBytes_AsString(found)
        at = self.start
        for length in range(length):
            out[length] = at
            if self.nodes[at].came != AT_ONCE:
                at = self.before(at)
        return found


def repairing_search(open_moves, costs, moves):
    return Search(open_moves, costs, moves)
