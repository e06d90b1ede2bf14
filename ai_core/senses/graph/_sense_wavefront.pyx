# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``sense_wavefront``: the same function, the same results to the last bit.

A binary heap that knows where each passage stands in it, so that a better arrival
moves up instead of coming in twice. What the twin puts in twice it leaves out later:
the order in which passages are settled is the same, because no two keys are equal.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    SETTLED = -1        # in scratch: the wave went through; above 0 a place in the heap, 0 neither
    FIRST_ROOM = 256    # entries of the heap at first; it doubles

include "../_buffers.pxi"


cdef struct Entry:
    double distance
    double negative
    int32_t row
    int32_t previous


cdef struct SpreadingWave:
    Entry* heap
    Py_ssize_t count
    Py_ssize_t room
    int32_t* place          # by row, see SETTLED


cdef struct Level:
    Py_ssize_t rows
    Py_ssize_t regions
    Py_ssize_t legs
    int32_t* to_region
    int64_t* out_first
    int64_t* leg_first
    double* hop_m
    double* hop_kept


cdef struct Columns:
    Py_ssize_t room
    int32_t* row
    double* distance
    double* intensity
    int32_t* previous


def spread(ways, waiting, settled, range_m, faintest, until_m, most, reached, left):
    cdef Buffers of_ways = Buffers(), of_waiting = Buffers(), of_out = Buffers()
    cdef Level level
    cdef SpreadingWave wave
    borrow_level(of_ways, ways, &level)
    wave.place = <int32_t*> dense(of_ways, ways.scratch, "scratch", "i", 4, level.rows, PyBUF_WRITABLE).buf
    cdef Columns first = borrow_labels(of_waiting, waiting, "waiting", 0)
    cdef Py_buffer* before = dense(of_waiting, settled, "settled", "i", 4, 0, 0)
    cdef Columns out = borrow_labels(of_out, reached, "reached", PyBUF_WRITABLE)
    cdef Columns rest = borrow_labels(of_out, left, "left", PyBUF_WRITABLE)
    cdef Py_ssize_t limit = min(<Py_ssize_t> most, level.rows), found = 0, i
    cdef double farthest = range_m, least = faintest, until = until_m
    check_rows(first.row, first.room, level.rows)
    check_rows(<int32_t*> before.buf, before.shape[0], level.rows)
    if out.room < limit or rest.room < level.rows:
        raise ValueError(f"reached must have room for {limit} rows, and left for {level.rows}")
    wave.heap, wave.count, wave.room = NULL, 0, 0
    cdef int failed
    with nogil:
        failed = run(&level, &wave, &first, <int32_t*> before.buf, before.shape[0],
                     farthest, least, until, limit, &out, &found)
        i = 0
        while wave.count:
            put(&rest, i, take(&wave))
            wave.place[rest.row[i]] = 0
            i += 1
        clear(wave.place, out.row, found)
        clear(wave.place, <int32_t*> before.buf, before.shape[0])
        free(wave.heap)
    if failed == 1:
        raise MemoryError()
    if failed:
        raise IndexError("the ways of this graph do not fit together")
    return found, i


cdef Py_buffer* dense(Buffers held, object array, str name, Py_UCS4 kind, int size, Py_ssize_t rows, int flags) except NULL:
    """Borrow an array of one dimension whose elements lie side by side."""
    cdef Py_buffer* view = held.borrow(array, name, kind, size, 1, rows, 0, flags)
    if view.shape[0] > 1 and view.strides[0] != size:
        raise ValueError(f"{name} must not skip elements")
    return view


cdef int borrow_level(Buffers held, ways, Level* level) except -1:
    cdef Py_buffer* view = dense(held, ways.to_region, "to_region", "i", 4, 0, 0)
    cdef Py_ssize_t rows = view.shape[0]
    level.rows, level.to_region = rows, <int32_t*> view.buf
    view = dense(held, ways.out_first, "out_first", "i", 8, 1, 0)
    level.regions, level.out_first = view.shape[0] - 1, <int64_t*> view.buf
    level.leg_first = <int64_t*> dense(held, ways.leg_first, "leg_first", "i", 8, rows + 1, 0).buf
    view = dense(held, ways.hop_m, "hop_m", "f", 8, 0, 0)
    level.legs, level.hop_m = view.shape[0], <double*> view.buf
    level.hop_kept = <double*> dense(held, ways.hop_kept, "hop_kept", "f", 8, level.legs, 0).buf
    return 0


cdef Columns borrow_labels(Buffers held, labels, str name, int flags) except *:
    cdef Columns columns
    cdef Py_buffer* view = dense(held, labels[0], name + ".row", "i", 4, 0, flags)
    columns.room, columns.row = view.shape[0], <int32_t*> view.buf
    columns.distance = <double*> dense(held, labels[1], name + ".distance_m", "f", 8, columns.room, flags).buf
    columns.intensity = <double*> dense(held, labels[2], name + ".intensity", "f", 8, columns.room, flags).buf
    columns.previous = <int32_t*> dense(held, labels[3], name + ".previous", "i", 4, columns.room, flags).buf
    return columns


