# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernels of ``following``: the same functions, the same results to the last bit.

Every operation on numbers is that of the twin, in its order and width; the compiler may
not fuse a product with a sum (built with -ffp-contract=off). Arrays come through the
buffer protocol and are BORROWED for one call. The GIL is kept: a pass takes microseconds.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, floor, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef enum:
    ID_BITS = 31            # of a source id in a key: pairs_in_view.ID_BITS
    SLOT_MASK = 0xFFFFF     # of an id that say which row: id_table.SLOT_BITS
    WIDEST = 1 << 16        # moments (count) that are counted one by one; beyond it rows are sorted

cdef double PHASE_STEP = (sqrt(5.0) - 1) / 2

include "../_buffers.pxi"
include "../_runs.pxi"


cdef float* places_run(Buffers held, array, str name, Py_ssize_t rows, int flags=0) except? NULL:
    cdef Py_buffer* view = held.borrow(array, name, "f", 4, 2, rows, 3, flags)
    if view.shape[0] and (view.strides[0] != 12 or view.strides[1] != 4):
        raise ValueError(f"{name} must hold rows of 3 in one run of memory")
    return <float*> view.buf


def sensing(keys, is_sensed):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, n = len(keys)
    cdef int64_t* key = <int64_t*> run_of(held, keys, "keys", "i", 8, n)
    cdef uint8_t* senses = flags_of(held, is_sensed, "is_sensed", n)
    cdef int64_t last = -1
    cdef list found = []
    for i in range(n):
        if senses[i] and key[i] >> ID_BITS != last:
            last = key[i] >> ID_BITS
            found.append(last)
    return found


def are_sensing(keys, is_sensed, ids):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, n = len(keys), count = 0, wanted = len(ids)
    cdef int64_t* key = <int64_t*> run_of(held, keys, "keys", "i", 8, n)
    cdef uint8_t* senses = flags_of(held, is_sensed, "is_sensed", n)
    cdef int64_t* id = <int64_t*> run_of(held, ids, "ids", "i", 8, wanted)
    cdef int64_t last = -1
    for i in range(n):
        if senses[i] and key[i] >> ID_BITS != last:
            last = key[i] >> ID_BITS
            if count == wanted or id[count] != last:
                return False
            count += 1
    return count == wanted


def shown(keys, is_sensed, told_at_s, intensity, Py_ssize_t first, Py_ssize_t end, ids_of_slots, positions,
          double now_s, double tell_every_s, out):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, count = 0, room = max(0, end - first)
    if not 0 <= first <= end:
        raise IndexError(f"rows {first} to {end}")
    cdef int64_t* key = <int64_t*> run_of(held, keys, "keys", "i", 8, end)
    cdef uint8_t* senses = flags_of(held, is_sensed, "is_sensed", end)
    cdef double* told_s = <double*> run_of(held, told_at_s, "told_at_s", "f", 8, end)
    cdef int32_t* ids = <int32_t*> run_of(held, ids_of_slots, "ids_of_slots", "i", 4, 0)
    cdef Py_ssize_t slots = len(ids_of_slots)
    cdef double* strength = <double*> run_of(held, intensity, "intensity", "f", 8, end)
    cdef Py_buffer* position = held.borrow(positions, "positions", "f", 4, 2, slots, 3)
    cdef int64_t* rows = <int64_t*> run_of(held, out[0], "rows", "i", 8, room, PyBUF_WRITABLE)
    cdef int64_t* out_key = <int64_t*> run_of(held, out[1], "keys", "i", 8, room, PyBUF_WRITABLE)
    cdef int32_t* out_source = <int32_t*> run_of(held, out[2], "sources", "i", 4, room, PyBUF_WRITABLE)
    cdef double* out_strength = <double*> run_of(held, out[3], "intensity", "f", 8, room, PyBUF_WRITABLE)
    cdef float* place = places_run(held, out[4], "position", room, PyBUF_WRITABLE)
    cdef uint8_t* is_told = flags_of(held, out[5], "is_told", room, PyBUF_WRITABLE)
    cdef Py_ssize_t axis
    cdef int32_t source
    cdef double phase
    for i in range(first, end):
        if not senses[i]:
            continue
        source = <int32_t> (key[i] & ((<int64_t> 1 << ID_BITS) - 1))
        if (source & SLOT_MASK) >= slots or ids[source & SLOT_MASK] != source:
            continue
        rows[count], out_key[count], out_source[count], out_strength[count] = i, key[i], source, strength[i]
        for axis in range(3):
            place[3 * count + axis] = float32_at(position, source & SLOT_MASK, axis)
        is_told[count] = now_s >= told_s[i] + tell_every_s / 2
        if is_told[count] and tell_every_s > 0:
            phase = <double> (key[i] >> ID_BITS) * PHASE_STEP
            phase = phase - floor(phase)      # exact, as a remainder is
            is_told[count] = floor(now_s / tell_every_s - phase) > floor(told_s[i] / tell_every_s - phase)
        count += 1
    return count


