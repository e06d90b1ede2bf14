# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``canonical_field``: the same function, the same results.

Arrays come through the buffer protocol. Open moves are BORROWED for the life of the
memory, what is written until the next field begins.
"""
cimport cython

include "_canonical_grid.pxi"

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    RING = 1024         # canonical_moves.FIELD_RING
    LONGEST_RUN = 512   # canonical_field.LONGEST_RUN
    NEVER = 256         # canonical_field.NEVER

cdef uint32_t FAR = 0xFFFFFFFF          # canonical_field.FAR
cdef uint32_t LONGEST_WAY = FAR - (LONGEST_RUN + 2) * DIAGONAL  # canonical_field.LONGEST_WAY


@cython.final
cdef class Field(Grid):
    cdef Py_buffer lengths, moves       # BORROWED until the next field begins
    cdef Stack[RING] ring
    cdef Py_ssize_t waiting
    cdef uint32_t bucket
    cdef readonly bint is_too_far

    def __dealloc__(self):
        cdef int slot
        self.give_back()
        for slot in range(RING):
            free(self.ring[slot].cells)

    cdef void give_back(self):
        PyBuffer_Release(&self.lengths)
        PyBuffer_Release(&self.moves)

    def begin(self, goals, out_lengths, out_moves):
        cdef int slot
        cdef int32_t cell
        cdef uint32_t* lengths
        self.give_back()
        self.done, self.is_too_far, self.bucket, self.waiting = True, False, 0, 0
        PyObject_GetBuffer(out_lengths, &self.lengths, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        PyObject_GetBuffer(out_moves, &self.moves, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        if self.lengths.len != <Py_ssize_t> 4 * self.cells or self.moves.len != self.cells:
            raise ValueError("out_lengths and out_moves must be uint32 and uint8 of the shape of the grid")
        for slot in range(RING):
            self.ring[slot].count = 0
        lengths = <uint32_t*> self.lengths.buf
        for cell in range(self.cells):
            lengths[cell] = FAR
        for goal in goals.tolist():
            if not 0 <= goal < self.cells:
                raise IndexError("a goal is not on the grid")
            cell = goal
            lengths[cell], (<uint8_t*> self.moves.buf)[cell] = 0, AT_ONCE
            if not put(&self.ring[0], cell):
                raise MemoryError("no memory for a field")
            self.waiting += 1
        self.done = False

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t written = 0, waiting = self.waiting
        cdef int32_t cell, other, step
        cdef int move, passed
        cdef uint32_t tries, after, alone, here, way, last, bucket = self.bucket
        cdef uint32_t* lengths = <uint32_t*> self.lengths.buf
        cdef uint8_t* moves = <uint8_t*> self.moves.buf
        cdef uint8_t* open_moves = <uint8_t*> self.open_moves.buf
        cdef uint32_t* of_move
        cdef Stack* stack = &self.ring[bucket & (RING - 1)]
        while written < most:
            passed = 0
            while stack.count == 0 and waiting:
                bucket += 1
                stack = &self.ring[bucket & (RING - 1)]
                passed += 1
                if passed > RING:
                    return CONTRADICTION
            if not waiting:
                self.done = True
                break
            stack.count -= 1
            waiting -= 1
            cell = stack.cells[stack.count]
            here = lengths[cell]
            if here >> BUCKET_BITS != bucket:
                continue
            if here > LONGEST_WAY:
                self.done = self.is_too_far = True
                break
            written += 1
            tries = TRIES[moves[cell] << 8 | open_moves[cell]]
            while tries:
                move = <int> (tries & 15) - 1
                tries >>= 4
                step = self.step[move]
                alone = NEVER if DOWN[move] and RIGHT[move] else move + 1
                way = here + (DIAGONAL if alone == NEVER else STRAIGHT)
                of_move = &TRIES[move << 8]
                last = way + <uint32_t> (LONGEST_RUN * STRAIGHT)
                other = cell + step
                while way < lengths[other]:
                    lengths[other], moves[other] = way, <uint8_t> move
                    after = of_move[open_moves[other]]
                    if after != alone or way == last:
                        if after:
                            if not put(&self.ring[way >> BUCKET_BITS & (RING - 1)], other):
                                return NO_MEMORY
                            waiting += 1
                        break
                    written += 1
                    other += step
                    way += STRAIGHT
        self.bucket, self.waiting = bucket, waiting
        return written


def canonical_field(open_moves):
    return Field(open_moves)
