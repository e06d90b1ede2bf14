# cython: language_level=3
"""Kernel of ``heard_pairs``: the same class and function, the same results to the last bit.

Every operation on numbers is that of the twin, in its order; the compiler may not fuse a
product with a sum (built with -ffp-contract=off). The GIL is kept: a pass takes microseconds.
"""
from libc.math cimport INFINITY

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef class HeardPair:
    cdef readonly bint is_fresh
    cdef readonly double at_s
    cdef bint is_calmed
    cdef double intensity, lose_after_s, known_at_s, begun_s, begun, gain, slope, startled, rise, fall
    cdef object modality, position, record, meter

    def __init__(self, sensation, double lose_after_s, record, meter):
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
            self.startled = meter.startled_by(self.modality)

    def take_in(self, modality, double intensity, position, double sent_at, double now_s):
        return taken_in(self, modality, intensity, position, sent_at, now_s)

    def put_into_record(self):
        self.is_fresh = False
        if self.record is not None:
            self.record.know(self.position, self.known_at_s)
            self.record.sense(self.modality, self.intensity, self.at_s)
        if self.meter is not None:
            self.meter.be_startled(self.begun, self.begun_s, self.modality, self.startled, anew=self.is_calmed)
            self.is_calmed = False


cdef bint taken_in(HeardPair row, modality, double intensity, position, double sent_at, double now_s) except -1:
    cdef double value, raised
    if (modality is not row.modality and modality != row.modality) or now_s > row.at_s + row.lose_after_s:
        return False
    if row.meter is not None:
        value = row.begun + row.slope * (now_s - row.begun_s)
        value = min(1.0, max(0.0, value))
        raised = min(1.0, value + intensity * row.gain)
        if value <= row.fall or raised >= row.rise:
            return False
        if value == 0:
            row.startled, row.is_calmed = 0.0, True
        row.startled += raised - value
        row.begun_s, row.begun = now_s, raised
    if sent_at >= row.known_at_s:
        row.position, row.known_at_s = position, sent_at
    row.at_s, row.intensity, row.is_fresh = now_s, intensity, True
    return True


def take_in_all(dict rows, heard, Py_ssize_t first, set visited, set fresh):
    cdef list sensor_ids = heard[0], which = heard[1], intensities = heard[2], what = heard[3]
    cdef double now_s = heard[4]
    cdef Py_ssize_t place
    cdef tuple told
    for place in range(first, len(sensor_ids)):
        sensor_id, told = sensor_ids[place], what[which[place]]
        of_sensor = rows.get(sensor_id)
        row = None if of_sensor is None else (<dict?>of_sensor).get(told[0])
        if row is None or sensor_id in visited or not taken_in(
                <HeardPair?>row, told[1], intensities[place], told[2], told[3], now_s):
            return place
        fresh.add(sensor_id)
    return len(sensor_ids)
