# Signals that arrive in the frame in which they were emitted, at sensors that stand still.

cdef struct Due:
    double due_s
    int32_t sensor_id
    Py_ssize_t number
    Py_ssize_t row
    double intensity


cdef int is_before(const void* one, const void* other) noexcept nogil:
    """Compare by due time, then sensor, then signal."""
    cdef Due* a = <Due*> one
    cdef Due* b = <Due*> other
    if a.due_s != b.due_s:
        return -1 if a.due_s < b.due_s else 1
    if a.sensor_id != b.sensor_id:
        return -1 if a.sensor_id < b.sensor_id else 1
    return -1 if a.number < b.number else 1


cdef tuple in_turn(Due* due, Py_ssize_t count, Py_ssize_t signals):
    """Return as lists what has arrived, signals numbered as they come."""
    cdef list sensor_ids = [], which = [], intensities = [], numbers = [], rows = []
    cdef list place_of = [None] * signals
    cdef Py_ssize_t i
    for i in range(count):
        if place_of[due[i].number] is None:
            place_of[due[i].number] = len(numbers)
            numbers.append(due[i].number)
        sensor_ids.append(due[i].sensor_id)
        which.append(place_of[due[i].number])
        intensities.append(due[i].intensity)
        rows.append(due[i].row)
    return sensor_ids, which, intensities, numbers, rows
