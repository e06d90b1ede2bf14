# Many engine calls in one crossing. GIL: kept for reading (tens of nanoseconds each),
# released while rays are cast.

cdef const void* bind_set_position = NULL
cdef const void* bind_set_target = NULL
cdef const void* bind_cast = NULL
cdef const void* bind_is_colliding = NULL
cdef const void* bind_get_collider = NULL
cdef const void* bind_get_parent = NULL
cdef void* body_tag = NULL           # of CollisionObject3D

cdef int open_batches() except -1:
    global bind_set_position, bind_set_target, bind_cast, bind_is_colliding, bind_get_collider
    global bind_get_parent, body_tag
    bind_set_position = need_bind("Node3D", "set_position", HASH_Node3D_set_position)
    bind_set_target = need_bind("RayCast3D", "set_target_position", HASH_RayCast3D_set_target_position)
    bind_cast = need_bind("RayCast3D", "force_raycast_update", HASH_RayCast3D_force_raycast_update)
    bind_is_colliding = need_bind("RayCast3D", "is_colliding", HASH_RayCast3D_is_colliding)
    bind_get_collider = need_bind("RayCast3D", "get_collider", HASH_RayCast3D_get_collider)
    bind_get_parent = need_bind("Node", "get_parent", HASH_Node_get_parent)
    body_tag = gd_classdb_get_class_tag(name_ptr("CollisionObject3D"))

def read_transforms(list nodes, float[:, ::1] positions, float[:, ::1] forwards=None):
    """Read where nodes are and where they look.

    Args:
        nodes: n Node3D.
        positions: shape (n, 3), overwritten with global positions (m).
        forwards: shape (n, 3), overwritten with unit vectors along -z, or None.

    Returns:
        Indices of nodes that are freed; their rows are left as they were.

    Cost: one engine call a node, about 30 ns; no allocation.
    """
    cdef Py_ssize_t i, count = len(nodes)
    cdef float transform[12]
    cdef float x, y, z, length
    cdef GDObject node
    if positions.shape[0] < count or (forwards is not None and forwards.shape[0] < count):
        raise ValueError(f"{count} nodes need {count} rows, got {positions.shape[0]}")
    freed = []
    for i in range(count):
        node = nodes[i]
        if node.pointer == NULL or gd_object_get_instance_from_id(node.id) == NULL:
            freed.append(i)
            continue
        gd_object_method_bind_ptrcall(bind_global_transform, node.pointer, NULL, transform)
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
    return freed

def are_all(list objects, class_name):
    """Return whether every one is a live engine object of a class. Cost: about 20 ns each."""
    cdef void* tag = gd_classdb_get_class_tag(name_ptr(class_name))
    cdef void* pointer
    for one in objects:
        if not isinstance(one, GDObject):
            return False
        pointer = gd_object_get_instance_from_id((<GDObject>one).id)
        if pointer == NULL or gd_object_cast_to(pointer, tag) == NULL:
            return False
    return True

def read_bodies(list nodes, int64_t[::1] bodies):
    """Find the physics body of each node: the nearest CollisionObject3D at or above it.

    Args:
        nodes: n Node3D.
        bodies: shape (n,), overwritten with instance ids, 0 where there is none.

    Cost: one engine call a generation, about 30 ns; no allocation.
    """
    cdef Py_ssize_t i, count = len(nodes)
    cdef GDObject node
    cdef void* pointer
    cdef void* parent
    if bodies.shape[0] < count:
        raise ValueError(f"{count} nodes need {count} bodies, got {bodies.shape[0]}")
    for i in range(count):
        node = nodes[i]
        pointer = node.pointer if node.is_valid() else NULL
        while pointer != NULL and gd_object_cast_to(pointer, body_tag) == NULL:
            parent = NULL
            gd_object_method_bind_ptrcall(bind_get_parent, pointer, NULL, &parent)
            pointer = parent
        bodies[i] = 0 if pointer == NULL else <int64_t>gd_object_get_instance_id(pointer)

def cast_rays(GDObject ray, const float[:, ::1] origins, const float[:, ::1] targets, uint8_t[::1] blocked,
              const int64_t[::1] allowed_ids=None):
    """Cast n rays through one RayCast3D node.

    Args:
        ray: a RayCast3D inside the tree with ``enabled`` false and ``top_level`` true.
        origins: shape (n, 3) (m).
        targets: shape (n, 3) (m).
        blocked: shape (n,), overwritten: 1 where something stands between.
        allowed_ids: shape (n,): instance id of a collider that does not block ray i
            (the target's own body), 0 for none; or None.

    Cost: one physics query a ray; no result Dictionary, no allocation; the GIL is released.
    """
    cdef Py_ssize_t count = origins.shape[0]
    cdef void* pointer = ray.live()
    cdef const int64_t* allowed = NULL
    if targets.shape[0] < count or blocked.shape[0] < count or origins.shape[1] != 3 or targets.shape[1] != 3:
        raise ValueError(f"{count} rays need {count} targets and {count} results")
    if count == 0:
        return
    if allowed_ids is not None:
        if allowed_ids.shape[0] < count:
            raise ValueError(f"{count} rays need {count} allowed ids")
        allowed = &allowed_ids[0]
    with nogil:
        cast_all(pointer, &origins[0, 0], &targets[0, 0], &blocked[0], allowed, count)

cdef void cast_all(void* ray, const float* origins, const float* targets, uint8_t* blocked, const int64_t* allowed, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    cdef const void* arguments[1]
    cdef float way[3]
    cdef uint8_t hit
    cdef void* collider
    for i in range(count):
        arguments[0] = origins + 3 * i
        gd_object_method_bind_ptrcall(bind_set_position, ray, arguments, NULL)
        way[0] = targets[3 * i] - origins[3 * i]
        way[1] = targets[3 * i + 1] - origins[3 * i + 1]
        way[2] = targets[3 * i + 2] - origins[3 * i + 2]
        arguments[0] = way
        gd_object_method_bind_ptrcall(bind_set_target, ray, arguments, NULL)
        gd_object_method_bind_ptrcall(bind_cast, ray, NULL, NULL)
        hit = 0
        gd_object_method_bind_ptrcall(bind_is_colliding, ray, NULL, &hit)
        if hit and allowed != NULL and allowed[i] != 0:
            collider = NULL
            gd_object_method_bind_ptrcall(bind_get_collider, ray, NULL, &collider)
            if collider != NULL and <int64_t>gd_object_get_instance_id(collider) == allowed[i]:
                hit = 0
        blocked[i] = hit