cdef int check_rows(int32_t* rows, Py_ssize_t count, Py_ssize_t limit) except -1:
    """Refuse rows that are not there: what follows reads memory by them."""
    cdef Py_ssize_t i
    for i in range(count):
        if rows[i] < 0 or rows[i] >= limit:
            raise IndexError(f"there is no passage {rows[i]}")
    return 0


cdef int run(
    Level* level, SpreadingWave* wave, Columns* first, int32_t* before, Py_ssize_t settled,
    double range_m, double faintest, double until_m, Py_ssize_t most, Columns* out, Py_ssize_t* found,
) noexcept nogil:
    """Return 0 if all went well, 1 without memory, 2 if rows do not fit together."""
    cdef Py_ssize_t i
    cdef int64_t leg, following, end
    cdef int32_t region
    cdef Entry entry, following_entry
    for i in range(settled):
        wave.place[before[i]] = SETTLED
    for i in range(first.room):
        entry.distance, entry.negative = first.distance[i], -first.intensity[i]
        entry.row, entry.previous = first.row[i], first.previous[i]
        if wave.place[entry.row] != SETTLED and offer(wave, entry):
            return 1
    while wave.count and found[0] < most and wave.heap[0].distance <= until_m:
        entry = take(wave)
        wave.place[entry.row] = SETTLED
        put(out, found[0], entry)
        found[0] += 1
        region = level.to_region[entry.row]
        leg = level.leg_first[entry.row]
        if region < 0 or region >= level.regions:
            return 2
        following, end = level.out_first[region], level.out_first[region + 1]
        if following < 0 or end > level.rows or leg < 0 or leg + end - following > level.legs:
            return 2
        while following < end:
            if wave.place[following] != SETTLED:
                following_entry.distance = entry.distance + level.hop_m[leg]
                following_entry.negative = entry.negative * level.hop_kept[leg]
                if (following_entry.distance <= range_m and -following_entry.negative >= faintest
                        and following_entry.negative < 0):
                    following_entry.row, following_entry.previous = <int32_t> following, entry.row
                    if offer(wave, following_entry):
                        return 1
            leg += 1
            following += 1
    return 0


cdef inline bint is_before(Entry* a, Entry* b) noexcept nogil:
    if a.distance != b.distance:
        return a.distance < b.distance
    if a.negative != b.negative:
        return a.negative < b.negative
    if a.row != b.row:
        return a.row < b.row
    return a.previous < b.previous


cdef int offer(SpreadingWave* wave, Entry entry) noexcept nogil:
    """Take in an arrival, unless an earlier one at the same passage waits; return 1 without memory."""
    cdef Py_ssize_t at = wave.place[entry.row] - 1
    cdef Entry* grown
    if at >= 0:
        if not is_before(&entry, &wave.heap[at]):
            return 0
    else:
        if wave.count == wave.room:
            grown = <Entry*> realloc(wave.heap, max(<Py_ssize_t> FIRST_ROOM, 2 * wave.room) * sizeof(Entry))
            if grown == NULL:
                return 1
            wave.heap, wave.room = grown, max(<Py_ssize_t> FIRST_ROOM, 2 * wave.room)
        at = wave.count
        wave.count += 1
    rise(wave, at, entry)
    return 0


cdef inline void rise(SpreadingWave* wave, Py_ssize_t at, Entry entry) noexcept nogil:
    cdef Py_ssize_t above
    while at:
        above = (at - 1) >> 1
        if not is_before(&entry, &wave.heap[above]):
            break
        wave.heap[at] = wave.heap[above]
        wave.place[wave.heap[at].row] = <int32_t> (at + 1)
        at = above
    wave.heap[at] = entry
    wave.place[entry.row] = <int32_t> (at + 1)


cdef Entry take(SpreadingWave* wave) noexcept nogil:
    """Take out the first arrival."""
    cdef Entry first = wave.heap[0], last
    cdef Py_ssize_t at = 0, below
    wave.count -= 1
    if wave.count == 0:
        return first
    last = wave.heap[wave.count]
    while True:
        below = 2 * at + 1
        if below >= wave.count:
            break
        if below + 1 < wave.count and is_before(&wave.heap[below + 1], &wave.heap[below]):
            below += 1
        if not is_before(&wave.heap[below], &last):
            break
        wave.heap[at] = wave.heap[below]
        wave.place[wave.heap[at].row] = <int32_t> (at + 1)
        at = below
    wave.heap[at] = last
    wave.place[last.row] = <int32_t> (at + 1)
    return first


cdef inline void put(Columns* columns, Py_ssize_t at, Entry entry) noexcept nogil:
    columns.row[at], columns.previous[at] = entry.row, entry.previous
    columns.distance[at], columns.intensity[at] = entry.distance, -entry.negative


cdef inline void clear(int32_t* place, int32_t* rows, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        place[rows[i]] = 0
