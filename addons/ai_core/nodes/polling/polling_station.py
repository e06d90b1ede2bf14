"""PollingStation node: computes answers about the world once per frame for many callers, by queries to the engine."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import HINT_LAYERS_2D_PHYSICS, HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    GodotCallError,
    Node,
    ObjectIds,
    PackedStringArray,
    RefusedValue,
    StringName,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    get_object,
    method,
    refusing,
    report_error,
    see_between,
    singleton,
)
from addons.ai_core.nodes.characters.agent_places import has_flat_scene
from addons.ai_core.nodes.paths.navigation_path_provider import ends_at
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.engine_clock import EngineClock
from addons.ai_core.nodes.scheduling.scheduler_lookup import SCHEDULERS, check_callable, nearest, wait_for, when_settled
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D
from ai_core.budget import Budget
from ai_core.events.event_log import EventLog
from ai_core.events.polling_station import PollingStation as Answers
from ai_core.saving.fields import State
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

NO_PATH = -1.0


class WorldQueries:
    """Lines of sight and paths in the world of a node.

    Args:
        node: must be in the tree for queries; owns the rays.

    Attributes:
        is_there: whether the node is in the tree.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self.is_there = False
        self._is_settled = True
        self._was_asked_early = False
        self.rays = PhysicsSpace3D(node, node.sight_mask)
        self._flat_rays = PhysicsSpace2D(node, node.sight_mask_2d)

    def set_masks(self) -> None:
        """Copy the sight masks of the node to the rays."""
        self.rays.node.collision_mask = self._node.sight_mask
        self._flat_rays.node.collision_mask = self._node.sight_mask_2d

    def enter(self) -> None:
        """Start queries, after the node entered the tree; rays may not meet the walls of the scene yet."""
        self.is_there, self._is_settled = True, False
        when_settled(self._node, self._settle)

    def _settle(self) -> None:
        self._is_settled = True
        if self._was_asked_early:
            self._was_asked_early = False
            self._node.invalidate("can_see")

    def can_see_many(self, observers: bytes, targets: bytes) -> Any:
        """Return for each pair of nodes whether nothing blocks the line between them; false if a node is gone.

        Before its first physics frame, rays do not meet the walls of a scene, and every answer is false.

        Args:
            observers: instance ids, in the format of ObjectIds.
            targets: instance ids, as many.

        Cost: one physics query per pair, all in one crossing.
        """
        if not self.is_there:
            self._need_tree("can_see")
        seen = see_between(observers, targets, self.rays.node, self._flat_rays.node)
        if type(seen) is int:                # the index of an invalid pair
            check_pair(*(get_object(int(np.frombuffer(ids, np.uint64)[seen])) for ids in (observers, targets)))
        if not self._is_settled:
            self._was_asked_early = True
            return type(seen)(len(seen))         # all false
        return seen

    def path_length(self, start: Any, goal: Any) -> float:
        """Return the length of the path on the navigation map (m; in 2D pixels), NO_PATH without a path or map."""
        self._need_tree("path_length")
        viewport = self._node.get_viewport()
        if isinstance(start, Vector3):
            navigation, world = singleton("NavigationServer3D"), viewport.find_world_3d()
        else:
            navigation, world = singleton("NavigationServer2D"), viewport.find_world_2d()
        map_rid = world.get_navigation_map()
        if navigation.map_get_iteration_id(map_rid) == 0:
            return NO_PATH            # the map is still being built; the next frame queries it again
        path = navigation.map_get_path(map_rid, start, goal, True)
        tolerance_m = self._node.reach_tolerance
        if len(path) == 0 or not ends_at(navigation, map_rid, path[-1].tolist(), goal, tolerance_m):
            return NO_PATH
        return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())

    def _need_tree(self, question: str) -> None:
        if not self._node.is_inside_tree():
            raise RefusedValue(f"{question} needs a world; add the PollingStation to the scene first")


def ids_of(nodes: Any) -> bytes:
    """Return the instance ids of nodes in the format of ObjectIds; 0 for None."""
    return np.array([getattr(node, "instance_id", 0) for node in nodes], np.uint64).tobytes()


