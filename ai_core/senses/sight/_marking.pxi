"""Signals at sensors: mark who may be near, then test those exactly."""

cdef enum:
    FIRST_HITS = 256        # room for hits at first (count); it doubles


cdef int take_wave(wave, before, Look* look, Look* look_before, Target* target) except -1:
    """Read one ``Wave``; what it has in common with the one before is not read again."""
    cdef tuple parts = as_tuple(wave, 5), at = as_tuple(parts[1], 3), sense = as_tuple(parts[0], 6)
    if before is not None and (<tuple> before)[0] is sense:
        look.number, look.range_m, look.kept_per_m, look.log_kept_per_m = (
            look_before.number, look_before.range_m, look_before.kept_per_m, look_before.log_kept_per_m)
    else:
        look.number, look.range_m, look.kept_per_m = sense[0], sense[1], sense[2]
        look.log_kept_per_m = log(look.kept_per_m)
        if not 0 <= look.number < look.threshold.shape[1]:
            raise IndexError(f"there is no modality {look.number}")
    target.at[0], target.at[1], target.at[2] = at[0], at[1], at[2]
    target.strength, target.affiliation, target.id, target.size = parts[2], parts[3], parts[4], 1
    make_ready(target, look.range_m, True)
    return 0


cdef int take_signal(signal, kinds, Look* look, Look* look_before, Target* target) except -1:
    """Read one ``Signal``; a modality that it has in common with the one before is not read again."""
    cdef tuple parts = as_tuple(signal, 9), at = as_tuple(parts[4], 3)
    cdef Py_ssize_t number = parts[2]
    if look_before != look and look_before.number == number:
        look.log_kept_per_m = look_before.log_kept_per_m
        look.number, look.range_m, look.kept_per_m = number, look_before.range_m, look_before.kept_per_m
    else:
        if not 0 <= number < look.threshold.shape[1]:
            raise IndexError(f"there is no modality {number}")
        kind = kinds[number]
        look.number, look.range_m, look.kept_per_m = number, kind.range_m, kind.kept_per_m
        look.log_kept_per_m = log(look.kept_per_m)
    target.at[0], target.at[1], target.at[2] = at[0], at[1], at[2]
    target.strength, target.affiliation, target.id, target.size = parts[3], parts[6], parts[1], 1
    make_ready(target, look.range_m, True)
    return 0


cdef void mark_all(
    Look* look, Py_ssize_t n, Target* targets, Py_ssize_t m, uint16_t* masks, Py_ssize_t groups,
) noexcept nogil:
    """Mark who is near which signal, in one pass over all positions."""
    cdef Py_ssize_t first = 0, wave
    cdef Block block
    while first < n:
        fetch(&block, look, NULL, 0, first, min(<Py_ssize_t> BLOCK, n - first))
        for wave in range(m):
            mark_near(&block, &targets[wave], masks + wave * groups + first // GROUP)
        first += BLOCK


cdef bint test_marked(
    Look* look, Target* target, uint16_t* masks, Py_ssize_t groups, Hits* hits,
) noexcept nogil:
    """Test those exactly that may be near, by slot; return True if memory ran out."""
    cdef Py_ssize_t group, i, four, found = 0
    cdef unsigned int near
    cdef int32_t slots[BLOCK]
    cdef uint64_t* fours = <uint64_t*> masks
    for four in range(groups // 4):
        if not fours[four]:
            continue
        for group in range(4 * four, 4 * four + 4):
            near = masks[group]
            while near:
                i = group * GROUP + lowest_bit(near)
                slots[found] = <int32_t> i
                fetch_ahead(look, i)
                prefetch_place(look, i)
                found += 1
                near &= near - 1
        if found > BLOCK - 4 * GROUP:
            if test_rows(look, slots, found, target, hits):
                return True
            found = 0
    return test_rows(look, slots, found, target, hits)


cdef inline void prefetch_place(Look* look, Py_ssize_t slot) noexcept nogil:
    cdef char* at = <char*> look.position.buf + slot * look.position.strides[0]
    prefetch(at)
    prefetch(at + look.position.strides[1])
    prefetch(at + 2 * look.position.strides[1])


cdef bint test_rows(Look* look, int32_t* slots, Py_ssize_t count, Target* target, Hits* hits) noexcept nogil:
    """Add who senses a signal among some; return True if memory ran out."""
    cdef Py_ssize_t i, room
    cdef Hit* more
    if hits.count + count > hits.room:
        room = max(<Py_ssize_t> FIRST_HITS, max(2 * hits.room, hits.count + count))
        more = <Hit*> realloc(hits.all, room * sizeof(Hit))
        if more == NULL:
            return True
        hits.all, hits.room = more, room
    for i in range(count):
        hits.count += test_row(look, slots[i], target, &hits.all[hits.count])
    return False


cdef int test_row(Look* look, Py_ssize_t slot, Target* target, Hit* hit) noexcept nogil:
    """Write a hit and return 1 if the signal is sensed in this row, else return 0."""
    cdef double dx = float32_at(look.position, slot, 0) - target.at[0]
    cdef double dy = float32_at(look.position, slot, 1) - target.at[1]
    cdef double dz = float32_at(look.position, slot, 2) - target.at[2]
    cdef double distance = sqrt(dx * dx + dy * dy + dz * dz), sensed = target.strength, threshold
    if distance > look.range_m or look.is_rough_first and is_faded(look, slot, target, distance):
        return 0
    threshold = float64_at(look.threshold, slot, look.number)
    if not isfinite(threshold) or int64_at(look.self_source, slot) == target.id:
        return 0
    if not (int64_at(look.detection_mask, slot) & target.affiliation):
        return 0
    if look.kept_per_m != 1:
        sensed = target.strength * pow(look.kept_per_m, distance)
    hit.slot, hit.distance, hit.intensity = <int32_t> slot, distance, sensed
    return sensed >= threshold


cdef tuple listed(Hits* hits):
    """Return hits as lists: slots, distances, intensities."""
    cdef list slots = [], distances = [], intensities = []
    cdef Py_ssize_t i
    for i in range(hits.count):
        slots.append(hits.all[i].slot)
        distances.append(hits.all[i].distance)
        intensities.append(hits.all[i].intensity)
    return slots, distances, intensities
