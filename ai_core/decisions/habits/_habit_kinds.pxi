# What of a place is worked out once, for _habit_ticking.pyx: how little its runs need, and how its hooks are called.


cdef struct DirectCalls:
    int (*call)(void* hook, void* row, Py_ssize_t number, double argument, void* given) except -1
    Py_ssize_t (*first_of)(void* hook, void* row, const Py_ssize_t* numbers, Py_ssize_t count) except? -1


cdef void* direct_calls_of(callback) except? NULL:
    """Return how to call what a callback calls without a Python object for each call; NULL if it says nothing."""
    capsule = getattr(callback, "direct_calls", None)
    return NULL if capsule is None else PyCapsule_GetPointer(capsule, b"ai_core.direct_calls")


cdef int know(PlaceFields place) except -1:
    """Note what follows from what a place is, which does not change."""
    place.kind = kind_of(place)
    place.is_free = place.can_activate is None and not place.begins_on and not place.asks_every_s
    place.is_compared = type(place.can_activate) is ValuesAre
    place.is_only_compared = place.is_compared and not place.begins_on and not place.asks_every_s
    place.tick_calls = <DirectCalls*>direct_calls_of(place.tick)
    place.ask_calls = <DirectCalls*>direct_calls_of(place.can_activate)
    place.is_known = True
    return 0


cdef int kind_of(PlaceFields place) noexcept:
    """Return how little a run at this place needs."""
    cdef bint is_brief = (
        place.enter is None and place.exit is None and not place.non_blocking and place.held is None
        and not place.begins_on and not place.cooldown_s and place.repeats == 1 and place.retries == 0
        and not place.is_beside
    )
    if not is_brief:
        return ORDINARY
    if place.tick is None:
        return LAUNCHER if place.blocking and (place.launch is SEQUENTIAL or place.launch is FALLBACK) else ORDINARY
    if place.blocking or place.outcome is not None:
        return ORDINARY
    return AT_ONCE if type(place.tick) is ValueCheck or type(place.tick) is ValueWrite else SIMPLE
