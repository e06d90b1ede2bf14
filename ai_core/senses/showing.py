"""What shows itself to sensors now, fetched from the arrays for many sensors at once."""
from __future__ import annotations

import numpy as np

from ai_core.senses.continuous_sensing import ContinuousSensing
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.pairs_in_view import ID_BITS, PairsInView, ids_of
from ai_core.senses.sensation import Point
from ai_core.senses.source_table import SourceTable

__all__ = ["NOT_TOLD", "Showing", "Shown"]

NOT_TOLD = -1
"""Row of a source of which its sensor was told a short while ago."""

Shown = tuple[int, str, float, Point, bool, int, int]
"""One source as it shows itself to one sensor: source id, modality's name, intensity,
position (m), whether it is seen, modality's number, and its row among the pairs if the
sensor is to be told, else ``NOT_TOLD``. Made for every pair and every look: plain tuples
are made five times faster than named ones."""


class Showing:
    """All that shows itself to some sensors at one moment.

    Args:
        continuous: who senses what.
        modalities: all senses.
        sources: where what is sensed is now.
        first_sensor: smallest id of the sensors.
        last_sensor: largest id of the sensors.
        now_s: game time (s).
        tell_every_s: time between two reports of what stays in view (s).

    Cost: O(pairs of these sensors).
    """

    def __init__(
        self,
        continuous: ContinuousSensing,
        modalities: ModalitySet,
        sources: SourceTable,
        first_sensor: int,
        last_sensor: int,
        now_s: float,
        tell_every_s: float,
    ) -> None:
        self._ends = (first_sensor << ID_BITS, (last_sensor + 1) << ID_BITS)
        self._last_sensor = last_sensor
        self._now_s = now_s
        self._sources = sources
        self._changes = sources.changes
        self._of_sensor: dict[int, list[Shown]] = {}
        for number, pairs in continuous.pairs.items():
            self._fetch(number, modalities[number], pairs, tell_every_s)

    def is_true_of(self, sensor_id: int, now_s: float) -> bool:
        """Return True if it holds what shows itself to this sensor now."""
        return (
            sensor_id <= self._last_sensor
            and now_s == self._now_s
            and self._sources.changes == self._changes
        )

    def to(self, sensor_id: int) -> list[Shown]:
        """Return what shows itself to a sensor, by modality, then source id."""
        return self._of_sensor.get(sensor_id, [])

    def _fetch(
        self, number: int, modality: Modality, pairs: PairsInView, tell_every_s: float
    ) -> None:
        first, end = pairs.keys.searchsorted(self._ends).tolist()
        rows = first + np.flatnonzero(pairs.is_sensed[first:end])
        sensor_ids, source_ids = ids_of(pairs.keys[rows])
        is_there = self._sources.ids.are_known(source_ids)
        if not is_there.all():
            rows, sensor_ids, source_ids = rows[is_there], sensor_ids[is_there], source_ids[is_there]
        is_told = self._now_s >= pairs.told_at_s[rows] + tell_every_s
        places = self._sources.position[self._sources.ids.slots_of_known(source_ids)]
        name, is_seen = modality.name, modality.needs_line_of_sight
        for sensor_id, source_id, intensity, (x, y, z), row in zip(
            sensor_ids.tolist(), source_ids.tolist(), pairs.intensity[rows].tolist(),
            places.tolist(), np.where(is_told, rows, NOT_TOLD).tolist(), strict=True,
        ):
            shown = (source_id, name, intensity, (x, y, z), is_seen, number, row)
            self._of_sensor.setdefault(sensor_id, []).append(shown)
