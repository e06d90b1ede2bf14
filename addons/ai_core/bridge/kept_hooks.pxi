# Methods of scripts and signals of nodes with the same definition: looked up once for all of them.
#
# GIL: released while a method runs or a signal is emitted, as around every generic call.
# BORROWED: the node is an instance of a declared class: its pointer is read at each use, and is NULL once the
#   node is freed.

cdef enum:
    CACHE_LINE = 64              # bytes
    FULL_LOOKS = 8               # after which all nodes are asked in turn, beside those whose signals were named
    ANSWERS_PER_LOOK = 64        # of ``may_be_heard``, should time stand still
    NO_SUCH_METHOD = 1           # of a CallError
    LOOKS_PER_TURN = 4           # looks from one node's turn to the next one's; what a turn costs is felt in each tick

cdef double ROUND_S = 0.4        # time in which all nodes have their turn, however few looks there are (s); docs/habits.md says 0.5

cdef void* NOBODY = NULL         # where the pointer of what is not there is read

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define prefetch(address) __builtin_prefetch(address)
    #else
    #define prefetch(address) ((void)(address))
    #endif
    """
    void prefetch(const void* address) nogil

cdef const void* bind_has_connections = NULL

cdef int open_kept_hooks() except -1:
    global bind_has_connections
    bind_has_connections = need_bind("Object", "has_connections", HASH_Object_has_connections)


@cython.final
cdef class NodeRow:
    """Nodes of declared classes that belong together, by number; a missing node is None.

    Args:
        nodes: the nodes, or None; freed nodes are not called.
        signals: names of the signals of each node, by number.

    Cost: 24 bytes per node, and 8 per signal.
    """
    cdef uint64_t seen_changes   # ``listener_changes`` as ``may_be_heard`` asked last
    cdef double asked_s          # when it did (s)
    cdef Py_ssize_t answers      # given since then
    cdef bint is_maybe_heard     # what it found
    cdef list nodes
    cdef void*** pointers        # OWNED; each where the pointer of a node that ``nodes`` holds stands
    cdef void** names            # OWNED; of the signals of the first node, NULL, of the second, …
    cdef Py_ssize_t count
    cdef Py_ssize_t looks        # how often it was asked who listens
    cdef Py_ssize_t turn         # whose turn is next
    cdef double looked_s         # when it was asked last (s)
    cdef double turns            # that have come and were not taken (count)

    def __init__(self, nodes, signals=()):
        cdef GDObject node
        cdef Py_ssize_t i, at = 0
        cdef Py_ssize_t count
        self.count = 0               # and stays so if this fails: nothing of the row is read then
        self.nodes = list(nodes)
        count = len(self.nodes)
        self.answers = ANSWERS_PER_LOOK
        signals = [tuple(one) for one in signals] or [()] * count
        if len(signals) != count:
            raise ValueError(f"a row of {count} nodes needs {count} tuples of signals, got {len(signals)}")
        self.forget()
        self.pointers = <void***>memory_of(count, sizeof(void**))
        self.names = <void**>memory_of(sum(map(len, signals)) + count + 1, sizeof(void*))
        for i in range(count):
            for name in signals[i]:
                self.names[at] = name_ptr(name)
                at += 1
            at += 1
            self.pointers[i] = &NOBODY
            if self.nodes[i] is not None:
                node = <GDObject?>self.nodes[i]
                node.live()
                if node.instance == NULL:
                    raise TypeError(f"a row needs nodes of classes written in Python, got {node!r}")
                self.pointers[i] = &node.pointer
        self.count = count

    def __dealloc__(self):
        self.forget()

    cdef void forget(self) noexcept:
        free(self.pointers)
        free(self.names)
        self.pointers = self.names = NULL

    def __len__(self): return self.count
    def __getitem__(self, Py_ssize_t index):
        self.check_number(index)     # the bridge is compiled without checks of its own
        return self.nodes[index]

    cdef int check_number(self, Py_ssize_t number) except -1:
        if not 0 <= number < self.count:
            raise IndexError(f"a row of {self.count} nodes has no number {number}")

    def drop(self, node):
        """Stop calling a node that has left or is about to be freed."""
        global listener_changes
        cdef Py_ssize_t i
        listener_changes += 1
        for i in range(self.count):
            if self.nodes[i] is node:
                self.pointers[i] = &NOBODY

    cdef bint is_heard(self, Py_ssize_t number, void* signal) except -1:
        cdef uint8_t found = 0
        cdef const void* arguments[1]
        self.check_number(number)
        if self.pointers[number][0] == NULL:
            return self.nodes[number] is not None        # who was dropped may have listeners
        arguments[0] = signal
        gd_object_method_bind_ptrcall(bind_has_connections, self.pointers[number][0], arguments, &found)
        return found

    def has_listeners(self, double now_s=0.0):
        """Return whether something is, or may be, connected to a signal of one of the nodes.

        None means not at present: code has accessed a signal, and may connect to it at any moment. False
        means no until ``listeners_counter`` changes or some time has passed.

        Asking the engine takes as long as a small habit. So after some calls the engine is asked only about
        nodes with a signal that code has accessed since they were made (``node.exited.connect`` does), and about
        the others in turn: a connection by name is noticed after at most four times as many calls as there are
        nodes, and by the first call ``ROUND_S`` later.

        Args:
            now_s: time by any clock (s).
        """
        cdef Py_ssize_t i, at = 0, turns = self.turns_at(now_s), first = self.turn
        cdef bint is_full = self.looks < FULL_LOOKS, is_any_heard = False, is_any_named = is_full
        cdef GDObject node
        self.looks += 1
        self.turn = (first + turns) % max(1, self.count)
        for i in range(self.count):
            if self.nodes[i] is not None:
                node = <GDObject>self.nodes[i]
                if self.pointers[i][0] == NULL:
                    return True                          # who was dropped may have listeners
                is_any_named = is_any_named or node.instance.names_signals
                if (is_full or (i - first + self.count) % self.count < turns or node.instance.names_signals) and self.is_one_heard(i, at):
                    node.instance.names_signals = 1      # asked each time from now on
                    is_any_heard = True
                    if not is_full:                      # else the others are to be known, too: this one may go
                        return True
            while self.names[at] != NULL:
                at += 1
            at += 1
        return is_any_heard or (None if is_any_named else False)

    def may_be_heard(self, double now_s):
        """Return whether something is, or may soon be, connected to a signal of one of the nodes.

        The result is cached until code accesses a signal or connects in Python, for ``ROUND_S`` or for some calls;
        a connection by name is noticed only after that.

        Args:
            now_s: time by any clock (s).

        Cost: 0.03 us; 0.06 us per signal every ``ROUND_S``.
        """
        if self.seen_changes != listener_changes or self.answers >= ANSWERS_PER_LOOK or not (
            self.asked_s <= now_s < self.asked_s + ROUND_S
        ):
            self.seen_changes, self.asked_s, self.answers = listener_changes, now_s, 0
            self.is_maybe_heard = self.look_at_all()
        self.answers += 1
        return self.is_maybe_heard

    cdef bint look_at_all(self) except -1:
        """Return whether a node has a listener, or code has accessed a signal of it and may connect at any moment."""
        cdef Py_ssize_t i, at = 0
        for i in range(self.count):
            if self.nodes[i] is not None:
                if self.pointers[i][0] == NULL or (<GDObject>self.nodes[i]).instance.names_signals or self.is_one_heard(i, at):
                    return True      # who was dropped may have listeners
            while self.names[at] != NULL:
                at += 1
            at += 1
        return False

    cdef Py_ssize_t turns_at(self, double now_s):
        """Return the number of nodes whose turn has come, and mark them as visited."""
        cdef Py_ssize_t turns
        if self.looks % LOOKS_PER_TURN == 0:
            self.turns += 1
        if now_s != self.looked_s:                       # it goes back when a saved game is loaded
            self.turns += abs(now_s - self.looked_s) / ROUND_S * self.count
            self.looked_s = now_s
        turns = <Py_ssize_t>min(self.turns, <double>self.count)
        self.turns = min(self.turns - turns, 1.0)
        return turns

    cdef bint is_one_heard(self, Py_ssize_t number, Py_ssize_t at) except -1:
        """Ask the engine about the signals of one node, whose names begin at an index."""
        cdef uint8_t found = 0
        cdef const void* arguments[1]
        while self.names[at] != NULL and not found:
            arguments[0] = self.names[at]
            gd_object_method_bind_ptrcall(bind_has_connections, self.pointers[number][0], arguments, &found)
            at += 1
        return found


@cython.final
cdef class KeptHook:
    """A method of a script, called on the node that an attribute of the passed object holds.

    Args:
        name: name of the method. With ``answers``, a node whose script has lost it is not called.
        node: name of the attribute that holds the node, an instance of a declared class.
        number: name of the attribute with the argument of the method; "" for no argument.
        answers: results in place of the integers 0, 1, …; None returns the result of the method.
        other: called with the passed object and a result that is none of these.
        skips_freed: freed nodes are not called; otherwise they are an error.
        is_of_row: the node is in a row, and callers in C know its number there.

    Cost: 0.1 us besides the method; 0.02 us when called by ``direct_calls``.
    """
    cdef object shown, node, number, other
    cdef tuple answers
    cdef Py_ssize_t answer_count
    cdef void* name
    cdef bint skips_freed
    cdef readonly object direct_calls

    def __init__(
        self, name, node, number="", tuple answers=None, other=None, bint skips_freed=False, bint is_of_row=False,
    ):
        self.shown, self.name, self.node = name, name_ptr(name), sys.intern(node)
        self.number = sys.intern(number) if number else None
        self.answers, self.other, self.skips_freed = answers, other, skips_freed
        self.answer_count = 0 if answers is None else len(answers)
        self.direct_calls = _direct_calls if is_of_row else None

    def __call__(self, given):
        cdef uint64_t argument[2]
        cdef const void* arguments[1]
        cdef GDVariant result
        cdef CallError error
        cdef int64_t count = 0
        cdef GDObject node = <GDObject?>getattr(given, self.node)
        cdef void* pointer
        if self.skips_freed and node.pointer == NULL:
            return None
        pointer = node.live()
        if self.number is not None:
            number_variant(argument, getattr(given, self.number))
            arguments[0] = argument
            count = 1
        error.error = 0
        memset(&result, 0, sizeof(GDVariant))
        with nogil:
            gd_object_call_script_method(pointer, self.name, arguments, count, &result, &error)
        if error.error == 0 and self.answers is None and <uint32_t>result.words[0] == T_BOOL:
            return (<uint8_t*>&result.words[1])[0] != 0
        return self.answer(given, &result, &error)

    def first_of(self, NodeRow row not None, tuple numbers not None):
        """Call the method on nodes of a row in order, in one crossing; for methods without arguments.

        Returns:
            The number of false results before the first true one; without a true one, the number of nodes;
            for a node that cannot be called, -1 minus the number of false results before it.
        """
        cdef Py_ssize_t i, count = len(numbers)
        cdef Py_ssize_t* at = <Py_ssize_t*>memory_of(count, sizeof(Py_ssize_t))
        try:
            for i in range(count):
                at[i] = numbers[i]
            return first_directly(<void*>self, <void*>row, at, count)
        finally:
            free(at)

    cdef Py_ssize_t ask(
        self, NodeRow row, const Py_ssize_t* numbers, Py_ssize_t count, Py_ssize_t begin, GDVariant* result,
    ) except? -1:
        """Return as ``first_of``, or the index of the first node with a result other than false and null."""
        cdef const Py_ssize_t* at
        cdef Py_ssize_t i, stop
        cdef CallError error
        while begin < count:
            stop = begin + 32 if begin + 32 < count else count
            at = numbers + begin
            for i in range(stop - begin):
                row.check_number(at[i])
            with nogil:
                # Nodes of a crowd do not stay in the caches: they are read from memory all at once, not one by one.
                for i in range(stop - begin):
                    prefetch(row.pointers[at[i]])
                for i in range(stop - begin):
                    prefetch(row.pointers[at[i]][0])
                    prefetch(<char*>row.pointers[at[i]][0] + CACHE_LINE)
                    prefetch(<char*>row.pointers[at[i]][0] + 2 * CACHE_LINE)
                    prefetch(<char*>row.pointers[at[i]][0] + 3 * CACHE_LINE)
                for i in range(stop - begin):
                    error.error = 1
                    if row.pointers[at[i]][0] != NULL:
                        error.error = 0
                        memset(result, 0, sizeof(GDVariant))
                        gd_object_call_script_method(row.pointers[at[i]][0], self.name, NULL, 0, result, &error)
                    if error.error != 0 or not is_no(result):
                        break
                else:
                    i = stop - begin
            begin += i
            if begin < stop:
                return -1 - begin if error.error != 0 else begin
        return count

    cdef object answer(self, given, GDVariant* result, CallError* error):
        cdef int64_t number
        try:
            if error.error == 0 and self.answers is not None and <uint32_t>result.words[0] == T_INT:
                number = <int64_t>result.words[1]
                if 0 <= number < len(self.answers):
                    return self.answers[number]
            if error.error == NO_SUCH_METHOD and self.answers is not None:
                return None
            check_call(error, self.shown, (None,))
            answer = variant_to_python(result)
        finally:
            gd_variant_destroy(result)
        return answer if self.answers is None or answer is None else self.other(given, answer)


@cython.final
cdef class KeptNotice:
    """A notice about a node in a row, made only if a signal has listeners; the passed object has the row as ``parts``.

    Args:
        number: number of the node.
        signal: name of a signal of the node.
        of_all: name of a signal of the first node of the row, which reports all others; "" for none.
        notify: called with the passed object, if something is connected to one of the signals.

    Attributes:
        is_notice: True: it need not be called while no signal has listeners.

    Cost: 0.1 us without listeners.
    """
    is_notice = True
    cdef Py_ssize_t number
    cdef void* signal
    cdef void* of_all
    cdef object notify

    def __init__(self, Py_ssize_t number, signal, of_all, notify):
        self.number, self.notify = number, notify
        self.signal = name_ptr(signal)
        self.of_all = name_ptr(of_all) if of_all else NULL

    def __call__(self, given):
        cdef NodeRow row = <NodeRow?>given.parts
        if row.is_heard(self.number, self.signal) or (self.of_all != NULL and row.is_heard(0, self.of_all)):
            return self.notify(given)


cdef inline bint is_no(const GDVariant* answer) noexcept nogil:
    """Return whether a Variant that owns no memory is false or null."""
    cdef uint32_t t = <uint32_t>answer.words[0]
    return t == T_NIL or (t == T_BOOL and (<const uint8_t*>&answer.words[1])[0] == 0)


def has_listeners(GDObject node, name):
    """Return whether something is connected to a signal; checked before a batch of emissions."""
    cdef uint8_t found = 0
    cdef const void* arguments[1]
    arguments[0] = name_ptr(name)
    gd_object_method_bind_ptrcall(bind_has_connections, node.live(), arguments, &found)
    return found != 0
