"""What Sensor3D and Sensor2D answer: what is sensed and known, how clearly, and why."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node, PackedStringArray, RefusedValue, method
from addons.ai_core.nodes.senses.sense_member import refused
from ai_core.senses.awareness import AwarenessReasons
from ai_core.senses.memory import Remembered, SenseMemory
from ai_core.senses.sense_reasons import SenseFactors


class SensorQuestions:
    """The queries of a sensor; a part of its class."""

    _manager: Any
    _id: int
    source_class: str

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

    def _recalled(self, one: Remembered) -> dict[str, Any]:
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

    def _known(self, one: Remembered, visible: set[int]) -> dict[str, Any]:
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


def _factors(factors: SenseFactors) -> dict[str, Any]:
    plain = {name: -1 if value is None else value for name, value in factors._asdict().items()}
    return {**plain, "parts": list(factors.parts)}


def _awareness(reasons: AwarenessReasons | None, now_s: float) -> dict[str, Any]:
    if reasons is None:
        return {
            "awareness": 0.0, "level_name": "unaware", "rate_per_s": 0.0, "visibility": {}, "startled": {},
            "reacts_in_s": -1.0}
    return {
        "awareness": reasons.value,
        "level_name": reasons.level_name,
        "rate_per_s": reasons.rate_per_s,
        "visibility": dict(reasons.visibility),
        "startled": dict(reasons.startled),
        "reacts_in_s": -1.0 if reasons.reacts_at_s is None else max(0.0, reasons.reacts_at_s - now_s),
    }
