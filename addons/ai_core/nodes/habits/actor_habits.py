"""Bases of the built-in habits that move or turn a character."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from addons.ai_core.bridge.gd import (
    GoalWithin,
    HeldCourse,
    NodePath,
    RefusedValue,
    SafeVelocity,
    Variant,
    Vector2,
    Vector3,
    export,
    has_listeners,
    is_in_editor,
    node_path,
    signal,
    singleton,
    turns_first,
)
from addons.ai_core.nodes.characters.agent_places import is_in_2d
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.characters.sensor_feed import VALUES
from addons.ai_core.nodes.habits.built_in_habits import BuiltInHabit, is_gone
from addons.ai_core.nodes.habits.habit import tree_above
from addons.ai_core.nodes.habits.habit_condition import condition_of, wait
from addons.ai_core.nodes.habits.habit_events import EVENT, value_of
from addons.ai_core.nodes.scheduling.named_nodes import named_node
from addons.ai_core.nodes.walking.agent_walk import AgentWalk, agent_below
from addons.ai_core.nodes.walking.body_moving import GROUNDED, is_body, walk
from addons.ai_core.nodes.walking.floors import is_elsewhere
from addons.ai_core.nodes.walking.held_walks import HeldWalks
from addons.ai_core.nodes.walking.ticket_walk import TicketWalk
from addons.ai_core.nodes.walking.walking_crowd import ENLISTED
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import Status

POINTS = (Vector2, Vector3)

DEFAULT_SPEED, DEFAULT_SPEED_2D = 3.0, 100.0
"""Default speeds of habits that walk (m/s, px/s)."""

STUCK_AFTER_S = 3.0
"""Default time without progress after which a walking habit fails (s): longer than a door takes to open."""

VELOCITY_STEP = 0.01
"""Change of the velocity that is emitted, as a share of the speed (no unit)."""

GROUND_WITHIN_S = 0.25
"""Longest time until a navigation map has its regions (s); another thread adds them within a few frames."""

HELD_S = 1.0
"""Time from one comparison of what a held course depends on to the next (s): changed settings of the actor and its
agent, and new listeners of velocity_changed, are noticed this late; so is its squad by a member that waits at a place
of its patrol, and a squad that is disabled by a member that it held."""

CROWDED_S = 1.0
"""Time without coming nearer after which a character that follows another stands behind those around it (s): less, and
it would not walk around them to where there is room."""


class ActorHabit(BuiltInHabit):
    """Base of habits that move or turn the actor."""

    ON_ANY_SET = "settings_changed"

    def settings_changed(self) -> None:
        """Look up again what depends on properties."""

    @property
    def is_flat(self) -> bool:
        """Whether the actor is in 2D; False if the habit was freed before that was known."""
        known: bool | None = self.__dict__.get("_is_flat")
        if known is None and self.is_valid():
            tree = self._tree if self._tree is not None and self._tree.is_valid() else tree_above(self)
            known = is_in_2d(self if tree is None else tree.found_actor() or tree)
            if self.is_inside_tree() and not is_in_editor():
                self.__dict__["_is_flat"] = known       # where StoredValue looks it up
        return bool(known)

    def position_of_actor(self, actor: Any) -> Any:
        """Return the position of the actor; raise RefusedValue if it has none."""
        try:
            return actor.get_global_position()
        except AttributeError:
            name = f"'{actor.get_name()}' ({actor.get_class()})"
            raise RefusedValue(f"the actor {name} has no position; use a Node3D or a Node2D") from None

    def turn(self, actor: Any, toward: Any, here: Any, most: float) -> float:
        """Turn the actor toward a position by at most an angle (rad); return the angle that is left.

        A Node3D turns about the vertical axis, and looks along -z; a Node2D looks along x.
        """
        if isinstance(here, Vector2):
            wanted, faces = math.atan2(toward.y - here.y, toward.x - here.x), actor.get_global_rotation()
        else:
            wanted, faces = math.atan2(here.x - toward.x, here.z - toward.z), actor.get_global_rotation().y
        return self._turn(actor, faces, wanted, most)

    def turn_by(self, actor: Any, wanted: float, most: float) -> float:
        """Turn the actor toward a rotation by at most an angle (rad); return the angle that is left."""
        return self._turn(actor, self.rotation_of(actor), wanted, most)

    def _turn(self, actor: Any, faces: float, wanted: float, most: float) -> float:
        off = math.remainder(wanted - faces, math.tau)
        turn = max(-most, min(most, off))
        if turn:
            self.turn_to(actor, faces + turn)
        return off - turn

    def rotation_of(self, actor: Any) -> float:
        """Return the rotation of the actor (rad), in 3D about the vertical axis."""
        rotation = actor.get_global_rotation()
        return float(rotation if isinstance(rotation, float) else rotation.y)

    def turn_to(self, actor: Any, angle: float) -> None:
        """Set the rotation of the actor (rad)."""
        rotation = actor.get_global_rotation()
        actor.set_global_rotation(angle if isinstance(rotation, float) else Vector3(rotation.x, angle, rotation.z))


class TargetedHabit(ActorHabit):
    """Base of habits with a target: a node, a point, or by default the target of the tree's sensor.

    While the value of the target on the blackboard is null, the habit does not begin, and fails if it runs.
    """

    SENSED = "target_position"
    """Value of the sensor that is used if no target is set."""

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        yield from self.missing("target_node")
        tree = tree_above(self)
        has_target = self.target_node or self._key() or self._has_point()
        if not has_target and tree is not None and not tree.sensor:
            yield ("has no target; set target_node, target_key or target_point, or set sensor of the HabitTree to use"
                   " its target")

    def gate_keys(self) -> tuple[str, ...] | None:
        key = "" if self.target_node or self._has_point() else self._key() or self.SENSED
        if not key or key.partition(".")[0] == "event":
            return None
        return (key,) if self._tree.sensor and key in VALUES else ()

    REFUSAL = "no target"

    def may_begin(self, run: HabitContext) -> bool:
        return run.owner.get_value(self._key() or self.SENSED, ABSENT) is not None

    def goal_and_position(self, actor: Any, run: HabitContext) -> tuple[Any, Any]:
        """Return the positions of the target and of the actor; the first is None while the target is null.
        """
        here = self.position_of_actor(actor)
        target = self._target(run)
        if target is None:
            return None, here
        try:
            goal = target if isinstance(target, POINTS) else target.get_global_position()
        except AttributeError:
            raise RefusedValue(
                f"{self._targets_name()} must be a Node3D, a Node2D or a point, got {target!r}") from None
        if not all(map(math.isfinite, goal)):
            raise RefusedValue(f"{self._targets_name()} must be a finite position, got {goal!r}")
        if type(goal) is type(here):
            return goal, here
        if isinstance(target, Vector3):
            return Vector2(target.x, target.y), here
        raise RefusedValue(
            f"{self._targets_name()} must be a node or a point in {len(tuple(here))}D, like the actor, got {target!r}")

    def is_within(self, run: HabitContext, reach: float, needs: str = "") -> bool:
        """Return whether the target is within a horizontal distance; ``gate`` then answers, where it can.

        ``needs`` is the key of a node without which it is not; "" for none.
        """
        if is_gone(run) or (needs and run.owner.get_value(needs) is None):
            return False
        key = "" if self.target_node else self.target_on(run, "")[0]
        if key:
            is_sensed = bool(self._tree.sensor) and key in VALUES
            self.gate = GoalWithin(self._tree.actor_node(), key, reach, is_sensed, needs)
        goal, here = self.goal_and_position(self._tree.actor_node(), run)
        return goal is not None and flat_distance(goal, here) <= reach

    def note_tree(self) -> None:
        self.gate = None
        super().note_tree()  # type: ignore[misc]

    def target_on(self, run: HabitContext, place: Any) -> tuple[Any, dict[str, Any] | None]:
        """Return the target: its node, or its key and the blackboard; otherwise ``place``."""
        node = self.node_of("target_node")
        if node is not None:
            return node, None
        key = "" if self._has_point() else self._key() or self.SENSED
        return (key, run.blackboard) if key and key.partition(".")[0] != EVENT else (place, None)

    def settings_changed(self) -> None:
        super().settings_changed()
        self.gate = None

    def _targets_name(self) -> str:
        return f"'{self._key()}'" if self._key() and not self.target_node else "its target"

    def _key(self) -> str:
        key: str = self.target_key
        return key

    def _has_point(self) -> bool:
        """Return whether target_point decides."""
        return not self._key() and self.target_point is not None

    def _target(self, run: HabitContext) -> Any:
        found = self.node_of("target_node")
        if found is not None:
            return found
        if self._has_point():
            return self.target_point
        key = self._key() or self.SENSED
        found = value_of(run, key)
        if found is None and not (self._tree.sensor and key in VALUES):
            if not self._key():
                raise RefusedValue(next(self.setting_errors(), "has no target"))
            raise RefusedValue(
                f"'{key}' is not on the blackboard, or its node was freed; set it to a node or a point")
        return found


class WalkingHabit(ActorHabit):
    """Base of habits that walk: along the path of a PathService or NavigationAgent, otherwise in a straight line."""

    speed = export(
        float, DEFAULT_SPEED, range=(0.01, 1000, 0.01), or_greater=True, unit="m/s", default_2d=DEFAULT_SPEED_2D,
        group="Movement", doc="Speed of the actor.")
    turn_speed = export(
        float, math.tau, range=(0, 100, 0.01), or_greater=True, as_degrees=True, unit="°/s", default_2d=0.0,
        doc="Speed at which the actor turns to its direction of movement; 0, the default in 2D, does not turn it."
            " While it faces more than 90° away it stands, unless it turns at less than 29°/s or is turned back.")
    arrival_distance = export(
        float, 0.5, range=(0.001, 100, 0.001), or_greater=True, unit="m", default_2d=8.0,
        doc="Distance to the target at which the actor has arrived.")
    paths = export(
        NodePath, NodePath(""), hint=node_path("PathService"),
        doc="PathService that finds the paths. During a search the actor moves by the fallback of the service. Empty:"
        " the NavigationAgent below the actor, if there is one.")
    stuck_after = export(
        float, STUCK_AFTER_S, range=(0, 60, 0.1), or_greater=True, unit="s",
        doc="Time without progress after which the habit fails, for example at a closed door; 0 means no limit.")

    avoidance = export(
        bool, True,
        doc="If true, a CharacterBody walks around other characters that habits and squads move, with the avoidance of"
            " its NavigationAgent if that is enabled; otherwise without regard to walls and edges of floors. Where such"
            " characters stand at its goal, it stops beside them, and has arrived.")

    velocity_changed = signal(
        ("velocity", Variant),
        doc="Emitted when the velocity of the actor changes, a Vector3 or Vector2, for its animation. For a"
            " CharacterBody it is the velocity after collisions. It is zero when the actor stands, when its squad moves"
            " it, and when the habit ends.")

    walks = True
    _known_agent: Any = None
    _velocity: Any = None           # emitted last
    _safe: SafeVelocity | None = None   # of the avoidance that is connected
    _avoiding: Any = None           # the agent with that avoidance
    held: HeldCourse | None = None     # in the run with this memory
    _held_in: dict[str, Any] | None = None
    _held_by: HeldWalks | None = None
    _set_up_for: dict[str, Any] | None = None      # memory of the walk for which the agent is set up

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        yield from self.missing("paths")

    def goal_on(self, run: HabitContext, goal: Any) -> tuple[Any, dict[str, Any] | None]:
        """Return the goal of a course: ``goal``, a node or a key, and the blackboard of the key."""
        return goal, None

    def names_of_course(self, run: HabitContext) -> tuple[str, ...] | None:
        """Return the values that end a course when they change; None if the tick decides in every turn."""
        return ()

    def settings_changed(self) -> None:
        super().settings_changed()
        if self.held is not None:
            walks = self._held_by
            self.end_course()
            walks.decide(self)      # type: ignore[union-attr]

    def goes_to_a_place(self, run: HabitContext) -> bool:
        """Return whether the goal is a place: where others stand there, the actor has arrived beside them."""
        return True

    def crowded_after_s(self) -> float:
        """Return the time without coming nearer after which it matters who stands at the goal; 0: at once (s)."""
        return 0.0

    def crowded_at(self) -> float:
        """Return the distance to the goal within which others stand at it."""
        return float(self.arrival_distance)

    def crowd_at(self, run: HabitContext, goal: Any, here: Any) -> int:
        """Return how many characters stand at the goal, if they leave the actor no room; otherwise 0."""
        if not self.avoidance or distance(goal, here) > self._crowded_within() or self.obeyed(run) is not None:
            return 0
        return int(self._tree.walker.standing_at(goal, self.crowded_at()))

    def _crowded_within(self) -> float:
        """Return the distance to the goal up to which it matters who stands there."""
        crowding = self._tree.walker.crowding
        return math.inf if crowding and self.crowded_after_s() else float(crowding and self.arrival_distance + crowding)

    def obeyed(self, run: HabitContext) -> Any:
        """Return the SquadMember of the actor if the habit walks to its place in an order, which moves; else None."""
        return self._tree.walker.member if run.memory.get("obeys") else None

    def reach(self, run: HabitContext) -> float:
        """Return the distance to its goal at which the actor has arrived."""
        member = self.obeyed(run)
        return float(self.arrival_distance if member is None else min(self.arrival_distance, member.reach))

    def end_course(self) -> None:
        """Decide everything in the next turn."""
        held, self.held = self.held, None
        if held is not None:
            self._held_by.let_go(held)      # type: ignore[union-attr]
            held.end()

    def walks_on(self) -> bool | None:
        """Return whether the actor may walk without a turn of the tree; None if time does not pass for the tree."""
        member = None if self._tree.core is None else self._tree.core.member
        if member is None or member.is_paused or not self._tree.may_run_group():
            return None
        return not self._is_bound()

    def goal_between(self, run: HabitContext) -> Any:
        """Return the position to which the actor walks between two turns; None if the next turn decides."""
        return run.memory.get("goal")

    def walk_between(self, elapsed_s: float) -> bool:
        """Decide how to walk on, and walk, in a frame without a turn of the tree (s); return whether to call it again.

        It is not called again once a course is held, or where the next turn has to decide.
        """
        run = self._run  # type: ignore[attr-defined]
        if run is None or self.paths or self.obeyed(run) is not None:
            return False
        if run.memory.get("has_rested") or (run.memory.get("has_agent") and not run.memory.get("has_ground")):
            return False
        if self._is_bound():
            run.memory["walked_s"] = run.memory.get("walked_s", 0.0) + elapsed_s
            return True
        goal = self.goal_between(run)
        return goal is not None and self.walk_to(run, goal, elapsed_s) is Status.RUNNING and self.held is None

    def set_out(self, run: HabitContext, goal: Any) -> None:
        """Decide at the end of a turn how to walk to a position, from the next frame on."""
        run.memory["has_rested"] = True
        self.walk_to(run, goal)

    def note_tree(self) -> None:
        self.end_course()

    def begin_walk(self, run: HabitContext) -> None:
        """Look up how the actor moves; called when the habit begins."""
        actor = self._tree.actor_node()
        self._tree.walker.take(self._tree, actor)
        agent = None if self.paths else self._agent(actor)
        run.memory["has_agent"], run.memory["is_body"] = agent is not None, is_body(actor)
        self._set_up(run, agent)

    def _set_up(self, run: HabitContext, agent: Any) -> None:
        """Set up the agent for a walk that begins, or that was loaded."""
        if agent is not None:
            self._set_up_for = run.memory
            AgentWalk(agent, run.memory, is_flat=self.is_flat).begin(self.reach(run))

    def was_loaded(self) -> None:
        """Decide everything anew; the agent is set up again for the loaded walk."""
        self.end_course()
        before, self._set_up_for = self._set_up_for, None
        agent = None if before is None else self._agent(self._tree.actor_node())
        if agent is not None:
            AgentWalk(agent, before).end()

    def _waits_for_ground(self, actor: Any, run: HabitContext) -> bool:
        """Return whether the actor waits for its navigation map; if the map gets no regions, it walks straight."""
        if not run.memory.get("has_agent") or run.memory.get("has_ground"):
            return False
        agent = self._agent(actor)
        if agent is None:
            return False
        server = singleton("NavigationServer2D" if actor.is_class("Node2D") else "NavigationServer3D")
        if len(server.map_get_regions(agent.get_navigation_map())):
            run.memory["has_ground"] = True
            return False
        waited_s = run.kept["waited_for_ground_s"] = run.kept.get("waited_for_ground_s", 0.0) + run.elapsed_s
        if waited_s < GROUND_WITHIN_S:
            return True
        run.memory["has_agent"] = False
        return False

    def walk_to(self, run: HabitContext, goal: Any, between_s: float | None = None) -> Status:
        """Walk to a position for one turn; FAILED if no path leads there, or the actor is stuck.

        While its squad moves the actor, it waits. The time since the last turn does not count if the actor stood then.

        Args:
            run: the run.
            goal: the position.
            between_s: time to walk in a frame between two turns (s); None in a turn.
        """
        if between_s is None:
            self._tree.walks.forget(self)
            if self._keep_course(run) or self.waits_for_squad(run):
                return Status.RUNNING
        actor = self._tree.actor_node()
        here = self.position_of_actor(actor)
        if distance(goal, here) <= self.reach(run):
            return Status.SUCCEEDED
        if not self.crowded_after_s() and self.crowd_at(run, goal, here) and self.goes_to_a_place(run):
            return Status.SUCCEEDED
        if self._waits_for_ground(actor, run):
            run.memory["has_rested"] = True
            return Status.RUNNING
        if self._set_up_for is None and run.memory.get("has_agent"):
            self._set_up(run, self._agent(actor))
        is_flat = isinstance(here, Vector2)
        falls = self._moves_body(run) and not is_flat and actor.get_motion_mode() == GROUNDED
        path = self._walk(actor, run, is_flat=is_flat, falls=falls)
        walked_s = run.memory.pop("walked_s", 0.0)
        if between_s is not None:
            left_s = turn_s = between_s
        elif run.memory.pop("has_rested", False):
            left_s = turn_s = 0.0
        else:
            left_s = turn_s = max(0.0, run.elapsed_s - walked_s)
        first, stands = here, not falls or actor.is_on_floor()
        is_blocked = falls and actor.is_on_wall()
        stop, came = self._next(path, here, goal, run, falls, stands, is_blocked)
        turns = came == "going" and self.turn_speed and self._turns_first(actor, stop, here, left_s, run)
        while came == "going":
            left_s -= self._go(actor, here, here if turns else stop, goal, run, left_s, falls=falls)
            if left_s <= 0 or turns:
                if between_s is not None:
                    run.memory["walked_s"] = walked_s + between_s
                status = self._check_stuck(first, stop, run, turn_s)
                if status is Status.RUNNING:
                    self._walk_on(actor, stop, goal, path, run, stands=stands, is_turn=between_s is None)
                return status
            at, here, stands = _point_ahead(run.memory), actor.get_global_position(), not falls or actor.is_on_floor()
            is_blocked = falls and actor.is_on_wall()
            stop, came = self._next(path, here, goal, run, falls, stands, is_blocked)
            if came == "going" and _point_ahead(run.memory) == at:
                return self._check_stuck(first, stop, run, turn_s)
        return Status.SUCCEEDED if came == "arrived" else Status.FAILED

    def _walk_on(
        self, actor: Any, stop: Any, goal: Any, path: Any, run: HabitContext, *, stands: bool, is_turn: bool,
    ) -> None:
        """Hold the course after a walk of this turn, or of a frame between two turns."""
        if stands:
            self._hold_course(actor, stop, goal, path, run)
            if self.held is not None and is_turn:
                self._follow(run)
        elif is_turn:
            self._tree.walks.decide(self, had_turn=True)     # in the air

    def _turns_first(self, actor: Any, stop: Any, here: Any, left_s: float, run: HabitContext) -> bool:
        """Turn the actor to its movement; return whether it stands meanwhile, as it faces another way."""
        most = self.turn_speed * left_s
        left = self.turn(actor, stop, here, most)
        stands = turns_first(run.memory, left, self.rotation_of(actor), most, self.turn_speed)
        if stands:                          # which is no lack of progress
            run.memory["left"], run.memory["left_s"] = list(here), run.tree.seconds
        return bool(stands)

    def _hold_course(self, actor: Any, stop: Any, goal: Any, path: Any, run: HabitContext) -> None:
        """Hold the course in the next turns, in one call each, until something is to be decided."""
        if run.memory.get("climbs") or isinstance(path, TicketWalk) or self.obeyed(run) is not None:
            return
        agent = None if path is None else self._agent(actor)
        settings = gravity, _, is_heard, _, steers = self._settings_of_course(actor, agent, run)
        if gravity == 0:
            return
        place, board = self.goal_on(run, goal)
        crowded_within = self._crowded_within()
        asks = crowded_within and self.avoidance and (self.crowded_after_s() or self.goes_to_a_place(run))
        held = HeldCourse(
            actor, place, self.arrival_distance, self.speed, self.turn_speed, self._moves_body(run), gravity or 0.0,
            run.memory, run.tree.seconds + run.memory.get("walked_s", 0.0), self.stuck_after, HELD_S,
            lambda: self._settings_of_course(actor, agent, run) == settings,
            board, self._emit_velocity if is_heard else None, VELOCITY_STEP * self.speed,
            self._tree.walker.steering(self.speed) if steers else None,
            (lambda goal: self._tree.walker.standing_at(goal, self.crowded_at())) if asks else None,
            crowded_within, self.crowded_after_s())
        if path is not None and not held.along(path.path, stop, self._safe):
            return
        self.held, self._held_in, self._held_by = held, run.memory, self._tree.walks
        self._held_by.hold(held, self)

    def _settings_of_course(
        self, actor: Any, agent: Any, run: HabitContext,
    ) -> tuple[float | None, bool, bool, Any, bool]:
        """Return what a held course depends on besides its goal and path.

        These are the pull on an actor that floors carry (m/s²), None for others; whether it uses the avoidance of its
        agent; whether velocity_changed is connected; the SquadMember of the actor; and whether it walks around others.
        """
        falls = self._moves_body(run) and not self.is_flat and actor.get_motion_mode() == GROUNDED
        avoids = agent is not None and self.avoidance and agent.get_avoidance_enabled()
        return (-actor.get_gravity().y if falls else None, bool(avoids), has_listeners(self, "velocity_changed"),
                self._tree.walker.member, self._steers())

    def _keep_course(self, run: HabitContext) -> bool:
        """Walk on as in the turn before; return False, and do nothing, if something is to be decided."""
        if self.held is None:
            return False
        if self._held_in is not run.memory or self._is_bound() or not self.held(run.elapsed_s):
            self.end_course()
            return False
        self._follow(run)
        return True

    def _follow(self, run: HabitContext) -> None:
        """Let the course act in place of the next ticks, unless they decide more."""
        names, condition = self.names_of_course(run), condition_of(run)
        limits = ((), math.inf) if condition is None else condition.limits(run)
        if names is None or limits is None:
            return
        course, member = self.held, self._tree.walker.member
        if member is None:
            run.follow(course, *names, *limits[0], ENLISTED, at_most_s=limits[1])
        else:
            run.follow(lambda elapsed_s: not member.is_bound() and course(elapsed_s), *names, *limits[0],
                       at_most_s=limits[1])

    def waits_for_squad(self, run: HabitContext) -> bool:
        """Return whether the squad of the actor moves it or keeps it at its place; the habit then stands."""
        member = self._tree.walker.member
        if member is None or not member.is_bound():
            return False
        if self.stand(run) and not member.is_moved():
            wait(run, HELD_S, (ENLISTED,))
        return True

    def _is_bound(self) -> bool:
        member = self._tree.walker.member
        return member is not None and bool(member.is_bound())

    def _steers(self) -> bool:
        """Return whether the actor walks around other characters without the avoidance of an agent."""
        return self._tree.walker.crowd is not None and self._avoiding is None and bool(self.avoidance)

    def stand(self, run: HabitContext) -> bool:
        """Stop the actor, and reset the time without progress; return False if it is in the air, where it falls."""
        if self.held is not None:
            self.end_course()
        run.memory["has_rested"] = True
        run.memory.pop("walked_s", None)
        run.memory.pop("left", None)
        run.memory.pop("away_s", None)
        if self._velocity is not None:
            self._emit_standing()
        member = self._tree.walker.member
        if not self._moves_body(run) or (member is not None and member.is_moved()):
            return True
        actor = self._tree.actor_node()
        velocity = actor.get_velocity()
        if isinstance(velocity, Vector2):
            actor.set_velocity(Vector2(0, 0))
            return True
        actor.set_velocity(Vector3(0, velocity.y, 0))
        if actor.get_motion_mode() != GROUNDED or actor.is_on_floor():
            return True
        walk(actor, Vector3(0, 0, 0), run.elapsed_s, falls=True, climbs=False)
        return bool(actor.is_on_floor())

    def exit(self, run: HabitContext) -> None:
        self.end_course()
        self._tree.walks.forget(self)
        self._end_avoidance()        # first: the tree may be gone
        actor = self._tree.actor_node()
        service = named_node(self, "paths")
        agent = self._agent(actor) if run.memory.get("has_agent") else None
        if service is not None:
            TicketWalk(service, run.memory, self).end()
        elif agent is not None:
            AgentWalk(agent, run.memory).end()
        self._set_up_for = None
        if self._moves_body(run):
            velocity = actor.get_velocity()
            actor.set_velocity(Vector3(0, velocity.y, 0) if isinstance(velocity, Vector3) else Vector2(0, 0))
        self._emit_standing()

    def on_map(self, place: Any, within: float) -> Any:
        """Return the nearest position on the ground of the actor, None if there is none within a distance.

        It is the ground of ``paths``, or the navigation map of the actor's agent; without either, the place itself.
        """
        service = self.node_of("paths")
        if service is not None:
            return service.nearest_place(place, within, is_goal=True)
        agent = self._agent(self._tree.actor_node())
        if agent is None:
            return place
        server = singleton("NavigationServer2D" if isinstance(place, Vector2) else "NavigationServer3D")
        on = agent.get_navigation_map()
        has_ground = server.map_get_iteration_id(on) and len(server.map_get_regions(on))
        return server.map_get_closest_point(on, place) if has_ground else place

    def _walk(self, actor: Any, run: HabitContext, *, is_flat: bool, falls: bool) -> Any:
        """Return the TicketWalk or AgentWalk to follow, None for a straight line."""
        service = self.node_of("paths")
        if service is not None:
            return TicketWalk(service, run.memory, self, falls=falls)
        agent = self._agent(actor) if run.memory["has_agent"] else None
        return None if agent is None else AgentWalk(agent, run.memory, is_flat=is_flat, falls=falls)

    def _next(
        self, walk: Any, here: Any, goal: Any, run: HabitContext, falls: bool, stands: bool, is_blocked: bool,
    ) -> tuple[Any, str]:
        """Return the next point, and "going", "arrived" or "failed"."""
        if isinstance(walk, TicketWalk):
            step = self.speed * run.elapsed_s
            return walk.next(here, goal, self.reach(run), step, stands=stands, is_blocked=is_blocked)
        if walk is not None:
            came: tuple[Any, str] = walk.next(
                here, goal, self.reach(run), stands=stands, is_blocked=is_blocked)
            return came
        if not falls:
            return goal, "going"
        is_there = stands and not is_elsewhere(goal, here, self.reach(run))
        # a goal on the same floor counts as being at the height of the actor's origin
        return Vector3(goal.x, here.y, goal.z), "arrived" if is_there else "going"

    def _go(
        self, actor: Any, here: Any, stop: Any, goal: Any, run: HabitContext, left_s: float, *, falls: bool,
    ) -> float:
        """Move to a point within the rest of this turn; return how much time that took (s).

        If the path continues from there, the actor keeps its speed; otherwise it slows down to arrive with the turn.
        """
        offset = [to - at for to, at in zip(stop, here, strict=True)]
        length = math.sqrt(sum(one * one for one in offset))
        needed_s = length / self.speed
        taken_s = needed_s if needed_s < left_s and run.memory.get("has_more", False) else left_s
        agent = self._agent(actor) if run.memory.get("has_agent") else None
        avoids = agent is not None and self.avoidance and agent.get_avoidance_enabled()
        if not avoids and not self._moves_body(run):
            share = min(1.0, taken_s / (needed_s or 1.0))
            if taken_s and has_listeners(self, "velocity_changed"):
                self._emit_velocity(type(here)(*(one * share / taken_s for one in offset)))
            actor.set_global_position(type(here)(*(at + one * share for at, one in zip(here, offset, strict=True))))
            return taken_s
        speed = self.speed if needed_s >= taken_s else length / (taken_s or 1.0)
        velocity = type(here)(*(one / (length or 1.0) * speed for one in offset))
        if avoids:
            velocity, taken_s = self._avoid(agent, velocity), left_s
        elif self.avoidance and (row := self._tree.walker.row) is not None:
            velocity, taken_s = self._tree.walker.crowd.steer(row, velocity, self.speed, goal), left_s
        if not self._moves_body(run):
            actor.set_global_position(here + velocity * taken_s)
            if has_listeners(self, "velocity_changed"):
                self._emit_velocity(velocity)
            return taken_s
        walk(actor, velocity, taken_s, falls=falls, climbs=falls and run.memory.get("climbs", False))
        if has_listeners(self, "velocity_changed"):
            self._emit_velocity(actor.get_velocity())
        return taken_s

    def _emit_velocity(self, velocity: Any) -> None:
        """Emit a velocity that differs from the one emitted last; an actor that has not walked stands."""
        if self._velocity is None and not any(velocity):
            return
        if self._velocity is None or distance(self._velocity, velocity) > VELOCITY_STEP * self.speed:
            self._velocity = velocity
            self.velocity_changed.emit(velocity)

    def _emit_standing(self) -> None:
        """Emit the velocity of an actor that stands, if another was emitted before."""
        velocity, self._velocity = self._velocity, None
        if velocity is not None and any(velocity) and self.is_valid():  # type: ignore[attr-defined]
            self.velocity_changed.emit(velocity * 0.0)

    def _avoid(self, agent: Any, velocity: Any) -> Any:
        """Hand the wanted velocity to the avoidance of the agent; return the safe velocity that it computed last."""
        if self._safe is None or self._avoiding != agent:
            self._end_avoidance()
            self._safe, self._avoiding = SafeVelocity(), agent
            agent.connect("velocity_computed", self._safe)
        agent.set_velocity(velocity)
        safe = self._safe.velocity
        if safe is None:
            return velocity
        return Vector3(safe.x, velocity.y, safe.z) if isinstance(velocity, Vector3) else safe

    def _end_avoidance(self) -> None:
        agent, self._avoiding, safe, self._safe = self._avoiding, None, self._safe, None
        if agent is not None and agent.is_valid():
            agent.disconnect("velocity_computed", safe)

    def _check_stuck(self, here: Any, goal: Any, run: HabitContext, elapsed_s: float) -> Status:
        """Return FAILED if the actor has made no progress for ``stuck_after``, else RUNNING."""
        if self.stuck_after == 0 or self.obeyed(run) is not None:
            return Status.RUNNING
        memory, now_s = run.memory, run.tree.seconds
        least = max(self.arrival_distance / 2, 1.5 * self.speed * elapsed_s)        # a step to and fro is no progress
        if goal == here or "left" not in memory or distance(memory["left"], here) >= least:
            memory["left"], memory["left_s"] = list(here), now_s
        return Status.FAILED if self.is_stuck(run) else Status.RUNNING

    def is_stuck(self, run: HabitContext) -> bool:
        """Return whether the actor has walked without progress for ``stuck_after``."""
        memory = run.memory
        return bool(self.stuck_after and "left" in memory and (
            run.tree.seconds - memory["left_s"] >= self.stuck_after))

    def _moves_body(self, run: HabitContext) -> bool:
        return bool(run.memory.get("is_body"))       # missing where it could not begin

    def _agent(self, actor: Any) -> Any:
        """Return the navigation agent below the actor, None if there is none."""
        known = self._known_agent
        if known is None or not known.is_valid() or not actor.is_ancestor_of(known):
            known = self._known_agent = agent_below(actor)
        return known


def _point_ahead(memory: dict[str, Any]) -> tuple[Any, Any]:
    """Return an identifier of the point of its path that a walk goes to, which changes when the point is reached."""
    return memory.get("step"), memory.get("join")


def distance(one: Any, other: Any) -> float:
    return math.dist(tuple(one), tuple(other))


def flat_distance(one: Any, other: Any) -> float:
    """Return the distance between two positions; in 3D the horizontal one."""
    first, second = tuple(one), tuple(other)
    return math.hypot(first[0] - second[0], first[-1] - second[-1])
