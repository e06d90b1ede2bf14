"""Slow signals: fronts that grow, drift with the wind, and are met by whoever moves.

A sound is computed when it is emitted, because nobody outruns it. A smell is
not: each advance looks for the sensors that its front has passed since, where
they are now, so that who walks towards it smells it sooner, and who comes
into its reach later smells it too.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ai_core.budget import Budget
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import sensors_reached
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ModalityNumbers, StimulusNumbers
from ai_core.senses.stimuli.wind import Wind

__all__ = ["SignalFronts", "StimulusFront"]

STRONG_ENOUGH = 1e300
"""An intensity above every threshold, to find all whom a front has passed (no unit)."""

Met = Callable[[Signal, Point, "list[tuple[float, int, float, float]]"], None]


@dataclass
class StimulusFront:
    """One slow signal.

    Attributes:
        signal: what was emitted.
        drift_m: how far the air had drifted then (m).
        passed: ids of sensors that have met it.
    """

    signal: Signal
    drift_m: Point
    passed: set[int] = field(default_factory=set)


class SignalFronts:
    """Follows the fronts of slow signals until their range.

    Args:
        modalities: how signals travel.
        sensors: whom they may meet.
    """

    def __init__(self, modalities: ModalitySet, sensors: SensorTable) -> None:
        self._modalities = modalities
        self._sensors = sensors
        self.fronts: list[StimulusFront] = []
        self.followed = 0

    def __len__(self) -> int:
        return len(self.fronts)

    def add(self, signal: Signal, drift_m: Point) -> None:
        """Follow a signal that was emitted now."""
        self.fronts.append(StimulusFront(signal, drift_m))

    def advance(self, budget: Budget, now_s: float, wind: Wind, met: Met) -> bool:
        """Tell whom each front has met since; return False if the budget ended first.

        A step is one front.

        Cost: O(fronts * sensors), of which little for sensors far away.
        """
        while self.followed < len(self.fronts):
            if budget.is_spent:
                return False
            budget.spend()
            self._follow(self.fronts[self.followed], now_s, wind.drift_m(now_s), met)
            self.followed += 1
        self.fronts = [front for front in self.fronts if self._radius(front, now_s) < self._range(front)]
        self.followed = 0
        return True

    def _radius(self, front: StimulusFront, now_s: float) -> float:
        kind = self._modalities[front.signal.modality]
        return max(0.0, now_s - front.signal.sent_at_s) / kind.delay_s_per_m

    def _range(self, front: StimulusFront) -> float:
        return self._modalities[front.signal.modality].range_m

    def _follow(self, front: StimulusFront, now_s: float, drift_m: Point, met: Met) -> None:
        signal, kind = front.signal, self._modalities[front.signal.modality]
        # Exact in float32, as the loops need it.
        x, y, z = np.array([
            at + now - then for at, now, then in zip(signal.position, drift_m, front.drift_m, strict=True)
        ], np.float32).tolist()
        reach_m = min(self._radius(front, now_s), kind.range_m)
        sense = ModalityNumbers(signal.modality, reach_m, 1.0, needs_cone=False)
        wave = StimulusNumbers(sense, (x, y, z), STRONG_ENOUGH, signal.affiliation, signal.source_id)
        _, slots, distances, _ = sensors_reached(self._sensors, [wave])
        found = []
        for slot, distance in zip(slots, distances, strict=True):
            one = int(self._sensors.ids.of_slots(np.array([slot]))[0])
            if one not in front.passed:
                front.passed.add(one)
                due_s = signal.sent_at_s + distance * kind.delay_s_per_m
                found.append((min(due_s, now_s), slot, distance, signal.strength * kind.kept_per_m**distance))
        if found:
            met(signal, (x, y, z), found)
