# cython: language_level=3, binding=False
"""Kernel of ``batched_round``: what is done once a frame for each bucket, whatever is in it."""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t

from array import array
from operator import length_hint as python_length_hint

from ai_core.scheduling.rounds import round_times
from ai_core.scheduling.task import Turn

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the twin."""

include "_slots.pxi"

cdef extern from "Python.h":
    Py_ssize_t PyObject_Size(object one) except -1

cdef int64_t NEVER_NS = <int64_t>1 << 62


cdef object length_hint = python_length_hint  # the stable interface of C has none
cdef object new_object = object.__new__     # a Turn without its __init__ takes half the time
cdef object now_slot = Turn.now, elapsed_slot = Turn.elapsed_s, budget_slot = Turn.budget
find_slot_functions(now_slot)


cdef object turn_of(now, double elapsed_s, budget):
    turn = new_object(Turn)
    put_slot(now_slot, turn, now)
    put_slot(elapsed_slot, turn, elapsed_s)
    put_slot(budget_slot, turn, budget)
    return turn


cdef class BatchedRound:
    cdef readonly object turn
    cdef readonly object bucket
    cdef readonly bint is_timed
    cdef readonly int64_t begun_ns
    cdef readonly int64_t ended_ns
    cdef object row
    cdef object batch_of
    cdef object batch
    cdef object moment
    cdef object last            # the moment of the round before
    cdef double last_s
    cdef object stopwatch
    cdef object stamps
    cdef Py_buffer view         # OWNED; of the stamps
    cdef int64_t first_ns       # when the round began
    cdef int64_t limit_ns
    cdef int64_t longest_ns
    cdef int64_t rounds
    cdef Py_ssize_t size
    cdef bint is_late
    cdef bint is_stale
    cdef bint is_calling

    def __dealloc__(self):
        PyBuffer_Release(&self.view)

    def begin(self, moment, budget, stopwatch, limit_ns, timed_every):
        cdef int64_t left_ns
        last = self.row.last
        if last is not self.last:  # somebody else went through the row
            self.last, self.last_s = last, last[1]
        self.turn = turn = turn_of(moment[0], <double>moment[1] - self.last_s, budget)
        self.moment, self.stopwatch, self.limit_ns = moment, stopwatch, limit_ns
        self.bucket, self.is_late, self.is_calling = self.row, False, False
        if self.batch is None:
            self.make_batch()
        self.batch.begin(turn)
        if stopwatch is not None:
            self.first_ns = self.begun_ns = self.ended_ns = stopwatch()
            left_ns = self.limit_ns - self.begun_ns
            self.is_timed = self.rounds % <int64_t>timed_every == 0 or left_ns < 2 * self.longest_ns
            self.rounds += 1
            if self.is_timed:
                (<int64_t*>self.view.buf)[0] = self.begun_ns

    @property
    def place(self):
        return self.begun()

    def goes_on(self):
        if self.bucket is None:
            return False
        if self.begun() < self.size:
            return True
        self.end()
        return False

    def run(self):
        cdef object turn = self.turn
        for call in self if self.stopwatch is not None and self.is_timed else self.batch:
            call(turn)
        if not self.see_end() or self.is_late:
            return False
        self.end()
        return True

    def __iter__(self):
        return self if self.stopwatch is not None and self.is_timed else self.batch

    def __next__(self):
        if self.is_calling:
            self.is_calling = False
            if self.note_end():
                raise StopIteration
        call = self.batch.timed(self.stamps, self.limit_ns)
        if self.is_over_limit(self.begun() - (call is not None)) or call is None:
            raise StopIteration
        self.is_calling = True
        return call

    def end_call(self):
        self.is_calling = False
        if self.stopwatch is not None and self.is_timed:
            self.note_end()
        else:
            self.see_end()

    def call_changed(self, bucket):
        """Nothing to do: the batch looks at what has changed."""

    def row_changes(self):
        self.is_stale = self.bucket is not None
        if not self.is_stale:
            self.batch = None

    def was_late(self):
        was_late, self.is_late = self.is_late, False
        return was_late

    cdef int make_batch(self) except -1:
        self.batch = self.batch_of(self.row)
        self.size = PyObject_Size(self.row)
        PyBuffer_Release(&self.view)
        self.stamps = array("q", bytes(8 * (self.size + 1)))
        PyObject_GetBuffer(self.stamps, &self.view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        return 0

    cdef Py_ssize_t begun(self) except -1:
        return self.size - <Py_ssize_t>length_hint(self.batch)

    cdef int see_end(self) except -1:
        """Return whether all calls were made; a round that is timed as a whole has ended then."""
        if self.begun() < self.size:
            return False
        if self.stopwatch is not None and not self.is_timed:
            self.ended_ns = self.stopwatch()
            self.is_late = self.ended_ns > self.limit_ns
        return True

    cdef bint note_end(self) except -1:
        (<int64_t*>self.view.buf)[self.begun()] = self.stopwatch()
        return self.is_over_limit(self.begun())

    cdef bint is_over_limit(self, Py_ssize_t ended) except -1:
        """Look at the last of so many calls that have ended."""
        if ended > 0:
            self.begun_ns = (<int64_t*>self.view.buf)[ended - 1]
            self.ended_ns = (<int64_t*>self.view.buf)[ended]
        if self.ended_ns <= self.limit_ns:
            return False
        self.is_late, self.limit_ns = True, NEVER_NS
        return True

    cdef int end(self) except -1:
        cdef int64_t taken_ns
        self.bucket, self.row.last = None, self.moment
        self.last, self.last_s = self.moment, self.moment[1]
        self.turn = None  # let go of while it is in the caches, and not when the bucket is due again
        if self.stopwatch is not None:
            if self.is_timed:
                if self.row.times is None:
                    self.row.times = round_times(self.size)
                self.row.times.note(self.stamps)
            taken_ns = self.ended_ns - self.first_ns
            self.longest_ns = max(self.longest_ns - self.longest_ns // 16, taken_ns)
        if self.is_stale:
            self.batch, self.is_stale = None, False
        return 0


def batched_round(row, batch_of):
    cdef BatchedRound made = BatchedRound.__new__(BatchedRound)
    made.row, made.batch_of, made.moment = row, batch_of, row.last
    made.limit_ns = NEVER_NS
    return made
