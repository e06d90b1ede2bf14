"""The rough test of ``reach.py``: groups of positions, in single precision, several at once."""

cdef enum:
    BLOCK = 256             # rows of one pass (count): fits the stack and the nearest cache
    GROUP = 16              # rows of one mask (count), as the C code below has it
    GROUPS = 16             # masks of a block (count): BLOCK / GROUP


cdef extern from *:
    """
    /* A bit for each row that is near a target, 16 rows to a mask. Four rows at once, or eight where
       the processor can: the same operations on each row either way, and never a fused one.
       ``limit`` is of the squared distance; of each row in ``limits``, unless that is NULL. */
    #include <stdint.h>
    #define NEAR_ARGUMENTS const float *x, const float *y, const float *z, int rows, \\
        float tx, float ty, float tz, float limit, const float *limits, uint16_t *masks
    static void near_rows(NEAR_ARGUMENTS, int first)
    {
        int i;
        for (i = first; i < rows; i++) {
            float dx = x[i] - tx, dy = y[i] - ty, dz = z[i] - tz;
            masks[i >> 4] |= (uint16_t)((dx * dx + dy * dy + dz * dz <= (limits ? limits[i] : limit)) << (i & 15));
        }
    }
    #if defined(__GNUC__) && defined(__x86_64__)
    #include <immintrin.h>
    static void near_four(NEAR_ARGUMENTS)
    {
        __m128 ax = _mm_set1_ps(tx), ay = _mm_set1_ps(ty), az = _mm_set1_ps(tz), most = _mm_set1_ps(limit);
        int i;
        for (i = 0; i + 4 <= rows; i += 4) {
            __m128 dx = _mm_sub_ps(_mm_loadu_ps(x + i), ax);
            __m128 dy = _mm_sub_ps(_mm_loadu_ps(y + i), ay);
            __m128 dz = _mm_sub_ps(_mm_loadu_ps(z + i), az);
            __m128 squared = _mm_add_ps(_mm_add_ps(_mm_mul_ps(dx, dx), _mm_mul_ps(dy, dy)), _mm_mul_ps(dz, dz));
            if (limits) most = _mm_loadu_ps(limits + i);
            masks[i >> 4] |= (uint16_t)(_mm_movemask_ps(_mm_cmple_ps(squared, most)) << (i & 15));
        }
        near_rows(x, y, z, rows, tx, ty, tz, limit, limits, masks, i);
    }
    __attribute__((target("avx2"))) static void near_eight(NEAR_ARGUMENTS)
    {
        __m256 ax = _mm256_set1_ps(tx), ay = _mm256_set1_ps(ty), az = _mm256_set1_ps(tz);
        __m256 most = _mm256_set1_ps(limit);
        int i, near_before = 0;
        for (i = 0; i + 8 <= rows; i += 8) {
            __m256 dx = _mm256_sub_ps(_mm256_loadu_ps(x + i), ax);
            __m256 dy = _mm256_sub_ps(_mm256_loadu_ps(y + i), ay);
            __m256 dz = _mm256_sub_ps(_mm256_loadu_ps(z + i), az);
            __m256 squared = _mm256_add_ps(
                _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
            if (limits) most = _mm256_loadu_ps(limits + i);
            int near = _mm256_movemask_ps(_mm256_cmp_ps(squared, most, _CMP_LE_OQ));
            if (i & 8) masks[i >> 4] |= (uint16_t)(near << 8 | near_before);
            near_before = near;
        }
        if (i & 8) masks[i >> 4] |= (uint16_t)near_before;
        near_rows(x, y, z, rows, tx, ty, tz, limit, limits, masks, i);
    }
    static void (*near_masks)(NEAR_ARGUMENTS) = near_four;
    static void choose_near(void)
    { __builtin_cpu_init(); if (__builtin_cpu_supports("avx2")) near_masks = near_eight; }
    #else
    static void near_masks(NEAR_ARGUMENTS)
    { near_rows(x, y, z, rows, tx, ty, tz, limit, limits, masks, 0); }
    static void choose_near(void) {}
    #endif
    #if defined(__GNUC__)
    #define prefetch(at) __builtin_prefetch(at)
    #define lowest_bit(bits) __builtin_ctz(bits)
    #else
    #define prefetch(at) ((void)0)
    static int lowest_bit(unsigned bits) { int i = 0; while (!(bits >> i & 1)) i++; return i; }
    #endif
    """
    int lowest_bit(unsigned int bits) noexcept nogil
    void prefetch(const char* at) noexcept nogil
    void near_masks(
        const float* x, const float* y, const float* z, int rows,
        float tx, float ty, float tz, float limit, const float* limits, uint16_t* masks) noexcept nogil
    void choose_near() noexcept nogil


cdef struct Target:
    double at[3]
    double strength
    double log_strength
    double size         # as if it were so many times nearer
    float near[3]       # the same place, for the rough test
    float limit         # of the squared distance, for the rough test
    int64_t affiliation
    int64_t id


cdef struct Block:
    Py_ssize_t rows
    float* x            # BORROWED from the table, or ``own``
    float* y
    float* z
    float* limits       # of the squared distance, how far each senses anything; NULL: as far as a target says
    float own[4 * BLOCK]


cdef inline float limit_of(double range_m) noexcept nogil:
    """Return the square that the rough test goes by, with its slack; see reach.py."""
    return <float> INFINITY if range_m > 1e18 else <float> (range_m * range_m * 1.0001 + 1e-9)


cdef inline void make_ready(Target* target, double range_m, bint fades) noexcept nogil:
    """Fill in what the rough test goes by, and ``is_faded`` where signals do fade."""
    cdef Py_ssize_t axis
    for axis in range(3):
        target.near[axis] = <float> target.at[axis]
    target.limit = limit_of(range_m * target.size)
    target.log_strength = log(target.strength) if fades else 0


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
    Block* block, Look* look, Py_buffer* ids, Py_ssize_t run, Py_ssize_t first, Py_ssize_t rows,
) noexcept nogil:
    """Let a block show ``rows`` sensors: as they lie if they lie in a run, or gathered by slots."""
    cdef Py_ssize_t row = look.position.strides[0], axis = look.position.strides[1], slot, i
    cdef char* at = <char*> look.position.buf
    block.rows = rows
    if run >= 0 and row == sizeof(float):
        at += (run + first) * row
        block.x, block.y, block.z = <float*> at, <float*> (at + axis), <float*> (at + 2 * axis)
        block.limits = look.reaches + run + first if look.reaches != NULL else NULL
        return
    block.x, block.y, block.z = block.own, block.own + BLOCK, block.own + 2 * BLOCK
    block.limits = block.own + 3 * BLOCK if look.reaches != NULL else NULL
    for i in range(rows):
        slot = run + first + i if run >= 0 else int32_at(ids, first + i) & SLOT_MASK
        block.x[i] = (<float*> (at + slot * row))[0]
        block.y[i] = (<float*> (at + slot * row + axis))[0]
        block.z[i] = (<float*> (at + slot * row + 2 * axis))[0]
        if look.reaches != NULL:
            block.limits[i] = look.reaches[slot]


cdef inline void mark_near(Block* block, Target* target, uint16_t* masks) noexcept nogil:
    """Add to masks which rows of a block are near a target."""
    near_masks(block.x, block.y, block.z, <int> block.rows,
               target.near[0], target.near[1], target.near[2], target.limit, block.limits, masks)
