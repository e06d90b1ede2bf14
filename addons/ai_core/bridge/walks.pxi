# Walking characters: many are moved in one crossing.
#
# GIL: released while they are moved, as bodies take microseconds and may call scripts.
# BORROWED: a node is looked up by its id before each use, as a moved body may free another.

ctypedef struct WalkMethods:         # of nodes in space or in the plane, and their CharacterBody
    int coordinates
    const void* get_position
    const void* set_position
    const void* get_rotation
    const void* set_rotation
    const void* set_velocity
    const void* get_velocity
    const void* slide
    const void* is_on_floor          # and what follows in space only
    const void* is_on_wall
    const void* wall_normal
    const void* floor_normal
    const void* test_move
    const void* snap_to_floor
    const void* motion_mode
    void* node_tag
    void* body_tag

cdef WalkMethods walks_in_space, walks_in_plane

cdef int open_walks() except -1:
    walks_in_space.coordinates = 3
    walks_in_space.get_position = need_bind("Node3D", "get_global_position", HASH_Node3D_get_global_position)
    walks_in_space.set_position = need_bind("Node3D", "set_global_position", HASH_Node3D_set_global_position)
    walks_in_space.get_rotation = need_bind("Node3D", "get_global_rotation", HASH_Node3D_get_global_rotation)
    walks_in_space.set_rotation = need_bind("Node3D", "set_global_rotation", HASH_Node3D_set_global_rotation)
    walks_in_space.set_velocity = need_bind("CharacterBody3D", "set_velocity", HASH_CharacterBody3D_set_velocity)
    walks_in_space.get_velocity = need_bind("CharacterBody3D", "get_velocity", HASH_CharacterBody3D_get_velocity)
    walks_in_space.slide = need_bind("CharacterBody3D", "move_and_slide", HASH_CharacterBody3D_move_and_slide)
    walks_in_space.is_on_floor = need_bind("CharacterBody3D", "is_on_floor", HASH_CharacterBody3D_is_on_floor)
    walks_in_space.is_on_wall = need_bind("CharacterBody3D", "is_on_wall", HASH_CharacterBody3D_is_on_wall)
    walks_in_space.wall_normal = need_bind("CharacterBody3D", "get_wall_normal", HASH_CharacterBody3D_get_wall_normal)
    walks_in_space.test_move = need_bind("PhysicsBody3D", "test_move", HASH_PhysicsBody3D_test_move)
    walks_in_space.snap_to_floor = need_bind("CharacterBody3D", "apply_floor_snap", HASH_CharacterBody3D_apply_floor_snap)
    walks_in_space.floor_normal = need_bind("CharacterBody3D", "get_floor_normal", HASH_CharacterBody3D_get_floor_normal)
    walks_in_space.motion_mode = need_bind("CharacterBody3D", "get_motion_mode", HASH_CharacterBody3D_get_motion_mode)
    walks_in_space.node_tag = class_tag("Node3D")
    walks_in_space.body_tag = class_tag("CharacterBody3D")
    walks_in_plane.coordinates = 2
    walks_in_plane.get_position = need_bind("Node2D", "get_global_position", HASH_Node2D_get_global_position)
    walks_in_plane.set_position = need_bind("Node2D", "set_global_position", HASH_Node2D_set_global_position)
    walks_in_plane.get_rotation = need_bind("Node2D", "get_global_rotation", HASH_Node2D_get_global_rotation)
    walks_in_plane.set_rotation = need_bind("Node2D", "set_global_rotation", HASH_Node2D_set_global_rotation)
    walks_in_plane.set_velocity = need_bind("CharacterBody2D", "set_velocity", HASH_CharacterBody2D_set_velocity)
    walks_in_plane.get_velocity = need_bind("CharacterBody2D", "get_velocity", HASH_CharacterBody2D_get_velocity)
    walks_in_plane.slide = need_bind("CharacterBody2D", "move_and_slide", HASH_CharacterBody2D_move_and_slide)
    walks_in_plane.node_tag = class_tag("Node2D")
    walks_in_plane.body_tag = class_tag("CharacterBody2D")


