# Walks along paths: where one joins its path, and turns that need no decision, each in one crossing. GIL: kept; an agent may call scripts.

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
    agents_in_space.tag = class_tag("NavigationAgent3D")
    agents_in_plane.get_target = need_bind("NavigationAgent2D", "get_target_position", HASH_NavigationAgent2D_get_target_position)
    agents_in_plane.get_next = need_bind("NavigationAgent2D", "get_next_path_position", HASH_NavigationAgent2D_get_next_path_position)
    agents_in_plane.get_path = need_bind("NavigationAgent2D", "get_current_navigation_path", HASH_NavigationAgent2D_get_current_navigation_path)
    agents_in_plane.set_velocity = need_bind("NavigationAgent2D", "set_velocity", HASH_NavigationAgent2D_set_velocity)
    agents_in_plane.path_type = T_PACKED_VECTOR2_ARRAY
    agents_in_plane.tag = class_tag("NavigationAgent2D")

cdef float SAME = 1e-3               # positions within this are equal (m, px)
cdef float RISES_M = 0.5             # a next point so far above or below is on a slope or a link, on which each turn asks the path


cdef int read_point(const WalkMethods* methods, place, float* out) except -1:
    out[2] = 0
    if type(place) is Vector3 and methods.coordinates == 3:
        memcpy(out, (<Vector3>place).v, 12)
    elif methods.coordinates == 3:
        out[0], out[1], out[2] = place
    else:
        out[0], out[1] = place
    return 0

cdef bint find_goal(const WalkMethods* methods, goal, board, float* to) except -1:
    """Write the present position of a goal; return False if there is none in this space."""
    cdef PyObject* known
    cdef void* node
    if board is not None:
        known = PyDict_GetItemWithError(board, goal)
        if known == NULL:
            return False
        goal = <object>known
    if isinstance(goal, GDObject):
        node = gd_object_get_instance_from_id((<GDObject>goal).id)
        if node == NULL or not is_of_class(node, methods.node_tag):
            return False
        to[2] = 0
        gd_object_method_bind_ptrcall(methods.get_position, node, NULL, to)
        return True
    if type(goal) is not (Vector3 if methods.coordinates == 3 else Vector2):
        return False
    read_point(methods, goal, to)
    return True

def distance_to_goal(GDObject actor not None, goal, board=None):
    """Return the horizontal distance from a Node3D or Node2D to a goal; NaN if it has none in the space of the actor.

    Args:
        goal: a position, a node, or the key of one on ``board``.
        board: dict with the goal, None if ``goal`` is the goal itself.
    """
    cdef const WalkMethods* methods = &walks_in_space
    cdef void* pointer = actor.live()
    cdef float here[3]
    cdef float to[3]
    if not is_of_class(pointer, walks_in_space.node_tag):
        methods = &walks_in_plane
        if not is_of_class(pointer, walks_in_plane.node_tag):
            return NAN
    if not find_goal(methods, goal, board, to):
        return NAN
    gd_object_method_bind_ptrcall(methods.get_position, pointer, NULL, here)
    return hypot(to[0] - here[0], to[methods.coordinates - 1] - here[methods.coordinates - 1])


@cython.final
cdef class SafeVelocity:
    """The velocity that the avoidance of a NavigationAgent computed last; to connect to its ``velocity_computed``.

    Attributes:
        velocity: a Vector3 or Vector2; None before the first.
    """
    cdef readonly object velocity

    def __call__(self, velocity):
        self.velocity = velocity


