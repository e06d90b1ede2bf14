# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``round_times``: the same function, the same results to the last bit.

The table comes through the buffer protocol and is BORROWED for one call. The GIL is
kept: a round is a dozen tasks.
"""
from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int64_t

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""


cdef enum:
    TOTAL = 0
    LONGEST = 1


def note_round(object table, Py_ssize_t row, list stamps):
    """As the twin says."""
    cdef Py_buffer view
    PyObject_GetBuffer(table, &view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE)
    try:
        if view.ndim != 2 or view.itemsize != 8 or view.format[0] not in b"lq":
            raise TypeError("table must be an array of 2 dimensions of int64")
        if not 2 <= row < view.shape[0]:
            raise ValueError(f"row must be from 2 to {view.shape[0] - 1}, got {row}")
        if len(stamps) != view.shape[1] + 1:
            raise ValueError(f"stamps must be {view.shape[1] + 1}, got {len(stamps)}")
        add_round(&view, row, stamps)
    finally:
        PyBuffer_Release(&view)


cdef int add_round(Py_buffer* view, Py_ssize_t row, list stamps) except -1:
    cdef int64_t begun = stamps[0], ended, used
    cdef int64_t* longest
    cdef Py_ssize_t task
    for task in range(view.shape[1]):
        ended = stamps[task + 1]
        used = ended - begun
        begun = ended
        cell(view, TOTAL, task)[0] += used
        longest = cell(view, LONGEST, task)
        if used > longest[0]:
            longest[0] = used
        cell(view, row, task)[0] = used
    return 0


cdef inline int64_t* cell(Py_buffer* view, Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    return <int64_t*> (<char*> view.buf + row * view.strides[0] + column * view.strides[1])
