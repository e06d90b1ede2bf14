# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``grid_sight``: the same function, the same results; whole numbers only.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

include "_buffers.pxi"

cdef enum:
    LONG = 64   # lines from which on the GIL is released (count): some 5 us


cdef struct Grid:
    char* cells
    Py_ssize_t row          # bytes from a cell to the one below
    Py_ssize_t column       # bytes from a cell to the one to the right


def lines_are_free(is_opaque, starts, ends, out_free):
    cdef Buffers held = Buffers()
    cdef Py_buffer* cells = held.borrow_flags(is_opaque, "is_opaque", 2)
    cdef Py_buffer* first = held.borrow(starts, "starts", "i", 4, 2, 0, 2)
    cdef Py_ssize_t n = first.shape[0]
    cdef Py_buffer* last = held.borrow(ends, "ends", "i", 4, 2, n, 2)
    cdef Py_buffer* free = held.borrow_flags(out_free, "out_free", 1, n, PyBUF_WRITABLE)
    cdef Grid grid
    grid.cells, grid.row, grid.column = <char*> cells.buf, cells.strides[0], cells.strides[1]
    check_cells(first, n, cells)
    check_cells(last, n, cells)
    if n >= LONG:
        with nogil:
            walk_all(&grid, first, last, n, free)
    else:
        walk_all(&grid, first, last, n, free)


cdef int check_cells(Py_buffer* view, Py_ssize_t n, Py_buffer* cells) except -1:
    """Refuse cells that are not on the grid: what follows reads memory by them."""
    cdef Py_ssize_t i
    cdef int32_t row, column
    cdef int32_t height = <int32_t> cells.shape[0], width = <int32_t> cells.shape[1]
    cdef int bad = 0
    for i in range(n):
        row, column = cell_at(view, i, 0), cell_at(view, i, 1)
        bad |= (row < 0) | (row >= height) | (column < 0) | (column >= width)
    if bad:
        raise IndexError("a cell is not on the grid")
    return 0


cdef inline int32_t cell_at(Py_buffer* view, Py_ssize_t i, Py_ssize_t axis) noexcept nogil:
    return (<int32_t*> (<char*> view.buf + i * view.strides[0] + axis * view.strides[1]))[0]


cdef void walk_all(Grid* grid, Py_buffer* first, Py_buffer* last, Py_ssize_t n, Py_buffer* free) noexcept nogil:
    cdef Py_ssize_t i
    cdef char* out = <char*> free.buf
    for i in range(n):
        out[i * free.strides[0]] = is_free(
            grid, cell_at(first, i, 0), cell_at(first, i, 1), cell_at(last, i, 0), cell_at(last, i, 1))


cdef inline char is_free(Grid* grid, int32_t row, int32_t column, int32_t to_row, int32_t to_column) noexcept nogil:
    """Walk along the longer side; ``lead`` is how far the line has left its cell, times 2 * steps."""
    cdef int32_t down = to_row - row, right = to_column - column
    cdef Py_ssize_t along = grid.row, aside = grid.column
    cdef int32_t steps = down, drift = right, i, lead
    cdef char* cell = grid.cells + row * grid.row + column * grid.column
    if steps < 0:
        steps, along = -steps, -along
    if drift < 0:
        drift, aside = -drift, -aside
    if drift > steps:
        steps, drift = drift, steps
        along, aside = aside, along
    lead = steps
    for i in range(1, steps):
        cell += along
        lead += 2 * drift
        if lead >= 2 * steps:
            lead -= 2 * steps
            cell += aside
            if lead == 0:
                # Exactly between this cell and the one before: either will do.
                if cell[0] and cell[-aside]:
                    return 0
                continue
        if cell[0]:
            return 0
    return 1
