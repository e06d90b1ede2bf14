"""PollingStation: answers asked by many and computed once per frame."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    Node3D,
    RefusedValue,
    Variant,
    Vector3,
    export,
    gdclass,
    method,
    report_error,
    singleton,
)
from addons.ai_core.nodes.engine_clock import EngineClock
from addons.ai_core.nodes.scene_saving import load_node, save_node
from addons.ai_core.nodes.scheduled import SCHEDULERS, check_callable, nearest
from addons.ai_core.nodes.sight_rays import SightRays, body_id
from ai_core.events.polling_station import PollingStation as Answers
from ai_core.saving.fields import State

NO_WAY = -1.0


@gdclass(icon="res://addons/ai_core/icons/polling_station.svg")
class PollingStation(Node):
    """Answers questions about the world once per frame, however many ask.

    Topics: ``can_see(from, to)`` casts a ray; ``path_length(from, to)`` and
    ``is_reachable(from, to)`` ask the navigation map; add your own with add_topic().
    """

    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Sight", on_set="_sight_changed",
        doc="Physics layers that block can_see().")
    reach_tolerance_m = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", group="Navigation",
        doc="A place counts as reached when the way ends this near to it.")
    lifetime_frames = export(
        int, 1, range=(1, 600, 1), unit="frames", group="Optimizations", on_set="_lifetime_changed",
        doc="How many frames an answer of a built-in topic is kept.")

    def __init__(self) -> None:
        self._answers: Answers | None = None
        self._rays: SightRays | None = None
        self._scheduler: Any = None

    def on_enter_tree(self) -> None:
        if self._rays is None:
            self._rays = SightRays(self, self.sight_mask)

    def on_entered(self) -> None:
        self._scheduler = nearest(self, "AIScheduler", SCHEDULERS)
        if self._scheduler is not None:
            self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._scheduler = None

    def on_predelete(self) -> None:
        self._answers = None         # topics hold scripts: let them go now

    @property
    def answers(self) -> Answers:
        """The polling station of the library, for behaviors written in Python."""
        if self._answers is None:
            scheduler = self._scheduler or nearest(self, "AIScheduler", SCHEDULERS)
            if scheduler is not None:
                self._answers = Answers(scheduler.clock, values=scheduler.values)
            else:
                self._answers = Answers(EngineClock())
            self._add_own_topics()
        return self._answers

    def _add_own_topics(self) -> None:
        for code, compute in (("can_see", self._can_see), ("path_length", self._path_length)):
            if code in self._answers.codes:
                self._answers.remove_topic(code)
            self._answers.add_topic(code, compute, lifetime_frames=self.lifetime_frames)

    @method
    def can_see(self, observer: Node3D, target: Node3D) -> bool:
        """Return whether nothing on the sight mask stands between two nodes."""
        return bool(self.answers.poll("can_see", observer, target))

    @method
    def path_length(self, start: Vector3, goal: Vector3) -> float:
        """Return the length of the way over the navigation map (m), or -1 if there is none (yet)."""
        try:
            return float(self.answers.poll("path_length", start, goal))
        except RefusedValue as problem:
            report_error(str(problem), self)
            return NO_WAY

    @method
    def is_reachable(self, start: Vector3, goal: Vector3) -> bool:
        """Return whether a way over the navigation map ends at the goal."""
        return self.path_length(start, goal) >= 0

    @method
    def add_topic(self, code: str, compute: GDCallable, kept_frames: int = 1) -> None:
        """Let poll(code, key) be answered by ``compute`` called with the parts of the key."""
        check_callable(compute, "add_topic")
        self.answers.add_topic(code, compute, lifetime_frames=kept_frames)

    @method
    def remove_topic(self, code: str) -> None:
        """Forget a topic and its answers."""
        self.answers.remove_topic(code)

    @method
    def poll(self, code: str, key: list = ()) -> Variant:
        """Return the answer of a topic for a key, computed at most once while it is kept."""
        return self.answers.poll(code, *key)

    @method
    def invalidate(self, code: str, key: list = ()) -> None:
        """Drop a kept answer; with an empty key, all answers of the topic."""
        self.answers.invalidate(code, *key)

    @method
    def save_state(self) -> dict:
        """Return the answers that are kept.

        AIScheduler.save_state() includes it.
        """
        return save_node(self)

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned; checks all of it before it changes anything."""
        return load_node(self, state)

    @method
    def get_stats(self) -> list:
        """Return a row per topic: hits, misses, computations, failures, kept."""
        return [row._asdict() for row in self.answers.statistics()]

    def is_in_use(self) -> bool:
        return self._answers is not None and self._scheduler is not None

    def saved(self) -> State:
        return self.answers.save_state()

    def prepared(self, state: object) -> Callable[[], None]:
        return self.answers.prepare_state(state)

    def _can_see(self, observer: Any, target: Any) -> bool:
        if observer is None or target is None:
            raise RefusedValue("can_see needs two nodes, got null")
        self._need_tree("can_see")
        origins = np.array([tuple(observer.get_global_position())], np.float32)
        targets = np.array([tuple(target.get_global_position())], np.float32)
        allowed = np.array([body_id(target)], np.int64)
        return not self._rays.blocked(origins, targets, allowed)[0]

    def _need_tree(self, question: str) -> None:
        if not self.is_inside_tree():
            raise RefusedValue(f"{question} needs a world to look at; add the PollingStation to the scene first")

    def _sight_changed(self) -> None:
        if self._rays is not None:
            self._rays.collision_mask = self.sight_mask

    def _lifetime_changed(self) -> None:
        if self._answers is not None:
            self._add_own_topics()

    def _path_length(self, start: Vector3, goal: Vector3) -> float:
        self._need_tree("path_length")
        world = self.get_viewport().find_world_3d()
        navigation = singleton("NavigationServer3D")
        map_rid = world.get_navigation_map()
        if navigation.map_get_iteration_id(map_rid) == 0:
            return NO_WAY            # the map is still being built; asked again next frame
        way = navigation.map_get_path(map_rid, start, goal, True)
        if len(way) == 0 or np.linalg.norm(way[-1] - np.array(tuple(goal))) > self.reach_tolerance_m:
            return NO_WAY
        return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
