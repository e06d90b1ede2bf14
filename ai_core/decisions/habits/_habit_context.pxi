# Places and runs, for _habit_ticking.pyx; twins: habit_place.py and habit_context.py, which describe them.


cdef class PlaceFields:
    cdef public object habit, name, path, launch, outcome, held, interrupted, interrupting
    cdef public object can_activate, enter, tick, exit, tick_batch
    cdef public tuple begins_on, blocking, children, columns, non_blocking
    cdef public Py_ssize_t index, end, number
    cdef public double asks_every_s, cooldown_s, remembers_s, repeats, retries, timeout_s, urgency, weight
    cdef public bint asks_together, is_beside, is_polled
    cdef bint is_known              # what follows is
    cdef bint is_free               # to begin whenever its turn comes
    cdef bint is_compared           # ``can_activate`` is ValuesAre
    cdef bint is_only_compared      # and nothing else decides, but faults and cooldowns
    cdef int kind
    cdef DirectCalls* tick_calls    # BORROWED from ``tick``, or NULL
    cdef DirectCalls* ask_calls     # BORROWED from ``can_activate``, or NULL

    def strongest(self, dict holds):
        """Return the strongest of the holds here and below, None if there is none."""
        here = [held for index, held in holds.items() if self.index <= index < self.end]
        return max(here, default=None)


cdef class HabitContext:
    cdef public HabitTicking _tree
    cdef public PlaceFields place
    cdef HabitContext above
    cdef public HabitContext child
    cdef public list beside
    cdef public dict _memory
    cdef public object batch, batch_status, generator, status, reason, restart_point, waits_for, woken_by
    cdef public double began_s, ticked_s, elapsed_s, wake_s
    cdef public Py_ssize_t failures, number, row, successes
    cdef public bint begins_next, is_faulty

    def __init__(self, HabitTicking tree, PlaceFields place, HabitContext parent, reason):
        self._fill(tree, place, parent, reason)

    cdef void _fill(self, HabitTicking tree, PlaceFields place, HabitContext parent, reason):
        self._tree = tree
        self.place = place
        self.above = parent
        self.began_s = self.ticked_s = tree._now_s
        self.wake_s = AWAKE
        self.waits_for = ()
        self.woken_by = self.restart_point = ""
        self.status = RUNNING
        self.reason = reason

    cdef void _empty(self):
        """Know nothing, so that another run can take its place."""
        self._tree = None
        self.place = None
        self.above = self.child = None
        self.beside = None
        self._memory = None
        self.batch = self.batch_status = None
        self.elapsed_s = 0.0
        self.failures = self.number = self.row = self.successes = 0
        self.begins_next = self.is_faulty = False

    @property
    def parent(self):
        if self._tree is not None:
            make_runs(self._tree)
        return self.above

    @parent.setter
    def parent(self, HabitContext parent):
        self.above = parent

    @property
    def time_in_habit_s(self):
        return self._tree._caught_up() - self.began_s

    @property
    def owner(self):
        return self._tree.owner

    @property
    def part(self):
        return None if self._tree.row is None else self._tree.row[self.place.index]

    @property
    def tree(self):
        return self._tree

    @property
    def random(self):
        return self._tree._random

    @property
    def path(self):
        return self.place.path

    @property
    def blackboard(self):
        if self._tree._blackboard is not None:
            return self._tree._blackboard
        return self._tree.blackboard

    @property
    def memory(self):
        if self._memory is None:
            self._memory = {}
        if self.batch is not None:
            self.batch.remember(self)
        return self._memory

    @property
    def kept(self):
        return self._tree._kept_by(self.place.index)

    def remember(self, values):
        self._memory = {**(self._memory or {}), **values}

    def forget(self):
        self._memory = None

    def hold(self, priority=None):
        self._check_active("nothing to hold")
        self._tree._hold(self.place.index, inf if priority is None else finite_number("priority", priority))

    def release(self):
        self._tree._release(self.place.index)

    def wait_s(self, seconds):
        self._wait(finite_number("seconds", seconds, minimum=0), ())

    def wait_for(self, *names, at_most_s=None):
        if not names or not all([isinstance(name, str) and name for name in names]):
            raise ValueError(f"wait_for needs names, got {shown(names)}; to wait for time use wait_s")
        self._wait(inf if at_most_s is None else finite_number("at_most_s", at_most_s, minimum=0), names)

    def told(self, name):
        return self._tree._cargo_of(name)

    def restart_at(self, point):
        if not isinstance(point, str):
            raise TypeError(f"point must be text, got {shown(point)}")
        self.restart_point = point

    cdef _wait(self, double seconds, tuple names):
        self._check_active("nobody to wait")
        self.wake_s = self._tree._caught_up() + seconds - ROUNDING_S
        self.waits_for = names
        self.woken_by = ""
        self._tree._wait(self)

    cdef _check_active(self, why):
        if self.status is not RUNNING:
            raise RuntimeError(f"{self.path!r} is not active, so there is {why}")

    def __repr__(self):
        return f"<HabitContext {self.path}>"
