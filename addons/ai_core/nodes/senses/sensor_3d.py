"""Sensor3D: the eyes and ears of one character."""
from __future__ import annotations

import math

from addons.ai_core.bridge.gd import Node, Node3D, Vector3, export, gdclass, signal
from addons.ai_core.nodes.senses.drawn_senses import DrawnSensor
from addons.ai_core.nodes.senses.sense_sensing import Sensing
from addons.ai_core.nodes.senses.sensor_cones import SensorCones


@gdclass(icon="res://addons/ai_core/icons/sensor_3d.svg")
class Sensor3D(DrawnSensor, SensorCones, Sensing, Node3D):
    """A character's senses: what it sees, hears and smells, remembers, and how aware it is of it.

    Put it where the eyes are; it looks along -z. It belongs to the SenseManager above
    it, or else to the first one in the scene.
    """

    vertical_angle = export(
        float, math.radians(80), range=(math.radians(0.5), math.pi, math.radians(0.1)), as_degrees=True,
        group="Sight", on_set="_change", shown_when=("sight_cones", ()),
        doc="Full angle of its cone from bottom to top.")

    sensed = signal(
        ("source", Node), ("modality", str), ("strength", float), ("position", Vector3),
        doc="Something was sensed; of what stays in view, a few times a second. The source is null if it has left"
            " meanwhile, as a grenade that burst.")
    target_lost = signal(("target", Node), ("last_known_position", Vector3), doc="A target is not sensed any more.")

    dimensions = 3
    source_class, sensor_class = "SenseSource3D", "Sensor3D"
    saved_names = (*Sensing.saved_names, "vertical_angle")
