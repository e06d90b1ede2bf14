"""Built-in habits that move or turn a character."""
from __future__ import annotations

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import node_paths
from addons.ai_core.bridge.gd import (
    NodePath,
    RefusedValue,
    StringName,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    node_path,
    signal,
)
from addons.ai_core.nodes.characters.sensor_feed import VALUES
from addons.ai_core.nodes.habits.actor_habits import (
    CROWDED_S,
    HELD_S,
    POINTS,
    TargetedHabit,
    WalkingHabit,
    distance,
    flat_distance,
)
from addons.ai_core.nodes.habits.habit import Habit, tree_above
from addons.ai_core.nodes.habits.habit_condition import wait
from addons.ai_core.nodes.habits.habit_events import EVENT, event_of, ordered_member
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import Status

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
"""Angle between two consecutive places of a search (rad): any number of places spreads evenly."""

CANDIDATES = 8
"""Places on a decision map that a search compares for each place that it visits (count)."""

FLEES_WITHIN = 2 / 3
"""Share of the safe distance below which a character flees by default (no unit): closer to 1, it would flee again a
frame after another habit has taken a step toward the threat."""

WAITING_REACH = 1.25
"""Largest distance to the target between two attacks, as a share of the range (no unit): at 1, a chase below would
begin and end in each other frame while the target walks away."""

CORNERED_S = 1.0
"""Time after which a cornered character looks again for a place to flee to, or a follower for a path (s): much less,
and a habit below would begin and end all the time; much more, and it would stay although its way is free again."""

