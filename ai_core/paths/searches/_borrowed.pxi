"""Arrays as they are borrowed, through the buffer protocol, for the kernels of searches."""
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)


cdef int borrow(array, Py_buffer* held, int ndim, char kind, Py_ssize_t size, rule, int flags=0) except -1:
    """BORROW an array until ``PyBuffer_Release``, for which one that was never borrowed is no mistake.

    Args:
        kind: format of its numbers, as of ``struct``; they are of ``size`` bytes.
        rule: what the array must be, for the TypeError if it is not.
        flags: more than C order and the format, such as PyBUF_WRITABLE.
    """
    PyObject_GetBuffer(array, held, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)
    if held.ndim != ndim or held.itemsize != size or held.format[0] != kind:
        PyBuffer_Release(held)
        raise TypeError(rule)
    return 0


cdef inline int borrow_open_moves(array, Py_buffer* held) except -1:
    return borrow(array, held, 2, c"B", 1, "open_moves must be (height, width) uint8")
