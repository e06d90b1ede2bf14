# Walks along the points of a path, on its floors, and along the path of a NavigationAgent.
#
# What a walk knows is kept in its memory, a dict of plain values that is saved with the character. GIL: kept.

cdef double STANDS_M = 2.0           # height above or below a path up to which a mover is on it: less than a storey, as paths over grids begin at the center of a cell, and origins of characters may be at their centers (m)
cdef double STEEP = 2.0              # ratio of rise to length above which a segment is a lift, a ladder or a drop, not a slope: 63 degrees
cdef double BESIDE_M = 0.5           # distance beside its path beyond which a mover was pushed off it, and falls (m)
cdef double BLOCKED_M = 0.6          # distance before a rise of the path within which an obstacle is the step that the path climbs: a body stops before the step by its own radius (m)
cdef double LEVEL_M = 0.75           # largest difference in height at the end of a steep segment: a baked map lies up to 0.5 m above the floor (m)
cdef double CORNER = 0.5             # largest distance before an inner point at which the mover turns to the next, whatever the arrival distance: turning much earlier leads into obstacles (m, in 2D pixels)
cdef double OVER_M = 0.01            # distance from the normal of a slope within which a position is over that slope (m)
cdef double WALL = 0.1               # upward share of a normal below which the surface is a wall
cdef double MAP_M = 2.0              # largest distance of a goal above or below the map: a baked mesh lies some cells above the floor, and the center of a character above both (m)
cdef double AIM_SLACK = 0.2          # share of its distance by which a goal may move before the agent gets another target: the path to a target that runs would otherwise be searched in every few frames, however far away it is. The direction is off by at most 12 degrees
cdef double SAME = 1e-3              # positions within this are equal (m, px)

STANDS_WITHIN_M = STANDS_M
ABOVE_MAP_M = MAP_M

cdef enum PathState:
    GOING
    ARRIVED
    OFF_PATH                         # on another floor than the path

PATH_STATES = ("going", "arrived", "off_path")

ctypedef struct PathProgress:        # as in the memory, by the same names
    Py_ssize_t step                  # number of the point to go to; -1 before the mover has joined the path
    bint has_join
    double join[3]                   # position on the path to go to before that point
    bint climbs                      # whether the segment to the next point needs climbing
    bint has_more                    # whether further points follow
    bint stood                       # whether the mover stood on a floor of the path
    bint knows_above, knows_from
    double above_m, from_m           # height above the path, and at the start of the segment

cdef int read_progress(dict memory, PathProgress* now) except -1:
    cdef int axis
    step, join, above_m, from_m = memory.get("step"), memory.get("join"), memory.get("above_m"), memory.get("from_m")
    now.step = -1 if step is None else step
    now.has_join = bool(join)
    if now.has_join:
        for axis, coordinate in enumerate(join):
            if axis < 3: now.join[axis] = coordinate
    now.climbs, now.stood = bool(memory.get("climbs")), bool(memory.get("stood"))
    now.knows_above, now.knows_from = above_m is not None, from_m is not None
    now.above_m = above_m if now.knows_above else 0
    now.from_m = from_m if now.knows_from else 0
    return 0

cdef int write_progress(dict memory, const PathProgress* now, int count) except -1:
    cdef int axis
    memory["step"] = now.step
    memory["join"] = [now.join[axis] for axis in range(count)] if now.has_join else None
    memory["climbs"], memory["has_more"] = bool(now.climbs), bool(now.has_more)
    if now.stood: memory["stood"] = True
    if now.knows_above: memory["above_m"] = now.above_m
    if now.knows_from: memory["from_m"] = now.from_m
    return 0

def forget_progress(dict memory not None):
    """Forget the progress along a path in the memory of a walk, but not the height above it."""
    for key in ("step", "join", "stood", "from_m", "climbs", "has_more"):
        memory.pop(key, None)

cdef inline double apart(const double* one, const double* other, int count) noexcept nogil:
    """Return the distance between two positions; in 3D the horizontal one, as a character's center is above ground."""
    return hypot(one[0] - other[0], one[count - 1] - other[count - 1])

cdef inline double share_along(const double* one, const double* other, const double* at, int count) noexcept nogil:
    """Return the share of a segment at its horizontally nearest point to a position."""
    cdef double x = other[0] - one[0], z = other[count - 1] - one[count - 1]
    cdef double squares = x * x + z * z
    if squares == 0:
        return 0
    return max(0.0, min(1.0, ((at[0] - one[0]) * x + (at[count - 1] - one[count - 1]) * z) / squares))

