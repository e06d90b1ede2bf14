"""Columns that lie in one run of memory; include it after ``_buffers.pxi``."""


cdef void* run_of(Buffers held, array, str name, Py_UCS4 kind, int size, Py_ssize_t rows, int flags=0) except? NULL:
    """Borrow an array of one dimension that lies in one run of memory."""
    cdef Py_buffer* view = held.borrow(array, name, kind, size, 1, rows, 0, flags)
    if view.shape[0] > 1 and view.strides[0] != size:
        raise ValueError(f"{name} must lie in one run of memory")
    return view.buf


cdef uint8_t* flags_of(Buffers held, array, str name, Py_ssize_t rows, int flags=0) except? NULL:
    cdef Py_buffer* view = held.borrow_flags(array, name, 1, rows, flags)
    if view.shape[0] > 1 and view.strides[0] != 1:
        raise ValueError(f"{name} must lie in one run of memory")
    return <uint8_t*> view.buf
