# Many rays in one crossing. GIL: released while they are cast.

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
    void* area_tag
    void* wall_tag                   # of bodies that do not move

cdef RayMethods in_space, in_plane
cdef const void* bind_get_parent = NULL
cdef const void* bind_global_position_2d = NULL
cdef const void* bind_global_transform_2d = NULL

cdef int open_batches() except -1:
    global bind_get_parent, bind_global_position_2d, bind_global_transform_2d
    in_space.coordinates = 3
    in_space.set_position = need_bind("Node3D", "set_position", HASH_Node3D_set_position)
    in_space.set_target = need_bind("RayCast3D", "set_target_position", HASH_RayCast3D_set_target_position)
    in_space.cast = need_bind("RayCast3D", "force_raycast_update", HASH_RayCast3D_force_raycast_update)
    in_space.is_colliding = need_bind("RayCast3D", "is_colliding", HASH_RayCast3D_is_colliding)
    in_space.get_collider = need_bind("RayCast3D", "get_collider", HASH_RayCast3D_get_collider)
    in_space.get_point = need_bind("RayCast3D", "get_collision_point", HASH_RayCast3D_get_collision_point)
    in_space.node_tag = class_tag("Node3D")
    in_space.body_tag = class_tag("CollisionObject3D")
    in_space.area_tag = class_tag("Area3D")
    in_space.wall_tag = class_tag("StaticBody3D")
    in_plane.coordinates = 2
    in_plane.set_position = need_bind("Node2D", "set_position", HASH_Node2D_set_position)
    in_plane.set_target = need_bind("RayCast2D", "set_target_position", HASH_RayCast2D_set_target_position)
    in_plane.cast = need_bind("RayCast2D", "force_raycast_update", HASH_RayCast2D_force_raycast_update)
    in_plane.is_colliding = need_bind("RayCast2D", "is_colliding", HASH_RayCast2D_is_colliding)
    in_plane.get_collider = need_bind("RayCast2D", "get_collider", HASH_RayCast2D_get_collider)
    in_plane.get_point = need_bind("RayCast2D", "get_collision_point", HASH_RayCast2D_get_collision_point)
    in_plane.node_tag = class_tag("Node2D")
    in_plane.body_tag = class_tag("CollisionObject2D")
    in_plane.area_tag = class_tag("Area2D")
    in_plane.wall_tag = class_tag("StaticBody2D")
    bind_get_parent = need_bind("Node", "get_parent", HASH_Node_get_parent)
    bind_global_transform_2d = need_bind("CanvasItem", "get_global_transform", HASH_CanvasItem_get_global_transform)
    bind_global_position_2d = need_bind("Node2D", "get_global_position", HASH_Node2D_get_global_position)

cdef class RayBatch:
    """Casts rays through one RayCast3D or RayCast2D node, again and again. Arrays are viewed once while they are the same.

    Args:
        ray: with ``enabled`` false and ``top_level`` true; outside the tree it meets nothing.
    """
    cdef GDObject ray
    cdef tuple arrays                # of the last call, whose views follow
    cdef const float[:, ::1] origins
    cdef const float[:, ::1] targets
    cdef uint8_t[::1] free
    cdef const int64_t[::1] allowed

    def __init__(self, GDObject ray not None):
        self.ray, self.arrays = ray, (None,) * 4

    cdef int view(self, tuple arrays) except -1:
        cdef const float[:, ::1] origins = arrays[0]
        cdef const float[:, ::1] targets = arrays[1]
        cdef uint8_t[::1] free = arrays[2]
        cdef Py_ssize_t count = origins.shape[0]
        if targets.shape[0] < count or free.shape[0] < count or origins.shape[1] != targets.shape[1]:
            raise ValueError(f"{count} rays need {count} targets and {count} results")
        self.arrays = (None,) * 4
        self.allowed = arrays[3]
        if self.allowed is not None and self.allowed.shape[0] < count:
            raise ValueError(f"{count} rays need {count} allowed ids")
        self.origins, self.targets, self.free, self.arrays = origins, targets, free, arrays
        return 0

    def cast(self, origins, targets, free, allowed=None):
        """Cast n rays.

        Args:
            origins: shape (n, 3) float32 for a RayCast3D, (n, 2) for a RayCast2D, in the engine's units.
            targets: as origins.
            free: shape (n,) uint8, overwritten: 1 where nothing stands between, else 0.
            allowed: shape (n,) int64: instance id of a collider that does not block ray i
                (the target's own body), 0 for none; or None.

        Cost: one physics query a ray; no result Dictionary, no allocation; the GIL is released.
        """
        cdef void* pointer = self.ray.live()
        cdef RayMethods* methods
        cdef const int64_t* allowed_ids = NULL
        cdef tuple before = self.arrays
        cdef Py_ssize_t count
        if not (before[0] is origins and before[1] is targets and before[2] is free and before[3] is allowed):
            self.view((origins, targets, free, allowed))
        count = self.origins.shape[0]
        methods = &in_space if self.origins.shape[1] == 3 else &in_plane
        if not is_of_class(pointer, methods.node_tag) or self.origins.shape[1] != methods.coordinates:
            raise ValueError(f"{self.ray!r} casts no rays of {self.origins.shape[1]} coordinates")
        if count == 0:
            return
        if not is_inside_tree(pointer):
            memset(&self.free[0], 1, count)
            return
        if allowed is not None:
            allowed_ids = &self.allowed[0]
        with nogil:
            cast_all(pointer, methods, &self.origins[0, 0], &self.targets[0, 0], &self.free[0], allowed_ids, count)

