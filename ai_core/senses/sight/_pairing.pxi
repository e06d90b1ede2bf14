"""Pairs of sensor and source: mark who may be near each sensor, then test those exactly."""


cdef enum:
    MANY_TARGETS = 64       # from which on sensors are not tested first for being near any (count)

cdef struct Targets:
    Target* one
    float* near             # x of all, then y, then z: what the rough test goes along
    float limit             # of the squared distance to any of them, for the rough test
    double largest          # size
    Py_ssize_t count


cdef Py_ssize_t gather_targets(sources, source_ids, Look* look, Target* targets) except -1:
    """Copy what can be sensed into one run of memory; return how many there are."""
    cdef Buffers held = Buffers()
    cdef Py_buffer* ids = held.borrow(source_ids, "source_ids", "i", 4, 1)
    cdef Py_buffer* position = held.borrow(sources.position, "position", "f", 4, 2, 0, 3)
    cdef Py_ssize_t rows = position.shape[0]
    cdef Py_buffer* strength = held.borrow(sources.strength, "strength", "f", 8, 2, rows, look.number + 1)
    cdef Py_buffer* affiliation = held.borrow(sources.affiliation, "affiliation", "i", 8, 1, rows)
    cdef Py_buffer* size = held.borrow(sources.size, "size", "f", 8, 1, rows)
    cdef Py_ssize_t i, slot, axis, count = 0
    cdef Target* target
    check_rows(ids, rows, "source")
    for i in range(ids.shape[0]):
        slot = int32_at(ids, i) & SLOT_MASK
        target = &targets[count]
        target.strength = float64_at(strength, slot, look.number)
        if target.strength >= 0:
            target.id = int32_at(ids, i)
            target.affiliation = int64_at(affiliation, slot)
            target.size = (<double*> (<char*> size.buf + slot * size.strides[0]))[0]
            for axis in range(3):
                target.at[axis] = float32_at(position, slot, axis)
            make_ready(target, look.range_m, look.kept_per_m != 1)
            count += 1
    return count


cdef int borrow_reach_of_all(Buffers held, sensors, sense, Targets* targets, Look* look) except -1:
    """Have the reach of each sensor kept beside targets, unless their sizes make reaches of their own."""
    cdef Py_ssize_t i
    cdef double strongest = 0, weakest = INFINITY
    for i in range(targets.count):
        if targets.one[i].size != 1:
            return 0
        strongest = max(strongest, targets.one[i].strength)
        weakest = min(weakest, targets.one[i].strength)
    borrow_reaches(held, sensors, sense, strongest, look)
    look.is_rough_first = look.reaches == NULL or 2 * weakest < strongest
    return 0


cdef Py_ssize_t find_pairs(
    Look* look, Py_buffer* ids, Targets* targets, Py_buffer* keys, Py_buffer* intensity,
) noexcept nogil:
    """Find sensors near any target by groups, in single precision; go through the targets of those."""
    cdef Py_ssize_t n = ids.shape[0], first = 0, group, i, j, found, count = 0
    cdef Py_ssize_t run = first_of_run(ids)
    cdef unsigned int near
    cdef int32_t one[BLOCK]
    cdef uint16_t masks[GROUPS]
    cdef Block block
    lay_out(targets)
    while first < n:
        fetch(&block, look, ids, run, first, min(<Py_ssize_t> BLOCK, n - first))
        found = 0
        if targets.count < MANY_TARGETS:
            for group in range(GROUPS):
                masks[group] = 0
            for j in range(targets.count):
                mark_near(&block, &targets.one[j], masks)
        else:                    # somebody is near anybody
            for group in range(GROUPS):
                masks[group] = 0xFFFF if (group + 1) * GROUP <= block.rows else <uint16_t> (
                    (1 << max(<Py_ssize_t> 0, block.rows - group * GROUP)) - 1)
        for group in range(GROUPS):
            near = masks[group]
            while near:
                one[found] = int32_at(ids, first + group * GROUP + lowest_bit(near))
                fetch_ahead(look, one[found] & SLOT_MASK)
                found += 1
                near &= near - 1
        for i in range(found):
            count = add_pairs(look, one[i], targets, keys, intensity, count)
        first += BLOCK
    return count


