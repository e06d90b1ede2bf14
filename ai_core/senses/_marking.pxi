"""Signals at sensors: mark who may be near, then test those exactly."""


cdef int check_room(Py_buffer* slots, Py_buffer* distance, Py_buffer* intensity, Py_ssize_t room) except -1:
    """Refuse arrays that are too small, or not in one run of memory."""
    if min(slots.shape[0], distance.shape[0], intensity.shape[0]) < room:
        raise ValueError(f"out_slots, out_distance and out_intensity must have room for {room} sensations")
    if slots.strides[0] != 8 or distance.strides[0] != 8 or intensity.strides[0] != 8:
        raise ValueError("out_slots, out_distance and out_intensity must each be one run of memory")
    return 0


cdef int take_wave(wave, Look* look, Target* target) except -1:
    """Read one ``Wave``."""
    sense, origin, strength, affiliation, source_id = wave
    number, range_m, attenuation, _, _, _ = sense
    look.number, look.range_m, look.attenuation = number, range_m, attenuation
    look.log_attenuation = log(look.attenuation)
    if not 0 <= look.number < look.threshold.shape[1]:
        raise IndexError(f"there is no modality {look.number}")
    target.at = origin
    target.strength, target.affiliation, target.id, target.size = strength, affiliation, source_id, 1
    make_ready(target, look.range_m)
    return 0


cdef void mark_all(
    Look* look, Py_ssize_t n, Target* targets, Py_ssize_t m, uint16_t* masks, Py_ssize_t groups,
) noexcept nogil:
    """Mark who is near which signal, in one pass over all positions."""
    cdef Py_ssize_t first = 0, wave
    cdef Block block
    while first < n:
        fetch(&block, look.position, NULL, 0, first, min(<Py_ssize_t> BLOCK, n - first))
        for wave in range(m):
            mark_near(&block, &targets[wave], masks + wave * groups + first // GROUP)
        first += BLOCK


cdef void test_marked(
    Look* look, Target* target, uint16_t* masks, Py_ssize_t groups, Hits* hits,
) noexcept nogil:
    """Test those exactly that may be near, by slot."""
    cdef Py_ssize_t group = 0, i, four
    cdef int near
    cdef uint64_t* fours = <uint64_t*> masks
    hits.count = 0
    for four in range(groups // 4):
        if not fours[four]:
            continue
        for group in range(4 * four, 4 * four + 4):
            near = masks[group]
            i = group * GROUP
            while near:
                if near & 1:
                    hits.count += test_row(look, i, target, hits, hits.count)
                near >>= 1
                i += 1


cdef int test_row(Look* look, Py_ssize_t slot, Target* target, Hits* hits, Py_ssize_t count) noexcept nogil:
    """Write a hit and return 1 if the signal is sensed in this row, else return 0."""
    cdef double dx = float32_at(look.position, slot, 0) - target.at[0]
    cdef double dy = float32_at(look.position, slot, 1) - target.at[1]
    cdef double dz = float32_at(look.position, slot, 2) - target.at[2]
    cdef double distance = sqrt(dx * dx + dy * dy + dz * dz), sensed = target.strength, threshold
    # Most end here: before more of the sensor is fetched from far away in memory.
    if distance > look.range_m or is_faded(look, slot, target, distance):
        return 0
    threshold = float64_at(look.threshold, slot, look.number)
    if not isfinite(threshold) or int64_at(look.own_source, slot) == target.id:
        return 0
    if not (int64_at(look.notices, slot) & target.affiliation):
        return 0
    if look.attenuation != 1:
        sensed = target.strength * pow(look.attenuation, distance)
    hits.slots[count] = slot
    hits.distance[count] = distance
    hits.intensity[count] = sensed
    return sensed >= threshold
