# Walks along paths: where one joins its path, and turns toward one point of it, each in one crossing. GIL: kept; an agent may call scripts.

ctypedef struct AgentMethods:        # of a NavigationAgent3D or a NavigationAgent2D
    const void* get_target
    const void* get_next
    const void* get_path
    const void* set_velocity
    int path_type
    void* tag

cdef AgentMethods agents_in_space, agents_in_plane

cdef int open_held_courses() except -1:
    agents_in_space.get_target = need_bind("NavigationAgent3D", "get_target_position", HASH_NavigationAgent3D_get_target_position)
    agents_in_space.get_next = need_bind("NavigationAgent3D", "get_next_path_position", HASH_NavigationAgent3D_get_next_path_position)
    agents_in_space.get_path = need_bind("NavigationAgent3D", "get_current_navigation_path", HASH_NavigationAgent3D_get_current_navigation_path)
    agents_in_space.set_velocity = need_bind("NavigationAgent3D", "set_velocity", HASH_NavigationAgent3D_set_velocity)
    agents_in_space.path_type = T_PACKED_VECTOR3_ARRAY
    agents_in_space.tag = gd_classdb_get_class_tag(name_ptr("NavigationAgent3D"))
    agents_in_plane.get_target = need_bind("NavigationAgent2D", "get_target_position", HASH_NavigationAgent2D_get_target_position)
    agents_in_plane.get_next = need_bind("NavigationAgent2D", "get_next_path_position", HASH_NavigationAgent2D_get_next_path_position)
    agents_in_plane.get_path = need_bind("NavigationAgent2D", "get_current_navigation_path", HASH_NavigationAgent2D_get_current_navigation_path)
    agents_in_plane.set_velocity = need_bind("NavigationAgent2D", "set_velocity", HASH_NavigationAgent2D_set_velocity)
    agents_in_plane.path_type = T_PACKED_VECTOR2_ARRAY
    agents_in_plane.tag = gd_classdb_get_class_tag(name_ptr("NavigationAgent2D"))

cdef float SAME = 1e-3               # positions within this are equal (m, px)


@cython.final
cdef class HeldCourse:
    """A walk toward one point, repeated until something happens by which another point may be next.

    It is made in a turn in which the whole way to the point was decided, and does no more than that turn did.

    Args:
        actor: the Node3D or Node2D that is moved.
        stop: the point: an inner one of a path, or the last. Without an agent it is the goal.
        keep: horizontal distance to the point up to which nothing else is decided.
        speed, turn_rate: of the actor, in units of the scene and radians per second.
        arrival: distance to the goal up to which the actor has not arrived.
        lasts_s: longest time for which the course is held (s).
        is_body: whether the actor is a CharacterBody, moved by move_and_slide().
        gravity: pull on a CharacterBody3D that floors carry (m/s²); 0 for others.
    """
    cdef uint64_t actor, agent
    cdef const WalkMethods* methods
    cdef const AgentMethods* agents
    cdef bint is_body, avoids
    cdef double keep, speed, turn_rate, arrival, slack, left_s, gravity
    cdef float stop[3]
    cdef float goal[3]               # for which the agent was given its target
    cdef float target[3]
    cdef float first[3]              # of the agent's path
    cdef float last[3]
    cdef int64_t points

    def __init__(self, GDObject actor not None, stop, double keep, double speed, double turn_rate, double arrival,
                 double lasts_s, bint is_body, double gravity):
        cdef void* pointer = actor.live()
        self.actor, self.agent, self.avoids = actor.id, 0, False
        self.methods, self.agents = &walks_in_space, &agents_in_space
        if gd_object_cast_to(pointer, walks_in_space.node_tag) == NULL:
            self.methods, self.agents = &walks_in_plane, &agents_in_plane
            if gd_object_cast_to(pointer, walks_in_plane.node_tag) == NULL:
                raise TypeError(f"needs a Node3D or a Node2D, got {actor!r}")
        if is_body and gd_object_cast_to(pointer, self.methods.body_tag) == NULL:
            raise TypeError(f"needs a CharacterBody, got {actor!r}")
        self.keep, self.speed, self.turn_rate, self.arrival = keep, speed, turn_rate, arrival
        self.left_s, self.is_body, self.gravity = lasts_s, is_body, gravity
        self.read(stop, self.stop)

    def follow(self, GDObject agent not None, goal, target, double slack, int64_t points, first, last, bint avoids):
        """Hold the course only while the agent keeps its target and its path.

        Args:
            agent: the NavigationAgent of the actor.
            goal: goal for which the agent was given its target.
            target: the target.
            slack: share of its distance by which the goal may move before the agent gets another target.
            points, first, last: number of points of its path, and the points at both ends.
            avoids: whether the velocity of the actor is that of the avoidance of the agent.
        """
        if gd_object_cast_to(agent.live(), self.agents.tag) == NULL:
            raise TypeError(f"needs a NavigationAgent in as many dimensions as the actor, got {agent!r}")
        self.agent, self.slack, self.points, self.avoids = agent.id, slack, points, avoids
        self.read(goal, self.goal)
        self.read(target, self.target)
        self.read(first, self.first)
        self.read(last, self.last)

    cdef int read(self, place, float* out) except -1:
        out[2] = 0
        if type(place) is Vector3 and self.methods.coordinates == 3:
            memcpy(out, (<Vector3>place).v, 12)
        elif self.methods.coordinates == 3:
            out[0], out[1], out[2] = place
        else:
            out[0], out[1] = place
        return 0

    def step(self, goal, double elapsed_s, safe):
        """Walk for one turn; return False, and do nothing, if the next point must be decided.

        Args:
            goal: present position of the goal.
            elapsed_s: time since the last turn (s).
            safe: velocity that the avoidance of the agent computed last, None for none.
        """
        cdef void* actor = gd_object_get_instance_from_id(self.actor)
        cdef void* agent = NULL
        cdef float here[3]
        cdef float to[3]
        cdef float velocity[3]
        cdef float free[3]
        cdef uint8_t stands = 1
        cdef int axis, count = self.methods.coordinates
        cdef double length, left
        self.left_s -= elapsed_s
        if actor == NULL or self.left_s < 0:
            return False
        self.read(goal, to)
        here[2] = 0
        gd_object_method_bind_ptrcall(self.methods.get_position, actor, NULL, here)
        left = away(to, here, count)
        if not left > self.arrival:          # also if the goal is not finite
            return False
        if self.agent != 0:
            agent = gd_object_get_instance_from_id(self.agent)
            if agent == NULL or away(to, self.goal, count) > max(self.arrival / 2, self.slack * left) \
                    or not self.has_path(agent):
                return False
            actor, agent = gd_object_get_instance_from_id(self.actor), gd_object_get_instance_from_id(self.agent)
            if actor == NULL or agent == NULL:       # freed by a script that the agent called
                return False
        else:
            memcpy(self.stop, to, sizeof(to))
            if self.gravity != 0:
                self.stop[1] = here[1]
        if not hypot(self.stop[0] - here[0], self.stop[count - 1] - here[count - 1]) > self.keep:
            return False
        length = away(self.stop, here, count)
        if length <= self.speed * elapsed_s:
            return False
        if self.gravity != 0:
            gd_object_method_bind_ptrcall(self.methods.is_on_floor, actor, NULL, &stands)
            if not stands:
                return False
        for axis in range(count):
            velocity[axis] = <float>((self.stop[axis] - here[axis]) / length * self.speed)
        if self.turn_rate != 0:
            turn_toward(actor, self.methods, velocity, self.turn_rate * elapsed_s)
        if self.avoids:
            call_with(self.agents.set_velocity, agent, velocity)
            if safe is not None:
                self.read(safe, free)
                velocity[0], velocity[count - 1] = free[0], free[count - 1]
        if self.is_body:
            slide_one(actor, self.actor, self.methods, velocity, self.gravity != 0, False, self.gravity, elapsed_s,
                      frames_in(actor, elapsed_s))
        else:
            put_one(actor, self.methods, velocity, elapsed_s)
        return True

    cdef bint has_path(self, void* agent) noexcept:
        """Return whether the agent has the target and the path as before; makes it update its path."""
        cdef float place[3]
        cdef uint64_t path[2]            # a packed array: OWNED
        cdef int64_t points = 0
        cdef int count = self.methods.coordinates
        cdef PackedKind* kind = &packed_kinds[self.agents.path_type]
        cdef bint is_same
        gd_object_method_bind_ptrcall(self.agents.get_target, agent, NULL, place)
        if away(place, self.target, count) > SAME:
            return False
        gd_object_method_bind_ptrcall(self.agents.get_next, agent, NULL, place)
        agent = gd_object_get_instance_from_id(self.agent)
        if agent == NULL:
            return False
        path[0] = path[1] = 0
        gd_object_method_bind_ptrcall(self.agents.get_path, agent, NULL, path)
        kind.size(path, NULL, &points, 0)
        is_same = points == self.points
        if is_same:
            is_same = not memcmp(kind.element_const(path, 0), self.first, 4 * count) and not memcmp(
                kind.element_const(path, points - 1), self.last, 4 * count)
        destructors[self.agents.path_type](path)
        return is_same


