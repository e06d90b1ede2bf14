"""What a sensor is told: one sensation."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["Point", "Sensation"]

Point = tuple[float, float, float]
"""A position (m) as plain numbers, for what is told one at a time."""


class Sensation(NamedTuple):
    """One sensor sensed one source once.

    Attributes:
        sensor_id: who sensed.
        source_id: what was sensed; it may have been removed since.
        modality: by what sense, a modality's name.
        intensity: how strong it was at the sensor; for sight times acuity.
        position: where it came from, which may be where the source was (m).
        sent_at: game time when it left there (s).
        at: game time of the sensation (s).
        tag: what was emitted, in the words of who emitted it; "" of what is
            looked for all the time, see ``tag_of`` of the sense manager.
    """

    sensor_id: int
    source_id: int
    modality: str
    intensity: float
    position: Point
    sent_at: float
    at: float
    tag: str = ""
