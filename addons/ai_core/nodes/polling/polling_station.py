"""PollingStation: answers asked by many and computed once per frame."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
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
    export,
    gdclass,
    method,
    report_error,
)
from addons.ai_core.nodes.events.event_terms import refusing
from addons.ai_core.nodes.polling.world_questions import (
    NO_WAY,
    WorldQuestions,
    check_pair,
    check_parts,
    check_places,
    ids_of,
    number_of,
    object_of,
)
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.engine_clock import EngineClock
from addons.ai_core.nodes.scheduling.scheduled import SCHEDULERS, check_callable, nearest, wait_for
from ai_core.budget import Budget
from ai_core.events.polling.polling_log import PollingLog
from ai_core.events.polling.polling_station import REFUSED
from ai_core.events.polling.polling_station import PollingStation as Answers
from ai_core.events.polling.polling_topic import ID_BYTES, IdPairs
from ai_core.saving.fields import State
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES

MISTAKES = (TypeError, GodotCallError)
"""What a question may raise that is asked wrongly; see ``mistake_of``."""
TERMS = ("fallback", "lifetime_s", "many", "maximum_keys", "may_ask", "symmetric")


def topic_terms(code: str, compute: Any, kept_frames: int, terms: dict[str, Any]) -> dict[str, Any]:
    """Return what the library's ``add_topic`` takes after the code."""
    for name in terms:
        if name not in TERMS:
            raise RefusedValue(f"unknown term {name!r}; known are {', '.join(TERMS)}")
    if kept_frames < -1:
        raise RefusedValue(f"kept_frames must be -1 or more, got {kept_frames}; -1 keeps answers until invalidate()")
    found: dict[str, Any] = {"compute": compute, "lifetime_frames": None if kept_frames == -1 else kept_frames}
    if terms.get("many", False):
        found["compute"], found["compute_many"] = None, _many(code, compute)
    if "lifetime_s" in terms:
        found["lifetime_s"], found["lifetime_frames"] = terms["lifetime_s"], 1
    if "may_ask" in terms:
        found["may_ask"] = _may_ask(terms["may_ask"])
    for name, ours in (("fallback", "fallback"), ("maximum_keys", "maximum_keys"), ("symmetric", "is_symmetric")):
        if name in terms:
            found[ours] = terms[name]
    return found


def _many(code: str, compute: Any) -> Callable[[list[Any]], list[Any]]:
    def answers(keys: list[Any]) -> list[Any]:
        found = compute([list(key) for key in keys])
        if not isinstance(found, list) or len(found) != len(keys):
            raise RefusedValue(
                f"topic {code!r} computes many: its Callable must return an Array with an answer for each of the"
                f" {len(keys)} keys, got {found!r}")
        return found
    return answers


def _may_ask(may_ask: Any) -> Callable[..., bool]:
    if not callable(may_ask):
        raise RefusedValue(f"may_ask must be a Callable that takes asker and key, got {may_ask!r}")
    check_callable(may_ask, "may_ask")
    return lambda asker, *key: bool(may_ask(asker, list(key)))


def mistake_of(code: str, keys: list[Any], problem: Exception) -> Exception:
    """Return what to raise for a question that raised: what was asked wrongly, or the problem itself."""
    for key in keys:
        try:
            hash(tuple(key))
        except TypeError:
            return RefusedValue(
                f"a key of topic {code!r} must be of nodes, texts, numbers and vectors, got {list(key)!r};"
                " take the Array or Dictionary in it apart")
    if isinstance(problem, GodotCallError):
        return RefusedValue(f"topic {code!r}: {problem}; a key has a part for each argument")
    return problem


MANAGERS = "ai_event_managers"


HINT_LAYERS_2D_PHYSICS = 8
OWN_TOPICS = ("can_see", "path_length", "property")


