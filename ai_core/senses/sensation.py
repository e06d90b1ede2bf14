"""What goes from sources to sensors, and what sensors report: sensations, changes of memories and of awareness."""
from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from ai_core.budget import Budget

__all__ = [
    "ChangeKind", "Hear", "LevelChange", "MemoryChange", "Point", "ReachNumbers", "Sensation", "SensationReceiver",
    "Signal"]

Point = tuple[float, float, float]
"""A position (m) as plain numbers, for reports."""


FARTHEST_M = 3.4e38
"""Largest coordinate in either direction (m): the limit of float32, and of saves."""


class Sensation(NamedTuple):
    """The report that a sensor sensed a source.

    Attributes:
        sensor_id: id of the sensor.
        source_id: id of the source, which may have been removed since.
        modality: name of the modality.
        intensity: strength at the sensor; for sight multiplied by acuity.
        position: origin of the signal, where the source may have been (m).
        sent_at_s: game time of the emission (s).
        at_s: game time of the sensation (s).
        tag: tag of the emitted signal; "" in continuous modalities, see ``tag_of`` of the sense manager.
    """

    sensor_id: int
    source_id: int
    modality: str
    intensity: float
    position: Point
    sent_at_s: float
    at_s: float
    tag: str = ""


ChangeKind = Literal["gained", "lost", "reported", "expired", "forgotten"]
"""Kind of a ``MemoryChange``."""


class MemoryChange(NamedTuple):
    """A change of a target in a memory.

    Attributes:
        sensor_id: id of the sensor.
        kind: ``gained`` (noticed, or noticed again), ``lost`` (no longer sensed), ``reported`` (a report brought newer
            data), ``expired`` (too old to be trusted), ``forgotten``.
        target: id of the source.
        at_s: game time of the change (s), even if it is reported later.
        last_known_position: last known position at that time (m).
    """

    sensor_id: int
    kind: ChangeKind
    target: int
    at_s: float
    last_known_position: Point


class LevelChange(NamedTuple):
    """A meter reached or left a level.

    Attributes:
        sensor_id: id of the sensor.
        target: id of the target.
        level: the new level; 0 is unaware.
        name: the name of that level.
        at_s: game time of the change (s), even if it is reported later.
    """

    sensor_id: int
    target: int
    level: int
    name: str
    at_s: float


class Signal(NamedTuple):
    """A signal that was emitted.

    Attributes:
        order: signals emitted before it (count).
        source_id: the source that emitted it; it may have been removed since.
        modality: number of its modality.
        strength: at its origin, no unit.
        position: its origin (m), as it is reported; in a sense graph the last portal.
        sent_at_s: game time of the emission (s).
        affiliation: of its source, as bits.
        tag: kind of signal, for listeners.
        channel: repeated signals of one source on one channel replace each other at a sensor; "" for none.
    """

    order: int
    source_id: int
    modality: int
    strength: float
    position: Point
    sent_at_s: float
    affiliation: int = 1
    tag: str = ""
    channel: str = ""


class ReachNumbers(NamedTuple):
    """The path from one source to one sensor.

    Attributes:
        distance_m: its length as ranges count it (m); None if ranges do not count.
        kept: share of the strength that arrives.
        looked_at: from the sensor to the place where the source is perceived (m).
    """

    distance_m: float | None
    kept: float
    looked_at: Point


Hear = Callable[[list[Sensation], Budget], None]
"""Delivers arrivals to sensors and listeners, in order."""


class SensationReceiver(Protocol):
    """Receives sensations in batches, in place of the ``on_sensed`` of sensors: many cost one call.

    All memories contain the whole batch before it is reported. With a method ``change``, it also receives each
    ``MemoryChange`` and ``LevelChange`` of sensors without a listener for it.
    """

    def receive(self, sensations: list[Sensation]) -> None:
        """Receive sensations, in order; a sensor may have been removed since."""
