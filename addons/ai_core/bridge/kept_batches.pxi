# Many kept calls in one crossing, each with the same number.
#
# GIL: released once for all of them. Should Python code of this thread run meanwhile, called
#   by what is called, then calls may have changed: so it is taken again, and that looked at.
# BORROWED: targets are copies, of KeptCalls that ``held`` keeps alive.

cdef extern from "stopwatch.h":
    int64_t stopwatch_ns() nogil


@cython.final
cdef class KeptBatch:
    """Goes through a row of callables again and again, and calls those that are KeptCalls itself.

    An iterator: what it cannot call, or what the engine refuses, it returns, to be called by
    whoever iterates, and goes on after it. ``operator.length_hint`` tells how many are still to
    begin, also while one of them runs.

    Args:
        row: has a sequence ``calls``, and counts in ``changes`` what changes in it: anything at
            any time, but its length only before ``begin``.

    Cost: 0.01 us a call and what the method takes; after a change 0.02 us a call once.
    """
    cdef object row
    cdef object held             # the calls as they were looked at last
    cdef KeptTarget* plan        # OWNED; without a name: not to be called here
    cdef Py_ssize_t count, begun
    cdef object attribute, changes
    cdef uint64_t seen_changes
    cdef double number

    def __init__(self, row):
        self.row = row

    def __dealloc__(self):
        free(self.plan)

    def begin(self, given):
        """Start anew with what has the attribute that KeptCalls look up; one look is for all."""
        self.begun = 0
        self.see_changes()
        if self.attribute is not None:
            self.number = getattr(given, self.attribute)

    def __iter__(self): return self

    def __length_hint__(self): return max(0, self.count - self.begun)

    def __next__(self):
        self.call_on(NULL, 0, 0)
        if self.begun >= self.count:
            raise StopIteration  # here, where Cython makes no traceback of it, which would cost 5 us
        return self.next_call()

    def timed(self, stamps, limit_ns):
        """Go on, and return what is to be called next: None at the end, and after one that ended late.

        Args:
            stamps: one more (ns, of 8 bytes) than there are calls: when they began, then when each
                ended. Those made here are put there. They follow on the one before, so the stopwatch
                that made it may be any that runs as clocks do.
            limit_ns: who ends after it is late.
        """
        cdef Py_buffer view
        cdef Py_ssize_t first = self.begun
        cdef int64_t* ended_ns
        self.see_changes()
        PyObject_GetBuffer(stamps, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        try:
            if first > self.count:
                raise RuntimeError(f"calls were removed while they run: {first} have begun and {self.count} are left")
            if view.len != (self.count + 1) * <Py_ssize_t>sizeof(int64_t):
                raise ValueError(f"stamps must be {self.count + 1} of 8 bytes, got {view.len} bytes")
            ended_ns = <int64_t*>view.buf
            self.call_on(ended_ns + 1, ended_ns[first] - stopwatch_ns(), limit_ns)
            if self.begun >= self.count or (self.begun > first and ended_ns[self.begun] > <int64_t>limit_ns):
                return None
            return self.next_call()
        finally:
            PyBuffer_Release(&view)

    cdef object next_call(self):
        self.begun += 1
        return self.held[self.begun - 1]

    cdef int call_on(self, int64_t* ended_ns, int64_t offset_ns, int64_t limit_ns) except -1:
        """Call as many as can be, until one ends beyond the limit."""
        cdef uint64_t argument[2]
        cdef int why = PYTHON_RAN
        cdef Py_ssize_t room = self.count
        number_variant(argument, self.number)
        while why == PYTHON_RAN:
            self.see_changes()      # also before the first: what was handed out has run since
            if ended_ns != NULL and self.count > room:
                raise RuntimeError(f"calls were added while they run: there were {room}, and are {self.count}")
            with nogil:
                why = call_row(self.plan, self.count, &self.begun, argument, ended_ns, offset_ns, limit_ns)

    cdef int see_changes(self) except -1:
        cdef Py_ssize_t i
        cdef KeptCall call
        cdef KeptTarget* plan
        if self.seen_changes == kept_changes and self.held is not None and self.row.changes == self.changes:
            return 0
        held = self.row.calls[:]
        plan = <KeptTarget*>memory_of(len(held) + 1, sizeof(KeptTarget))
        free(self.plan)
        self.plan, self.held, self.count = plan, held, len(held)
        self.changes, self.seen_changes = self.row.changes, kept_changes
        for i in range(self.count):
            if type(self.held[i]) is KeptCall:
                call = self.held[i]
                self.attribute = self.attribute or call.attribute
                if call.attribute is self.attribute and call.results.taker is None:
                    self.plan[i] = call.target


cdef enum:
    CALLS_AHEAD = 8              # who is rarely called lies in no near cache, and comes while others run
    CALLED_LINES = 12            # of 64 bytes: as far into a Node3D as the question for its script reads, and where it is
    MOST_IN_A_ROW = 64           # calls that are made for one who asks in C
    STOPPED = 0                  # at the end, at one who is not called here, or after one who was late
    PYTHON_RAN = 1

cdef int call_row(const KeptTarget* plan, Py_ssize_t count, Py_ssize_t* begun, const uint64_t* argument,
                  int64_t* ended_ns, int64_t offset_ns, int64_t limit_ns) noexcept nogil:
    """Go on from the call ``begun``, which counts them as they begin, until one ends beyond the limit."""
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
            return STOPPED
        begun[0] += 1
        if begun[0] + CALLS_AHEAD <= count:
            fetch_ahead(plan[begun[0] + CALLS_AHEAD - 1].pointer, CALLED_LINES)
        if is_to_be_called(target):
            call_kept(target, argument, &result, &error)
            if error.error != 0:
                begun[0] -= 1
                return STOPPED
            if <uint32_t>result.words[0] != T_NIL:
                gd_variant_destroy(&result)
        if ended_ns != NULL:
            ended_ns[begun[0] - 1] = stopwatch_ns() + offset_ns
            if ended_ns[begun[0] - 1] > limit_ns:
                return STOPPED
        if entries != before:
            return PYTHON_RAN
    return STOPPED

cdef inline void fetch_ahead(void* node, int lines) noexcept nogil:
    """Have a node brought nearer by the time it is read; NULL is none."""
    cdef int i
    for i in range(lines if node != NULL else 0):
        prefetch(<char*>node + i * CACHE_LINE)


cdef Py_ssize_t call_in_a_row(PyObject** calls, Py_ssize_t count, PyObject* given, int64_t now_ns, int64_t limit_ns,
                              int64_t* ended_ns) except -1:
    """As KeptCall says of ``calls_in_a_row``."""
    cdef KeptTarget plan[MOST_IN_A_ROW]
    cdef uint64_t argument[2]
    cdef KeptCall call = <KeptCall><object>calls[0]
    cdef Py_ssize_t i, begun = 0
    cdef int64_t offset_ns = now_ns - stopwatch_ns()
    attribute = call.attribute
    number_variant(argument, getattr(<object>given, attribute))
    for i in range(min(count, MOST_IN_A_ROW)):
        call = <KeptCall><object>calls[i]
        plan[i] = call.target
        if call.attribute is not attribute or call.results.taker is not None:
            plan[i].name = NULL
    with nogil:
        call_row(plan, min(count, MOST_IN_A_ROW), &begun, argument, ended_ns, offset_ns, limit_ns)
    return begun
