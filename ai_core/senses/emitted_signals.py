"""Sounds and smells: signals that are emitted, travel, and are sensed once."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from ai_core.budget import Budget
from ai_core.senses.modality import ModalitySet, intensity_at
from ai_core.senses.reach import may_reach
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sensor_table import SensorTable
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

        Cost: O(sensors) in NumPy, and a sort of those reached.
        """
        sensors, kind = self._sensors, self._modalities[modality]
        origin = np.array(position, np.float32)
        reach = np.array([kind.range_m])
        near = may_reach(origin[np.newaxis], sensors.position, reach)[0]
        near &= (sensors.notices & affiliation) != 0
        near &= sensors.own_source != source_id
        near &= np.isfinite(sensors.threshold[:, modality])
        slots = np.flatnonzero(near)
        distance = np.linalg.norm(sensors.position[slots].astype(np.float64) - origin, axis=1)
        intensity = intensity_at(strength, distance, kind.attenuation)
        reached = (distance <= kind.range_m) & (intensity >= sensors.threshold[slots, modality])
        distance = distance[reached]
        signal = Signal(self._sent, source_id, modality, strength, position, now_s)
        self._sent += 1
        self._queue.send(
            signal,
            now_s + distance * kind.inverse_speed_s_per_m,
            sensors.ids.of_slots(slots[reached]),
            distance,
            intensity[reached],
        )

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
