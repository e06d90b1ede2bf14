# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``smell_flow``: the same function, the same results to the last bit.

Every sum goes in the order of rows, then of passages, as NumPy's ``bincount`` adds.
Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

INTERFACE = 3
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    LONG = 512      # rows from which on the GIL is released (count): some 5 us

include "../_buffers.pxi"


cdef struct Level:
    Py_ssize_t rows
    Py_ssize_t regions
    int64_t* out_first
    int32_t* to_region
    double* start
    double* away_m
    double* share
    double* leaves
    int64_t* in_first
    int32_t* from_into
    double* share_into
    double* stays
    double* faint
    int32_t* place          # by region: its row of the cloud + 1, below 0 that of a newcomer - 1
    double seconds_per_metre


cdef struct Cloud:
    Py_ssize_t count
    int32_t* region
    double* mass
    double* arrived_s
    double* free_s
    double* entry
    double* after


cdef struct NewRegions:
    Py_ssize_t count
    int32_t* region
    double* mass
    double* arrived_s
    int32_t* via


def flow(plan, cloud, now_s, mass, came):
    cdef Buffers of_plan = Buffers(), of_cloud = Buffers(), of_came = Buffers()
    cdef Level level
    cdef Cloud here
    cdef NewRegions new
    borrow_plan(of_plan, plan, &level)
    cdef Py_buffer* view = dense(of_cloud, cloud.region, "region", "i", 4, 0, 0)
    here.count, here.region = view.shape[0], <int32_t*> view.buf
    here.mass = <double*> dense(of_cloud, cloud.mass, "mass", "f", 8, here.count, 0).buf
    here.arrived_s = <double*> dense(of_cloud, cloud.arrived_s, "arrived_s", "f", 8, here.count, 0).buf
    here.free_s = <double*> dense(of_cloud, cloud.free_s, "free_s", "f", 8, here.count, 0).buf
    here.entry = <double*> triples(of_cloud, cloud.entry, "entry", here.count).buf
    here.after = <double*> dense(of_cloud, mass, "mass", "f", 8, here.count, PyBUF_WRITABLE).buf
    new.count = 0
    new.region = <int32_t*> dense(of_came, came.region, "came.region", "i", 4, level.regions, PyBUF_WRITABLE).buf
    new.mass = <double*> dense(of_came, came.mass, "came.mass", "f", 8, level.regions, PyBUF_WRITABLE).buf
    new.arrived_s = <double*> dense(
        of_came, came.arrived_s, "came.arrived_s", "f", 8, level.regions, PyBUF_WRITABLE).buf
    new.via = <int32_t*> dense(of_came, came.via, "came.via", "i", 4, level.regions, PyBUF_WRITABLE).buf
    cdef double now = now_s
    cdef Py_ssize_t i
    cdef int falls = 0
    for i in range(1, here.count):
        falls |= here.region[i] <= here.region[i - 1]
    if here.count and (falls or here.region[0] < 0 or here.region[here.count - 1] >= level.regions):
        raise IndexError("the regions of a cloud must ascend, and be there")
    cdef double* gained = <double*> dense(
        of_cloud, plan.gained, "gained", "f", 8, level.regions, PyBUF_WRITABLE).buf
    cdef int failed
    if here.count >= LONG:
        with nogil:
            failed = run(&level, &here, &new, now, gained)
    else:
        failed = run(&level, &here, &new, now, gained)
    if failed:
        raise IndexError("the ways of this graph do not fit together")
    return new.count


cdef Py_buffer* dense(Buffers held, object array, str name, Py_UCS4 kind, int size, Py_ssize_t rows, int flags) except NULL:
    """Borrow an array of one dimension whose elements lie side by side."""
    cdef Py_buffer* view = held.borrow(array, name, kind, size, 1, rows, 0, flags)
    if view.shape[0] > 1 and view.strides[0] != size:
        raise ValueError(f"{name} must not skip elements")
    return view


cdef Py_buffer* triples(Buffers held, object array, str name, Py_ssize_t rows) except NULL:
    """Borrow points that lie one after the other."""
    cdef Py_buffer* view = held.borrow(array, name, "f", 8, 2, rows, 3 if rows else 0)
    if view.shape[0] > 1 and (view.strides[0] != 24 or view.strides[1] != 8):
        raise ValueError(f"{name} must not skip elements")
    return view


cdef int borrow_plan(Buffers held, plan, Level* level) except -1:
    ways = plan.ways
    cdef Py_buffer* view = dense(held, ways.to_region, "to_region", "i", 4, 0, 0)
    cdef Py_ssize_t rows = view.shape[0]
    level.rows, level.to_region = rows, <int32_t*> view.buf
    view = dense(held, ways.out_first, "out_first", "i", 8, 1, 0)
    cdef Py_ssize_t regions = view.shape[0] - 1
    level.regions, level.out_first = regions, <int64_t*> view.buf
    level.start = <double*> triples(held, ways.start, "start", rows).buf
    level.away_m = <double*> dense(held, plan.away_m, "away_m", "f", 8, rows, 0).buf
    level.share = <double*> dense(held, plan.share, "share", "f", 8, rows, 0).buf
    level.leaves = <double*> dense(held, plan.leaves, "leaves", "f", 8, regions, 0).buf
    level.in_first = <int64_t*> dense(held, ways.in_first, "in_first", "i", 8, regions + 1, 0).buf
    level.from_into = <int32_t*> dense(held, plan.from_into, "from_into", "i", 4, rows, 0).buf
    level.share_into = <double*> dense(held, plan.share_into, "share_into", "f", 8, rows, 0).buf
    level.stays = <double*> dense(held, plan.stays, "stays", "f", 8, regions, 0).buf
    level.faint = <double*> dense(held, plan.faint, "faint", "f", 8, regions, 0).buf
    level.place = <int32_t*> dense(held, plan.scratch, "scratch", "i", 4, regions, PyBUF_WRITABLE).buf
    level.seconds_per_metre = plan.seconds_per_metre
    return 0