cdef double WHOLE_TURN = 6.283185307179586     # (rad); M_PI is not in every compiler's header
cdef double TURN_RAD_S = 8.0         # turning rate of a walking character (rad/s)
cdef double LEAST_TURN_RAD = 1e-3    # smaller turns are invisible, and each turn notifies all nodes below
cdef double SLOWEST_TURNING = 0.2    # speed below which a character does not turn (m/s, or that share of 32 pixels): it would spin
cdef double AS_LONG = 1e-3           # share by which a turn may differ from a frame and still count as one frame
cdef double LEAPS_M_S = 0.1          # a standing body that leaves its floor faster than this was made to jump by a script
cdef double LEAST_UP = 0.1           # floors whose normals point up by less cannot be walked up
cdef double HEAD_ON = 0.7            # share of its speed from which on an obstacle stops a body instead of deflecting it
cdef double STEP_M = 0.3             # obstacles no higher than this are steps, also below low ceilings
cdef double HIGH_STEP_M = 0.6        # and obstacles no higher than this, where there is room above
cdef double TREAD_M = 0.1            # depth of floor that a step must have
cdef int64_t GROUNDED = 0            # the motion mode of bodies that stand on floors

cdef enum Raised:                    # what raises a body that walks
    NOTHING                          # or a jump does, which goes on
    SLOPE
    STEP                             # or a ladder

ctypedef struct Walker:
    uint64_t id                      # 0 for who is not moved here
    WalkMethods* methods
    bint slides, turns
    double gravity


@cython.final
cdef class WalkRow:
    """Characters that are moved repeatedly, each by a velocity.

    Args:
        walkers: for each a tuple: a Node3D or Node2D; whether it is moved by move_and_slide(), if it is a
            CharacterBody, otherwise its position is set; whether it turns to its direction of movement, with -z
            ahead in 3D, x in 2D; and the gravity of a CharacterBody3D that is not on the floor (m/s²), 0 if it
            flies; with the motion mode floating it flies, too. None is not moved.
    """
    cdef Walker* all                 # OWNED
    cdef Py_ssize_t count

    def __init__(self, list walkers not None):
        cdef Py_ssize_t i
        cdef GDObject node
        cdef void* pointer
        cdef Walker* one
        free(self.all)
        self.count = 0
        self.all = NULL
        self.all = <Walker*>memory_of(len(walkers), sizeof(Walker))
        for i in range(len(walkers)):
            one = &self.all[i]
            memset(one, 0, sizeof(Walker))
            if walkers[i] is not None:
                node, one.slides, one.turns, one.gravity = walkers[i]
                pointer = node.live()
                one.id = node.id
                one.methods = &walks_in_space
                if not is_of_class(pointer, walks_in_space.node_tag):
                    one.methods = &walks_in_plane
                    if not is_of_class(pointer, walks_in_plane.node_tag):
                        raise TypeError(f"needs a Node3D or a Node2D, got {node!r}")
                one.slides = one.slides and is_of_class(pointer, one.methods.body_tag)
        self.count = len(walkers)

    def __dealloc__(self):
        free(self.all)

    def walk(self, const double[:, ::1] velocities, const double[::1] rises, double unit, double elapsed_s):
        """Move all characters in order; freed nodes are skipped.

        Args:
            velocities: shape (n, d) (m/s).
            rises: shape (n,), vertical speed at obstacles, such as steps, of bodies that do not fly (m/s).
            unit: length of a metre in units of the scene; 0 stops all.
            elapsed_s: game time since the last move (s).

        Cost: that of the engine's calls; no allocation.
        """
        cdef Py_ssize_t i
        if velocities.shape[0] != self.count:
            raise ValueError(f"{self.count} walkers need {self.count} velocities, got {velocities.shape[0]}")
        if rises.shape[0] != self.count:
            raise ValueError(f"{self.count} walkers need {self.count} rises, got {rises.shape[0]}")
        for i in range(self.count):
            if self.all[i].id != 0 and self.all[i].methods.coordinates != velocities.shape[1]:
                raise ValueError(f"velocities must have {self.all[i].methods.coordinates} columns, got {velocities.shape[1]}")
        if self.count:
            with nogil:
                walk_all(self.all, self.count, &velocities[0, 0], velocities.shape[1], &rises[0], unit, elapsed_s)


cdef void walk_all(const Walker* all, Py_ssize_t count, const double* velocities, Py_ssize_t width, const double* rises,
                   double unit, double elapsed_s) noexcept nogil:
    cdef Py_ssize_t i, axis
    cdef void* node
    cdef float velocity[3]
    cdef float wanted[3]
    cdef double frames = 0               # not known yet
    cdef bint falls
    for i in range(count):
        node = gd_object_get_instance_from_id(all[i].id) if all[i].id != 0 else NULL
        if node == NULL:
            continue
        for axis in range(width):
            velocity[axis] = <float>(velocities[i * width + axis] * unit)
        if all[i].slides:
            if frames == 0:
                frames = frames_in(node, elapsed_s)
            memcpy(wanted, velocity, sizeof(wanted))
            falls = is_carried(node, &all[i])
            if falls:
                wanted[1] = <float>(rises[i] * unit)
            slide_one(node, all[i].id, all[i].methods, wanted, falls, False, all[i].gravity, elapsed_s, frames)
        else:
            put_one(node, all[i].methods, velocity, elapsed_s)
        if all[i].turns:             # a script that freed it as it moved is no reason to fall
            node = gd_object_get_instance_from_id(all[i].id)
            if node != NULL:
                turn_one(node, all[i].methods, velocity, elapsed_s)

