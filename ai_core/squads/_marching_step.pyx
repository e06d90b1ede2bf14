# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``marching_step``: the same function, the same results to the last bit.

Arrays come through the buffer protocol and are BORROWED for one call. GIL: kept; a squad takes some microseconds.
"""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE
from libc.math cimport INFINITY, fabs, sqrt

INTERFACE = 2
"""Changes with any change of names, arguments, constants or results, here and in the twin."""

include "../senses/_buffers.pxi"

cdef double PROBE_M = 0.25, LOOK_M = 1.0, STILL = 0.05, TOWARDS = 0.05, FLOOR_M = 2.0

cdef enum:
    MOST_DIMENSIONS = 3


cdef struct March:
    double* samples              # rows of a place, the direction to the right, what is free left and right
    Py_ssize_t sample_count, width, dimensions, count
    int64_t search_count
    double first_m, last_m, length_m, step_m, search_from_m, search_gap_m
    double pace, wait_from, wait_at, patience_s, response_s, tolerance_m
    double anchor_m, elapsed_s, spacing_m, low, high
    bint is_at_end
    double* offsets
    double* positions
    double* speeds
    double* arcs
    double* away
    double* late_s
    double* nearest_m
    double* destinations
    double* velocities           # while a step is made: how slots move for each metre
    double* rises
    char* is_straggler
    char* is_detached


def march_step(samples, course, offsets, marchers, style, double anchor_m, double elapsed_s, double spacing_m):
    """As the twin says."""
    cdef Buffers held = Buffers()
    cdef March one
    cdef Py_buffer* view = held.borrow(samples, "samples", "f", 8, 2, 2, 6, PyBUF_C_CONTIGUOUS)
    one.samples, one.sample_count, one.width = <double*>view.buf, view.shape[0], view.shape[1]
    one.dimensions = one.width // 2 - 1
    if one.dimensions > MOST_DIMENSIONS or one.width % 2:
        raise ValueError(f"samples must have 6 or 8 columns, got {one.width}")
    view = held.borrow(offsets, "offsets", "f", 8, 2, 1, 2, PyBUF_C_CONTIGUOUS)
    one.offsets, one.count = <double*>view.buf, view.shape[0]
    if view.shape[1] != 2:
        raise ValueError(f"offsets must have 2 columns, got {view.shape[1]}")
    one.positions = places_of(held, marchers.positions, "positions", &one)
    one.destinations = places_of(held, marchers.destinations, "destinations", &one)
    one.velocities = places_of(held, marchers.velocities, "velocities", &one)
    one.speeds = numbers_of(held, marchers.speeds, "speeds", &one)
    one.rises = numbers_of(held, marchers.rises, "rises", &one)
    one.arcs = numbers_of(held, marchers.arcs, "arcs", &one)
    one.away = numbers_of(held, marchers.away, "away", &one)
    one.late_s = numbers_of(held, marchers.late_s, "late_s", &one)
    one.nearest_m = numbers_of(held, marchers.nearest_m, "nearest_m", &one)
    one.is_straggler = flags_of(held, marchers.is_straggler, "is_straggler", &one)
    one.is_detached = flags_of(held, marchers.is_detached, "is_detached", &one)
    (one.first_m, one.last_m, one.length_m, one.step_m, one.search_from_m, one.search_gap_m,
     one.search_count) = as_tuple(course, 7)
    one.pace, one.wait_from, one.wait_at, one.patience_s, one.response_s, one.tolerance_m = as_tuple(style, 6)
    one.anchor_m, one.elapsed_s, one.spacing_m = anchor_m, elapsed_s, spacing_m
    go(&one)
    return one.anchor_m


cdef double* places_of(Buffers held, object array, str name, March* one) except NULL:
    cdef Py_buffer* view = held.borrow(
        array, name, "f", 8, 2, one.count, one.dimensions, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    if view.shape[0] != one.count or view.shape[1] != one.dimensions:
        raise ValueError(f"{name} must be {one.count} rows of {one.dimensions}, got {view.shape[0]} of {view.shape[1]}")
    return <double*>view.buf


cdef double* numbers_of(Buffers held, object array, str name, March* one) except NULL:
    cdef Py_buffer* view = held.borrow(array, name, "f", 8, 1, one.count, 0, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    if view.shape[0] != one.count:
        raise ValueError(f"{name} must be {one.count} rows, got {view.shape[0]}")
    return <double*>view.buf


cdef char* flags_of(Buffers held, object array, str name, March* one) except NULL:
    cdef Py_buffer* view = held.borrow_flags(array, name, 1, one.count, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    if view.shape[0] != one.count:
        raise ValueError(f"{name} must be {one.count} rows, got {view.shape[0]}")
    return <char*>view.buf


cdef void go(March* one) noexcept nogil:
    cdef Py_ssize_t i, axis
    cdef double slot[MOST_DIMENSIONS]
    cdef double probe = least(one.anchor_m + PROBE_M, one.length_m), came = 0, speed = 0
    cdef double fastest = 0, squared, wanted, lag
    cdef double* flow
    cdef bint are_all_detached = True
    one.is_at_end = one.anchor_m >= one.length_m
    one.low = one.high = one.offsets[1]
    for i in range(1, one.count):
        one.low, one.high = least(one.low, one.offsets[2 * i + 1]), most(one.high, one.offsets[2 * i + 1])
    for i in range(one.count):
        flow = &one.velocities[i * one.dimensions]
        lane(one, one.anchor_m + one.offsets[2 * i], one.offsets[2 * i + 1], slot)
        lane(one, probe + one.offsets[2 * i], one.offsets[2 * i + 1], flow)
        squared = 0
        for axis in range(one.dimensions):
            flow[axis] = (flow[axis] - slot[axis]) / PROBE_M
            squared += flow[axis] * flow[axis]
        fastest = most(fastest, squared)
        wanted = most(one.anchor_m + one.offsets[2 * i], one.first_m)
        one.arcs[i] = come_to(one, i, wanted)
        came += one.arcs[i]
        are_all_detached = are_all_detached and one.is_detached[i]
        one.away[i] = 0 if waits(one, i, one.anchor_m, wanted - one.arcs[i]) else distance(one, i, slot)
    # Where slots come to, and not where they were, is written where they are led to: these are needed once more.
    probe = one.anchor_m
    if are_all_detached:
        one.anchor_m = most(one.anchor_m, least(came / one.count, one.length_m))
    else:
        speed = least(pace_of(one, fastest) * one.elapsed_s, one.length_m - one.anchor_m)
        one.anchor_m += speed
        speed = speed / one.elapsed_s if one.elapsed_s > 0 else 0
    for i in range(one.count):
        lag = most(probe + one.offsets[2 * i], one.first_m) - one.arcs[i]
        steer(one, i, lag, speed, waits(one, i, probe, lag))


cdef inline bint waits(March* one, Py_ssize_t i, double anchor_m, double lag) noexcept nogil:
    """Return whether somebody has a task of his own, is not on the path yet, or his slot comes to him."""
    return (one.is_detached[i] or anchor_m + one.offsets[2 * i] < one.first_m
            or (not one.is_at_end and lag < -one.spacing_m))


cdef double come_to(March* one, Py_ssize_t i, double wanted) noexcept nogil:
    """Return how far somebody has come on his lane: of what is about where he was, and towards the wanted arc."""
    cdef double place[MOST_DIMENSIONS]
    cdef double tried, first = 0, last = 0, away, nearest = INFINITY, found = 0
    cdef int64_t number
    for number in range(one.search_count + 1):
        if number < one.search_count:
            tried = last = one.arcs[i] + (one.search_from_m + <double>number * one.search_gap_m)
            if number == 0:
                first = tried
        else:
            tried = least(most(wanted, first), last)
        tried = least(most(tried, one.first_m), one.last_m)
        lane(one, tried, one.offsets[2 * i + 1], place)
        away = distance(one, i, place) + TOWARDS * fabs(tried - wanted)
        if away < nearest:
            nearest, found = away, tried
    return found


cdef double pace_of(March* one, double fastest) noexcept nogil:
    """Return how fast the commander's slot goes (m/s), so that all can come along; note who is late."""
    cdef double still = one.wait_at - STILL * (one.wait_at - one.wait_from), worst = 0, slowest = INFINITY
    cdef double limit_m = one.tolerance_m if one.is_at_end else still * one.spacing_m, away, slowest_of_all = INFINITY
    cdef bint is_late, comes_nearer
    cdef Py_ssize_t i
    for i in range(one.count):
        away = one.away[i]
        is_late, comes_nearer = away > limit_m, away < one.nearest_m[i] - 0.05 * limit_m
        if not is_late:
            one.nearest_m[i] = INFINITY
        elif comes_nearer:
            one.nearest_m[i] = away
        one.late_s[i] = one.late_s[i] + one.elapsed_s if is_late and not comes_nearer else 0
        one.is_straggler[i] = (one.is_straggler[i] or one.late_s[i] > one.patience_s) and away > 0.5 * limit_m
        slowest_of_all = least(slowest_of_all, one.speeds[i])
        if not one.is_straggler[i]:
            worst, slowest = most(worst, away), least(slowest, one.speeds[i])
    if slowest == INFINITY:
        slowest = slowest_of_all
    away = (one.wait_at - worst / one.spacing_m) / (one.wait_at - one.wait_from)
    return one.pace * slowest / most(1, sqrt(fastest)) * least(1, most(0, away))