def check_pair(observer: Any, target: Any) -> None:
    """Raise RefusedValue unless both nodes are Node3D or both are Node2D."""
    if observer is None or target is None:
        raise RefusedValue("can_see needs two nodes, got null")
    for node in (observer, target):
        if not node.is_inside_tree():
            raise RefusedValue(f"can_see needs two nodes in the tree, but '{node.get_name()}' is not; add it first")
    for dimension in ("Node3D", "Node2D"):
        if observer.is_class(dimension) and target.is_class(dimension):
            return
    raise RefusedValue(
        f"can_see needs two Node3D or two Node2D, got {observer.get_class()} and {target.get_class()}")


def check_parts(topic: str, wanted: str, key: Any) -> None:
    """Raise RefusedValue unless a key of a built-in topic has two elements."""
    if len(key) != 2:
        raise RefusedValue(f"the key of topic {topic!r} must be {wanted}, got {list(key)!r}")


def check_places(question: str, start: Any, goal: Any) -> None:
    """Raise RefusedValue unless both positions are finite Vector3, or both finite Vector2."""
    if type(start) is not type(goal) or not isinstance(start, (Vector2, Vector3)):
        raise RefusedValue(f"{question} needs two Vector3 or two Vector2, got {start!r} and {goal!r}")
    if not all(map(np.isfinite, (*start, *goal))):
        raise RefusedValue(f"{question} needs finite positions, got {start!r} and {goal!r}")


DEFINITION_ERRORS = (TypeError, GodotCallError)
"""Exceptions of a wrong query; see ``query_error``."""
TERMS = ("fallback", "lifetime", "many", "max_keys")
ID_BYTES = 8
"""Size of an instance id in ObjectIds (bytes)."""
MOST_BATCHES = 16
"""Batches of lines of sight kept (count); a batch of 1,000 pairs takes 17 kB."""


