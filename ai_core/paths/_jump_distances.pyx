# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``jump_distances``: the same functions, the same results.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

include "_jump_grid.pxi"


def fill_lines(open_moves, jumps, move, first, last):
    cdef Grid grid = Grid(open_moves, jumps, PyBUF_WRITABLE)
    cdef int number = move
    cdef int32_t begin = first, end = last, back
    cdef bint comes_back
    if not 0 <= number < MOVES:
        raise ValueError("move must be 0 to 7")
    cdef int32_t lines = grid.height if DOWN[number] else grid.width
    if begin < 0 or end > lines:
        raise IndexError("a line is not on the grid")
    comes_back = DOWN[number] > 0 or (DOWN[number] == 0 and RIGHT[number] > 0)
    with nogil:
        for back in range(begin, end):
            fill_line(grid, number, lines - 1 - back if comes_back else back)


cdef void fill_line(Grid grid, int move, int32_t line) noexcept nogil:
    """Write the jumps of one row, or of one column for moves along a row."""
    cdef int32_t at, cell, length = grid.width if DOWN[move] else grid.height
    cdef int16_t* jumps = <int16_t*> grid.jumps.buf
    for at in range(length):
        cell = line * grid.width + at if DOWN[move] else at * grid.width + line
        jumps[cell * MOVES + move] = jump_from(grid, cell, move)


cdef inline int16_t jump_from(Grid grid, int32_t cell, int move) noexcept nogil:
    cdef uint8_t* opened = <uint8_t*> grid.open_moves.buf
    cdef int16_t* beyond = <int16_t*> grid.jumps.buf
    cdef int32_t down = DOWN[move], right = RIGHT[move], other = cell + down * grid.width + right
    cdef bint stops
    if not opened[cell] >> move & 1:  # beyond the border no move is open
        return 0
    beyond += <Py_ssize_t> other * MOVES
    if down and right:
        stops = beyond[move_of(down, 0)] > 0 or beyond[move_of(0, right)] > 0
    else:
        stops = (~opened[cell] & opened[other] & (1 << move_of(right, down) | 1 << move_of(-right, -down))) != 0
    return 1 if stops else beyond[move] + 1 if beyond[move] > 0 else beyond[move] - 1


cdef class Turned:
    """Cells whose straight jump turned: diagonal jumps hang on that."""

    cdef int32_t* cells                 # OWNED
    cdef Py_ssize_t count, room

    def __dealloc__(self):
        free(self.cells)

    cdef bint add(self, int32_t cell) noexcept nogil:
        cdef int32_t* more
        cdef Py_ssize_t room
        if self.count == self.room:
            room = 256 if self.room == 0 else 2 * self.room
            more = <int32_t*> realloc(self.cells, <size_t> room * sizeof(int32_t))
            if more == NULL:
                return False
            self.cells, self.room = more, room
        self.cells[self.count] = cell
        self.count += 1
        return True


def mend_jumps(open_moves, jumps, cells):
    cdef Grid grid = Grid(open_moves, jumps, PyBUF_WRITABLE)
    cdef Turned turned
    cdef int32_t row, column
    cdef Py_ssize_t at
    cdef int move, straight
    around = set()
    for cell in cells.tolist():
        if not 0 <= cell < grid.height * grid.width:
            raise IndexError("a cell is not on the grid")
        row, column = cell // grid.width, cell % grid.width
        for down in range(max(0, row - 2), min(grid.height, row + 3)):
            for right in range(max(0, column - 2), min(grid.width, column + 3)):
                around.add((down, right))
    hanging = []
    for straight in (1, 3, 4, 6):       # first: diagonal jumps hang on them
        turned = Turned()
        for row, column in around:
            mend_back(grid, row, column, straight, turned)
        hanging.append((straight, turned))
    for move in (0, 2, 5, 7):
        for row, column in around:
            mend_back(grid, row, column, move, None)
    for straight, turned in hanging:
        for move in (0, 2, 5, 7):
            if DOWN[move] == DOWN[straight] if DOWN[straight] else RIGHT[move] == RIGHT[straight]:
                for at in range(turned.count):
                    row, column = turned.cells[at] // grid.width, turned.cells[at] % grid.width
                    mend_back(grid, row - DOWN[move], column - RIGHT[move], move, None)


cdef int mend_back(Grid grid, int32_t row, int32_t column, int move, Turned turned) except -1:
    """Mend jumps from a cell back against the move, as far as they differ."""
    cdef int32_t cell
    cdef int16_t jump
    cdef int16_t* at
    while 0 <= row < grid.height and 0 <= column < grid.width:
        cell = row * grid.width + column
        at = <int16_t*> grid.jumps.buf + <Py_ssize_t> cell * MOVES + move
        jump = jump_from(grid, cell, move)
        if jump == at[0]:
            break
        if turned is not None and (jump > 0) != (at[0] > 0) and not turned.add(cell):
            raise MemoryError("no memory for jumps to mend")
        at[0] = jump
        row -= DOWN[move]
        column -= RIGHT[move]
    return 0
