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
        self.key = intern(str(key))     # the same one in all conditions
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
        return self.holds(known_value(tree, self.key))

    cdef bint holds(self, known) except -1:
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


ctypedef int (*UncheckedHolds)(ValueIs one, object known) noexcept


cdef int does_hold(ValueIs one, known) except -1:
    """As ``holds``; -1 and an exception for what cannot be compared."""
    return one.holds(known)


cdef class ValuesAre:
    cdef readonly tuple conditions
    cdef Py_ssize_t count
    cdef readonly object otherwise

    def __init__(self, conditions, otherwise):
        self.conditions = tuple(conditions)
        self.count = len(self.conditions)
        self.otherwise = otherwise

    def __call__(self, HabitContext context):
        cdef int answer = self.answer(context._tree)
        return self.otherwise(context) if answer < 0 else answer == 1

    cdef int answer(self, HabitTicking tree) except -2:
        """Return 1 if all hold, 0 if not, -1 if that is not for us to say."""
        cdef ValueIs one
        cdef PyObject* found
        cdef Py_ssize_t index
        cdef int said, answer = 1
        if not isinstance(tree._blackboard, dict):
            return -1
        for index in range(self.count):
            one = <ValueIs>self.conditions[index]
            if tree.known_key == <PyObject*>one.key:
                found = tree.known
            else:
                found = PyDict_GetItemWithError(tree._blackboard, one.key)     # BORROWED
                if found == NULL:
                    return -1
                tree.known_key = <PyObject*>one.key
                tree.known = found
            if one.is_number and type(<object>found) is float:
                if not compared(PyFloat_AsDouble(<object>found), one.code, one.number):
                    answer = 0
                continue
            known = <object>found
            if not are_alike(known, one.value):
                return -1
            said = (<UncheckedHolds>does_hold)(one, known)
            tree.known_key = NULL       # who compares may run code of its own
            if said < 0:
                PyErr_Clear()
                return -1
            if not said:
                answer = 0
        return answer


cdef inline bint are_alike(known, value):
    return type(known) is type(value) or (
        (type(known) is float or type(known) is int) and (type(value) is float or type(value) is int))


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


cdef bint is_written(board, key, value) except -1:
    """Write a value; return False, and leave it to a run, if somebody who is then told may raise, or listen."""
    if type(board) is BlackboardType:
        if PyDict_GetItemWithError(board, key) == <PyObject*>value and not isinstance(value, (list, dict, set)):
            return True     # written again: nobody is told, and it is of the right type
        if board._watches:
            return False
    elif type(board) is not dict:
        return False
    board[key] = value
    return True


cdef inline object known_again(HabitTicking tree, key):
    """Return as ``known_value``; at once if this key was the last one that was looked up."""
    cdef PyObject* found
    if tree.known_key == <PyObject*>key:
        return <object>tree.known
    board = tree._blackboard
    if type(board) is BlackboardType or type(board) is dict:
        found = PyDict_GetItemWithError(board, key)     # BORROWED
        if found != NULL:
            tree.known_key = <PyObject*>key
            tree.known = found
            return <object>found
    return known_value(tree, key)


cdef inline int other_code_ran(HabitTicking tree) noexcept:
    """Take nothing for granted that was asked before: who listens, who traces, and what is known."""
    global quiet_trace
    quiet_trace = NULL
    tree._is_quiet = False
    tree.known_key = NULL
    return 0


cdef int outcome_at_once(HabitTicking tree, PlaceFields place) except -2:
    """Return 1 or 0, how a built-in leaf ends at once; -1 if it is none, or not so simple here."""
    cdef ValueIs condition
    cdef bint answer
    tick = place.tick
    if type(tick) is ValueCheck:
        condition = (<ValueCheck>tick).condition
        known = known_again(tree, condition.key)
        if condition.is_number and type(known) is float:
            return compared(PyFloat_AsDouble(known), condition.code, condition.number)
        answer = condition.holds(known)
        tree.known_key = NULL       # who compares may run code of its own
        return answer
    if type(tick) is ValueWrite and (<ValueWrite>tick).scope is None and not callable((<ValueWrite>tick).value):
        board = tree._blackboard
        if board is None:
            board = tree.blackboard
        tree.known_key = NULL
        if is_written(board, (<ValueWrite>tick).key, (<ValueWrite>tick).value):
            return 1
    return -1


ctypedef int (*Unchecked)(HabitTicking tree, PlaceFields place) noexcept


cdef int at_once(HabitTicking tree, PlaceFields place) noexcept:
    """Return as ``outcome_at_once``; -1 also if it raised, as it raises again with a run, which is told."""
    # Asked without a look at exceptions that are handled further out, which takes longer than a comparison.
    cdef int outcome = (<Unchecked>outcome_at_once)(tree, place)
    if outcome == -2:
        PyErr_Clear()
        tree.known_key = NULL
        return -1
    return outcome