cdef inline double between(double one, double other, double share) noexcept nogil:
    return one + share * (other - one)

cdef inline void widen(const float* from_, double* to, int count) noexcept nogil:
    cdef int axis
    for axis in range(count):
        to[axis] = from_[axis]

cdef Py_ssize_t join_path(const float* points, Py_ssize_t n, int count, const double* at, double within,
                          double* nearest) noexcept nogil:
    """Write the nearest position on a path; return the number of the first point of its segment, -1 if none is near."""
    cdef Py_ssize_t i, found = -1
    cdef int axis
    cdef double one[3]
    cdef double other[3]
    cdef double share, distance, least = INFINITY
    for i in range(n - 1):
        widen(points + i * count, one, count)
        widen(points + (i + 1) * count, other, count)
        share = share_along(one, other, at, count)
        if count == 3 and fabs(between(one[1], other[1], share) - at[1]) > within:
            continue
        distance = hypot(between(one[0], other[0], share) - at[0],
                         between(one[count - 1], other[count - 1], share) - at[count - 1])
        if distance < least:
            found, least = i, distance
            for axis in range(count):
                nearest[axis] = between(one[axis], other[axis], share)
    return found

cdef inline bint height_at(const double* before, const double* after, const double* here, double* height) noexcept nogil:
    """Write the height of a segment at its horizontally nearest point to a position; return False if it is steep."""
    cdef double rise = after[1] - before[1]
    if fabs(rise) > STEEP * apart(before, after, 3):
        return False
    height[0] = before[1] + share_along(before, after, here, 3) * rise
    return True

cdef inline double note_height(PathProgress* now, const double* before, const double* after, const double* here,
                               bint falls, bint* is_steep) noexcept nogil:
    """Note the height above a segment; return the deviation from the wanted height (m).

    On slopes the height above the path follows the mover, so that floors, gravity and jumps may lift and lower it; on
    lifts, ladders and drops it keeps its last value. Without floors it keeps its initial height, if that was near.
    """
    cdef double at = 0
    is_steep[0] = not height_at(before, after, here, &at)
    if is_steep[0]:
        return 0
    if falls or not now.knows_above:
        now.knows_above = True
        if fabs(here[1] - at) <= STANDS_M:
            now.above_m = here[1] - at
    return here[1] - at - now.above_m

cdef inline bint needs_climbing(const PathProgress* now, const double* before, const double* after, const double* here,
                                bint falls, bint is_steep, bint climbed) noexcept nogil:
    """Return whether a segment is steep, or not on a floor, such as a link.

    ``climbed`` is whether the mover climbed before and is still in the air; it would fall repeatedly otherwise.
    """
    cdef double share, beside
    if is_steep:
        return True
    if not falls or not (climbed or (now.knows_from and now.from_m - now.above_m > LEVEL_M)):
        return False
    share = share_along(before, after, here, 3)
    beside = hypot(between(before[0], after[0], share) - here[0], between(before[2], after[2], share) - here[2])
    return beside <= BESIDE_M

cdef PathState follow_points(PathProgress* now, const float* points, Py_ssize_t n, int count, const double* here,
                             const double* began, double arrival, bint falls, bint stands, bint is_blocked,
                             double* stop) noexcept nogil:
    """Write the next position to go to, for ``follow_path``."""
    cdef double before[3]
    cdef double after[3]
    cdef double reach, off_m, above_m
    cdef bint climbed = now.climbs and not stands, is_steep = False, is_last, is_past, is_under, has_arrived
    now.climbs = now.has_more = False
    if now.step < 0:
        now.step = join_path(points, n, count, here, STANDS_M, now.join) + 1
        now.has_join = now.step > 0
        if count == 3:
            widen(points, after, count)
            note_height(now, after, after, began, falls, &is_steep)
    while now.step < n:
        is_last = now.step == n - 1 and not now.has_join
        if now.has_join:
            memcpy(before, now.join, sizeof(before))
            memcpy(after, now.join, sizeof(after))
        else:
            widen(points + max(0, now.step - 1) * count, before, count)
            widen(points + now.step * count, after, count)
        is_past = (here[0] - after[0]) * (after[0] - before[0]) + (
            here[count - 1] - after[count - 1]) * (after[count - 1] - before[count - 1]) >= 0
        reach = arrival if is_last or is_past else min(arrival, CORNER)
        memcpy(stop, after, sizeof(after))
        if count == 2:
            if apart(after, here, 2) > reach:
                now.has_more = not is_last
                return GOING
        else:
            off_m = note_height(now, before, after, here, falls, &is_steep)
            if stands and not now.knows_from:    # a body knows that it stands only after it moved
                now.knows_from, now.from_m = True, now.above_m
            is_under = is_blocked and now.step + 1 < n and points[3 * (now.step + 1) + 1] > points[3 * now.step + 1]
            above_m = now.from_m if is_steep and now.knows_from else now.above_m
            has_arrived = apart(after, here, 3) <= (BLOCKED_M if is_under else reach) and fabs(
                here[1] - above_m - after[1]) <= (
                    STANDS_M if not is_steep else LEVEL_M if falls else BLOCKED_M if is_under else reach)
            if not has_arrived or (is_last and not stands):
                now.has_more = not is_last
                now.climbs = needs_climbing(now, before, after, here, falls, is_steep, climbed)
                stop[1] += now.from_m if now.climbs and now.knows_from else now.above_m
                if fabs(off_m) <= STANDS_M:
                    now.stood = stands or now.stood
                    return GOING
                return OFF_PATH if stands and now.stood else GOING
            if stands:
                now.knows_from, now.from_m = True, now.above_m
        climbed = False
        if not now.has_join:
            now.step += 1
        now.has_join = False
    return ARRIVED

