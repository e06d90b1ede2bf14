# Turns among many characters, for _habit_ticking.pyx; twin: habit_turns.py, which describes them.


cdef class Member:
    cdef public HabitTurns population
    cdef public HabitTicking tree
    cdef public Py_ssize_t number
    cdef public double late_s, offset_s, timer_s
    cdef public bint is_resting

    def __init__(self, HabitTurns population, HabitTicking tree, Py_ssize_t number):
        self.population = population
        self.tree = tree
        self.number = number
        self.offset_s = population._now_s - tree._now_s
        self.timer_s = inf

    def catch_up(self):
        if not self.is_resting:
            self.tree._now_s = self.population._now_s - self.offset_s

    def was_moved(self):
        self.offset_s = self.population._now_s - self.tree._now_s

    def woke(self):
        wake(self.population, self)


cdef class HabitTurns:
    cdef public dict _awake
    cdef public list _order, _timers
    cdef public Py_ssize_t _first, _most_awake
    cdef public double _now_s
    cdef public bint _is_busy
    cdef public object on_wake

    def __cinit__(self, *_, **__):
        self._awake = {}
        self._timers = []

    def __init__(self):
        pass

    def _give_turns(self, moment, budget):
        cdef Member member
        cdef HabitTicking tree
        cdef Py_ssize_t index = 0
        cdef bint is_watched = False, is_asked = False
        cdef object first_error = None, watch = None, deadline_ns = None
        global quiet_trace
        cdef list order = self._in_turn()
        self._first = 0
        quiet_trace = NULL
        if budget is not None and not budget.is_unlimited:
            # Time that nobody notes is looked at here: asking a budget takes as long as a small tree.
            deadline_ns = budget.deadline_ns
            is_watched = deadline_ns is not None and budget.grants is None
            is_asked = not is_watched
            watch = budget.stopwatch
        for member in order:
            if is_asked:
                if index and budget.is_spent:
                    self._first = member.number
                    break
                budget.spend()
            elif is_watched and index and watch() >= deadline_ns:
                self._first = member.number
                break
            index += 1
            tree = member.tree
            if tree._member is not member or member.is_resting:
                continue
            tree._moment = moment
            tree._frame += 1
            try:
                live_until(tree, self._now_s - member.offset_s)
            except Exception as error:
                if first_error is None:
                    first_error = error
            if tree._wake_at_s > AWAKE:
                sleep(self, member)
        if budget is not None and not is_asked:
            budget.spend(index)
        return first_error

    def _in_turn(self):
        cdef list order = self._order
        cdef Py_ssize_t begin
        cdef Member one
        if order is None:
            if len(self._awake) * 8 < self._most_awake:
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        if not self._first:
            return order
        for begin, one in enumerate(order):
            if one.number >= self._first:
                return order[begin:] + order[:begin]
        return order

    def _sleep(self, Member member):
        sleep(self, member)

    def _wake(self, Member member):
        wake(self, member)


cdef int sleep(HabitTurns self, Member member) except -1:
    cdef double wakes_at_s = member.tree._wake_at_s + member.offset_s
    if self._awake.pop(member.number, None) is not None:
        self._order = None
    if wakes_at_s < member.timer_s:
        member.timer_s = wakes_at_s
        push_timer(self._timers, (wakes_at_s, member.number, member))
        if len(self._timers) > 2 * self.count + 64:
            self._tidy_timers()
    return 0


cdef int wake(HabitTurns self, Member member) except -1:
    if member.is_resting or member.number in self._awake:
        return 0
    if not self._awake and self.on_wake is not None:
        self.on_wake()
    self._awake[member.number] = member
    self._order = None
    if len(self._awake) > self._most_awake:
        self._most_awake = len(self._awake)
    return 0
