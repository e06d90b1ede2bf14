# cython: language_level=3, binding=False, cdivision=True
"""Kernel of ``run_times``: times in C, and between two calls of work as little as can be.

Calls are made by whoever goes through ``Shares``, as in ``_rounds``. What happens
seldom is not done here: it is told by ``was_odd``, or left to whoever goes on.
Work that offers ``calls_in_a_row`` is called from here, without Python between two of it.
"""
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

INTERFACE = 7
"""Changes with any change of names, arguments or results, here and in the twin."""

include "_slots.pxi"

cdef extern from "Python.h":
    """
    /* Without a look, each time, whether it is an iterator at all. */
    static PyObject* next_or_none(PyObject* iterator) {
        PyObject* next = PyIter_Next(iterator);
        return next == NULL && PyErr_Occurred() == NULL ? Py_NewRef(Py_None) : next;
    }
    """
    object next_or_none(object iterator)
    Py_ssize_t Py_REFCNT(PyObject* one)
    Py_ssize_t PyDict_Size(object table) except -1
    int PyDict_Contains(object table, object key) except -1
    PyObject* PyTuple_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED
    PyObject* PyList_GetItem(object row, Py_ssize_t place) except NULL  # BORROWED
    void Py_DECREF(PyObject* one)

cdef enum:
    RECENT = 64     # run_times.RECENT_RUNS
    NOT_KEPT = 2    # references to a Turn: ours, and that of whoever makes the calls
    IN_A_ROW = 64   # calls made before what they took is noted: what was looked up is in the nearest caches then


cdef struct CallsInARow:
    Py_ssize_t (*call)(PyObject** calls, Py_ssize_t count, PyObject* given, int64_t now_ns, int64_t limit_ns,
                       int64_t* ended_ns) except -1

cdef object row_type = None     # of calls that can be made in a row, as were those looked at last
cdef object other_type = None   # the last one looked at that cannot
cdef CallsInARow* row_calls     # BORROWED from the first


cdef bint is_of_a_row(call) except -1:
    """Return whether a call can be made in a row, with ``row_calls``."""
    global row_type, other_type, row_calls
    if type(call) is row_type:
        return True
    if type(call) is other_type:
        return False
    capsule = getattr(type(call), "calls_in_a_row", None)
    if capsule is None:
        other_type = type(call)
        return False
    row_calls = <CallsInARow*>PyCapsule_GetPointer(capsule, b"ai_core.calls_in_a_row")
    row_type = type(call)
    return True


cdef class Slots:
    """The slots that are read and written for each run."""
    cdef object last_run, runner, record, priority      # of Task
    cdef object run                                     # of CallableRunner, as most work has
    cdef object callable_runner
    cdef object run_times                               # of RunRecord
    cdef object elapsed_s                               # of Turn

cdef Slots slots = None


cdef int find_slots() except -1:
    """Find them when they are first needed: the modules that have them import this one."""
    global slots
    from ai_core.scheduling.statistics import RunRecord
    from ai_core.scheduling.task import Task, Turn
    from ai_core.scheduling.work import CallableRunner

    cdef Slots found = Slots.__new__(Slots)
    found.last_run, found.runner, found.record, found.priority = (
        Task._last_run, Task._runner, Task._record, Task._priority)
    found.callable_runner, found.run = CallableRunner, CallableRunner.run
    found.run_times, found.elapsed_s = RunRecord.run_times, Turn.elapsed_s
    find_slot_functions(found.run)
    slots = found
    return 0


include "_noted_times.pxi"


