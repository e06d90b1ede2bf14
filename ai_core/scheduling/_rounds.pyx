# cython: language_level=3, binding=False
"""Kernel of ``rounds``: the same functions, the same results.

What is between two calls of work is done here, in ``__next__``; the calls are made
by whoever goes through a round, as Python calls Python faster than C does.
"""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove

from array import array
from types import MethodType

from ai_core.scheduling.task import Turn

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef extern from "Python.h":
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define fetch_ahead(address) __builtin_prefetch(address)
    #else
    #define fetch_ahead(address) ((void)(address))
    #endif
    #define put_slot(slot, one, value) ((descrsetfunc)PyType_GetSlot(Py_TYPE(slot), Py_tp_descr_set))(slot, one, value)
    """
    int put_slot(object slot, object one, object value) except -1
    void fetch_ahead(const void* address) nogil
    Py_ssize_t Py_REFCNT(PyObject* one)
    PyObject* PyList_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED
    Py_ssize_t PyList_Size(object row) except -1
    PyObject* PyTuple_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED

cdef enum:
    RECENT = 64     # statistics.RECENT_RUNS
    NOT_KEPT = 2    # references to a Turn: the round's, and that of whoever makes the calls
    AHEAD = 6       # calls: about as long as memory takes to answer; half and double cost a tenth more

cdef int64_t NEVER_NS = <int64_t>1 << 62

UNTOLD = "buckets must not change while a frame runs, but by calls that call_changed is told of; nor two frames run"

# Setting a slot by its descriptor takes a fifth of what looking its name up takes.
cdef object elapsed_slot = Turn.elapsed_s


include "_rows.pxi"
include "_round_times.pxi"


cdef uint64_t rounds_begun = 0


cdef struct Taken:
    int64_t version             # of a bucket, when its calls were taken
    Py_ssize_t size


cdef class Round:
    cdef list buckets
    cdef Taken* taken           # OWNED; of each bucket
    cdef Py_ssize_t count       # of buckets
    cdef uint64_t own_number    # of all rounds there ever were, from 1
    cdef object moment
    cdef object stopwatch
    cdef readonly object turn
    cdef readonly Row bucket
    cdef double seconds
    cdef double elapsed_s
    cdef Py_ssize_t number      # of the bucket that comes next
    cdef Planned* plan          # OWNED; of all buckets in one row, and a bit more, to be fetched ahead
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
        cdef Py_ssize_t number
        cdef Row one
        if self.buckets is not None and PyList_Size(self.buckets) == self.count:  # else Python has cleared a circle
            for number in range(self.count):
                one = <Row><object>PyList_GetItem(self.buckets, number)
                if one.taken_by == self.own_number:
                    one.let_go()
        free(self.taken)
        free(self.plan)
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
        if self.bucket.taken_by != self.own_number:
            raise IndexError(UNTOLD)  # another round has begun since
        self.is_calling = True
        fetch_ahead(self.plan[self.at + AHEAD].near)
        fetch_ahead(self.plan[self.at + 2 * AHEAD].call)
        self.at += 1
        return <object>self.plan[self.at - 1].call

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
        cdef Py_ssize_t begin = 0, number
        cdef Row one
        for number in range(self.count):
            if <PyObject*>bucket == PyList_GetItem(self.buckets, number):
                one = bucket
                if one.size != self.taken[number].size:
                    raise IndexError(UNTOLD)
                memcpy(self.plan + begin, one.plan, one.size * sizeof(Planned))
                self.taken[number].version = one.version
            begin += self.taken[number].size

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
        if self.number >= self.count:
            return False
        self.bucket = <Row><object>PyList_GetItem(self.buckets, self.number)  # as take_calls has seen
        if self.bucket.version != self.taken[self.number].version or self.bucket.taken_by != self.own_number:
            raise IndexError(UNTOLD)
        self.number += 1
        elapsed_s = self.seconds - self.bucket.last_s
        if elapsed_s != self.elapsed_s:
            if Py_REFCNT(<PyObject*>self.turn) > NOT_KEPT:
                self.turn = Turn(self.turn.now, elapsed_s, self.turn.budget)
                is_same = False
            else:
                put_slot(elapsed_slot, self.turn, elapsed_s)
            self.elapsed_s = elapsed_s
        self.begin, self.end = self.end, self.end + self.bucket.size
        if self.stopwatch is not None:
            self.make_room()
            self.stamps[0] = self.ended_ns
        return is_same

    cdef int end_bucket(self) except -1:
        cdef RoundTimes times
        if self.bucket is None:
            return 0
        self.bucket.moment, self.bucket.last_s = self.moment, self.seconds
        self.bucket.let_go()
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
        """Take all calls in one row, as what comes is fetched ahead of being called."""
        cdef Py_ssize_t buckets = PyList_Size(self.buckets), total = 0, number
        cdef Row bucket
        global rounds_begun
        rounds_begun += 1
        self.own_number = rounds_begun
        self.taken = <Taken*>malloc((buckets + 1) * sizeof(Taken))
        if self.taken == NULL:
            raise MemoryError()
        for number in range(buckets):
            bucket = <Row?><object>PyList_GetItem(self.buckets, number)
            total += bucket.size
            self.taken[number].version, self.taken[number].size = bucket.version, bucket.size
            bucket.let_go()
            bucket.taken_by = self.own_number
            self.count += 1
        self.plan = <Planned*>malloc((total + 2 * AHEAD) * sizeof(Planned))
        if self.plan == NULL:
            raise MemoryError()
        for number in range(buckets):
            bucket = <Row><object>PyList_GetItem(self.buckets, number)
            memcpy(self.plan + self.total, bucket.plan, bucket.size * sizeof(Planned))
            self.total += bucket.size
        for number in range(total, total + 2 * AHEAD):
            self.plan[number].call, self.plan[number].near = <PyObject*>self, <void*>self
        return 0


def begin_round(list buckets, moment, turn, stopwatch, limit_ns):
    cdef Round made = Round.__new__(Round)
    made.buckets, made.moment, made.turn, made.stopwatch = buckets[:], moment, turn, stopwatch
    made.limit_ns = limit_ns
    made.seconds = <object>PyTuple_GetItem(moment, 1)
    made.take_calls()
    if stopwatch is not None:
        made.begun_ns = made.ended_ns = stopwatch()
    return made


def round_times(tasks):
    return RoundTimes(tasks)
