# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``grid_sight``: the same function, the same results; whole numbers only.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

include "../_buffers.pxi"

cdef enum:
    LONG = 64       # lines from which on the GIL is released (count): some 5 us
    FARTHEST = 256  # grid_sight.FARTHEST_CELLS


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


cdef struct Slopes:
    int32_t low         # the interval begins at low / low_part, its end included
    int32_t low_part
    int32_t high
    int32_t high_part


cdef struct Wedge:
    char* cell          # the one that looks
    Py_ssize_t ahead    # bytes from a cell to the next ahead, and aside
    Py_ssize_t aside
    int32_t farthest    # cells of the grid ahead, and aside
    int32_t widest
    int32_t radius
    char* out
    Py_ssize_t out_ahead
    Py_ssize_t out_aside


def cells_seen(is_opaque, row, column, radius, out_seen):
    cdef Buffers held = Buffers()
    cdef int32_t y = row, x = column, reach = radius
    if not 0 <= reach <= FARTHEST:
        raise ValueError(f"radius must be from 0 to {FARTHEST}, got {radius}")
    cdef Py_buffer* cells = held.borrow_flags(is_opaque, "is_opaque", 2)
    cdef Py_buffer* seen = held.borrow_flags(out_seen, "out_seen", 2, 2 * reach + 1, PyBUF_WRITABLE)
    cdef int32_t height = <int32_t> cells.shape[0], width = <int32_t> cells.shape[1]
    if seen.shape[1] < 2 * reach + 1:
        raise ValueError(f"out_seen must have at least {2 * reach + 1} columns")
    if not (0 <= y < height and 0 <= x < width):
        raise IndexError("a cell is not on the grid")
    cdef Wedge wedge
    cdef Py_ssize_t down, right
    wedge.radius = reach
    wedge.cell = <char*> cells.buf + y * cells.strides[0] + x * cells.strides[1]
    wedge.out = <char*> seen.buf + reach * seen.strides[0] + reach * seen.strides[1]
    wedge.out[0] = 1
    for down in range(-1, 2, 2):
        for right in range(-1, 2, 2):
            wedge.ahead, wedge.aside = down * cells.strides[0], right * cells.strides[1]
            wedge.out_ahead, wedge.out_aside = down * seen.strides[0], right * seen.strides[1]
            wedge.farthest = height - 1 - y if down > 0 else y
            wedge.widest = width - 1 - x if right > 0 else x
            look_into(&wedge)
            wedge.ahead, wedge.aside = wedge.aside, wedge.ahead
            wedge.out_ahead, wedge.out_aside = wedge.out_aside, wedge.out_ahead
            wedge.farthest, wedge.widest = wedge.widest, wedge.farthest
            look_into(&wedge)


cdef void look_into(Wedge* wedge) noexcept nogil:
    """Go ahead column by column with the slopes that are free; see the twin."""
    cdef Slopes first[FARTHEST + 2]
    cdef Slopes second[FARTHEST + 2]
    cdef Slopes* free = first
    cdef Slopes* after = second
    cdef Py_ssize_t count = 1, left, i
    cdef int32_t far, aside, last, most = wedge.radius
    cdef char* out
    first[0].low, first[0].low_part, first[0].high, first[0].high_part = 0, 1, 1, 1
    for far in range(1, min(wedge.radius, wedge.farthest) + 1):
        while most * most > wedge.radius * wedge.radius - far * far:
            most -= 1
        left = 0
        out = wedge.out + far * wedge.out_ahead
        for i in range(count):
            last = min(min(free[i].high * far // free[i].high_part, most), wedge.widest)
            for aside in range((free[i].low * far + free[i].low_part - 1) // free[i].low_part, last + 1):
                out[aside * wedge.out_aside] = 1
            left = keep_free(wedge, &free[i], far, after, left)
        if left == 0:
            return
        count = left
        free, after = after, free


cdef inline Py_ssize_t keep_free(
    Wedge* wedge, Slopes* slopes, int32_t far, Slopes* after, Py_ssize_t count,
) noexcept nogil:
    """Add what the cells of one column leave free of an interval; return how many there are then."""
    cdef int32_t low = slopes.low, low_part = slopes.low_part, begin, aside = 0
    cdef int32_t last = (2 * far * slopes.high + slopes.high_part) // (2 * slopes.high_part)
    cdef char* column = wedge.cell + far * wedge.ahead
    if 2 * far * low > low_part:
        aside = (2 * far * low - low_part + 2 * low_part - 1) // (2 * low_part)
    while aside <= last:
        begin = aside
        while aside <= last and (aside > wedge.widest or column[aside * wedge.aside]):
            aside += 1
        if aside == begin:
            aside += 1
            continue
        if low * 2 * far <= (2 * begin - 1) * low_part:
            after[count].low, after[count].low_part = low, low_part
            after[count].high, after[count].high_part = 2 * begin - 1, 2 * far
            count += 1
        low, low_part = 2 * aside - 1, 2 * far
    if low * slopes.high_part <= slopes.high * low_part:
        after[count].low, after[count].low_part = low, low_part
        after[count].high, after[count].high_part = slopes.high, slopes.high_part
        count += 1
    return count
