"""What goes from sources to sensors: signals, and the sensations that are reported, singly and in batches."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ai_core.budget import Budget

__all__ = [
    "Hear", "ModalityNumbers", "Point", "ReachNumbers", "Sensation", "SensationBatch", "SensationReceiver", "Signal",
    "StimulusBatch", "What",
]

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
        tag: tag of the emitted signal; "" in continuous modalities, see ``tag_of`` of the
            sense manager.
    """

    sensor_id: int
    source_id: int
    modality: str
    intensity: float
    position: Point
    sent_at_s: float
    at_s: float
    tag: str = ""


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


class ModalityNumbers(NamedTuple):
    """The numbers of a modality that the loops read, and the up direction.

    Attributes:
        number: of the modality, its column in tables.
        range_m: largest distance at which a source is sensed (m).
        kept_per_m: share of the intensity kept per metre.
        needs_cone: whether only sources in a sight cone count.
        up: unit length.
        aside: unit length, at right angles to ``up``: the right side of a sensor that faces up.
    """

    number: int
    range_m: float
    kept_per_m: float
    needs_cone: bool
    up: Point = (0.0, 1.0, 0.0)
    aside: Point = (1.0, 0.0, 0.0)


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


What = tuple[int, int, Point, float, str]
"""A signal that was heard: source, number of the modality, where it came from (m), when it left there (s), tag."""


class SensationBatch(NamedTuple):
    """Sensations in the order in which they are reported.

    Attributes:
        sensor_ids: the sensor of each sensation.
        source_ids: the source that each sensed, which may have been removed since.
        modalities: name of the modality of each.
        intensities: strength of each at its sensor.
        positions: origin of each, where the source may have been (m).
    """

    sensor_ids: Sequence[int]
    source_ids: Sequence[int]
    modalities: Sequence[str]
    intensities: Sequence[float]
    positions: Sequence[Point]


class StimulusBatch(NamedTuple):
    """Signals at sensors, in the order of arrival.

    Attributes:
        sensor_ids: the sensor that each arrived at.
        which: for each arrival the index of its signal in ``what``.
        intensities: strength of each at its sensor.
        what: each signal once.
        now_s: game time of the arrival (s).
    """

    sensor_ids: list[int]
    which: list[int]
    intensities: list[float]
    what: list[What]
    now_s: float


Hear = Callable[[StimulusBatch, Budget], None]
"""Delivers a batch of arrivals to sensors and listeners."""


class SensationReceiver(Protocol):
    """Receives sensations in batches, in place of the ``on_sensed`` of sensors: many cost one call.

    All memories contain the whole batch before it is reported. Sensors removed meanwhile are
    left out.
    """

    def receive(self, batch: SensationBatch) -> None:
        """Receive a batch of sensations, in order."""