cdef inline bint is_carried(void* body, const Walker* walker) noexcept nogil:
    """Return whether floors carry a body of a row."""
    cdef int64_t mode = GROUNDED
    if walker.gravity == 0 or walker.methods.coordinates == 2:
        return False
    gd_object_method_bind_ptrcall(walker.methods.motion_mode, body, NULL, &mode)
    return mode == GROUNDED

cdef double frames_in(void* node, double elapsed_s) noexcept nogil:
    """Return a time in frames of the length that move_and_slide() uses now; exactly 1 if it is about one."""
    cdef uint8_t is_in_physics = 0
    cdef double frame_s = 0
    if elapsed_s == 0:
        return 1
    gd_object_method_bind_ptrcall(bind_is_in_physics, engine_object, NULL, &is_in_physics)
    gd_object_method_bind_ptrcall(bind_physics_delta_time if is_in_physics else bind_delta_time, node, NULL, &frame_s)
    if frame_s == 0 or fabs(elapsed_s - frame_s) <= AS_LONG * frame_s:
        return 1
    return elapsed_s / frame_s

def walk_body(GDObject body, velocity, double elapsed_s, bint falls=False, bint climbs=False, double gravity=0.0):
    """Move a CharacterBody for a turn; it keeps the velocity that is left after collisions.

    A body that can fall moves along the floor it stands on; in the air it falls, or continues a jump. It rises only
    at obstacles, such as steps, and does not keep that speed: upward velocity that is kept comes from a script.

    Args:
        body: a CharacterBody3D with a Vector3, or a CharacterBody2D with a Vector2.
        velocity: wanted velocity, in units of the scene a second; the upward part of a body that can fall is its
            speed at steps.
        elapsed_s: game time since its last turn (s), of which move_and_slide() takes a frame; 0 is one frame.
        falls: whether floors carry it, as those of a CharacterBody3D do.
        climbs: whether it rises without an obstacle, as on ladders.
        gravity: pull while it falls (m/s²).
    """
    cdef WalkMethods* methods = &walks_in_space
    cdef float wanted[3]
    cdef void* pointer = body.live()
    cdef uint64_t number = body.id
    if not is_of_class(pointer, methods.body_tag):
        methods = &walks_in_plane
        if not is_of_class(pointer, methods.body_tag):
            raise TypeError(f"needs a CharacterBody3D or a CharacterBody2D, got {body!r}")
        wanted[0], wanted[1] = velocity
    else:
        wanted[0], wanted[1], wanted[2] = velocity
    with nogil:
        slide_one(pointer, number, methods, wanted, falls, climbs, gravity, elapsed_s, frames_in(pointer, elapsed_s))

cdef inline void slide_one(void* body, uint64_t number, const WalkMethods* methods, float* wanted, bint falls,
                           bint climbs, double gravity, double elapsed_s, double frames) noexcept nogil:
    """Call move_and_slide() of a CharacterBody for a turn, which may be longer than the frame that the call covers."""
    cdef float own[3]
    cdef uint8_t is_true = 0
    cdef int axis
    cdef Raised raised = NOTHING
    if falls and methods.coordinates == 3:
        raised = carry(body, methods, wanted, climbs, gravity, elapsed_s)
    if frames != 1:
        for axis in range(methods.coordinates):
            wanted[axis] = <float>(wanted[axis] * frames)
    call_with(methods.set_velocity, body, wanted)
    gd_object_method_bind_ptrcall(methods.slide, body, NULL, &is_true)
    if (frames != 1 or raised != NOTHING) and gd_object_get_instance_from_id(number) != NULL:
        gd_object_method_bind_ptrcall(methods.get_velocity, body, NULL, own)
        for axis in range(methods.coordinates):
            own[axis] = <float>(own[axis] / frames)
        if raised != NOTHING and own[1] > 0:
            own[1] = 0
        call_with(methods.set_velocity, body, own)
        if raised == SLOPE:              # move_and_slide() does not keep a rising body on the floor
            gd_object_method_bind_ptrcall(methods.snap_to_floor, body, NULL, NULL)

