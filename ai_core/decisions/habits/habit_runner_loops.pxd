# C types with which habit_runner_loops.py is compiled.

cimport cython
from libc.stdint cimport uint64_t

from ai_core.decisions.habits.direct_calls cimport DirectCalls

cdef double INFINITY, AWAKE, ROUNDING_S, LISTENERS_VALID_S
cdef object RUNNING, SUCCEEDED, FAILED, SEQUENTIAL, RANDOM, ABSENT
cdef int TICK, CHALLENGE, ASK, BESIDE, CONTINUE, RESTART, TIME_OUT, BEGIN, RESULT, JOIN
cdef Py_ssize_t MOST_BEGUN_IN_A_TICK, MOST_SPARE_RUNS


@cython.final
cdef class ValueIs:
    cdef readonly object key, comparison, value, wakes_on, _compare
    cdef int _code
    cdef bint _is_number
    cdef double _number

    cpdef bint holds(self, known) except -1
    cdef bint _holds_number(self, double known) noexcept


@cython.final
cdef class ValuesAre:
    cdef readonly tuple conditions
    cdef readonly object otherwise, also
    cdef ValueIs only

    @cython.locals(one=ValueIs, answer=cython.int, own=dict)
    cdef int answer(self, board) except -2


@cython.final
cdef class AskPart:
    pass


@cython.final
cdef class TickWhile:
    cdef readonly ValuesAre condition
    cdef readonly object tick, otherwise
    cdef readonly tuple unless

    cdef bint holds(self, HabitContext run) except -1


cdef bint are_alike(known, value) noexcept

@cython.locals(own=dict)
cdef value_of(board, key)

@cython.locals(
    own=dict, trees=dict, types=dict, listening=list, number=Py_ssize_t, is_free=bint, tree=HabitRunner)
cpdef write_changed(list boards, tuple keys, list values)


@cython.final
cdef class ValueCheck:
    cdef readonly ValueIs condition


cdef class ValueWrite:
    cdef readonly object key, value, scope
    cdef readonly bint is_plain, may_stay


@cython.final
cdef class HabitPlace:
    cdef public object habit, name, path, launch, outcome, held, interrupted, interrupting
    cdef public object can_activate, enter, tick, exit, tick_batch, score
    cdef public tuple begins_on, blocking, children, columns, non_blocking
    cdef public Py_ssize_t index, end, number
    cdef public double asks_every_s, inertia, cooldown_s, remembers_s, repeats, retries, timeout_s, urgency, weight
    cdef public bint asks_together, interrupts, is_beside, is_free, is_polled, is_polled_on_message, is_utility
    cdef readonly ValuesAre values
    cdef readonly ValueIs check
    cdef readonly ValueWrite write
    cdef readonly TickWhile tick_while
    cdef DirectCalls* tick_calls    # BORROWED from ``tick``, or that of ``tick_while``, or NULL
    cdef DirectCalls* ask_calls     # BORROWED from ``can_activate``, or NULL

    cpdef strongest(self, dict holds)


@cython.final
cdef class TreeMessage:
    cdef public object payload
    cdef public Py_ssize_t tick_number
    cdef public double at_s


@cython.final
cdef class HabitContext:
    # What each tick reads comes first, so that it lies in few cache lines.
    cdef readonly HabitRunner _tree
    cdef readonly HabitPlace place
    cdef public object status, course
    cdef public double ticked_s, elapsed_s, wake_s, course_until_s, began_s
    cdef public dict _memory
    cdef public HabitContext parent, child
    cdef public list beside
    cdef public object batch, batch_status, course_names, generator, payload, reason, restart_point, waits_for, woken_by
    cdef public Py_ssize_t failures, number, row, successes
    cdef public bint begins_next, is_faulty, has_waited

    cdef _clear(self)
    cdef bint _is_clear(self) noexcept
    cdef _begin(self, HabitRunner tree, HabitPlace place, HabitContext parent, reason)


