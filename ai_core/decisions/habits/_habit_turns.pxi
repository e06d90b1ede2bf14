# Turns among many characters, for _habit_ticking.pyx; twin: habit_turns.py, which describes them.


cdef class TickMember(PopulationSlot):
    cdef public HabitTurns population
    cdef public HabitTicking tree
    cdef public double offset_s, saved_offset_s

    def __init__(self, HabitTurns population, HabitTicking tree, Py_ssize_t number):
        PopulationSlot.__init__(self, number)
        self.population = population
        self.tree = tree
        self.offset_s = population._now_s - tree._now_s
        self.saved_offset_s = NAN

    def catch_up(self):
        if not self.is_resting:
            self.tree._now_s = self.population._now_s - self.offset_s

    def was_moved(self):
        self.offset_s = self.population._now_s - self.tree._now_s

    def was_loaded(self):
        self.was_moved()
        if self.population._now_s - self.saved_offset_s == self.tree._now_s:
            self.offset_s = self.saved_offset_s

    def woke(self):
        wake(self.population, self)


cdef class HabitTurns(RoundRobin):
    def _give_turns(self, moment, budget, bint only_rest):
        cdef TickMember member
        cdef HabitTicking tree
        cdef Py_ssize_t index = 0
        cdef bint is_watched = False, is_asked = False
        cdef object first_error = None, watch = None, deadline_ns = None
        global quiet_trace
        cdef list order = self._in_turn(only_rest)
        if not only_rest:
            self._until = self._first
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
                sleep(self, member, tree._wake_at_s + member.offset_s)
        if budget is not None and not is_asked:
            budget.spend(index)
        return first_error
