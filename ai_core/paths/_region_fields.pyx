# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``region_fields``: the same functions, the same results.

Arrays come through the buffer protocol, and are BORROWED for a call.
"""
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    MOST_MOVES = 8
    NO_MOVE = 255       # region_fields.NO_MOVE
    STRAIGHT = 13860    # canonical_moves.STRAIGHT
    DIAGONAL = 19601    # canonical_moves.DIAGONAL

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
    double even_cost    # 0 if cells differ
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


cdef void fill_one(Box* box, int32_t target, double* ways, uint8_t* out, int32_t* queue) noexcept nogil:
    """Write ways to one target; its cells are numbered within the box.

    Whatever the order, the least sums come out; cells that may spread soon go to the front.
    ``out`` tells meanwhile who waits, so that there is room for all in the queue.
    """
    cdef int32_t cell, other, row, column, cells = box.rows * box.columns, place
    cdef int32_t front = 0, waiting = 1
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
        out[cell] = NO_MOVE
        so_far = ways[cell]
        row, column = cell // box.columns, cell % box.columns
        place = (box.top + row) * box.width + box.left + column
        here = 1 if box.even_cost else box.costs[place]
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
    if box.even_cost:
        for cell in range(cells):
            if ways[cell] != INFINITE:
                ways[cell] = cost_of_length(<int64_t> ways[cell]) * box.even_cost


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
            if not box.even_cost:
                way = way * box.costs[place + kind.down[move] * box.width + kind.right[move]]
            way = ways[other] + way
            if way == ways[cell]:
                out[cell] = move
                break


def fill_fields(open_moves, costs, moves, int top, int left, targets, double even_cost, out_costs, out_moves):
    cdef Py_buffer opened, entering, ways, fields       # BORROWED for this call
    cdef Kind kind
    cdef Box box
    cdef int32_t* queue
    cdef int32_t row, column
    cdef Py_ssize_t i, cells
    read_kind(&kind, moves)
    if even_cost:
        for i in range(kind.moves):
            kind.length[i] = DIAGONAL if kind.down[i] and kind.right[i] else STRAIGHT
    box.even_cost = even_cost
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
                    fill_one(&box, row * box.columns + column, <double*> ways.buf + i * cells,
                             <uint8_t*> fields.buf + i * cells, queue)
        finally:
            free(queue)
    finally:
        PyBuffer_Release(&opened)
        PyBuffer_Release(&entering)
        PyBuffer_Release(&ways)
        PyBuffer_Release(&fields)


def follow_field(field, costs, moves, int top, int left, int cell):
    cdef Py_buffer leads, entering                      # BORROWED for this call
    cdef Kind kind
    cdef int32_t rows, columns, width, row, column, count = 0
    cdef int32_t* cells
    cdef double total = 0, step
    cdef int move
    read_kind(&kind, moves)
    PyObject_GetBuffer(field, &leads, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    PyObject_GetBuffer(costs, &entering, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    rows, columns, width = <int32_t> leads.shape[0], <int32_t> leads.shape[1], <int32_t> entering.shape[1]
    cells = <int32_t*> malloc(<size_t> (rows * columns) * sizeof(int32_t))
    try:
        row, column = cell // width - top, cell % width - left
        if cells == NULL or not (0 <= row < rows and 0 <= column < columns):
            raise IndexError("the cell is not in the rectangle")
        move = (<uint8_t*> leads.buf)[row * columns + column]
        while move != NO_MOVE and count < rows * columns:
            row, column = row + kind.down[move], column + kind.right[move]
            cells[count] = (top + row) * width + left + column
            step = kind.length[move] * (<float*> entering.buf)[cells[count]]
            total = total + step
            count += 1
            move = (<uint8_t*> leads.buf)[row * columns + column]
        return PyBytes_FromStringAndSize(<char*> cells, count * sizeof(int32_t)), total
    finally:
        free(cells)
        PyBuffer_Release(&leads)
        PyBuffer_Release(&entering)
