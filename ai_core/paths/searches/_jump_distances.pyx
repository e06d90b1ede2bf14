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


cdef struct Begun:
    int32_t row, column, next


cdef class Mending:
    """Cells from which jumps are mended: diagonal ones row by row, each cell once, as memory lies."""

    cdef Begun* begun                   # OWNED: where diagonal jumps may differ, in lists of their rows
    cdef Py_ssize_t count, room
    cdef int32_t* heads                 # OWNED: of each row
    cdef int32_t* columns               # OWNED: of the row that is mended
    cdef int32_t* seen                  # OWNED: by column, the row in which it was last added, plus 1
    cdef int32_t least, most            # rows with something begun

    def __cinit__(self, Grid grid):
        cdef int32_t row
        self.heads = <int32_t*> malloc(grid.height * sizeof(int32_t))
        self.columns = <int32_t*> malloc(grid.width * sizeof(int32_t))
        self.seen = <int32_t*> malloc(grid.width * sizeof(int32_t))
        if self.heads == NULL or self.columns == NULL or self.seen == NULL:
            raise MemoryError("no memory for jumps to mend")
        for row in range(grid.height):
            self.heads[row] = NONE
        self.least, self.most = grid.height, -1

    def __dealloc__(self):
        free(self.begun)
        free(self.heads)
        free(self.columns)
        free(self.seen)

    cdef bint begin_at(self, Grid grid, int32_t row, int32_t column) noexcept nogil:
        cdef Begun* more
        cdef Py_ssize_t room
        if not (0 <= row < grid.height and 0 <= column < grid.width):
            return True
        if self.count == self.room:
            room = 256 if self.room == 0 else 2 * self.room
            more = <Begun*> realloc(self.begun, <size_t> room * sizeof(Begun))
            if more == NULL:
                return False
            self.begun, self.room = more, room
        self.begun[self.count].row, self.begun[self.count].column = row, column
        self.begun[self.count].next = self.heads[row]
        self.heads[row] = <int32_t> self.count
        self.count += 1
        self.least = row if row < self.least else self.least
        self.most = row if row > self.most else self.most
        return True

    cdef void forget(self) noexcept nogil:
        cdef int32_t row
        for row in range(self.least, self.most + 1):
            self.heads[row] = NONE
        self.count, self.least, self.most = 0, 0x7FFFFFFF, -1

    cdef void mend(self, Grid grid, int move) noexcept nogil:
        """Mend the jumps of a diagonal from where it was begun back against it, as far as they differ."""
        # All by names of this function: what is reached through an object is read anew after every write.
        cdef int16_t* jumps = <int16_t*> grid.jumps.buf
        cdef int16_t* at
        cdef int16_t* beyond
        cdef int16_t jump
        cdef uint8_t* opened = <uint8_t*> grid.open_moves.buf
        cdef int32_t* columns = self.columns
        cdef int32_t* seen = self.seen
        cdef Begun* begun = self.begun
        cdef int32_t width = grid.width, height = grid.height
        cdef int32_t back = -DOWN[move], aside = -RIGHT[move], row, column, cell, one, i, count = 0, kept
        cdef int32_t begun_in_all = <int32_t> self.count
        cdef int32_t last = self.most if back > 0 else self.least, step = DOWN[move] * width + RIGHT[move]
        cdef int upright = move_of(DOWN[move], 0), level = move_of(0, RIGHT[move])
        for column in range(width):
            seen[column] = 0
        row = self.least if back > 0 else self.most
        while 0 <= row < height and (count or (last - row) * back >= 0):
            one = self.heads[row]
            for i in range(begun_in_all):
                if one == NONE:
                    break
                column = begun[one].column
                if seen[column] != row + 1:
                    seen[column] = row + 1
                    columns[count] = column
                    count += 1
                one = begun[one].next
            kept = 0
            for i in range(count):
                column = columns[i]
                cell = row * width + column
                at = jumps + <Py_ssize_t> cell * MOVES + move
                jump = 0
                if opened[cell] >> move & 1:        # as jump_from has it
                    beyond = jumps + <Py_ssize_t> (cell + step) * MOVES
                    if beyond[upright] > 0 or beyond[level] > 0:
                        jump = 1
                    else:
                        jump = beyond[move] + 1 if beyond[move] > 0 else beyond[move] - 1
                if jump == at[0]:
                    continue
                at[0] = jump
                column += aside
                if 0 <= column < width:
                    columns[kept] = column
                    seen[column] = row + back + 1
                    kept += 1
            count = kept
            row += back


