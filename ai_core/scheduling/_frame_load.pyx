# cython: language_level=3, binding=False, cdivision=True
"""Kernel of ``frame_load``: the same functions, the same results."""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef int64_t ONE_AS_BUSY = <int64_t>1 << 46     # frame_load.ONE_AS_BUSY
cdef int64_t LEFT_OUT = -(<int64_t>1 << 62)     # lower than any sum of loads


def add_to_residue(cells, Py_ssize_t frames, Py_ssize_t first_frame, Py_ssize_t period_frames, int64_t weight):
    cdef Py_buffer view
    cdef Py_ssize_t frame = first_frame
    if first_frame < 0 or period_frames < 1:
        raise ValueError(f"first_frame must be at least 0, period_frames 1; got {first_frame}, {period_frames}")
    PyObject_GetBuffer(cells, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    try:
        if view.itemsize != sizeof(int64_t) or view.len < frames * <Py_ssize_t>sizeof(int64_t):
            raise ValueError(f"cells must be {frames} of 8 bytes, got {view.len} bytes")
        while frame < frames:
            (<int64_t*>view.buf)[frame] += weight
            if period_frames >= frames - frame:     # the sum might be beyond the largest number
                break
            frame += period_frames
    finally:
        PyBuffer_Release(&view)


def best_of_residues(cells, Py_ssize_t rows, Py_ssize_t period_frames, Py_ssize_t choice):
    cdef Py_buffer view
    cdef Py_ssize_t found
    if rows < 1 or period_frames < 1 or choice < 0:
        raise ValueError(f"rows and period_frames must be at least 1, choice 0; got {rows}, {period_frames}, {choice}")
    PyObject_GetBuffer(cells, &view, PyBUF_C_CONTIGUOUS)
    try:
        if view.itemsize != sizeof(int64_t) or view.len // <Py_ssize_t>sizeof(int64_t) // period_frames < rows:
            raise ValueError(f"cells must be {rows * period_frames} of 8 bytes, got {view.len} bytes")
        found = best(<const int64_t*>view.buf, rows, period_frames, choice)
    finally:
        PyBuffer_Release(&view)
    if found < 0:
        raise MemoryError()
    return found


cdef Py_ssize_t best(const int64_t* cells, Py_ssize_t rows, Py_ssize_t period, Py_ssize_t choice) noexcept nogil:
    """Return the residue; -1 where there is no memory."""
    cdef int64_t* score = <int64_t*>malloc(period * sizeof(int64_t))
    cdef int64_t least, sum, cell
    cdef Py_ssize_t residue, row, tied
    if score == NULL:
        return -1
    for residue in range(period):
        score[residue] = cells[residue]
    for row in range(1, rows):
        for residue in range(period):
            cell = cells[row * period + residue]
            score[residue] = cell if cell > score[residue] else score[residue]
    least = lowest(score, period, &tied)
    if tied > 1 and rows > 1:
        for residue in range(period):
            if score[residue] != least:
                score[residue] = LEFT_OUT
                continue
            sum = 0
            for row in range(rows):
                cell = cells[row * period + residue]
                sum += cell + (ONE_AS_BUSY if cell == least else 0)
            score[residue] = sum
        least = lowest(score, period, &tied)
    choice %= tied
    for residue in range(period):
        if score[residue] == least:
            choice -= 1
            if choice < 0:
                break
    free(score)
    return residue


cdef int64_t lowest(const int64_t* score, Py_ssize_t period, Py_ssize_t* tied) noexcept nogil:
    """Return the lowest score, and how many residues have it."""
    cdef int64_t least = 0
    cdef Py_ssize_t residue
    tied[0] = 0
    for residue in range(period):
        if score[residue] == LEFT_OUT or (tied[0] and score[residue] > least):
            continue
        tied[0] = tied[0] + 1 if tied[0] and score[residue] == least else 1
        least = score[residue]
    return least
