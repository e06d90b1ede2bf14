# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=False
"""Kernel of habits: places, runs, ticks and values as records in C; the same decisions, in the same order.

Twins: ``habit_place``, ``habit_context``, ``habit_agenda``, ``habit_launching``,
``habit_ticking``, ``habit_turns`` and ``turns``, which say what everything means. ``HabitTree`` adds to either
what happens rarely: edits, faults, traces, saving.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from heapq import heappush
from math import inf as INF
from sys import intern

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_choice import choose
from ai_core.decisions.habits.habits import Launch, Outcome, Status
from ai_core.errors import UnknownNameError, finite_number, shown
from ai_core.scheduling.task import Turn

INTERFACE = 7
"""Changes with any change of names, arguments or results, here and in the twins."""

cdef double inf = INF
cdef double AWAKE = -INF
cdef double ROUNDING_S = 1e-9
cdef double LISTENS_AGAIN_S = 0.1   # who counts changes is asked again after so long; docs/habits.md says 0.5 with all turns
cdef object RUNNING = Status.RUNNING, SUCCEEDED = Status.SUCCEEDED, FAILED = Status.FAILED
cdef object PRIORITIZED = Launch.PRIORITIZED, SEQUENTIAL = Launch.SEQUENTIAL, RANDOM = Launch.RANDOM
cdef object FALLBACK = Launch.FALLBACK
cdef object BlackboardType = Blackboard, StatusType = Status, TurnType = Turn, pick = choose, push_timer = heappush
cdef object INVERTED = Outcome.INVERTED, ALWAYS_SUCCEEDED = Outcome.ALWAYS_SUCCEEDED

cdef tuple COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")

cdef enum:
    TICK = 0
    CHALLENGE = 1
    BESIDE = 2
    CONTINUE = 3
    RESTART = 4
    TIME_OUT = 5
    BEGIN = 6
    RESULT = 7
    JOIN = 8
    ASK = 9             # a challenge in which all are asked in one go
    ORDINARY = 1
    SIMPLE = 2          # a run that ends in its first tick leaves nothing behind but how it ended
    AT_ONCE = 3         # simple, and a built-in leaf that compares or writes: needs no run
    LAUNCHER = 4        # does nothing but launch children one after the other: needs a run only if it lasts
    MOST_BEGUN_IN_A_TICK = 256
    MOST_SPARE = 64     # runs kept for the next ones (count); as many as begin in a few ticks

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(object)
    object PyObject_CallFunctionObjArgs(object, ...)    # needs no tuple for the arguments
    ctypedef struct PyObject
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    double PyFloat_AsDouble(object) except? -1.0
    void PyErr_Clear()


cdef struct Brief
cdef struct DirectCalls

cdef PyObject* quiet_trace = NULL       # BORROWED; nobody hears of states by it, and no other code has run since

include "_habit_context.pxi"

cdef HabitContext first_spare_run = None    # OWNED; the next one is its parent
cdef Py_ssize_t spare_count = 0
include "_habit_agenda.pxi"
include "_habit_values.pxi"
include "_habit_endings.pxi"
include "_habit_listening.pxi"
include "_habit_kinds.pxi"
include "_habit_briefs.pxi"
include "_habit_launching.pxi"


cdef class HabitTicking:
    cdef public object plan, owner, _blackboard, _random, _faults, _trace, _member
    cdef public object _moment, _next_parts, _next_root, _kept_errors, _over, _noticed
    cdef object counter
    cdef const uint64_t* listener_changes    # BORROWED from ``counter``, or NULL
    cdef uint64_t seen_changes
    cdef double listened_s
    cdef object row
    cdef public object listening, on_entered, on_exited
    cdef HabitContext top_run                # of the root, or None
    cdef HabitContext spare_leaf             # within a tick: a run that is over, for the next leaf
    cdef Brief* brief                        # the innermost habit that launches others and has no run yet
    cdef PyObject* known_key                 # BORROWED from a condition; what was looked up last, or NULL
    cdef PyObject* known                     # BORROWED from the blackboard, until other code runs
    cdef uint8_t* ended                      # OWNED; by place, how it ended; text of any kind is in ``texts``
    cdef Py_ssize_t ended_count
    cdef dict texts
    cdef public HabitContext _asking
    cdef public list _agenda
    cdef public dict holds, _cooldowns, _asks_at_s, _answered, _told
    cdef public double _now_s, _rebuild_at_s, _wake_at_s
    cdef public Py_ssize_t _frame, _tick_number, _begun
    cdef public bint _asks_all, _is_busy, _is_lasting, _is_quiet, _is_traced, _should_stop

    def __cinit__(self, *_, **__):
        self.holds = {}
        self.texts = {}
        self._rebuild_at_s = self.listened_s = inf
        self._wake_at_s = AWAKE
        self._asks_all = True

    def __init__(self):
        pass

    def __dealloc__(self):
        free(self.ended)

    @property
    def parts(self):
        return self.row

    @parts.setter
    def parts(self, parts):
        self.row = parts
        self.listened_s = inf       # others may listen to these

    @property
    def listening_counter(self):
        return self.counter

    @listening_counter.setter
    def listening_counter(self, counter):
        self.counter = counter
        self.listened_s = inf
        self.listener_changes = NULL
        if counter is not None:
            self.listener_changes = <const uint64_t*>PyCapsule_GetPointer(counter, b"ai_core.counter")

    @property
    def root_run(self):
        make_runs(self)
        return self.top_run

    @root_run.setter
    def root_run(self, HabitContext run):
        self.top_run = run

    @property
    def endings(self):
        return all_endings(self)

    @endings.setter
    def endings(self, dict endings):
        self.texts = endings
        memset(self.ended, 0, self.ended_count)

    @property
    def seconds(self):
        """Game time this tree has lived (s)."""
        return self._caught_up()

    @property
    def wakes_at_s(self):
        """When it next has something to do (s, as ``seconds``); below 0 for at once, inf for when it is told."""
        return self._wake_at_s

    def tick(self, elapsed_s):
        """Live on for ``elapsed_s`` of game time."""
        cdef double elapsed
        if type(elapsed_s) is float and 0.0 <= <double>elapsed_s < inf:
            elapsed = elapsed_s
        else:
            elapsed = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._member is not None:
            self._check_alone()
        other_code_ran(self)
        self._frame += 1
        self._moment = None
        return live_until(self, self._now_s + elapsed)

    def advance(self, turn):
        """Tick as a scheduler's work: ``scheduler.add(tree)``."""
        if not isinstance(turn, TurnType):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)}; use tree.tick(elapsed_s) by hand"
            )
        if self._member is not None:
            self._check_alone()
        other_code_ran(self)
        self._moment = turn.now
        return live_until(self, self._now_s + turn.elapsed_s)

    def _live_until(self, double now_s):
        return live_until(self, now_s)

    def _plan_ahead(self):
        return plan_ahead(self)

    cdef double _caught_up(self) except? -1.0:
        if self._member is not None:
            self._catch_up()
        return self._now_s

    def _catch_up(self):
        if self._member is not None and not self._is_busy:
            self._member.catch_up()

    def _check_alone(self):
        if self._member is not None:
            raise RuntimeError(f"{self.name!r} lives in a population; tick that, or remove it there first")

    def _end(self, HabitContext run, status, ending):
        end_run(self, run, status, ending)
        self._is_quiet = False      # no tick that would forget it


