"""Built-in habits that move or turn a character."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from addons.ai_core.bridge.gd import (
    NodePath,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    is_in_editor,
    node_path,
)
from addons.ai_core.nodes.characters.agent_places import is_in_2d
from addons.ai_core.nodes.habits.built_in_habits import BuiltInHabit
from addons.ai_core.nodes.habits.habit import Habit, tree_above
from addons.ai_core.nodes.habits.habit_events import value_of
from addons.ai_core.nodes.walking.agent_walk import AgentWalk
from addons.ai_core.nodes.walking.body_moving import is_body, walk
from addons.ai_core.nodes.walking.path_follower import point_ahead
from addons.ai_core.nodes.walking.path_height import GROUNDED, is_elsewhere
from addons.ai_core.nodes.walking.ticket_walk import TicketWalk
from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habits import Status

POINTS = (Vector2, Vector3)

DEFAULT_SPEED, DEFAULT_SPEED_2D = 3.0, 100.0
"""Default speeds of a HabitMoveTo (m/s, px/s)."""


class TargetedHabit(BuiltInHabit):
    """Base of habits that have a node or a point as their target."""

    @property
    def is_flat(self) -> bool:
        """Whether the actor is in 2D."""
        known: bool | None = self.__dict__.get("_is_flat")
        if known is None:
            tree = tree_above(self)
            known = is_in_2d(self if tree is None else tree.get_node_or_null(tree.actor) or tree)
            if self.is_inside_tree() and not is_in_editor():
                self.__dict__["_is_flat"] = known
        return known

    def setting_errors(self) -> Iterator[str]:
        yield from self.missing("target_node")

    def goal_and_position(self, actor: Any, run: HabitContext) -> tuple[Any, Any]:
        """Return the positions of the target (the node, the value of the key, or the point) and of the actor."""
        try:
            here = actor.get_global_position()
        except AttributeError:
            name = f"'{actor.get_name()}' ({actor.get_class()})"
            raise RefusedValue(f"the actor {name} has no position; use a Node3D or a Node2D") from None
        target = self._target(run)
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

    def _targets_name(self) -> str:
        return f"'{self.target_key}'" if self.target_key and not self.target_node else "its target"

    def _target(self, run: HabitContext) -> Any:
        found = self.node_at(self.target_node)
        if found is None and self.target_key:
            found = value_of(run, self.target_key)
            if found is None:
                raise RefusedValue(
                    f"'{self.target_key}' is not on the blackboard, or its node was freed; set it to a node or a point")
        return self.target_point if found is None else found


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg")
class HabitMoveTo(TargetedHabit, Habit):
    """Moves the actor to a target: along the path of a PathService or NavigationAgent, otherwise in a straight line.

    A CharacterBody is moved by its velocity and move_and_slide(), so its AIScheduler must update in physics; any
    other node is moved by its position. A CharacterBody3D that is not on the floor falls, except where its path rises,
    as over steps and up ladders; with the motion mode floating it flies. The habit succeeds when the actor arrives,
    and fails if no path leads to the target.
    """

    target_node = export(NodePath, NodePath(""), group="Target", doc="Node to go to; it is followed if it moves.")
    target_key = export(
        str, "", doc="Blackboard key of a node or point to go to, or event.position: that of the event on which the"
            " habit, or one above it, began; used without target_node.")
    target_point = export(
        Variant, Vector3(0, 0, 0), is_point=True, default_2d=Vector2(0, 0),
        doc="Point to go to, a Vector3, in 2D a Vector2; used without target_node and target_key.")
    speed = export(
        float, DEFAULT_SPEED, range=(0.01, 1000, 0.01), or_greater=True, unit="m/s", default_2d=DEFAULT_SPEED_2D,
        group="Movement", doc="Speed of the actor.")
    arrival_distance = export(
        float, 0.5, range=(0.001, 100, 0.001), or_greater=True, unit="m", default_2d=8.0,
        doc="Distance to the target at which the actor has arrived.")
    paths = export(
        NodePath, NodePath(""), hint=node_path("PathService"),
        doc="PathService to request paths from. During a search the actor moves as the service's fallback says. Empty:"
        " the NavigationAgent below the actor, if there is one.")
    stuck_after = export(
        float, 0.0, range=(0, 60, 0.1), or_greater=True, unit="s",
        doc="The habit fails if the actor makes no progress for this time, for example at a closed door; 0 is never.")

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        yield from self.missing("paths")

    def enter(self, run: HabitContext) -> None:
        actor = self._tree.actor_node()
        _, here = self.goal_and_position(actor, run)
        agent = None if self.paths else self._agent(actor)
        run.memory["has_agent"], run.memory["is_body"] = agent is not None, is_body(actor)
        if agent is not None:
            AgentWalk(agent, run.memory, is_flat=isinstance(here, Vector2)).begin(self.arrival_distance)

    def tick(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.goal_and_position(actor, run)
        if _distance(goal, here) <= self.arrival_distance:
            return Status.SUCCEEDED
        is_flat = isinstance(here, Vector2)
        falls = self._moves_body(run) and not is_flat and actor.get_motion_mode() == GROUNDED
        walk = self._walk(actor, run, is_flat=is_flat, falls=falls)
        left_s, first, stands = run.elapsed_s, here, not falls or actor.is_on_floor()
        is_blocked = falls and actor.is_on_wall()
        stop, came = self._next(walk, here, goal, run, falls, stands, is_blocked)
        while came == "going":
            left_s -= self._go(actor, here, stop, run, left_s, falls=falls)
            if left_s <= 0:
                return self._check_stuck(first, stop, run)
            at, here, stands = point_ahead(run.memory), actor.get_global_position(), not falls or actor.is_on_floor()
            is_blocked = falls and actor.is_on_wall()
            stop, came = self._next(walk, here, goal, run, falls, stands, is_blocked)
            if came == "going" and point_ahead(run.memory) == at:
                return self._check_stuck(first, stop, run)
        return Status.SUCCEEDED if came == "arrived" else Status.FAILED

    def exit(self, run: HabitContext) -> None:
        actor = self._tree.actor_node()
        service = self.get_node_or_null(self.paths) if self.paths else None
        agent = self._agent(actor) if run.memory.get("has_agent") else None
        if service is not None:
            TicketWalk(service, run.memory).end()
        elif agent is not None:
            AgentWalk(agent, run.memory).end()
        if self._moves_body(run):
            velocity = actor.get_velocity()
            actor.set_velocity(Vector3(0, velocity.y, 0) if isinstance(velocity, Vector3) else Vector2(0, 0))

    def _walk(self, actor: Any, run: HabitContext, *, is_flat: bool, falls: bool) -> Any:
        """Return the TicketWalk or AgentWalk to follow, None for a straight line."""
        service = self.node_at(self.paths)
        if service is not None:
            return TicketWalk(service, run.memory, falls=falls)
        agent = self._agent(actor) if run.memory["has_agent"] else None
        return None if agent is None else AgentWalk(agent, run.memory, is_flat=is_flat, falls=falls)

    def _next(
        self, walk: Any, here: Any, goal: Any, run: HabitContext, falls: bool, stands: bool, is_blocked: bool,
    ) -> tuple[Any, str]:
        """Return the next point, and "going", "arrived" or "failed"."""
        if isinstance(walk, TicketWalk):
            step = self.speed * run.elapsed_s
            return walk.next(here, goal, self.arrival_distance, step, stands=stands, is_blocked=is_blocked)
        if walk is not None:
            came: tuple[Any, str] = walk.next(
                here, goal, self.arrival_distance, stands=stands, is_blocked=is_blocked)
            return came
        if not falls:
            return goal, "going"
        is_there = stands and not is_elsewhere(goal, here, self.arrival_distance)
        # a goal on the same floor counts as being at the height of the actor's origin
        return Vector3(goal.x, here.y, goal.z), "arrived" if is_there else "going"

    def _go(self, actor: Any, here: Any, stop: Any, run: HabitContext, left_s: float, *, falls: bool) -> float:
        """Move to a point within the rest of this turn; return how much time that took (s).

        If the path continues from there, the actor keeps its speed; otherwise it slows down to arrive with the turn.
        """
        offset = [to - at for to, at in zip(stop, here, strict=True)]
        length = math.sqrt(sum(one * one for one in offset))
        needed_s = length / self.speed
        taken_s = needed_s if needed_s < left_s and run.memory.get("has_more", False) else left_s
        if not self._moves_body(run):
            share = min(1.0, taken_s / (needed_s or 1.0))
            actor.set_global_position(type(here)(*(at + one * share for at, one in zip(here, offset, strict=True))))
            return taken_s
        speed = self.speed if needed_s >= taken_s else length / taken_s
        velocity = type(here)(*(one / (length or 1.0) * speed for one in offset))
        walk(actor, velocity, taken_s, falls=falls, climbs=falls and run.memory.get("climbs", False))
        return taken_s

    def _check_stuck(self, here: Any, goal: Any, run: HabitContext) -> Status:
        """Return FAILED if the actor has made no progress for ``stuck_after``, else RUNNING."""
        if self.stuck_after == 0:
            return Status.RUNNING
        memory = run.memory
        age_s = memory["age_s"] = memory.get("age_s", 0.0) + run.elapsed_s
        step = max(self.arrival_distance, self.speed * run.elapsed_s)
        if goal == here or "left" not in memory or _distance(memory["left"], here) >= step / 2:
            memory["left"], memory["left_s"] = list(here), age_s
        is_stuck = age_s - memory["left_s"] >= self.stuck_after
        return Status.FAILED if is_stuck else Status.RUNNING

    def _moves_body(self, run: HabitContext) -> bool:
        return bool(run.memory.get("is_body"))       # missing where it could not begin

    def _agent(self, actor: Any) -> Any:
        kind = "NavigationAgent2D" if actor.is_class("Node2D") else "NavigationAgent3D"
        found = actor.find_children("*", kind, True, False)
        return found[0] if found else None


@gdclass(icon="res://addons/ai_core/icons/habit_look_at.svg")
class HabitLookAt(TargetedHabit, Habit):
    """Turns the actor until it faces a target; in 3D about the vertical axis."""

    target_node = export(NodePath, NodePath(""), group="Target", doc="Node to face.")
    target_key = export(str, "", doc="Blackboard key of a node or point to face; used without target_node.")
    target_point = export(
        Variant, Vector3(0, 0, 0), is_point=True, default_2d=Vector2(0, 0),
        doc="Point to face, a Vector3, in 2D a Vector2; used without target_node and target_key.")
    turn_speed = export(
        float, math.tau, range=(0.01, 100, 0.01), or_greater=True, as_degrees=True, unit="°/s", group="Turning",
        doc="Speed of the turn.")
    tolerance = export(
        float, 0.02, range=(0.0001, math.pi, 0.0001), as_degrees=True, unit="°",
        doc="Largest angle at which the actor counts as facing.")
    keep_looking = export(bool, False, doc="Keep facing the target until the habit is interrupted.")

    def tick(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.goal_and_position(actor, run)
        if isinstance(here, Vector2):
            wanted, faces = math.atan2(goal.y - here.y, goal.x - here.x), actor.get_global_rotation()
        else:
            wanted, faces = math.atan2(here.x - goal.x, here.z - goal.z), actor.get_global_rotation().y
        off = math.remainder(wanted - faces, math.tau)
        turn = max(-self.turn_speed * run.elapsed_s, min(self.turn_speed * run.elapsed_s, off))
        if turn:
            if isinstance(here, Vector2):
                actor.set_global_rotation(faces + turn)
            else:
                rotation = actor.get_global_rotation()
                actor.set_global_rotation(Vector3(rotation.x, faces + turn, rotation.z))
        return Status.SUCCEEDED if abs(off - turn) <= self.tolerance and not self.keep_looking else Status.RUNNING


def _distance(one: Any, other: Any) -> float:
    return math.dist(tuple(one), tuple(other))