ctypedef struct Followed:
    int64_t* key
    int32_t* number
    double* at_s
    double* begun_s
    double* begun
    double* slope
    double* rise
    double* fall


cdef inline double value_at(double begun, double slope, double begun_s, double now_s) noexcept nogil:
    cdef double line = begun + slope * (now_s - begun_s)
    line = line if line > 0 else 0
    return line if line < 1 else 1


def dirty_sensors(rows, Py_ssize_t first, Py_ssize_t end, keys, intensity, number, double now_s):
    cdef Buffers held = Buffers()
    cdef Followed all
    cdef Py_ssize_t n = len(keys), i = first, j = 0
    if not 0 <= first <= end:
        raise IndexError(f"rows {first} to {end}")
    all.key = <int64_t*> run_of(held, rows["key"], "key", "i", 8, end)
    all.number = <int32_t*> run_of(held, rows["number"], "number", "i", 4, end)
    all.at_s = <double*> run_of(held, rows["at_s"], "at_s", "f", 8, end)
    all.begun_s = <double*> run_of(held, rows["begun_s"], "begun_s", "f", 8, end)
    all.begun = <double*> run_of(held, rows["begun"], "begun", "f", 8, end)
    all.slope = <double*> run_of(held, rows["slope"], "slope", "f", 8, end)
    all.rise = <double*> run_of(held, rows["rise"], "rise", "f", 8, end)
    all.fall = <double*> run_of(held, rows["fall"], "fall", "f", 8, end)
    cdef int64_t* key = <int64_t*> run_of(held, keys, "keys", "i", 8, n)
    cdef double* strength = <double*> run_of(held, intensity, "intensity", "f", 8, n)
    cdef int64_t* kind = <int64_t*> run_of(held, number, "number", "i", 8, n)
    cdef list found = []
    cdef int64_t last = -1
    while i < end or j < n:
        if j == n or (i < end and all.key[i] < key[j]):
            note(found, &last, all.key[i])                   # not there any more
            i += 1
        elif i == end or key[j] < all.key[i]:
            note(found, &last, key[j])                       # new, or there by two senses
            j += 1
        else:
            if kind[j] != all.number[i] or strength[j] <= 0 or happens(&all, i, now_s):
                note(found, &last, key[j])
            i += 1
            j += 1
    return found


cdef inline bint happens(Followed* all, Py_ssize_t i, double now_s) noexcept nogil:
    """Return whether a level is crossed, or it is no later than at the last look."""
    cdef double value = value_at(all.begun[i], all.slope[i], all.begun_s[i], now_s)
    return value >= all.rise[i] or value <= all.fall[i] or now_s <= all.at_s[i]


cdef int note(list found, int64_t* last, int64_t key) except -1:
    if key >> ID_BITS != last[0]:
        last[0] = key >> ID_BITS
        found.append(last[0])