def follow_path(dict memory not None, const float[:, ::1] points, here, double arrival, *, bint falls, bint stands=True,
                bint is_blocked=False, began=None):
    """Return the next position to go to along a path, and "going", "arrived", or "off_path" on another floor.

    Args:
        memory: of the walk; call ``forget_progress`` before another path. "climbs" is whether the segment to the next
            point needs climbing, "has_more" whether further points follow.
        points: points of the path, (n, 2) or (n, 3); n at least 1.
        here: present position.
        arrival: horizontal distance at which a point is reached, on its floor (m); inner points are reached when
            passed, or at most half a metre (in 2D half a pixel) before.
        falls: whether floors carry the mover; otherwise it keeps its initial height above the path, if it was near.
        stands: whether the mover is on the ground; in the air it does not arrive. The state is "off_path" if it
            stood on a floor of the path before, and now stands on another.
        is_blocked: whether an obstacle such as a step blocks the mover; points where the path rises are then
            reached before the step.
        began: position at the start of the path, if the mover has moved meanwhile.

    Cost: O(points) at first, then O(1).
    """
    cdef int count = points.shape[1]
    cdef PathProgress now
    cdef float place[3]
    cdef double at[3]
    cdef double first[3]
    cdef double stop[3]
    cdef PathState state
    read_progress(memory, &now)
    read_point(count, here, place)
    widen(place, at, 3)
    read_point(count, here if began is None else began, place)
    widen(place, first, 3)
    state = follow_points(
        &now, &points[0, 0], points.shape[0], count, at, first, arrival, falls, stands, is_blocked, stop)
    write_progress(memory, &now, count)
    return vector_of(count, stop) if state == GOING else here, PATH_STATES[state]

cdef object vector_of(int count, const double* place):
    if count == 3:
        return vector3(<float>place[0], <float>place[1], <float>place[2])
    return Vector2(place[0], place[1])

cdef int read_point(int count, place, float* out) except -1:
    out[2] = 0
    if type(place) is Vector3 and count == 3:
        memcpy(out, (<Vector3>place).v, 12)
    elif count == 3:
        out[0], out[1], out[2] = place
    else:
        out[0], out[1] = place
    return 0


ctypedef struct AgentMethods:        # of a NavigationAgent3D or 2D, and of the server of its map
    int count                        # of dimensions
    const void* get_map
    const void* get_target
    const void* set_target
    const void* get_next
    const void* get_path
    const void* set_velocity
    const void* set_offset           # of the path's height; this and the next in 3D only
    const void* map_normal
    const void* map_version
    const void* map_nearest
    int path_type
    void* tag
    void* server

cdef AgentMethods agents_in_space, agents_in_plane

