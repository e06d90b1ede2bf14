# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``portal_search``: the same function, the same results.

Arrays come through the buffer protocol. Those of the graph are BORROWED for
the life of the memory, so that regions may change in them between two searches.
"""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    NO_PORTAL = -1
    LONG = 8            # portals from which on the GIL is released (count): some 5 us
    WAYS = 0
    PARTNERS = 1
    ENTER = 2
    COUNTS = 3

cdef double INFINITE = 1e300 * 1e300

include "_in_slices.pxi"


cdef struct Portal:
    double cost
    int32_t came
    uint32_t search     # that wrote it; others have not been here


cdef struct Waiting:
    double whole, so_far
    int32_t portal


cdef inline bint is_before(Waiting* one, Waiting* other) noexcept nogil:
    if one.whole != other.whole:
        return one.whole < other.whole
    if one.portal != other.portal:
        return one.portal < other.portal
    return one.so_far < other.so_far


@cython.final
cdef class Search(InSlices):
    cdef Py_buffer buffers[4]           # BORROWED until this object goes
    cdef int held
    cdef int32_t room, regions, goal, end
    cdef Portal* portals                 # OWNED
    cdef Waiting* heap                  # OWNED
    cdef double* ends                   # OWNED: from each of the goal's portals to it
    cdef double* rest                   # OWNED
    cdef Py_ssize_t heap_room, waiting
    cdef uint32_t number
    cdef readonly double cost

    def __cinit__(self, ways, partners, enter, counts):
        for i, (array, size) in enumerate(((ways, 8), (partners, 4), (enter, 8), (counts, 4))):
            PyObject_GetBuffer(array, &self.buffers[i], PyBUF_C_CONTIGUOUS)
            self.held = i + 1
            if self.buffers[i].itemsize != size:
                raise TypeError("arrays must be float64, int32, float64, int32")
        self.regions, self.room = <int32_t> self.buffers[COUNTS].shape[0], <int32_t> self.buffers[WAYS].shape[1]
        if self.buffers[WAYS].len != 8 * self.regions * self.room * self.room or (
                self.buffers[PARTNERS].len != 4 * self.regions * self.room):
            raise ValueError("ways must be (regions, room, room), partners (regions, room)")
        if self.buffers[ENTER].len != 8 * self.regions * self.room:
            raise ValueError("enter must be (regions, room)")
        self.portals = <Portal*> calloc(self.regions * self.room + 1, sizeof(Portal))
        self.ends = <double*> malloc((self.room + 1) * sizeof(double))
        self.rest = <double*> malloc((self.regions * self.room + 1) * sizeof(double))
        if self.portals == NULL or self.ends == NULL or self.rest == NULL:
            raise MemoryError("no memory for a search")
        self.done, self.cost = True, INFINITE

    def __dealloc__(self):
        free(self.portals)
        free(self.heap)
        free(self.ends)
        free(self.rest)
        for i in range(self.held):
            PyBuffer_Release(&self.buffers[i])

    def begin(self, int start, int goal, out, into, rest, double direct):
        cdef Py_buffer lefts            # BORROWED for this call
        cdef int32_t k
        cdef double left
        cdef int32_t* counts = <int32_t*> self.buffers[COUNTS].buf
        if not (0 <= start < self.regions and 0 <= goal < self.regions):
            raise IndexError("a region is not on the grid")
        if len(out) != counts[start] or len(into) != counts[goal]:
            raise ValueError("out and into must have as many numbers as portals")
        PyObject_GetBuffer(rest, &lefts, PyBUF_C_CONTIGUOUS)
        try:
            if lefts.len != self.buffers[ENTER].len:
                raise ValueError("rest must be (regions, room)")
            memcpy(self.rest, lefts.buf, lefts.len)
        finally:
            PyBuffer_Release(&lefts)
        for k, left in enumerate(into.tolist()):
            self.ends[k] = left
        self.number += 1
        if self.number == 0:
            raise OverflowError("too many searches")
        self.goal, self.cost, self.end, self.waiting, self.done = goal, direct, NO_PORTAL, 0, False
        for k, left in enumerate(out.tolist()):
            if not self.cross(start, k, left, NO_PORTAL):
                raise MemoryError("no memory for a search")

    cdef inline double way_between(self, int32_t region, int32_t i, int32_t j) noexcept nogil:
        return (<double*> self.buffers[WAYS].buf)[(<Py_ssize_t> region * self.room + i) * self.room + j]

    cdef bint push(self, double whole, int32_t portal, double so_far) noexcept nogil:
        cdef Py_ssize_t at = self.waiting, above
        cdef Waiting one
        cdef Waiting* more
        if at == self.heap_room:
            self.heap_room = 2 * self.heap_room + 256
            more = <Waiting*> realloc(self.heap, <size_t> self.heap_room * sizeof(Waiting))
            if more == NULL:
                self.heap_room = at
                return False
            self.heap = more
        one.whole, one.so_far, one.portal = whole, so_far, portal
        self.waiting += 1
        while at > 0:
            above = (at - 1) >> 1
            if not is_before(&one, &self.heap[above]):
                break
            self.heap[at] = self.heap[above]
            at = above
        self.heap[at] = one
        return True

    cdef Waiting pop(self) noexcept nogil:
        cdef Waiting first = self.heap[0], last
        cdef Py_ssize_t at = 0, below = 1
        self.waiting -= 1
        last = self.heap[self.waiting]
        while below < self.waiting:
            if below + 1 < self.waiting and is_before(&self.heap[below + 1], &self.heap[below]):
                below += 1
            if not is_before(&self.heap[below], &last):
                break
            self.heap[at] = self.heap[below]
            at, below = below, 2 * below + 1
        self.heap[at] = last
        return first

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t looked = 0
        cdef int did
        while looked < most and not self.done:
            did = self.go_on()
            if did < 0:
                return NO_MEMORY
            looked += did
        return looked

    cdef bint cross(self, int32_t region, int32_t j, double so_far, int32_t came) noexcept nogil:
        cdef int32_t other = (<int32_t*> self.buffers[PARTNERS].buf)[region * self.room + j]
        cdef Portal* one = &self.portals[other]
        cdef double whole
        if so_far == INFINITE:
            return True
        so_far = so_far + (<double*> self.buffers[ENTER].buf)[other]
        whole = so_far + self.rest[other]
        if so_far >= (one.cost if one.search == self.number else INFINITE) or whole >= self.cost:
            return True
        one.cost, one.search, one.came = so_far, self.number, came
        return self.push(whole, other, so_far)

    cdef int go_on(self) noexcept nogil:
        cdef Waiting first
        cdef int32_t region, i, j
        if not self.waiting or self.heap[0].whole >= self.cost:
            self.done = True
            return 0
        first = self.pop()
        if first.so_far > self.portals[first.portal].cost:
            return 0
        region, i = first.portal // self.room, first.portal % self.room
        if region == self.goal and first.so_far + self.ends[i] < self.cost:
            self.cost, self.end = first.so_far + self.ends[i], first.portal
        for j in range((<int32_t*> self.buffers[COUNTS].buf)[region]):
            if j != i and not self.cross(region, j, first.so_far + self.way_between(region, i, j), first.portal):
                return NO_MEMORY
        return 1

    def way(self):
        cdef int32_t length = 0, at = self.end
        cdef int32_t* out
        while at != NO_PORTAL:
            at = self.portals[at].came
            length += 1
            if length > self.regions * self.room:
                raise RuntimeError(CONTRADICTORY)
        found = PyBytes_FromStringAndSize(NULL, length * sizeof(int32_t))
        out = <int32_t*> PyBytes_AsString(found)
        at = self.end
        while at != NO_PORTAL:
            length -= 1
            out[length] = at
            at = self.portals[at].came
        return found


def portal_search(ways, partners, enter, counts):
    return Search(ways, partners, enter, counts)
