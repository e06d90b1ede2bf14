# How runs ended, for _habit_ticking.pyx: two ways for nearly all, which are kept as a byte each and not as text.


cdef enum:
    AS_TEXT = 0         # or not at all
    SUCCESS = 1
    FAILURE = 2


cdef inline int note_end(HabitTicking tree, PlaceFields place, bint is_success) except -1:
    """Note that what stands at a place came to its end by itself."""
    if place.index >= tree.ended_count:
        make_room(tree, place.index + 1)
    tree.ended[place.index] = SUCCESS if is_success else FAILURE
    return 0


cdef int note_ending(HabitTicking tree, PlaceFields place, ending) except -1:
    """Note in words how it ended."""
    if place.index < tree.ended_count:
        tree.ended[place.index] = AS_TEXT
    tree.texts[place.index] = ending
    return 0


cdef int make_room(HabitTicking tree, Py_ssize_t wanted) except -1:
    cdef Py_ssize_t count = max(wanted, <Py_ssize_t>len(tree.plan.places))
    cdef void* room = realloc(tree.ended, count)
    if room == NULL:
        raise MemoryError(f"no {count} bytes for how the habits of {tree.name!r} ended")
    tree.ended = <uint8_t*>room
    memset(tree.ended + tree.ended_count, 0, count - tree.ended_count)
    tree.ended_count = count
    return 0


cdef dict all_endings(HabitTicking tree):
    """Return them by place, all in words."""
    cdef Py_ssize_t index
    for index in range(tree.ended_count):
        if tree.ended[index] != AS_TEXT:
            tree.texts[index] = "succeeded" if tree.ended[index] == SUCCESS else "failed"
            tree.ended[index] = AS_TEXT
    return tree.texts
