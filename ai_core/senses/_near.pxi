"""The rough test of ``reach.py``: blocks of positions, in single precision, four at once."""

cdef enum:
    BLOCK = 256             # rows of one pass (count): fits the stack and the nearest cache
    GROUP = 16              # rows told apart together (count); divides BLOCK


cdef struct Target:
    double at[3]
    double strength
    int64_t affiliation
    int64_t id


cdef struct Block:
    Py_ssize_t rows
    float* x            # BORROWED from the table, or ``own``
    float* y
    float* z
    float own[3 * BLOCK]
    int near[BLOCK]


cdef inline float limit_of(double range_m) noexcept nogil:
    """Return the square that the rough test goes by, with its slack; see reach.py."""
    return <float> INFINITY if range_m > 1e18 else <float> (range_m * range_m * 1.0001 + 1e-9)


cdef Py_ssize_t first_of_run(Py_buffer* ids) noexcept nogil:
    """Return the first slot if ids have slots that follow each other; -1 if they do not."""
    cdef int32_t* one = <int32_t*> ids.buf
    cdef int32_t gaps = 0
    cdef Py_ssize_t i
    if ids.strides[0] != sizeof(int32_t):
        return -1
    for i in range(ids.shape[0]):
        gaps |= (one[i] - one[0]) ^ <int32_t> i
    return one[0] & SLOT_MASK if gaps == 0 else -1


cdef void fetch(
    Block* block, Py_buffer* position, Py_buffer* ids, Py_ssize_t run, Py_ssize_t first, Py_ssize_t rows,
) noexcept nogil:
    """Let a block show ``rows`` positions: as they lie if they lie in a run, or gathered by slots."""
    cdef Py_ssize_t row = position.strides[0], axis = position.strides[1], slot, i
    cdef char* at = <char*> position.buf
    block.rows = rows
    for i in range(BLOCK):
        block.near[i] = 0
    if run >= 0 and row == sizeof(float):
        at += (run + first) * row
        block.x, block.y, block.z = <float*> at, <float*> (at + axis), <float*> (at + 2 * axis)
        return
    block.x, block.y, block.z = block.own, block.own + BLOCK, block.own + 2 * BLOCK
    for i in range(rows):
        slot = run + first + i if run >= 0 else int32_at(ids, first + i) & SLOT_MASK
        block.x[i] = (<float*> (at + slot * row))[0]
        block.y[i] = (<float*> (at + slot * row + axis))[0]
        block.z[i] = (<float*> (at + slot * row + 2 * axis))[0]


cdef Py_ssize_t next_near(Block* block, Py_ssize_t i) noexcept nogil:
    """Return the next row that is near, from ``i`` on; ``rows`` if there is none."""
    cdef Py_ssize_t k
    cdef int near
    while i < block.rows:
        if i % GROUP == 0:
            near = 0
            for k in range(GROUP):
                near |= block.near[i + k]
            if not near:
                i += GROUP
                continue
        if block.near[i]:
            return i
        i += 1
    return block.rows


cdef void mark_near(Block* block, Target* target, float limit) noexcept nogil:
    cdef float tx = <float> target.at[0], ty = <float> target.at[1], tz = <float> target.at[2]
    cdef float* x = block.x
    cdef float* y = block.y
    cdef float* z = block.z
    cdef int* near = block.near
    cdef float dx, dy, dz
    cdef Py_ssize_t i, rows = block.rows
    for i in range(rows):
        dx = x[i] - tx
        dy = y[i] - ty
        dz = z[i] - tz
        near[i] |= dx * dx + dy * dy + dz * dz <= limit
