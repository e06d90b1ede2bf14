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
from libc.math cimport INFINITY, fabs, isfinite, log, pow, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc

from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ModalityNumbers

INTERFACE = 8
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    ID_BITS = 31            # of a source id in a key: pairs_in_view.ID_BITS
    SLOT_MASK = 0xFFFFF     # of an id that say which row: id_table.SLOT_BITS
    LONG = 4096             # tests from which on the GIL is released (count): some 5 us

include "../_buffers.pxi"
include "../_runs.pxi"


cdef struct Look:
    Py_buffer* position
    Py_buffer* log_threshold
    Py_buffer* forward
    Py_buffer* threshold
    Py_buffer* detection_mask
    Py_buffer* self_source
    Py_buffer* cones
    float* reaches          # how far each sensor senses anything, squared; see own_reach.py. NULL: not asked
    Py_ssize_t number
    double range_m
    double kept_per_m
    double log_kept_per_m
    bint needs_cone
    bint has_acuity         # whether a cone may make anything stronger
    bint is_rough_first     # whether logarithms leave out much that the rough test lets through
    double up[3]
    double aside[3]


include "_near.pxi"

choose_near()

cdef object made_of = tuple.__new__
cdef double ROUGHLY = 1e-6              # own_reach.ROUGHLY
cdef double BORDER_TOLERANCE = 1e-6     # sight.BORDER_TOLERANCE
cdef double NO_RIGHT = 1e-6             # sight.NO_RIGHT
cdef double CONE_SLACK = 1.0001         # own_reach.CONE_SLACK
cdef double BEHIND = 1e-8               # squared share of the distance, far above BORDER_TOLERANCE


cdef struct Eye:
    double at[3]
    double right[3]
    double above[3]
    double ahead[3]
    double threshold
    double farthest         # squared reach of its cones, with slack: a rough test before bearings
    double behind           # the same of those that reach behind it
    int64_t detection_mask
    int64_t self_source
    bint is_known           # whether the three before are: they lie far away, and few are asked
    Py_ssize_t slot


cdef struct Hit:
    int32_t slot
    double distance
    double intensity


cdef struct Hits:
    Hit* all
    Py_ssize_t count
    Py_ssize_t room


def pairs_in_reach(sensors, sensor_ids, sources, source_ids, sense, out_keys, out_intensity):
    cdef Buffers held = Buffers()
    cdef Look look
    look.number, look.range_m, look.kept_per_m, look.needs_cone = sense[:4]
    look.log_kept_per_m = log(look.kept_per_m)
    look.has_acuity = look.needs_cone and sensors.most_acuity > 1
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
    cdef Targets all
    all.one = <Target*> malloc(m * sizeof(Target))
    all.near = <float*> malloc(3 * m * sizeof(float))
    try:
        if all.one == NULL or all.near == NULL:
            raise MemoryError()
        all.count = gather_targets(sources, source_ids, &look, all.one)
        if n >= sensors.own_reach.asked_from and 0 < all.count < MANY_TARGETS:
            borrow_reach_of_all(held, sensors, sense, &all, &look)
        if n * all.count >= LONG:
            with nogil:
                count = find_pairs(&look, ids, &all, keys, intensity)
        else:
            count = find_pairs(&look, ids, &all, keys, intensity)
    finally:
        free(all.one)
        free(all.near)
    return count


cdef int borrow_sensors(Buffers held, sensors, Look* look) except -1:
    look.position = held.borrow(sensors.position, "position", "f", 4, 2, 0, 3)
    cdef Py_ssize_t rows = look.position.shape[0]
    look.threshold = held.borrow(sensors.threshold, "threshold", "f", 8, 2, rows, look.number + 1)
    look.log_threshold = held.borrow(sensors.log_threshold, "log_threshold", "f", 8, 2, rows, look.number + 1)
    look.detection_mask = held.borrow(sensors.detection_mask, "detection_mask", "i", 8, 1, rows)
    look.self_source = held.borrow(sensors.self_source, "self_source", "i", 8, 1, rows)
    look.reaches, look.is_rough_first = NULL, True
    if look.number < 0:
        raise IndexError(f"there is no modality {look.number}")
    return 0


