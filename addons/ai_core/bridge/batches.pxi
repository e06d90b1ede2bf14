# Many engine calls in one crossing. GIL: kept for reading (tens of nanoseconds each),
# released while rays are cast.

ctypedef struct RayMethods:          # of a RayCast3D or a RayCast2D
    int coordinates
    const void* set_position
    const void* set_target
    const void* cast
    const void* is_colliding
    const void* get_collider
    const void* get_point
    void* node_tag                   # of nodes in its space
    void* body_tag                   # of what its rays hit

cdef RayMethods in_space, in_plane
cdef const void* bind_get_parent = NULL
cdef const void* bind_is_ancestor_of = NULL
cdef const void* bind_global_position_2d = NULL

cdef int open_batches() except -1:
    global bind_get_parent, bind_is_ancestor_of, bind_global_position_2d
    in_space.coordinates = 3
    in_space.set_position = need_bind("Node3D", "set_position", HASH_Node3D_set_position)
    in_space.set_target = need_bind("RayCast3D", "set_target_position", HASH_RayCast3D_set_target_position)
    in_space.cast = need_bind("RayCast3D", "force_raycast_update", HASH_RayCast3D_force_raycast_update)
    in_space.is_colliding = need_bind("RayCast3D", "is_colliding", HASH_RayCast3D_is_colliding)
    in_space.get_collider = need_bind("RayCast3D", "get_collider", HASH_RayCast3D_get_collider)
    in_space.get_point = need_bind("RayCast3D", "get_collision_point", HASH_RayCast3D_get_collision_point)
    in_space.node_tag = gd_classdb_get_class_tag(name_ptr("Node3D"))
    in_space.body_tag = gd_classdb_get_class_tag(name_ptr("CollisionObject3D"))
    in_plane.coordinates = 2
    in_plane.set_position = need_bind("Node2D", "set_position", HASH_Node2D_set_position)
    in_plane.set_target = need_bind("RayCast2D", "set_target_position", HASH_RayCast2D_set_target_position)
    in_plane.cast = need_bind("RayCast2D", "force_raycast_update", HASH_RayCast2D_force_raycast_update)
    in_plane.is_colliding = need_bind("RayCast2D", "is_colliding", HASH_RayCast2D_is_colliding)
    in_plane.get_collider = need_bind("RayCast2D", "get_collider", HASH_RayCast2D_get_collider)
    in_plane.get_point = need_bind("RayCast2D", "get_collision_point", HASH_RayCast2D_get_collision_point)
    in_plane.node_tag = gd_classdb_get_class_tag(name_ptr("Node2D"))
    in_plane.body_tag = gd_classdb_get_class_tag(name_ptr("CollisionObject2D"))
    bind_get_parent = need_bind("Node", "get_parent", HASH_Node_get_parent)
    bind_is_ancestor_of = need_bind("Node", "is_ancestor_of", HASH_Node_is_ancestor_of)
    bind_global_position_2d = need_bind("Node2D", "get_global_position", HASH_Node2D_get_global_position)

def read_transforms(list nodes, float[:, ::1] positions, float[:, ::1] forwards=None):
    """Read where nodes are and where they look.

    Args:
        nodes: n Node3D.
        positions: shape (n, 3), overwritten with global positions (m).
        forwards: shape (n, 3), overwritten with unit vectors along -z, or None.

    Returns:
        Indices of nodes that are freed, or whose transform holds a NaN or infinity; their rows are
        left as they were.

    Cost: one engine call a node, about 30 ns; no allocation.
    """
    cdef Py_ssize_t i, k, count = len(nodes)
    cdef float transform[12]
    cdef float x, y, z, length
    cdef GDObject node
    if positions.shape[0] < count or (forwards is not None and forwards.shape[0] < count):
        raise ValueError(f"{count} nodes need {count} rows, got {positions.shape[0]}")
    lost = []
    for i in range(count):
        # Nodes of a crowd do not stay in the caches: they are read from memory several at once.
        if i % AT_ONCE == 0:
            for k in range(i, min(i + AT_ONCE, count)):
                fetch_ahead((<GDObject?>nodes[k]).pointer, FETCHED_LINES)
        node = nodes[i]
        # A node of ours knows itself whether it lives: that is not looked up, as in ``live``.
        if node.pointer == NULL or (node.instance == NULL and gd_object_get_instance_from_id(node.id) == NULL):
            lost.append(i)
            continue
        gd_object_method_bind_ptrcall(bind_global_transform, node.pointer, NULL, transform)
        if not are_finite(transform, 0 if forwards is not None else 9):
            lost.append(i)
            continue
        positions[i, 0] = transform[9]
        positions[i, 1] = transform[10]
        positions[i, 2] = transform[11]
        if forwards is not None:
            x = -transform[2]
            y = -transform[5]
            z = -transform[8]
            length = sqrtf(x * x + y * y + z * z)
            if length > 0:
                forwards[i, 0] = x / length
                forwards[i, 1] = y / length
                forwards[i, 2] = z / length
    return lost

