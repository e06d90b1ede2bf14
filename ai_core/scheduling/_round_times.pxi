# How long each task of a bucket took, in rounds that have ended.

cdef class RoundTimes:
    cdef Py_ssize_t tasks
    cdef int64_t rounds
    cdef int64_t* total_ns      # OWNED; of each task
    cdef int64_t* longest_ns    # in the same block, as are
    cdef int64_t* recent_ns     # the latest rounds, one after the other

    def __cinit__(self, Py_ssize_t tasks):
        if tasks < 0:
            raise ValueError(f"tasks must be at least 0, got {tasks}")
        self.tasks = tasks
        self.total_ns = <int64_t*>calloc(1 + tasks * (2 + RECENT), sizeof(int64_t))
        if self.total_ns == NULL:
            raise MemoryError()
        self.longest_ns = self.total_ns + tasks
        self.recent_ns = self.longest_ns + tasks

    def __dealloc__(self):
        free(self.total_ns)

    def note(self, stamps):
        cdef Py_ssize_t size = len(stamps)
        cdef Py_buffer view
        if size != self.tasks + 1:
            raise ValueError(f"stamps must be {self.tasks + 1}, got {size}")
        PyObject_GetBuffer(array("q", stamps), &view, PyBUF_C_CONTIGUOUS)
        try:
            self.add(<const int64_t*>view.buf, self.tasks)
        finally:
            PyBuffer_Release(&view)

    def columns(self):
        cdef int64_t kept = min(self.rounds, RECENT)
        return [
            (
                self.rounds, self.total_ns[task], self.longest_ns[task],
                [self.recent_ns[number % RECENT * self.tasks + task]
                 for number in range(self.rounds - kept, self.rounds)],
            )
            for task in range(self.tasks)
        ]

    cdef int add(self, const int64_t* stamps, Py_ssize_t tasks) except -1:
        cdef int64_t* row = self.recent_ns + self.rounds % RECENT * self.tasks
        cdef int64_t used_ns
        cdef Py_ssize_t task
        if tasks != self.tasks:  # never reached: whoever changes a bucket takes its times
            raise ValueError(f"a round must be of {self.tasks} tasks, got {tasks}")
        for task in range(tasks):
            used_ns = stamps[task + 1] - stamps[task]
            self.total_ns[task] += used_ns
            if used_ns > self.longest_ns[task]:
                self.longest_ns[task] = used_ns
            row[task] = used_ns
        self.rounds += 1
        return 0
