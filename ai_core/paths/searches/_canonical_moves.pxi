"""The moves worth a look after a move, for the kernels of searches."""
from libc.stdint cimport uint32_t

from ai_core.paths.searches.canonical_moves import SUCCESSORS

# By what led to a cell and the moves open there: the numbers of those worth a look, each plus 1, in four bits each.
cdef uint32_t[9 * 256] TRIES


cdef void write_tries(successors):
    cdef int at, move, place
    for at in range(9 * 256):
        TRIES[at], place = 0, 0
        for move in range(8):
            if successors[at] >> move & 1:
                TRIES[at] |= <uint32_t> (move + 1) << place
                place += 4


write_tries(SUCCESSORS)