def place_of(GDObject node):
    """Return where a Node3D is now: a tuple of three floats. Cost: one engine call, no allocation in the engine."""
    cdef float transform[12]
    gd_object_method_bind_ptrcall(bind_global_transform, node.live(), NULL, transform)
    return <double>transform[9], <double>transform[10], <double>transform[11]

cdef inline bint are_finite(const float* numbers, int first) noexcept nogil:
    """Return whether those of a transform are from one on: what is no number makes the sum none."""
    cdef float total = 0
    cdef int i
    for i in range(first, 12):
        total += numbers[i] * 0
    return total == 0

def cast_rays(GDObject ray, const float[:, ::1] origins, const float[:, ::1] targets, uint8_t[::1] blocked,
              const int64_t[::1] allowed_ids=None):
    """Cast n rays through one RayCast3D or RayCast2D node.

    Args:
        ray: inside the tree with ``enabled`` false and ``top_level`` true.
        origins: shape (n, 3) for a RayCast3D, (n, 2) for a RayCast2D, in the engine's units.
        targets: as origins.
        blocked: shape (n,), overwritten: 1 where something stands between.
        allowed_ids: shape (n,): instance id of a collider that does not block ray i
            (the target's own body), 0 for none; or None.

    Cost: one physics query a ray; no result Dictionary, no allocation; the GIL is released.
    """
    cdef Py_ssize_t count = origins.shape[0]
    cdef void* pointer = ray.live()
    cdef const int64_t* allowed = NULL
    cdef RayMethods* methods = &in_space if origins.shape[1] == 3 else &in_plane
    if targets.shape[0] < count or blocked.shape[0] < count or origins.shape[1] != targets.shape[1]:
        raise ValueError(f"{count} rays need {count} targets and {count} results")
    if gd_object_cast_to(pointer, methods.node_tag) == NULL or origins.shape[1] != methods.coordinates:
        raise ValueError(f"{ray!r} casts no rays of {origins.shape[1]} coordinates")
    if count == 0:
        return
    if allowed_ids is not None:
        if allowed_ids.shape[0] < count:
            raise ValueError(f"{count} rays need {count} allowed ids")
        allowed = &allowed_ids[0]
    with nogil:
        cast_all(pointer, methods, &origins[0, 0], &targets[0, 0], &blocked[0], allowed, count)

