"""Signals that were offered to sensors together, and whom they reach."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

import ai_core.senses.sight_kernels as sight_kernels
from ai_core.senses.audience import Heard
from ai_core.senses.id_table import IdTable
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight_kernels import Reached
from ai_core.senses.signal_queue import Arrival, Signal

__all__ = ["Offered", "OfferedHeard"]


class OfferedHeard(NamedTuple):
    """Signals that were heard together, and of each its row in ``Reached``."""

    heard: Heard
    rows: list[int]


class Offered(NamedTuple):
    """Signals of one moment or several, in order, and whom each reaches: not one by one yet.

    Attributes:
        signals: none of which anything muffles or drowns.
        delays: of each signal, the inverse of its speed (s/m).
        reached: by whom they are sensed, as long as no sensor is removed.
    """

    signals: Sequence[Signal]
    delays: Sequence[float]
    reached: Reached

    def __len__(self) -> int:
        """Number of arrivals."""
        return len(self.reached[1])

    def heard(self, sensors: SensorTable, modalities: ModalitySet, now_s: float) -> OfferedHeard | None:
        """Return who hears them now, if all arrive by now, at nobody who has moved, and replace none; else None."""
        channels = [(one.source_id, one.modality, one.channel) for one in self.signals if one.channel]
        if len(channels) > len(set(channels)):
            return None
        arrived = sight_kernels.arrived_at_once(sensors, self.signals, self.delays, self.reached, now_s)
        if arrived is None:
            return None
        sensor_ids, which, intensities, numbers, rows = arrived
        what = []
        for number in numbers:
            signal = self.signals[number]
            name = modalities[signal.modality].name
            what.append((signal.source_id, name, signal.position, signal.sent_at_s, signal.tag))
        return OfferedHeard(Heard(sensor_ids, which, intensities, what, now_s), rows)

    def one_by_one(self, ids: IdTable) -> Iterator[tuple[Signal, list[tuple[int, Arrival]]]]:
        """Return each signal with its arrivals, by slot."""
        counts, slots, distances, intensities = self.reached
        rows = zip(slots, ids.of_slots(np.array(slots, np.intp)).tolist(), distances, intensities, strict=True)
        for signal, delay_s_per_m, count in zip(self.signals, self.delays, counts, strict=True):
            yield signal, [
                (slot, Arrival(signal.sent_at_s + distance * delay_s_per_m, one, distance, intensity))
                for slot, one, distance, intensity in islice(rows, count)
            ]

    def arrivals(self, told: OfferedHeard, first: int) -> list[tuple[Signal, Arrival]]:
        """Return those that were heard together one by one, from one on."""
        counts, _, distances, intensities = self.reached
        number_of = [number for number, count in enumerate(counts) for _ in range(count)]
        found = []
        for sensor_id, row in zip(told.heard.sensor_ids[first:], told.rows[first:], strict=True):
            signal, delay_s_per_m = self.signals[number_of[row]], self.delays[number_of[row]]
            found.append((signal, Arrival(
                signal.sent_at_s + distances[row] * delay_s_per_m, sensor_id, distances[row], intensities[row])))
        return found