def topic_terms(code: str, compute: Any, kept_frames: int, terms: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the library's ``add_topic``, besides the code."""
    for name in terms:
        if name not in TERMS:
            raise RefusedValue(f"unknown term {name!r}; use one of {', '.join(TERMS)}")
    if kept_frames < -1:
        raise RefusedValue(f"kept_frames must be at least -1, got {kept_frames}; -1 keeps answers until invalidate()")
    found: dict[str, Any] = {
        "compute": _at_once(compute), "lifetime_frames": None if kept_frames == -1 else kept_frames}
    if terms.get("many", False):
        found["compute"], found["compute_many"] = None, _many(code, compute)
    if "lifetime" in terms:
        found["lifetime_s"], found["lifetime_frames"] = terms["lifetime"], 1
    for name in ("fallback", "max_keys"):
        if name in terms:
            found[name] = terms[name]
    return found


def _at_once(compute: Any) -> Callable[..., Any]:
    def answer(*key: Any) -> Any:
        found = compute(*key)
        if isinstance(found, GDObject):
            bool(found)                 # raises if the function awaits, and will answer later
        return found
    return answer


def _many(code: str, compute: Any) -> Callable[[list[Any]], list[Any]]:
    def answers(keys: list[Any]) -> list[Any]:
        found = compute([list(key) for key in keys])
        if not isinstance(found, list) or len(found) != len(keys):
            raise RefusedValue(
                f"topic {code!r} computes many: its Callable must return an Array with one answer for each of the"
                f" {len(keys)} keys, got {found!r}")
        return found
    return answers


def query_error(code: str, keys: list[Any], problem: Exception) -> Exception:
    """Return the exception to raise for a query that raised: a RefusedValue for a wrong query, or the same."""
    for key in keys:
        try:
            hash(tuple(key))
        except TypeError:
            return RefusedValue(
                f"a key of topic {code!r} must consist of nodes, strings, numbers and vectors, got {list(key)!r};"
                " pass the elements of an Array or Dictionary one by one")
    if isinstance(problem, GodotCallError):
        return RefusedValue(f"topic {code!r}: {problem}; a key has one element for each argument")
    return problem


MANAGERS = "ai_event_managers"


BUILT_IN = ""
"""Stands for all built-in topics where listeners name a topic."""
BUILT_IN_TOPICS = ("can_see", "can_see_many", "path_length", "property")


@gdclass(icon="res://addons/ai_core/icons/polling_station.svg", keywords="cache, world query, line of sight")
class PollingStation(Node):
    """Computes each answer about the world once per frame, for any number of callers.

    Built-in topics: "can_see" (observer, target) casts a ray; "path_length" (from, to) queries the navigation
    map; "property" (node, name) reads a property; all in 3D and in 2D. add_topic() adds further topics. A key
    is the Array of arguments of a query.
    """

    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Sight", on_set="_sight_changed",
        doc="Physics layers that block can_see() in 3D.")
    sight_mask_2d = export(
        int, 1, hint=(HINT_LAYERS_2D_PHYSICS, ""), on_set="_sight_changed",
        doc="Physics layers that block can_see() in 2D.")
    reach_tolerance = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", group="Navigation", on_set="_answers_changed",
        doc="Largest distance from the end of a path to the goal at which the goal counts as reached; in 2D in pixels."
            " In 3D the path may also end up to 2 m directly above or below the goal, if the map has no nearer point.")

    is_limited = False      # read at each poll: two exported properties would take longer
    answers_per_frame = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Budget", on_set="_limits_changed",
        doc="Most answers computed in a frame. Further queries get an old answer, if there is one, and are computed in"
            " the next frame. 0 means no limit.")
    budget = export(
        float, 0.0, range=(0, 100000, 10), or_greater=True, unit="µs", on_set="_limits_changed",
        doc="Most time for answers in a frame, used if answers_per_frame is 0. The answers computed then depend on the"
        " speed of the machine. 0 means no limit.")

    logged_polls = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Debug", on_set="apply_log",
        doc="Number of polls to keep in the log; 0 keeps no log. With a log, each poll takes some µs longer.")
    invalidated_by = export(
        PackedStringArray, (), group="Optimizations", on_set="listen_for_changes",
        doc="Event codes that invalidate the answers of built-in topics, such as \"door_opened\".")
    lifetime_frames = export(
        int, 1, range=(-1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_lifetime_changed",
        shown_when=("lifetime", 0.0),
        doc="Cache lifetime of answers of built-in topics: 1 is the present frame, 0 keeps no answer, -1 keeps answers"
            " until they are invalidated.")
    lifetime = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_lifetime_changed",
        doc="Cache lifetime of these answers in game time; 0 uses lifetime_frames instead.")
    max_answers = export(
        int, 1024, range=(1, 100000, 1), or_greater=True, on_set="_lifetime_changed",
        doc="Most answers kept per built-in topic; beyond that the oldest are dropped.")

    is_flat = property(has_flat_scene, doc="Whether its scene is in 2D, where distances are pixels.")

    def __init__(self) -> None:
        self._answers: Answers | None = None
        self._world: WorldQueries | None = None
        self._topics: dict[str, dict[str, Any]] = {}     # topics of scripts, by code
        self._scheduler: Any = None
        self._frame = -1
        self._invalidating: dict[tuple[Any, str, str, bool], Any] = {}      # listeners; see _listen

    def on_enter_tree(self) -> None:
        if self._world is None:
            self._world = WorldQueries(self)
        self._world.enter()

    def on_entered(self) -> None:
        self._follow_scheduler()
        wait_for(self, SCHEDULERS)          # for the first scheduler, or a replacement
        self.listen_for_changes()

    def on_exit_tree(self) -> None:
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._scheduler = None
        self._world.is_there = False
        self._stop_listening(lambda one: one[2] is BUILT_IN)

    def on_predelete(self) -> None:
        # Topics hold scripts: release them now, not at the next garbage collection.
        self._stop_listening(lambda one: True)
        for code in () if self._answers is None else self._answers.codes:
            self._answers.remove_topic(code)
        self._answers = None
        self._topics.clear()

    @property
    def answers(self) -> Answers:
        """The library's polling station, for behaviors written in Python."""
        if self._answers is None:
            scheduler = self._scheduler or nearest(self, "AIScheduler", SCHEDULERS)
            if scheduler is not None:
                self._answers = Answers(scheduler.clock, faults=scheduler.faults, values=scheduler.values)
            else:
                self._answers = Answers(EngineClock())
            self._add_built_in_topics()
            for code, terms in self._topics.items():
                self._answers.add_topic(code, **terms)
            self.apply_log()
        return self._answers

    @method
    def can_see(self, observer: Node, target: Node) -> bool:
        """Return whether nothing on the sight mask blocks the line between two nodes; both in 3D, or both in 2D."""
        check_pair(observer, target)
        return bool(self._station_for_frame().poll("can_see", observer, target))

    @method
    def can_see_many(self, observers: ObjectIds, targets: ObjectIds) -> list:
        """Return for each observer whether it can see the target at the same index.

        All rays are cast in one batch, and the answers of a batch are cached as one. The answer is false if a node is
        null or was freed.
        """
        if type(observers) is not bytes:         # called by Python, with nodes
            return [*self.can_see_many(ids_of(observers), ids_of(targets))]
        if len(observers) != len(targets):
            raise RefusedValue(
                "can_see_many needs as many targets as observers,"
                f" got {len(observers) // ID_BYTES} and {len(targets) // ID_BYTES}")
        return self._station_for_frame().poll("can_see_many", observers, targets)

    @method
    def path_length(self, start: Variant, goal: Variant) -> float:
        """Return the length of the path on the navigation map (m; in 2D pixels), -1 if there is no path or no map yet.

        Both positions are Vector3, or both are Vector2.
        """
        try:
            check_places("path_length", start, goal)
            return float(self._station_for_frame().poll("path_length", start, goal))
        except RefusedValue as problem:
            report_error(str(problem), self)
            return NO_PATH

    @method
    def is_reachable(self, start: Variant, goal: Variant) -> bool:
        """Return whether a path on the navigation map reaches the goal; see path_length()."""
        return self.path_length(start, goal) >= 0

    @method
    def property_of(self, node: Node, name: StringName) -> Variant:
        """Return a property of a node, read once per cache lifetime; useful if its getter is expensive."""
        if node is None:
            raise RefusedValue("property_of needs a node, got null")
        return self._station_for_frame().poll("property", node, str(name))

    @method
    def add_topic(self, code: str, compute: GDCallable, kept_frames: int = 1, terms: dict = {}) -> None:  # noqa: B006
        """Add a topic: ``compute`` is called with the elements of a key and returns the answer of poll(code, key).

        ``kept_frames`` is the cache lifetime: 1 is the present frame, 0 keeps no answer, -1 keeps answers until
        invalidate(). Terms, all optional: "lifetime", a lifetime in game time instead of frames; "max_keys",
        the most answers kept; "fallback", the answer if
        ``compute`` fails or the budget is spent; "many", true if ``compute`` takes an Array of keys and returns an
        Array of answers.
        """
        check_callable(compute, "add_topic")
        found = topic_terms(code, compute, kept_frames, terms)
        with refusing():
            self.answers.add_topic(code, **found)
        self._topics[code] = found

    @method
    def remove_topic(self, code: str) -> None:
        """Remove a topic and its answers."""
        if code in BUILT_IN_TOPICS:
            raise RefusedValue(f"topic {code!r} is built in and cannot be removed")
        self.answers.remove_topic(code)
        self._topics.pop(code, None)
        self._stop_listening(lambda one: one[2] == code)

    @method
    def poll(self, code: str, key: list = ()) -> Variant:
        """Return the answer of a topic for a key, computed at most once per cache lifetime."""
        try:
            return self._station_for_frame().poll(code, *key)
        except DEFINITION_ERRORS as problem:
            raise query_error(code, [key], problem) from None

    @method
    def poll_as(self, asker: Node, code: str, key: list = ()) -> Variant:
        """Return the answer of poll(); the log shows ``asker`` as the caller."""
        try:
            return self._station_for_frame().poll_as(asker, code, *key)
        except DEFINITION_ERRORS as problem:
            raise query_error(code, [key], problem) from None

    @method
    def poll_many(self, code: str, keys: list) -> list:
        """Return the answers for an Array of keys; missing answers are computed together."""
        parts = [tuple(key) if isinstance(key, list) else (key,) for key in keys]
        try:
            return self._station_for_frame().poll_many(code, parts)
        except DEFINITION_ERRORS as problem:
            raise query_error(code, parts, problem) from None

    @method
    def poll_with_age(self, code: str, key: list = (), asker: Node = None) -> dict:
        """Return the answer as "value", with "age_frames" (-1 without an answer), "how" and "is_stale".

        "how" is computed, cached, stale or fallback.
        """
        try:
            answer = self._station_for_frame().poll_with_age(code, *key, asker=asker)
        except DEFINITION_ERRORS as problem:
            raise query_error(code, [key], problem) from None
        return {
            "value": answer.value, "how": answer.how, "is_stale": answer.is_stale,
            "age_frames": -1 if answer.age_frames is None else answer.age_frames,
        }

    @method
    def invalidate(self, code: str, key: list = ()) -> None:
        """Drop the cached answer of a key; with an empty key, all answers of the topic."""
        with refusing():
            self._invalidate(code, *key)

    @method
    def invalidate_on(self, manager: Node, event_code: str, code: str, by_key: bool = False) -> None:
        """Drop the answers of a topic whenever an AIEventManager dispatches an event, until the topic is removed.

        With ``by_key`` only the answer whose key equals the arguments of the event is dropped.
        """
        if manager is None or not manager.is_class("AIEventManager"):
            raise RefusedValue(f"invalidate_on needs an AIEventManager, got {manager!r}")
        if code not in self.answers.codes:
            self.answers.invalidate(code)        # raises for an unknown topic
        self._listen(manager, event_code, code, by_key)

    save_state, load_state = saving("the cached answers")

    @method
    def get_stats(self) -> list:
        """Return a row per topic: hits, misses, computations, failures, keys, stale, waiting."""
        return [row._asdict() for row in self.answers.statistics()]

    def is_in_use(self) -> bool:
        return self._answers is not None and self._scheduler is not None

    def saved(self) -> State:
        return self.answers.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.answers.prepare_state(state)

    def _station_for_frame(self) -> Answers:
        """Return the library's station, after setting its limit for this frame."""
        if self._scheduler is not None and not self._scheduler.is_valid():
            self._follow_scheduler()
        answers = self._answers or self.answers
        if self.is_limited:
            self.begin_frame(answers)
        return answers

    def _follow_scheduler(self) -> None:
        """Join the nearest scheduler for saving; under a new scheduler drop all answers and keep the topics.

        The clock of a freed scheduler stands still, so answers by that clock would never become old.
        """
        before, found = self._scheduler, nearest(self, "AIScheduler", SCHEDULERS)
        if before is not None and before.is_valid() and before != found:
            before.leave(self)
        self._scheduler = found
        if found is not None:
            found.join(self)
        clock = None if self._answers is None else self._answers.clock
        if clock is None or (isinstance(clock, EngineClock) if found is None else clock is found.clock):
            return
        self._answers, self._frame = None, -1

    def _add_built_in_topics(self) -> None:
        kept: dict[str, Any] = {"lifetime_frames": None if self.lifetime_frames < 0 else self.lifetime_frames}
        if self.lifetime > 0:
            kept = {"lifetime_s": self.lifetime}
        kept["max_keys"] = self.max_answers
        for code in BUILT_IN_TOPICS:
            if code in self._answers.codes:
                self._answers.remove_topic(code)
        add = self._answers.add_topic
        add("can_see", self._see, **kept)
        add("can_see_many", self._see_many, **{**kept, "max_keys": min(MOST_BATCHES, self.max_answers)})
        add("path_length", self._path_length, **kept)
        add("property", self._property, **kept)

    def _see(self, *pair: Any) -> bool:
        check_parts("can_see", "[observer, target]", pair)
        return bool(self._see_many(*(ids_of([node]) for node in pair))[0])

    def _see_many(self, observers: bytes, targets: bytes) -> Any:
        return (self._world or self._need_world("can_see")).can_see_many(observers, targets)

    def _path_length(self, *places: Any) -> float:
        check_parts("path_length", "[from, to]", places)
        check_places("path_length", *places)
        return self._need_world("path_length").path_length(*places)

    def _property(self, *question: Any) -> Any:
        check_parts("property", "[node, name]", question)
        node, name = question
        if not isinstance(node, GDObject) or not isinstance(name, (str, StringName)):
            raise RefusedValue(f"the key of topic 'property' must be [node, name], got {list(question)!r}")
        try:
            return node.get(name)
        except AttributeError as problem:
            raise RefusedValue(f"property_of: {problem}; spell the name as in the inspector's tooltip") from None

    def _need_world(self, question: str) -> WorldQueries:
        if self._world is None:
            raise RefusedValue(f"{question} needs a world; add the PollingStation to the scene first")
        return self._world

    def _invalidate(self, code: str, *key: Any) -> None:
        self.answers.invalidate(code, *key)
        if code == "can_see":
            self.answers.invalidate("can_see_many")

    def _sight_changed(self) -> None:
        if self._world is not None:
            self._world.set_masks()
            self._answers_changed()

    def _answers_changed(self) -> None:
        if self._answers is not None:
            for code in BUILT_IN_TOPICS:
                self._answers.invalidate(code)

    def _lifetime_changed(self) -> None:
        if self._answers is not None:
            self._add_built_in_topics()

    def begin_frame(self, answers: Any) -> None:
        """At the first query of a frame, compute the waiting queries and set the limit for the frame."""
        frame = answers.clock.now.frame
        if frame == self._frame:
            return
        self._frame = frame
        if self.answers_per_frame:
            answers.begin_frame(Budget.of_steps(self.answers_per_frame))
        else:
            answers.begin_frame(Budget.of_time(self.budget, time.perf_counter_ns))

    def _limits_changed(self) -> None:
        self.is_limited = bool(self.answers_per_frame) or self.budget > 0

    def listen_for_changes(self) -> None:
        """Listen at the nearest AIEventManager for the events in ``invalidated_by``."""
        manager = None
        if len(self.invalidated_by) and self.is_inside_tree():
            manager = nearest(self, "AIEventManager", MANAGERS)
            wait_for(self, MANAGERS)        # for the first manager, or a replacement
        wanted = [] if manager is None else [(manager, code, BUILT_IN, False) for code in self.invalidated_by]
        self._stop_listening(lambda one: one[2] is BUILT_IN and one not in wanted)
        for one in wanted:
            self._listen(*one)

    def _listen(self, manager: Any, event_code: str, topic: str, by_key: bool) -> None:
        """Invalidate a topic on an event while both nodes and the topic exist; a repeated call has no effect."""
        question = manager, event_code, topic, by_key
        if question in self._invalidating:
            return

        def forget(_code: str, arguments: list[Any]) -> None:
            if topic is BUILT_IN:
                self._answers_changed()
            elif self._answers is not None and topic in self._answers.codes:
                self._invalidate(topic, *(arguments if by_key else ()))
        manager.listen(event_code, forget)
        self._invalidating[question] = forget

    def _stop_listening(self, is_unwanted: Callable[[Any], bool]) -> None:
        """Remove listeners that invalidate topics, given as (manager, event code, topic, by key)."""
        for question in [*filter(is_unwanted, self._invalidating)]:
            forget = self._invalidating.pop(question)
            if question[0].is_valid():
                question[0].unlisten(question[1], forget)

    def apply_log(self) -> None:
        """Apply ``logged_polls`` to the log."""
        if self._answers is not None:
            self._answers.log = EventLog(self.logged_polls) if self.logged_polls else None

    @method
    def get_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> list:
        """Return logged polls as Dictionaries, the oldest first; ``code`` and ``kind`` filter them, "" is any.

        Kinds: computed, cached, stale, fallback, failed, invalidated.
        """
        return [
            {"frame": one.at.frame, "seconds": one.at.seconds, "kind": one.kind, "code": one.code,
             "name": one.name, "detail": one.detail}
            for one in self._entries(code, kind, since_frame)
        ]

    @method
    def print_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> None:
        """Print logged polls as a table; see get_log()."""
        print((self.answers.log or EventLog()).table(self._entries(code, kind, since_frame)))

    def _entries(self, code: str, kind: str, since_frame: int) -> Any:
        log = self.answers.log or EventLog()
        with refusing():
            return log.entries(kinds=kind or None, code=code or None, since_frame=since_frame)