cdef inline Raised carry(void* body, const WalkMethods* methods, float* wanted, bint climbs, double gravity,
                         double elapsed_s) noexcept nogil:
    """Write the vertical velocity of a body that walks; return what raises it."""
    cdef float own[3]
    cdef float floor[3]
    cdef uint8_t stands = 0, is_blocked = 0
    cdef double falls_on, up
    cdef bint leaps
    gd_object_method_bind_ptrcall(methods.is_on_floor, body, NULL, &stands)
    gd_object_method_bind_ptrcall(methods.get_velocity, body, NULL, own)
    leaps = own[1] > 0
    if stands:
        gd_object_method_bind_ptrcall(methods.floor_normal, body, NULL, floor)
        leaps = leaps and own[0] * floor[0] + own[1] * floor[1] + own[2] * floor[2] > LEAPS_M_S
    falls_on = own[1] - gravity * elapsed_s
    if wanted[1] > 0 and not climbs:
        gd_object_method_bind_ptrcall(methods.is_on_wall, body, NULL, &is_blocked)
    if wanted[1] > 0 and (climbs or (is_blocked and is_step(body, methods, wanted))):
        if leaps and falls_on > wanted[1]:
            wanted[1] = <float>falls_on
            return NOTHING
        return STEP
    if not stands or leaps:
        wanted[1] = <float>falls_on
        return NOTHING
    up = -(wanted[0] * floor[0] + wanted[2] * floor[2]) / floor[1] if floor[1] > LEAST_UP else 0
    wanted[1] = <float>(0 if up > 0 and is_turned_back(body, methods, wanted) else up)
    return SLOPE if wanted[1] > 0 else NOTHING

cdef inline double against_wall(void* body, const WalkMethods* methods, const float* wanted, float* wall) noexcept nogil:
    """Write the normal of the touched wall; return the share of the ground speed that is directed into it."""
    cdef double speed = hypot(wanted[0], wanted[2]), level
    gd_object_method_bind_ptrcall(methods.wall_normal, body, NULL, wall)
    level = hypot(wall[0], wall[2])
    wall[1] = 0
    if level > 0:
        wall[0], wall[2] = <float>(wall[0] / level), <float>(wall[2] / level)
    return -(wanted[0] * wall[0] + wanted[2] * wall[2]) / speed if speed > 0 else 0

cdef inline bint is_turned_back(void* body, const WalkMethods* methods, const float* wanted) noexcept nogil:
    """Return whether the body runs into a wall; moved up along its floor, it would hop without end."""
    cdef float wall[3]
    cdef uint8_t is_blocked = 0
    gd_object_method_bind_ptrcall(methods.is_on_wall, body, NULL, &is_blocked)
    return is_blocked and against_wall(body, methods, wanted, wall) > HEAD_ON

cdef bint is_step(void* body, const WalkMethods* methods, const float* wanted) noexcept nogil:
    """Return whether the obstacle is no higher than a step: doors and other characters on ramps are not climbed.

    Tested ahead; else along the wall that the body slides along; else straight into the obstacle it touched last.
    """
    cdef float wall[3]
    cdef float ahead[3]
    cdef double against = against_wall(body, methods, wanted, wall), speed = hypot(wanted[0], wanted[2])
    if speed == 0:
        return False
    ahead[0], ahead[1], ahead[2] = <float>(wanted[0] / speed), 0, <float>(wanted[2] / speed)
    if is_passable(body, methods, ahead):
        return True
    if against <= 0:
        return False
    if against < HEAD_ON:
        ahead[0] += <float>(against * wall[0])
        ahead[2] += <float>(against * wall[2])
        return not is_free(body, methods, ahead, 0) and is_passable(body, methods, ahead)
    wall[0], wall[2] = -wall[0], -wall[2]
    return is_passable(body, methods, wall)

cdef inline bint is_passable(void* body, const WalkMethods* methods, const float* direction) noexcept nogil:
    return is_free(body, methods, direction, STEP_M) or is_free(body, methods, direction, HIGH_STEP_M)

cdef bint is_free(void* body, const WalkMethods* methods, const float* direction, double above_m) noexcept nogil:
    """Return whether a body that is raised by ``above_m`` can move on by a tread."""
    cdef float place[12]
    cdef float motion[3]
    cdef void* nothing = NULL            # no KinematicCollision3D
    cdef double margin_m = 0.001
    cdef uint8_t stops = 0, counts_recovery = 0
    cdef int64_t most = 1
    cdef const void* arguments[6]
    gd_object_method_bind_ptrcall(bind_global_transform, body, NULL, place)
    place[10] += <float>above_m
    motion[0], motion[1], motion[2] = <float>(direction[0] * TREAD_M), 0, <float>(direction[2] * TREAD_M)
    arguments[0], arguments[1], arguments[2] = place, motion, &nothing
    arguments[3], arguments[4], arguments[5] = &margin_m, &counts_recovery, &most
    gd_object_method_bind_ptrcall(methods.test_move, body, arguments, &stops)
    return not stops

