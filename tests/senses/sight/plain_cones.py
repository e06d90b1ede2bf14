"""Which cone contains a target, in plain Python, and by the loops for one sensor at the origin."""
from __future__ import annotations

import math

import numpy as np

from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import BORDER_TOLERANCE, NO_CONE, NO_RIGHT, SightLoops


def in_view(offset, forward, up, aside):
    """Where a target is for its sensor (m): off its up axis, above, ahead, and in all."""
    (x, y, z), (fx, fy, fz), (ux, uy, uz) = offset, forward, up
    # To the right, forward x up, of unit length; then above, right x forward.
    rx, ry, rz = fy * uz - fz * uy, fz * ux - fx * uz, fx * uy - fy * ux
    length = math.sqrt(rx * rx + ry * ry + rz * rz)
    if length < NO_RIGHT:
        rx, ry, rz = aside
    else:
        rx, ry, rz = rx / length, ry / length, rz / length
    above = (ry * fz - rz * fy) * x + (rz * fx - rx * fz) * y + (rx * fy - ry * fx) * z
    ahead, across = fx * x + fy * y + fz * z, rx * x + ry * y + rz * z
    across = across * across + ahead * ahead
    distance = math.sqrt(across + above * above)
    return math.sqrt(across), above, ahead, distance


def cone_towards(offset, forward, up, aside, cones):
    """Which cone contains one target at an offset from its sensor (m)."""
    across, above, ahead, distance = in_view(offset, forward, up, aside)
    slack = BORDER_TOLERANCE * distance
    for k, (range_m, cos_half, sin_half, _, _) in enumerate(cones):
        if (
            distance - slack <= range_m
            and ahead + slack >= cos_half * across
            and abs(above) - slack <= sin_half * distance
        ):
            return k
    return NO_CONE


def cones_of(targets, cones, forward=(0.0, 0.0, -1.0), up=(0.0, 1.0, 0.0)):
    """The cones that contain targets, for a sensor at the origin."""
    sensors = SensorTable(ModalitySet([Modality.sight()]))
    slot = sensors.ids.slot(sensors.add((0, 0, 0), forward, {"sight": 0.0}, cones, 1, None))
    sensors.forward[slot] = forward
    return SightLoops(up).cones_towards(sensors, np.full(len(targets), slot), np.array(targets, float)).tolist()
