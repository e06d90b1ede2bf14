# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``bucket_search``: the same function, the same results.

Arrays come through the buffer protocol. Those of the passage are BORROWED for
the life of the memory, so that cells may change in them between two searches.
"""
cimport cython

include "_bucket_ring.pxi"
include "_with_goals.pxi"

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef double ROUNDS_FROM = 4.0       # bucket_search.ROUNDS_FROM

@cython.final
cdef class Search(ToGoals):
    cdef long long bucket
    cdef bint is_backward
    cdef bint in_rounds                 # whether what gets cheaper within a bucket waits for all that waits there
    cdef double least_cost, bound

    def __cinit__(self, open_moves, costs, moves):
        self.reached = NOWHERE
        self.start = NOWHERE

    def begin(self, int start, goals, double least_cost, double most_cost):
        self.set_ends(start, goals, self.kind == 6)
        self.clear(least_cost, most_cost)
        self.is_backward, self.least_cost = False, least_cost
        self.bound = 0 if self.done else 1e300 * 1e300
        self.bucket = <long long> (
            least_cost * self.estimate(start // self.width, start % self.width) * self.per_bucket)
        self.begin_at(start)

    def spread(self, goals, double least_cost, double most_cost):
        self.set_goals(goals, self.kind == 6)
        self.clear(least_cost, most_cost)
        self.is_backward, self.start, self.least_cost = True, NOWHERE, 0
        self.is_one_goal, self.goal = True, NOWHERE     # none draws it
        self.done, self.reached, self.bound, self.bucket = False, NOWHERE, 1e300 * 1e300, 0
        for goal in goals.tolist():
            self.begin_at(goal)

    cdef int clear(self, double least_cost, double most_cost) except -1:
        cdef double narrow = WIDTH * least_cost, wide = 1.5 * (least_cost + most_cost) / (BUCKETS - 2)
        self.forget(least_cost, most_cost)
        self.in_rounds = wide > ROUNDS_FROM * least_cost
        self.per_bucket = 1 / (narrow if narrow >= wide else wide)
        return 0

    cdef int begin_at(self, int32_t cell) except -1:
        self.nodes[cell].search, self.nodes[cell].way = self.number, 0
        self.nodes[cell].came, self.nodes[cell].is_waiting = AT_ONCE, 1
        if not put(&self.ring, <int32_t> (self.bucket & (BUCKETS - 1)), cell):
            raise MemoryError("no memory for a search")
        return 0

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        return self.flood(most) if self.is_backward else self.expand(most)

    cdef inline double estimate(self, int32_t row, int32_t column) noexcept nogil:
        cdef int32_t down = 0, aside = 0
        if self.kind == 6:
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

    cdef Py_ssize_t expand(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t expanded = 0
        cdef int32_t slot, cell, other, row, column
        cdef int move, bits, is_odd, passed
        cdef double way, whole, so_far, here = self.uniform_cost, limit = self.bound / ROUNDING
        cdef double least_cost = self.least_cost, per_bucket = self.per_bucket
        cdef long long into
        cdef Node* node
        cdef Node* nodes = self.nodes
        cdef Move* table
        cdef Ring* ring = &self.ring
        cdef uint8_t* open_moves = <uint8_t*> self.open_moves.buf
        cdef float* costs = <float*> self.costs.buf
        cdef uint32_t number = self.number
        while expanded < most:
            slot = <int32_t> (self.bucket & (BUCKETS - 1))
            passed = 0
            while ring.head[slot] == NONE and ring.waiting:
                if ring.head[PARKED] != NONE:
                    ring.head[slot], ring.head[PARKED] = ring.head[PARKED], NONE
                    break
                self.bucket += 1
                slot = <int32_t> (self.bucket & (BUCKETS - 1))
                passed += 1
                if passed > BUCKETS:
                    return CONTRADICTION
            if not ring.waiting or self.bucket > self.bound * per_bucket:
                self.done = True
                break
            cell = take(ring, slot)
            if not nodes[cell].is_waiting:
                continue
            nodes[cell].is_waiting = 0
            so_far = nodes[cell].way
            row = cell // self.width
            column = cell - row * self.width
            if self.reached != NOWHERE and so_far + least_cost * self.estimate(row, column) >= limit:
                continue
            expanded += 1
            bits = open_moves[cell]
            is_odd = 1 if self.kind == 6 and bits & ODD_ROW else 0
            table = &self.table[is_odd][0]
            for move in range(self.moves):
                if not bits >> move & 1:
                    continue
                other = cell + table[move].step
                way = table[move].length * (here if here else costs[other])
                way = so_far + way
                node = &nodes[other]
                if node.search == number and way * ROUNDING >= node.way:
                    continue
                whole = way + least_cost * self.estimate(row + table[move].down, column + table[move].right)
                if whole >= limit:
                    continue
                node.search, node.way, node.came, node.is_waiting = number, way, move, 1
                if self.is_goal(other):
                    self.reached, self.bound, limit = other, way, way / ROUNDING
                into = <long long> (whole * per_bucket)
                into = into if into > self.bucket else self.bucket
                slot = PARKED if self.in_rounds and into == self.bucket else <int32_t> (into & (BUCKETS - 1))
                if not put(ring, slot, other):
                    return NO_MEMORY
        return expanded

    cdef Py_ssize_t flood(self, Py_ssize_t most) noexcept nogil:
        """As ``expand``, back from the goals: no cell draws it, and a move costs what the cell here does."""
        cdef Py_ssize_t expanded = 0
        cdef int32_t slot, cell, other
        cdef int move, bits, passed
        cdef double way, so_far, here, per_bucket = self.per_bucket
        cdef long long into, bucket = self.bucket
        cdef Node* node
        cdef Node* nodes = self.nodes
        cdef Move* table
        cdef Ring* ring = &self.ring
        cdef uint8_t* open_moves = <uint8_t*> self.open_moves.buf
        cdef float* costs = <float*> self.costs.buf
        cdef uint32_t number = self.number
        while expanded < most:
            slot = <int32_t> (bucket & (BUCKETS - 1))
            passed = 0
            while ring.head[slot] == NONE and ring.waiting:
                if ring.head[PARKED] != NONE:
                    ring.head[slot], ring.head[PARKED] = ring.head[PARKED], NONE
                    break
                bucket += 1
                slot = <int32_t> (bucket & (BUCKETS - 1))
                passed += 1
                if passed > BUCKETS:
                    return CONTRADICTION
            if not ring.waiting:
                self.done = True
                break
            cell = take(ring, slot)
            if not nodes[cell].is_waiting:
                continue
            nodes[cell].is_waiting = 0
            so_far, here = nodes[cell].way, costs[cell]
            expanded += 1
            bits = open_moves[cell]
            table = &self.table[1 if self.kind == 6 and bits & ODD_ROW else 0][0]
            for move in range(self.moves):
                if not bits >> move & 1:
                    continue
                other = cell + table[move].step
                way = table[move].length * here
                way = so_far + way
                node = &nodes[other]
                if node.search == number and way * ROUNDING >= node.way:
                    continue
                node.search, node.way, node.came, node.is_waiting = number, way, move, 1
                into = <long long> (way * per_bucket)
                into = into if into > bucket else bucket
                slot = PARKED if self.in_rounds and into == bucket else <int32_t> (into & (BUCKETS - 1))
                if not put(ring, slot, other):
                    return NO_MEMORY
        self.bucket = bucket
        return expanded

    cdef bint is_known(self, int32_t cell) noexcept nogil:
        return self.nodes[cell].search == self.number

    cdef int32_t came_from(self, int32_t cell) noexcept nogil:
        return self.before(cell)

    def cost_to(self, int cell):
        if not 0 <= cell < self.cells or not self.is_known(cell):
            return float("inf")
        return self.nodes[cell].way

    def flow(self, out_costs, out_next):
        cdef Py_buffer ways, following      # BORROWED for this call
        PyObject_GetBuffer(out_costs, &ways, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        try:
            PyObject_GetBuffer(out_next, &following, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
            try:
                if ways.len != 8 * self.cells or following.len != 4 * self.cells:
                    raise ValueError("out_costs and out_next must be float64 and int32 of the shape of the grid")
                with nogil:
                    self.write_flow(<double*> ways.buf, <int32_t*> following.buf)
            finally:
                PyBuffer_Release(&following)
        finally:
            PyBuffer_Release(&ways)

    cdef void write_flow(self, double* ways, int32_t* following) noexcept nogil:
        cdef int32_t cell
        cdef Node* node
        for cell in range(self.cells):
            node = &self.nodes[cell]
            if node.search != self.number:
                ways[cell], following[cell] = 1e300 * 1e300, NOWHERE
            else:
                ways[cell] = node.way
                following[cell] = cell if node.came == AT_ONCE else self.before(cell)

    def nearest(self):
        cdef int32_t cell, best = self.start
        cdef double far, least = 1e300 * 1e300, way = 0
        with nogil:
            for cell in range(self.cells):
                if self.nodes[cell].search != self.number or self.nodes[cell].is_waiting:
                    continue
                far = self.estimate(cell // self.width, cell % self.width)
                if far < least or (far == least and self.nodes[cell].way < way):
                    least, way, best = far, self.nodes[cell].way, cell
        return best


def bucket_search(open_moves, costs, moves):
    return Search(open_moves, costs, moves)