cdef void steer(March* one, Py_ssize_t i, double lag, double speed, bint stays) noexcept nogil:
    """Write where somebody is to go and how: with his slot, and towards it; not beyond it, nor faster than he can."""
    cdef double look = most(LOOK_M, 1.2 * one.response_s * one.speeds[i]), length, share
    cdef double* here = &one.positions[i * one.dimensions]
    cdef double* target = &one.destinations[i * one.dimensions]
    cdef double* velocity = &one.velocities[i * one.dimensions]
    cdef double own[MOST_DIMENSIONS]
    cdef bint follows = fabs(lag) <= look and not stays
    cdef Py_ssize_t axis, last = one.dimensions - 1
    lane(one, one.arcs[i] + least(most(lag, -look), look), one.offsets[2 * i + 1], target)
    if one.dimensions == 3:
        lane(one, one.arcs[i], one.offsets[2 * i + 1], own)
        one.rises[i] = 0
        if not stays and fabs(here[1] - own[1]) <= FLOOR_M:
            one.rises[i] = (velocity[1] * speed if follows else 0) + (target[1] - own[1]) / most(one.response_s, one.elapsed_s)
    for axis in range(one.dimensions):
        if stays:
            target[axis] = here[axis]
        velocity[axis] = velocity[axis] * speed if follows else 0
        velocity[axis] += (target[axis] - here[axis]) / most(one.response_s, one.elapsed_s)
    length = sqrt(velocity[0] * velocity[0] + velocity[last] * velocity[last])
    share = least(1, one.speeds[i] / most(length, 1e-9))
    for axis in range(one.dimensions):
        velocity[axis] *= share
    one.rises[i] *= share


