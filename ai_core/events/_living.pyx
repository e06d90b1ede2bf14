# cython: language_level=3, binding=False
"""Kernel of ``living``: the same function, the same results.

What is between two calls is done here, in ``__next__``; the calls are made by
whoever goes through it, as Python calls Python faster than C does.
"""
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef extern from *:
    """
    /* Part of the stable interface for ever; only the headers of 3.15 and later no longer speak of it. */
    #if PY_VERSION_HEX >= 0x030F0000
    PyAPI_FUNC(PyObject *) PyWeakref_GetObject(PyObject *reference);
    #endif
    """
    PyObject* PyWeakref_GetObject(PyObject* reference) except NULL  # BORROWED; None if it is gone


cdef struct Place:
    PyObject* one               # BORROWED from the row
    bint is_weak


cdef class Going:
    """One way through: there may be several at once, each inside the other."""
    cdef Row row
    cdef Py_ssize_t at

    def __iter__(self):
        return self

    def __next__(self):
        cdef PyObject* found
        cdef Place* place
        if self.at >= self.row.count:
            raise StopIteration
        place = self.row.places + self.at
        found = PyWeakref_GetObject(place.one) if place.is_weak else place.one
        if found == <PyObject*>None:
            raise self.row.gone
        self.at += 1
        return <object>found


cdef class Row:
    cdef list held
    cdef object gone
    cdef Place* places          # OWNED
    cdef Py_ssize_t count       # 0 after the end
    cdef public long long times

    def __dealloc__(self):
        free(self.places)

    def __iter__(self):
        cdef Going made = Going.__new__(Going)
        made.row = self
        self.times += 1
        return made

    def end(self):
        self.count = 0
        self.held = []


def living(held, are_weak, gone):
    cdef Row made = Row.__new__(Row)
    cdef Py_ssize_t at = 0
    made.held, made.gone = [*held], gone
    made.places = <Place*>calloc(len(made.held) + 1, sizeof(Place))
    if made.places == NULL:
        raise MemoryError()
    for one, is_weak in zip(made.held, are_weak, strict=True):
        made.places[at].one = <PyObject*>one
        made.places[at].is_weak = is_weak
        at += 1
    made.count = at
    return made
