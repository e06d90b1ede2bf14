# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernels of ``sight_kernels``: the same functions, the same results to the last bit.

Rules that keep them the same: every operation on numbers is that of the twin, in
its order and width; the compiler may not fuse a product with a sum (built with
-ffp-contract=off); powers and roots are the C library's, as in Python's ``**``.
What may differ is how candidates are found: both forms test each one exactly.

Arrays come through the buffer protocol and are BORROWED for one call: ``Buffers``
gives all of them back when it goes. The GIL is released for ``LONG`` loops only,
because getting it back can take longer than a short loop.
"""
from cpython.buffer cimport PyBUF_WRITABLE
from libc.math cimport INFINITY, fabs, isfinite, pow, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    ID_BITS = 31            # of a source id in a key: pairs_in_view.ID_BITS
    SLOT_MASK = 0xFFFFF     # of an id that say which row: id_table.SLOT_BITS
    LONG = 4096             # tests from which on the GIL is released (count): some 5 us

include "_buffers.pxi"
include "_near.pxi"

cdef double BORDER_TOLERANCE = 1e-6     # sight.BORDER_TOLERANCE
cdef double NO_RIGHT = 1e-6             # sight.NO_RIGHT


cdef struct Eye:
    double at[3]
    double right[3]
    double above[3]
    double ahead[3]
    double threshold
    int64_t notices
    int64_t own_source
    Py_ssize_t slot


cdef struct Look:
    Py_buffer* position
    Py_buffer* forward
    Py_buffer* threshold
    Py_buffer* notices
    Py_buffer* own_source
    Py_buffer* cones
    Py_ssize_t number
    double range_m
    double attenuation
    bint needs_cone
    double up[3]
    double aside[3]


cdef struct Hit:
    Py_ssize_t slot
    double distance
    double intensity


def pairs_in_reach(sensors, sensor_ids, sources, source_ids, sense, out_keys, out_intensity):
    cdef Buffers held = Buffers()
    cdef Look look
    look.number, look.range_m, look.attenuation, look.needs_cone = sense[:4]
    look.up = sense[4]
    look.aside = sense[5]
    borrow_sensors(held, sensors, &look)
    cdef Py_ssize_t rows = look.position.shape[0]
    look.forward = held.borrow(sensors.forward, "forward", "f", 4, 2, rows, 3)
    look.cones = held.borrow(sensors.cones, "cones", "f", 8, 3, rows, 4)
    cdef Py_buffer* ids = held.borrow(sensor_ids, "sensor_ids", "i", 4, 1)
    cdef Py_buffer* keys = held.borrow(out_keys, "out_keys", "i", 8, 1, 0, 0, PyBUF_WRITABLE)
    cdef Py_buffer* intensity = held.borrow(out_intensity, "out_intensity", "f", 8, 1, 0, 0, PyBUF_WRITABLE)
    cdef Py_ssize_t n = ids.shape[0], m = len(source_ids), count
    check_rows(ids, rows, "sensor")
    if keys.shape[0] < n * m or intensity.shape[0] < n * m:
        raise ValueError(f"out_keys and out_intensity must have room for {n * m} pairs")
    if n == 0 or m == 0:
        return 0
    cdef Target* targets = <Target*> malloc(m * sizeof(Target))
    if targets == NULL:
        raise MemoryError()
    try:
        m = gather_targets(sources, source_ids, look.number, targets)
        if n * m >= LONG:
            with nogil:
                count = find_pairs(&look, ids, targets, m, keys, intensity)
        else:
            count = find_pairs(&look, ids, targets, m, keys, intensity)
    finally:
        free(targets)
    return count


cdef int borrow_sensors(Buffers held, sensors, Look* look) except -1:
    look.position = held.borrow(sensors.position, "position", "f", 4, 2, 0, 3)
    cdef Py_ssize_t rows = look.position.shape[0]
    look.threshold = held.borrow(sensors.threshold, "threshold", "f", 8, 2, rows, look.number + 1)
    look.notices = held.borrow(sensors.notices, "notices", "i", 8, 1, rows)
    look.own_source = held.borrow(sensors.own_source, "own_source", "i", 8, 1, rows)
    if look.number < 0:
        raise IndexError(f"there is no modality {look.number}")
    return 0


cdef int check_rows(Py_buffer* ids, Py_ssize_t rows, str noun) except -1:
    """Refuse ids whose row is not there: what follows reads memory by them."""
    cdef Py_ssize_t i, step = ids.strides[0]
    cdef int32_t one, bad = 0
    cdef char* at = <char*> ids.buf
    for i in range(ids.shape[0]):
        one = (<int32_t*> (at + i * step))[0]
        bad |= (one < 0) | ((one & SLOT_MASK) >= rows)
    if bad:
        raise IndexError(f"a {noun} id has no row")
    return 0


cdef Py_ssize_t gather_targets(sources, source_ids, Py_ssize_t number, Target* targets) except -1:
    """Copy what can be sensed into one run of memory; return how many there are."""
    cdef Buffers held = Buffers()
    cdef Py_buffer* ids = held.borrow(source_ids, "source_ids", "i", 4, 1)
    cdef Py_buffer* position = held.borrow(sources.position, "position", "f", 4, 2, 0, 3)
    cdef Py_ssize_t rows = position.shape[0]
    cdef Py_buffer* strength = held.borrow(sources.strength, "strength", "f", 8, 2, rows, number + 1)
    cdef Py_buffer* affiliation = held.borrow(sources.affiliation, "affiliation", "i", 8, 1, rows)
    cdef Py_ssize_t i, slot, axis, count = 0
    cdef Target* target
    check_rows(ids, rows, "source")
    for i in range(ids.shape[0]):
        slot = int32_at(ids, i) & SLOT_MASK
        target = &targets[count]
        target.strength = float64_at(strength, slot, number)
        if target.strength >= 0:
            target.id = int32_at(ids, i)
            target.affiliation = int64_at(affiliation, slot)
            for axis in range(3):
                target.at[axis] = float32_at(position, slot, axis)
            count += 1
    return count


cdef Py_ssize_t find_pairs(
    Look* look, Py_buffer* ids, Target* targets, Py_ssize_t m, Py_buffer* keys, Py_buffer* intensity,
) noexcept nogil:
    """Find sensors near any target by blocks, in single precision; test those exactly."""
    cdef Py_ssize_t n = ids.shape[0], first = 0, i, j, count = 0
    cdef Py_ssize_t run = first_of_run(ids)
    cdef float limit = limit_of(look.range_m)
    cdef Block block
    while first < n:
        fetch(&block, look.position, ids, run, first, min(<Py_ssize_t> BLOCK, n - first))
        for j in range(m):
            mark_near(&block, &targets[j], limit)
        i = next_near(&block, 0)
        while i < block.rows:
            count = add_pairs(look, int32_at(ids, first + i), targets, m, keys, intensity, count)
            i = next_near(&block, i + 1)
        first += BLOCK
    return count


cdef Py_ssize_t add_pairs(
    Look* look, int32_t sensor_id, Target* targets, Py_ssize_t m,
    Py_buffer* keys, Py_buffer* intensity, Py_ssize_t count,
) noexcept nogil:
    """Write the pairs of one sensor after the first ``count``; return how many there are then."""
    cdef double dx, dy, dz, sensed
    cdef Target* target
    cdef Py_ssize_t j
    cdef Eye eye
    eye.slot = sensor_id & SLOT_MASK
    if not prepare(look, &eye):
        return count
    for j in range(m):
        target = &targets[j]
        if not (eye.notices & target.affiliation) or eye.own_source == target.id:
            continue
        dx = target.at[0] - eye.at[0]
        dy = target.at[1] - eye.at[1]
        dz = target.at[2] - eye.at[2]
        sensed = sensed_by(look, &eye, target, dx, dy, dz, sqrt(dx * dx + dy * dy + dz * dz))
        if sensed >= eye.threshold:
            (<int64_t*> (<char*> keys.buf + count * keys.strides[0]))[0] = (
                <int64_t> sensor_id << ID_BITS | target.id)
            (<double*> (<char*> intensity.buf + count * intensity.strides[0]))[0] = sensed
            count += 1
    return count


cdef bint prepare(Look* look, Eye* eye) noexcept nogil:
    """Fetch the rest of what a sensor is; return False if it lacks the sense."""
    cdef double length
    cdef double* up = look.up
    cdef double* ahead = eye.ahead
    cdef double* right = eye.right
    cdef Py_ssize_t axis
    eye.threshold = float64_at(look.threshold, eye.slot, look.number)
    if not isfinite(eye.threshold):
        return False
    for axis in range(3):
        eye.at[axis] = float32_at(look.position, eye.slot, axis)
    eye.notices = int64_at(look.notices, eye.slot)
    eye.own_source = int64_at(look.own_source, eye.slot)
    if look.needs_cone:
        for axis in range(3):
            ahead[axis] = float32_at(look.forward, eye.slot, axis)
        right[0] = ahead[1] * up[2] - ahead[2] * up[1]
        right[1] = ahead[2] * up[0] - ahead[0] * up[2]
        right[2] = ahead[0] * up[1] - ahead[1] * up[0]
        length = sqrt(right[0] * right[0] + right[1] * right[1] + right[2] * right[2])
        for axis in range(3):
            right[axis] = look.aside[axis] if length < NO_RIGHT else right[axis] / length
        eye.above[0] = right[1] * ahead[2] - right[2] * ahead[1]
        eye.above[1] = right[2] * ahead[0] - right[0] * ahead[2]
        eye.above[2] = right[0] * ahead[1] - right[1] * ahead[0]
    return True


cdef double sensed_by(
    Look* look, Eye* eye, Target* target, double dx, double dy, double dz, double distance,
) noexcept nogil:
    """Return the intensity at the sensor; -1 out of range or out of all cones."""
    cdef double sensed = target.strength, acuity = 1
    if distance > look.range_m:
        return -1
    if look.needs_cone:  # before the power, which costs most
        acuity = acuity_towards(look, eye, dx, dy, dz)
        if acuity < 0:
            return -1
    if look.attenuation != 1:
        sensed = sensed * pow(look.attenuation, distance)
    return sensed * acuity


cdef double acuity_towards(Look* look, Eye* eye, double dx, double dy, double dz) noexcept nogil:
    """Return the acuity of the first cone that contains a target; -1 if none does."""
    cdef double right = eye.right[0] * dx + eye.right[1] * dy + eye.right[2] * dz
    cdef double above = eye.above[0] * dx + eye.above[1] * dy + eye.above[2] * dz
    cdef double ahead = eye.ahead[0] * dx + eye.ahead[1] * dy + eye.ahead[2] * dz
    cdef double across = right * right + ahead * ahead
    cdef double distance = sqrt(across + above * above)
    cdef double slack = BORDER_TOLERANCE * distance
    cdef char* cone = <char*> look.cones.buf + eye.slot * look.cones.strides[0]
    cdef Py_ssize_t step = look.cones.strides[2], k
    across = sqrt(across)
    for k in range(look.cones.shape[1]):
        if (distance - slack <= (<double*> cone)[0]
                and ahead + slack >= (<double*> (cone + step))[0] * across
                and fabs(above) - slack <= (<double*> (cone + 2 * step))[0] * distance):
            return (<double*> (cone + 3 * step))[0]
        cone += look.cones.strides[1]
    return -1


def sensors_reached(sensors, sense, origin, double strength, int64_t affiliation, int64_t source_id):
    cdef Buffers held = Buffers()
    cdef Look look
    number, range_m, attenuation, _, _, _ = sense
    look.number, look.range_m, look.attenuation = number, range_m, attenuation
    cdef Py_ssize_t n = sensors.rows, count, i
    borrow_sensors(held, sensors, &look)
    if n > look.position.shape[0]:
        raise IndexError(f"{n} rows asked of {look.position.shape[0]}")
    cdef Target target
    target.at = origin
    target.strength, target.affiliation, target.id = strength, affiliation, source_id
    cdef Hit* hits = <Hit*> malloc((n + 1) * sizeof(Hit))
    if hits == NULL:
        raise MemoryError()
    try:
        if n >= LONG:
            with nogil:
                count = find_hits(&look, n, &target, hits)
        else:
            count = find_hits(&look, n, &target, hits)
        return (
            [hits[i].slot for i in range(count)],
            [hits[i].distance for i in range(count)],
            [hits[i].intensity for i in range(count)],
        )
    finally:
        free(hits)


cdef Py_ssize_t find_hits(Look* look, Py_ssize_t n, Target* target, Hit* hits) noexcept nogil:
    """As ``find_pairs``, for one target and the first n rows."""
    cdef Py_ssize_t first = 0, i, count = 0
    cdef float limit = limit_of(look.range_m)
    cdef Block block
    while first < n:
        fetch(&block, look.position, NULL, 0, first, min(<Py_ssize_t> BLOCK, n - first))
        mark_near(&block, target, limit)
        i = next_near(&block, 0)
        while i < block.rows:
            count += test_row(look, first + i, target, &hits[count])
            i = next_near(&block, i + 1)
        first += BLOCK
    return count


cdef int test_row(Look* look, Py_ssize_t slot, Target* target, Hit* hit) noexcept nogil:
    """Write a hit and return 1 if the signal is sensed in this row, else return 0."""
    cdef double threshold = float64_at(look.threshold, slot, look.number)
    cdef double dx = float32_at(look.position, slot, 0) - target.at[0]
    cdef double dy = float32_at(look.position, slot, 1) - target.at[1]
    cdef double dz = float32_at(look.position, slot, 2) - target.at[2]
    if not isfinite(threshold) or not (int64_at(look.notices, slot) & target.affiliation):
        return 0
    hit.slot = slot
    hit.distance = sqrt(dx * dx + dy * dy + dz * dz)
    if hit.distance > look.range_m or int64_at(look.own_source, slot) == target.id:
        return 0
    hit.intensity = target.strength
    if look.attenuation != 1:
        hit.intensity = target.strength * pow(look.attenuation, hit.distance)
    return hit.intensity >= threshold