cdef inline void put_one(void* node, const WalkMethods* methods, const float* velocity, double elapsed_s) noexcept nogil:
    cdef float place[3]
    cdef int axis
    gd_object_method_bind_ptrcall(methods.get_position, node, NULL, place)
    for axis in range(methods.coordinates):
        place[axis] = <float>(place[axis] + velocity[axis] * elapsed_s)
    call_with(methods.set_position, node, place)

cdef inline void turn_one(void* node, const WalkMethods* methods, const float* velocity, double elapsed_s) noexcept nogil:
    """Turn a node toward its velocity, by at most the turning rate, unless it hardly moves."""
    cdef bint is_flat = methods.coordinates == 2
    if hypot(velocity[0], velocity[1 if is_flat else 2]) >= SLOWEST_TURNING * (32 if is_flat else 1):
        turn_toward(node, methods, velocity, TURN_RAD_S * elapsed_s)

cdef inline double turn_toward(void* node, const WalkMethods* methods, const float* velocity, double most) noexcept nogil:
    """Turn a node toward a direction, by at most an angle (rad); return the angle that is left."""
    cdef bint is_flat = methods.coordinates == 2
    cdef double x = velocity[0] if is_flat else -velocity[2], y = velocity[1] if is_flat else -velocity[0]
    cdef double facing, off, turn
    cdef float rotation[3]
    if is_flat:
        gd_object_method_bind_ptrcall(methods.get_rotation, node, NULL, &facing)
    else:
        gd_object_method_bind_ptrcall(methods.get_rotation, node, NULL, rotation)
        facing = rotation[1]
    off = remainder(atan2(y, x) - facing, WHOLE_TURN)
    if fabs(off) < LEAST_TURN_RAD:
        return 0
    turn = max(-most, min(most, off))
    facing += turn
    if is_flat:
        call_with(methods.set_rotation, node, &facing)
    else:
        rotation[1] = <float>facing
        call_with(methods.set_rotation, node, rotation)
    return off - turn

cdef inline double facing_of(void* node, const WalkMethods* methods) noexcept nogil:
    """Return the rotation of a node (rad), in 3D about the vertical axis."""
    cdef double facing
    cdef float rotation[3]
    if methods.coordinates == 2:
        gd_object_method_bind_ptrcall(methods.get_rotation, node, NULL, &facing)
        return facing
    gd_object_method_bind_ptrcall(methods.get_rotation, node, NULL, rotation)
    return rotation[1]

cdef inline void call_with(const void* method, void* node, const void* argument) noexcept nogil:
    cdef const void* arguments[1]
    arguments[0] = argument
    gd_object_method_bind_ptrcall(method, node, arguments, NULL)


def read_velocities(list nodes not None, list rows not None, double[:, ::1] velocities not None):
    """Write the velocities of CharacterBodies in their plane, x and z or, in 2D, x and y; those of freed ones stay.

    Args:
        nodes: n CharacterBodies, all in 3D or all in 2D.
        rows: n rows of ``velocities``.
        velocities: shape (m, 2).

    Cost: one engine call per node, about 30 ns.
    """
    cdef Py_ssize_t i, row
    cdef const WalkMethods* methods = NULL
    cdef void* body
    cdef float own[3]
    if velocities.shape[1] != 2 or len(rows) != len(nodes):
        raise ValueError(f"{len(nodes)} nodes need as many rows, of 2 columns, got {len(rows)} of {velocities.shape[1]}")
    for i in range(len(nodes)):
        body, row = gd_object_get_instance_from_id((<GDObject?>nodes[i]).id), rows[i]
        if body == NULL:
            continue
        if methods == NULL:
            methods = &walks_in_space if is_of_class(body, walks_in_space.body_tag) else &walks_in_plane
        if not is_of_class(body, methods.body_tag) or not 0 <= row < velocities.shape[0]:
            raise TypeError(f"needs a CharacterBody and a row, got {nodes[i]!r} and {row}")
        gd_object_method_bind_ptrcall(methods.get_velocity, body, NULL, own)
        velocities[row, 0], velocities[row, 1] = own[0], own[methods.coordinates - 1]