cdef live_until(HabitTicking self, double now_s):
    if self._is_busy:
        raise RuntimeError(
            f"{self.name!r} was ticked from inside one of its own habits;"
            " a habit acts in its tick and leaves the tree to the caller"
        )
    self._now_s = now_s
    if now_s < self._wake_at_s:
        return None if self.top_run is None else RUNNING
    self._is_busy = True
    try:
        tick_all(self)
        if self._should_stop:
            self._stop_now()
        if self._next_root is not None:
            self._change_now()
    finally:
        self._is_busy = self._is_quiet = False
    if self._kept_errors is not None:
        self._raise_kept_errors()
    return self._over if self.top_run is None else RUNNING


cdef int tick_all(HabitTicking self) except -1:
    global quiet_trace
    cdef list agenda
    cdef HabitContext run
    cdef PlaceFields root
    cdef int what
    cdef tuple entry, places
    self._tick_number += 1
    self._begun = 0
    self._over = None
    self._is_traced = False
    if self._trace is not None and <PyObject*>self._trace != quiet_trace:
        self._is_traced = bool(self._trace.state_entered)
        quiet_trace = NULL if self._is_traced else <PyObject*>self._trace
    if self._told is not None:
        hear(self)
    agenda = self._agenda
    if agenda is None and self.top_run is None and self._noticed is None and not self._cooldowns:
        root = self.plan.root
        if root.is_polled:                  # all that would be on the agenda
            self._asks_all = False
            self._rebuild_at_s = inf
            self._is_lasting = True
            self._wake_at_s = AWAKE
            return begin_root(self, root)
    if agenda is None or self._now_s >= self._rebuild_at_s:
        agenda = plan_ahead(self)
    for entry in agenda:
        what = entry[0]
        run = <HabitContext>entry[1]
        if run is None:
            places = entry[2]
            begin_root(self, places[0])
        elif run.status is not RUNNING:
            continue
        elif what == TICK:
            status = own_tick(self, run, run.place)
            if status is not RUNNING:
                close_and_climb(self, run, status, says(status))
        else:
            do(self, what, run, entry[2], entry[3] if what == ASK else None)
    return 0


