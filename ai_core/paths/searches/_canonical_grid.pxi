"""A grid as it is borrowed, the moves worth a look, and the stacks in which its cells wait."""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

cdef enum:
    NOWHERE = -1
    MOVES = 8
    AT_ONCE = 8         # canonical_moves.AT_ONCE
    STRAIGHT = 13860    # canonical_moves.STRAIGHT
    DIAGONAL = 19601    # canonical_moves.DIAGONAL
    BUCKET_BITS = 13    # canonical_moves.BUCKET_BITS
    LONG = 300          # cells from which on the GIL is released (count): some 3 us

cdef int32_t[MOVES] DOWN = [-1, -1, -1, 0, 0, 1, 1, 1]
cdef int32_t[MOVES] RIGHT = [-1, 0, 1, -1, 1, -1, 0, 1]

include "_borrowed.pxi"
include "_canonical_moves.pxi"
include "_in_slices.pxi"


cdef struct Stack:
    int32_t* cells      # OWNED by whoever holds it
    int32_t count, room


cdef inline bint put(Stack* stack, int32_t cell) noexcept nogil:
    """Put a cell on top; False if there is no memory."""
    cdef int32_t* more
    cdef int32_t room
    if stack.count == stack.room:
        room = 128 if stack.room == 0 else 2 * stack.room
        more = <int32_t*> realloc(stack.cells, <size_t> room * sizeof(int32_t))
        if more == NULL:
            return False
        stack.cells, stack.room = more, room
    stack.cells[stack.count] = cell
    stack.count += 1
    return True


cdef class Grid(InSlices):
    """Open moves, as they are borrowed."""

    cdef Py_buffer open_moves           # BORROWED until this object goes
    cdef int32_t width, height, cells
    cdef int32_t[MOVES] step

    def __cinit__(self, open_moves):
        cdef int move
        borrow_open_moves(open_moves, &self.open_moves)
        self.height, self.width = <int32_t> self.open_moves.shape[0], <int32_t> self.open_moves.shape[1]
        self.cells = self.height * self.width
        for move in range(MOVES):
            self.step[move] = DOWN[move] * self.width + RIGHT[move]
        self.done = True

    def __dealloc__(self):
        PyBuffer_Release(&self.open_moves)
