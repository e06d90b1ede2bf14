"""Base class of Sensor3D and Sensor2D: their settings, signals and queries."""
from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import HINT_FLAGS, SIDES, array_of, dictionary_of
from addons.ai_core.bridge.gd import (
    Node,
    Node2D,
    Node3D,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    construct,
    export,
    gdclass,
    method,
    refusing,
    signal,
)
from addons.ai_core.nodes.saving.node_settings import SharedSettings, core_settings, exported_values
from addons.ai_core.nodes.scheduling.followed_resources import follow_changes
from addons.ai_core.nodes.senses.sense_drawing import DragHandle, DrawnNode, Points, ball, cone
from addons.ai_core.nodes.senses.sense_member import SenseMember, refused
from addons.ai_core.nodes.senses.sense_place import TRAIL
from addons.ai_core.nodes.senses.sight_cone import NAMES, SightCone, made_cone
from ai_core.errors import finite_number
from ai_core.saving.kinds import ListOf, Number, Row
from ai_core.senses.percepts.awareness import SUSPICIOUS_AND_ALERT, AwarenessLevel, AwarenessReasons, AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.percept_loops import KnownTarget
from ai_core.senses.sensation import LevelChange, MemoryChange
from ai_core.senses.sense_reasons import SenseFactors
from ai_core.senses.sight.sight_cones import SightCone as Cone


def _factors(factors: SenseFactors, unit: float) -> dict[str, Any]:
    plain = {name: -1 if value is None else value for name, value in factors._asdict().items()}
    distance_m = plain.pop("distance_m")
    return {**plain, "parts": list(factors.parts), "distance": distance_m * unit if distance_m >= 0 else -1.0}


def _awareness(reasons: AwarenessReasons | None, now_s: float) -> dict[str, Any]:
    if reasons is None:
        return {
            "awareness": 0.0, "level_name": "unaware", "rate_per_s": 0.0, "visibility": {}, "stimulus_gain": {},
            "reacts_in_s": -1.0}
    return {
        "awareness": reasons.value, "level_name": reasons.level_name, "rate_per_s": reasons.rate_per_s,
        "visibility": dict(reasons.visibility), "stimulus_gain": dict(reasons.stimulus_gain),
        "reacts_in_s": -1.0 if reasons.reacts_at_s is None else max(0.0, reasons.reacts_at_s - now_s)}


def _cone(*numbers: float) -> SightCone:
    cone: SightCone = construct("SightCone")
    for name, value in zip(NAMES, numbers, strict=True):
        setattr(cone, name, value)
    return cone


def _numbers(cones: Sequence[SightCone]) -> list[list[float]]:
    return [[getattr(one, name) for name in NAMES] for one in cones]


SensorTerms = tuple[dict[str, Any], SenseMemory, AwarenessSettings]
"""Arguments of ``add_sensor`` and ``change_sensor``, an empty memory with the times of a sensor, and its awareness."""

OWN_LEVELS = [(level.name, level.rises_at, level.falls_at) for level in SUSPICIOUS_AND_ALERT]
"""Awareness levels of a sensor whose awareness_levels are empty."""


def _signals(vector: type) -> tuple[Any, Any]:
    """Return the signals that pass a position, a vector of a class: ``sensed`` and ``target_lost``."""
    return (
        signal(
            ("source", Node), ("modality", str), ("strength", float), ("position", vector), ("character", Node),
            doc="Emitted when the sensor senses a source; for a source that stays in view, a few times per second."
                " source is null if the source has left, such as a grenade that burst."),
        signal(
            ("target", Node), ("last_known_position", vector), ("character", Node),
            doc="Emitted when a target has not been sensed for lose_after."))


