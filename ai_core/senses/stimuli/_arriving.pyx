# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``arriving``: the same functions, the same results to the last bit.

Every operation on numbers is that of the twin, in its order and width; the compiler may not
fuse a product with a sum (built with -ffp-contract=off). The GIL is kept: a pass takes
microseconds. Arrays are BORROWED for one call: ``Buffers`` gives them back when it goes.
"""
from math import dist as distance_between

from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, qsort

from ai_core.senses.stimuli.signal_queue import Arrival

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    SLOT_MASK = 0xFFFFF     # of an id that say which row: id_table.SLOT_BITS

include "../_buffers.pxi"

cdef double STANDS_M = 5e-7             # arriving.STANDS_M
cdef double MOVED_M = 1e-6              # arriving.MOVED_M
cdef object made_of = tuple.__new__


cdef struct Due:
    double due_s
    int32_t sensor_id
    Py_ssize_t number
    Py_ssize_t row
    double intensity


def arrived_at_once(sensors, signals, kinds, reached, double now_s):
    cdef Buffers held = Buffers()
    cdef Py_buffer* position = held.borrow(sensors.position, "position", "f", 4, 2, 0, 3)
    cdef Py_buffer* threshold = held.borrow(sensors.threshold, "threshold", "f", 8, 2, position.shape[0])
    cdef Py_buffer* ids = held.borrow(sensors.ids.by_slot, "ids", "i", 4, 1, position.shape[0])
    cdef list counts, slots, distances, intensities
    counts, slots, distances, intensities = reached
    cdef Py_ssize_t count = len(slots), place = 0, number, modality, end
    cdef tuple signal
    cdef Due* due = <Due*> malloc((count + 1) * sizeof(Due))
    if not len(counts) == len(signals) or not count == len(distances) == len(intensities):
        free(due)
        raise ValueError("signals and what they reach must be of one length")
    try:
        if due == NULL:
            raise MemoryError()
        if may_replace(signals):
            return None
        for number in range(len(counts)):
            signal = as_tuple(signals[number], 9)
            modality = signal[2]
            if not 0 <= modality < threshold.shape[1]:
                raise IndexError(f"there is no modality {modality}")
            end = min(count, place + <Py_ssize_t> counts[number])
            while place < end:
                due[place].number, due[place].row = number, place
                if not has_arrived(
                        position, threshold, slots[place], signal, kinds[modality], distances[place],
                        intensities[place], now_s, &due[place]):
                    return None
                due[place].sensor_id = int32_at(ids, slots[place])
                place += 1
        qsort(due, place, sizeof(Due), is_before)
        return in_turn(due, place, signals, kinds)
    finally:
        free(due)


def heard_now(sensors, some, Py_ssize_t first, kinds, noise, newest, double now_s):
    cdef Buffers held = Buffers()
    cdef Py_buffer* position = held.borrow(sensors.position, "position", "f", 4, 2, 0, 3)
    cdef Py_buffer* threshold = held.borrow(sensors.threshold, "threshold", "f", 8, 2, position.shape[0])
    cdef Py_buffer* ids = held.borrow(sensors.ids.by_slot, "ids", "i", 4, 1, position.shape[0])
    cdef list sensor_ids = [], which = [], intensities = [], what = []
    cdef dict numbers = {}
    cdef Py_ssize_t place
    cdef tuple signal, arrival
    cdef double intensity = 0
    for place in range(first, len(some)):
        one = as_tuple(some[place], 2)
        signal, arrival = as_tuple((<tuple> one)[0], 9), as_tuple((<tuple> one)[1], 6)
        if not is_heard_now(position, threshold, ids, signal, arrival, kinds, noise, now_s, &intensity):
            break
        if newest and newest.get((signal[1], signal[2], signal[8], arrival[1]), signal[0]) > signal[0]:
            break
        number = numbers.get(signal[0])
        if number is None:
            number = numbers[signal[0]] = len(what)
            what.append((signal[1], kinds[signal[2]].name, signal[4], signal[5], signal[7]))
        sensor_ids.append(arrival[1])
        which.append(number)
        intensities.append(intensity)
    return sensor_ids, which, intensities, what


def arrivals_of(sensors, signals, kinds, reached):
    cdef Buffers held = Buffers()
    cdef Py_buffer* ids = held.borrow(sensors.ids.by_slot, "ids", "i", 4, 1)
    cdef list counts, slots, distances, intensities, found = [], arrivals
    counts, slots, distances, intensities = reached
    cdef Py_ssize_t place = 0, number, slot, end, count = len(slots)
    cdef double sent_at_s, delay, distance
    cdef tuple signal
    if not len(counts) == len(signals) or not count == len(distances) == len(intensities):
        raise ValueError("signals and what they reach must be of one length")
    for number in range(len(counts)):
        end = min(count, place + <Py_ssize_t> counts[number])
        if end == place:
            continue
        signal = as_tuple(signals[number], 9)
        sent_at_s, delay, arrivals = signal[5], kinds[signal[2]].delay_s_per_m, []
        while place < end:
            slot, distance = slots[place], distances[place]
            if not 0 <= slot < ids.shape[0]:
                raise IndexError(f"there is no row {slot}")
            arrivals.append(made_of(Arrival, (
                sent_at_s + distance * delay, int32_at(ids, slot), distances[place], intensities[place], 1.0, False)))
            place += 1
        found.append((signals[number], arrivals))
    return found


cdef bint may_replace(signals) except -1:
    """Return whether two signals are on one channel of a source and modality."""
    cdef set channels = set()
    cdef tuple signal
    for one in signals:
        signal = as_tuple(one, 9)
        if signal[8]:
            channel = signal[1], signal[2], signal[8]
            if channel in channels:
                return True
            channels.add(channel)
    return False


cdef bint has_arrived(
    Py_buffer* position, Py_buffer* threshold, Py_ssize_t slot, tuple signal, kind, double distance,
    double intensity, double now_s, Due* due,
) except -1:
    """Write when a signal is due at a sensor and how loud it is there; return 0 if it is not, or not heard."""
    cdef double at[3]
    cdef double delay = kind.delay_s_per_m, sent_at_s = signal[5], now = 0
    cdef tuple origin = as_tuple(signal[4], 3)
    if not 0 <= slot < position.shape[0]:
        raise IndexError(f"there is no row {slot}")
    due.due_s, due.intensity = sent_at_s + distance * delay, intensity
    if due.due_s > now_s:
        return False
    if stands(position, slot, origin, distance, at, &now):
        return True
    due.intensity = <double> signal[3] * pow(<double> kind.kept_per_m, now)
    return (now <= <double> kind.range_m and due.intensity >= float64_at(threshold, slot, signal[2])
            and sent_at_s + now * delay <= now_s)


cdef bint is_heard_now(
    Py_buffer* position, Py_buffer* threshold, Py_buffer* ids, tuple signal, tuple arrival, kinds, noise, double now_s,
    double* intensity,
) except -1:
    """Write how loud what has arrived is at its sensor where that is now; return 0 if it is not heard, or not yet."""
    cdef int64_t sensor_id = arrival[1]
    cdef Py_ssize_t slot = sensor_id & SLOT_MASK, modality = signal[2]
    cdef tuple origin = as_tuple(signal[4], 3)
    cdef double at[3]
    cdef double now = 0
    if sensor_id < 0 or slot >= position.shape[0] or int32_at(ids, slot) != sensor_id:
        return False
    intensity[0] = arrival[3]
    if arrival[5]:
        return True
    if stands(position, slot, origin, arrival[2], at, &now):
        return True
    if not 0 <= modality < threshold.shape[1]:
        raise IndexError(f"there is no modality {modality}")
    kind = kinds[modality]
    intensity[0] = <double> signal[3] * pow(<double> kind.kept_per_m, now) * <double> arrival[4]
    if now > <double> kind.range_m or intensity[0] < float64_at(threshold, slot, modality):
        return False
    if noise is not None and intensity[0] < <double> noise.level_at(modality, (at[0], at[1], at[2])):
        return False
    return <double> signal[5] + now * <double> kind.delay_s_per_m <= now_s


cdef inline bint stands(
    Py_buffer* position, Py_ssize_t slot, tuple origin, double expected, double* at, double* now,
) except -1:
    """Write where a sensor is, and how far from an origin if that is not as far as was expected; return whether it is."""
    cdef double dx, dy, dz
    at[0], at[1], at[2] = (
        float32_at(position, slot, 0), float32_at(position, slot, 1), float32_at(position, slot, 2))
    dx, dy, dz = at[0] - <double> origin[0], at[1] - <double> origin[1], at[2] - <double> origin[2]
    if fabs(sqrt(dx * dx + dy * dy + dz * dz) - expected) < STANDS_M:
        return True
    now[0] = distance_between((at[0], at[1], at[2]), origin)
    return fabs(now[0] - expected) < MOVED_M


cdef int is_before(const void* one, const void* other) noexcept nogil:
    """Compare by due time, then sensor, then signal."""
    cdef Due* a = <Due*> one
    cdef Due* b = <Due*> other
    if a.due_s != b.due_s:
        return -1 if a.due_s < b.due_s else 1
    if a.sensor_id != b.sensor_id:
        return -1 if a.sensor_id < b.sensor_id else 1
    return -1 if a.number < b.number else 1


cdef tuple in_turn(Due* due, Py_ssize_t count, signals, kinds):
    """Return as lists what has arrived, signals numbered as they come."""
    cdef list sensor_ids = [], which = [], intensities = [], what = [], rows = []
    cdef list place_of = [None] * len(signals)
    cdef Py_ssize_t i
    cdef tuple signal
    for i in range(count):
        if place_of[due[i].number] is None:
            place_of[due[i].number] = len(what)
            signal = as_tuple(signals[due[i].number], 9)
            what.append((signal[1], kinds[signal[2]].name, signal[4], signal[5], signal[7]))
        sensor_ids.append(due[i].sensor_id)
        which.append(place_of[due[i].number])
        intensities.append(due[i].intensity)
        rows.append(due[i].row)
    return sensor_ids, which, intensities, what, rows
