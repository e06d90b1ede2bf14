"""Sensor2D: the eyes and ears of one character in 2D."""
from __future__ import annotations

import math

from addons.ai_core.bridge.gd import Node, Node2D, Vector2, gdclass, signal
from addons.ai_core.nodes.senses.drawn_senses import DrawnSensor
from addons.ai_core.nodes.senses.sense_sensing import Sensing
from addons.ai_core.nodes.senses.sensor_cones import SensorCones


@gdclass(icon="res://addons/ai_core/icons/sensor_2d.svg")
class Sensor2D(DrawnSensor, SensorCones, Sensing, Node2D):
    """A character's senses: what it sees, hears and smells, remembers, and how aware it is of it.

    Put it where the eyes are; it looks along its x axis. It belongs to the SenseManager above
    it, or else to the first one in the scene, which has two dimensions.
    """

    sensed = signal(
        ("source", Node), ("modality", str), ("strength", float), ("position", Vector2),
        doc="Something was sensed; of what stays in view, a few times a second. The source is null if it has left"
            " meanwhile, as a grenade that burst.")
    target_lost = signal(("target", Node), ("last_known_position", Vector2), doc="A target is not sensed any more.")

    dimensions = 2
    source_class, sensor_class = "SenseSource2D", "Sensor2D"
    vertical_angle = math.pi      # a plane has no height
