# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Kernel of ``importance_kernel``: the same function, the same results to the last bit.

Every operation is that of the twin, in its order and in float32; the compiler may
not fuse a product with a sum. A block of rows at a time and one loop for each step,
so that the compiler does several rows at once. Of roots it would not, as each may
report an error of its own: where there is an instruction for four, that is asked for.

Arrays come through the buffer protocol and are BORROWED for one call.
"""
from cpython.buffer cimport PyBUF_WRITABLE
from libc.math cimport isfinite

cdef extern from *:
    """
    #include <math.h>
    #ifdef __SSE__
    #include <xmmintrin.h>
    #endif

    /* Takes the root of each; ``room`` is a multiple of four. */
    static void ai_core_roots(float *values, int room) {
        int i;
    #ifdef __SSE__
        for (i = 0; i < room; i += 4) _mm_storeu_ps(values + i, _mm_sqrt_ps(_mm_loadu_ps(values + i)));
    #else
        for (i = 0; i < room; i += 1) values[i] = sqrtf(values[i]);
    #endif
    }
    """
    void ai_core_roots(float* values, int room) noexcept nogil

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

include "../senses/_buffers.pxi"

cdef enum:
    BLOCK = 256             # rows at a time (count): 10 kB, well inside the nearest cache
    EYE_NUMBERS = 13        # importance_kernel.EYE_NUMBERS
    LONG = 1024             # rows from which on the GIL is released (count): some 5 us

cdef float SMALLEST_M = <float> 1e-6    # importance_kernel.SMALLEST_M
cdef float FARTHEST = <float> 1e18      # importance_kernel.FARTHEST


cdef struct Block:
    float place[3][BLOCK]
    float moving[3][BLOCK]
    float away[3][BLOCK]
    float size[BLOCK]
    float distance[BLOCK]
    float nearness[BLOCK]
    float own[4][BLOCK]
    float total[BLOCK]
    float best[BLOCK]


cdef struct Task:
    char* eyes
    Py_ssize_t eye_stride
    Py_ssize_t viewers
    float scales[6]
    Py_buffer* positions
    Py_buffer* velocities
    Py_buffer* sizes
    Py_buffer* total
    Py_buffer* parts
    Py_ssize_t rows
    int dimensions


def best_opinions(eyes, scales, positions, velocities, sizes, total, parts, workspace):
    cdef Buffers held = Buffers()
    cdef Task task
    cdef Py_buffer* view = held.borrow(eyes, "eyes", "f", 4, 2, 0, EYE_NUMBERS)
    if view.strides[1] != sizeof(float):
        raise ValueError("eyes must have rows without gaps")
    task.eyes, task.eye_stride, task.viewers = <char*> view.buf, view.strides[0], view.shape[0]
    view = held.borrow(scales, "scales", "f", 4, 1, 6)
    cdef int i
    for i in range(6):
        task.scales[i] = float32_in(view, i)[0]
    task.positions = held.borrow(positions, "positions", "f", 4, 2, 0, 2)
    task.rows = task.positions.shape[0]
    if task.positions.shape[1] > 3:
        raise ValueError("positions must have two or three columns")
    task.dimensions = <int> task.positions.shape[1]
    task.velocities = NULL if velocities is None else held.borrow(
        velocities, "velocities", "f", 4, 2, task.rows, task.dimensions)
    task.sizes = held.borrow(sizes, "sizes", "f", 4, 1, task.rows)
    task.total = held.borrow(total, "total", "f", 4, 1, task.rows, 0, PyBUF_WRITABLE)
    task.parts = NULL if parts is None else held.borrow(parts, "parts", "f", 4, 2, 4, task.rows, PyBUF_WRITABLE)
    cdef Py_ssize_t wrong
    if task.rows >= LONG:
        with nogil:
            wrong = see_all(&task)
    else:
        wrong = see_all(&task)
    return wrong


cdef Py_ssize_t see_all(Task* task) noexcept nogil:
    cdef Block block
    cdef Py_ssize_t begin = 0, wrong
    cdef Py_ssize_t viewer
    cdef int rows, i
    while begin < task.rows:
        rows = <int> min(task.rows - begin, <Py_ssize_t> BLOCK)
        wrong = read(task, &block, begin, rows)
        if wrong >= 0:
            return begin + wrong
        for viewer in range(task.viewers):
            see(&block, <float*> (task.eyes + viewer * task.eye_stride), task.scales + 2, rows)
            if task.parts != NULL:
                take_parts(task, &block, (<float*> (task.eyes + viewer * task.eye_stride))[12], begin, rows)
            for i in range(rows):
                block.best[i] = larger(block.total[i], block.best[i])
        for i in range(rows):
            float32_in(task.total, begin + i)[0] = block.best[i]
        begin += rows
    return -1


cdef int read(Task* task, Block* block, Py_ssize_t begin, int rows) noexcept nogil:
    """Copy rows into columns; return the first that is not finite, -1 if there is none."""
    cdef int i, axis, part
    cdef float one
    for i in range(rows):
        for axis in range(3):
            block.place[axis][i] = block.moving[axis][i] = 0
        for axis in range(task.dimensions):
            one = float32_at(task.positions, begin + i, axis)
            if not isfinite(one):
                return i
            block.place[axis][i] = within(one)
            if task.velocities != NULL:
                one = float32_at(task.velocities, begin + i, axis)
                if not isfinite(one):
                    return i
                block.moving[axis][i] = within(one) * task.scales[0]
        block.size[i] = float32_in(task.sizes, begin + i)[0] * task.scales[1]
        block.best[i] = 0
        if task.parts != NULL:
            for part in range(4):
                part_in(task.parts, part, begin + i)[0] = 0
    return -1


cdef void see(Block* block, float* eye, float* most, int rows) noexcept nogil:
    """Write one viewer's opinion of a block: parts in ``own``, and their sum in ``total``."""
    cdef int i, room = (rows + 3) // 4 * 4
    measure(block, eye[0], eye[1], eye[2], rows)
    ai_core_roots(block.distance, room)
    turn_over(block.distance, block.nearness, SMALLEST_M, rows)
    judge_distance(block, eye[9], eye[10], most[0], rows)
    judge_view(block, eye, most[1], rows)
    judge_approach(block, eye, most[2], rows)
    judge_size(block, most[3], rows)
    cdef float weight = eye[12]
    for i in range(rows):
        block.total[i] = (block.own[0][i] + block.own[1][i] + block.own[2][i] + block.own[3][i]) * weight


