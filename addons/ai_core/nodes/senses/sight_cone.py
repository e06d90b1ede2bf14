"""SightCone: one cone in the ordered list of a sensor."""
from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import ai_core.senses.sight.sight_cones as sight
from addons.ai_core.bridge.gd import Resource, export, gdclass


@gdclass(icon="res://addons/ai_core/icons/sight_cone.svg")
class SightCone(Resource):
    """A part of the field of view of a sensor, such as sharp and far ahead, or weak and near at the sides.

    Add it to sight_cones of a Sensor3D or Sensor2D. The first cone that contains a target counts, so put sharper
    cones first. Several sensors can share a cone; a change affects all of them.
    """

    range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, on_set="_notify",
        doc="Range of the cone; 0 is sight_range of the sensor.")
    horizontal_angle = export(
        float, math.radians(60), range=(math.radians(0.5), math.tau, math.radians(0.1)), as_degrees=True,
        on_set="_notify", doc="Full angle of the cone from left to right.")
    vertical_angle = export(
        float, math.radians(60), range=(math.radians(0.5), math.pi, math.radians(0.1)), as_degrees=True,
        on_set="_notify", doc="Full angle of the cone from bottom to top; ignored in 2D.")
    acuity = export(
        float, 1.0, range=(0, 10, 0.01), or_greater=True, on_set="_notify",
        doc="Factor on the strength of sources seen in the cone: 0.3 for the corner of the eye.")
    lose_sight_range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, on_set="_notify",
        doc="Distance up to which a target that is already seen stays visible. If 0, or less than range, range is"
            " used.")

    def cone(self, sensor: Any, unit: float) -> sight.SightCone:
        """Return the library's cone for a sensor; ``unit`` is the length of a metre in the scene."""
        vertical = math.pi if sensor.is_flat else self.vertical_angle
        return made_cone(
            self.range_of(sensor) / unit, self.horizontal_angle, vertical, self.acuity, self.lose_sight_range / unit)

    def range_of(self, sensor: Any) -> float:
        """Return the range of the cone for a sensor, in units of the scene."""
        return self.range or sensor.sight_range

    def contains(self, other: SightCone, sensor: Any) -> bool:
        """Return whether this cone contains the other cone."""
        names = NAMES[1:2] if sensor.is_flat else NAMES[1:3]
        reach = max(other.range_of(sensor), other.lose_sight_range)
        return reach <= self.range_of(sensor) and all(getattr(other, name) <= getattr(self, name) for name in names)

    def _notify(self) -> None:
        self.emit_changed()


NAMES = ("range", "horizontal_angle", "vertical_angle", "acuity", "lose_sight_range")
"""Its properties, in the order in which they are saved."""


@lru_cache(maxsize=64)
def made_cone(
    range_m: float, horizontal: float, vertical: float, acuity: float, lose_range_m: float
) -> sight.SightCone:
    """Return a cone of the library from inspector values; a full circle in a scene file is 6.28319.

    Sensors with equal values share it.
    """
    return sight.SightCone(
        range_m, min(horizontal, math.tau), min(vertical, math.pi), acuity,
        lose_range_m=lose_range_m if lose_range_m > range_m else None)