cdef int run(Level* level, Cloud* here, NewRegions* new, double now_s, double* gained) noexcept nogil:
    """Return 1 if rows do not fit together."""
    cdef Py_ssize_t i
    cdef int64_t k, end
    cdef int32_t region
    cdef bint is_everywhere = here.count == level.regions
    for i in range(here.count):
        is_everywhere &= now_s >= here.free_s[i]
    if is_everywhere:
        return run_everywhere(level, here, gained)
    cdef int failed = 0
    for i in range(here.count):
        level.place[here.region[i]] = <int32_t> (i + 1)
        gained[i] = 0
    for i in range(here.count):
        region = here.region[i]
        here.after[i] = 0
        if here.mass[i] < level.faint[region]:
            continue
        k, end = level.out_first[region], level.out_first[region + 1]
        if k < 0 or end > level.rows or leave(level, here, new, i, k, end, now_s, gained):
            failed = 1
            break
    for i in range(here.count):
        level.place[here.region[i]] = 0
        here.after[i] = (here.mass[i] - here.after[i] + gained[i]) * level.stays[here.region[i]]
    for i in range(new.count):
        level.place[new.region[i]] = 0
        new.mass[i] = new.mass[i] * level.stays[new.region[i]]
    return failed


cdef int run_everywhere(Level* level, Cloud* here, double* spreads) noexcept nogil:
    """The same where every region smells and nothing is held up: what comes in is fetched, in the same order."""
    cdef Py_ssize_t i
    cdef int64_t k, end
    cdef double gained
    cdef int32_t* from_into = level.from_into
    cdef double* share_into = level.share_into
    cdef int64_t* in_first = level.in_first
    cdef int32_t bad = 0, regions = <int32_t> level.regions
    for i in range(level.rows):  # checked apart from the sums, which go twice as fast without
        bad |= (from_into[i] < 0) | (from_into[i] >= regions)
    if bad:
        return 1
    for i in range(here.count):
        spreads[i] = here.mass[i] if here.mass[i] >= level.faint[i] else 0
    k = 0
    for i in range(here.count):
        end = in_first[i + 1]
        if end > level.rows:
            return 1
        gained = 0
        while k < end:
            gained += spreads[from_into[k]] * share_into[k]
            k += 1
        here.after[i] = (here.mass[i] - spreads[i] * level.leaves[i] + gained) * level.stays[i]
    return 0


cdef inline bint leave(
    Level* level, Cloud* here, NewRegions* new, Py_ssize_t i, int64_t k, int64_t end, double now_s, double* gained,
) noexcept nogil:
    """Let a row flow through its passages, and note in ``after`` how much of it left; True if rows do not fit."""
    cdef double left = 0, mass = here.mass[i], moved, ready_s
    cdef bint is_free = now_s >= here.free_s[i]
    cdef int32_t place
    while k < end:
        if level.to_region[k] < 0 or level.to_region[k] >= level.regions:
            return True
        moved = mass * level.share[k]
        place = level.place[level.to_region[k]]
        if place > 0 and is_free:  # what is shut adds 0, which changes nothing
            gained[place - 1] += moved
        elif moved > 0:
            ready_s = ready_at(level, here, i, k)
            if is_free and ready_s > now_s:  # the wind has turned since; what is under way is not lost
                ready_s = now_s
            if ready_s <= now_s:
                left += moved
                if place > 0:
                    gained[place - 1] += moved
                else:
                    come(level, new, place, k, moved, ready_s)
        k += 1
    here.after[i] = mass * level.leaves[here.region[i]] if is_free else left
    return False


cdef inline double ready_at(Level* level, Cloud* here, Py_ssize_t i, int64_t k) noexcept nogil:
    """Return when the scent of a row may be through a passage."""
    cdef double* a = here.entry + 3 * i
    cdef double* b = level.start + 3 * k
    cdef double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2]
    return here.arrived_s[i] + (sqrt(x * x + y * y + z * z) + level.away_m[k]) * level.seconds_per_metre


cdef inline void come(
    Level* level, NewRegions* new, int32_t place, int64_t k, double moved, double ready_s,
) noexcept nogil:
    cdef Py_ssize_t at
    if place < 0:
        at = -place - 1
        new.mass[at] += moved
        if ready_s < new.arrived_s[at] or (ready_s == new.arrived_s[at] and k < new.via[at]):
            new.arrived_s[at], new.via[at] = ready_s, <int32_t> k
        return
    at = new.count
    new.count += 1
    new.region[at], new.mass[at] = level.to_region[k], moved
    new.arrived_s[at], new.via[at] = ready_s, <int32_t> k
    level.place[new.region[at]] = <int32_t> (-at - 1)