@cython.final
cdef class HeldCourse:
    """A walk toward a goal, repeated until something happens that it does not decide.

    It is made in a turn in which everything was decided, and does no more than that turn did. Call it with the time
    since the last turn (s): it returns False, and does not move the actor, if that turn must be decided.

    Args:
        actor: the Node3D or Node2D that is moved.
        goal: a position, a node that may move, or the key of one on ``board``.
        arrival: distance to the goal up to which the actor has not arrived.
        speed, turn_rate: of the actor, in units of the scene and radians per second.
        is_body: whether the actor is a CharacterBody, moved by move_and_slide().
        gravity: pull on a CharacterBody3D that floors carry (m/s²); 0 for others.
        memory: of the walk: "left" and "left_s", the place where and the time when it last made progress (s), are
            read and written if ``stuck_after_s`` is above 0.
        now_s: present time of the walk (s).
        stuck_after_s: time without progress after which the turn must be decided (s); 0 for no limit.
        applies: called every ``asks_every_s``: whether all else that the decision depended on is as it was; None
            to let the turn be decided then.
        board: dict with the goal, None if ``goal`` is the goal itself.
        moved: called with the velocity when it has changed by more than ``step``; None for nothing.
        step: change of the velocity, in units of the scene per second.
    """
    cdef uint64_t actor, agent
    cdef const WalkMethods* methods
    cdef const AgentMethods* agents
    cdef bint is_body, avoids, is_over
    cdef double blocked, speed, turn_rate, arrival, slack, asks_every_s, asks_in_s, gravity, change
    cdef double now_s, left_s, stuck_after_s
    cdef object goal, board, path, moved, applies
    cdef dict memory
    cdef SafeVelocity safe
    cdef float left[3]
    cdef float stop[3]
    cdef float aimed[3]              # goal for which the agent was given its target
    cdef float target[3]
    cdef float first[3]              # of the agent's path
    cdef float last[3]
    cdef float told[3]               # velocity that ``moved`` was called with
    cdef int64_t points

    def __init__(self, GDObject actor not None, goal, double arrival, double speed, double turn_rate, bint is_body,
                 double gravity, dict memory not None, double now_s, double stuck_after_s, double asks_every_s,
                 applies=None, board=None, moved=None, double step=0):
        cdef void* pointer = actor.live()
        self.actor, self.agent, self.avoids = actor.id, 0, False
        self.methods, self.agents = &walks_in_space, &agents_in_space
        if not is_of_class(pointer, walks_in_space.node_tag):
            self.methods, self.agents = &walks_in_plane, &agents_in_plane
            if not is_of_class(pointer, walks_in_plane.node_tag):
                raise TypeError(f"needs a Node3D or a Node2D, got {actor!r}")
        if is_body and not is_of_class(pointer, self.methods.body_tag):
            raise TypeError(f"needs a CharacterBody, got {actor!r}")
        self.goal, self.board, self.moved, self.change = goal, board, moved, step
        self.arrival, self.speed, self.turn_rate = arrival, speed, turn_rate
        self.is_body, self.gravity, self.memory, self.now_s = is_body, gravity, memory, now_s
        self.applies, self.asks_every_s, self.asks_in_s, self.is_over = applies, asks_every_s, asks_every_s, False
        self.stuck_after_s = stuck_after_s
        if stuck_after_s > 0:
            read_point(self.methods, memory["left"], self.left)
            self.left_s = memory["left_s"]
        self.told[0] = NAN

    def along(self, GDObject agent not None, stop, path, double slack, double blocked, SafeVelocity safe):
        """Follow the path of a NavigationAgent; return False if it has no next point now.

        Args:
            agent: the NavigationAgent of the actor.
            stop: the next point.
            path: has ``next(here, goal, arrival, stands=, is_blocked=)``, which returns a position and "going", or
                another word if there is none to go to. It writes to the memory "aimed", the goal and the target of the
                agent; "path", the number of its points and both ends; and "climbs", whether the way to the next point
                needs a decision in every turn. It is asked within ``arrival`` of the next point.
            slack: share of its distance by which the goal may move before the agent gets another target.
            blocked: horizontal distance to the next point within which a wall lets the path be asked.
            safe: connected to the avoidance of the agent; None without avoidance.
        """
        if not is_of_class(agent.live(), self.agents.tag):
            raise TypeError(f"needs a NavigationAgent in as many dimensions as the actor, got {agent!r}")
        self.agent, self.path, self.slack, self.blocked = agent.id, path, slack, blocked
        self.safe, self.avoids = safe, safe is not None
        read_point(self.methods, stop, self.stop)
        return self.note_path()

    def end(self):
        """Let the next turn be decided."""
        self.is_over = True

    cdef bint note_path(self) except -1:
        aimed, path = self.memory.get("aimed"), self.memory.get("path")
        if aimed is None or path is None or self.memory.get("climbs"):
            return False
        read_point(self.methods, aimed[0], self.aimed)
        read_point(self.methods, aimed[1], self.target)
        self.points = path[0]
        read_point(self.methods, path[1], self.first)
        read_point(self.methods, path[2], self.last)
        return True

    cdef object vector(self, const float* place):
        return vector3(place[0], place[1], place[2]) if self.methods.coordinates == 3 else Vector2(place[0], place[1])

    def __call__(self, double elapsed_s):
        cdef void* actor = gd_object_get_instance_from_id(self.actor)
        cdef void* agent = NULL
        cdef float here[3]
        cdef float to[3]
        cdef float velocity[3]
        cdef float free[3]
        cdef uint8_t stands = 1
        cdef int axis, up = self.methods.coordinates - 1, count = self.methods.coordinates
        cdef double length, left
        if self.is_over or actor == NULL or not find_goal(self.methods, self.goal, self.board, to):
            return False
        here[2] = 0
        gd_object_method_bind_ptrcall(self.methods.get_position, actor, NULL, here)
        left = away(to, here, count)
        if not isfinite(left) or hypot(to[0] - here[0], to[up] - here[up]) <= self.arrival:
            return False
        if self.gravity != 0:
            gd_object_method_bind_ptrcall(self.methods.is_on_floor, actor, NULL, &stands)
            if not stands:
                return False
        if self.agent != 0:
            agent = gd_object_get_instance_from_id(self.agent)
            if agent == NULL:
                return False
        self.asks_in_s -= elapsed_s
        if self.asks_in_s < 0:
            if self.applies is None or not self.applies():
                return False
            self.asks_in_s = self.asks_every_s
        if not self.has_progress(here, elapsed_s):
            return False
        if self.agent != 0:
            if away(to, self.aimed, count) > max(self.arrival / 2, self.slack * left) or not self.has_path(agent) \
                    or self.is_near_stop(actor, here):
                if not self.choose(actor, here, to):
                    return False
            actor, agent = gd_object_get_instance_from_id(self.actor), gd_object_get_instance_from_id(self.agent)
            if actor == NULL or agent == NULL:       # freed by a script that the agent called
                return False
        else:
            memcpy(self.stop, to, sizeof(to))
            if self.gravity != 0:
                self.stop[1] = here[1]
        length = away(self.stop, here, count)
        if length <= self.speed * elapsed_s:
            return False
        for axis in range(count):
            velocity[axis] = <float>((self.stop[axis] - here[axis]) / length * self.speed)
        if self.turn_rate != 0:
            turn_toward(actor, self.methods, velocity, self.turn_rate * elapsed_s)
        if self.avoids:
            call_with(self.agents.set_velocity, agent, velocity)
            if self.safe.velocity is not None:
                read_point(self.methods, self.safe.velocity, free)
                velocity[0], velocity[up] = free[0], free[up]
        if self.is_body:
            slide_one(actor, self.actor, self.methods, velocity, self.gravity != 0, False, self.gravity, elapsed_s,
                      frames_in(actor, elapsed_s))
        else:
            put_one(actor, self.methods, velocity, elapsed_s)
        if self.moved is not None:
            self.tell(velocity)
        return True

    cdef bint has_progress(self, const float* here, double elapsed_s) except -1:
        """Note progress; return False if there was none for too long."""
        cdef int count = self.methods.coordinates
        self.now_s += elapsed_s
        if self.stuck_after_s <= 0:
            return True
        if away(here, self.left, count) >= max(self.arrival, self.speed * elapsed_s) / 2:
            memcpy(self.left, here, sizeof(self.left))
            self.left_s = self.now_s
            self.memory["left"] = [here[0], here[1], here[2]] if count == 3 else [here[0], here[1]]
            self.memory["left_s"] = self.now_s
        return self.now_s - self.left_s < self.stuck_after_s

    cdef bint is_near_stop(self, void* actor, const float* here) noexcept:
        """Return whether the actor may have reached the next point, or its way there rises."""
        cdef int up = self.methods.coordinates - 1
        cdef double left = hypot(self.stop[0] - here[0], self.stop[up] - here[up])
        cdef uint8_t is_blocked = 0
        if left <= self.arrival:
            return True
        if self.gravity == 0:
            return False
        if left <= self.blocked:
            gd_object_method_bind_ptrcall(self.methods.is_on_wall, actor, NULL, &is_blocked)
        return is_blocked or fabs(self.stop[1] - here[1]) > RISES_M

    cdef int tell(self, float* velocity) except -1:
        """Call ``moved`` if the velocity, which is that of a body after its collisions, has changed."""
        cdef void* actor = gd_object_get_instance_from_id(self.actor)
        if self.is_body and actor != NULL:
            gd_object_method_bind_ptrcall(self.methods.get_velocity, actor, NULL, velocity)
        if not away(velocity, self.told, self.methods.coordinates) <= self.change:
            memcpy(self.told, velocity, sizeof(self.told))
            self.moved(self.vector(velocity))
        return 0

    cdef bint choose(self, void* actor, const float* here, const float* to) except -1:
        """Ask the path for the next point; return False if there is none to go to on the ground."""
        cdef uint8_t is_blocked = 0
        if self.gravity != 0:
            gd_object_method_bind_ptrcall(self.methods.is_on_wall, actor, NULL, &is_blocked)
        stop, came = self.path.next(
            self.vector(here), self.vector(to), self.arrival, stands=True, is_blocked=bool(is_blocked))
        if came != "going" or not self.note_path():
            return False
        read_point(self.methods, stop, self.stop)
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
