"""SightCone: one part of what a sensor sees, in its ordered list of cones."""
from __future__ import annotations

import math
from typing import Any

import ai_core.senses.sight.sight_cones as sight
from addons.ai_core.bridge.gd import Resource, export, gdclass


@gdclass(icon="res://addons/ai_core/icons/sight_cone.svg")
class SightCone(Resource):
    """A part of a field of view: sharp and far ahead, blunt and near at the sides.

    It belongs into sight_cones of a Sensor3D or Sensor2D. There the first cone that contains a target
    counts, so put sharper ones first. Sensors may share one; changing it changes what all of them see.
    """

    range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, on_set="_tell",
        doc="How far it reaches.")
    horizontal_angle = export(
        float, math.radians(60), range=(math.radians(0.5), math.tau, math.radians(0.1)), as_degrees=True,
        on_set="_tell", doc="Full angle from left to right.")
    vertical_angle = export(
        float, math.radians(60), range=(math.radians(0.5), math.pi, math.radians(0.1)), as_degrees=True,
        on_set="_tell", doc="Full angle from bottom to top; not in 2D.")
    acuity = export(
        float, 1.0, range=(0, 10, 0.01), or_greater=True, on_set="_tell",
        doc="Factor on the strength of what is seen in it: 0.3 for the corner of the eye.")
    lose_sight_range = export(
        float, 0.0, range=(0, 500, 0.1), or_greater=True, on_set="_tell",
        doc="What is seen already stays seen up to here; 0, or less than range, is range.")

    def cone(self, sensor: Any, unit: float) -> sight.SightCone:
        """Return it as the library's, as it is in the list of a sensor; ``unit`` is how long a metre is there."""
        vertical = math.pi if sensor.is_flat else self.vertical_angle
        return made_cone(
            self.range_of(sensor) / unit, self.horizontal_angle, vertical, self.acuity, self.lose_sight_range / unit)

    def range_of(self, sensor: Any) -> float:
        """Return how far it reaches in the list of a sensor, in the units of the scene."""
        return self.range or sensor.sight_range

    def contains(self, other: SightCone, sensor: Any) -> bool:
        """Return whether no target is in the other one that is not in this one."""
        names = NAMES[1:2] if sensor.is_flat else NAMES[1:3]
        reach = max(other.range_of(sensor), other.lose_sight_range)
        return reach <= self.range_of(sensor) and all(getattr(other, name) <= getattr(self, name) for name in names)

    def _tell(self) -> None:
        self.emit_changed()


NAMES = ("range", "horizontal_angle", "vertical_angle", "acuity", "lose_sight_range")
"""Its properties, in the order in which they are saved."""


def made_cone(
    range_m: float, horizontal: float, vertical: float, acuity: float, lose_range_m: float
) -> sight.SightCone:
    """Return a cone of the library by what an inspector holds: a full circle in a scene file is 6.28319."""
    return sight.SightCone(
        range_m, min(horizontal, math.tau), min(vertical, math.pi), acuity,
        lose_range_m=lose_range_m if lose_range_m > range_m else None)