cdef void lay_out(Targets* targets) noexcept nogil:
    """Lay out for the rough test where targets are, and how near the nearest and largest must be."""
    cdef Py_ssize_t i, axis, m = targets.count
    targets.limit, targets.largest = 0, 0
    for i in range(m):
        for axis in range(3):
            targets.near[axis * m + i] = targets.one[i].near[axis]
        targets.limit = max(targets.limit, targets.one[i].limit)
        targets.largest = max(targets.largest, targets.one[i].size)


cdef Py_ssize_t add_pairs(
    Look* look, int32_t sensor_id, Targets* targets, Py_buffer* keys, Py_buffer* intensity, Py_ssize_t count,
) noexcept nogil:
    """Write the pairs of one sensor after the first ``count``; return how many there are then."""
    cdef Py_ssize_t first = 0, group, groups, rows, j, m = targets.count
    cdef float limit, x, y, z
    cdef uint16_t masks[GROUPS]
    cdef unsigned int near
    cdef Eye eye
    eye.slot = sensor_id & SLOT_MASK
    if not prepare(look, &eye):
        return count
    # No cone reaches farther than this, whatever the range.
    limit = min(targets.limit, limit_of(sqrt(eye.farthest) * targets.largest))
    if look.reaches != NULL:
        limit = min(limit, look.reaches[eye.slot])
    x, y, z = <float> eye.at[0], <float> eye.at[1], <float> eye.at[2]
    while first < m:
        rows = min(<Py_ssize_t> BLOCK, m - first)
        groups = (rows + GROUP - 1) // GROUP
        for group in range(groups):
            masks[group] = 0
        near_masks(targets.near + first, targets.near + m + first, targets.near + 2 * m + first, <int> rows,
                   x, y, z, limit, NULL, masks)
        for group in range(groups):
            near = masks[group]
            while near:
                j = first + group * GROUP + lowest_bit(near)
                count += add_pair(look, &eye, sensor_id, &targets.one[j], keys, intensity, count)
                near &= near - 1
        first += BLOCK
    return count


cdef inline bint add_pair(
    Look* look, Eye* eye, int32_t sensor_id, Target* target, Py_buffer* keys, Py_buffer* intensity, Py_ssize_t count,
) noexcept nogil:
    """Write a pair and return 1 if it passes every test, else return 0."""
    cdef double dx = target.at[0] - eye.at[0], dy = target.at[1] - eye.at[1], dz = target.at[2] - eye.at[2]
    cdef double squared = dx * dx + dy * dy + dz * dz, sensed = target.strength, acuity = 1, ahead, distance
    # The rough test again, by its own size: before divisions and roots, which cost most.
    if squared > target.limit:
        return False
    if target.size != 1:
        dx, dy, dz = dx / target.size, dy / target.size, dz / target.size
        squared = dx * dx + dy * dy + dz * dz
    if squared > eye.farthest:
        return False
    if squared > eye.behind:
        ahead = eye.ahead[0] * dx + eye.ahead[1] * dy + eye.ahead[2] * dz
        if ahead < 0 and ahead * ahead > BEHIND * squared:
            return False
    distance = sqrt(squared)
    if distance > look.range_m:
        return False
    if look.is_rough_first and look.kept_per_m != 1 and not look.has_acuity and is_faded(
            look, eye.slot, target, distance):
        return False
    if not eye.is_known:
        fetch_what_it_notices(look, eye.slot)
    if look.needs_cone:
        acuity = acuity_towards(look, eye, dx, dy, dz)
        if acuity < 0:
            return False
    if not detection_mask(look, eye) or not (eye.detection_mask & target.affiliation) or eye.self_source == target.id:
        return False
    if look.kept_per_m != 1:
        sensed = sensed * pow(look.kept_per_m, distance)
    sensed = sensed * acuity
    if not sensed >= eye.threshold:
        return False
    (<int64_t*> (<char*> keys.buf + count * keys.strides[0]))[0] = <int64_t> sensor_id << ID_BITS | target.id
    (<double*> (<char*> intensity.buf + count * intensity.strides[0]))[0] = sensed
    return True