class SensorBase(DrawnNode, SenseMember):
    """Base class of Sensor3D and Sensor2D, which add positions in space."""

    source_class = ""
    sensor_class = ""
    STATE = SenseMember.STATE.extended(sight_cones=ListOf(Row(_cone, *[Number()] * len(NAMES)), at="_saved_cones"))

    sight_cones = export(
        list, (), hint=array_of("SightCone"), group="Sight", on_set="_cones_set",
        doc="Sight cones in order; the first cone that contains a target counts. They replace the single cone of"
            " sight_range, horizontal_angle, vertical_angle and lose_sight_range. If empty, that single cone is used.")
    sight_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, core="sensor.thresholds.sight", live=True,
        doc="Lowest strength at which the sensor sees a source.")
    hearing_threshold = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, group="Hearing", core="sensor.thresholds.hearing", live=True,
        doc="Lowest strength at which the sensor hears a sound.")
    smell_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, group="Smell", core="sensor.thresholds.smell", live=True,
        doc="Lowest strength at which the sensor notices a smell.")
    smells_trails = export(
        bool, False, live=True,
        doc="If true, the sensor smells the marks of scent trails in the modality \"trail\", with smell_threshold as"
            " the threshold; see track(). Requires keeps_trails of the SenseManager.")
    touch_threshold = export(
        float, 0.1, range=(0, 100, 0.01), or_greater=True, group="Touch", core="sensor.thresholds.touch", live=True,
        doc="Lowest strength at which the sensor feels a touch: a near source, a collision, damage.")
    other_thresholds = export(
        dict, (), hint=dictionary_of(str, float), group="Other senses", live=True,
        doc="Lowest strength that the sensor senses in custom modalities, by modality name: \"telepathy\" 0.2.")
    detection_mask = export(
        int, 0xFFFFFFFF, hint=(HINT_FLAGS, SIDES), group="Affiliation", core="sensor.detection_mask",
        live=True,
        doc="Affiliations that the sensor senses; sources of other affiliations are ignored.")
    self_source = export(
        NodePath, NodePath(""), on_set="_own_changed",
        doc="The sense source of the sensor's own character, which the sensor never senses. If empty, the first source"
            " below the same body that moves, or the same parent.")
    lose_after = export(
        float, 1.0, range=(0, 60, 0.05), unit="s", group="Memory", core="memory.lose_after_s",
        doc="Time without a sensation after which a target is lost. Read when the sensor enters the scene.")
    max_age = export(
        float, 20.0, range=(0, 600, 0.1), or_greater=True, unit="s", core="memory.max_age_s",
        doc="Time without a sensation after which a target expires: its last known position is no longer reliable."
            " Read when the sensor enters the scene.")
    keep_expired = export(
        float, 0.0, range=(0, 600, 0.1), or_greater=True, unit="s", core="memory.keep_expired_s",
        doc="Time from the expiry of a target until it is forgotten. Read when the sensor enters the scene.")
    free_knowledge = export(
        float, 0.0, range=(0, 10, 0.05), or_greater=True, unit="s", core="memory.free_knowledge_s",
        doc="Time after the last sighting of a target during which its true position stays known, as if the sensor"
            " guessed where it went. Read when the sensor enters the scene.")
    awareness_gain = export(
        float, 1.0, range=(0, 20, 0.01), or_greater=True, group="Awareness", core="awareness.gain_per_s",
        doc="Rise of awareness per second while a target is seen at strength 1. Read when the sensor enters the scene.")
    awareness_decay = export(
        float, 0.2, range=(0, 20, 0.01), or_greater=True, core="awareness.decay_per_s",
        doc="Fall of awareness per second while a target is not seen. Read when the sensor enters the scene.")
    awareness_gain_per_stimulus = export(
        float, 0.25, range=(0, 20, 0.01), or_greater=True, core="awareness.gain_per_signal",
        doc="Immediate rise of awareness by a sound, smell or touch of strength 1. Read when the sensor enters the"
            " scene.")
    awareness_levels = export(
        dict, (), hint=dictionary_of(str, Vector2), on_set="_levels_set",
        doc="Awareness levels by name. x is the awareness (0 to 1) at which a level is reached, y the lower awareness"
            " at which it is left. If empty: \"suspicious\" (0.3, 0.1) and \"alert\" (1, 0.5). Read when the sensor"
            " enters the scene.")
    reaction_time = export(
        float, 0.0, range=(0, 10, 0.01), or_greater=True, unit="s",
        doc="Delay of awareness_changed after a level is reached. If the level is left earlier, the signal is not"
            " emitted. Read when the sensor enters the scene.")

    target_gained = signal(("target", Node), ("character", Node), doc="Emitted when the sensor"
        " notices a new or lost target. target is null if the source has left, such as a grenade that burst.")
    target_expired = signal(("target", Node), ("character", Node),
        doc="Emitted when a lost target has not been sensed for max_age.")
    target_forgotten = signal(("target", Node), ("character", Node),
        doc="Emitted when an expired target is removed from memory, keep_expired seconds after its expiry.")
    target_reported = signal(("target", Node), ("character", Node),
        doc="Emitted when the report of another sensor brings newer data about a target; see report_to().")
    awareness_changed = signal(
        ("target", Node), ("level", int), ("level_name", str), ("character", Node),
        doc="Emitted when the awareness level of a target changes: 0 is unaware, 1 and above are awareness_levels.")

    without_manager = "senses nothing"

    sight_range = export(
        float, 20.0, range=(0.1, 500, 0.1), or_greater=True, unit="m", live=True,
        doc="Range of the sight cone, and of sight_cones whose range is 0.")
    horizontal_angle = export(
        float, math.radians(110), range=(math.radians(0.5), math.tau, math.radians(0.1)), as_degrees=True,
        live=True, shown_when=("sight_cones", ()),
        doc="Full angle of the sight cone from left to right.")
    lose_sight_range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, unit="m", live=True,
        shown_when=("sight_cones", ()),
        doc="Distance up to which a target that is already seen stays visible. If 0, or less than sight_range,"
            " sight_range is used.")
    near_range = export(
        float, 2.0, range=(0, 50, 0.1), or_greater=True, unit="m", live=True,
        doc="Distance within which the sensor sees in every direction, unless a cone contains the target; 0 disables"
            " this.")
    is_searching = export(
        bool, False, live=True,
        doc="If true, the angles of all cones are multiplied by searching_factor. Turn it on while the character"
            " searches.")
    searching_factor = export(
        float, 1.5, range=(0.1, 5, 0.01), live=True, shown_when=("is_searching", True),
        doc="Factor on the angles of all cones while is_searching is true.")
    _followed: Sequence[SightCone] = ()

    def __init__(self) -> None:
        self._id = -1
        self.feeds: list[Any] = []        # SensorFeed of each node that decides by this sensor

    def on_exit_tree(self) -> None:
        self.end_feeling()
        for feed in tuple(self.feeds):        # a callback may end one
            feed.reset()
        if self._manager is not None and self._manager.is_valid():
            self._manager.remove_sensor(self._id)
        self._manager = None

    @method
    def touch(self, source: Node, strength: float = 1.0, tag: str = "collision", position: Variant = None) -> None:
        """Deliver a touch, such as a collision, a hit or damage; the sensor senses it in the modality "touch".

        Args:
            source: the sense source that caused the touch.
            strength: strength of the touch; below touch_threshold it is not felt.
            tag: kind of the touch, such as "damage"; see get_last_sensation().
            position: place of the touch, a Vector3, or Vector2 in 2D; null for the position of the source.
        """
        if source is None or not source.is_class(self.source_class) or not source.belongs_to(self._manager):
            raise RefusedValue(f"touch() needs a {self.source_class} of the same SenseManager, got {source!r}")
        place = None if position is None else self._manager.metres(position)
        self._manager.core.touch(self._id, source.source_id, "touch", strength, place, tag=tag)

    @method
    def report_to(self, other: Node, age_s: float = 0.0) -> None:
        """Report the last known positions of all targets to another sensor by radio, preserving their ages.

        age_s is the time that the report has been under way. The receiver does not notice a target by a report: it
        emits target_reported, not target_gained.
        """
        if other is None or not other.is_class(self.sensor_class) or other._manager is None or self._manager is None:
            raise RefusedValue(
                f"cannot report to {other!r}: both nodes must be a {self.sensor_class} in a scene with a SenseManager")
        if other._manager != self._manager:
            raise RefusedValue("cannot report to a sensor of another SenseManager; the two have different targets")
        with refusing():
            age_s = finite_number("age_s", age_s, minimum=0)
        for one in self._memory().known():
            report = self._memory().report_of(one.target)
            if report is not None:
                other._memory().hear_report(report._replace(at_s=max(0.0, report.at_s - age_s)))

    @method
    def set_sensitivity(self, modality: str, sensitivity: float, for_s: float = 0.0) -> None:
        """Set the sensitivity of a modality: a factor, 1 by default, below 1 dulled, 0 deaf or blind.

        It lasts for_s seconds; with 0 it lasts until the next call.
        """
        if self._manager is None:
            raise RefusedValue("set_sensitivity() needs a sensor in a scene with a SenseManager")
        self._manager.core.set_sensitivity(self._id, modality, sensitivity, for_s=for_s or None)

    def setting_warnings(self, manager: Any) -> list[str]:
        warnings = self._cone_warnings() if self.sight_cones else []
        own = self.get_node_or_null(self.self_source) if self.self_source else None
        if self.self_source and (own is None or not own.is_class(self.source_class)):
            warnings.append(
                f"self_source '{self.self_source}' is not a {self.source_class}; choose the source of the same"
                " character, or clear self_source")
        if self.smells_trails and manager is not None and not manager.keeps_trails:
            warnings.append(
                f"smells no trails: keeps_trails of its SenseManager '{manager.get_name()}' is off; turn it on, or"
                " smells_trails off")
        return warnings

    def _enlist(self, manager: Any) -> None:
        settings, memory, awareness = self._terms(manager)
        self._id = manager.add_sensor(self, settings, memory=memory.alike(), awareness=awareness)
        manager.own_sources.update(self)

    def _terms(self, manager: Any) -> SensorTerms:
        # Resources, which may change.
        cones = [exported_values(one) for one in self.chosen_cones()] if self.sight_cones else ()
        return _TERMS.of(self, manager.unit, manager.keeps_trails, *cones)

    def made_terms(self, unit: float, keeps_trails: bool, *cones: frozenset[Any]) -> SensorTerms:
        """Return what the exports are for the library, below a SenseManager with these settings."""
        settings = core_settings(self, unit)
        sensor, memory = settings["sensor"], settings["memory"]
        memory["max_age_s"] = max(memory["max_age_s"], memory["lose_after_s"])
        if self.smells_trails and keeps_trails:
            sensor["thresholds"][TRAIL] = self.smell_threshold
        sensor["thresholds"] |= self.other_thresholds
        sensor["detection_mask"] &= 0xFFFFFFFF
        return (
            {**sensor, "sight_cones": tuple(self._cones(unit))}, SenseMemory(**memory),
            self._awareness(settings["awareness"]))

    def _awareness(self, settings: dict[str, Any]) -> AwarenessSettings:
        """Return the awareness settings for the library; raise RefusedValue if awareness_levels are invalid."""
        levels = []
        for name, place in self.awareness_levels.items():
            if not isinstance(place, Vector2):
                raise RefusedValue(
                    f"awareness_levels[{str(name)!r}] must be a Vector2 with the awareness at which the level is"
                    f" reached and the awareness at which it is left, got {place!r}")
            levels.append((str(name), *place))
        with refused():
            levels.sort(key=itemgetter(1))
            return AwarenessSettings(
                **settings, levels=[AwarenessLevel(*level, self.reaction_time) for level in levels or OWN_LEVELS])

    def _levels_set(self) -> None:
        self._awareness(core_settings(self)["awareness"])      # refuses invalid levels

    def _change(self) -> None:
        if self._manager is not None:
            with refused():
                self._manager.core.change_sensor(self._id, **self._terms(self._manager)[0])

    def _own_changed(self) -> None:
        if self._manager is not None:
            self._manager.own_sources.update(self)

    @property
    def sense_manager(self) -> Any:
        """The SenseManager that the sensor belongs to, None while it belongs to none."""
        return self._manager

    @property
    def sensor_id(self) -> int:
        """Id of the sensor in the library's sense manager, for behaviors written in Python."""
        return self._id

    def take_id(self, sensor_id: int) -> None:
        self._id = sensor_id
        for feed in tuple(self.feeds):        # a callback may end one
            feed.was_loaded()

    def lose_manager(self) -> None:
        super().lose_manager()
        for feed in tuple(self.feeds):        # a callback may end one
            feed.reset()

    # A signal emitted earlier in the same frame may have removed this sensor, or the manager, from the tree. Where many
    # see one another most changes have no receiver: values for a signal without connections are not prepared.
    def emit_change(self, change: MemoryChange | LevelChange) -> None:
        """Emit the signal of a change in memory or awareness."""
        if isinstance(change, LevelChange):
            self._emit_for("awareness_changed", change.target, change.level, change.name)
        else:
            place = (self._manager.point(change.last_known_position),) if change.kind == "lost" else ()
            self._emit_for(f"target_{change.kind}", change.target, *place)

    def _emit_for(self, name: str, target: int, *more: Any) -> None:
        """Hand a change to the nodes that decide by this sensor, then emit it; a signal to each costs two crossings."""
        for feed in tuple(self.feeds):
            if self._manager is not None:
                feed.receive(name, self._manager.source_node(target), *more, self._manager.character_of(target))
        emitter = getattr(self, name)
        if self._manager is not None and emitter.has_connections():
            emitter.emit(self._manager.source_node(target), *more, self._manager.character_of(target))

    @method
    def get_known_targets(self) -> list:
        """Return a Dictionary per target in memory: visible targets first, then by falling awareness.

        Keys: target (null if the source has left), character (of the target), last_known_position, age_s, strength,
        modality, velocity, awareness (0 to 1), level, is_visible.
        """
        if self._manager is None:
            return []
        visible = set(self._manager.core.sensed_by(self._id))
        found = [self._known(one, visible) for one in self._memory().known()]
        return sorted(found, key=lambda one: (not one["is_visible"], -one["awareness"]))    # of equals the strongest

    @method
    def can_sense(self, target: Node, modality: str = "sight") -> bool:
        """Return true if the sensor senses a target now: in view, or within reach of another continuous modality.

        target is a sense source, or the character of one.
        """
        source = self._asked_source("can_sense", target)
        if source is None:
            return False
        with refused():
            return source.source_id in self._manager.core.sensed_by(self._id, modality)

    @method
    def get_seen_parts(self, target: Node) -> PackedStringArray:
        """Return the names of the visible_parts of a target that the sensor sees; empty if it does not see it."""
        source = self._source_of(target)
        return [] if source is None else list(self._manager.core.seen_parts(self._id, source.source_id))

    @method
    def get_last_sensation(self) -> dict:
        """Return the last sensation, with the values of the signal sensed; empty if there is none yet.

        Keys: source (null if it has left), character (of the source), modality, strength, position, tag ("damage",
        "footsteps"), age_s (time since the emission).
        """
        last = None if self._manager is None else self._manager.core.last_sensation(self._id)
        if last is None:
            return {}
        return {
            "source": self._manager.source_node(last.source_id),
            "character": self._manager.character_of(last.source_id), "modality": last.modality,
            "strength": float(last.intensity), "position": self._manager.point(last.position), "tag": last.tag,
            "age_s": self._manager.now_s - last.sent_at_s}

    @method
    def track(self, target: Node = None) -> dict:
        """Return the newest mark of a target's scent trail that the sensor smells, or of any trail with null.

        Keys: source (null if it has left), position, strength, age_s; empty if the sensor smells no mark. To follow a
        trail, move to position and call track() again. Requires smells_trails, and keeps_trails of the SenseManager.
        """
        if self._manager is None or not self._manager.keeps_trails:
            return {}
        source = self._source_of(target)
        if target is not None and source is None:
            return {}
        mark = self._manager.core.track(self._id, None if source is None else source.source_id)
        return {} if mark is None else {
            "source": self._manager.source_node(mark.scent), "position": self._manager.point(mark.position),
            "strength": mark.intensity, "age_s": self._manager.now_s - mark.left_at_s}

    @method
    def recall(self, target: Node) -> dict:
        """Return everything the sensor remembers of a source or character; empty if it is not in memory.

        Keys: first_sensed_age_s, last_sensed_age_s; first_seen_age_s, last_seen_age_s (-1 if never seen),
        last_seen_position (null if never seen); last_known_position, known_age_s (by any sense or by radio), velocity,
        expected_position (extrapolated to now with that velocity); modality (the dominant one), strengths and
        ages_s (by modality, including "radio"); is_lost, is_expired.
        """
        source = self._asked_source("recall", target, may_be_null=False)
        if source is None:
            return {}
        record = self._memory().find(source.source_id)
        return {} if record is None else self._recalled(record)

    @method
    def forget(self, target: Node) -> None:
        """Remove a source or character from memory without emitting a signal; null stands for all that have left."""
        source = self._asked_source("forget", target)
        if self._manager is None:
            return
        for one in self._memory().known():
            if self._manager.source_node(one.target) == source:
                self._memory().forget(one.target)

    @method
    def why(self, target: Node) -> dict:
        """Return every factor of how the sensor senses a target, and of its awareness; empty without a SenseManager.

        target is a sense source, or the character of one.

        Keys: senses, awareness (0 to 1), level_name, rate_per_s, visibility and stimulus_gain (strength by modality),
        reacts_in_s (time until awareness_changed is emitted; -1 if no new level is reached). senses maps each modality
        to: verdict ("sensed", "hidden", "too weak", "outside every cone", ...), intensity, threshold, sensitivity,
        strength, light, motion, size, distance (-1 without a path), kept (share), acuity, clarity, parts, noise,
        importance, waits_passes (-1 if no ray is needed), looks_in_frames (to the next look of the sensor, see period
        of the SenseManager; -1 for what is heard or smelled). A modality with the verdict "hidden" has hidden_by, too:
        the first physics body between the two now; null if there is none, or in a sense graph.
        """
        source = self._asked_source("why", target, may_be_null=False)
        if source is None:
            return {}
        reasons = self._manager.core.why(self._id, source.source_id)
        senses = {name: _factors(factors, self._manager.unit) for name, factors in reasons.by_modality.items()}
        for factors in senses.values():
            if factors["verdict"] == "hidden":
                factors["hidden_by"] = self._manager.body_between(self, source)
        return {"senses": senses, **_awareness(reasons.awareness, self._manager.now_s)}

    def _source_of(self, target: Any) -> Any:
        """Return the source that a node is, or that belongs to the node as its character; None if there is none."""
        return None if self._manager is None or target is None else self._manager.source_of(target)

    def _asked_source(self, name: str, target: Any, *, may_be_null: bool = True) -> Any:
        """Return the source of a target; raise RefusedValue for a node that can have none."""
        if target is None and not may_be_null:
            raise RefusedValue(
                f"{name}() needs a {self.source_class}, or the character of one, got null; a target that has left or"
                " was freed is null: check it before")
        source = self._source_of(target)
        is_missing = source is None and target is not None and self._manager is not None
        if is_missing and not target.is_class(self.source_class):
            raise RefusedValue(
                f"{name}() needs a {self.source_class}, or the character of one, got '{target.get_name()}'"
                f" ({target.get_class()}), which has none; add a {self.source_class} below it")
        return source

    def _memory(self) -> SenseMemory:
        return self._manager.core.memory_of(self._id)

    def _recalled(self, one: KnownTarget) -> dict[str, Any]:
        now_s, point, seen = self._manager.now_s, self._manager.point, one.last_seen_position
        return {
            "first_sensed_age_s": now_s - one.first_sensed_s, "last_sensed_age_s": one.age_s(now_s),
            "first_seen_age_s": -1.0 if one.first_seen_s is None else now_s - one.first_seen_s,
            "last_seen_age_s": -1.0 if one.last_seen_s is None else now_s - one.last_seen_s,
            "last_seen_position": None if seen is None else point(seen),
            "last_known_position": point(one.last_known_position), "known_age_s": now_s - one.known_at_s,
            "velocity": point(one.velocity), "expected_position": point(one.extrapolated_position(now_s)),
            "modality": one.dominant_modality, "strengths": dict(one.strengths),
            "ages_s": {name: now_s - at_s for name, at_s in one.sensed_at_s.items()}, "is_lost": not one.is_noticed,
            "is_expired": one.is_expired}

    def _known(self, one: KnownTarget, visible: set[int]) -> dict[str, Any]:
        now_s = self._manager.now_s
        meter = self._manager.core.awareness_of(self._id, one.target)
        return {
            "target": self._manager.source_node(one.target), "character": self._manager.character_of(one.target),
            "last_known_position": self._manager.point(one.last_known_position),
            "velocity": self._manager.point(one.velocity), "age_s": one.age_s(now_s), "strength": one.strength,
            "modality": one.dominant_modality, "awareness": 0.0 if meter is None else meter.value,
            "level": 0 if meter is None else meter.level, "is_visible": one.target in visible}

    def chosen_cones(self) -> list[SightCone]:
        """Return the valid items of sight_cones."""
        return [one for one in self.sight_cones if isinstance(one, SightCone)]

    def _cones(self, unit: float) -> list[Cone]:
        """Return the cones for the library; the first cone that contains a target counts."""
        cones = [one.cone(self, unit) for one in self.chosen_cones()] or [made_cone(
            self.sight_range / unit, self.horizontal_angle, self.vertical_angle, 1.0, self.lose_sight_range / unit)]
        if self.is_searching:
            cones = [one.widened(self.searching_factor) for one in cones]
        if self.near_range > 0:
            cones.append(Cone.close_by(self.near_range / unit))
        return cones

    def _cone_warnings(self) -> list[str]:
        warnings, chosen = [], self.sight_cones
        for place, one in enumerate(chosen):
            if not isinstance(one, SightCone):
                said = "is empty" if one is None else f"is {one!r}"
                warnings.append(f"sight_cones[{place}] {said}, and is ignored; choose a SightCone")
        good = [(place, one) for place, one in enumerate(chosen) if isinstance(one, SightCone)]
        for place, one in good:
            for earlier, other in good:
                if earlier < place and other.contains(one, self):
                    warnings.append(
                        f"sight_cones[{place}] has no effect: sight_cones[{earlier}], which precedes it, contains"
                        " all of it; put the smaller cone first")
                    break
        return warnings

    def _cones_set(self) -> None:
        self._follow_cones()
        self._change()

    def _follow_cones(self) -> None:
        """Connect to the ``changed`` signal of each cone."""
        self._followed = follow_changes(self._followed, self.chosen_cones(), self._change)

    @property
    def _saved_cones(self) -> Sequence[Any]:
        return _numbers(self.chosen_cones())

    @_saved_cones.setter
    def _saved_cones(self, cones: list[SightCone]) -> None:
        """Replace the cones by those of a save; unchanged cones keep their resources."""
        if _numbers(cones) != self._saved_cones:
            self.__dict__[type(self).sight_cones.slot] = cones
            self._follow_cones()

    def drawing(self) -> dict[str, Points]:
        near = ball(self.near_range, self.frame, is_flat=self.is_flat) if self.near_range > 0 else ()
        cones = [
            cone(self._length(one), one.horizontal_angle, one.vertical_angle, self.frame, is_flat=self.is_flat)
            for one, _, _ in self._drawn_cones()]
        return {"near": near, "sight": np.concatenate(cones)}  # type: ignore[dict-item]

    def level_marks(self) -> list[float]:
        """Return the awareness at which each level is reached."""
        return [float(place.x) for place in self.awareness_levels.values()] or [rises for _, rises, _ in OWN_LEVELS]

    def seen_ranges(self, unit: float) -> list[tuple[float, float]]:
        """Return range (m) and full horizontal angle (rad) of each cone; ``unit`` is the length of a metre."""
        factor = self.searching_factor if self.is_searching else 1.0
        return [(self._length(one) / unit, min(math.tau, one.horizontal_angle * factor))
                for one, _, _ in self._drawn_cones()]

    def handles(self) -> list[DragHandle]:
        found = []
        for one, reach, label in self._drawn_cones():
            length = self._length(one)
            found.append(self._reaching(reach, self.frame.ahead, one, label, length))
            found.append(self._turning("horizontal_angle", length, self.frame.right, one, label))
            if not self.is_flat:
                found.append(self._turning("vertical_angle", length, self.frame.up, one, label))
        return [*found, self._reaching("near_range", tuple(-part for part in self.frame.ahead))]

    def _length(self, one: Any) -> float:
        """Return the range of an item of ``_drawn_cones``."""
        return self.sight_range if one is self else one.range_of(self)

    def _drawn_cones(self) -> list[tuple[Any, str, str]]:
        """Return for each cone the object with its angles, its range property, and its label."""
        chosen = self.chosen_cones()
        if not chosen:
            return [(self, "sight_range", "")]
        places = {id(one): place for place, one in enumerate(self.sight_cones)}
        return [(one, "range", f" of sight_cones[{places[id(one)]}]") for one in chosen]


