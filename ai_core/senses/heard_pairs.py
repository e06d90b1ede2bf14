"""Who senses the same target by the same signals again: footsteps, a hum, a smell that stays.

The first signal is taken in by memory and meter. As long as nothing happens
by the next ones but that strengths, moments and places move on, each is noted
in one row beside them, and they learn of it when somebody asks.

This is the twin in Python of ``_heard_pairs``, which is used in its place where it was
built, with the same results to the last bit.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ai_core.twins import twin, twin_class

if TYPE_CHECKING:
    from ai_core.senses.audience import Heard
    from ai_core.senses.awareness import Awareness
    from ai_core.senses.perceiver import Perceiver
    from ai_core.senses.remembered import Remembered
    from ai_core.senses.sensation import Point, Sensation

__all__ = ["INTERFACE", "HeardPair", "HeardPairs", "take_in_all"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""


@twin_class("ai_core.senses._heard_pairs", INTERFACE)
class HeardPair:
    """What the newest signals say of one target of one sensor; see ``Remembered`` and ``Awareness``."""

    __slots__ = (
        "at_s", "begun", "begun_s", "fall", "gain", "intensity", "is_calmed", "is_fresh", "known_at_s",
        "lose_after_s", "meter", "modality", "position", "record", "rise", "slope", "startled",
    )

    def __init__(
        self, sensation: Sensation, lose_after_s: float, record: Remembered | None, meter: Awareness | None
    ) -> None:
        self.modality = sensation.modality
        self.intensity = sensation.intensity
        self.at_s = sensation.at
        self.lose_after_s = lose_after_s
        self.record = record
        self.position = sensation.position
        self.known_at_s = sensation.sent_at
        self.meter = meter
        self.begun_s = self.begun = self.gain = self.slope = self.startled = 0.0
        self.rise, self.fall = math.inf, -1.0
        self.is_calmed = self.is_fresh = False
        if record is not None:
            self.position, self.known_at_s = record.as_noted
        if meter is not None:
            self.begun_s, self.begun, self.slope = meter.line
            self.gain = meter.settings.gain_per_signal
            self.rise, self.fall = meter.thresholds
            self.startled = meter.startled_by(self.modality)

    def take_in(self, modality: str, intensity: float, position: Point, sent_at: float, now_s: float) -> bool:
        """Note one more signal; return False if more happens by it than can be noted here."""
        if modality != self.modality or now_s > self.at_s + self.lose_after_s:
            return False
        if self.meter is not None:
            value = min(1.0, max(0.0, self.begun + self.slope * (now_s - self.begun_s)))
            raised = min(1.0, value + intensity * self.gain)
            if value <= self.fall or raised >= self.rise:
                return False
            if not value:
                self.startled, self.is_calmed = 0.0, True
            self.startled += raised - value
            self.begun_s, self.begun = now_s, raised
        if sent_at >= self.known_at_s:
            self.position, self.known_at_s = position, sent_at
        self.at_s, self.intensity, self.is_fresh = now_s, intensity, True
        return True

    def put_into_record(self) -> None:
        """Bring record and meter up to date."""
        self.is_fresh = False
        record, meter = self.record, self.meter
        if record is not None:
            record.know(self.position, self.known_at_s)
            record.sense(self.modality, self.intensity, self.at_s)
        if meter is not None:
            meter.be_startled(self.begun, self.begun_s, self.modality, self.startled, anew=self.is_calmed)
            self.is_calmed = False


NO_ROWS: dict[int, HeardPair] = {}


@twin
def take_in_all(
    rows: dict[int, dict[int, HeardPair]], heard: Heard, first: int, visited: set[int], fresh: set[int]
) -> int:
    """Note signals in rows of sensor and source, from one on, until one for which that cannot be done.

    Args:
        rows: by sensor, then source.
        heard: the signals.
        first: which of them is first.
        visited: sensors of which nothing is noted.
        fresh: takes in sensors of which something was noted.

    Returns:
        Which was not noted, or how many there are.
    """
    sensor_ids, which, intensities, what, now_s = heard
    for place in range(first, len(sensor_ids)):
        sensor_id = sensor_ids[place]
        source_id, modality, position, sent_at, _ = what[which[place]]
        row = rows.get(sensor_id, NO_ROWS).get(source_id)
        if row is None or sensor_id in visited or not row.take_in(
                modality, intensities[place], position, sent_at, now_s):
            return place
        fresh.add(sensor_id)
    return len(sensor_ids)


class HeardPairs:
    """A row for each sensor and target, as long as nothing happens by its signals.

    Attributes:
        rows: by sensor, then target, as ``take_in_all`` has them.
        fresh: sensors of which something was noted that their minds do not know.

    Cost: a signal O(1), without a visit of the sensor.
    """

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, HeardPair]] = {}
        self.fresh: set[int] = set()

    def clear(self) -> None:
        """Note nothing."""
        self.rows.clear()
        self.fresh.clear()

    def drop(self, sensor_id: int) -> None:
        """Note nothing of a sensor any more."""
        self.rows.pop(sensor_id, None)
        self.fresh.discard(sensor_id)

    def take_in(self, sensation: Sensation) -> bool:
        """Note a signal at a sensor; return False if its mind has to take it in itself."""
        rows = self.rows.get(sensation.sensor_id)
        row = None if rows is None else rows.get(sensation.source_id)
        if row is None or not row.take_in(
                sensation.modality, sensation.intensity, sensation.position, sensation.sent_at, sensation.at):
            return False
        self.fresh.add(sensation.sensor_id)
        return True

    def begin(self, perceiver: Perceiver, sensation: Sensation) -> None:
        """Note what comes after a signal that a mind has just taken in, if that is simple enough."""
        sensor_id, target, memory = perceiver.sensor_id, sensation.source_id, perceiver.memory
        record = None if memory is None else memory.find(target)
        meter = perceiver.meters.get(target)
        is_simple = (
            perceiver.owns_memory and target not in perceiver.in_view
            and (memory is None or (record is not None and record.is_noticed and not record.is_expired))
            and (meter is None or (not meter.visibility and meter.next_reaction_s() == math.inf))
        )
        if is_simple:
            lose_after_s = math.inf if memory is None else memory.lose_after_s
            self.rows.setdefault(sensor_id, {})[target] = HeardPair(sensation, lose_after_s, record, meter)
        elif sensor_id in self.rows:
            self.rows[sensor_id].pop(target, None)

    def put_into_records(self, perceiver: Perceiver) -> bool:
        """Bring a sensor's memory and meters up to date; return False if they were."""
        if perceiver.sensor_id not in self.fresh:
            return False
        self.fresh.discard(perceiver.sensor_id)
        memory = perceiver.memory
        for row in self.rows[perceiver.sensor_id].values():
            if row.is_fresh:
                row.put_into_record()
                if memory is not None:
                    memory.note_moment(row.at_s)
        return True
