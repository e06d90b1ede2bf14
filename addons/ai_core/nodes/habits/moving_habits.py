"""Built-in habits that move a character: going somewhere, and looking there."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from addons.ai_core.bridge.gd import NodePath, RefusedValue, Vector2, Vector3, export, gdclass, node_path
from addons.ai_core.nodes.habits.built_in_habits import BuiltIn
from addons.ai_core.nodes.habits.habit import Habit, tree_above
from addons.ai_core.nodes.walking.agent_walk import AgentWalk
from addons.ai_core.nodes.walking.body_moving import is_body, walk
from addons.ai_core.nodes.walking.ticket_walk import TicketWalk
from addons.ai_core.nodes.walking.way_height import GROUNDED, is_elsewhere
from addons.ai_core.nodes.walking.way_walk import come_to
from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habits import Status

POINTS = (Vector2, Vector3)

WALKING = 3.0
"""Speed of a HabitMoveTo unless it is set (m/s): that of somebody in a hurry in 3D, and a snail's in pixels."""


class Aimed(BuiltIn):
    """What habits with a place as their target have in common."""

    target_node: Any
    target_key: Any
    target_point: Any
    _tree: Any

    def mistakes(self) -> Iterator[str]:
        yield from self.missing("target_node")

    def places(self, actor: Any) -> tuple[Any, Any]:
        """Return where the target is now, the node, what the key holds, or the point; and where the actor is."""
        try:
            here = actor.get_global_position()
        except AttributeError:
            name = f"'{actor.get_name()}' ({actor.get_class()})"
            raise RefusedValue(f"the actor {name} has no place; take a Node3D or a Node2D") from None
        target = self._target()
        try:
            goal = target if isinstance(target, POINTS) else target.get_global_position()
        except AttributeError:
            raise RefusedValue(f"{self._targets_name()} must be a node in space or a point, got {target!r}") from None
        if not all(map(math.isfinite, goal)):
            raise RefusedValue(f"{self._targets_name()} must be a finite place, got {goal!r}")
        if type(goal) is type(here):
            return goal, here
        if isinstance(target, Vector3):
            return Vector2(target.x, target.y), here
        raise RefusedValue(
            f"{self._targets_name()} must be a node or a point in {len(tuple(here))}D, as the actor is, got {target!r}")

    def _targets_name(self) -> str:
        return f"'{self.target_key}'" if self.target_key and not self.target_node else "its target"

    def _target(self) -> Any:
        found = self.node_at(self.target_node)
        if found is None and self.target_key:
            found = self._tree.get_value(self.target_key)
            if found is None:
                raise RefusedValue(
                    f"'{self.target_key}' is not on the blackboard, or was freed; set it to a node or a point")
        return self.target_point if found is None else found


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg")
class HabitMoveTo(Aimed, Habit):
    """Goes somewhere: by the NavigationAgent below the actor, if there is one, by a PathService, else straight.

    A CharacterBody gets its velocity and move_and_slide(), so let its AIScheduler update in physics; any other
    node is moved. A CharacterBody3D that is not on the floor falls, except where its way rises, as over steps and up
    ladders; with the motion mode floating it flies. Succeeds when it is there, fails where no way leads.
    """

    target_node = export(NodePath, NodePath(""), group="Target", doc="Where: a node; it is followed if it moves.")
    target_key = export(str, "", doc="Where, without a node: a value of the blackboard that is a node or a point.")
    target_point = export(Vector3, Vector3(0, 0, 0), doc="Where, without both: a point (2D: x and y).")
    speed = export(
        float, WALKING, range=(0.01, 1000, 0.01), or_greater=True, group="Movement", doc="Metres or pixels a second.")
    arrival_distance = export(
        float, 0.5, range=(0.001, 100, 0.001), or_greater=True, doc="It is there when it is so near.")
    paths = export(
        NodePath, NodePath(""), hint=node_path("PathService"),
        doc="Ask this PathService for ways; while one is searched, it goes as the service's meanwhile says.")
    stuck_after_s = export(
        float, 0.0, range=(0, 60, 0.1), or_greater=True, unit="s",
        doc="It fails if it has got nowhere for so long, as behind a door that was shut; 0 is never.")

    def mistakes(self) -> Iterator[str]:
        yield from super().mistakes()
        yield from self.missing("paths")
        tree = tree_above(self)
        actor = None if tree is None else tree.get_node_or_null(tree.actor)
        if self.speed == WALKING and actor is not None and actor.is_class("Node2D"):
            yield f"goes {WALKING:g} pixels a second in 2D; set speed and arrival_distance in pixels, such as 100 and 8"

    def began(self, run: HabitContext) -> None:
        actor = self._tree.actor_node()
        _, here = self.places(actor)
        agent = None if self.paths else self._agent(actor)
        run.memory["has_agent"], run.memory["is_body"] = agent is not None, is_body(actor)
        if agent is not None:
            AgentWalk(agent, run.memory, is_flat=isinstance(here, Vector2)).begin(self.arrival_distance)

    def went_on(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.places(actor)
        if _distance(goal, here) <= self.arrival_distance:
            return Status.SUCCEEDED
        is_flat = isinstance(here, Vector2)
        falls = self._moves_body(actor, run) and not is_flat and actor.get_motion_mode() == GROUNDED
        walk = self._walk(actor, run, is_flat=is_flat, falls=falls)
        left_s, first, stands = run.elapsed_s, here, not falls or actor.is_on_floor()
        is_barred = falls and actor.is_on_wall()
        stop, came = self._next(walk, here, goal, run, falls, stands, is_barred)
        while came == "going":
            left_s -= self._go(actor, here, stop, run, left_s, falls=falls)
            if left_s <= 0:
                return self._got_on(first, stop, run)
            at, here, stands = come_to(run.memory), actor.get_global_position(), not falls or actor.is_on_floor()
            is_barred = falls and actor.is_on_wall()
            stop, came = self._next(walk, here, goal, run, falls, stands, is_barred)
            if came == "going" and come_to(run.memory) == at:
                return self._got_on(first, stop, run)
        return Status.SUCCEEDED if came == "arrived" else Status.FAILED

    def ended(self, run: HabitContext) -> None:
        actor = self._tree.actor_node()
        service = self.get_node_or_null(self.paths) if self.paths else None
        agent = self._agent(actor) if run.memory.get("has_agent") else None
        if service is not None:
            TicketWalk(service, run.memory).end()
        elif agent is not None:
            AgentWalk(agent, run.memory).end()
        if self._moves_body(actor, run):
            velocity = actor.get_velocity()
            actor.set_velocity(Vector3(0, velocity.y, 0) if isinstance(velocity, Vector3) else Vector2(0, 0))

    def _walk(self, actor: Any, run: HabitContext, *, is_flat: bool, falls: bool) -> Any:
        """Return how it goes: by ticket, by agent, or None, straight."""
        service = self.node_at(self.paths)
        if service is not None:
            return TicketWalk(service, run.memory, falls=falls)
        agent = self._agent(actor) if run.memory["has_agent"] else None
        return None if agent is None else AgentWalk(agent, run.memory, is_flat=is_flat, falls=falls)

    def _next(
        self, walk: Any, here: Any, goal: Any, run: HabitContext, falls: bool, stands: bool, is_barred: bool,
    ) -> tuple[Any, str]:
        """Return where to go next, and "going", "arrived" or "failed"."""
        if isinstance(walk, TicketWalk):
            step = self.speed * run.elapsed_s
            return walk.next(here, goal, self.arrival_distance, step, stands=stands, is_barred=is_barred)
        if walk is not None:
            came: tuple[Any, str] = walk.next(
                here, goal, self.arrival_distance, stands=stands, is_barred=is_barred)
            return came
        if not falls:
            return goal, "going"
        is_there = stands and not is_elsewhere(goal, here, self.arrival_distance)
        # goals on its floor are as high as it, however high its middle
        return Vector3(goal.x, here.y, goal.z), "arrived" if is_there else "going"

    def _go(self, actor: Any, here: Any, stop: Any, run: HabitContext, left_s: float, *, falls: bool) -> float:
        """Go to a place, at most for what is left of this turn; return how long that took.

        Where its way goes on from there it goes no longer than it must; else it is slower, and comes there at the end.
        """
        way = [to - at for to, at in zip(stop, here, strict=True)]
        length = math.sqrt(sum(one * one for one in way))
        needed_s = length / self.speed
        taken_s = needed_s if needed_s < left_s and run.memory.get("goes_on", False) else left_s
        if not self._moves_body(actor, run):
            share = min(1.0, taken_s / (needed_s or 1.0))
            actor.set_global_position(type(here)(*(at + one * share for at, one in zip(here, way, strict=True))))
            return taken_s
        speed = self.speed if needed_s >= taken_s else length / taken_s
        velocity = type(here)(*(one / (length or 1.0) * speed for one in way))
        walk(actor, velocity, taken_s, falls=falls, climbs=falls and run.memory.get("climbs", False))
        return taken_s

    def _got_on(self, here: Any, goal: Any, run: HabitContext) -> Status:
        """Return FAILED if it was to go somewhere and has been in one place for too long."""
        if self.stuck_after_s == 0:
            return Status.RUNNING
        memory = run.memory
        age_s = memory["age_s"] = memory.get("age_s", 0.0) + run.elapsed_s
        step = max(self.arrival_distance, self.speed * run.elapsed_s)
        if goal == here or "left" not in memory or _distance(memory["left"], here) >= step / 2:
            memory["left"], memory["left_s"] = list(here), age_s
        is_stuck = age_s - memory["left_s"] >= self.stuck_after_s
        return Status.FAILED if is_stuck else Status.RUNNING

    def _moves_body(self, actor: Any, run: HabitContext) -> bool:
        if "is_body" not in run.memory:                  # saved before that was kept
            run.memory["is_body"] = is_body(actor)
        return bool(run.memory["is_body"])

    def _agent(self, actor: Any) -> Any:
        kind = "NavigationAgent2D" if actor.is_class("Node2D") else "NavigationAgent3D"
        found = actor.find_children("*", kind, True, False)
        return found[0] if found else None


@gdclass(icon="res://addons/ai_core/icons/habit_look_at.svg")
class HabitLookAt(Aimed, Habit):
    """Turns the actor until it faces something: about the upward axis in 3D."""

    target_node = export(NodePath, NodePath(""), group="Target", doc="What: a node.")
    target_key = export(str, "", doc="What, without a node: a value of the blackboard that is a node or a point.")
    target_point = export(Vector3, Vector3(0, 0, 0), doc="What, without both: a point (2D: x and y).")
    turn_speed = export(
        float, math.tau, range=(0.01, 100, 0.01), or_greater=True, as_degrees=True, unit="°/s", group="Turning",
        doc="How fast it turns.")
    tolerance = export(
        float, 0.02, range=(0.0001, math.pi, 0.0001), as_degrees=True, unit="°", doc="It faces it when so near.")
    goes_on = export(bool, False, doc="Goes on looking, until it is interrupted.")

    def went_on(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.places(actor)
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
        return Status.SUCCEEDED if abs(off - turn) <= self.tolerance and not self.goes_on else Status.RUNNING


def _distance(one: Any, other: Any) -> float:
    return math.dist(tuple(one), tuple(other))