@gdclass(icon="res://addons/ai_core/icons/polling_station.svg")
class PollingStation(Node):
    """Answers questions about the world once per frame, however many ask.

    Topics: "can_see" (observer, target) casts a ray; "path_length" (from, to) asks the navigation
    map; "property" (node, name) reads a property; all in 3D and in 2D. Add your own with
    add_topic(). A key is the Array of what a topic is asked about.
    """

    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Sight", on_set="_sight_changed",
        doc="Physics layers that block can_see().")
    sight_mask_2d = export(
        int, 1, hint=(HINT_LAYERS_2D_PHYSICS, ""), on_set="_sight_changed",
        doc="Physics layers that block can_see() in the plane.")
    reach_tolerance_m = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", group="Navigation", on_set="_answers_changed",
        doc="A place counts as reached when the way ends this near to it; in 2D in pixels. In 3D also if it ends right"
            " above or below, up to 2 m, and the map has nothing nearer to the place.")

    is_limited = False      # asked at each poll: two exported properties would take longer
    answers_per_frame = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Budget", on_set="_limits_changed",
        doc="Most answers computed in a frame; beyond it old ones are told, where there are any, and the question"
            " waits for the next frame. 0 is no limit.")
    budget_us = export(
        float, 0.0, range=(0, 100000, 10), or_greater=True, unit="µs", on_set="_limits_changed",
        doc="The same as a time, without answers_per_frame; then the machine decides what is computed. 0 is no limit.")

    logged_polls = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Debug", on_set="apply_log",
        doc="How many polls are kept in the log; 0 keeps none. With a log each poll takes some microseconds.")
    invalidated_by = export(
        PackedStringArray, (), group="Optimizations", on_set="listen_for_changes",
        doc="Codes of events after which answers of built-in topics are computed anew: a door was opened.")
    lifetime_frames = export(
        int, 1, range=(-1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_lifetime_changed",
        shown_when=("lifetime_s", 0.0),
        doc="How many frames an answer of a built-in topic is kept: 1 for this one, 0 for none, -1 until it is"
            " invalidated.")
    lifetime_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", on_set="_lifetime_changed",
        doc="How much game time it is kept instead; 0 counts frames.")
    maximum_answers = export(
        int, 1024, range=(1, 100000, 1), or_greater=True, on_set="_lifetime_changed",
        doc="Most answers kept of each built-in topic; the oldest make room.")

    def __init__(self) -> None:
        self._answers: Answers | None = None
        self._world: WorldQuestions | None = None
        self._topics: dict[str, dict[str, Any]] = {}     # those of scripts, by code
        self._scheduler: Any = None
        self._frame = -1
        self._heard: list[tuple[Any, str]] = []
        self._heard_for: dict[tuple[Any, str, str, bool], Any] = {}

    def on_enter_tree(self) -> None:
        if self._world is None:
            self._world = WorldQuestions(self)
        self._world.enter()

    def on_entered(self) -> None:
        self._follow_scheduler()
        wait_for(self, SCHEDULERS)          # for the first, or one that takes its place
        self.listen_for_changes()

    def on_exit_tree(self) -> None:
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._scheduler = None
        self._world.is_there = False
        self.stop_listening()

    def on_predelete(self) -> None:
        # Topics hold scripts: let them go now, not whenever Python tidies up.
        self.forget_events()
        for code in () if self._answers is None else self._answers.codes:
            self._answers.remove_topic(code)
        self._answers = None
        self._topics.clear()

    @property
    def answers(self) -> Answers:
        """The polling station of the library, for behaviors written in Python."""
        if self._answers is None:
            scheduler = self._scheduler or nearest(self, "AIScheduler", SCHEDULERS)
            if scheduler is not None:
                self._answers = Answers(scheduler.clock, faults=scheduler.faults, values=scheduler.values)
            else:
                self._answers = Answers(EngineClock())
            self._add_own_topics()
            for code, terms in self._topics.items():
                self._answers.add_topic(code, **terms)
            self.apply_log()
        return self._answers

    @method
    def can_see(self, observer: Node, target: Node) -> bool:
        """Return whether nothing on the sight mask stands between two nodes; both in 3D, or both in 2D."""
        check_pair(observer, target)
        return bool(self._begun().poll("can_see", observer, target))

    @method
    def can_see_many(self, observers: ObjectIds, targets: ObjectIds) -> list:
        """Return for each observer whether it can see the target at the same place of the other Array.

        What is missing is cast in one batch. False where a node is null or was freed.
        """
        if type(observers) is not bytes:         # called by Python, with nodes
            return [*self.can_see_many(ids_of(observers), ids_of(targets))]
        if len(observers) != len(targets):
            raise RefusedValue(
                "can_see_many needs as many targets as observers,"
                f" got {len(observers) // ID_BYTES} and {len(targets) // ID_BYTES}")
        return self._begun().poll_many("can_see", IdPairs.of_columns(observers, targets, object_of, number_of))

    @method
    def path_length(self, start: Variant, goal: Variant) -> float:
        """Return the length of the way over the navigation map (m), or -1 if there is none (yet).

        Both places are Vector3, or both are Vector2.
        """
        try:
            check_places("path_length", start, goal)
            return float(self._begun().poll("path_length", start, goal))
        except RefusedValue as problem:
            report_error(str(problem), self)
            return NO_WAY

    @method
    def is_reachable(self, start: Variant, goal: Variant) -> bool:
        """Return whether a way over the navigation map ends at the goal."""
        return self.path_length(start, goal) >= 0

    @method
    def property_of(self, node: Node, name: StringName) -> Variant:
        """Return a property of a node, read once while it is kept: one whose getter is dear."""
        if node is None:
            raise RefusedValue("property_of needs a node, got null")
        return self._begun().poll("property", node, str(name))

    @method
    def add_topic(self, code: str, compute: GDCallable, kept_frames: int = 1, terms: dict = {}) -> None:  # noqa: B006
        """Let poll(code, key) be answered by ``compute`` called with the parts of the key.

        ``kept_frames`` is 1 for this frame alone, 0 for never, -1 until invalidate(). Terms, all
        optional: "lifetime_s", game time instead of frames; "maximum_keys"; "symmetric", true if
        (a, b) is (b, a); "may_ask", a Callable (asker, key) that returns whether an agent could
        know; "fallback", the answer when ``compute`` fails or the budget is spent; "many", true if
        ``compute`` takes an Array of keys and returns an Array of answers.
        """
        check_callable(compute, "add_topic")
        found = topic_terms(code, compute, kept_frames, terms)
        with refusing():
            self.answers.add_topic(code, **found)
        self._topics[code] = found

    @method
    def remove_topic(self, code: str) -> None:
        """Forget a topic and its answers."""
        if code in OWN_TOPICS:
            raise RefusedValue(f"topic {code!r} is built in and cannot be removed")
        self.answers.remove_topic(code)
        self._topics.pop(code, None)
        self.forget_events(code)

    @method
    def poll(self, code: str, key: list = ()) -> Variant:
        """Return the answer of a topic for a key, computed at most once while it is kept."""
        try:
            answer = self._begun().poll(code, *key)
        except MISTAKES as problem:
            raise mistake_of(code, [key], problem) from None
        return None if answer is REFUSED else answer

    @method
    def poll_as(self, asker: Node, code: str, key: list = ()) -> Variant:
        """Return what poll() does, or null if the asker may not know: see the term "may_ask"."""
        try:
            answer = self._begun().poll_as(asker, code, *key)
        except MISTAKES as problem:
            raise mistake_of(code, [key], problem) from None
        return None if answer is REFUSED else answer

    @method
    def poll_many(self, code: str, keys: list) -> list:
        """Return the answers for an Array of keys; what is missing is computed together."""
        parts = [tuple(key) if isinstance(key, list) else (key,) for key in keys]
        try:
            answers = self._begun().poll_many(code, parts)
        except MISTAKES as problem:
            raise mistake_of(code, parts, problem) from None
        return [None if one is REFUSED else one for one in answers]

    @method
    def poll_with_age(self, code: str, key: list = (), asker: Node = None) -> dict:
        """Return "value", "age_frames" (-1 if there is no such answer), "how" and "is_stale".

        How: computed, kept, stale, fallback or refused.
        """
        try:
            answer = self._begun().poll_with_age(code, *key, asker=asker)
        except MISTAKES as problem:
            raise mistake_of(code, [key], problem) from None
        return {
            "value": None if answer.value is REFUSED else answer.value, "how": answer.how, "is_stale": answer.is_stale,
            "age_frames": -1 if answer.age_frames is None else answer.age_frames,
        }

    @method
    def invalidate(self, code: str, key: list = ()) -> None:
        """Drop a kept answer; with an empty key, all answers of the topic."""
        with refusing():
            self.answers.invalidate(code, *key)

    @method
    def invalidate_on(self, manager: Node, event_code: str, code: str, by_key: bool = False) -> None:
        """Drop the answers of a topic whenever an event is told at an AIEventManager, until the topic is removed.

        With ``by_key`` only the answer for the key that the event's arguments are.
        """
        if manager is None or not manager.is_class("AIEventManager"):
            raise RefusedValue(f"invalidate_on needs an AIEventManager, got {manager!r}")
        if code not in self.answers.codes:
            self.answers.invalidate(code)        # says which topics there are
        self.invalidate_when(manager, event_code, code, by_key)

    save_state, load_state = saving("the answers that are kept")

    @method
    def get_stats(self) -> list:
        """Return a row per topic: hits, misses, computations, failures, keys, stale, refused, waiting."""
        return [row._asdict() for row in self.answers.statistics()]

    def is_in_use(self) -> bool:
        return self._answers is not None and self._scheduler is not None

    def saved(self) -> State:
        return self.answers.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.answers.prepare_state(state)

    def _begun(self) -> Answers:
        """Return the library's station, with its limit for this frame set."""
        if self._scheduler is not None and not self._scheduler.is_valid():
            self._follow_scheduler()
        answers = self._answers or self.answers
        if self.is_limited:
            self.begin_frame(answers)
        return answers

    def _follow_scheduler(self) -> None:
        """Be saved with the nearest scheduler; under another one than before begin anew, with the same topics.

        The clock of one that was freed stands still, and answers would be fresh for ever.
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

    def _add_own_topics(self) -> None:
        kept: dict[str, Any] = {"lifetime_frames": None if self.lifetime_frames < 0 else self.lifetime_frames}
        if self.lifetime_s > 0:
            kept = {"lifetime_s": self.lifetime_s}
        kept["maximum_keys"] = self.maximum_answers
        for code in OWN_TOPICS:
            if code in self._answers.codes:
                self._answers.remove_topic(code)
        add = self._answers.add_topic
        add("can_see", None, compute_many=self._see_many, **kept)
        add("path_length", self._path_length, **kept)
        add("property", self._property, **kept)

    def _see_many(self, pairs: Any) -> Any:
        if type(pairs) is not IdPairs:
            if {*map(len, pairs)} != {2}:
                check_parts("can_see", "[observer, target]", next(one for one in pairs if len(one) != 2))
            pairs = IdPairs.of_columns(*map(ids_of, zip(*pairs, strict=True)))
        return (self._world or self._need_world("can_see")).can_see_many(pairs)

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
            raise RefusedValue(f"property_of: {problem}; is the name spelt as in the inspector's tooltip?") from None

    def _need_world(self, question: str) -> WorldQuestions:
        if self._world is None:
            raise RefusedValue(f"{question} needs a world to look at; add the PollingStation to the scene first")
        return self._world

    def _sight_changed(self) -> None:
        if self._world is not None:
            self._world.set_masks()
            self._answers_changed()

    def _answers_changed(self) -> None:
        if self._answers is not None:
            for code in OWN_TOPICS:
                self._answers.invalidate(code)

    def _lifetime_changed(self) -> None:
        if self._answers is not None:
            self._add_own_topics()

    def begin_frame(self, answers: Any) -> None:
        """Work off what waits, at the first question of a frame, and limit the rest of it."""
        frame = answers.clock.now.frame
        if frame == self._frame:
            return
        self._frame = frame
        if self.answers_per_frame:
            answers.begin_frame(Budget.of_steps(self.answers_per_frame))
        else:
            answers.begin_frame(Budget.of_time(self.budget_us, time.perf_counter_ns))

    def _limits_changed(self) -> None:
        self.is_limited = bool(self.answers_per_frame) or self.budget_us > 0

    def listen_for_changes(self) -> None:
        """Hear the events that make built-in answers old, at the nearest AIEventManager."""
        manager = None
        if len(self.invalidated_by) and self.is_inside_tree():
            manager = nearest(self, "AIEventManager", MANAGERS)
            wait_for(self, MANAGERS)        # for the first, or one that takes its place
        wanted = [] if manager is None else [(manager, code) for code in self.invalidated_by]
        if wanted == self._heard:
            return
        self.stop_listening()
        for manager, code in wanted:
            manager.listen(code, self._forget_own)
            self._heard.append((manager, code))

    def stop_listening(self) -> None:
        """Hear them no more."""
        for manager, code in self._heard:
            if manager.is_valid():
                manager.unlisten(code, self._forget_own)
        self._heard.clear()

    def invalidate_when(self, manager: Any, event_code: str, topic: str, by_key: bool) -> None:
        """Hear one more event, as long as both nodes and the topic are there; harmless if it is heard already."""
        question = manager, event_code, topic, by_key
        if question in self._heard_for:
            return

        def forget(_code: str, arguments: list[Any]) -> None:
            if self._answers is not None and topic in self._answers.codes:
                self._answers.invalidate(topic, *(arguments if by_key else ()))
        manager.listen(event_code, forget)
        self._heard_for[question] = forget

    def forget_events(self, topic: str | None = None) -> None:
        """Hear no more what made a topic old, or all of them."""
        for question in [one for one in self._heard_for if topic in (None, one[2])]:
            manager, event_code, _, _ = question
            if manager.is_valid():
                manager.unlisten(event_code, self._heard_for[question])
            del self._heard_for[question]

    def _forget_own(self, _code: str, _arguments: list[Any]) -> None:
        self._answers_changed()

    def apply_log(self) -> None:
        """Keep a log if one is wanted by now."""
        if self._answers is not None:
            self._answers.log = PollingLog(self.logged_polls) if self.logged_polls else None

    @method
    def get_log(self, code: str = "", how: str = "", since_frame: int = 0) -> list:
        """Return polls as Dictionaries, the oldest first: of one topic, answered in one way, or all."""
        return [
            {"frame": one.frame, "seconds": one.seconds, "question": one.question, "asker": one.asker, "how": one.how,
             "age_frames": -1 if one.age_frames is None else one.age_frames, "answer": one.answer}
            for one in self._log().entries(code=code or None, how=how or None, since_frame=since_frame)
        ]

    @method
    def print_log(self, code: str = "", how: str = "", since_frame: int = 0) -> None:
        """Print polls as a table."""
        print(self._log().table(code=code or None, how=how or None, since_frame=since_frame))

    def _log(self) -> PollingLog:
        return self.answers.log or PollingLog()