cdef class Shares:
    cdef object queue
    cdef object to_come
    cdef object now
    cdef object budget
    cdef object stopwatch
    cdef object make_turn
    cdef object touched
    cdef object failing
    cdef object waiting
    cdef object trace           # None if nobody is told of runs
    cdef public object result
    cdef readonly object turn
    cdef readonly object task
    cdef object call            # that needs another Turn; None if there is none
    cdef object last_run        # of the task that runs; as a rule the next one's is the same
    cdef double seconds
    cdef double* parts          # OWNED; of what is left, one for each in the queue
    cdef Py_ssize_t count
    cdef readonly Py_ssize_t place
    cdef Py_ssize_t ahead       # so many are called in a row next
    cdef int64_t number         # of the frame
    cdef bint is_calling
    cdef bint is_odd
    cdef bint is_parted         # somebody has asked for the budget of this Turn
    cdef double granted_ns
    cdef int64_t begun_ns
    cdef readonly int64_t ended_ns
    cdef int64_t deadline_ns
    cdef int64_t stop_ns        # when the rest is to wait; the first of a frame runs up to the deadline
    cdef bint may_wait

    def __dealloc__(self):
        free(self.parts)

    def __iter__(self):
        return self

    def __next__(self):
        if self.is_calling:
            self.end()
            if self.is_odd:
                raise StopIteration
            if self.trace is not None:
                self.tell()
        if self.call is not None:
            call, self.call = self.call, None
        elif self.run_in_a_row() or self.is_over() or PyDict_Size(self.touched):
            raise StopIteration
        else:
            call = self.begin()
            if call is None:
                raise StopIteration
        self.is_calling = True
        return call

    @property
    def times_ns(self):
        return self.granted_ns, self.ended_ns - self.begun_ns, self.ended_ns - self.deadline_ns

    def goes_on(self):
        if self.call is not None:
            return True
        return self.place < self.count and not self.is_over() and not PyDict_Size(self.touched)

    def end_call(self):
        if not self.is_calling:
            return False
        self.end()
        return True

    def resume(self):
        if self.trace is not None:
            self.ended_ns = self.stopwatch()

    def was_odd(self):
        was_odd, self.is_odd = self.is_odd, False
        return was_odd

    def part(self):
        self.is_parted = True
        return self.budget._part_since(self.begun_ns, self.granted_ns)

    def parts_to_come(self):
        return [self.parts[at] for at in range(self.place, self.count)]

    def finish(self):
        self.leave_turn()
        self.turn = None

    cdef bint is_over(self) noexcept:
        return self.ended_ns >= (self.stop_ns if self.place or self.may_wait else self.deadline_ns)

    cdef begin(self):
        """Return the next call; None if there is none, or if it needs another Turn."""
        cdef bint is_same = True
        if not self.take_next():
            return None
        if self.turn is None or Py_REFCNT(<PyObject*>self.turn) > NOT_KEPT:
            self.leave_turn()
            self.turn = self.make_turn()
            self.turn.now, self.turn._share = self.now, self
            self.is_parted, self.last_run, is_same = False, None, False
        elif self.is_parted:
            self.turn._share = self
            self.is_parted = False
        self.tell_elapsed(get_slot(slots.last_run, self.task))
        put_slot(slots.last_run, self.task, self.now)
        if self.trace is not None:
            for hook in self.trace.before_task:
                hook(self.task._name, self.now)
        self.begin_run()
        runner = get_slot(slots.runner, self.task)
        call = get_slot(slots.run, runner) if type(runner) is slots.callable_runner else runner.run
        if is_same:
            return call
        self.call = call
        return None

    cdef int end(self) except -1:
        self.is_calling = False
        return self.note_end(self.stopwatch())

    cdef int note_end(self, int64_t ended_ns) except -1:
        """Write down the run of ``task``, and see whether it was odd."""
        cdef RunTimes times
        self.ended_ns = ended_ns
        record = get_slot(slots.record, self.task)
        found = get_slot(slots.run_times, record)
        if type(found) is RunTimes:
            times = found
            times.note(self.granted_ns, self.ended_ns - self.begun_ns)
        else:
            record.note_run(self.granted_ns, self.ended_ns - self.begun_ns)
        if PyDict_Size(self.waiting):
            since = self.waiting.get(self.task)
            if since is not None:
                record.note_lateness(self.number - <int64_t>since)
        self.is_odd = (
            self.ended_ns > self.deadline_ns or PyDict_Size(self.touched)
            or PyDict_Size(self.failing) and PyDict_Contains(self.failing, self.task)
        )
        return 0

    cdef bint run_in_a_row(self) except -1:
        """Make the next calls as long as they can be made so; return whether the last one was odd.

        What it takes between two rows counts as used by the first of the latter, as between two calls.
        """
        cdef PyObject* calls[IN_A_ROW]
        cdef int64_t ended_ns[IN_A_ROW]
        cdef Py_ssize_t at, count = 0, made = 0
        while made == count and not (self.is_odd or self.is_over()):
            count = self.look_ahead(calls)
            if count == 0:
                return False
            try:
                made = row_calls.call(
                    calls, count, <PyObject*>self.turn, self.stopwatch(), self.stop_ns - 1, ended_ns)
            finally:
                for at in range(count):
                    Py_DECREF(calls[at])
            for at in range(made):
                self.take_next()
                put_slot(slots.last_run, self.task, self.now)
                self.begin_run()
                self.note_end(ended_ns[at])
            # What was looked at in vain is looked at again, so no farther ahead than it went well.
            self.ahead = min(2 * self.ahead, IN_A_ROW) if made == count else max(made, 1)
        return self.is_odd

    cdef Py_ssize_t look_ahead(self, PyObject** calls) except -1:
        """Put there those of the next calls that can be made in a row (OWNED by the caller), and return how many."""
        cdef Py_ssize_t at, count = 0
        if (self.trace is not None or self.is_parted or PyDict_Size(self.touched) or self.turn is None
                or Py_REFCNT(<PyObject*>self.turn) > NOT_KEPT):
            return 0
        for at in range(self.place, min(self.count, self.place + self.ahead)):
            task = <object>PyList_GetItem(self.queue, at)
            last_run, runner = get_slot(slots.last_run, task), get_slot(slots.runner, task)
            if type(runner) is not slots.callable_runner or count and last_run is not self.last_run:
                break
            call = get_slot(slots.run, runner)
            if count and type(call) is not row_type:  # another kind, and who makes those is another
                break
            if not is_of_a_row(call) or PyDict_Size(self.failing) and PyDict_Contains(self.failing, task):
                break
            self.tell_elapsed(last_run)
            Py_INCREF(call)
            calls[count] = <PyObject*>call
            count += 1
        return count

    cdef int tell_elapsed(self, last_run) except -1:
        """Let the Turn tell of the time since then."""
        if last_run is not self.last_run:
            put_slot(slots.elapsed_s, self.turn, self.seconds - <double><object>PyTuple_GetItem(last_run, 1))
            self.last_run = last_run
        return 0

    cdef bint take_next(self) except -1:
        """Go on to the next task; return whether there is one."""
        task = next_or_none(self.to_come)
        if task is None:
            self.count = self.place
            return False
        if self.place >= self.count:
            raise IndexError("a queue must not grow while it runs")
        self.task = task
        return True

    cdef int begin_run(self) except -1:
        """Let the run of ``task`` begin where that of the one before ended."""
        self.begun_ns = self.ended_ns
        self.granted_ns = (self.deadline_ns - self.begun_ns) * self.parts[self.place]
        self.place += 1
        return 0

    cdef int tell(self) except -1:
        """Tell of a run; what whoever hears it takes is nobody's time."""
        cdef double used_us = (self.ended_ns - self.begun_ns) / 1000.0
        name, trace = self.task._name, self.trace
        for hook in trace.after_task:
            hook(name, self.now, used_us)
        for hook in trace.task_ran:
            steps = self.turn._share.steps if self.is_parted else 0
            hook(name, self.now, self.granted_ns / 1000.0, steps, used_us, self.result)
        self.result = None
        self.ended_ns = self.stopwatch()
        return 0

    cdef int leave_turn(self) except -1:
        """Let a Turn that somebody has kept be what it was, for ever."""
        if self.turn is not None and not self.is_parted:
            self.turn._share = self.budget, self.begun_ns, self.granted_ns
        return 0


def begin_shares(queue, to_come, frame):
    if slots is None:
        find_slots()
    cdef Shares made = Shares.__new__(Shares)
    cdef double total, weight
    made.queue, made.to_come = queue, to_come
    cdef int64_t margin_ns
    (made.now, made.budget, made.make_turn, made.touched, made.failing, made.waiting, made.number, made.trace, total,
     margin_ns, made.may_wait) = frame
    made.count, made.ahead = len(queue), IN_A_ROW // 4
    made.parts = <double*>malloc((made.count + 1) * sizeof(double))
    if made.parts == NULL:
        raise MemoryError()
    for at in range(made.count - 1, -1, -1):  # from the end: each total holds exactly what is still to run
        weight = get_slot(slots.priority, queue[at])
        total += weight
        made.parts[at] = weight / total
    made.seconds = made.now.seconds
    made.stopwatch = made.budget._watch
    made.deadline_ns = made.budget.deadline_ns
    made.stop_ns = made.deadline_ns - margin_ns
    made.ended_ns = made.stopwatch()
    return made
