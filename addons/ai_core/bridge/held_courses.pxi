# Turns of walks that need no decision, each in one crossing. GIL: kept; an agent may call scripts.

cdef double NO_TIME_S = 1e-9         # less is rounding

cdef double ASKS_TAKEN_S = 0.1       # time from one question whether a goal is taken to the next: less than a step

cdef float RISES_M = 0.5             # a next point so far above or below is on a slope or a link, on which each turn asks the path


cdef double TURNS_BEYOND_RAD = WHOLE_TURN / 4   # to its movement, beyond which an actor stands and turns first

cdef double TURNS_FIRST_RAD_S = 0.5  # speed of turning below which an actor walks while it turns: it would stand for long

cdef double TURNED_RAD = 0.01        # beyond it another has turned the actor, which then walks without facing ahead

cdef double TURNED_BY_ANOTHER = 99.0     # no angle: what "faces" of a memory is then


def turns_first(dict memory not None, double left, double faces, double most, double rate):
    """Return whether an actor that was turned to its movement stands for this turn, as it faces another way.

    It does not, also in the next turns, if another turns it back: it then strafes.

    Args:
        memory: of the walk: "faces" is the angle to which it was turned last, while it stands to turn.
        left: angle that is left to turn (rad).
        faces: angle to which it was turned now (rad).
        most: largest angle of the turn (rad).
        rate: speed of turning (rad/s).
    """
    if fabs(left) <= TURNS_BEYOND_RAD or rate < TURNS_FIRST_RAD_S:
        memory.pop("faces", None)
        return False
    known = memory.get("faces")
    if known is not None and fabs(remainder(faces - (most if left > 0 else -most) - known, WHOLE_TURN)) > TURNED_RAD:
        memory["faces"] = TURNED_BY_ANOTHER
        return False
    memory["faces"] = faces
    return True

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
    read_point(methods.coordinates, goal, to)
    return True

