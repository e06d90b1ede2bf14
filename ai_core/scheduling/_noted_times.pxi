# What runs were given and used, of constant size.

cdef struct Times:
    int64_t total_ns
    int64_t longest_ns
    int64_t count       # of all that went into the ring
    int64_t ring_ns[RECENT]


cdef class RunTimes:
    cdef readonly int64_t noted
    cdef Times* given   # OWNED; of two, the other is what was used

    def __dealloc__(self):
        free(self.given)

    def note_run(self, double granted_ns, int64_t used_ns):
        self.note(granted_ns, used_ns)

    def note_rounds(self, int64_t total_ns, int64_t longest_ns, recent_ns):
        cdef Times* used = self.times() + 1
        used.total_ns += total_ns
        used.longest_ns = max(used.longest_ns, longest_ns)
        for one in recent_ns:
            used.ring_ns[used.count % RECENT] = one
            used.count += 1

    def granted(self):
        return seen(self.times())

    def used(self):
        return seen(self.times() + 1)

    cdef Times* times(self) except NULL:
        if self.given == NULL:
            self.given = <Times*>calloc(2, sizeof(Times))
            if self.given == NULL:
                raise MemoryError()
        return self.given

    cdef int note(self, double granted_ns, int64_t used_ns) except -1:
        cdef Times* times = self.times()
        add(times, <int64_t>granted_ns)
        add(times + 1, used_ns)
        self.noted += 1
        return 0


cdef int add(Times* times, int64_t one_ns) noexcept:
    times.total_ns += one_ns
    if one_ns > times.longest_ns:
        times.longest_ns = one_ns
    times.ring_ns[times.count % RECENT] = one_ns
    times.count += 1
    return 0


cdef seen(const Times* times):
    cdef int64_t first = max(0, times.count - RECENT)
    return times.total_ns, times.longest_ns, [times.ring_ns[at % RECENT] for at in range(first, times.count)]
