"""A grid as it is borrowed, and the ring of buckets in which its cells wait, for the kernels of searches."""
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc

cdef enum:
    NOWHERE = -1
    BUCKETS = 1024      # bucket_search.BUCKETS
    PARKED = 1024       # beside the ring: what waits for another round
    NONE = -1           # no entry
    MOST_MOVES = 8
    AT_ONCE = 255       # the move that led to a cell where a search begins
    ODD_ROW = 128       # cell_moves.ODD_ROW
    LONG = 200          # cells from which on the GIL is released (count): some 5 us

include "_borrowed.pxi"
include "_in_slices.pxi"

cdef double WIDTH = 0.5             # bucket_search.WIDTH
cdef double ROUNDING = 1 + 1e-13    # bucket_search.ROUNDING
cdef double DIAGONAL = 2 ** 0.5 - 1


cdef struct Node:
    double way
    uint32_t search     # that wrote it; others have not been here
    uint8_t came
    uint8_t is_waiting
    uint16_t round      # in which it was expanded, where rounds count


cdef struct Entry:
    int32_t cell
    int32_t next


cdef struct Ring:
    Entry* entries      # OWNED by the grid
    int32_t room, used, spare
    int32_t head[BUCKETS + 1]
    Py_ssize_t waiting


cdef struct Move:
    int32_t step
    int32_t down
    int32_t right
    double length


cdef inline bint put(Ring* ring, int32_t slot, int32_t cell) noexcept nogil:
    """Put a cell on top of a bucket; False if there is no memory."""
    cdef int32_t entry = ring.spare
    cdef Entry* more
    cdef int32_t room
    if entry != NONE:
        ring.spare = ring.entries[entry].next
    else:
        if ring.used == ring.room:
            room = 1024 if ring.room == 0 else 2 * ring.room
            more = <Entry*> realloc(ring.entries, <size_t> room * sizeof(Entry))
            if more == NULL:
                return False
            ring.entries, ring.room = more, room
        entry = ring.used
        ring.used += 1
    ring.entries[entry].cell = cell
    ring.entries[entry].next = ring.head[slot]
    ring.head[slot] = entry
    ring.waiting += 1
    return True


cdef inline int32_t take(Ring* ring, int32_t slot) noexcept nogil:
    """Take the cell on top of a bucket that is not empty."""
    cdef int32_t entry = ring.head[slot]
    ring.head[slot] = ring.entries[entry].next
    ring.entries[entry].next = ring.spare
    ring.spare = entry
    ring.waiting -= 1
    return ring.entries[entry].cell


cdef inline void empty(Ring* ring) noexcept nogil:
    cdef int slot
    for slot in range(BUCKETS + 1):
        ring.head[slot] = NONE
    ring.used, ring.spare, ring.waiting = 0, NONE, 0


cdef class Grid(InSlices):
    """Open moves and costs, as they are borrowed; what is known of each cell, and those that wait."""

    cdef Py_buffer open_moves, costs    # BORROWED until this object goes
    cdef int32_t width, cells
    cdef int kind, moves                # kind: 4, 6 or 8
    cdef Move table[2][MOST_MOVES]
    cdef Node* nodes                    # OWNED
    cdef Ring ring
    cdef uint32_t number
    cdef double short, far, both        # bucket_search.Estimate
    cdef double uniform_cost, per_bucket

    def __cinit__(self, open_moves, costs, moves):
        borrow(costs, &self.costs, 2, c"f", 4, "costs must be (height, width) float32")
        borrow_open_moves(open_moves, &self.open_moves)
        if self.open_moves.len * 4 != self.costs.len or self.open_moves.shape[1] != self.costs.shape[1]:
            raise ValueError("open_moves and costs must have the same shape")
        self.width = <int32_t> self.costs.shape[1]
        self.cells = <int32_t> (self.costs.shape[0] * self.costs.shape[1])
        self.moves = len(moves.lengths)
        self.kind = self.moves
        self.short = DIAGONAL if self.kind == 8 else 1.0 if self.kind == 4 else 0.0
        self.far = 0.5 if self.kind == 6 else 1.0
        self.both = DIAGONAL if self.kind == 8 else self.far
        for row, goes in enumerate((moves.even, moves.odd)):
            for move in range(self.moves):
                self.table[row][move].down, self.table[row][move].right = goes[move]
                self.table[row][move].step = goes[move][0] * self.width + goes[move][1]
                self.table[row][move].length = moves.lengths[move]
        self.nodes = <Node*> calloc(self.cells, sizeof(Node))
        if self.nodes == NULL:
            raise MemoryError("no memory for a search")
        empty(&self.ring)
        self.done = True

    def __dealloc__(self):
        free(self.nodes)
        free(self.ring.entries)
        PyBuffer_Release(&self.open_moves)
        PyBuffer_Release(&self.costs)

    cdef int forget(self, double least_cost, double most_cost) except -1:
        """Forget the last search: whatever it wrote has another number."""
        self.number += 1
        if self.number == 0:
            raise OverflowError("too many searches")
        empty(&self.ring)
        self.uniform_cost = least_cost if least_cost == most_cost else 0.0
        return 0

    cdef int32_t checked(self, cell, what) except -1:
        if not 0 <= cell < self.cells:
            raise IndexError(f"{what} is not on the grid")
        return cell

    cdef inline int32_t before(self, int32_t cell) noexcept nogil:
        """Return the cell from which the move to this one came."""
        cdef int move = self.nodes[cell].came
        cdef int32_t row
        if self.kind != 6:
            return cell - self.table[0][move].step
        row = cell // self.width - self.table[0][move].down
        return cell - self.table[row & 1][move].step