@cython.final
cdef class GoalWithin:
    """Whether the goal of an actor is within a horizontal distance.

    Call it with a dict: it returns True, False, or None if the actor was freed, or the goal has no place in its space.

    Args:
        actor: a Node3D or Node2D.
        key: key of the goal in the dict.
        reach: the distance; a goal there is within it.
        may_be_none: whether it is False, not None, for a goal that is None.
        needs: key of a node in the dict, without which the result is False; "" for none.
    """
    cdef uint64_t actor
    cdef const WalkMethods* methods
    cdef object key, needs
    cdef double reach
    cdef bint may_be_none

    def __init__(self, GDObject actor not None, key not None, double reach, bint may_be_none, str needs=""):
        cdef void* pointer = actor.live()
        self.methods = &walks_in_space
        if not is_of_class(pointer, walks_in_space.node_tag):
            self.methods = &walks_in_plane
            if not is_of_class(pointer, walks_in_plane.node_tag):
                raise TypeError(f"needs a Node3D or a Node2D, got {actor!r}")
        self.actor, self.key, self.reach, self.may_be_none, self.needs = actor.id, key, reach, may_be_none, needs

    def __call__(self, board not None):
        cdef void* actor = gd_object_get_instance_from_id(self.actor)
        cdef float here[3]
        cdef float to[3]
        cdef PyObject* goal
        cdef int up = self.methods.coordinates - 1
        if self.may_be_none:
            goal = PyDict_GetItemWithError(board, self.key)
            if goal != NULL and <object>goal is None:
                return False
        if self.needs:
            goal = PyDict_GetItemWithError(board, self.needs)
            if goal == NULL or not isinstance(<object>goal, GDObject) or \
                    gd_object_get_instance_from_id((<GDObject>goal).id) == NULL:
                return False
        if actor == NULL or not find_goal(self.methods, self.key, board, to):
            return None
        gd_object_method_bind_ptrcall(self.methods.get_position, actor, NULL, here)
        return hypot(to[0] - here[0], to[up] - here[up]) <= self.reach if isfinite(to[0]) and isfinite(to[up]) else None


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
    since the last turn (s): it returns False, and does not move the actor, if that turn must be decided. In frames
    without a turn, ``go_on`` moves the actor; the next turn moves it for the rest of its time.

    Args:
        actor: the Node3D or Node2D that is moved.
        goal: a position, a node that may move, or the key of one on ``board``.
        arrival: distance to the goal up to which the actor has not arrived.
        speed, turn_rate: of the actor, in units of the scene and radians per second.
        is_body: whether the actor is a CharacterBody, moved by move_and_slide().
        gravity: pull on a CharacterBody3D that floors carry (m/s²); 0 for others.
        memory: of the walk: "left" and "left_s", the place where and the time when it last made progress (s), are
            read and written if ``stuck_after_s`` is above 0; "walked_s" is the time of the next turn for which
            ``go_on``, or another walk before this one, has moved the actor (s).
        now_s: present time of the walk (s).
        stuck_after_s: time without progress after which the turn must be decided (s); 0 for no limit.
        applies: called every ``asks_every_s``: whether all else that the decision depended on is as it was; None
            to let the turn be decided then.
        board: dict with the goal, None if ``goal`` is the goal itself.
        moved: called with the velocity when it has changed by more than ``step``; None for nothing.
        step: change of the velocity, in units of the scene per second.
        steer: called with the wanted velocity and the position of the goal, returns the velocity with which the actor
            walks around others, or the wanted one; None where it does not, or its agent does.
        is_taken: called with the position of the goal, returns whether others may stand there and leave no room, so
            that the turn must be decided; None where that does not matter.
        taken_within: distance to the goal up to which ``is_taken`` is called.
        taken_after_s: if above 0, it is called where the actor has come no nearer in this time (s); since when, and
            the distance then, are "away_s" and "away" of the memory.

    Attributes:
        gone_on_s: time since the last turn that the next turn does not count, as the actor has walked (s).
    """
    cdef uint64_t actor
    cdef const WalkMethods* methods
    cdef bint is_body, avoids, is_over, had_turn, is_turning
    cdef readonly double gone_on_s
    cdef double speed, turn_rate, arrival, asks_every_s, asks_in_s, gravity, change
    cdef double now_s, left_s, stuck_after_s, taken_within, taken_after_s, asks_taken_in_s, away, away_s
    cdef object goal, board, moved, applies, steer, is_taken
    cdef AgentPath path
    cdef dict memory
    cdef SafeVelocity safe
    cdef float left[3]
    cdef float stop[3]
    cdef float told[3]               # velocity that ``moved`` was called with

    def __init__(self, GDObject actor not None, goal, double arrival, double speed, double turn_rate, bint is_body,
                 double gravity, dict memory not None, double now_s, double stuck_after_s, double asks_every_s,
                 applies=None, board=None, moved=None, double step=0, steer=None, is_taken=None,
                 double taken_within=0, double taken_after_s=0):
        cdef void* pointer = actor.live()
        self.actor, self.avoids = actor.id, False
        self.methods = &walks_in_space
        if not is_of_class(pointer, walks_in_space.node_tag):
            self.methods = &walks_in_plane
            if not is_of_class(pointer, walks_in_plane.node_tag):
                raise TypeError(f"needs a Node3D or a Node2D, got {actor!r}")
        if is_body and not is_of_class(pointer, self.methods.body_tag):
            raise TypeError(f"needs a CharacterBody, got {actor!r}")
        self.goal, self.board, self.moved, self.change, self.steer = goal, board, moved, step, steer
        self.arrival, self.speed, self.turn_rate = arrival, speed, turn_rate
        self.is_body, self.gravity, self.memory, self.now_s = is_body, gravity, memory, now_s
        self.applies, self.asks_every_s, self.asks_in_s, self.is_over = applies, asks_every_s, asks_every_s, False
        self.stuck_after_s = stuck_after_s
        self.is_taken, self.taken_within, self.taken_after_s = is_taken, taken_within, taken_after_s
        self.asks_taken_in_s = 0
        self.away, self.away_s = memory.get("away", INFINITY), memory.get("away_s", now_s)
        if stuck_after_s > 0:
            read_point(self.methods.coordinates, memory["left"], self.left)
            self.left_s = memory["left_s"]
        self.told[0] = NAN
        self.gone_on_s = memory.get("walked_s", 0.0)
        self.had_turn = self.gone_on_s == 0

    def along(self, AgentPath path not None, stop, SafeVelocity safe):
        """Follow the path of a NavigationAgent; return False if it has no next point now.

        Args:
            path: the path of the agent of the actor, which has found the next point.
            stop: the next point.
            safe: connected to the avoidance of the agent; None without avoidance.
        """
        if path.methods.count != self.methods.coordinates:
            raise TypeError("needs a NavigationAgent in as many dimensions as the actor")
        self.path, self.safe, self.avoids = path, safe, safe is not None
        read_point(self.methods.coordinates, stop, self.stop)
        return path.is_known()

    def end(self):
        """Let the next turn be decided; drop what may refer back to the walk."""
        self.is_over = True
        self.goal = self.board = self.moved = self.applies = self.steer = self.is_taken = None

    cdef object vector(self, const float* place):
        return vector3(place[0], place[1], place[2]) if self.methods.coordinates == 3 else Vector2(place[0], place[1])

    def __call__(self, double elapsed_s):
        cdef double rest_s = elapsed_s - self.gone_on_s
        self.had_turn = True
        if self.gone_on_s > 0 and rest_s <= NO_TIME_S:
            rest_s = 0
        if self.is_over or not (rest_s == 0 < self.gone_on_s or self.walk(rest_s)):
            return False
        if self.gone_on_s > 0:
            self.gone_on_s = 0
            self.memory.pop("walked_s", None)
        return True

    def go_on(self, double elapsed_s):
        """Move the actor in a frame without a turn (s); return False, and do not move it, if something is to be decided."""
        if not self.walk(elapsed_s):
            return False
        self.pass_by(elapsed_s)
        return True

    def pass_by(self, double elapsed_s):
        """Let the next turn not count the time of a frame (s)."""
        self.gone_on_s += elapsed_s
        self.memory["walked_s"] = self.gone_on_s

    cdef bint walk(self, double elapsed_s) except -1:
        """Move the actor for some time; return False, and do not move it, if something is to be decided."""
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
        if self.path is not None:
            agent = gd_object_get_instance_from_id(self.path.agent)
            if agent == NULL:
                return False
        self.asks_in_s -= elapsed_s
        if self.asks_in_s < 0:
            if self.applies is None or not self.applies():
                return False
            self.asks_in_s = self.asks_every_s
        if not self.has_progress(here, elapsed_s) or (self.is_taken is not None and self.asks_taken(to, left, elapsed_s)):
            return False
        if self.path is not None:
            if self.path.is_off(to, left, self.arrival) or not self.path.is_same(agent) or self.is_near_stop(actor, here):
                if not self.choose(actor, here, to):
                    return False
            actor, agent = gd_object_get_instance_from_id(self.actor), gd_object_get_instance_from_id(self.path.agent)
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
            velocity[axis] = <float>((<double>self.stop[axis] - <double>here[axis]) / length * self.speed)
        if self.turn_rate != 0 and self.has_to_turn(actor, velocity, elapsed_s):
            memset(velocity, 0, sizeof(velocity))
        if self.avoids:
            call_with(self.path.methods.set_velocity, agent, velocity)
            if self.safe.velocity is not None:
                read_point(self.methods.coordinates, self.safe.velocity, free)
                velocity[0], velocity[up] = free[0], free[up]
        elif self.steer is not None:
            read_point(count, self.steer(self.vector(velocity), self.vector(to)), velocity)
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
        # A step to and fro is no progress.
        if away(here, self.left, count) >= max(self.arrival / 2, 1.5 * self.speed * elapsed_s):
            memcpy(self.left, here, sizeof(self.left))
            self.left_s = self.now_s
            self.memory["left"] = [here[0], here[1], here[2]] if count == 3 else [here[0], here[1]]
            self.memory["left_s"] = self.now_s
        return self.now_s - self.left_s < self.stuck_after_s

    cdef bint has_to_turn(self, void* actor, const float* velocity, double elapsed_s) except -1:
        """Turn the actor to its movement; return whether it stands meanwhile, which is no lack of progress."""
        cdef double most = self.turn_rate * elapsed_s, left = turn_toward(actor, self.methods, velocity, most)
        if fabs(left) <= TURNS_BEYOND_RAD and not self.is_turning:
            return False
        stands = turns_first(self.memory, left, facing_of(actor, self.methods), most, self.turn_rate)
        self.is_turning = "faces" in self.memory
        if stands and self.stuck_after_s > 0:
            self.memory["left_s"] = self.left_s = self.now_s
        return stands

    cdef bint asks_taken(self, const float* to, double left, double elapsed_s) except -1:
        """Return whether the goal may be taken; not asked in each frame, as nobody comes far in between."""
        self.asks_taken_in_s -= elapsed_s
        if self.taken_after_s > 0:
            if self.now_s - self.away_s < self.taken_after_s:
                return False
            if left > self.away - self.arrival / 2 and self.is_taken(self.vector(to)):
                return True
            self.memory["away"], self.memory["away_s"] = self.away, self.away_s = left, self.now_s
            return False
        if left > self.taken_within or self.asks_taken_in_s > 0:
            return False
        if self.is_taken(self.vector(to)):
            return True                  # also if it is called again in this turn
        self.asks_taken_in_s = ASKS_TAKEN_S
        return False

    cdef bint is_near_stop(self, void* actor, const float* here) noexcept:
        """Return whether the actor may have reached the next point, or its way there rises."""
        cdef int up = self.methods.coordinates - 1
        cdef double left = hypot(self.stop[0] - here[0], self.stop[up] - here[up])
        cdef uint8_t is_blocked = 0
        if left <= self.arrival:
            return True
        if self.gravity == 0:
            return False
        if left <= BLOCKED_M:
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
        """Find the next point of the path; return False if there is none to go to on the ground."""
        cdef uint8_t is_blocked = 0
        cdef double stop[3]
        cdef int axis
        if self.gravity != 0:
            gd_object_method_bind_ptrcall(self.methods.is_on_wall, actor, NULL, &is_blocked)
        if self.path.find(here, to, self.arrival, True, is_blocked, stop) != GOING or not self.path.is_known():
            return False
        for axis in range(self.methods.coordinates):
            self.stop[axis] = <float>stop[axis]
        return True


def without_turn(list courses not None):
    """Return the HeldCourses that were not called since the last call of this function, and were not made since."""
    cdef HeldCourse course
    cdef list found = []
    for course in courses:
        if not course.had_turn:
            found.append(course)
        course.had_turn = False
    return found
