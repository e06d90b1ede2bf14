# Turns among many, for _habit_ticking.pyx; twin: turns.py, which describes them.


cdef class PopulationSlot:
    cdef public Py_ssize_t number
    cdef public double late_s, timer_s
    cdef public bint is_resting

    def __init__(self, Py_ssize_t number):
        self.number = number
        self.timer_s = inf


cdef class RoundRobin:
    cdef public dict _awake, _seats
    cdef public list _order, _timers
    cdef public Py_ssize_t _first, _most_awake, _until
    cdef public double _now_s
    cdef public bint _is_busy
    cdef public object on_wake

    def __cinit__(self, *_, **__):
        self._awake = {}
        self._seats = {}
        self._timers = []

    def __init__(self):
        pass

    def _in_turn(self, bint only_rest):
        cdef list order = self._order, turned
        cdef Py_ssize_t begin, first = self._first, until = self._until
        cdef PopulationSlot one
        if order is None:
            if len(self._awake) * 8 < self._most_awake:
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        if not first:
            return [] if only_rest else order
        turned = order
        for begin, one in enumerate(order):
            if one.number >= first:
                turned = order[begin:] + order[:begin]
                break
        if not only_rest:
            return turned
        if until > first:
            return [one for one in turned if first <= (<PopulationSlot>one).number < until]
        return [one for one in turned if (<PopulationSlot>one).number >= first or (<PopulationSlot>one).number < until]

    def _sleep(self, PopulationSlot seat, double wakes_at_s):
        sleep(self, seat, wakes_at_s)

    def _wake(self, PopulationSlot seat):
        wake(self, seat)

    def _tidy_timers(self):
        self._timers = sorted([(one.timer_s, one.number, one) for one in self._seats.values() if one.timer_s < inf])


cdef int sleep(RoundRobin self, PopulationSlot seat, double wakes_at_s) except -1:
    if self._awake.pop(seat.number, None) is not None:
        self._order = None
    if wakes_at_s < seat.timer_s:
        seat.timer_s = wakes_at_s
        push_timer(self._timers, (wakes_at_s, seat.number, seat))
        if len(self._timers) > 2 * len(self._seats) + 64:
            self._tidy_timers()
    return 0


cdef int wake(RoundRobin self, PopulationSlot seat) except -1:
    if seat.is_resting or seat.number in self._awake:
        return 0
    if not self._awake and self.on_wake is not None:
        self.on_wake()
    self._awake[seat.number] = seat
    self._order = None
    if len(self._awake) > self._most_awake:
        self._most_awake = len(self._awake)
    return 0