cdef inline bint is_inside_tree(void* node) noexcept nogil:
    cdef uint8_t is_inside = 0
    gd_object_method_bind_ptrcall(bind_is_inside_tree, node, NULL, &is_inside)
    return is_inside

cdef void cast_all(void* ray, RayMethods* methods, const float* origins, const float* targets, uint8_t* free,
                   const int64_t* allowed, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    cdef int width = methods.coordinates
    cdef void* collider
    cdef bint moves
    for i in range(count):
        # Lines from one place come in a row: to move the ray costs a sixth of it.
        moves = i == 0 or memcmp(origins + width * i, origins + width * (i - 1), width * sizeof(float)) != 0
        free[i] = not cast_one(ray, methods, origins + width * i, targets + width * i, moves)
        if not free[i] and allowed != NULL and allowed[i] != 0:
            collider = NULL
            gd_object_method_bind_ptrcall(methods.get_collider, ray, NULL, &collider)
            if collider != NULL and <int64_t>gd_object_get_instance_id(collider) == allowed[i]:
                free[i] = 1

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
    SEEN_LINES = 17              # of 64 bytes: what kind of node it is stands in the first, where it is in the last
    AHEAD = 8                    # rays: memory delivers within one or two, and the caches hold so much meanwhile

ctypedef struct Line:
    RayMethods* methods          # NULL where no ray is cast
    void* target                 # BORROWED while the rays are cast: nothing else runs meanwhile
    float origin[3]
    float goal[3]

ctypedef struct Standing:        # where a ray stands
    bint is_known
    float place[3]

ctypedef struct Sight:           # BORROWED: all of it while the rays are cast
    void** rays                  # in space, in the plane
    Standing standing[2]
    void* parent                 # of the target that was asked about last
    void* parent_body            # the nearest at or above it
    RayMethods* parent_methods

def see_between(bytes observers, bytes targets, GDObject space_ray, GDObject plane_ray):
    """Cast a ray between the two nodes of each pair, in 3D or 2D.

    Args:
        observers: n instance ids, as in ObjectIds; 0 for none.
        targets: the same number; each in the same space as its observer.
        space_ray: a RayCast3D as ``RayBatch`` takes it.
        plane_ray: a RayCast2D, the same.

    Returns:
        Bools: whether nothing but the target's own body, the nearest at or above it, blocks the line;
        false also for a missing or freed node. If a pair has nodes of two spaces: the index of the
        first such pair, an int.

    Cost: two engine calls and one physics query per pair, in one crossing; less for consecutive pairs
        with the same observer. The GIL is released.
    """
    cdef Py_ssize_t wrong, count = PyBytes_Size(observers) // sizeof(int64_t)
    cdef const int64_t* eyes = <const int64_t*>PyBytes_AsString(observers)
    cdef const int64_t* goals = <const int64_t*>PyBytes_AsString(targets)
    cdef uint8_t* answers
    cdef void* rays[2]
    if PyBytes_Size(targets) != PyBytes_Size(observers):
        raise ValueError(f"{count} observers need {count} targets, got {PyBytes_Size(targets) // sizeof(int64_t)}")
    if count == 0:
        return Bools()
    rays[0], rays[1] = space_ray.live(), plane_ray.live()
    seen = PyBytes_FromStringAndSize(NULL, count)
    answers = <uint8_t*>PyBytes_AsString(seen)           # ours alone as yet: it may still be written to
    with nogil:
        wrong = see_all(rays, eyes, goals, answers, count)
    return Bools(seen) if wrong < 0 else wrong

cdef Py_ssize_t see_all(void** rays, const int64_t* eyes, const int64_t* goals, uint8_t* seen, Py_ssize_t count) noexcept nogil:
    """Cast a ray for each pair; return the index of a pair with nodes of two spaces, or -1.

    The nodes of a crowd do not stay in the CPU's caches, so each is prefetched some rays before its own.
    """
    cdef void* coming[AHEAD]
    cdef Line line, before               # before: of the pair before
    cdef Sight sight
    cdef Py_ssize_t i
    memset(&sight, 0, sizeof(sight))
    sight.rays = rays
    before.methods = NULL
    for i in range(min(AHEAD, count)):
        coming[i] = sent_for(goals[i])
    for i in range(count):
        line.target = coming[i % AHEAD]
        if i + AHEAD < count:
            coming[i % AHEAD] = sent_for(goals[i + AHEAD])
        if read_line(eyes[i], &line, &before if i and eyes[i] == eyes[i - 1] else NULL) < 0:
            return i
        seen[i] = see_one(&sight, &line)
        before = line
    return -1

cdef inline void* sent_for(int64_t goal) noexcept nogil:
    """Return the node of an id, NULL if there is none, and prefetch it."""
    cdef void* node = gd_object_get_instance_from_id(<uint64_t>goal) if goal else NULL
    fetch_ahead(node, SEEN_LINES)
    return node

cdef int read_line(int64_t observer, Line* line, const Line* before) noexcept nogil:
    """Read both positions; -1 if the nodes are of two spaces. The previous line is of the same observer."""
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
        if not is_of_class(eye, in_space.node_tag):
            line.methods = &in_plane
            if not is_of_class(eye, in_plane.node_tag):
                return -1
        read_place(eye, line.methods, line.origin)
    if line.methods == NULL:
        return 0
    if not is_of_class(line.target, line.methods.node_tag):
        return -1
    read_place(line.target, line.methods, line.goal)
    return 0

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

cdef inline uint8_t see_one(Sight* sight, const Line* line) noexcept nogil:
    cdef void* collider = NULL
    cdef bint is_flat = line.methods == &in_plane, moves
    cdef Standing* standing = &sight.standing[is_flat]
    if line.methods == NULL:
        return 0
    moves = not standing.is_known or memcmp(standing.place, line.origin, line.methods.coordinates * sizeof(float)) != 0
    if moves:
        standing.is_known = True
        memcpy(standing.place, line.origin, sizeof(line.origin))
    if not cast_one(sight.rays[is_flat], line.methods, line.origin, line.goal, moves):
        return 1
    gd_object_method_bind_ptrcall(line.methods.get_collider, sight.rays[is_flat], NULL, &collider)
    return collider != NULL and (collider == line.target or collider == own_body(sight, line))

cdef void* own_body(Sight* sight, const Line* line) noexcept nogil:
    """Return the nearest body at or above a target, NULL if there is none; that of neighbors is cached."""
    cdef void* node = line.target
    cdef void* parent = NULL
    if is_of_class(node, line.methods.body_tag):
        return node
    gd_object_method_bind_ptrcall(bind_get_parent, node, NULL, &parent)
    if parent == sight.parent and line.methods == sight.parent_methods:
        return sight.parent_body
    sight.parent, sight.parent_methods = parent, line.methods
    while parent != NULL and not is_of_class(parent, line.methods.body_tag):
        node, parent = parent, NULL
        gd_object_method_bind_ptrcall(bind_get_parent, node, NULL, &parent)
    sight.parent_body = parent
    return parent
