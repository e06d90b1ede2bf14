# Many kept calls in one crossing, each with the same number.
#
# GIL: released once for all of them. The row ends after a call that runs Python code of this thread, because that
#   code may change the calls that follow.
# BORROWED: targets are copies, of KeptCalls that the list of calls keeps alive.

cdef extern from "stopwatch.h":
    int64_t stopwatch_ns() nogil


cdef enum:
    CALLS_AHEAD = 8              # who is rarely called lies in no near cache, and comes while others run
    CALLED_LINES = 12            # of 64 bytes: as far into a Node3D as the question for its script reads, and where it is
    MOST_IN_A_ROW = 64           # calls that are made at once

cdef void call_targets(const KeptTarget* plan, Py_ssize_t count, Py_ssize_t* begun, const uint64_t* argument,
                  int64_t* ended_ns, int64_t offset_ns, int64_t limit_ns) noexcept nogil:
    """Make calls in order, until one needs the slow form, ends beyond the limit or runs Python; ``begun`` counts them."""
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
        ended_ns[begun[0] - 1] = stopwatch_ns() + offset_ns
        if ended_ns[begun[0] - 1] > limit_ns or entries != before:
            return

cdef inline void fetch_ahead(void* node, int lines) noexcept nogil:
    """Prefetch a node; NULL is none."""
    cdef int i
    for i in range(lines if node != NULL else 0):
        prefetch(<char*>node + i * CACHE_LINE)


cdef Py_ssize_t call_in_a_row(
        list calls, given, int64_t now_ns, int64_t limit_ns, ended_ns) except -1:
    """See ``KeptCall.call_row``."""
    cdef KeptTarget plan[MOST_IN_A_ROW]
    cdef uint64_t argument[2]
    cdef Py_buffer view
    cdef KeptCall call
    cdef Py_ssize_t i, begun = 0, count = min(len(calls), MOST_IN_A_ROW)
    cdef int64_t offset_ns = now_ns - stopwatch_ns()
    attribute = None
    for i in range(count):
        call = <KeptCall?>calls[i]
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
        with nogil:
            call_targets(plan, count, &begun, argument, <int64_t*>view.buf, offset_ns, limit_ns)
    finally:
        PyBuffer_Release(&view)
    return begun