cdef void cast_all(void* ray, RayMethods* methods, const float* origins, const float* targets, uint8_t* blocked,
                   const int64_t* allowed, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    cdef int width = methods.coordinates
    cdef void* collider
    cdef bint moves
    for i in range(count):
        # Lines from one place come in a row: to move the ray costs a sixth of it.
        moves = i == 0 or memcmp(origins + width * i, origins + width * (i - 1), width * sizeof(float)) != 0
        blocked[i] = cast_one(ray, methods, origins + width * i, targets + width * i, moves)
        if blocked[i] and allowed != NULL and allowed[i] != 0:
            collider = NULL
            gd_object_method_bind_ptrcall(methods.get_collider, ray, NULL, &collider)
            if collider != NULL and <int64_t>gd_object_get_instance_id(collider) == allowed[i]:
                blocked[i] = 0

cdef inline uint8_t cast_one(void* ray, RayMethods* methods, const float* origin, const float* target, bint moves) noexcept nogil:
    cdef const void* arguments[1]
    cdef float way[3]
    cdef uint8_t hit = 0
    cdef int axis
    if moves:
        arguments[0] = origin
        gd_object_method_bind_ptrcall(methods.set_position, ray, arguments, NULL)
    for axis in range(methods.coordinates):
        way[axis] = target[axis] - origin[axis]
    arguments[0] = way
    gd_object_method_bind_ptrcall(methods.set_target, ray, arguments, NULL)
    gd_object_method_bind_ptrcall(methods.cast, ray, NULL, NULL)
    gd_object_method_bind_ptrcall(methods.is_colliding, ray, NULL, &hit)
    return hit

cdef enum:
    FETCHED_LINES = 10           # of 64 bytes: as far into a Node3D as the question where it is reads
    AT_ONCE = 16                 # nodes: as many as memory delivers together, and caches hold meanwhile

ctypedef struct Line:
    RayMethods* methods          # NULL where no ray is cast
    void* target                 # BORROWED while the rays are cast: nothing else runs meanwhile
    float origin[3]
    float goal[3]

def see_between(const int64_t[:, ::1] pairs, GDObject space_ray, GDObject plane_ray, uint8_t[::1] seen):
    """Cast a ray between the two nodes of each pair, in space or in the plane.

    Args:
        pairs: shape (n, 2), instance ids of nodes, both Node3D or both Node2D; 0 for none.
        space_ray: a RayCast3D as ``cast_rays`` takes it.
        plane_ray: a RayCast2D, the same.
        seen: shape (n,), overwritten: 1 where nothing stands between but the target's own body, the
            nearest at or above it; 0 also where a node is none or freed.

    Returns:
        Index of the first pair that is not of one space, -1 if there is none; no ray is cast then.

    Cost: two engine calls and one physics query a pair, in one crossing; less where one observer
        comes several times in a row.
    """
    cdef Py_ssize_t i, end, first = 0, count = pairs.shape[0]
    cdef Line* lines
    cdef void* rays[2]
    if seen.shape[0] < count:
        raise ValueError(f"{count} pairs need {count} results, got {seen.shape[0]}")
    if count == 0:
        return -1
    rays[0], rays[1] = space_ray.live(), plane_ray.live()
    lines = <Line*>malloc(count * sizeof(Line))
    if lines == NULL:
        raise MemoryError()
    try:
        while first < count:
            end = min(first + AT_ONCE, count)
            # Nodes of a crowd do not stay in the caches: they are read from memory all at once, not one by one.
            for i in range(first, end):
                lines[i].target = gd_object_get_instance_from_id(<uint64_t>pairs[i, 1]) if pairs[i, 1] else NULL
                fetch_ahead(lines[i].target, FETCHED_LINES)
            for i in range(first, end):
                if read_line(pairs[i, 0], lines + i, lines + i - 1 if i and pairs[i, 0] == pairs[i - 1, 0] else NULL) < 0:
                    return i
            first = end
        with nogil:
            see_all(rays, lines, &seen[0], count)
    finally:
        free(lines)
    return -1

cdef int read_line(int64_t observer, Line* line, const Line* before) noexcept nogil:
    """Read where both are; -1 if they are not of one space. The line before is the same observer's."""
    cdef void* eye
    line.methods = NULL
    if before != NULL and before.methods != NULL:
        if line.target != NULL:
            line.methods = before.methods
            memcpy(line.origin, before.origin, sizeof(line.origin))
    else:
        eye = gd_object_get_instance_from_id(<uint64_t>observer) if observer else NULL
        if eye == NULL or line.target == NULL:
            return 0
        line.methods = &in_space
        if gd_object_cast_to(eye, in_space.node_tag) == NULL:
            line.methods = &in_plane
            if gd_object_cast_to(eye, in_plane.node_tag) == NULL:
                return -1
        read_place(eye, line.methods, line.origin)
    if line.methods == NULL:
        return 0
    if gd_object_cast_to(line.target, line.methods.node_tag) == NULL:
        return -1
    read_place(line.target, line.methods, line.goal)
    return 0

cdef inline void fetch_ahead(void* node, int lines) noexcept nogil:
    """Have a node brought nearer by the time it is read; NULL is none."""
    cdef int i
    for i in range(lines if node != NULL else 0):
        prefetch(<char*>node + i * CACHE_LINE)

cdef void* live_pointer(object node) except? NULL:
    if node is None or not isinstance(node, GDObject):
        return NULL
    return gd_object_get_instance_from_id((<GDObject>node).id)

cdef inline void read_place(void* node, RayMethods* methods, float* place) noexcept nogil:
    cdef float transform[12]
    if methods == &in_plane:
        gd_object_method_bind_ptrcall(bind_global_position_2d, node, NULL, place)
        return
    gd_object_method_bind_ptrcall(bind_global_transform, node, NULL, transform)
    place[0], place[1], place[2] = transform[9], transform[10], transform[11]

cdef void see_all(void** rays, Line* lines, uint8_t* seen, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    cdef Line* line
    cdef Line* last[2]               # cast by each of the rays: where it stands
    cdef bint is_flat, moves
    last[0] = last[1] = NULL
    for i in range(count):
        line = lines + i
        seen[i] = 0
        if line.methods != NULL:
            is_flat = line.methods == &in_plane
            moves = last[is_flat] == NULL or memcmp(last[is_flat].origin, line.origin, line.methods.coordinates * sizeof(float)) != 0
            last[is_flat] = line
            seen[i] = see_one(rays[is_flat], line, moves)

cdef inline uint8_t see_one(void* ray, Line* line, bint moves) noexcept nogil:
    cdef void* collider = NULL
    if not cast_one(ray, line.methods, line.origin, line.goal, moves):
        return 1
    gd_object_method_bind_ptrcall(line.methods.get_collider, ray, NULL, &collider)
    return collider != NULL and (collider == line.target or is_own_body(line, collider))

cdef uint8_t is_own_body(Line* line, void* collider) noexcept nogil:
    """Return whether it is the nearest body above the target; seldom so, and that is asked first."""
    cdef const void* arguments[1]
    cdef void* body = line.target
    cdef void* parent
    cdef uint8_t is_above = 0
    if gd_object_cast_to(collider, line.methods.node_tag) == NULL:
        return 0
    arguments[0] = &body
    gd_object_method_bind_ptrcall(bind_is_ancestor_of, collider, arguments, &is_above)
    while is_above and body != NULL and gd_object_cast_to(body, line.methods.body_tag) == NULL:
        parent = NULL
        gd_object_method_bind_ptrcall(bind_get_parent, body, NULL, &parent)
        body = parent
    return is_above and collider == body
