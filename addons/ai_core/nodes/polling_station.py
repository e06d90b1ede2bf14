"""PollingStation: answers asked by many and computed once per frame."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    GDCallable,
    Node,
    Node3D,
    Variant,
    Vector3,
    export,
    gdclass,
    method,
    singleton,
)
from addons.ai_core.nodes.engine_clock import EngineClock
from addons.ai_core.nodes.scheduled import nearest
from addons.ai_core.nodes.sight_rays import SightRays, body_id
from ai_core.events.polling_station import PollingStation as Answers

NO_WAY = -1.0


@gdclass(icon="res://addons/ai_core/icons/polling_station.svg")
class PollingStation(Node):
    """Answers questions about the world once per frame, however many ask.

    Topics: ``can_see(from, to)`` casts a ray; ``path_length(from, to)`` and
    ``is_reachable(from, to)`` ask the navigation map; add your own with add_topic().
    """

    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Sight", doc="Physics layers that block can_see().")
    reach_tolerance_m = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", group="Navigation",
        doc="A place counts as reached when the way ends this near to it.")
    lifetime_frames = export(
        int, 1, range=(1, 600, 1), unit="frames", group="Optimizations",
        doc="How many frames an answer of a built-in topic is kept.")

    def __init__(self) -> None:
        self._answers: Answers | None = None
        self._rays: SightRays | None = None

    def on_exit_tree(self) -> None:
        self._answers = None

    @property
    def answers(self) -> Answers:
        """The polling station of the library, for behaviors written in Python."""
        if self._answers is None:
            scheduler = nearest(self, "AIScheduler", "ai_schedulers")
            self._answers = Answers(scheduler.clock if scheduler is not None else EngineClock())
            for code, compute in (("can_see", self._can_see), ("path_length", self._path_length)):
                self._answers.add_topic(code, compute, lifetime_frames=self.lifetime_frames)
        return self._answers

    @method
    def can_see(self, observer: Node3D, target: Node3D) -> bool:
        """Return whether nothing on the sight mask stands between two nodes."""
        return bool(self.answers.poll("can_see", observer, target))

    @method
    def path_length(self, start: Vector3, goal: Vector3) -> float:
        """Return the length of the way over the navigation map (m), or -1 if there is none (yet)."""
        return float(self.answers.poll("path_length", start, goal))

    @method
    def is_reachable(self, start: Vector3, goal: Vector3) -> bool:
        """Return whether a way over the navigation map ends at the goal."""
        return self.path_length(start, goal) >= 0

    @method
    def add_topic(self, code: str, compute: GDCallable, kept_frames: int = 1) -> None:
        """Let poll(code, key) be answered by ``compute`` called with the parts of the key."""
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
    def get_stats(self) -> list:
        """Return a row per topic: hits, misses, computations, failures, kept."""
        return [row._asdict() for row in self.answers.statistics()]

    def _can_see(self, observer: Any, target: Any) -> bool:
        if observer is None or target is None:
            raise ValueError("can_see needs two nodes, got null")
        if self._rays is None or not self._rays.is_ready:
            self._rays = SightRays(self, self.sight_mask)
        origins = np.array([tuple(observer.get_global_position())], np.float32)
        targets = np.array([tuple(target.get_global_position())], np.float32)
        allowed = np.array([body_id(target)], np.int64)
        return not self._rays.blocked(origins, targets, allowed)[0]

    def _path_length(self, start: Vector3, goal: Vector3) -> float:
        world = self.get_viewport().find_world_3d()
        navigation = singleton("NavigationServer3D")
        map_rid = world.get_navigation_map()
        if navigation.map_get_iteration_id(map_rid) == 0:
            return NO_WAY            # the map is still being built; asked again next frame
        way = navigation.map_get_path(map_rid, start, goal, True)
        if len(way) == 0 or np.linalg.norm(way[-1] - np.array(tuple(goal))) > self.reach_tolerance_m:
            return NO_WAY
        return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