_TERMS = SharedSettings(SensorBase.made_terms)


@gdclass(icon="res://addons/ai_core/icons/sensor_2d.svg", keywords="perception, vision, sight, hearing, smell, ai eyes")
class Sensor2D(SensorBase, Node2D):
    """Senses of a character: sight, hearing, smell and touch, with memory and awareness of each target.

    Place it at the eyes of the character; it looks along its x axis. It belongs to the nearest SenseManager
    above it, or else to the first one in the scene, whose dimensions must be 2D.
    """

    sensed, target_lost = _signals(Vector2)

    dimensions, is_flat = 2, True
    source_class, sensor_class = "SenseSource2D", "Sensor2D"
    vertical_angle = math.pi      # a plane has no height


@gdclass(icon="res://addons/ai_core/icons/sensor_3d.svg", keywords="perception, vision, sight, hearing, smell, ai eyes")
class Sensor3D(SensorBase, Node3D):
    """Senses of a character: sight, hearing, smell and touch, with memory and awareness of each target.

    Place it at the eyes of the character; it looks along -z. It belongs to the nearest SenseManager above it, or
    else to the first one in the scene.
    """

    vertical_angle = export(
        float, math.radians(80), range=(math.radians(0.5), math.pi, math.radians(0.1)), as_degrees=True,
        group="Sight", live=True, shown_when=("sight_cones", ()),
        doc="Full angle of the sight cone from bottom to top.")

    sensed, target_lost = _signals(Vector3)
    dimensions = 3
    source_class, sensor_class = "SenseSource3D", "Sensor3D"
