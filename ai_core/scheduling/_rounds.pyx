# cython: language_level=3, binding=False
"""Kernel of ``rounds``: the same functions, the same results.

What is between two calls of work is done here, in ``__next__``; the calls are made
by whoever goes through a round, as Python calls Python faster than C does.
"""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc, realloc

from array import array

from ai_core.scheduling.task import Turn

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef extern from "Python.h":
    void Py_INCREF(PyObject* one)
    void Py_DECREF(PyObject* one)
    Py_ssize_t Py_REFCNT(PyObject* one)
    PyObject* PyList_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED
    Py_ssize_t PyList_Size(object row) except -1
    PyObject* PyTuple_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED

cdef enum:
    RECENT = 64     # statistics.RECENT_RUNS
    NOT_KEPT = 2    # references to a Turn: the round's, and that of whoever makes the calls

cdef int64_t NEVER_NS = <int64_t>1 << 62


cdef class Row:
    cdef public list calls
    cdef public object last
    cdef public object times

    def __init__(self, last):
        self.calls = []
        self.last = last

    def __len__(self):
        return PyList_Size(self.calls)


cdef class Round:
    cdef list buckets
    cdef object moment
    cdef object stopwatch
    cdef readonly object turn
    cdef readonly Row bucket
    cdef double seconds
    cdef double elapsed_s
    cdef Py_ssize_t number      # of the bucket that comes next
    cdef PyObject** calls       # OWNED; of all buckets in one row, those from `at` on hold a reference each
    cdef Py_ssize_t total
    cdef Py_ssize_t at          # of the call that comes next
    cdef Py_ssize_t begin       # of the bucket
    cdef Py_ssize_t end
    cdef bint is_calling
    cdef bint is_late
    cdef int64_t limit_ns
    cdef readonly int64_t begun_ns
    cdef readonly int64_t ended_ns
    cdef int64_t* stamps        # OWNED; when the bucket began, and when each of its calls ended
    cdef Py_ssize_t room

    def __dealloc__(self):
        for at in range(self.at, self.total):
            Py_DECREF(self.calls[at])
        free(self.calls)
        free(self.stamps)

    @property
    def place(self):
        return self.at - self.begin

    def __iter__(self):
        return self

    def __next__(self):
        if self.is_calling:
            self.is_calling = False
            if self.stopwatch is not None:
                self.stamp()
                if self.is_late:
                    raise StopIteration
        if self.at >= self.end:
            self.end_bucket()
            if not self.begin_bucket():
                raise StopIteration
        self.is_calling = True
        call = <object>self.calls[self.at]
        Py_DECREF(self.calls[self.at])  # what the row held is handed on
        self.at += 1
        return call

    def goes_on(self):
        if self.at < self.end:
            return True
        self.end_bucket()
        self.begin_bucket()
        return self.bucket is not None

    def end_call(self):
        if self.is_calling:
            self.is_calling = False
            if self.stopwatch is not None:
                self.stamp()

    def was_late(self):
        was_late, self.is_late = self.is_late, False
        return was_late

    def call_changed(self, bucket):
        """Read the calls of a bucket anew that are still to be made."""
        cdef Py_ssize_t begin = 0, size
        cdef Row one
        for one in self.buckets:
            size = PyList_Size(one.calls)
            if one is bucket:
                for at in range(max(begin, self.at), begin + size):
                    self.put(at, PyList_GetItem(one.calls, at - begin))
            begin += size

    cdef int put(self, Py_ssize_t at, PyObject* call) except -1:
        cdef PyObject* before = self.calls[at]
        if at >= self.total:
            raise IndexError("buckets must not grow while a frame runs")
        Py_INCREF(call)
        self.calls[at] = call
        Py_DECREF(before)
        return 0

    cdef int stamp(self) except -1:
        cdef int64_t now_ns = self.stopwatch()
        self.begun_ns = self.ended_ns
        self.ended_ns = now_ns
        self.stamps[self.at - self.begin] = now_ns
        if now_ns > self.limit_ns:
            self.is_late = True
            self.limit_ns = NEVER_NS
        return 0

    cdef bint begin_bucket(self) except -1:
        """Return whether there is one that needs no other Turn."""
        cdef double elapsed_s
        cdef bint is_same = True
        if self.number >= PyList_Size(self.buckets):
            return False
        self.bucket = <Row?><object>PyList_GetItem(self.buckets, self.number)
        self.number += 1
        elapsed_s = self.seconds - <double><object>PyTuple_GetItem(self.bucket.last, 1)
        if elapsed_s != self.elapsed_s:
            if Py_REFCNT(<PyObject*>self.turn) > NOT_KEPT:
                self.turn = Turn(self.turn.now, elapsed_s, self.turn.budget)
                is_same = False
            else:
                self.turn.elapsed_s = elapsed_s
            self.elapsed_s = elapsed_s
        self.begin, self.end = self.end, self.end + PyList_Size(self.bucket.calls)
        if self.end > self.total:
            raise IndexError("buckets must not grow while a frame runs")
        if self.stopwatch is not None:
            self.make_room()
            self.stamps[0] = self.ended_ns
        return is_same

    cdef int end_bucket(self) except -1:
        cdef RoundTimes times
        if self.bucket is None:
            return 0
        self.bucket.last = self.moment
        if self.stopwatch is not None:
            times = self.bucket.times
            if times is None:
                times = self.bucket.times = RoundTimes.__new__(RoundTimes, self.end - self.begin)
            times.add(self.stamps, self.end - self.begin)
        self.bucket = None
        return 0

    cdef int make_room(self) except -1:
        cdef Py_ssize_t needed = self.end - self.begin + 1
        cdef void* grown
        if needed > self.room:
            grown = realloc(self.stamps, 2 * needed * sizeof(int64_t))
            if grown == NULL:
                raise MemoryError()
            self.stamps, self.room = <int64_t*>grown, 2 * needed
        return 0

    cdef int take_calls(self) except -1:
        """Take all calls in one go: from all over memory they come faster than one by one."""
        cdef Py_ssize_t total = 0
        cdef PyObject* call
        cdef Row bucket
        for bucket in self.buckets:
            total += PyList_Size(bucket.calls)
        self.calls = <PyObject**>malloc((total + 1) * sizeof(PyObject*))
        if self.calls == NULL:
            raise MemoryError()
        for bucket in self.buckets:
            for place in range(PyList_Size(bucket.calls)):
                call = PyList_GetItem(bucket.calls, place)
                Py_INCREF(call)
                self.calls[self.total] = call
                self.total += 1
        return 0


def due_rows(list rings, long long frame):
    cdef Row row
    cdef long long period
    due = []
    for one in rings:
        period = <object>PyTuple_GetItem(one, 0)
        if period < 1:
            raise ValueError(f"a period must be at least 1, got {period}")
        row = <Row?><object>PyList_GetItem(<object>PyTuple_GetItem(one, 1), frame % period)
        if PyList_Size(row.calls):
            due.append(row)
    return due


def begin_round(list buckets, moment, turn, stopwatch, limit_ns):
    cdef Round made = Round.__new__(Round)
    made.buckets, made.moment, made.turn, made.stopwatch = buckets, moment, turn, stopwatch
    made.limit_ns = limit_ns
    made.seconds = <object>PyTuple_GetItem(moment, 1)
    made.take_calls()
    if stopwatch is not None:
        made.begun_ns = made.ended_ns = stopwatch()
    return made


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


def round_times(tasks):
    return RoundTimes(tasks)
