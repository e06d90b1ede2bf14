"""Signals that were offered to sensors together, and whom they reach."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import ai_core.senses.stimuli.arriving as arriving
from ai_core.senses.audience import StimulusBatch
from ai_core.senses.modality import Modality
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import Reached
from ai_core.senses.stimuli.signal_queue import Arrival, Signal

__all__ = ["OfferedHeard", "OfferedStimuli"]


made_of = tuple.__new__
"""Makes a named tuple of all its parts in half the time that calling it takes."""


class OfferedHeard(NamedTuple):
    """Signals that were heard together, and of each its row in ``Reached``."""

    heard: StimulusBatch
    rows: list[int]


class OfferedStimuli(NamedTuple):
    """Signals of one moment or several, in order, and whom each reaches: not one by one yet.

    Attributes:
        signals: none of which anything muffles or drowns.
        kinds: each modality at its number, as it was then.
        reached: by whom they are sensed, as long as no sensor is removed.
    """

    signals: Sequence[Signal]
    kinds: Sequence[Modality]
    reached: Reached

    def __len__(self) -> int:
        """Number of arrivals."""
        return len(self.reached[1])

    def heard(self, sensors: SensorTable, kinds: Sequence[Modality], now_s: float) -> OfferedHeard | None:
        """Return who hears them now, if all are heard by who was to hear them, and replace none; else None."""
        arrived = arriving.arrived_at_once(sensors, self.signals, kinds, self.reached, now_s)
        if arrived is None:
            return None
        sensor_ids, which, intensities, what, rows = arrived
        heard = made_of(StimulusBatch, (sensor_ids, which, intensities, what, now_s))
        return made_of(OfferedHeard, (heard, rows))

    def one_by_one(self, sensors: SensorTable) -> list[tuple[Signal, list[Arrival]]]:
        """Return each signal that reaches anybody, with its arrivals."""
        return arriving.arrivals_of(sensors, self.signals, self.kinds, self.reached)

    def arrivals(self, told: OfferedHeard, first: int) -> list[tuple[Signal, Arrival]]:
        """Return those that were heard together one by one, from one on."""
        counts, _, distances, intensities = self.reached
        number_of = [number for number, count in enumerate(counts) for _ in range(count)]
        found = []
        for sensor_id, row in zip(told.heard.sensor_ids[first:], told.rows[first:], strict=True):
            signal = self.signals[number_of[row]]
            due_s = signal.sent_at_s + distances[row] * self.kinds[signal.modality].delay_s_per_m
            found.append((signal, Arrival(due_s, sensor_id, distances[row], intensities[row])))
        return found