cdef int open_path_following() except -1:
    agents_in_space.count = 3
    agents_in_space.get_map = need_bind("NavigationAgent3D", "get_navigation_map", HASH_NavigationAgent3D_get_navigation_map)
    agents_in_space.get_target = need_bind("NavigationAgent3D", "get_target_position", HASH_NavigationAgent3D_get_target_position)
    agents_in_space.set_target = need_bind("NavigationAgent3D", "set_target_position", HASH_NavigationAgent3D_set_target_position)
    agents_in_space.get_next = need_bind("NavigationAgent3D", "get_next_path_position", HASH_NavigationAgent3D_get_next_path_position)
    agents_in_space.get_path = need_bind("NavigationAgent3D", "get_current_navigation_path", HASH_NavigationAgent3D_get_current_navigation_path)
    agents_in_space.set_velocity = need_bind("NavigationAgent3D", "set_velocity", HASH_NavigationAgent3D_set_velocity)
    agents_in_space.set_offset = need_bind("NavigationAgent3D", "set_path_height_offset", HASH_NavigationAgent3D_set_path_height_offset)
    agents_in_space.map_normal = need_bind("NavigationServer3D", "map_get_closest_point_normal", HASH_NavigationServer3D_map_get_closest_point_normal)
    agents_in_space.map_version = need_bind("NavigationServer3D", "map_get_iteration_id", HASH_NavigationServer3D_map_get_iteration_id)
    agents_in_space.map_nearest = need_bind("NavigationServer3D", "map_get_closest_point", HASH_NavigationServer3D_map_get_closest_point)
    agents_in_space.path_type = T_PACKED_VECTOR3_ARRAY
    agents_in_space.tag = class_tag("NavigationAgent3D")
    agents_in_plane.count = 2
    agents_in_plane.get_map = need_bind("NavigationAgent2D", "get_navigation_map", HASH_NavigationAgent2D_get_navigation_map)
    agents_in_plane.get_target = need_bind("NavigationAgent2D", "get_target_position", HASH_NavigationAgent2D_get_target_position)
    agents_in_plane.set_target = need_bind("NavigationAgent2D", "set_target_position", HASH_NavigationAgent2D_set_target_position)
    agents_in_plane.get_next = need_bind("NavigationAgent2D", "get_next_path_position", HASH_NavigationAgent2D_get_next_path_position)
    agents_in_plane.get_path = need_bind("NavigationAgent2D", "get_current_navigation_path", HASH_NavigationAgent2D_get_current_navigation_path)
    agents_in_plane.set_velocity = need_bind("NavigationAgent2D", "set_velocity", HASH_NavigationAgent2D_set_velocity)
    agents_in_plane.map_version = need_bind("NavigationServer2D", "map_get_iteration_id", HASH_NavigationServer2D_map_get_iteration_id)
    agents_in_plane.path_type = T_PACKED_VECTOR2_ARRAY
    agents_in_plane.tag = class_tag("NavigationAgent2D")

cdef void* server_of(AgentMethods* methods) except NULL:
    """Return the NavigationServer, which is registered after extensions are initialized. ENGINE."""
    if methods.server == NULL:
        methods.server = gd_global_get_singleton(
            name_ptr("NavigationServer3D" if methods.count == 3 else "NavigationServer2D"))
        if methods.server == NULL:
            raise LookupError("the engine has no NavigationServer")
    return methods.server

cdef inline double away(const float* one, const float* other, int count) noexcept nogil:
    cdef double squares = 0
    cdef int axis
    for axis in range(count):
        squares += (<double>one[axis] - other[axis]) * (<double>one[axis] - other[axis])
    return sqrt(squares)

cdef bint find_on_map(uint64_t map_rid, const float* goal, float* on_map) except -1:
    """Write the position on a map in 3D right below or above a goal; return False if the map is beside it."""
    cdef void* server = server_of(&agents_in_space)
    cdef const void* arguments[2]
    cdef float normal[3]
    cdef float nearest[3]
    cdef double squares, off, above_m, beside_m
    cdef double to[3]
    cdef int axis
    arguments[0], arguments[1] = &map_rid, goal
    gd_object_method_bind_ptrcall(agents_in_space.map_normal, server, arguments, normal)
    squares = <double>normal[0] * normal[0] + <double>normal[1] * normal[1] + <double>normal[2] * normal[2]
    if not fabs(normal[1]) > WALL * sqrt(squares):           # the engine does not normalize it
        return False
    gd_object_method_bind_ptrcall(agents_in_space.map_nearest, server, arguments, nearest)
    for axis in range(3):
        to[axis] = <double>goal[axis] - nearest[axis]
    off = (to[0] * normal[0] + to[1] * normal[1] + to[2] * normal[2]) / squares
    for axis in range(3):
        to[axis] -= off * normal[axis]
    above_m = off * squares / normal[1]
    beside_m = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2])
    if beside_m > OVER_M or fabs(above_m) > MAP_M:
        return False
    on_map[0], on_map[1], on_map[2] = goal[0], <float>(goal[1] - above_m), goal[2]
    return True