cdef int borrow_reaches(Buffers held, sensors, sense, double strongest, Look* look) except -1:
    """Have the reach of each sensor kept beside tables of which only a part is near the processor."""
    squares = sensors.own_reach.squares(sensors, sense, strongest)
    if squares is not None:
        look.reaches = <float*> run_of(held, squares, "own_reach", "f", 4, sensors.ids.rows)
    return 0


cdef int check_rows(Py_buffer* ids, Py_ssize_t rows, str noun) except -1:
    """Refuse ids whose row is not there: what follows reads memory by them."""
    cdef Py_ssize_t i, n = ids.shape[0]
    cdef int32_t one, bad = 0, most = <int32_t> min(rows, <Py_ssize_t> SLOT_MASK + 1)
    cdef int32_t* run = <int32_t*> ids.buf
    if ids.strides[0] == sizeof(int32_t):
        for i in range(n):
            bad |= (run[i] < 0) | ((run[i] & SLOT_MASK) >= most)
    else:
        for i in range(n):
            one = int32_at(ids, i)
            bad |= (one < 0) | ((one & SLOT_MASK) >= most)
    if bad:
        raise IndexError(f"a {noun} id has no row")
    return 0


cdef inline void fetch_ahead(Look* look, Py_ssize_t slot) noexcept nogil:
    """Have what is asked of a sensor brought nearer: it lies far away where there are many."""
    if look.is_rough_first:
        prefetch(<char*> look.log_threshold.buf + slot * look.log_threshold.strides[0]
                 + look.number * look.log_threshold.strides[1])
    if look.needs_cone:
        prefetch(<char*> look.forward.buf + slot * look.forward.strides[0])
        prefetch(<char*> look.cones.buf + slot * look.cones.strides[0])
    if not look.needs_cone or look.reaches == NULL:
        fetch_what_it_notices(look, slot)


cdef inline void fetch_what_it_notices(Look* look, Py_ssize_t slot) noexcept nogil:
    prefetch(<char*> look.threshold.buf + slot * look.threshold.strides[0]
             + look.number * look.threshold.strides[1])
    prefetch(<char*> look.detection_mask.buf + slot * look.detection_mask.strides[0])
    prefetch(<char*> look.self_source.buf + slot * look.self_source.strides[0])


cdef bint prepare(Look* look, Eye* eye) noexcept nogil:
    """Fetch where a sensor is and what it faces; return False if it surely lacks the sense."""
    cdef double length
    cdef double* up = look.up
    cdef double* ahead = eye.ahead
    cdef double* right = eye.right
    cdef Py_ssize_t axis
    eye.is_known = False
    if look.reaches == NULL and not detection_mask(look, eye):     # who lacks it has no reach
        return False
    for axis in range(3):
        eye.at[axis] = float32_at(look.position, eye.slot, axis)
    eye.farthest = eye.behind = INFINITY
    if look.needs_cone:
        measure_cones(look, eye)
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


cdef inline bint detection_mask(Look* look, Eye* eye) noexcept nogil:
    """Fetch what a sensor notices, and how well; return False if it lacks the sense."""
    if not eye.is_known:
        eye.threshold = float64_at(look.threshold, eye.slot, look.number)
        eye.detection_mask = int64_at(look.detection_mask, eye.slot)
        eye.self_source = int64_at(look.self_source, eye.slot)
        eye.is_known = True
    return isfinite(eye.threshold)


cdef void measure_cones(Look* look, Eye* eye) noexcept nogil:
    """Note the squared reach of the farthest cone of a sensor, with slack; and of those to behind."""
    cdef char* cone = <char*> look.cones.buf + eye.slot * look.cones.strides[0]
    cdef double reach
    cdef Py_ssize_t k
    eye.farthest = eye.behind = 0
    for k in range(look.cones.shape[1]):
        reach = max(0.0, (<double*> cone)[0]) * CONE_SLACK
        eye.farthest = max(eye.farthest, reach * reach)
        if (<double*> (cone + look.cones.strides[2]))[0] < 0:
            eye.behind = max(eye.behind, reach * reach)
        cone += look.cones.strides[1]


cdef inline bint is_faded(Look* look, Py_ssize_t slot, Target* target, double distance) noexcept nogil:
    """Return True if a signal is surely too weak: roughly, because a power costs most."""
    return target.log_strength + distance * look.log_kept_per_m < float64_at(
        look.log_threshold, slot, look.number) - ROUGHLY


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