cdef int do(HabitTicking self, int what, HabitContext run, tuple places, tuple numbers) except -1:
    cdef PlaceFields place
    if what == CHALLENGE:
        challenge(self, run, places)
    elif what == ASK:
        challenge_together(self, run, places, numbers)
    elif what == BESIDE:
        place = places[0]
        if may_begin_more(self) and can_begin(self, place):
            start(self, place, run, "beside the others")
    elif what == CONTINUE:
        status = go_on(self, run)
        if status is not RUNNING:
            close_and_climb(self, run, status, says(status))
    elif what == RESTART:
        restart(self, run)
    elif what == TIME_OUT:
        close_and_climb(self, run, FAILED, "timed out")
    elif what == JOIN:
        status = own_tick(self, run, run.place)
        if status is not RUNNING:
            close_and_climb(self, run, status, says(status))
        elif self._member is not None:
            self._member.population.join_batch(run)
    elif what == RESULT and run.batch_status is not None:
        close_and_climb(self, run, run.batch_status, says(run.batch_status))
    return 0


cdef int begin_root(HabitTicking self, PlaceFields root) except -1:
    if can_begin(self, root):
        start(self, root, None, "can activate")
    return 0


cdef int restart(HabitTicking tree, HabitContext run) except -1:
    cdef HabitContext parent = run.above
    run.begins_next = False
    run.began_s = run.ticked_s = tree._now_s
    if tree._faults is not None and tree._is_left_out(run.place):
        run.begins_next = True
        close_and_climb(tree, run, FAILED, "left out, it kept failing")
        return 0
    status = live(tree, run)
    if status is not RUNNING:
        climb(tree, parent, run.place, status)
    return 0


cdef int close_and_climb(HabitTicking tree, HabitContext run, status, ending) except -1:
    cdef HabitContext parent = run.above
    status = close_run(tree, run, status, ending)
    if status is not RUNNING:
        climb(tree, parent, run.place, status)
    return 0


cdef int climb(HabitTicking tree, HabitContext parent, PlaceFields place, status) except -1:
    cdef HabitContext above
    while parent is not None and not place.is_beside:
        launch = parent.place.launch
        if launch is PRIORITIZED:
            choose_child(tree, parent, ())
            return 0
        if launch is not RANDOM and status is (SUCCEEDED if launch is SEQUENTIAL else FAILED):
            parent.number = place.number + 1
            status = go_on(tree, parent)
        if status is RUNNING:
            return 0
        place = parent.place
        above = parent.above
        status = close_run(tree, parent, status, says(status))
        if status is RUNNING:
            return 0
        parent = above
    return 0


include "_habit_challenges.pxi"
include "_turns.pxi"
include "_habit_turns.pxi"
