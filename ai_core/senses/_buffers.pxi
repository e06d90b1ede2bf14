"""Arrays of one call, through the buffer protocol."""
from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int32_t, int64_t

cdef enum:
    MOST_BUFFERS = 16


cdef class Buffers:
    """The arrays of one call. BORROWED: given back when this object goes."""

    cdef Py_buffer held[MOST_BUFFERS]
    cdef int count

    def __cinit__(self):
        self.count = 0

    def __dealloc__(self):
        while self.count > 0:
            self.count -= 1
            PyBuffer_Release(&self.held[self.count])

    cdef Py_buffer* borrow(
        self, object array, str name, Py_UCS4 kind, int size, int ndim, Py_ssize_t rows=0,
        Py_ssize_t columns=0, int flags=0,
    ) except NULL:
        """Borrow an array, and refuse one that is not as the kernel will read it.

        Args: kind "f" (floats) or "i" (whole numbers) of ``size`` bytes; least number of
        rows, and of columns in its last dimension.
        """
        cdef Py_buffer* view = &self.held[self.count]
        PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT | flags)
        self.count += 1
        cdef char given = view.format[0]
        cdef bint fits = (given == c"f" or given == c"d") if kind == "f" else (
            given == c"i" or given == c"l" or given == c"q")
        if not fits or view.itemsize != size or view.ndim != ndim:
            raise TypeError(f"{name} must be an array of {ndim} dimensions and {size} bytes an element, kind {kind!r}")
        if view.shape[0] < rows or view.shape[ndim - 1] < columns:
            raise ValueError(f"{name} must have at least {rows} rows and {columns} columns")
        return view

    cdef Py_buffer* borrow_flags(
        self, object array, str name, int ndim, Py_ssize_t rows=0, int flags=0,
    ) except NULL:
        """Borrow an array of bool, and refuse any other."""
        cdef Py_buffer* view = &self.held[self.count]
        PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT | flags)
        self.count += 1
        if view.format[0] != c"?" or view.ndim != ndim:
            raise TypeError(f"{name} must be an array of bool of {ndim} dimensions")
        if view.shape[0] < rows:
            raise ValueError(f"{name} must have at least {rows} rows")
        return view


cdef inline float float32_at(Py_buffer* view, Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    return (<float*> (<char*> view.buf + row * view.strides[0] + column * view.strides[1]))[0]


cdef inline double float64_at(Py_buffer* view, Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    return (<double*> (<char*> view.buf + row * view.strides[0] + column * view.strides[1]))[0]


cdef inline int64_t int64_at(Py_buffer* view, Py_ssize_t row) noexcept nogil:
    return (<int64_t*> (<char*> view.buf + row * view.strides[0]))[0]


cdef inline int32_t int32_at(Py_buffer* view, Py_ssize_t row) noexcept nogil:
    return (<int32_t*> (<char*> view.buf + row * view.strides[0]))[0]


cdef inline tuple as_tuple(object value, Py_ssize_t count):
    """Return a named tuple as a plain one, which is read at once."""
    if not isinstance(value, tuple) or len(<tuple> value) != count:
        raise TypeError(f"a tuple of {count} was wanted, got {value!r}")
    return <tuple> value