cdef class HabitRunner:
    # What each tick reads comes first, so that it lies in few cache lines.
    cdef public TickMember member
    cdef public double _now_s, _wake_at_s, _rebuild_at_s
    cdef public object _moment
    cdef public Py_ssize_t _frame, _tick_number
    cdef Py_ssize_t _begun
    cdef public bint _asks_all, is_busy, _is_lasting, _is_traced
    cdef public object _trace, _over, _faults, after_tick, stopwatch
    cdef public dict _messages
    cdef public list _agenda
    cdef public HabitContext root_run
    cdef public object parts, _noticed, _blackboard, plan
    cdef public dict holds, _cooldowns
    cdef HabitContext _asking
    cdef public dict spent_ns, scores, _asks_at_s, _answered
    cdef public list endings
    cdef public object owner, name, on_wake, on_entered, on_exited, listening
    cdef public object _clock, _random, _isolation, _watched, _kept
    cdef object __weakref__
    cdef object _counter
    cdef const uint64_t* _listener_changes      # BORROWED from ``_counter``, or NULL
    cdef uint64_t _seen_changes
    cdef double _quiet_since_s

    cdef list _plan_ahead(self)
    @cython.locals(place=HabitPlace, beside=HabitPlace, child=HabitContext, active=HabitContext)
    cdef _plan_run(self, list agenda, HabitContext run, noticed, set due, bint asks_all)
    cdef bint _has_woken(self, HabitContext run, noticed) except -1
    @cython.locals(place=HabitPlace, index=Py_ssize_t, asked=list)
    cdef tuple _to_ask(self, tuple places, Py_ssize_t count, set due, bint asks_all)
    cdef bint _asks_now(self, HabitPlace place) except -1
    cdef bint _is_due(self, double at_s) noexcept
    cdef bint _has_message(self, HabitPlace place, Py_ssize_t began) except -1
    cdef _date_messages(self)

    cdef _live_until(self, double now_s)
    @cython.locals(entry=tuple, root=HabitPlace, run=HabitContext, agenda=list, what=cython.int)
    cdef _tick_all(self)
    cdef _process(self, int what, HabitContext run, tuple places, tuple numbers)
    cdef _try_beside(self, HabitContext run, HabitPlace place, reason)
    @cython.locals(child=HabitContext, place=HabitPlace, best=HabitPlace, index=Py_ssize_t, is_open=bint)
    cdef _challenge(self, HabitContext run, tuple places, Py_ssize_t first)
    @cython.locals(place=HabitPlace, values=ValuesAre, one=ValueIs, own=dict, index=Py_ssize_t)
    cdef Py_ssize_t _skip_refused(self, tuple places, Py_ssize_t first) except -1
    @cython.locals(refused=Py_ssize_t)
    cdef _challenge_together(self, HabitContext run, tuple places, tuple numbers)
    cdef Py_ssize_t _first_that_can(self, HabitPlace place, tuple numbers) except? -1
    @cython.locals(child=HabitContext)
    cdef _take_over(self, HabitContext run, HabitPlace place)
    @cython.locals(parent=HabitContext)
    cdef _restart(self, HabitContext run)
    @cython.locals(parent=HabitContext, place=HabitPlace)
    cdef _close_and_climb(self, HabitContext run, status, ending)
    @cython.locals(above=HabitContext)
    cdef _climb(self, HabitContext parent, HabitPlace place, status)

    cdef bint _may_begin_more(self) except -1
    @cython.locals(answer=cython.int, values=ValuesAre)
    cdef bint _can_begin(self, HabitPlace place) except -1
    @cython.locals(context=HabitContext, can_begin=bint, began_ns=object)
    cdef bint _ask(self, HabitPlace place, condition) except -1
    @cython.locals(context=HabitContext)
    cdef HabitContext _context_for(self, HabitPlace place)
    @cython.locals(child=HabitContext, best=HabitPlace, place=HabitPlace, most=double, score=double)
    cdef HabitPlace _best_of(self, places, HabitContext run, tuple begun)
    @cython.locals(score=double)
    cdef double _score(self, HabitPlace place) except? -1.0
    @cython.locals(chosen=HabitPlace, place=HabitPlace)
    cdef _choose(self, HabitContext run, tuple begun)
    @cython.locals(place=HabitPlace, steps=tuple)
    cdef _continue(self, HabitContext run)
    @cython.locals(chosen=HabitPlace, place=HabitPlace)
    cdef _draw(self, HabitContext run)
    @cython.locals(run=HabitContext)
    cdef _start(self, HabitPlace place, HabitContext parent, reason)
    cdef bint _ends_quietly(self) except -1
    @cython.locals(check=ValueIs, write=ValueWrite, holds=bint, own=dict)
    cdef _do_at_once(self, HabitPlace place)
    @cython.locals(check=ValueIs, write=ValueWrite)
    cdef bint _act_at_once(self, HabitPlace place, board) except -1
    @cython.locals(run=HabitContext)
    cdef HabitContext _new_run(self, HabitPlace place, HabitContext parent, reason)
    @cython.locals(place=HabitPlace, beside=HabitPlace)
    cdef _live(self, HabitContext run)
    cdef _own_tick(self, HabitContext run, HabitPlace place)
    cdef _note_spent(self, Py_ssize_t index, began_ns)
    cdef _tick_habit(self, HabitContext run, HabitPlace place)

    @cython.locals(place=HabitPlace, parent=HabitContext, again=HabitContext, successes=Py_ssize_t,
                   failures=Py_ssize_t, is_over=bint)
    cdef _close(self, HabitContext run, status, ending)
    @cython.locals(place=HabitPlace, parent=HabitContext)
    cdef _end(self, HabitContext run, status, ending)
    cdef _set_ending(self, Py_ssize_t index, ending)
    cdef _exit(self, HabitContext run, HabitPlace place)
    @cython.locals(changes=uint64_t)
    cdef bint _has_listeners(self) except -1
    cdef _call_listener(self, listener, HabitContext run)

    cdef _hear(self, name)
    @cython.locals(message=TreeMessage)
    cdef _receive(self, name, payload)
    @cython.locals(run=HabitContext, child=HabitContext, place=HabitPlace, listeners=tuple, last=Py_ssize_t,
                   index=Py_ssize_t)
    cdef bint _heeds(self, name) except -1
    cdef _note(self, name)
    cdef _wake(self, bint asks_all)


@cython.final
cdef class TickMember:
    cdef readonly HabitRunner tree
    cdef public double offset_s
    cdef public Py_ssize_t number
    cdef public bint is_paused
    cdef public double timer_s, late_s, saved_offset_s
    cdef public object population


cdef HabitContext _spare            # OWNED; runs that are over, the next one is its parent
cdef Py_ssize_t _spare_count


@cython.locals(run=HabitContext)
cdef HabitContext spare_run()
cdef recycle(HabitContext run)
cdef result_of(status)
@cython.locals(first=HabitPlace, place=HabitPlace)
cdef bint _ask_together(tuple places) except -1
cdef bint _is_any_in(tuple names, noticed) except -1
@cython.locals(run=HabitContext)
cdef HabitContext _run_at(list runs, HabitPlace place)

@cython.locals(member=TickMember, tree=HabitRunner, now_s=double, count=Py_ssize_t, is_timed=bint, is_asked=bint, asleep=list)
cpdef tuple tick_in_turn(list order, double now_s, moment, budget)

@cython.locals(number=Py_ssize_t, tree=HabitRunner)
cpdef notify_each(list trees, name, list payloads)