def right_on_map(map_rid, Vector3 goal not None):
    """Return the position on a map of the NavigationServer3D right below or above a goal, None if the map is beside it.

    Args:
        map_rid: the RID of the map.
        goal: goal position.

    Cost: two small queries.
    """
    cdef float on_map[3]
    return vector3(on_map[0], on_map[1], on_map[2]) if find_on_map(map_rid, goal.v, on_map) else None


@cython.final
cdef class AgentPath:
    """The path of a NavigationAgent to a goal that may move.

    The agent finds the path, and another path if the mover leaves it; ``next`` follows its points as ``follow_path``
    does. In 3D path_height_offset of the agent is set to the height of the path above the mover, if "sets_offset"
    is true in the memory.

    Args:
        agent: the NavigationAgent3D or 2D.
        memory: of the walk. "aimed" holds the goal and the target of the agent, "path" the number of its points and
            both ends.
        falls: as in ``follow_path``.
    """
    cdef uint64_t agent, map_rid
    cdef AgentMethods* methods
    cdef dict memory
    cdef bint falls, has_aimed, climbs
    cdef float aimed[3]              # goal for which the agent was given its target
    cdef float target[3]
    cdef float first[3]              # of the agent's path
    cdef float last[3]
    cdef int64_t points              # of the path; 0 for no path

    def __init__(self, GDObject agent not None, dict memory not None, bint falls):
        cdef void* pointer = agent.live()
        self.methods = &agents_in_space
        if not is_of_class(pointer, agents_in_space.tag):
            self.methods = &agents_in_plane
            if not is_of_class(pointer, agents_in_plane.tag):
                raise TypeError(f"needs a NavigationAgent3D or 2D, got {agent!r}")
        self.agent, self.memory, self.falls = agent.id, memory, falls
        gd_object_method_bind_ptrcall(self.methods.get_map, pointer, NULL, &self.map_rid)
        aimed, path = memory.get("aimed"), memory.get("path")
        self.has_aimed, self.climbs = aimed is not None, bool(memory.get("climbs"))
        if self.has_aimed:
            read_point(self.methods.count, aimed[0], self.aimed)
            read_point(self.methods.count, aimed[1], self.target)
        if path is not None:
            self.points = path[0]
            read_point(self.methods.count, path[1], self.first)
            read_point(self.methods.count, path[2], self.last)

    def next(self, here, goal, double arrival, *, bint stands, bint is_blocked=False):
        """Return the next position to go to, and "going", "arrived" at the end of the path, or "off_path".

        Args:
            here, arrival, stands, is_blocked: as in ``follow_path``; a mover that is off its path gets another path
                in the next call.
            goal: goal position.
        """
        cdef float at[3]
        cdef float to[3]
        cdef double stop[3]
        cdef PathState state
        read_point(self.methods.count, here, at)
        read_point(self.methods.count, goal, to)
        state = self.find(at, to, arrival, stands, is_blocked, stop)
        return vector_of(self.methods.count, stop) if state == GOING else here, PATH_STATES[state]

    @property
    def end(self):
        """The end of the path, None without one."""
        cdef int axis
        return [self.last[axis] for axis in range(self.methods.count)] if self.points else None

    cdef bint is_known(self) noexcept:
        """Return whether there is a path whose next segment needs no climbing."""
        return self.has_aimed and self.points > 0 and not self.climbs

    cdef bint is_off(self, const float* goal, double left, double arrival) noexcept:
        """Return whether a goal at a distance is too far from the one that the agent has its target for."""
        return not self.has_aimed or away(goal, self.aimed, self.methods.count) > max(arrival / 2, AIM_SLACK * left)

    cdef bint has_target(self, void* agent) noexcept:
        cdef float target[3]
        gd_object_method_bind_ptrcall(self.methods.get_target, agent, NULL, target)
        return away(target, self.target, self.methods.count) <= SAME

    cdef bint is_same(self, void* agent) noexcept:
        """Return whether the agent has the target and the path as before; makes it update its path."""
        cdef uint64_t path[2]            # a packed array: OWNED
        cdef bint same
        if not self.has_target(agent):
            return False
        agent = self.update()
        if agent == NULL:
            return False
        same = self.read_path(agent, path) == self.points and self.has_ends(path)
        destructors[self.methods.path_type](path)
        return same

    cdef void* update(self) noexcept:
        """Make the agent update its path; return it. BORROWED; NULL if a script freed it."""
        cdef float place[3]
        gd_object_method_bind_ptrcall(self.methods.get_next, gd_object_get_instance_from_id(self.agent), NULL, place)
        return gd_object_get_instance_from_id(self.agent)

    cdef int64_t read_path(self, void* agent, uint64_t* path) noexcept:
        """Write the packed array of the path, OWNED by the caller; return the number of its points."""
        cdef int64_t points = 0
        path[0] = path[1] = 0
        gd_object_method_bind_ptrcall(self.methods.get_path, agent, NULL, path)
        packed_kinds[self.methods.path_type].size(path, NULL, &points, 0)
        return points

    cdef bint has_ends(self, uint64_t* path) noexcept:
        """Return whether a path with as many points has the same ends."""
        cdef PackedKind* kind = &packed_kinds[self.methods.path_type]
        cdef size_t size = 4 * self.methods.count
        return self.points > 0 and not memcmp(kind.element_const(path, 0), self.first, size) and not memcmp(
            kind.element_const(path, self.points - 1), self.last, size)

    cdef PathState find(self, const float* here, const float* goal, double arrival, bint stands, bint is_blocked,
                        double* stop) except *:
        """Write the next position to go to; ``is_known`` then tells whether the agent has a path."""
        cdef void* agent = gd_object_get_instance_from_id(self.agent)
        cdef const void* arguments[1]
        cdef int64_t version = 0
        cdef uint64_t path[2]            # a packed array: OWNED
        widen(here, stop, self.methods.count)
        arguments[0] = &self.map_rid
        gd_object_method_bind_ptrcall(self.methods.map_version, server_of(self.methods), arguments, &version)
        if agent == NULL or version == 0:        # no answers until the map is built
            return GOING
        if self.is_off(goal, away(goal, here, self.methods.count), arrival):
            self.aim(agent, goal)
        elif not self.has_target(agent):         # a load into a new scene, or a script changed it
            call_with(self.methods.set_target, agent, self.target)
        agent = self.update()
        if agent == NULL:
            return GOING
        points = self.read_path(agent, path)
        try:
            return self.follow(path, points, here, arrival, stands, is_blocked, stop)
        finally:
            destructors[self.methods.path_type](path)

    cdef int aim(self, void* agent, const float* goal) except -1:
        """Set the target of the agent: the place of the map right below or above the goal."""
        if self.methods.count == 2 or not find_on_map(self.map_rid, goal, self.target):
            memcpy(self.target, goal, 4 * self.methods.count)
        memcpy(self.aimed, goal, 4 * self.methods.count)
        self.has_aimed = True
        self.memory["aimed"] = [self.numbers(self.aimed), self.numbers(self.target)]
        call_with(self.methods.set_target, agent, self.target)
        return 0

    cdef list numbers(self, const float* place):
        cdef int axis
        return [place[axis] for axis in range(self.methods.count)]

    cdef PathState follow(self, uint64_t* path, int64_t points, const float* here, double arrival, bint stands,
                          bint is_blocked, double* stop) except *:
        cdef PackedKind* kind = &packed_kinds[self.methods.path_type]
        cdef PathProgress now
        cdef PathState state
        cdef double at[3]
        cdef double offset
        cdef int count = self.methods.count
        cdef void* agent
        if points == 0:                          # the map is still empty
            self.forget(False)
            return GOING
        if points != self.points or not self.has_ends(path):
            self.points = points
            memcpy(self.first, kind.element_const(path, 0), 4 * count)
            memcpy(self.last, kind.element_const(path, points - 1), 4 * count)
            self.memory["path"] = [points, self.numbers(self.first), self.numbers(self.last)]
            forget_progress(self.memory)
        read_progress(self.memory, &now)
        widen(here, at, count)
        state = follow_points(
            &now, <const float*>kind.element_const(path, 0), points, count, at, at, arrival, self.falls, stands,
            is_blocked, stop)
        write_progress(self.memory, &now, count)
        self.climbs = now.climbs
        agent = gd_object_get_instance_from_id(self.agent)
        if count == 3 and agent != NULL and self.memory.get("sets_offset"):
            offset = -now.above_m
            call_with(self.methods.set_offset, agent, &offset)
        if state == OFF_PATH:
            self.forget(True)
        return state

    cdef int forget(self, bint path) except -1:
        """Let the next call set the target of the agent again."""
        self.has_aimed = False
        self.memory.pop("aimed", None)
        if path:
            self.points = 0
            self.memory.pop("path", None)
        return 0
