# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``region_fields``: the same functions, the same results.

Arrays come through the buffer protocol, and are BORROWED for a call.
"""
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc

INTERFACE = 3
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    MOST_MOVES = 8
    NO_MOVE = 255       # region_fields.NO_MOVE
    STRAIGHT = 13860    # canonical_moves.STRAIGHT
    DIAGONAL = 19601    # canonical_moves.DIAGONAL

ENDLESS = "internal error in the fields of a region: a path has no end; make a new RegionGraph, and report this"

cdef double INFINITE = 1e300 * 1e300
cdef double SQRT_2 = 2 ** 0.5
cdef int64_t INVERSE = pow(DIAGONAL, -1, STRAIGHT)


cdef struct Kind:
    int moves
    int32_t down[MOST_MOVES]
    int32_t right[MOST_MOVES]
    double length[MOST_MOVES]


cdef struct Box:
    int32_t top, left, rows, columns, width     # width of the grid
    double uniform_cost    # 0 if cells differ
    uint8_t* open_moves
    float* costs
    Kind* kind


cdef int read_kind(Kind* kind, moves) except -1:
    kind.moves = len(moves.lengths)
    if kind.moves not in (4, 8):
        raise ValueError("regions are for square grids")
    for move in range(kind.moves):
        kind.down[move], kind.right[move] = moves.even[move]
        kind.length[move] = moves.lengths[move]
    return 0


cdef bint fill_one(Box* box, int32_t target, double* ways, uint8_t* out, int32_t* queue) noexcept nogil:
    """Write ways to one target; its cells are numbered within the box.

    Whatever the order, the least sums come out; cells that may spread soon go to the front. False if that takes
    more turns than any costs of 0 or more can: a loop that did not end would freeze the game.
    ``out`` tells meanwhile who waits, so that there is room for all in the queue.
    """
    cdef int32_t cell, other, row, column, cells = box.rows * box.columns, place
    cdef int32_t front = 0, waiting = 1
    cdef int64_t turns = MOST_MOVES * <int64_t> cells * cells
    cdef int move
    cdef double way, here, so_far
    cdef Kind* kind = box.kind
    for cell in range(cells):
        ways[cell], out[cell] = INFINITE, NO_MOVE
    ways[target], queue[0], out[target] = 0, target, 0
    while waiting:
        cell = queue[front]
        front = front + 1 if front + 1 < cells else 0
        waiting -= 1
        turns -= 1
        if turns < 0:
            return False
        out[cell] = NO_MOVE
        so_far = ways[cell]
        row, column = cell // box.columns, cell % box.columns
        place = (box.top + row) * box.width + box.left + column
        here = 1 if box.uniform_cost else box.costs[place]
        for move in range(kind.moves):
            # A move is open both ways or neither.
            if not box.open_moves[place] >> move & 1:
                continue
            if not (0 <= row + kind.down[move] < box.rows and 0 <= column + kind.right[move] < box.columns):
                continue
            other = cell + kind.down[move] * box.columns + kind.right[move]
            way = kind.length[move] * here
            way = so_far + way
            if way >= ways[other]:
                continue
            ways[other] = way
            if out[other] != NO_MOVE:
                continue
            out[other] = 0
            if waiting and way < ways[queue[front]]:
                front = front - 1 if front else cells - 1
                queue[front] = other
            else:
                queue[(front + waiting) % cells] = other
            waiting += 1
    write_moves(box, target, ways, out)
    if box.uniform_cost:
        for cell in range(cells):
            if ways[cell] != INFINITE:
                ways[cell] = cost_of_length(<int64_t> ways[cell]) * box.uniform_cost
    return True


cdef inline double cost_of_length(int64_t length) noexcept nogil:
    """As ``canonical_moves.cost_of``, for cells that cost 1."""
    cdef int64_t diagonals = length % STRAIGHT * INVERSE % STRAIGHT
    return <double> ((length - diagonals * DIAGONAL) // STRAIGHT) + SQRT_2 * <double> diagonals


cdef void write_moves(Box* box, int32_t target, double* ways, uint8_t* out) noexcept nogil:
    cdef int32_t cell, other, row, column, place
    cdef int move
    cdef double way
    cdef Kind* kind = box.kind
    for cell in range(box.rows * box.columns):
        if cell == target or ways[cell] == INFINITE:
            continue
        row, column = cell // box.columns, cell % box.columns
        place = (box.top + row) * box.width + box.left + column
        for move in range(kind.moves):
            if not box.open_moves[place] >> move & 1:
                continue
            if not (0 <= row + kind.down[move] < box.rows and 0 <= column + kind.right[move] < box.columns):
                continue
            other = cell + kind.down[move] * box.columns + kind.right[move]
            way = kind.length[move]
            if not box.uniform_cost:
                way = way * box.costs[place + kind.down[move] * box.width + kind.right[move]]
            way = ways[other] + way
            if way == ways[cell]:
                out[cell] = move
                break


def fill_fields(open_moves, costs, moves, int top, int left, targets, double uniform_cost, out_costs, out_moves):
    cdef Py_buffer opened, entering, ways, fields       # BORROWED for this call
    cdef Kind kind
    cdef Box box
    cdef int32_t* queue
    cdef int32_t row, column
    cdef Py_ssize_t i, cells
    cdef bint is_filled
    read_kind(&kind, moves)
    if uniform_cost:
        for i in range(kind.moves):
            kind.length[i] = DIAGONAL if kind.down[i] and kind.right[i] else STRAIGHT
    box.uniform_cost = uniform_cost
    PyObject_GetBuffer(open_moves, &opened, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    PyObject_GetBuffer(costs, &entering, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    PyObject_GetBuffer(out_costs, &ways, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    PyObject_GetBuffer(out_moves, &fields, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    try:
        box.top, box.left, box.kind = top, left, &kind
        box.rows, box.columns, box.width = <int32_t> ways.shape[1], <int32_t> ways.shape[2], <int32_t> entering.shape[1]
        box.open_moves, box.costs = <uint8_t*> opened.buf, <float*> entering.buf
        cells = box.rows * box.columns
        numbers = targets.tolist()
        if top < 0 or left < 0 or top + box.rows > entering.shape[0] or left + box.columns > box.width:
            raise IndexError("the rectangle is not on the grid")
        if ways.len != 8 * cells * len(numbers) or fields.len != cells * len(numbers):
            raise ValueError("out_costs and out_moves must be float64 and uint8, (n, rows, columns)")
        queue = <int32_t*> malloc(<size_t> (cells + 1) * sizeof(int32_t))
        if queue == NULL:
            raise MemoryError("no memory for a search")
        try:
            for i, target in enumerate(numbers):
                row, column = target // box.width - top, target % box.width - left
                if not (0 <= row < box.rows and 0 <= column < box.columns):
                    raise IndexError("a target is not in the rectangle")
                with nogil:
                    is_filled = fill_one(&box, row * box.columns + column, <double*> ways.buf + i * cells,
                                         <uint8_t*> fields.buf + i * cells, queue)
                if not is_filled:
                    raise RuntimeError(ENDLESS)
        finally:
            free(queue)
    finally:
        PyBuffer_Release(&opened)
        PyBuffer_Release(&entering)
        PyBuffer_Release(&ways)
        PyBuffer_Release(&fields)


cdef class Fields:
    """A rectangle in which fields are followed, and the cells that were found."""

    cdef Kind kind
    cdef Py_buffer entering             # BORROWED until this object goes
    cdef bint is_held
    cdef int32_t* cells                 # OWNED
    cdef int32_t count, room, top, left, rows, columns, width
    cdef double total

    def __cinit__(self, costs, moves):
        read_kind(&self.kind, moves)
        PyObject_GetBuffer(costs, &self.entering, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        self.is_held = True
        self.width = <int32_t> self.entering.shape[1]

    def __dealloc__(self):
        free(self.cells)
        if self.is_held:
            PyBuffer_Release(&self.entering)

    cdef int set_box(self, int32_t top, int32_t left, int32_t rows, int32_t columns) except -1:
        cdef int32_t* more
        if top < 0 or left < 0 or top + rows > self.entering.shape[0] or left + columns > self.width:
            raise IndexError("the rectangle is not on the grid")
        self.top, self.left, self.rows, self.columns = top, left, rows, columns
        if self.count + rows * columns + 1 > self.room:     # a way comes to no cell twice
            self.room = 2 * self.room + rows * columns + 1
            more = <int32_t*> realloc(self.cells, <size_t> self.room * sizeof(int32_t))
            if more == NULL:
                raise MemoryError("no memory for a way")
            self.cells = more
        return 0

    cdef int follow(self, uint8_t* field, int32_t cell) except -1:
        """Add the cells after one, and tell what they cost."""
        cdef int32_t row = cell // self.width - self.top, column = cell % self.width - self.left
        cdef int32_t most = self.count + self.rows * self.columns
        cdef float* costs = <float*> self.entering.buf
        cdef int move
        cdef double step
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError("the cell is not in the rectangle")
        self.total = 0
        move = field[row * self.columns + column]
        while move != NO_MOVE:
            if self.count >= most:
                raise RuntimeError(ENDLESS)
            row, column = row + self.kind.down[move], column + self.kind.right[move]
            self.cells[self.count] = (self.top + row) * self.width + self.left + column
            step = self.kind.length[move] * costs[self.cells[self.count]]
            self.total = self.total + step
            self.count += 1
            move = field[row * self.columns + column]
        return 0

    cdef found(self):
        return PyBytes_FromStringAndSize(<char*> self.cells, self.count * sizeof(int32_t))


def follow_field(field, costs, moves, int top, int left, int cell):
    cdef Py_buffer leads                # BORROWED for this call
    cdef Fields ways = Fields(costs, moves)
    PyObject_GetBuffer(field, &leads, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    try:
        ways.set_box(top, left, <int32_t> leads.shape[0], <int32_t> leads.shape[1])
        ways.follow(<uint8_t*> leads.buf, cell)
        return ways.found(), ways.total
    finally:
        PyBuffer_Release(&leads)


def costs_by_fields(fields, costs, moves, int top, int left, int cell):
    cdef Py_buffer leads                # BORROWED for this call
    cdef Fields ways = Fields(costs, moves)
    cdef Py_ssize_t i
    found = []
    PyObject_GetBuffer(fields, &leads, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    try:
        ways.set_box(top, left, <int32_t> leads.shape[1], <int32_t> leads.shape[2])
        for i in range(leads.shape[0]):
            ways.count = 0
            ways.follow(<uint8_t*> leads.buf + i * ways.rows * ways.columns, cell)
            found.append(ways.total if ways.count else -1.0)
        return found
    finally:
        PyBuffer_Release(&leads)


def follow_fields(fields, costs, moves, corners, starts):
    cdef Py_buffer leads                # BORROWED while one is followed
    cdef Fields ways = Fields(costs, moves)
    for field, (top, left), start in zip(fields, corners, starts, strict=True):
        PyObject_GetBuffer(field, &leads, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        try:
            ways.set_box(top, left, <int32_t> leads.shape[0], <int32_t> leads.shape[1])
            ways.cells[ways.count] = start
            ways.count += 1
            ways.follow(<uint8_t*> leads.buf, start)
        finally:
            PyBuffer_Release(&leads)
    return ways.found()
