"""Sounds and smells: signals that are emitted, travel, and are sensed once."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

import ai_core.senses.sight_kernels as sight_kernels
from ai_core.budget import Budget
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight_kernels import Sense
from ai_core.senses.signal_queue import Arrival, Signal, SignalQueue

__all__ = ["EmittedSignals"]

MOVED_M = 1e-6
"""A sensor whose distance changed by less while a signal travelled stood still (m).

It is told what was computed when the signal was sent, to the last bit.
"""


class EmittedSignals:
    """Carries signals to sensors: aggregation and testing at once, notification when due.

    Args:
        modalities: how signals travel.
        sensors: whom they may reach.
    """

    def __init__(self, modalities: ModalitySet, sensors: SensorTable) -> None:
        self._modalities = modalities
        self._sensors = sensors
        self._senses = [
            Sense(number, modalities[number].range_m, modalities[number].attenuation, needs_cone=False)
            for number in range(len(modalities))
        ]
        self._queue = SignalQueue()
        self._arrived: deque[tuple[Signal, Arrival]] = deque()
        self._sent = 0

    def __len__(self) -> int:
        """Number of arrivals to come."""
        return len(self._queue) + len(self._arrived)

    def emit(
        self,
        source_id: int,
        affiliation: int,
        modality: int,
        strength: float,
        position: Point,
        now_s: float,
    ) -> None:
        """Send a signal to all sensors that it reaches as they stand now.

        Cost: O(sensors), and a sort of those reached.
        """
        sensors, sense = self._sensors, self._senses[modality]
        slots, distances, intensities = sight_kernels.sensors_reached(
            sensors, sense, position, strength, affiliation, source_id
        )
        signal = Signal(self._sent, source_id, modality, strength, position, now_s)
        self._sent += 1
        if slots:
            seconds_per_metre = self._modalities[modality].inverse_speed_s_per_m
            due_s = [now_s + distance * seconds_per_metre for distance in distances]
            ids = sensors.ids.of_slots(np.array(slots)).tolist()
            self._queue.send(signal, due_s, ids, distances, intensities)

    def deliver(
        self, budget: Budget, now_s: float, notice: Callable[[Sensation], None]
    ) -> bool:
        """Tell what is due; return False if the budget ended before all was told.

        What is emitted meanwhile waits for the next pass. A step is one arrival.
        """
        if not self._arrived:
            self._arrived.extend(self._queue.pop_due(now_s))
        while self._arrived:
            if budget.is_spent:
                return False
            budget.spend()
            signal, arrival = self._arrived.popleft()
            if self._sensors.ids.knows(arrival.sensor_id):
                intensity = self._intensity_now(signal, arrival, now_s)
                if intensity is not None:
                    notice(self._sensation(signal, arrival.sensor_id, intensity, now_s))
        return True

    def _intensity_now(self, signal: Signal, arrival: Arrival, now_s: float) -> float | None:
        """Return what the sensor senses where it is now; None if nothing, or not yet."""
        slot = self._sensors.ids.slot(arrival.sensor_id)
        distance = math.dist(self._sensors.position[slot].tolist(), signal.position)
        if abs(distance - arrival.distance_m) < MOVED_M:
            return arrival.intensity
        kind = self._modalities[signal.modality]
        intensity: float = signal.strength * kind.attenuation**distance
        if distance > kind.range_m or intensity < self._sensors.threshold[slot, signal.modality]:
            return None
        due_s = signal.sent_at_s + distance * kind.inverse_speed_s_per_m
        if due_s > now_s:
            again = Arrival(due_s, arrival.sensor_id, distance, intensity)
            self._queue.send_again(signal, again)
            return None
        return intensity

    def _sensation(
        self, signal: Signal, sensor_id: int, intensity: float, now_s: float
    ) -> Sensation:
        return Sensation(
            sensor_id=sensor_id,
            source_id=signal.source_id,
            modality=self._modalities[signal.modality].name,
            intensity=intensity,
            position=signal.position,
            sent_at=signal.sent_at_s,
            at=now_s,
        )
