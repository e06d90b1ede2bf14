# Signals that arrive in the frame in which they were emitted, wherever their sensors are now.

from math import dist as distance_between


cdef struct Due:
    double due_s
    int32_t sensor_id
    Py_ssize_t number
    Py_ssize_t row
    double intensity


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
    cdef double delay = kind.inverse_speed_s_per_m, sent_at_s = signal[5], dx, dy, dz
    cdef tuple origin = as_tuple(signal[4], 3)
    if not 0 <= slot < position.shape[0]:
        raise IndexError(f"there is no row {slot}")
    due.due_s, due.intensity = sent_at_s + distance * delay, intensity
    if due.due_s > now_s:
        return False
    at[0], at[1], at[2] = (
        float32_at(position, slot, 0), float32_at(position, slot, 1), float32_at(position, slot, 2))
    dx, dy, dz = at[0] - <double> origin[0], at[1] - <double> origin[1], at[2] - <double> origin[2]
    if fabs(sqrt(dx * dx + dy * dy + dz * dz) - distance) < STANDS_M:
        return True
    cdef double now = distance_between((at[0], at[1], at[2]), origin)
    if fabs(now - distance) < MOVED_M:
        return True
    due.intensity = <double> signal[3] * pow(<double> kind.attenuation, now)
    return (now <= <double> kind.range_m and due.intensity >= float64_at(threshold, slot, signal[2])
            and sent_at_s + now * delay <= now_s)


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
