# Values compared and written, for _habit_ticking.pyx; twin: habit_values.py, which describes it.


cdef int64_t EXACT = 1 << 53        # whole numbers up to here are the same as floats


cdef class ValueIs:
    cdef readonly object key, comparison, value, wakes_on
    cdef int code
    cdef bint is_number             # ``value`` is, and ``number`` the same
    cdef double number

    def __init__(self, key, comparison="==", value=True):
        if not isinstance(key, str) or not key:
            raise TypeError(f"key must be text, got {shown(key)}")
        if comparison not in COMPARISONS:
            raise UnknownNameError("comparison", comparison, COMPARISONS)
        self.key = key
        self.comparison = comparison
        self.value = value
        self.wakes_on = (key,)
        self.code = COMPARISONS.index(comparison)
        self.is_number = self.code < 6 and (
            type(value) is float or (type(value) is int and -EXACT <= value <= EXACT))
        self.number = value if self.is_number else 0.0

    def __call__(self, HabitContext context):
        return self.is_so(context._tree)

    cdef bint is_so(self, HabitTicking tree) except -1:
        known = known_value(tree, self.key)
        if self.is_number and type(known) is float:
            return compared(PyFloat_AsDouble(known), self.code, self.number)
        if self.code == 0:
            return (known is self.value and type(known) is bool) or known == self.value
        if self.code == 1:
            return known != self.value
        if self.code == 6:
            return known in self.value
        if self.code == 7:
            return known not in self.value
        if known is None:
            return False
        if self.code == 2:
            return known < self.value
        if self.code == 3:
            return known <= self.value
        if self.code == 4:
            return known > self.value
        return known >= self.value

    def __repr__(self):
        return f"{self.key} {self.comparison} {shown(self.value)}"


cdef inline bint compared(double known, int code, double value) noexcept:
    if code == 0:
        return known == value
    if code == 1:
        return known != value
    if code == 2:
        return known < value
    if code == 3:
        return known <= value
    if code == 4:
        return known > value
    return known >= value


cdef class ValueCheck:
    cdef public ValueIs condition

    def __init__(self, ValueIs condition):
        self.condition = condition

    def __call__(self, HabitContext context):
        return SUCCEEDED if self.condition.is_so(context._tree) else FAILED


cdef class ValueWrite:
    cdef public object key, value, scope

    def __init__(self, key, value, scope):
        if not isinstance(key, str) or not key:
            raise TypeError(f"key must be text, got {shown(key)}")
        self.key = key
        self.value = value
        self.scope = scope

    def __call__(self, HabitContext context):
        board = context.blackboard
        if self.scope is not None:
            if not hasattr(board, "scope"):
                raise TypeError(f"{context.path!r} writes to the scope {self.scope!r}, which needs a Blackboard")
            board = board.scope(self.scope)
        board[self.key] = self.value(context) if callable(self.value) else self.value
        return SUCCEEDED


cdef known_value(HabitTicking tree, key):
    """Return what the character knows under a key, None if nothing."""
    cdef PyObject* found
    board = tree._blackboard
    if board is None:
        board = tree.blackboard
    if isinstance(board, dict):
        found = PyDict_GetItemWithError(board, key)     # BORROWED
        if found != NULL:
            return <object>found
        if type(board) is dict:
            return None
    return board.get(key)


cdef int write(HabitTicking tree, board, key, value) except -1:
    if type(board) is BlackboardType and not isinstance(value, (list, dict, set)):
        if PyDict_GetItemWithError(board, key) == <PyObject*>value:
            return 0        # written again: nobody is told, and it is of the right type
    if tree._is_quiet and type(board) is not dict and board._watches is not None:
        tree._is_quiet = False      # who watches may begin to listen
    board[key] = value
    return 0


cdef at_once(HabitTicking tree, PlaceFields place):
    """Return how a built-in leaf ends at once; None if it is none, or not so simple here."""
    tick = place.tick
    try:
        if type(tick) is ValueCheck:
            return SUCCEEDED if (<ValueCheck>tick).condition.is_so(tree) else FAILED
        if type(tick) is ValueWrite and (<ValueWrite>tick).scope is None and not callable((<ValueWrite>tick).value):
            board = tree._blackboard
            if board is None:
                board = tree.blackboard
            write(tree, board, (<ValueWrite>tick).key, (<ValueWrite>tick).value)
            return SUCCEEDED
    except Exception:
        pass    # raises again with a run, which is told
    return None
