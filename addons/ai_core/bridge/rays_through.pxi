# Rays that continue behind what they hit, and list it. GIL: released while they are cast.

cdef enum:
    NAMELESS = -1                # instance id of what is no object: a body of the physics server alone
    MOST_STEPS = 64              # casts of one ray; more bodies in one line are a heap of rubble, and cost like it

# How far behind a hit a ray goes on, in the engine's units and by the size of coordinates: what float32 can
# tell apart there. Smaller, and a wall is met twice; larger, and thin ones behind it are passed.
cdef float STEP_LEAST = 0.001, STEP_SHARE = 0.000001

cdef struct Passage:             # BORROWED: rows of the caller's arrays, while the rays are cast
    int64_t* met
    const int64_t* skipped
    Py_ssize_t most, own

def cast_through(GDObject ray, const float[:, ::1] origins, const float[:, ::1] targets, int64_t[:, ::1] met,
                 const int64_t[:, ::1] skipped=None):
    """Cast n rays through one RayCast3D or RayCast2D node; they continue through what they hit.

    A ray continues just behind a hit, so a body that is entered twice is listed twice; with ``hit_back_faces`` of
    a RayCast3D on, it would hit a surface again on its way out.

    Args:
        ray: with ``enabled`` false and ``top_level`` true; outside the tree it hits nothing.
        origins: shape (n, 3) for a RayCast3D, (n, 2) for a RayCast2D, in the engine's units.
        targets: as origins.
        met: shape (n, k), overwritten: instance ids of the first k colliders of ray i, in order; then 0.
            -1 is a hit without an object.
        skipped: shape (n, m): instance ids that ray i passes without listing them; 0 for none. Or None.

    Cost: one physics query per listed collider, and one more for rays with fewer than k; no allocation.
    """
    cdef Py_ssize_t i, count = origins.shape[0], skips = 0
    cdef int width = <int>origins.shape[1]
    cdef void* pointer = ray.live()
    cdef RayMethods* methods = &in_space if width == 3 else &in_plane
    cdef Passage passage
    if targets.shape[0] < count or met.shape[0] < count or origins.shape[1] != targets.shape[1]:
        raise ValueError(f"{count} rays need {count} targets and {count} results")
    if not is_of_class(pointer, methods.node_tag) or width != methods.coordinates:
        raise ValueError(f"{ray!r} cannot cast rays with {origins.shape[1]} coordinates")
    if skipped is not None:
        skips = skipped.shape[1]
        if skipped.shape[0] < count:
            raise ValueError(f"{count} rays need {count} rows of skipped ids")
    if count == 0 or met.shape[1] == 0:
        return
    if not is_inside_tree(pointer):
        memset(&met[0, 0], 0, count * met.shape[1] * sizeof(int64_t))
        return
    passage.most, passage.own = met.shape[1], skips
    with nogil:
        for i in range(count):
            passage.met = &met[i, 0]
            passage.skipped = &skipped[i, 0] if skips else NULL
            pass_through(pointer, methods, &origins[i, 0], &targets[i, 0], &passage)

cdef void pass_through(void* ray, RayMethods* methods, const float* origin, const float* target, Passage* passage) noexcept nogil:
    cdef float start[3]
    cdef Py_ssize_t found = 0, step
    cdef int64_t who
    memset(passage.met, 0, passage.most * sizeof(int64_t))
    memcpy(start, origin, methods.coordinates * sizeof(float))
    for step in range(MOST_STEPS):
        if not cast_one(ray, methods, start, target, True):
            return
        who = collider_of(ray, methods)
        if not is_skipped(who, passage):
            passage.met[found] = who
            found += 1
            if found == passage.most:
                return
        if not step_behind(ray, methods, start, target):
            return

cdef inline int64_t collider_of(void* ray, RayMethods* methods) noexcept nogil:
    cdef void* collider = NULL
    gd_object_method_bind_ptrcall(methods.get_collider, ray, NULL, &collider)
    return NAMELESS if collider == NULL else <int64_t>gd_object_get_instance_id(collider)

cdef inline bint is_skipped(int64_t who, Passage* passage) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(passage.own):
        if passage.skipped[i] == who:
            return True
    return False

cdef bint step_behind(void* ray, RayMethods* methods, float* start, const float* target) noexcept nogil:
    """Start a ray behind its last hit, by the precision of float32 there; False if that is beyond its target."""
    cdef float hit[3]
    cdef float way[3]
    cdef float length = 0, far = 0, left = 0
    cdef int axis
    gd_object_method_bind_ptrcall(methods.get_point, ray, NULL, hit)
    for axis in range(methods.coordinates):
        way[axis] = target[axis] - start[axis]
        length += way[axis] * way[axis]
        far += hit[axis] if hit[axis] > 0 else -hit[axis]
    length = sqrtf(length)
    far = (STEP_SHARE * far + STEP_LEAST) / length
    for axis in range(methods.coordinates):
        start[axis] = hit[axis] + way[axis] * far
        left += (target[axis] - start[axis]) * way[axis]
    return left > 0
