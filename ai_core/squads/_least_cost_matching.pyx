# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``least_cost_matching``: the same function, the same results to the last bit.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

include "../senses/_buffers.pxi"

cdef enum:
    NONE = -1
    CONTRADICTION = -2  # instead of a count


cdef class Workspace:
    """What one matching needs; OWNED, freed with this object."""

    cdef double* row_prices
    cdef double* column_prices
    cdef double* ways
    cdef int32_t* row_of
    cdef int32_t* came
    cdef int32_t* waiting       # columns not reached yet, in any order
    cdef int32_t* reached       # columns reached, in the order they were
    cdef int32_t* visited       # rows on the ways to them

    def __cinit__(self, Py_ssize_t rows, Py_ssize_t columns):
        self.row_prices = <double*> calloc(rows + 1, sizeof(double))
        self.column_prices = <double*> calloc(columns + 1, sizeof(double))
        self.ways = <double*> malloc((columns + 1) * sizeof(double))
        self.row_of = <int32_t*> malloc((columns + 1) * sizeof(int32_t))
        self.came = <int32_t*> malloc((columns + 1) * sizeof(int32_t))
        self.waiting = <int32_t*> malloc((columns + 1) * sizeof(int32_t))
        self.reached = <int32_t*> malloc((columns + 1) * sizeof(int32_t))
        self.visited = <int32_t*> malloc((rows + 1) * sizeof(int32_t))
        if (self.row_prices == NULL or self.column_prices == NULL or self.ways == NULL or self.row_of == NULL
                or self.came == NULL or self.waiting == NULL or self.reached == NULL or self.visited == NULL):
            raise MemoryError("no memory for a matching")

    def __dealloc__(self):
        free(self.row_prices)
        free(self.column_prices)
        free(self.ways)
        free(self.row_of)
        free(self.came)
        free(self.waiting)
        free(self.reached)
        free(self.visited)


def match_rows(costs, out):
    cdef Buffers held = Buffers()
    cdef Py_buffer* numbers = held.borrow(costs, "costs", "f", 8, 2)
    cdef Py_ssize_t rows = numbers.shape[0], columns = numbers.shape[1]
    if rows and columns and (numbers.strides[1] != 8 or numbers.strides[0] != 8 * columns):
        raise TypeError("costs must be an array of 2 dimensions and 8 bytes an element, without gaps")
    cdef Py_buffer* slots = held.borrow(out, "out", "i", 4, 1, 0, 0, PyBUF_WRITABLE)
    if rows > columns or slots.shape[0] != rows:
        raise ValueError("costs must not have more rows than columns, and out as many as rows")
    if rows and slots.strides[0] != 4:
        raise TypeError("out must have no gaps")
    cdef Workspace space = Workspace(rows, columns)
    cdef Py_ssize_t matched = 0
    with nogil:
        matched = match(<double*> numbers.buf, rows, columns, <int32_t*> slots.buf, space)
    if matched == CONTRADICTION:
        raise RuntimeError("internal error in a matching: its tables contradict each other; report this with the costs")
    return matched


cdef Py_ssize_t match(double* costs, Py_ssize_t rows, Py_ssize_t columns, int32_t* out, Workspace space) noexcept nogil:
    cdef Py_ssize_t matched = 0, row
    cdef int added
    for row in range(columns):
        space.row_of[row] = NONE
    for row in range(rows):
        out[row] = NONE
    for row in range(rows):
        added = add_row(costs, columns, <int32_t> row, out, space)
        if added == CONTRADICTION:
            return CONTRADICTION
        matched += added
    return matched


cdef int add_row(double* costs, Py_ssize_t columns, int32_t first, int32_t* out, Workspace space) noexcept nogil:
    cdef int32_t row = first, column, best_column, end = NONE, following
    cdef Py_ssize_t left = columns, found = 0, index, best
    cdef double way = 0, reached, best_way, price
    cdef double* line
    cdef double* ways = space.ways
    cdef double* prices = space.column_prices
    cdef int32_t* waiting = space.waiting
    for index in range(columns):
        ways[index] = INFINITY
        waiting[index] = <int32_t> index
    while end == NONE:
        line, price = costs + row * columns, space.row_prices[row]
        best, best_way, best_column = NONE, INFINITY, NONE
        for index in range(left):
            column = waiting[index]
            reached = ((line[column] - price) - prices[column]) + way
            if reached < ways[column]:
                ways[column], space.came[column] = reached, row
            if ways[column] < best_way or (
                    best != NONE and ways[column] == best_way and is_before(column, best_column, space.row_of)):
                best, best_way, best_column = index, ways[column], column
        if best == NONE:
            return 0
        way = best_way
        left -= 1
        waiting[best] = waiting[left]
        space.reached[found] = best_column
        found += 1
        row = space.row_of[best_column]
        if row == NONE:
            end = best_column
        else:
            space.visited[found] = row
    space.row_prices[first] += way
    for index in range(1, found):
        row = space.visited[index]
        space.row_prices[row] += way - ways[out[row]]
    for index in range(found):
        column = space.reached[index]
        prices[column] -= way - ways[column]
    column = end
    for index in range(found):      # no row stands twice among those on the way back
        row = space.came[column]
        space.row_of[column] = row
        following = out[row]
        out[row] = column
        column = following
        if row == first:
            return 1
    return CONTRADICTION


cdef inline bint is_before(int32_t one, int32_t other, int32_t* row_of) noexcept nogil:
    """Of equal ways, the free column comes first, then the smaller one."""
    cdef bint is_free = row_of[one] == NONE, other_is_free = row_of[other] == NONE
    return one < other if is_free == other_is_free else is_free
