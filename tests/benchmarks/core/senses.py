"""The regional sense manager beside the loop that a textbook shows."""
from __future__ import annotations

import math
import random
from dataclasses import dataclass

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from tools.benchmarking.declarations import Case, Contest

SIZE_M = 1000.0
RANGE_M = 50.0
# A tenth of a sound is left at its range.
ATTENUATION = 0.1 ** (1 / RANGE_M)
ORIGIN = (SIZE_M / 2, 0.0, SIZE_M / 2)


class Sensor:
    """A textbook sensor: where it is, and the weakest sound it hears."""

    def __init__(self, number: int, position: tuple[float, float, float], threshold: float) -> None:
        self.number, self.position = number, position
        self.thresholds = {"hearing": threshold}
        self.heard: list[int] = []

    def detects_modality(self, name: str) -> bool:
        return name in self.thresholds

    def notify(self, signal: Signal) -> None:
        self.heard.append(self.number)


@dataclass
class Signal:
    strength: float
    position: tuple[float, float, float]
    modality: str = "hearing"


@dataclass
class Notification:
    time: float
    sensor: Sensor
    signal: Signal


def one_signal(n: int) -> Contest:
    """One sound in a square kilometre with n sensors: emitted, and all that hear it told."""
    chance = random.Random(n)
    sensors = [
        Sensor(number, (chance.uniform(0, SIZE_M), 0.0, chance.uniform(0, SIZE_M)), chance.uniform(0.05, 0.5))
        for number in range(n - 3)
    ]
    # However few there are, some hear it.
    sensors += [Sensor(n - 3 + number, (ORIGIN[0] + 5.0 * number, 0.0, ORIGIN[2]), 0.3) for number in range(3)]
    return Contest(_manager(sensors), {"textbook loop": _textbook(sensors)})


def _manager(sensors: list[Sensor]) -> Case:
    clock = ManualClock()
    hearing = Modality("hearing", range_m=RANGE_M, kept_per_m=ATTENUATION)
    manager = RegionalSenseManager(clock, modalities=[hearing])
    told: list[int] = []
    number_of: dict[int, int] = {}
    for one in sensors:
        new = manager.add_sensor(
            position=one.position, forward=(0, 0, -1), thresholds=one.thresholds,
            on_sensed=lambda sensation: told.append(number_of[sensation.sensor_id]),
        )
        number_of[new] = one.number
    source = manager.add_source(position=ORIGIN, strengths={"hearing": 1.0})

    def signal() -> list[int]:
        told.clear()
        manager.emit(source, "hearing")
        clock.advance()
        manager.advance(Budget.unlimited())
        return sorted(told)

    return signal


def _textbook(sensors: list[Sensor]) -> Case:
    """Sensor by sensor, a notification each, sorted and sent, as the source lists it."""

    def signal() -> list[int]:
        queue: list[Notification] = []
        _add_signal(sensors, Signal(1.0, ORIGIN), queue)
        for notification in queue:
            notification.sensor.notify(notification.signal)
        return sorted(notification.sensor.heard.pop() for notification in queue)

    return signal


def _add_signal(sensors: list[Sensor], signal: Signal, queue: list[Notification]) -> None:
    for sensor in sensors:
        if not sensor.detects_modality(signal.modality):
            continue
        distance = _distance(signal.position, sensor.position)
        if distance > RANGE_M:
            continue
        if signal.strength * ATTENUATION**distance >= sensor.thresholds[signal.modality]:
            queue.append(Notification(distance * 0.0, sensor, signal))
    queue.sort(key=lambda notification: notification.time)


def _distance(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