FLEEING_ANGLES = (0.0, 0.6, -0.6, 1.2, -1.2, 1.8, -1.8)
"""Directions that a fleeing character compares, relative to the direction away from the threat (rad)."""


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg", keywords="chase, follow, pursue, walk, navigate, go to")
class HabitMoveTo(TargetedHabit, WalkingHabit, Habit):
    """Walks to a target, and follows it if it moves.

    If no target is set, the target is that of the tree's sensor: the habit begins when the sensor has gained a target,
    and fails when the target is lost. The actor walks along the path of a PathService or NavigationAgent,
    otherwise in a straight line. The habit succeeds on arrival, and fails if no path leads to the target.
    A CharacterBody is moved by its velocity and move_and_slide(), so its AIScheduler must update in physics; any other
    node is moved by its position. A CharacterBody3D that is not on the floor falls, except where its path rises, as
    over steps and up ladders; with the motion mode floating it flies.
    """

    target_node = export(
        NodePath, NodePath(""), hint=node_path("Node3D", "Node2D"), group="Target",
        doc="Node to go to; it is followed if it moves.")
    target_key = export(
        str, "", doc="Blackboard key of a node or point to go to, or event.position: the position of the event on which"
            " the habit, or a habit above it, began; used without target_node. That of order_given is the actor's own"
            " place in its squad, which the habit keeps while the order stands.")
    target_point = export(
        Variant, None, is_point=True,
        doc="Point to go to, a Vector3, in 2D a Vector2; null is none. Used without target_node and target_key. If none"
            " of the three is set, the habit goes to target_position of the tree's sensor.")
    keeps_following = export(
        bool, False,
        doc="If true, the habit does not end on arrival: the actor faces the target, and follows it again once it is"
            " farther away than follow_distance. Where no path leads to the target, it stands at the end of a partial"
            " path, faces the target, and looks for a path again once a second, or when the target moves.")
    follow_distance = export(
        float, 1.5, range=(0.001, 1000, 0.001), or_greater=True, unit="m", default_2d=24.0,
        shown_when=("keeps_following", True),
        doc="Distance to the target at which the actor follows it again, after it has arrived.")

    def goal_on(self, run: HabitContext, goal: Any) -> tuple[Any, dict[str, Any] | None]:
        return self.target_on(run, goal)

    def goal_between(self, run: HabitContext) -> Any:
        return self.goal_and_position(self._tree.actor_node(), run)[0]

    def goes_to_a_place(self, run: HabitContext) -> bool:
        key = self.SENSED if not self._has_point() and not self._key() else self._key()
        return not self.target_node and key != self.SENSED and isinstance(self._target(run), POINTS)

    def crowded_after_s(self) -> float:
        return CROWDED_S if self.keeps_following else 0.0

    def crowded_at(self) -> float:
        return float(max(self.arrival_distance, self.follow_distance if self.keeps_following else 0.0))

    def enter(self, run: HabitContext) -> None:
        if not self.target_node and self._key().partition(".")[0] == EVENT:
            run.memory["obeys"] = ordered_member(event_of(run)) is not None
        self.begin_walk(run)

    def tick(self, run: HabitContext) -> Status:
        if self._keep_course(run):
            return Status.RUNNING
        actor = self._tree.actor_node()
        goal, here = self.goal_and_position(actor, run)
        if goal is None:
            return Status.FAILED
        member = self.obeyed(run)
        if member is not None and member.is_ordered():
            if self.walk_to(run, goal) is not Status.RUNNING:
                self.stand(run)
            return Status.RUNNING
        if not self.keeps_following:
            return self.walk_to(run, goal)
        if self.waits_for_squad(run):
            return Status.RUNNING
        limit = self.arrival_distance
        if run.memory.get("is_there"):
            limit = max(limit, self.follow_distance)
        run.memory["is_there"] = flat_distance(goal, here) <= limit
        came = Status.SUCCEEDED
        if not (run.memory["is_there"] or self._waits_for_a_way(run, goal) or (
                self._waits_behind_others(run, goal, here))):
            came = self.walk_to(run, goal)
            run.memory["is_there"] = came is Status.SUCCEEDED       # at the end of a path to where the goal was
            if came is Status.RUNNING or self.is_stuck(run):
                return came
            if came is Status.FAILED:
                run.memory["no_way_to"], run.memory["no_way_s"] = list(goal), run.tree.seconds
        self.stand(run)
        self.turn(actor, goal, here, self.turn_speed * run.elapsed_s)
        return Status.RUNNING

    def _waits_for_a_way(self, run: HabitContext, goal: Any) -> bool:
        """Return whether no path led to the target a moment ago, and it is still there."""
        memory = run.memory
        if "no_way_to" not in memory:
            return False
        if run.tree.seconds - memory["no_way_s"] < CORNERED_S - 1e-9 and (
                distance(memory["no_way_to"], goal) <= self.arrival_distance):
            return True
        del memory["no_way_to"], memory["no_way_s"]
        return False

    def _waits_behind_others(self, run: HabitContext, goal: Any, here: Any) -> bool:
        """Return whether others around the target leave the actor no room: it comes no nearer, and none has left."""
        memory, now_s, away = run.memory, run.tree.seconds, distance(goal, here)
        waited_for = memory.get("crowd", 0)
        if not waited_for:
            since_s = memory.get("away_s")
            if since_s is not None and now_s - since_s < CROWDED_S:
                return False
            memory["away_s"] = now_s
            if since_s is None or memory["away"] - away >= self.arrival_distance / 2:
                memory["away"] = away
                return False
            memory["away"] = away
        crowd = self.crowd_at(run, goal, here)
        memory["crowd"] = crowd if crowd >= waited_for else 0
        return bool(memory["crowd"])


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg", keywords="waypoints, route, guard, path")
class HabitPatrol(WalkingHabit, Habit):
    """Visits the places of a route, and waits at each; after an interruption it continues with the same place.

    Without places the actor returns to its post, the position and direction in which the habit first began. The habit
    ends by itself only with the order Once. It skips a place that cannot be reached.
    """

    class RouteOrder(IntEnum):
        LOOP = 0
        PING_PONG = 1
        RANDOM = 2
        ONCE = 3

    route = export(
        NodePath, NodePath(""), group="Route",
        doc="Path3D or Path2D whose points are the places, or a node whose children are. Without a route and"
            " markers: the post of the actor, where the habit first began.")
    markers = export(
        list, (), hint=node_paths("Node3D", "Node2D"),
        doc="Nodes that are the places, in this order, in place of route.")
    order = export(
        RouteOrder, RouteOrder.LOOP,
        doc="Order of the places. Loop: the first follows the last. Ping pong: back and forth. Random: any other place."
            " Once: the habit succeeds at the last.")
    wait_time = export(
        float, 1.0, range=(0, 600, 0.1), or_greater=True, unit="s", doc="Time to wait at each place.")

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        yield from self.missing("route")
        for place, path in enumerate(self.markers):
            if self.get_node_or_null(path) is None:  # type: ignore[attr-defined]
                yield self._without_marker(place)

    def enter(self, run: HabitContext) -> None:
        self.begin_walk(run)
        if "post" not in run.kept:
            actor = self._tree.actor_node()
            run.kept["post"], run.kept["faces"] = self.position_of_actor(actor), self.rotation_of(actor)

    def tick(self, run: HabitContext) -> Status:
        memory, kept = run.memory, run.kept
        if "goal" not in memory:
            self._choose_goal(run)
        if "waits_s" not in memory:
            if self.walk_to(run, memory["goal"]) is Status.RUNNING:
                return Status.RUNNING
            memory["waits_s"] = 0.0
        elif self.waits_for_squad(run):
            del memory["waits_s"]
            return Status.RUNNING
        else:
            memory["waits_s"] += run.elapsed_s
        stands = self.stand(run)
        faces = self._has_route() or not self.turn_by(
            self._tree.actor_node(), kept["faces"], self.turn_speed * run.elapsed_s)
        left_s = self.wait_time - memory["waits_s"]
        if left_s > 1e-9:
            if stands and (faces or not self.turn_speed):
                wait(run, left_s if self._tree.walker.member is None else min(left_s, HELD_S))
            return Status.RUNNING
        del memory["waits_s"]
        count = self._count() if self._has_route() else 1
        number = kept["place"] % count
        if self.order == self.RouteOrder.ONCE and number == count - 1:
            kept["place"] = 0
            return Status.SUCCEEDED
        kept["place"] = self._after(number, count, run)
        self._choose_goal(run)
        self.set_out(run, memory["goal"])
        return Status.RUNNING

    def _choose_goal(self, run: HabitContext) -> None:
        number = run.kept.setdefault("place", 0)
        run.memory["goal"] = self._place(number) if self._has_route() else run.kept["post"]

    def _after(self, number: int, count: int, run: HabitContext) -> int:
        if count < 2:
            return 0
        if self.order == self.RouteOrder.RANDOM:
            return (number + 1 + int(run.random.random() * (count - 1))) % count
        if self.order != self.RouteOrder.PING_PONG:
            return (number + 1) % count
        step = run.kept.get("step", 1)
        if not 0 <= number + step < count:
            step = run.kept["step"] = -step
        return number + int(step)

    def _has_route(self) -> bool:
        return bool(self.route or self.markers)

    def _count(self) -> int:
        if self.markers:
            return len(self.markers)
        route = self._route()
        return int(route.get_curve().get_point_count()) if self._is_path(route) else len(self._markers(route))

    def _place(self, number: int) -> Any:
        """Return the position of a place; numbers beyond the last wrap around."""
        if self.markers:
            place = number % len(self.markers)
            marker = self.get_node_or_null(self.markers[place])  # type: ignore[attr-defined]
            if marker is None:
                raise RefusedValue(self._without_marker(place))
            if not marker.is_class("Node2D" if self.is_flat else "Node3D"):
                kind = "Node2D" if self.is_flat else "Node3D"
                raise RefusedValue(f"markers[{place}] must be a {kind}, got {marker!r}")
            return marker.get_global_position()
        route = self._route()
        if not self._is_path(route):
            markers = self._markers(route)
            return markers[number % len(markers)].get_global_position()
        curve = route.get_curve()
        return route.to_global(curve.get_point_position(number % curve.get_point_count()))

    def _without_marker(self, place: int) -> str:
        return f"markers[{place}] '{self.markers[place]}' is not in the scene; choose another, or remove it"

    def _route(self) -> Any:
        """Return the node of the route; raise RefusedValue if it has no places."""
        route = self.node_of("route")
        is_empty = (route.get_curve() is None or not route.get_curve().get_point_count()) if self._is_path(route) \
            else not self._markers(route)
        if is_empty:
            kind = "Node2D" if self.is_flat else "Node3D"
            raise RefusedValue(f"route '{self.route}' has no places; add points to the path, or {kind} children")
        return route

    def _is_path(self, route: Any) -> bool:
        return bool(route.is_class("Path2D" if self.is_flat else "Path3D"))

    def _markers(self, route: Any) -> list[Any]:
        kind = "Node2D" if self.is_flat else "Node3D"
        return [one for one in route.get_children() if one.is_class(kind)]


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg", keywords="investigate, look for, lost target, noise")
class HabitSearch(TargetedHabit, WalkingHabit, Habit):
    """Goes to the last known position of a target, then to places around it, and looks around at each.

    If no target is set, it searches around last_known_position of the tree's sensor: it begins when the value is not
    null, starts again when the sensor writes a newer position, and sets the value to null at the end. It fails, after
    it has tried each place, if the actor came to none of them.
    """

    SENSED = "last_known_position"

    target_node = export(
        NodePath, NodePath(""), hint=node_path("Node3D", "Node2D"), group="Target",
        doc="Node around which to search.")
    target_key = export(
        str, "", doc="Blackboard key of a node or point around which to search, or event.position; used without"
            " target_node. Empty: last_known_position.")
    places = export(
        int, 3, range=(0, 50, 1), group="Search", doc="Number of places to visit around the target.")
    radius = export(
        float, 4.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m", doc="Distance of the farthest place.")
    places_from = export(
        NodePath, NodePath(""), hint=node_path("CoverMap", "DecisionMap"),
        doc="CoverMap whose spots within radius are searched, the nearest first; or DecisionMap whose layer"
            " rates the places. If they are too few, places around the target are added.")
    layer = export(
        str, "", doc="Layer of the DecisionMap: of places within radius, those with the highest values are searched.")
    look_time = export(
        float, 1.5, range=(0, 60, 0.1), or_greater=True, unit="s", doc="Time to look around at each place.")
    look_angle = export(
        float, math.radians(120), range=(0, math.tau, 0.01), as_degrees=True, unit="°",
        doc="Angle through which the actor looks from one side to the other.")
    clears_value = export(
        bool, True,
        doc="If true, the habit sets the value on the blackboard to null at its end, so that it does not begin again.")

    def _has_point(self) -> bool:
        return False

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        yield from self.missing("places_from")

    def enter(self, run: HabitContext) -> None:
        self.begin_walk(run)

    def tick(self, run: HabitContext) -> Status:
        actor, memory = self._tree.actor_node(), run.memory
        center, _ = self.goal_and_position(actor, run)
        if center is None:
            return Status.FAILED
        if "center" not in memory or distance(memory["center"], center) > self.arrival_distance:
            memory["center"], memory["number"], memory["came"] = center, 0, False
            memory["route"] = [center, *self._places_around(center, run.random.random() * math.tau)]
            memory.pop("looks_s", None)
            memory.pop("goal", None)
            self.end_course()
        if self.waits_for_squad(run):
            memory.pop("looks_s", None)
            return Status.RUNNING
        looks_s = memory.get("looks_s")
        if looks_s is None:
            if "goal" not in memory:
                memory["goal"] = self._on_ground(run, memory["route"][memory["number"]])
            status = self.walk_to(run, memory["goal"])
            if status is Status.RUNNING:
                return status
            memory["came"] = memory["came"] or status is Status.SUCCEEDED
            memory["looks_s"], memory["ahead"] = 0.0, self.rotation_of(actor)
            self.stand(run)
            return Status.RUNNING
        memory["looks_s"] = looks_s = looks_s + run.elapsed_s
        self.stand(run)
        if looks_s < self.look_time - 1e-9:
            if self.turn_speed:
                side = math.sin(looks_s / self.look_time * math.tau)
                self.turn_to(actor, memory["ahead"] + self.look_angle / 2 * side)
            return Status.RUNNING
        del memory["looks_s"], memory["goal"]
        memory["number"] += 1
        if memory["number"] < len(memory["route"]):
            memory["goal"] = self._on_ground(run, memory["route"][memory["number"]])
            self.set_out(run, memory["goal"])
            return Status.RUNNING
        if self.clears_value and not self.target_node:
            self._tree.set_value(self._key() or self.SENSED, None)
        return Status.SUCCEEDED if memory["came"] else Status.FAILED

    def names_of_course(self, run: HabitContext) -> tuple[str, ...] | None:
        key = self._key() or self.SENSED
        is_watched = not self.target_node and self._tree.sensor and key in VALUES
        return (key,) if is_watched else None

    def _on_ground(self, run: HabitContext, place: Any) -> Any:
        """Return a place of the route on the ground; the first is the target's own, as is one far from any ground."""
        if run.memory["number"] == 0:
            return place
        found = self.on_map(place, self.radius)
        return run.memory["route"][0] if found is None else found

    def _places_around(self, center: Any, spin: float) -> list[Any]:
        """Return the places to visit after the center."""
        source, found = self.node_of("places_from"), []
        if source is not None and source.is_class("CoverMap"):
            spots = source.cover.near(source.scene.place("place", center), self.radius / source.unit)
            found = [source.get_place(one) for one in spots[:self.places]]
        elif source is not None:
            if not self.layer:
                raise RefusedValue(f"layer is empty; name a layer of the DecisionMap '{self.places_from}'")
            candidates = self._spiral(center, spin, CANDIDATES * self.places)
            values = {number: source.value_at(self.layer, one) for number, one in enumerate(candidates)}
            best = sorted(values, key=lambda number: (-values[number], number))[:self.places]
            found = [candidates[number] for number in best]
        return found + self._spiral(center, spin, self.places - len(found))

    def _spiral(self, center: Any, spin: float, count: int) -> list[Any]:
        """Return places that spread evenly around the center, from inside out."""
        return [
            _beside(center, spin + number * GOLDEN_ANGLE, self.radius * math.sqrt(number / count))
            for number in range(1, count + 1)]


@gdclass(icon="res://addons/ai_core/icons/habit_move_to.svg", keywords="run away, escape, evade, avoid")
class HabitFlee(TargetedHabit, WalkingHabit, Habit):
    """Runs away from a target up to a safe distance; by default from the target of the tree's sensor.

    It begins below begin_distance. It succeeds at safe_distance, or when the sensor has forgotten the target. A
    cornered actor, for which no place is farther from the target, looks once a second for one: the habit fails, and
    begins again when there is one; with keeps_away it stays active, and the actor faces the target. A less urgent habit
    that approaches the target makes it begin again: to stay away, set keeps_away.
    """

    SENSED = "last_known_position"

    target_node = export(
        NodePath, NodePath(""), hint=node_path("Node3D", "Node2D"), group="Target",
        doc="Node to flee from.")
    target_key = export(
        str, "", doc="Blackboard key of a node or point to flee from, or event.position; used without target_node."
            " Empty: last_known_position.")
    safe_distance = export(
        float, 15.0, range=(0.1, 10000, 0.1), or_greater=True, unit="m",
        doc="Distance to the target at which the habit succeeds.")
    begin_distance = export(
        float, 0.0, range=(0, 10000, 0.1), or_greater=True, unit="m",
        doc="Distance to the target below which the habit begins; must not be above safe_distance. 0 is two thirds of"
            " safe_distance.")
    keeps_away = export(
        bool, False,
        doc="If true, the habit does not end at safe_distance or in a corner: the actor stands there, and flees again"
            " from begin_distance, or when it can. It ends when the sensor has forgotten the target, or by its"
            " condition_scope.")
    step_distance = export(
        float, 5.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m",
        doc="Distance that the actor moves in one direction before it chooses again.")

    def _has_point(self) -> bool:
        return False

    def gate_keys(self) -> tuple[str, ...] | None:
        return ()

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        if self.begin_distance > self.safe_distance:
            yield (f"begin_distance must not be above safe_distance, got {self.begin_distance:g} and"
                   f" {self.safe_distance:g}; the habit begins below safe_distance")

    REFUSAL = "no target within begin_distance, or no place farther from it"

    def may_begin(self, run: HabitContext) -> bool:
        if not self.is_within(run, math.nextafter(self._begins_at(), 0.0)):
            return False
        if "cornered_s" not in run.kept:
            return True
        threat, here = self.goal_and_position(self._tree.actor_node(), run)
        return self._place_to_go(run, threat, here) is not None

    def goes_to_a_place(self, run: HabitContext) -> bool:
        return False

    def _begins_at(self) -> float:
        """Return the distance below which the actor flees."""
        return float(min(self.begin_distance or FLEES_WITHIN * self.safe_distance, self.safe_distance))

    def enter(self, run: HabitContext) -> None:
        self.begin_walk(run)

    def names_of_course(self, run: HabitContext) -> tuple[str, ...] | None:
        return None

    def tick(self, run: HabitContext) -> Status:
        threat, here = self.goal_and_position(self._tree.actor_node(), run)
        if threat is None:
            return Status.SUCCEEDED
        memory = run.memory
        if flat_distance(threat, here) >= (self._begins_at() if memory.get("is_safe") else self.safe_distance):
            if not self.keeps_away:
                return Status.SUCCEEDED
            memory["is_safe"] = True
            memory.pop("goal", None)
            self.stand(run)
            return Status.RUNNING
        memory["is_safe"] = False
        if "goal" not in memory and not self._choose_goal(run, threat, here):
            return self._stays_cornered(run, threat, here)
        if self.walk_to(run, memory["goal"]) is Status.RUNNING:
            return Status.RUNNING
        del memory["goal"]
        if distance(memory.pop("left_at", here), here) <= self._least_way():
            run.kept["cornered_s"] = run.tree.seconds
        if not self._choose_goal(run, threat, here):
            return self._stays_cornered(run, threat, here)
        self.set_out(run, memory["goal"])
        return Status.RUNNING

    def _choose_goal(self, run: HabitContext, threat: Any, here: Any) -> bool:
        """Choose the next place to flee to; return whether there is one."""
        goal = self._place_to_go(run, threat, here)
        if goal is not None:
            run.memory["goal"], run.memory["left_at"] = goal, here
        return goal is not None

    def _place_to_go(self, run: HabitContext, threat: Any, here: Any) -> Any:
        """Return the place within a step that is farthest from the threat; None in a corner, and for a while after."""
        now_s, kept = run.tree.seconds, run.kept
        if now_s - kept.get("cornered_s", -math.inf) < CORNERED_S - 1e-9:
            return None
        ahead, step = _angle_between(threat, here), self.step_distance
        found = [self.on_map(_beside(here, ahead + one, step), step) for one in FLEEING_ANGLES]
        places = [place for place in found if place is not None]
        best = max(places, key=lambda place: flat_distance(place, threat), default=here)
        if flat_distance(best, threat) - flat_distance(here, threat) > self._least_way():
            kept.pop("cornered_s", None)
            return best
        kept["cornered_s"] = now_s
        return None

    def _stays_cornered(self, run: HabitContext, threat: Any, here: Any) -> Status:
        if not self.keeps_away:
            return Status.FAILED
        self.stand(run)
        if self.turn_speed:
            self.turn(self._tree.actor_node(), threat, here, self.turn_speed * run.elapsed_s)
        return Status.RUNNING

    def _least_way(self) -> float:
        """Return the distance that is no way to flee, as the actor would have arrived."""
        return float(min(self.arrival_distance, self.step_distance / 2))


@gdclass(icon="res://addons/ai_core/icons/habit_look_at.svg", keywords="face target, turn, aim, rotate")
class HabitLookAt(TargetedHabit, Habit):
    """Turns the actor until it faces a target; in 3D about the vertical axis."""

    target_node = export(
        NodePath, NodePath(""), hint=node_path("Node3D", "Node2D"), group="Target",
        doc="Node to face.")
    target_key = export(str, "", doc="Blackboard key of a node or point to face; used without target_node.")
    target_point = export(
        Variant, None, is_point=True,
        doc="Point to face, a Vector3, in 2D a Vector2; null is none. Used without target_node and target_key.")
    turn_speed = export(
        float, math.tau, range=(0.01, 100, 0.01), or_greater=True, as_degrees=True, unit="°/s", group="Turning",
        doc="Speed of the turn.")
    tolerance = export(
        float, 0.02, range=(0.0001, math.pi, 0.0001), as_degrees=True, unit="°",
        doc="Largest angle at which the actor counts as facing.")
    keep_looking = export(
        bool, False, doc="If true, the actor keeps facing the target until the habit is interrupted.")

    def tick(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.goal_and_position(actor, run)
        if goal is None:
            return Status.FAILED
        off = self.turn(actor, goal, here, self.turn_speed * run.elapsed_s)
        return Status.SUCCEEDED if abs(off) <= self.tolerance and not self.keep_looking else Status.RUNNING


@gdclass(icon="res://addons/ai_core/icons/habit_look_at.svg", keywords="shoot, strike, hit, fight, melee, bite")
class HabitAttack(TargetedHabit, Habit):
    """Faces a target within range and attacks it once per interval; by default the target of the tree's sensor.

    An attack is a call of attack_method and the signal attacked: the game defines the damage there. The habit begins
    when the target is within range, and fails when it is not; put it above the habit that chases. Between two attacks
    it waits for a target that is up to a quarter of the range too far away, so that the actor does not walk and stand
    by turns.
    """

    target_node = export(
        NodePath, NodePath(""), hint=node_path("Node3D", "Node2D"), group="Target",
        doc="Node to attack.")
    target_key = export(
        str, "", doc="Blackboard key of a node or point to attack; used without target_node. Empty: the target of the"
            " tree's sensor.")
    attack_range = export(
        float, 2.0, range=(0.01, 1000, 0.01), or_greater=True, unit="m", default_2d=40.0,
        doc="Largest distance to the target at which the actor attacks.")
    attack_method = export(
        StringName, StringName(""), group="Attack",
        doc="Method of the actor that is called with the target: a node, or a point if target_key holds one. If it"
            " returns false, the habit fails. Empty: only the signal attacked is emitted.")
    interval = export(
        float, 1.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        doc="Time from one attack to the next, also if the habit ended in between.")
    turn_speed = export(
        float, math.tau, range=(0, 100, 0.01), or_greater=True, as_degrees=True, unit="°/s", group="Turning",
        doc="Speed at which the actor turns to the target; 0 does not turn it.")
    tolerance = export(
        float, math.radians(15), range=(0.0001, math.pi, 0.0001), as_degrees=True, unit="°",
        doc="Largest angle to the target at which the actor attacks; ignored if it does not turn.")

    attacked = signal(("target", Variant), doc="Emitted at each attack, before attack_method is called.")

    def _has_point(self) -> bool:
        return False

    def setting_errors(self) -> Iterator[str]:
        yield from super().setting_errors()
        tree = tree_above(self)
        if tree is not None and self.attack_method:
            yield from tree.missing_methods([str(self.attack_method)])

    def gate_keys(self) -> tuple[str, ...] | None:
        return ()

    REFUSAL = "no target within attack_range"

    def may_begin(self, run: HabitContext) -> bool:
        return self.is_within(run, self.attack_range, "" if self._is_set() else "target")

    def tick(self, run: HabitContext) -> Status:
        actor = self._tree.actor_node()
        goal, here = self.goal_and_position(actor, run)
        target, now_s = self._attacked(run), run.tree.seconds
        is_ready = now_s >= run.kept.get("ready_s", -math.inf) - 1e-9
        reach = self.attack_range * (1.0 if is_ready else WAITING_REACH)
        if goal is None or target is None or flat_distance(goal, here) > reach:
            return Status.FAILED
        off = self.turn(actor, goal, here, self.turn_speed * run.elapsed_s) if self.turn_speed else 0.0
        if abs(off) > self.tolerance or not is_ready:
            return Status.RUNNING
        run.kept["ready_s"] = now_s + self.interval
        self.attacked.emit(target)
        if not self.attack_method or not self.is_valid():
            return Status.RUNNING
        answer = self._tree.actor_method(str(self.attack_method))(target)
        return Status.FAILED if answer is False else Status.RUNNING

    def _attacked(self, run: HabitContext) -> Any:
        """Return the node that is attacked, or the point; None if the sensor has no target, or it was freed."""
        return self._target(run) if self._is_set() else self._tree.get_value("target")

    def _is_set(self) -> bool:
        """Return whether the target is not that of the sensor."""
        return bool(self.target_node or self._key())


def _beside(place: Any, angle: float, distance: float) -> Any:
    """Return a position at a horizontal distance from another."""
    x, y = math.cos(angle) * distance, math.sin(angle) * distance
    return place + (Vector2(x, y) if isinstance(place, Vector2) else Vector3(x, 0, y))


def _angle_between(one: Any, other: Any) -> float:
    """Return the direction from one position to another (rad), as for ``_beside``."""
    first, second = tuple(one), tuple(other)
    return math.atan2(second[-1] - first[-1], second[0] - first[0])
