"""Sensors and sources, once as objects for the textbook's loop and once as ours."""
from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import SourceTable

SIZE_M = 1000.0
RANGE_M = 50.0
# A tenth of a signal is left at its range.
ATTENUATION = 0.1 ** (1 / RANGE_M)
CONE = SightCone(RANGE_M, math.radians(120), math.pi)

Place = tuple[float, float, float]


@dataclass
class Sensor:
    """A textbook sensor. Coordinates are exact in float32, as ours are."""

    number: int
    position: Place
    forward: Place
    threshold: float

    def detects_modality(self, modality: object) -> bool:
        return True


def sensors(n: int) -> list[Sensor]:
    """n sensors in a square kilometre."""
    chance = random.Random(n)
    found = []
    for number in range(n):
        azimuth = chance.uniform(0, math.tau)
        forward = single((math.cos(azimuth), 0.0, math.sin(azimuth)))
        found.append(Sensor(number, any_place(chance), forward, chance.uniform(0.05, 0.5)))
    return found


def places(count: int) -> list[Place]:
    """Where sources are."""
    chance = random.Random(count)
    return [any_place(chance) for _ in range(count)]


def any_place(chance: random.Random) -> Place:
    return single((chance.uniform(0, SIZE_M), 0.0, chance.uniform(0, SIZE_M)))


def single(place: Place) -> Place:
    x, y, z = np.array(place, np.float32).tolist()
    return x, y, z


def tables(all_sensors: list[Sensor], origins: list[Place]) -> tuple[SensorTable, SourceTable, NDArray[np.float32]]:
    """Ours of the same; and the positions that are written into them before each frame."""
    modalities = ModalitySet([
        Modality.sight(range_m=RANGE_M, kept_per_m=ATTENUATION),
        Modality("hearing", range_m=RANGE_M, kept_per_m=ATTENUATION),
    ])
    sensing, sending = SensorTable(modalities), SourceTable(modalities)
    for one in all_sensors:
        thresholds = {"sight": one.threshold, "hearing": one.threshold}
        sensing.add(one.position, one.forward, thresholds, [CONE], 1, None)
    for origin in origins:
        sending.add(origin, {"sight": 1.0}, 1)
    return sensing, sending, np.array([one.position for one in all_sensors], np.float32, order="F")
