"""What a sensor is told: one sensation."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.errors import point

__all__ = ["Point", "Sensation", "checked_place"]

Point = tuple[float, float, float]
"""A position (m) as plain numbers, for what is told one at a time."""


FARTHEST_M = 3.4e38
"""Largest coordinate, either way (m): what float32 holds, and saves."""


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


def checked_place(name: str, value: object) -> Point:
    """Return ``value`` as a place of its own, which whoever handed it in cannot change later.

    Raises:
        TypeError, ValueError: if it is no position.
    """
    if type(value) is tuple and len(value) == 3:
        x, y, z = value
        near, far = -FARTHEST_M, FARTHEST_M
        if type(x) is type(y) is type(z) is float and near <= x <= far and near <= y <= far and near <= z <= far:
            return value
    x, y, z = point(name, value).tolist()
    return (x, y, z)
