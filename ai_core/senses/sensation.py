"""The report to a sensor: a sensation."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.errors import point

__all__ = ["Point", "Sensation", "checked_place"]

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


def checked_place(name: str, value: object) -> Point:
    """Return ``value`` as a position of its own, which the caller cannot change later."""
    if type(value) is tuple and len(value) == 3:
        x, y, z = value
        near, far = -FARTHEST_M, FARTHEST_M
        if type(x) is type(y) is type(z) is float and near <= x <= far and near <= y <= far and near <= z <= far:
            return value
    x, y, z = point(name, value).tolist()
    return (x, y, z)
