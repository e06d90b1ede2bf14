# cython: language_level=3, cdivision=True
"""Kernel of ``heard_pairs``: the same class and function, the same results to the last bit.

Every operation on numbers is that of the twin, in its order; the compiler may not fuse a
product with a sum (built with -ffp-contract=off). The GIL is kept: a pass takes microseconds.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    ID_BITS = 31            # of a source id in a key: pairs_in_view.ID_BITS

include "../_buffers.pxi"
include "../_runs.pxi"


cdef class Followed:
    """Columns of ``PerceptTable``, BORROWED for one call."""

    cdef Buffers held
    cdef Py_ssize_t count
    cdef int64_t* key
    cdef uint8_t* is_alive
    cdef double *at_s
    cdef double *begun_s
    cdef double *begun
    cdef double *slope
    cdef double *rise
    cdef double *fall

    def __init__(self, dict rows):
        cdef Py_ssize_t n = len(rows["key"])
        held = self.held = Buffers()
        self.count = n
        self.key = <int64_t*> run_of(held, rows["key"], "key", "i", 8, n)
        self.is_alive = flags_of(held, rows["is_alive"], "is_alive", n)
        self.at_s = <double*> run_of(held, rows["at_s"], "at_s", "f", 8, n)
        self.begun_s = <double*> run_of(held, rows["begun_s"], "begun_s", "f", 8, n, PyBUF_WRITABLE)
        self.begun = <double*> run_of(held, rows["begun"], "begun", "f", 8, n, PyBUF_WRITABLE)
        self.slope = <double*> run_of(held, rows["slope"], "slope", "f", 8, n)
        self.rise = <double*> run_of(held, rows["rise"], "rise", "f", 8, n)
        self.fall = <double*> run_of(held, rows["fall"], "fall", "f", 8, n)

    cdef Py_ssize_t row_of(self, int64_t sensor_id, int64_t target) noexcept:
        cdef Py_ssize_t first = 0, end = self.count, middle
        cdef int64_t key = sensor_id << ID_BITS | target
        while first < end:
            middle = (first + end) // 2
            if self.key[middle] < key:
                first = middle + 1
            else:
                end = middle
        return first if first < self.count and self.key[first] == key and self.is_alive[first] else -1


cdef class HeardPair:
    cdef readonly bint is_fresh
    cdef readonly bint is_in_view
    cdef readonly double at_s
    cdef bint is_calmed
    cdef double intensity, lose_after_s, known_at_s, begun_s, begun, gain, slope, stimulus_gain, rise, fall
    cdef object modality, position, record, meter

    def __init__(self, sensation, double lose_after_s, record, meter, bint is_in_view=False):
        self.is_in_view = is_in_view
        self.modality = sensation.modality
        self.intensity = sensation.intensity
        self.at_s = sensation.at
        self.lose_after_s = lose_after_s
        self.record, self.meter = record, meter
        self.position, self.known_at_s = sensation.position, sensation.sent_at
        self.rise, self.fall = INFINITY, -1.0
        if record is not None:
            self.position, self.known_at_s = record.as_noted
        if meter is not None:
            self.begun_s, self.begun, self.slope = meter.line
            self.gain = meter.settings.gain_per_signal
            self.rise, self.fall = meter.thresholds
            self.stimulus_gain = meter.startled_by(self.modality)
        if is_in_view:
            self.at_s = self.known_at_s = -INFINITY

    def put_into_record(self):
        self.is_fresh = False
        if self.record is not None:
            if self.known_at_s >= self.record.as_noted[1]:
                self.record.know(self.position, self.known_at_s)
            self.record.sense(self.modality, self.intensity, self.at_s)
        if self.meter is not None:
            self.meter.be_startled(self.begun, self.begun_s, self.modality, self.stimulus_gain, anew=self.is_calmed)
            self.is_calmed = False


cdef bint taken_in(
    HeardPair pair, modality, double intensity, position, double sent_at, double now_s, Followed followed,
    Py_ssize_t row,
) except -1:
    cdef double value, raised, sensed_s = pair.at_s, known_at_s = pair.known_at_s, looked_s
    if pair.is_in_view:
        looked_s = followed.at_s[row]
        if now_s <= looked_s:
            return False
        sensed_s, known_at_s = max(sensed_s, looked_s), max(known_at_s, looked_s)
        pair.begun_s, pair.begun, pair.slope = followed.begun_s[row], followed.begun[row], followed.slope[row]
        pair.rise, pair.fall = followed.rise[row], followed.fall[row]
    if (modality is not pair.modality and modality != pair.modality) or now_s > sensed_s + pair.lose_after_s:
        return False
    if pair.meter is not None:
        value = pair.begun + pair.slope * (now_s - pair.begun_s)
        value = min(1.0, max(0.0, value))
        raised = min(1.0, value + intensity * pair.gain)
        if value <= pair.fall or raised >= pair.rise or (pair.is_in_view and raised == 0):
            return False
        if value == 0:
            pair.stimulus_gain, pair.is_calmed = 0.0, True
        pair.stimulus_gain += raised - value
        pair.begun_s, pair.begun = now_s, raised
        if pair.is_in_view:
            followed.begun_s[row], followed.begun[row] = now_s, raised
    if sent_at >= known_at_s:
        pair.position, pair.known_at_s = position, sent_at
    pair.at_s, pair.intensity, pair.is_fresh = now_s, intensity, True
    return True


def take_in_all(dict rows, heard, Py_ssize_t first, set visited, set fresh, dict followed):
    cdef list sensor_ids = heard[0], which = heard[1], intensities = heard[2], what = heard[3]
    cdef double now_s = heard[4]
    cdef Py_ssize_t place, row = -1
    cdef Followed in_view = None
    cdef HeardPair pair
    cdef tuple told
    for place in range(first, len(sensor_ids)):
        sensor_id, told = sensor_ids[place], what[which[place]]
        of_sensor = rows.get(sensor_id)
        found = None if of_sensor is None else (<dict?>of_sensor).get(told[0])
        if found is None or sensor_id in visited:
            return place
        pair = <HeardPair?>found
        if pair.is_in_view:
            if in_view is None:
                in_view = Followed(followed)
            row = in_view.row_of(sensor_id, told[0])
            if row < 0:
                return place
        if not taken_in(pair, told[1], intensities[place], told[2], told[3], now_s, in_view, row):
            return place
        fresh.add(sensor_id)
    return len(sensor_ids)
