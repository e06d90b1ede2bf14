# Many kept calls in one crossing, each with the same number.
#
# GIL: released once for all of them. The row ends after a call that runs Python code of this thread, because that
#   code may change the calls that follow.
# BORROWED: targets are copies, of KeptCalls that the list of calls keeps alive.

cdef extern from "stopwatch.h":
    int64_t stopwatch_ns() nogil
    int64_t processor_ticks() nogil


cdef extern from "Python.h":
    void* PyList_GetItem(object row, Py_ssize_t place) except NULL      # BORROWED


cdef enum:
    CALLS_AHEAD = 8              # who is rarely called lies in no near cache, and comes while others run
    CALLED_LINES = 12            # of 64 bytes: as far into a Node3D as the question for its script reads, and where it is
    KEPT_CALL_LINES = 2          # of 64 bytes: all of a KeptCall
    MOST_IN_A_ROW = 64           # calls that are made at once
    TELLING_NS = 100_000         # in which the length of a tick is measured
    LONGEST_NS = 1_000_000_000   # until a limit, at most

cdef double ns_of_tick = 1       # measured when the bridge opens

cdef void measure_ticks() noexcept nogil:
    """Learn how long a tick is: the middle of three, as the system may run something else between two readings."""
    global ns_of_tick
    cdef int64_t begun_ns, begun, ended_ns
    cdef double found[3]
    cdef int i
    for i in range(3):
        begun_ns = ended_ns = stopwatch_ns()
        begun = processor_ticks()
        while ended_ns - begun_ns < TELLING_NS:
            ended_ns = stopwatch_ns()
        found[i] = <double>(ended_ns - begun_ns) / max(processor_ticks() - begun, 1)
    ns_of_tick = max(min(found[0], found[1]), min(max(found[0], found[1]), found[2]))

cdef void time_row(int64_t* ended, Py_ssize_t count, int64_t begun, int64_t begun_ns, int64_t ended_ns) noexcept nogil:
    """Turn the ticks at which calls ended into ns, between the two moments that the clock told."""
    cdef int64_t ticks = ended[count - 1] - begun
    cdef int64_t before_ns = begun_ns
    cdef double each_ns = <double>(ended_ns - begun_ns) / ticks if ticks > 0 else 0.0
    cdef Py_ssize_t i
    for i in range(count - 1):
        # Ticks of two cores may differ.
        before_ns = min(max(before_ns, begun_ns + <int64_t>(each_ns * (ended[i] - begun))), ended_ns)
        ended[i] = before_ns
    ended[count - 1] = ended_ns

cdef void call_targets(const KeptTarget* plan, Py_ssize_t count, Py_ssize_t* begun, const uint64_t* argument,
                  int64_t* ended, int64_t limit) noexcept nogil:
    """Make calls in order, until one needs the slow form, ends beyond the limit or runs Python; ``begun`` counts them.

    Ends and limit are ticks.
    """
    cdef uint64_t before = entries
    cdef GDVariant result
    cdef CallError error
    cdef const KeptTarget* target
    cdef Py_ssize_t i
    for i in range(begun[0], min(begun[0] + CALLS_AHEAD, count)):
        fetch_ahead(plan[i].pointer, CALLED_LINES)
    while begun[0] < count:
        target = &plan[begun[0]]
        if target.name == NULL or is_freed(target):
            return
        begun[0] += 1
        if begun[0] + CALLS_AHEAD <= count:
            fetch_ahead(plan[begun[0] + CALLS_AHEAD - 1].pointer, CALLED_LINES)
        if is_to_be_called(target):
            call_kept(target, argument, &result, &error)
            if error.error != 0:
                begun[0] -= 1
                return
            if <uint32_t>result.words[0] != T_NIL:
                gd_variant_destroy(&result)
        ended[begun[0] - 1] = processor_ticks()
        if ended[begun[0] - 1] > limit or entries != before:
            return

cdef inline void fetch_ahead(void* one, int lines) noexcept nogil:
    """Prefetch the first lines of an object; NULL is none."""
    cdef int i
    for i in range(lines if one != NULL else 0):
        prefetch(<char*>one + i * CACHE_LINE)


cdef inline int64_t ticks_until(int64_t left_ns) noexcept nogil:
    return <int64_t>(min(left_ns, LONGEST_NS) / ns_of_tick)


cdef Py_ssize_t call_in_a_row(
        list calls, given, int64_t now_ns, int64_t limit_ns, ended_ns) except -1:
    """See ``KeptCall.call_row``."""
    cdef KeptTarget plan[MOST_IN_A_ROW]
    cdef uint64_t argument[2]
    cdef Py_buffer view
    cdef KeptCall call
    cdef Py_ssize_t i, begun = 0, count = min(len(calls), MOST_IN_A_ROW)
    cdef int64_t offset_ns = now_ns - stopwatch_ns(), ticks = processor_ticks()
    cdef int64_t* ended
    attribute = None
    for i in range(count):
        fetch_ahead(PyList_GetItem(calls, i), KEPT_CALL_LINES)
    for i in range(count):
        if type(calls[i]) is not KeptCall:
            raise TypeError(f"calls must be KeptCalls, got {calls[i]!r}")
        call = <KeptCall>calls[i]
        if attribute is None:
            attribute = call.attribute
        plan[i] = call.target
        if call.attribute is not attribute or call.results.taker is not None:
            plan[i].name = NULL
    if attribute is None:
        return 0
    number_variant(argument, getattr(given, attribute))
    PyObject_GetBuffer(ended_ns, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    try:
        if view.len < count * <Py_ssize_t>sizeof(int64_t):
            raise ValueError(f"ended_ns must hold {count} numbers of 8 bytes, got {view.len} bytes")
        ended = <int64_t*>view.buf
        with nogil:
            call_targets(plan, count, &begun, argument, ended, ticks + ticks_until(limit_ns - now_ns))
            if begun > 0:
                time_row(ended, begun, ticks, now_ns, stopwatch_ns() + offset_ns)
    finally:
        PyBuffer_Release(&view)
    return begun