cdef inline double away(const float* one, const float* other, int count) noexcept nogil:
    cdef double squares = 0
    cdef int axis
    for axis in range(count):
        squares += (<double>one[axis] - other[axis]) * (<double>one[axis] - other[axis])
    return sqrt(squares)


def nearest_piece(const float[:, ::1] points, place, double within):
    """Return the piece of a path that is horizontally nearest to a position, and the nearest position on it.

    Args:
        points: points of the path, (n, 2) or (n, 3).
        place: the position, of as many numbers.
        within: in 3D, largest height of the position above or below a piece (m).

    Returns:
        The number of the first point of the piece, and a list; (-1, None) if no piece is near enough in height.

    Cost: O(n); tens of nanoseconds for each point.
    """
    cdef Py_ssize_t i, found = -1
    cdef int axis, count = points.shape[1]
    cdef double at[3]
    cdef double share, x, z, distance, least = INFINITY
    cdef list nearest = None
    for axis, coordinate in enumerate(place):
        if axis < 3: at[axis] = coordinate
    for i in range(points.shape[0] - 1):
        share = share_along(&points[i, 0], &points[i + 1, 0], at, count)
        if count == 3 and fabs(between(points[i, 1], points[i + 1, 1], share) - at[1]) > within:
            continue
        x = between(points[i, 0], points[i + 1, 0], share) - at[0]
        z = between(points[i, count - 1], points[i + 1, count - 1], share) - at[count - 1]
        distance = hypot(x, z)
        if distance < least:
            found, least = i, distance
    if found >= 0:
        share = share_along(&points[found, 0], &points[found + 1, 0], at, count)
        nearest = [between(points[found, axis], points[found + 1, axis], share) for axis in range(count)]
    return found, nearest

cdef inline double share_along(const float* one, const float* other, const double* at, int count) noexcept nogil:
    """Return the share of a piece at its horizontally nearest point to a position."""
    cdef double x = other[0] - one[0], z = other[count - 1] - one[count - 1]
    cdef double squares = x * x + z * z
    if squares == 0:
        return 0
    return max(0.0, min(1.0, ((at[0] - one[0]) * x + (at[count - 1] - one[count - 1]) * z) / squares))

cdef inline double between(double one, double other, double share) noexcept nogil:
    return one + share * (other - one)
