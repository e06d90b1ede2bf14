"""Sensor3D: the eyes and ears of one character."""
from __future__ import annotations

import math
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node,
    Node3D,
    NodePath,
    Vector3,
    export,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.sense_member import SenseMember
from ai_core.senses.awareness import AwarenessSettings, LevelChange
from ai_core.senses.memory import MemoryChange, Remembered, SenseMemory
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight import SightCone


@gdclass(icon="res://addons/ai_core/icons/sensor_3d.svg")
class Sensor3D(SenseMember, Node3D):
    """A character's senses: what it sees and hears, remembers, and how aware it is of it.

    Put it where the eyes are; it looks along -z. It belongs to the SenseManager above
    it, or else to the first one in the scene.
    """

    sight_range_m = export(
        float, 20.0, range=(0.1, 500, 0.1), or_greater=True, unit="m", group="Sight", on_set="_change",
        doc="How far the main cone of sight reaches.")
    horizontal_angle = export(
        float, math.radians(110), range=(0.01, math.tau, 0.001), as_degrees=True, on_set="_change",
        doc="Full angle of the main cone from left to right.")
    vertical_angle = export(
        float, math.radians(80), range=(0.01, math.pi, 0.001), as_degrees=True, on_set="_change",
        doc="Full angle of the main cone from bottom to top.")
    near_range_m = export(
        float, 2.0, range=(0, 50, 0.1), unit="m", on_set="_change",
        doc="Within this distance it notices in every direction; 0 switches that off.")
    sight_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, on_set="_change", doc="Weakest strength that is seen.")
    hearing_threshold = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, group="Hearing", on_set="_change",
        doc="Weakest sound that is heard.")
    notices = export(
        int, 0xFFFFFFFF, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Affiliation", on_set="_change",
        doc="Affiliations of sources that it notices.")
    own_source = export(
        NodePath, NodePath(""), on_set="_change", doc="The SenseSource3D that is itself, which it never senses.")
    lose_after_s = export(
        float, 1.0, range=(0, 60, 0.05), unit="s", group="Memory",
        doc="A target not sensed for so long is lost. Read when it joins.")
    maximum_age_s = export(
        float, 20.0, range=(0, 600, 0.1), or_greater=True, unit="s",
        doc="A target not sensed for so long is forgotten. Read when it joins.")
    awareness_gain_per_s = export(
        float, 1.0, range=(0, 20, 0.01), or_greater=True, group="Awareness",
        doc="How fast it grows aware of what it sees at strength 1. Read when it joins.")
    awareness_decay_per_s = export(
        float, 0.2, range=(0, 20, 0.01), or_greater=True, doc="How fast awareness fades. Read when it joins.")

    sensed = signal(
        ("source", Node), ("modality", str), ("strength", float), ("position", Vector3),
        doc="Something was sensed; of what stays in view, a few times a second.")
    target_gained = signal(("target", Node), doc="A target is known now that was not, or was lost.")
    target_lost = signal(("target", Node), ("last_known_position", Vector3), doc="A target is not sensed any more.")
    target_forgotten = signal(("target", Node), doc="A lost target was not sensed for the maximum age.")
    awareness_changed = signal(
        ("target", Node), ("level", int), ("level_name", str), doc="0 is unaware, 1 suspicious, 2 alert.")

    without_manager = "senses nothing"
    saved_names = (
        "sight_range_m", "horizontal_angle", "vertical_angle", "near_range_m",
        "sight_threshold", "hearing_threshold", "notices",
    )

    def __init__(self) -> None:
        self._id = -1

    def on_exit_tree(self) -> None:
        if self._manager is not None and self._manager.is_valid():
            self._manager.remove_sensor(self._id)
        self._manager = None

    @method
    def get_known_targets(self) -> list:
        """Return what it knows, the surest first: a Dictionary per target.

        Keys: target (null if it has left), last_known_position, age_s, strength, modality,
        velocity, awareness (0 to 1), level, is_visible.
        """
        if self._manager is None:
            return []
        visible = set(self._manager.core.sensed_by(self._id))
        return [self._known(one, visible) for one in self._memory().known()]

    @method
    def can_sense(self, target: Node) -> bool:
        """Return whether a source is in view right now."""
        if self._manager is None:
            return False
        return any(self._manager.source_node(one) == target for one in self._manager.core.sensed_by(self._id))

    @method
    def forget(self, target: Node) -> None:
        """Drop what it remembers of a source, without a signal."""
        if self._manager is None:
            return
        for one in self._memory().known():
            if self._manager.source_node(one.target) == target:
                self._memory().forget(one.target)

    def find_own_source(self) -> None:
        """Called when a source has joined that may be its own."""
        self._change()

    def _get_configuration_warnings(self) -> list[str]:
        warnings = super()._get_configuration_warnings()
        own = self.get_node_or_null(self.own_source) if self.own_source else None
        if self.own_source and (own is None or not own.is_class("SenseSource3D")):
            warnings.append(f"own_source '{self.own_source}' is no SenseSource3D; choose the one it carries, or none")
        return warnings

    def _own_id(self, manager: Any) -> int | None:
        own = self.get_node_or_null(self.own_source) if self.own_source else None
        if own is None or not own.is_class("SenseSource3D"):
            return None
        if own.source_id < 0:
            manager.await_own_source(self)   # a later sibling: it joins after this one
            return None
        return own.source_id

    def _enlist(self, manager: Any) -> None:
        self._id = manager.add_sensor(
            self, **self._settings(manager),
            memory=SenseMemory(
                lose_after_s=self.lose_after_s, maximum_age_s=max(self.maximum_age_s, self.lose_after_s)),
            awareness=AwarenessSettings(gain_per_s=self.awareness_gain_per_s, decay_per_s=self.awareness_decay_per_s),
            on_sensed=self._tell_sensed, on_gained=self._tell_gained, on_lost=self._tell_lost,
            on_forgotten=self._tell_forgotten, on_awareness_changed=self._tell_awareness)

    def _settings(self, manager: Any) -> dict[str, Any]:
        cones = [SightCone(self.sight_range_m, self.horizontal_angle, self.vertical_angle)]
        if self.near_range_m > 0:
            cones.append(SightCone(self.near_range_m, math.tau, math.pi))
        return {
            "thresholds": {"sight": self.sight_threshold, "hearing": self.hearing_threshold},
            "sight_cones": cones,
            "notices": self.notices & 0xFFFFFFFF,
            "own_source": self._own_id(manager),
        }

    def _change(self) -> None:
        if self._manager is not None:
            settings = self._settings(self._manager)
            if settings["own_source"] is None:
                settings["own_source"] = -1      # None would keep the old one
            self._manager.core.change_sensor(self._id, **settings)

    def take_id(self, sensor_id: int) -> None:
        self._id = sensor_id

    def _memory(self) -> SenseMemory:
        return self._manager.core.memory_of(self._id)

    def _known(self, one: Remembered, visible: set[int]) -> dict[str, Any]:
        now_s = self._manager.now_s
        meter = self._manager.core.awareness_of(self._id, one.target)
        return {
            "target": self._manager.source_node(one.target),
            "last_known_position": Vector3(*one.last_known_position),
            "velocity": Vector3(*one.velocity),
            "age_s": one.age_s(now_s),
            "strength": one.strength,
            "modality": one.dominant_modality,
            "awareness": 0.0 if meter is None else meter.value,
            "level": 0 if meter is None else meter.level,
            "is_visible": one.target in visible,
        }

    def _tell_sensed(self, sensation: Sensation) -> None:
        self.sensed.emit(
            self._manager.source_node(sensation.source_id), sensation.modality,
            float(sensation.intensity), Vector3(*sensation.position))

    def _tell_gained(self, change: MemoryChange) -> None:
        self.target_gained.emit(self._manager.source_node(change.target))

    def _tell_lost(self, change: MemoryChange) -> None:
        self.target_lost.emit(self._manager.source_node(change.target), Vector3(*change.last_known_position))

    def _tell_forgotten(self, change: MemoryChange) -> None:
        self.target_forgotten.emit(self._manager.source_node(change.target))

    def _tell_awareness(self, change: LevelChange) -> None:
        self.awareness_changed.emit(self._manager.source_node(change.target), change.level, change.name)
