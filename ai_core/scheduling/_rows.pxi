# What is called, by buckets, and which buckets are due.

cdef struct Planned:
    PyObject* call      # BORROWED, of the list of calls; a round that runs has those too that were replaced
    void* near          # what is read first when it is called; only ever fetched ahead, never read


cdef class Row:
    cdef list held              # the calls
    cdef list replaced          # those that the round under way may still have
    cdef uint64_t taken_by      # the number of that round, 0 for none
    cdef int64_t version        # one more with each change
    cdef object moment
    cdef double last_s
    cdef public object times
    cdef int64_t* ids           # OWNED
    cdef Planned* plan          # OWNED, as many
    cdef Py_ssize_t size, room

    def __init__(self, last):
        self.held, self.replaced, self.size = [], [], 0
        self.last = last

    def __dealloc__(self):
        free(self.ids)
        free(self.plan)

    def __len__(self):
        return self.size

    @property
    def calls(self):
        return tuple(self.held)

    @property
    def last(self):
        return self.moment

    @last.setter
    def last(self, moment):
        self.last_s, self.moment = moment[1], moment

    def place_of(self, int64_t task_id):
        cdef Py_ssize_t low = 0, high = self.size, middle
        while low < high:
            middle = (low + high) // 2
            if self.ids[middle] < task_id:
                low = middle + 1
            else:
                high = middle
        return low

    def insert_call(self, int64_t task_id, call):
        cdef Py_ssize_t place = self.place_of(task_id)
        self.make_room()
        self.held.insert(place, call)
        memmove(self.ids + place + 1, self.ids + place, (self.size - place) * sizeof(int64_t))
        memmove(self.plan + place + 1, self.plan + place, (self.size - place) * sizeof(Planned))
        self.ids[place], self.plan[place] = task_id, planned(call)
        self.size += 1
        self.version += 1
        return place

    def remove_call(self, Py_ssize_t place):
        self.check(place)
        self.keep(place)
        before = self.held.pop(place)
        self.size -= 1
        memmove(self.ids + place, self.ids + place + 1, (self.size - place) * sizeof(int64_t))
        memmove(self.plan + place, self.plan + place + 1, (self.size - place) * sizeof(Planned))

    def put_call(self, Py_ssize_t place, call):
        self.check(place)
        self.keep(place)
        before, self.held[place] = self.held[place], call
        self.plan[place] = planned(call)

    cdef int let_go(self) except -1:
        """The round that took the calls is over."""
        self.taken_by = 0
        if PyList_Size(self.replaced):
            self.replaced = []
        return 0

    cdef int check(self, Py_ssize_t place) except -1:
        if not 0 <= place < self.size:
            raise IndexError(f"place must be from 0 to {self.size - 1}, got {place}")
        return 0

    cdef int keep(self, Py_ssize_t place) except -1:
        """A call is to be let go of: not before the round that may make it is over with this row."""
        self.version += 1
        if self.taken_by:
            self.replaced.append(self.held[place])
        return 0

    cdef int make_room(self) except -1:
        cdef Py_ssize_t room = 2 * self.room + 4
        cdef void* grown
        if self.size < self.room:
            return 0
        grown = realloc(self.ids, room * sizeof(int64_t))
        if grown == NULL:
            raise MemoryError()
        self.ids = <int64_t*>grown
        grown = realloc(self.plan, room * sizeof(Planned))
        if grown == NULL:
            raise MemoryError()
        self.plan, self.room = <Planned*>grown, room
        return 0


cdef inline Planned planned(call) except *:
    cdef Planned made
    made.call = <PyObject*>call
    made.near = <void*>(call.__self__ if type(call) is MethodType else call)
    return made


cdef struct Ring:
    uint64_t period
    Py_ssize_t first            # of its rows


cdef class PeriodRings:
    cdef list kept              # the rings as they were given, so that what is borrowed of them lives
    cdef Ring* rings            # OWNED
    cdef PyObject** rows        # OWNED, of all rings; each BORROWED
    cdef PyObject** looked_at   # in the same block, the row of each ring
    cdef Py_ssize_t count

    def __init__(self, rings):
        cdef Py_ssize_t total = 0
        cdef Row row
        if self.kept is not None:
            raise RuntimeError("rings are made once; make others")
        self.kept = [(period, tuple(ring)) for period, ring in rings]
        for period, ring in self.kept:
            if period < 1 or len(ring) != period:
                raise ValueError(f"a ring must have as many rows as its period, not 0; got {len(ring)} for {period}")
            total += period
        self.rings = <Ring*>calloc(len(self.kept) + 1, sizeof(Ring))
        self.rows = <PyObject**>calloc(total + len(self.kept) + 1, sizeof(PyObject*))
        if self.rings == NULL or self.rows == NULL:
            raise MemoryError()
        self.looked_at = self.rows + total
        total = 0
        for period, ring in self.kept:
            self.rings[self.count].period, self.rings[self.count].first = period, total
            for one in ring:
                row = <Row?>one
                self.rows[total] = <PyObject*>row
                total += 1
            self.count += 1

    def __dealloc__(self):
        free(self.rings)
        free(self.rows)

    def due(self, uint64_t frame):
        cdef Py_ssize_t number
        cdef PyObject* one
        due = []
        for number in range(self.count):  # all over memory, and all are asked for before the first is looked at
            one = self.rows[self.rings[number].first + <Py_ssize_t>(frame % self.rings[number].period)]
            fetch_ahead(&(<Row>one).size)
            self.looked_at[number] = one
        for number in range(self.count):
            one = self.looked_at[number]
            if (<Row>one).size:
                fetch_ahead((<Row>one).plan)
                due.append(<Row>one)
        return due