cdef struct Place:
    int32_t row, column


cdef class Turned:
    """Cells whose straight jump turned: diagonal jumps hang on that."""

    cdef Place* places                  # OWNED
    cdef Py_ssize_t count, room

    def __dealloc__(self):
        free(self.places)

    cdef bint add(self, int32_t row, int32_t column) noexcept nogil:
        cdef Place* more
        cdef Py_ssize_t room
        if self.count == self.room:
            room = 256 if self.room == 0 else 2 * self.room
            more = <Place*> realloc(self.places, <size_t> room * sizeof(Place))
            if more == NULL:
                return False
            self.places, self.room = more, room
        self.places[self.count].row, self.places[self.count].column = row, column
        self.count += 1
        return True


def repair_jumps(open_moves, jumps, cells):
    cdef Grid grid = Grid(open_moves, jumps, PyBUF_WRITABLE)
    cdef Mending mending = Mending(grid)
    cdef int move, straight
    cdef bint fits = True
    changed = cells.tolist()
    for cell in changed:
        if not 0 <= cell < grid.height * grid.width:
            raise IndexError("a cell is not on the grid")
    straight_turned = []
    for straight in (1, 3, 4, 6):       # first: diagonal jumps hang on them
        straight_turned.append(mended_straight(grid, changed, straight))
    for move in (0, 2, 5, 7):
        mending.forget()
        for cell in changed:
            fits = fits and begin_around(mending, grid, cell)
        for straight, hanging in zip((1, 3, 4, 6), straight_turned):
            if DOWN[move] == DOWN[straight] if DOWN[straight] else RIGHT[move] == RIGHT[straight]:
                fits = fits and begin_before(mending, grid, hanging, move)
        if not fits:
            raise MemoryError("no memory for jumps to mend")
        mending.mend(grid, move)


cdef bint begin_around(Mending mending, Grid grid, int32_t cell) noexcept nogil:
    """Open moves differ up to a cell away, and a jump hangs on those of the next cell too."""
    cdef int32_t row = cell // grid.width, column = cell % grid.width, down, right
    for down in range(-2, 3):
        for right in range(-2, 3):
            if not mending.begin_at(grid, row + down, column + right):
                return False
    return True


cdef bint begin_before(Mending mending, Grid grid, Turned turned, int move) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(turned.count):
        if not mending.begin_at(grid, turned.places[i].row - DOWN[move], turned.places[i].column - RIGHT[move]):
            return False
    return True


cdef Turned mended_straight(Grid grid, list changed, int move):
    """Mend the jumps of a straight move around cells; return where they turned."""
    cdef Turned turned = Turned()
    cdef int32_t row, column, down, right
    for cell in changed:
        row, column = cell // grid.width, cell % grid.width
        for down in range(-2, 3):
            for right in range(-2, 3):
                if not mend_back(grid, row + down, column + right, move, turned):
                    raise MemoryError("no memory for jumps to mend")
    return turned


cdef bint mend_back(Grid grid, int32_t row, int32_t column, int move, Turned turned) noexcept nogil:
    """Mend jumps from a cell back against the move, as far as they differ; False if there is no memory."""
    cdef int32_t cell
    cdef int16_t jump
    cdef int16_t* at
    while 0 <= row < grid.height and 0 <= column < grid.width:
        cell = row * grid.width + column
        at = <int16_t*> grid.jumps.buf + <Py_ssize_t> cell * MOVES + move
        jump = jump_from(grid, cell, move)
        if jump == at[0]:
            break
        if (jump > 0) != (at[0] > 0) and not turned.add(row, column):
            return False
        at[0] = jump
        row -= DOWN[move]
        column -= RIGHT[move]
    return True
