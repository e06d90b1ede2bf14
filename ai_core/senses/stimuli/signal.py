"""A signal that was emitted, such as a sound or a smell, and its numbers for the hot loops of the senses."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["ModalityNumbers", "ReachNumbers", "Signal"]


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