cdef void measure(Block* block, float x, float y, float z, int rows) noexcept nogil:
    """Write where rows are from here, and the squares of their distances."""
    cdef int i
    for i in range(rows):
        block.away[0][i] = block.place[0][i] - x
        block.away[1][i] = block.place[1][i] - y
        block.away[2][i] = block.place[2][i] - z
        block.distance[i] = (
            block.away[0][i] * block.away[0][i] + block.away[1][i] * block.away[1][i]
            + block.away[2][i] * block.away[2][i])


cdef void turn_over(float* distance, float* nearness, float least, int rows) noexcept nogil:
    cdef int i
    cdef float one = 1
    for i in range(rows):
        nearness[i] = one / larger(distance[i], least)


cdef void judge_distance(Block* block, float slope, float height, float most, int rows) noexcept nogil:
    cdef int i
    for i in range(rows):
        block.own[0][i] = smaller(larger(block.distance[i] * slope + height, 0), most)


cdef void judge_view(Block* block, float* eye, float most, int rows) noexcept nogil:
    cdef int i
    cdef float x = eye[3], y = eye[4], z = eye[5], height = eye[11]
    for i in range(rows):
        block.own[1][i] = smaller(
            (x * block.away[0][i] + y * block.away[1][i] + z * block.away[2][i]) * block.nearness[i] + height, most)


cdef void judge_approach(Block* block, float* eye, float most, int rows) noexcept nogil:
    cdef int i
    cdef float x = eye[6], y = eye[7], z = eye[8]
    for i in range(rows):
        block.own[2][i] = smaller(larger((
            (x - block.moving[0][i]) * block.away[0][i] + (y - block.moving[1][i]) * block.away[1][i]
            + (z - block.moving[2][i]) * block.away[2][i]) * block.nearness[i], 0), most)


cdef void judge_size(Block* block, float most, int rows) noexcept nogil:
    cdef int i
    for i in range(rows):
        block.own[3][i] = smaller(block.size[i] * block.nearness[i], most)


cdef void take_parts(Task* task, Block* block, float weight, Py_ssize_t begin, int rows) noexcept nogil:
    """Write the parts of those of whom this opinion is the highest so far."""
    cdef int i, part
    cdef float one
    for i in range(rows):
        if block.total[i] > block.best[i]:
            for part in range(4):
                one = block.own[part][i]
                one = one if one > 0 else 0
                part_in(task.parts, part, begin + i)[0] = one * weight


cdef inline float larger(float one, float other) noexcept nogil:
    return one if one > other else other


cdef inline float smaller(float one, float other) noexcept nogil:
    return one if one < other else other


cdef inline float within(float value) noexcept nogil:
    return -FARTHEST if value < -FARTHEST else (FARTHEST if value > FARTHEST else value)


cdef inline float* float32_in(Py_buffer* view, Py_ssize_t row) noexcept nogil:
    return <float*> (<char*> view.buf + row * view.strides[0])


cdef inline float* part_in(Py_buffer* view, int part, Py_ssize_t row) noexcept nogil:
    return <float*> (<char*> view.buf + part * view.strides[0] + row * view.strides[1])
