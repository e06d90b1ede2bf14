"""What Sensor3D and Sensor2D share: settings, signals, and what they ask of the library."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS, array_of, dictionary_of
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
    signal,
)
from addons.ai_core.nodes.senses.drawn_senses import DrawnSensor
from addons.ai_core.nodes.senses.sense_manager import TRAIL
from addons.ai_core.nodes.senses.sense_member import SenseMember, refused
from addons.ai_core.nodes.senses.sense_place import manager_of
from addons.ai_core.nodes.senses.sight_cone import NAMES, SightCone, made_cone
from ai_core.saving.fields import Fields, State, StateError
from ai_core.senses.percepts.awareness import (
    SUSPICIOUS_AND_ALERT,
    AwarenessLevel,
    AwarenessReasons,
    AwarenessSettings,
    LevelChange,
)
from ai_core.senses.percepts.memory import KnownTarget, MemoryChange, SenseMemory
from ai_core.senses.sensation import Sensation
from ai_core.senses.sense_reasons import SenseFactors
from ai_core.senses.sight.sight_cones import SightCone as Cone


def _factors(factors: SenseFactors) -> dict[str, Any]:
    plain = {name: -1 if value is None else value for name, value in factors._asdict().items()}
    return {**plain, "parts": list(factors.parts)}


def _awareness(reasons: AwarenessReasons | None, now_s: float) -> dict[str, Any]:
    if reasons is None:
        return {
            "awareness": 0.0, "level_name": "unaware", "rate_per_s": 0.0, "visibility": {}, "stimulus_gain": {},
            "reacts_in_s": -1.0}
    return {
        "awareness": reasons.value,
        "level_name": reasons.level_name,
        "rate_per_s": reasons.rate_per_s,
        "visibility": dict(reasons.visibility),
        "stimulus_gain": dict(reasons.stimulus_gain),
        "reacts_in_s": -1.0 if reasons.reacts_at_s is None else max(0.0, reasons.reacts_at_s - now_s),
    }


MOST_CONES = 100
"""Cones that a save may hold for a sensor (count): what is more was not made by a designer."""


def _read(row: object, place: str) -> SightCone:
    cone: SightCone = construct("SightCone")
    numbers = Fields({"cone": row}, place).numbers("cone", count=len(NAMES))
    try:
        for name, value in zip(NAMES, numbers, strict=True):
            setattr(cone, name, value)
    except RefusedValue as error:
        raise StateError(f"{place!r}: {error}") from None
    return cone


OWN_LEVELS = [(level.name, level.rises_at, level.falls_at) for level in SUSPICIOUS_AND_ALERT]
"""Levels of awareness of a sensor that has no others."""


class SensorBase(SenseMember):
    """Sensor3D and Sensor2D, but for what is a place there; a part of those classes."""

    sensed: Any
    target_lost: Any
    get_node_or_null: Any
    source_class = ""
    sensor_class = ""

    sight_cones = export(
        list, (), hint=array_of("SightCone"), group="Sight", on_set="_cones_set",
        doc="An ordered list: the first cone that contains a target counts. In place of sight_range,"
            " horizontal_angle, vertical_angle and lose_sight_range; none: these are its only cone.")
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
    detection_mask = export(
        int, 0xFFFFFFFF, hint=(HINT_LAYERS_3D_PHYSICS, ""), group="Affiliation", on_set="_change",
        doc="Affiliations of sources that it notices.")
    self_source = export(
        NodePath, NodePath(""), on_set="_change", doc="The source that is itself, which it never senses.")
    lose_after = export(
        float, 1.0, range=(0, 60, 0.05), unit="s", group="Memory",
        doc="A target not sensed for so long is lost. Read when it joins.")
    maximum_age = export(
        float, 20.0, range=(0, 600, 0.1), or_greater=True, unit="s",
        doc="A target not sensed for so long expires: it is not to be trusted any more. Read when it joins.")
    keep_expired = export(
        float, 0.0, range=(0, 600, 0.1), or_greater=True, unit="s",
        doc="What expired is forgotten so much later. Read when it joins.")
    free_knowledge = export(
        float, 0.0, range=(0, 10, 0.05), or_greater=True, unit="s",
        doc="For so long after a target was last seen, its position goes on being known. Read when it joins.")
    awareness_gain = export(
        float, 1.0, range=(0, 20, 0.01), or_greater=True, group="Awareness",
        doc="How fast it grows aware of what it sees at strength 1. Read when it joins.")
    awareness_decay = export(
        float, 0.2, range=(0, 20, 0.01), or_greater=True, doc="How fast awareness fades. Read when it joins.")
    awareness_gain_per_stimulus = export(
        float, 0.25, range=(0, 20, 0.01), or_greater=True,
        doc="How much a sound, smell or touch of strength 1 raises it at once. Read when it joins.")
    awareness_levels = export(
        dict, (), hint=dictionary_of(str, Vector2), on_set="_awareness",
        doc="Its levels, from 0 to 1: x is the awareness at which one is reached, y that at which it is left again."
            " None: \"suspicious\" (0.3, 0.1) and \"alert\" (1, 0.5). Read when it joins.")
    reaction_time = export(
        float, 0.0, range=(0, 10, 0.01), or_greater=True, unit="s",
        doc="A level is told so long after it was reached, unless it is left meanwhile. Read when it joins.")

    target_gained = signal(("target", Node), doc="A target is known now that was not, or was lost;"
        " null if it has left meanwhile, as a grenade that burst.")
    target_expired = signal(("target", Node), doc="A lost target was not sensed for the maximum age.")
    target_forgotten = signal(("target", Node), doc="A target that expired is not kept any longer.")
    target_reported = signal(("target", Node), doc="Another reported something newer of a target; see report_to.")
    awareness_changed = signal(
        ("target", Node), ("level", int), ("level_name", str), doc="0 is unaware; 1 and more are awareness_levels.")

    without_manager = "senses nothing"
    saved_names = (
        "sight_range", "horizontal_angle", "near_range",
        "sight_threshold", "hearing_threshold", "smell_threshold", "detection_mask",
        "lose_sight_range", "is_searching", "searching_factor", "smells_trails", "touch_threshold",
        "other_thresholds",
    )

    sight_range = export(
        float, 20.0, range=(0.1, 500, 0.1), or_greater=True, unit="m", on_set="_change",
        shown_when=("sight_cones", ()), doc="How far its cone of sight reaches.")
    horizontal_angle = export(
        float, math.radians(110), range=(math.radians(0.5), math.tau, math.radians(0.1)), as_degrees=True,
        on_set="_change", shown_when=("sight_cones", ()),
        doc="Full angle of its cone from left to right.")
    lose_sight_range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, unit="m", on_set="_change",
        shown_when=("sight_cones", ()),
        doc="What it sees already it goes on seeing up to here; 0, or less than sight_range, is sight_range.")
    near_range = export(
        float, 2.0, range=(0, 50, 0.1), unit="m", on_set="_change",
        doc="Within this distance it notices in every direction, unless a cone counts there; 0 switches that off.")
    is_searching = export(
        bool, False, on_set="_change", doc="Switch it on while it searches: its cones are wider then.")
    searching_factor = export(
        float, 1.5, range=(0.1, 5, 0.01), on_set="_change", shown_when=("is_searching", True),
        doc="How many times wider the angles of its cones are while it searches.")
    _watched: Sequence[SightCone] = ()

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
    def set_sensitivity(self, modality: str, sensitivity: float, for_s: float = 0.0) -> None:
        """Make a sense keener or duller by a factor, such as 0 for deafened; for so long, or for good with 0."""
        if self._manager is None:
            raise RefusedValue("has no keenness to change: it is not in a scene with a SenseManager")
        self._manager.core.set_sensitivity(self._id, modality, sensitivity, for_s=for_s or None)

    def saved_more(self) -> State:
        return {"sight_cones": self._saved_cones()}

    def prepared_more(self, fields: Fields) -> Callable[[], None]:
        return self._prepared_cones(fields)

    def find_own_source(self) -> None:
        """Called when a source has joined that may be its own."""
        self._change()

    def _get_configuration_warnings(self) -> list[str]:
        warnings = [*super()._get_configuration_warnings(), *self._cone_warnings()]
        own = self.get_node_or_null(self.self_source) if self.self_source else None
        if self.self_source and (own is None or not own.is_class(self.source_class)):
            warnings.append(
                f"self_source '{self.self_source}' is no {self.source_class}; choose the one it carries, or none")
        manager = manager_of(self)
        if self.smells_trails and manager is not None and not manager.keeps_trails:
            warnings.append(f"smells no trails: keeps_trails of its SenseManager '{manager.get_name()}' is off")
        return warnings

    def _own_id(self, manager: Any) -> int | None:
        if not self.self_source:
            return None
        own = self.get_node_or_null(self.self_source)
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
                lose_after_s=self.lose_after, maximum_age_s=max(self.maximum_age, self.lose_after),
                keep_expired_s=self.keep_expired, free_knowledge_s=self.free_knowledge),
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
            "detection_mask": self.detection_mask & 0xFFFFFFFF,
            "self_source": self._own_id(manager),
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
                gain_per_s=self.awareness_gain, decay_per_s=self.awareness_decay,
                gain_per_signal=self.awareness_gain_per_stimulus,
                levels=[
                    AwarenessLevel(name, rises_at, falls_at, self.reaction_time)
                    for name, rises_at, falls_at in sorted(levels or OWN_LEVELS, key=lambda level: level[1])])

    def _change(self) -> None:
        if self._manager is not None:
            settings = self._settings(self._manager)
            if settings["self_source"] is None:
                settings["self_source"] = -1      # None would keep the old one
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
        self._tell_of(self.target_reported, change.target)

    def _tell_forgotten(self, change: MemoryChange) -> None:
        self._tell_of(self.target_forgotten, change.target)

    def _tell_awareness(self, change: LevelChange) -> None:
        self._tell_of(self.awareness_changed, change.target, change.level, change.name)

    def _tell_of(self, told: Any, target: int, *more: Any) -> None:
        if self._manager is not None:
            told.emit(self._manager.source_node(target), *more)

    @method
    def get_known_targets(self) -> list:
        """Return what it knows, what is in view first, then what it is most aware of: a Dictionary per target.

        Keys: target (null if it has left), last_known_position, age_s, strength, modality,
        velocity, awareness (0 to 1), level, is_visible.
        """
        if self._manager is None:
            return []
        visible = set(self._manager.core.sensed_by(self._id))
        found = [self._known(one, visible) for one in self._memory().known()]
        return sorted(found, key=lambda one: (not one["is_visible"], -one["awareness"]))    # of equals the strongest

    @method
    def can_sense(self, target: Node, modality: str = "sight") -> bool:
        """Return whether a source is in view right now; or in reach of touch or another continuous modality."""
        if self._manager is None:
            return False
        if target is not None and not target.is_class(self.source_class):
            raise RefusedValue(
                f"can_sense needs a {self.source_class}, got '{target.get_name()}' ({target.get_class()});"
                " hand over the one below it")
        with refused():
            return self._is_source(target) and target.source_id in self._manager.core.sensed_by(self._id, modality)

    @method
    def get_seen_parts(self, target: Node) -> PackedStringArray:
        """Return the names of those visible_parts of a source that it sees; none of one that is not seen."""
        if self._manager is None or not self._is_source(target):
            return []
        return list(self._manager.core.seen_parts(self._id, target.source_id))

    @method
    def get_last_sensation(self) -> dict:
        """Return what it sensed last, as the signal sensed tells it; empty if nothing yet.

        Keys: source (null if it has left), modality, strength, position, tag ("damage", "footsteps"),
        age_s (since it set out).
        """
        last = None if self._manager is None else self._manager.core.last_told(self._id)
        if last is None:
            return {}
        return {
            "source": self._manager.source_node(last.source_id), "modality": last.modality,
            "strength": float(last.intensity), "position": self._manager.point(last.position), "tag": last.tag,
            "age_s": self._manager.now_s - last.sent_at,
        }

    @method
    def track(self, target: Node = None) -> dict:
        """Return the newest mark that it smells of the trail of a source, or of anybody's; empty if of none.

        Keys: source (null if it has left), position, strength, age_s. Going there, and asking again,
        leads along the trail. Needs smells_trails here, and keeps_trails of the SenseManager.
        """
        if self._manager is None or not self._manager.keeps_trails:
            return {}
        if target is not None and not self._is_source(target):
            return {}
        mark = self._manager.core.track(self._id, None if target is None else target.source_id)
        return {} if mark is None else {
            "source": self._manager.source_node(mark.scent), "position": self._manager.point(mark.position),
            "strength": mark.intensity, "age_s": self._manager.now_s - mark.left_at_s,
        }

    @method
    def recall(self, target: Node) -> dict:
        """Return all that it remembers of a source; empty if it knows nothing of it.

        Keys: first_sensed_age_s, last_sensed_age_s; first_seen_age_s, last_seen_age_s (-1 if never seen),
        last_seen_position (null); last_known_position, known_age_s (by any sense or by radio), velocity,
        expected_position (where it is by now if it kept that); modality (the sense to trust), strengths and
        ages_s (by modality, "radio" among them); is_lost, is_expired.
        """
        if self._manager is None or not self._is_source(target):
            return {}
        record = self._memory().find(target.source_id)
        return {} if record is None else self._recalled(record)

    @method
    def forget(self, target: Node) -> None:
        """Drop what it remembers of a source, without a signal."""
        if self._manager is None:
            return
        for one in self._memory().known():
            if self._manager.source_node(one.target) == target:
                self._memory().forget(one.target)

    @method
    def why(self, target: Node) -> dict:
        """Return every factor behind what it senses of a source, and how aware it is of it; empty of what is none.

        Keys: senses, awareness (0 to 1), level_name, rate_per_s, visibility and startled (strength by
        modality), reacts_in_s (until the next level is told; -1 if none was reached). senses has by
        modality: verdict ("sensed", "hidden", "too weak", "outside every cone", ...), intensity, threshold,
        keenness, strength, light, size, distance_m (-1 where there is no way), kept, acuity, clarity, parts,
        noise, importance, waits_passes (-1 if it needs no ray).
        """
        if self._manager is None or not self._is_source(target):
            return {}
        reasons = self._manager.core.why(self._id, target.source_id)
        senses = {name: _factors(factors) for name, factors in reasons.by_modality.items()}
        return {"senses": senses, **_awareness(reasons.awareness, self._manager.now_s)}

    def _is_source(self, target: Any) -> bool:
        """Return whether it is a source of the same manager: those of others have the same numbers."""
        return target is not None and target.is_class(self.source_class) and target.belongs_to(self._manager)

    def _memory(self) -> SenseMemory:
        return self._manager.core.memory_of(self._id)

    def _recalled(self, one: KnownTarget) -> dict[str, Any]:
        now_s, point, seen = self._manager.now_s, self._manager.point, one.last_seen_position
        return {
            "first_sensed_age_s": now_s - one.first_sensed_s,
            "last_sensed_age_s": one.age_s(now_s),
            "first_seen_age_s": -1.0 if one.first_seen_s is None else now_s - one.first_seen_s,
            "last_seen_age_s": -1.0 if one.last_seen_s is None else now_s - one.last_seen_s,
            "last_seen_position": None if seen is None else point(seen),
            "last_known_position": point(one.last_known_position),
            "known_age_s": now_s - one.known_at_s,
            "velocity": point(one.velocity),
            "expected_position": point(one.extrapolated_position(now_s)),
            "modality": one.dominant_modality,
            "strengths": dict(one.strengths),
            "ages_s": {name: now_s - at_s for name, at_s in one.sensed_at_s.items()},
            "is_lost": not one.is_noticed,
            "is_expired": one.is_expired,
        }

    def _known(self, one: KnownTarget, visible: set[int]) -> dict[str, Any]:
        now_s = self._manager.now_s
        meter = self._manager.core.awareness_of(self._id, one.target)
        return {
            "target": self._manager.source_node(one.target),
            "last_known_position": self._manager.point(one.last_known_position),
            "velocity": self._manager.point(one.velocity),
            "age_s": one.age_s(now_s),
            "strength": one.strength,
            "modality": one.dominant_modality,
            "awareness": 0.0 if meter is None else meter.value,
            "level": 0 if meter is None else meter.level,
            "is_visible": one.target in visible,
        }

    def chosen_cones(self) -> list[SightCone]:
        """Return the cones of its list, without those that are none."""
        return [one for one in self.sight_cones if isinstance(one, SightCone)]

    def _cones(self) -> list[Cone]:
        """Return its cones for the library; the first that contains a target counts."""
        is_flat = self.dimensions == 2
        cones = [one.cone(is_flat=is_flat) for one in self.chosen_cones()] or [made_cone(
            self.sight_range, self.horizontal_angle, self.vertical_angle, 1.0, self.lose_sight_range)]
        if self.is_searching:
            cones = [one.widened(self.searching_factor) for one in cones]
        if self.near_range > 0:
            cones.append(Cone.close_by(self.near_range))
        return cones

    def _cone_warnings(self) -> list[str]:
        warnings, chosen = [], self.sight_cones
        for place, one in enumerate(chosen):
            if not isinstance(one, SightCone):
                said = "is empty" if one is None else f"is {one!r}"
                warnings.append(f"sight_cones[{place}] {said}, and does not count; choose a SightCone")
        good = [(place, one) for place, one in enumerate(chosen) if isinstance(one, SightCone)]
        for place, one in good:
            for earlier, other in good:
                if earlier < place and other.contains(one, is_flat=self.dimensions == 2):
                    warnings.append(
                        f"sight_cones[{place}] never counts: sight_cones[{earlier}], which comes before it, contains"
                        " all of it; put the smaller one first")
                    break
        return warnings

    def _cones_set(self) -> None:
        self._watch()
        self._change()

    def _watch(self) -> None:
        """Hear of it when a cone of the list changes."""
        for one in self._watched:
            one.disconnect("changed", self._change)
        self._watched = list(dict.fromkeys(self.chosen_cones()))
        for one in self._watched:
            one.connect("changed", self._change)

    def _saved_cones(self) -> list[list[float]]:
        return [[getattr(one, name) for name in NAMES] for one in self.chosen_cones()]

    def _prepared_cones(self, fields: Fields) -> Callable[[], None]:
        """Check saved cones; return what has them. Cones that are as saved stay the resources that they are."""
        if self._saved_cones() == fields.anything("sight_cones"):
            return lambda: None
        rows = fields.items("sight_cones")
        if len(rows) > MOST_CONES:
            fields.refuse("sight_cones", f"must be at most {MOST_CONES}, got {len(rows)}")
        cones = [_read(row, fields.place_of(f"sight_cones[{place}]")) for place, row in enumerate(rows)]

        def change() -> None:
            self.__dict__[type(self).sight_cones.slot] = cones
            self._watch()

        return change


@gdclass(icon="res://addons/ai_core/icons/sensor_2d.svg")
class Sensor2D(DrawnSensor, SensorBase, Node2D):
    """A character's senses: what it sees, hears and smells, remembers, and how aware it is of it.

    Put it where the eyes are; it looks along its x axis. It belongs to the SenseManager above
    it, or else to the first one in the scene, which has two dimensions.
    """

    sensed = signal(
        ("source", Node), ("modality", str), ("strength", float), ("position", Vector2),
        doc="Something was sensed; of what stays in view, a few times a second. The source is null if it has left"
            " meanwhile, as a grenade that burst.")
    target_lost = signal(("target", Node), ("last_known_position", Vector2), doc="A target is not sensed any more.")

    dimensions = 2
    source_class, sensor_class = "SenseSource2D", "Sensor2D"
    vertical_angle = math.pi      # a plane has no height


@gdclass(icon="res://addons/ai_core/icons/sensor_3d.svg")
class Sensor3D(DrawnSensor, SensorBase, Node3D):
    """A character's senses: what it sees, hears and smells, remembers, and how aware it is of it.

    Put it where the eyes are; it looks along -z. It belongs to the SenseManager above
    it, or else to the first one in the scene.
    """

    vertical_angle = export(
        float, math.radians(80), range=(math.radians(0.5), math.pi, math.radians(0.1)), as_degrees=True,
        group="Sight", on_set="_change", shown_when=("sight_cones", ()),
        doc="Full angle of its cone from bottom to top.")

    sensed = signal(
        ("source", Node), ("modality", str), ("strength", float), ("position", Vector3),
        doc="Something was sensed; of what stays in view, a few times a second. The source is null if it has left"
            " meanwhile, as a grenade that burst.")
    target_lost = signal(("target", Node), ("last_known_position", Vector3), doc="A target is not sensed any more.")

    dimensions = 3
    source_class, sensor_class = "SenseSource3D", "Sensor3D"
    saved_names = (*SensorBase.saved_names, "vertical_angle")