cdef void lane(March* one, double arc, double right_m, double* out) noexcept nogil:
    """Write the place beside the path, moved together where it is narrow."""
    cdef double place = least(most((arc - one.first_m) / one.step_m, 0), <double>(one.sample_count - 1))
    cdef Py_ssize_t row = <Py_ssize_t>place, axis
    if row > one.sample_count - 2:
        row = one.sample_count - 2
    cdef double share = place - <double>row, wide = one.high - one.low
    cdef double* at = one.samples + row * one.width
    cdef double* to = at + one.width
    cdef double left = at[one.width - 2] + (to[one.width - 2] - at[one.width - 2]) * share
    cdef double right = at[one.width - 1] + (to[one.width - 1] - at[one.width - 1]) * share
    cdef double aside, room = left + right
    if wide == 0:
        aside = least(most(right_m, -left), right)
    elif room >= wide:
        aside = least(most(one.low, -left), right - wide) + (right_m - one.low)
    else:
        aside = -left + (right_m - one.low) * (room / wide)
    for axis in range(one.dimensions):
        out[axis] = (at[axis] + (to[axis] - at[axis]) * share) + (
            at[one.dimensions + axis] + (to[one.dimensions + axis] - at[one.dimensions + axis]) * share) * aside


cdef inline double distance(March* one, Py_ssize_t i, double* place) noexcept nogil:
    """Return how far somebody is from a place, in the plane."""
    cdef double* here = &one.positions[i * one.dimensions]
    cdef Py_ssize_t last = one.dimensions - 1
    cdef double x = place[0] - here[0], y = place[last] - here[last]
    return sqrt(x * x + y * y)


cdef inline double least(double one, double other) noexcept nogil:
    return one if one < other else other


cdef inline double most(double one, double other) noexcept nogil:
    return one if one > other else other
