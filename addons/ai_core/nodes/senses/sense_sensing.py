"""What Sensor3D and Sensor2D share: settings, signals, and what they ask of the library."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS, dictionary_of
from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    RefusedValue,
    Variant,
    Vector2,
    export,
    method,
    signal,
)
from addons.ai_core.nodes.senses.sense_member import SenseMember, refused
from addons.ai_core.nodes.senses.sense_place import manager_of
from addons.ai_core.nodes.senses.sense_settings import TRAIL
from addons.ai_core.nodes.senses.sensor_questions import SensorQuestions
from ai_core.saving.fields import Fields, State
from ai_core.senses.awareness import SUSPICIOUS_AND_ALERT, AwarenessLevel, AwarenessSettings, LevelChange
from ai_core.senses.memory import MemoryChange, SenseMemory
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight import SightCone

OWN_LEVELS = [(level.name, level.rises_at, level.falls_at) for level in SUSPICIOUS_AND_ALERT]
"""Levels of awareness of a sensor that has no others."""


class Sensing(SensorQuestions, SenseMember):
    """Sensor3D and Sensor2D, but for what is a place there; a part of those classes."""

    sensed: Any
    target_lost: Any
    get_node_or_null: Any
    source_class = ""
    sensor_class = ""
    _cones: Callable[[], list[SightCone]]
    _cone_warnings: Callable[[], list[str]]
    _saved_cones: Callable[[], list[list[float]]]
    _prepared_cones: Callable[[Fields], Callable[[], None]]

    sight_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, on_set="_change", doc="Weakest strength that is seen.")
    hearing_threshold = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, group="Hearing", on_set="_change",
        doc="Weakest sound that is heard.")
    smell_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, group="Smell", on_set="_change",
        doc="Weakest smell that is smelled.")
    smells_trails = export(
        bool, False, on_set="_change",
        doc="On: it smells the marks of scent trails, from smell_threshold on, as modality trail; see track()."
            " The SenseManager must have keeps_trails on.")
    touch_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, group="Touch", on_set="_change",
        doc="Weakest touch that is felt: nearness, collisions, damage.")
    other_thresholds = export(
        dict, (), hint=dictionary_of(str, float), group="Other senses", on_set="_change",
        doc="Weakest strength that it senses in modalities of your own, by name: \"telepathy\" 0.2.")
    notices = export(
        int, 0xFFFFFFFF, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Affiliation", on_set="_change",
        doc="Affiliations of sources that it notices.")
    own_source = export(
        NodePath, NodePath(""), on_set="_change", doc="The source that is itself, which it never senses.")
    lose_after_s = export(
        float, 1.0, range=(0, 60, 0.05), unit="s", group="Memory",
        doc="A target not sensed for so long is lost. Read when it joins.")
    maximum_age_s = export(
        float, 20.0, range=(0, 600, 0.1), or_greater=True, unit="s",
        doc="A target not sensed for so long expires: it is not to be trusted any more. Read when it joins.")
    keep_expired_s = export(
        float, 0.0, range=(0, 600, 0.1), or_greater=True, unit="s",
        doc="What expired is forgotten so much later. Read when it joins.")
    free_knowledge_s = export(
        float, 0.0, range=(0, 10, 0.05), or_greater=True, unit="s",
        doc="For so long after a target was last seen, its position goes on being known. Read when it joins.")
    awareness_gain_per_s = export(
        float, 1.0, range=(0, 20, 0.01), or_greater=True, group="Awareness",
        doc="How fast it grows aware of what it sees at strength 1. Read when it joins.")
    awareness_decay_per_s = export(
        float, 0.2, range=(0, 20, 0.01), or_greater=True, doc="How fast awareness fades. Read when it joins.")
    awareness_gain_per_signal = export(
        float, 0.25, range=(0, 20, 0.01), or_greater=True,
        doc="How much a sound, smell or touch of strength 1 raises it at once. Read when it joins.")
    awareness_levels = export(
        dict, (), hint=dictionary_of(str, Vector2), on_set="_awareness",
        doc="Its levels, from 0 to 1: x is the awareness at which one is reached, y that at which it is left again."
            " None: \"suspicious\" (0.3, 0.1) and \"alert\" (1, 0.5). Read when it joins.")
    reaction_s = export(
        float, 0.0, range=(0, 10, 0.01), or_greater=True, unit="s",
        doc="A level is told so long after it was reached, unless it is left meanwhile. Read when it joins.")

    target_gained = signal(("target", Node), doc="A target is known now that was not, or was lost;"
        " null if it has left meanwhile, as a grenade that burst.")
    target_expired = signal(("target", Node), doc="A lost target was not sensed for the maximum age.")
    target_forgotten = signal(("target", Node), doc="A target that expired is not kept any longer.")
    target_told = signal(("target", Node), doc="Another reported something newer of a target; see report_to.")
    awareness_changed = signal(
        ("target", Node), ("level", int), ("level_name", str), doc="0 is unaware; 1 and more are awareness_levels.")

    without_manager = "senses nothing"
    saved_names = (
        "sight_range_m", "horizontal_angle", "near_range_m",
        "sight_threshold", "hearing_threshold", "smell_threshold", "notices",
        "lose_sight_range_m", "is_searching", "searching_factor", "smells_trails", "touch_threshold",
        "other_thresholds",
    )

    def __init__(self) -> None:
        self._id = -1

    def on_exit_tree(self) -> None:
        self.end_feeling()
        if self._manager is not None and self._manager.is_valid():
            self._manager.remove_sensor(self._id)
        self._manager = None

    @method
    def touch(self, source: Node, strength: float = 1.0, tag: str = "collision", position: Variant = None) -> None:
        """Tell it what happened to it: a collision, a blow, damage; it is sensed as modality touch.

        Args:
            source: who did it.
            strength: how strong it was; below touch_threshold it is not felt.
            tag: what it was, such as "damage"; see get_last_sensation().
            position: where, a Vector3, or Vector2 in 2D; null for where the source is.
        """
        if self._manager is None or not self._is_source(source):
            raise RefusedValue(
                f"cannot be touched by {source!r}: it needs a {self.source_class} of the same SenseManager")
        place = None if position is None else self._manager.metres(position)
        self._manager.core.touch(self._id, source.source_id, "touch", strength, place, tag=tag)

    @method
    def report_to(self, other: Node, age_s: float = 0.0) -> None:
        """Tell another sensor by radio where its targets were last known, each as old as it is.

        With an age it is a report that was under way so long. Nobody notices a target by being told.
        """
        if other is None or not other.is_class(self.sensor_class) or other._manager is None or self._manager is None:
            raise RefusedValue(
                f"cannot report to {other!r}: both must be a {self.sensor_class} in a scene with a SenseManager")
        if other._manager != self._manager:
            raise RefusedValue("cannot report to a sensor of another SenseManager; their targets are not the same")
        for one in self._memory().known():
            report = self._memory().report_of(one.target)
            if report is not None:
                other._memory().hear_report(report, age_s)

    @method
    def set_keenness(self, modality: str, keenness: float, for_s: float = 0.0) -> None:
        """Make a sense keener or duller by a factor, such as 0 for deafened; for so long, or for good with 0."""
        if self._manager is None:
            raise RefusedValue("has no keenness to change: it is not in a scene with a SenseManager")
        self._manager.core.set_keenness(self._id, modality, keenness, for_s=for_s or None)

    def saved_more(self) -> State:
        return {"sight_cones": self._saved_cones()}

    def prepared_more(self, fields: Fields) -> Callable[[], None]:
        return self._prepared_cones(fields)

    def find_own_source(self) -> None:
        """Called when a source has joined that may be its own."""
        self._change()

    def _get_configuration_warnings(self) -> list[str]:
        warnings = [*super()._get_configuration_warnings(), *self._cone_warnings()]
        own = self.get_node_or_null(self.own_source) if self.own_source else None
        if self.own_source and (own is None or not own.is_class(self.source_class)):
            warnings.append(
                f"own_source '{self.own_source}' is no {self.source_class}; choose the one it carries, or none")
        manager = manager_of(self)
        if self.smells_trails and manager is not None and not manager.keeps_trails:
            warnings.append(f"smells no trails: keeps_trails of its SenseManager '{manager.get_name()}' is off")
        return warnings

    def _own_id(self, manager: Any) -> int | None:
        if not self.own_source:
            return None
        own = self.get_node_or_null(self.own_source)
        if own is None or (own.is_class(self.source_class) and manager.source_node(own.source_id) != own):
            manager.await_own_source(self)   # a later sibling, which joins after this one; or it has left
            return None
        if not own.is_class(self.source_class):
            return None
        manager.note_own_source(own.source_id, self)
        return own.source_id

    def _enlist(self, manager: Any) -> None:
        self._id = manager.add_sensor(
            self, self._settings(manager),
            memory=SenseMemory(
                lose_after_s=self.lose_after_s, maximum_age_s=max(self.maximum_age_s, self.lose_after_s),
                keep_expired_s=self.keep_expired_s, free_knowledge_s=self.free_knowledge_s),
            awareness=self._awareness(),
            on_sensed=self._tell_sensed, on_gained=self._tell_gained, on_lost=self._tell_lost,
            on_forgotten=self._tell_forgotten, on_awareness_changed=self._tell_awareness,
            on_expired=self._tell_expired, on_told=self._tell_told, listens=self._is_listened_to)

    def _settings(self, manager: Any) -> dict[str, Any]:
        return {
            "thresholds": {
                "sight": self.sight_threshold, "hearing": self.hearing_threshold, "smell": self.smell_threshold,
                "touch": self.touch_threshold,
                **({TRAIL: self.smell_threshold} if self.smells_trails and manager.keeps_trails else {}),
                **self.other_thresholds},
            "sight_cones": self._cones(),
            "notices": self.notices & 0xFFFFFFFF,
            "own_source": self._own_id(manager),
        }

    def _awareness(self) -> AwarenessSettings:
        """Return how it grows aware; RefusedValue where awareness_levels are none."""
        levels = []
        for name, place in self.awareness_levels.items():
            if not isinstance(place, Vector2):
                raise RefusedValue(
                    f"awareness_levels[{str(name)!r}] must be a Vector2, of where it is reached and where it is left,"
                    f" got {place!r}")
            levels.append((str(name), *place))
        with refused():
            return AwarenessSettings(
                gain_per_s=self.awareness_gain_per_s, decay_per_s=self.awareness_decay_per_s,
                gain_per_signal=self.awareness_gain_per_signal,
                levels=[
                    AwarenessLevel(name, rises_at, falls_at, self.reaction_s)
                    for name, rises_at, falls_at in sorted(levels or OWN_LEVELS, key=lambda level: level[1])])

    def _change(self) -> None:
        if self._manager is not None:
            settings = self._settings(self._manager)
            if settings["own_source"] is None:
                settings["own_source"] = -1      # None would keep the old one
            with refused():
                self._manager.core.change_sensor(self._id, **settings)

    @property
    def sensor_id(self) -> int:
        """Its id in the sense manager of the library, for behaviors written in Python."""
        return self._id

    def take_id(self, sensor_id: int) -> None:
        self._id = sensor_id

    # What another was told before in the same frame may have taken this, or the manager, out of the tree.
    def _is_listened_to(self) -> bool:
        return self._manager is not None and bool(self.sensed.has_connections())

    def _tell_sensed(self, sensation: Sensation) -> None:
        manager = self._manager
        if manager is not None:
            self.sensed.emit(
                manager.source_node(sensation.source_id), sensation.modality,
                float(sensation.intensity), manager.point(sensation.position))

    def _tell_gained(self, change: MemoryChange) -> None:
        self._tell_of(self.target_gained, change.target)

    def _tell_lost(self, change: MemoryChange) -> None:
        manager = self._manager
        if manager is not None:
            self.target_lost.emit(manager.source_node(change.target), manager.point(change.last_known_position))

    def _tell_expired(self, change: MemoryChange) -> None:
        self._tell_of(self.target_expired, change.target)

    def _tell_told(self, change: MemoryChange) -> None:
        self._tell_of(self.target_told, change.target)

    def _tell_forgotten(self, change: MemoryChange) -> None:
        self._tell_of(self.target_forgotten, change.target)

    def _tell_awareness(self, change: LevelChange) -> None:
        self._tell_of(self.awareness_changed, change.target, change.level, change.name)

    def _tell_of(self, told: Any, target: int, *more: Any) -> None:
        if self._manager is not None:
            told.emit(self._manager.source_node(target), *more)