def sensors_reached(sensors, waves):
    return reached_by(sensors, waves, None)


def signals_reached(sensors, signals, kinds):
    return reached_by(sensors, signals, kinds)


cdef tuple reached_by(sensors, waves, kinds):
    """Return who senses waves; or signals, of which ``kinds`` has the modalities."""
    cdef Buffers held = Buffers()
    cdef Look look
    cdef Py_ssize_t n = sensors.ids.rows, m = len(waves), wave, first
    look.number, look.needs_cone = 0, False
    borrow_sensors(held, sensors, &look)
    cdef Py_ssize_t groups = GROUPS * ((n + BLOCK - 1) // BLOCK)
    cdef list counts = []
    cdef Hits hits
    if n > look.position.shape[0]:
        raise IndexError(f"{n} rows asked of {look.position.shape[0]}")
    if n == 0 or m == 0:
        return [0] * m, [], [], []
    cdef Target* targets = <Target*> malloc(m * sizeof(Target))
    cdef Look* looks = <Look*> malloc(m * sizeof(Look))
    cdef uint16_t* masks = <uint16_t*> calloc(m * groups, sizeof(uint16_t))
    hits.all, hits.count, hits.room = NULL, 0, 0
    try:
        if targets == NULL or looks == NULL or masks == NULL:
            raise MemoryError()
        for wave in range(m):
            looks[wave] = look
            if kinds is not None:
                take_signal(waves[wave], kinds, &looks[wave], &looks[max(0, wave - 1)], &targets[wave])
                continue
            take_wave(waves[wave], waves[wave - 1] if wave else None, &looks[wave], &looks[max(0, wave - 1)],
                      &targets[wave])
        if n >= sensors.own_reach.asked_from:
            borrow_one_reach(held, sensors, targets, m, &look, looks)
        if n * m >= LONG:
            with nogil:
                mark_all(&look, n, targets, m, masks, groups)
        else:
            mark_all(&look, n, targets, m, masks, groups)
        for wave in range(m):
            first = hits.count
            if test_marked(&looks[wave], &targets[wave], masks + wave * groups, groups, &hits):
                raise MemoryError()
            counts.append(hits.count - first)
        return counts, *listed(&hits)
    finally:
        free(targets)
        free(looks)
        free(masks)
        free(hits.all)


cdef int borrow_one_reach(
    Buffers held, sensors, Target* targets, Py_ssize_t m, Look* look, Look* looks,
) except -1:
    """Have the reach of each sensor kept beside signals of one modality, as they nearly always are."""
    cdef Py_ssize_t wave
    cdef double strongest = 0
    for wave in range(m):
        if (looks[wave].number != looks[0].number or looks[wave].range_m != looks[0].range_m
                or looks[wave].kept_per_m != looks[0].kept_per_m):
            return 0
        strongest = max(strongest, targets[wave].strength)
    borrow_reaches(held, sensors, ModalityNumbers(looks[0].number, looks[0].range_m, looks[0].kept_per_m, False), strongest, look)
    for wave in range(m):
        looks[wave].is_rough_first = look.reaches == NULL or 2 * targets[wave].strength < strongest
    return 0


def plain_signal(dict voices, order, source_id, modality, strength, place, sent_at_s, channel):
    cdef float x, y, z
    if type(source_id) is not int or type(modality) is not str or type(channel) is not str:
        return None
    if type(strength) is not float or not 0 <= <double> strength < INFINITY:
        return None
    if type(place) is not tuple or len(<tuple> place) != 3:
        return None
    first, second, third = (<tuple> place)[0], (<tuple> place)[1], (<tuple> place)[2]
    if type(first) is not float or type(second) is not float or type(third) is not float:
        return None
    x, y, z = <float> <double> first, <float> <double> second, <float> <double> third
    voice = voices.get((source_id, modality))
    if voice is None or not (isfinite(x) and isfinite(y) and isfinite(z)):
        return None
    number, affiliation, tag = voice
    return made_of(Signal, (
        order, source_id, number, strength, (<double> x, <double> y, <double> z), sent_at_s, affiliation, tag, channel))


include "_marking.pxi"
include "_pairing.pxi"
