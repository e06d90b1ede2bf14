"""Open moves and jumps of a grid, for the kernels of JPS+."""
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc

cdef enum:
    MOVES = 8
    NONE = -1           # no entry
    LONG = 64           # cells expanded, or lines, from which on the GIL is released (count): some 5 us

cdef int32_t[MOVES] DOWN = [-1, -1, -1, 0, 0, 1, 1, 1]
cdef int32_t[MOVES] RIGHT = [-1, 0, 1, -1, 1, -1, 0, 1]

include "_borrowed.pxi"


cdef inline int move_of(int32_t down, int32_t right) noexcept nogil:
    cdef int move = 3 * (down + 1) + right + 1
    return move if move < 4 else move - 1


cdef class Grid:
    """Open moves and jumps, as they are borrowed."""

    cdef Py_buffer open_moves, jumps    # BORROWED until this object goes
    cdef int32_t height, width

    def __cinit__(self, open_moves, jumps, int flags=0):
        borrow_open_moves(open_moves, &self.open_moves)
        borrow(jumps, &self.jumps, 3, c"h", 2, "jumps must be (height, width, 8) int16", flags)
        if self.jumps.len != 16 * self.open_moves.len or self.jumps.shape[1] != self.open_moves.shape[1]:
            raise ValueError("jumps must be (height, width, 8) of the shape of open_moves")
        self.height, self.width = <int32_t> self.open_moves.shape[0], <int32_t> self.open_moves.shape[1]

    def __dealloc__(self):
        PyBuffer_Release(&self.open_moves)
        PyBuffer_Release(&self.jumps)
