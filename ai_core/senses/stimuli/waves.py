"""What the hot loops of the senses need to know, and nothing else."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["ModalityNumbers", "ReachNumbers", "StimulusNumbers"]


class ModalityNumbers(NamedTuple):
    """What the loops need to know of a modality, and which way is up.

    Attributes:
        number: of the modality, its column in tables.
        range_m: beyond this nothing is sensed (m).
        kept_per_m: share of the intensity kept per metre.
        needs_cone: whether only what is in a sight cone counts.
        up: unit length.
        aside: unit length, at right angles to ``up``: the right of who faces up.
    """

    number: int
    range_m: float
    kept_per_m: float
    needs_cone: bool
    up: Point = (0.0, 1.0, 0.0)
    aside: Point = (1.0, 0.0, 0.0)


class StimulusNumbers(NamedTuple):
    """What the loops need to know of a signal that was emitted.

    Attributes:
        sense: a modality without cones.
        origin: where it comes from (m), exact in float32.
        strength: there, 0 or more.
        affiliation: of its source, as bits.
        source_id: its source, which does not sense it itself.
    """

    sense: ModalityNumbers
    origin: Point
    strength: float
    affiliation: int
    source_id: int


class ReachNumbers(NamedTuple):
    """How something gets from one source to one sensor.

    Attributes:
        distance_m: as ranges count it (m), None where none counts.
        kept: share of the strength that gets there.
        looked_at: where it shows itself, from the sensor (m).
    """

    distance_m: float | None
    kept: float
    looked_at: Point