def move_on(rows, Py_ssize_t first, Py_ssize_t end, intensity, position, double now_s):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, n = end - first
    if not 0 <= first <= end:
        raise IndexError(f"rows {first} to {end}")
    cdef float* place = places_run(held, rows["position"], "position", end, PyBUF_WRITABLE)
    cdef float* before = places_run(held, rows["before"], "before", end, PyBUF_WRITABLE)
    cdef double* at_s = <double*> run_of(held, rows["at_s"], "at_s", "f", 8, end, PyBUF_WRITABLE)
    cdef double* before_s = <double*> run_of(held, rows["before_s"], "before_s", "f", 8, end, PyBUF_WRITABLE)
    cdef double* strength = <double*> run_of(held, rows["intensity"], "intensity", "f", 8, end, PyBUF_WRITABLE)
    cdef double* begun = <double*> run_of(held, rows["begun"], "begun", "f", 8, end, PyBUF_WRITABLE)
    cdef double* begun_s = <double*> run_of(held, rows["begun_s"], "begun_s", "f", 8, end, PyBUF_WRITABLE)
    cdef double* slope = <double*> run_of(held, rows["slope"], "slope", "f", 8, end, PyBUF_WRITABLE)
    cdef double* gain = <double*> run_of(held, rows["gain"], "gain", "f", 8, end)
    cdef double* now_strength = <double*> run_of(held, intensity, "intensity", "f", 8, n)
    cdef float* now_place = places_run(held, position, "position", n)
    memcpy(before + 3 * first, place + 3 * first, 3 * n * sizeof(float))
    memcpy(place + 3 * first, now_place, 3 * n * sizeof(float))
    for i in range(first, end):
        before_s[i], at_s[i] = at_s[i], now_s
        if strength[i] != now_strength[i - first]:
            begun[i] = value_at(begun[i], slope[i], begun_s[i], now_s)
            begun_s[i] = now_s
            slope[i] = now_strength[i - first] * gain[i]
            strength[i] = now_strength[i - first]


def first_in_line(since, Py_ssize_t most, out_rows):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, n = len(since), wanted = min(n, max(<Py_ssize_t> 0, most)), taken = 0, place
    cdef int64_t* moment = <int64_t*> run_of(held, since, "since", "i", 8, n)
    cdef int64_t* rows = <int64_t*> run_of(held, out_rows, "out_rows", "i", 8, wanted, PyBUF_WRITABLE)
    cdef int64_t least, largest, width, last
    cdef Py_ssize_t* starts
    if wanted == 0:
        return 0
    least = largest = moment[0]
    for i in range(n):
        least = min(least, moment[i])
        largest = max(largest, moment[i])
    width = largest - least + 1
    if width > WIDEST:
        found = sorted(range(n), key=since.tolist().__getitem__)[:wanted]
        for i in range(wanted):
            rows[i] = found[i]
        return wanted
    starts = <Py_ssize_t*> calloc(width, sizeof(Py_ssize_t))
    if starts == NULL:
        raise MemoryError()
    for i in range(n):
        starts[moment[i] - least] += 1
    for last in range(width):                # where each moment begins in the line
        place = starts[last]
        starts[last] = taken
        taken += place
        if taken >= wanted:
            break
    for i in range(n):
        if moment[i] - least <= last:
            place = starts[moment[i] - least]
            starts[moment[i] - least] += 1
            if place < wanted:
                rows[place] = i
    free(starts)
    return wanted


def note_answers(rows, is_free, int64_t moment, is_sensed, told_at_s, waiting_since):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, n = len(rows), most = len(waiting_since)
    cdef int64_t* row = <int64_t*> run_of(held, rows, "rows", "i", 8, n)
    cdef uint8_t* free_line = flags_of(held, is_free, "is_free", n)
    cdef uint8_t* senses = flags_of(held, is_sensed, "is_sensed", most, PyBUF_WRITABLE)
    cdef double* told_s = <double*> run_of(held, told_at_s, "told_at_s", "f", 8, most, PyBUF_WRITABLE)
    cdef int64_t* since = <int64_t*> run_of(held, waiting_since, "waiting_since", "i", 8, most, PyBUF_WRITABLE)
    cdef int64_t one, oldest = 0
    for i in range(n):
        one = row[i]
        if not 0 <= one < most:
            raise IndexError(f"there is no row {one}")
        oldest = since[one] if i == 0 else min(oldest, since[one])
    for i in range(n):
        one = row[i]
        senses[one] = free_line[i]
        if not free_line[i]:
            told_s[one] = -INFINITY
        since[one] = moment
    return oldest


def places_of(positions, ids, out):
    cdef Buffers held = Buffers()
    cdef Py_ssize_t i, axis, slot, n = len(ids)
    cdef Py_buffer* position = held.borrow(positions, "positions", "f", 4, 2, 0, 3)
    cdef int32_t* one = <int32_t*> run_of(held, ids, "ids", "i", 4, n)
    cdef float* place = places_run(held, out, "out", n, PyBUF_WRITABLE)
    for i in range(n):
        slot = one[i] & SLOT_MASK
        if one[i] < 0 or slot >= position.shape[0]:
            raise IndexError("an id has no row")
        for axis in range(3):
            place[3 * i + axis] = float32_at(position, slot, axis)
