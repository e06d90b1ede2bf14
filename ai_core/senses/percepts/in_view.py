"""What shows itself to some sensors at one moment, fetched from the arrays together."""
from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ai_core.senses.percepts.following as following
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.following import VisiblePairs as Found
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.pairs_in_view import ID_BITS, PairsInView
from ai_core.senses.source_table import SourceTable

__all__ = ["Row", "SensationRows", "VisibleBatch", "VisibleTarget"]


class VisibleTarget(NamedTuple):
    """One source as it shows itself to one sensor.

    Attributes:
        target: id of the source.
        modality: name of the sense.
        intensity: how strongly it shows.
        position: where it is (m).
        is_seen: whether the modality is a kind of sight.
        number: of the modality.
        row: among the pairs of that modality.
        is_told: whether the sensor is to be told.
    """

    target: int
    modality: str
    intensity: float
    position: Point
    is_seen: bool
    number: int
    row: int
    is_told: bool


Row = tuple[int, int, str, float, Point]
"""Sensor, source, modality, intensity and position of one sensation."""


class SensationRows(NamedTuple):
    """Sensations of a moment: source, number of the modality, intensity, position; names of modalities; when (s)."""

    source_ids: NDArray[np.int32]
    number: NDArray[np.intp]
    intensity: NDArray[np.float64]
    position: NDArray[np.float32]
    names: list[str]
    now_s: float

    def sensation(self, sensor_id: int, row: int) -> Sensation:
        """Return one of them."""
        x, y, z = self.position[row].tolist()
        return Sensation(
            sensor_id, int(self.source_ids[row]), self.names[int(self.number[row])], float(self.intensity[row]),
            (x, y, z), self.now_s, self.now_s)


class VisibleBatch:
    """All that shows itself to some sensors at one moment.

    Args:
        continuous: who senses what.
        modalities: all senses.
        sources: where what is sensed is now.
        sensor_ids: the sensors, ascending.
        now_s: game time (s).
        tell_every_s: time between two reports of what stays in view (s).

    Attributes:
        sensor_ids: the sensors.
        now_s: game time (s).
        keys: (n,) int64, sensor and source, ascending.
        intensity: (n,) float64.
        position: (n, 3) float32 (m).
        number: (n,) of the modality.
        is_seen: (n,) whether the modality is a kind of sight.
        tells: sensors that are to be told of something.

    Cost: O(pairs of these sensors) in NumPy.
    """

    def __init__(
        self,
        continuous: ContinuousSensing,
        modalities: ModalitySet,
        sources: SourceTable,
        sensor_ids: list[int],
        now_s: float,
        tell_every_s: float,
    ) -> None:
        self.sensor_ids = sensor_ids
        self.now_s = now_s
        self._pairs = continuous.pairs
        self._modalities = modalities
        self._sources = sources
        self._changes = sources.changes
        ends = (sensor_ids[0] << ID_BITS, (sensor_ids[-1] + 1) << ID_BITS)
        parts = [
            self._of_modality(number, pairs, ends, tell_every_s)
            for number, pairs in continuous.pairs.items()
        ]
        parts = [part for part in parts if len(part[0].keys)] or parts[:1] or [(Found.of(0), np.zeros(0, np.int64))]
        found, self.number = parts[0]
        if len(parts) > 1:
            order = np.argsort(np.concatenate([part.keys for part, _ in parts]), kind="stable")
            self.number = np.concatenate([number for _, number in parts])[order]
            found = Found(*[np.concatenate(column)[order] for column in zip(*[part for part, _ in parts], strict=True)])
        self._rows, self.keys, self._source_ids, self.intensity, self.position, self._is_told = found
        self.tells: set[int] = set((self.keys[self._is_told] >> ID_BITS).tolist())

    def is_true_at(self, now_s: float) -> bool:
        """Return True if it holds what shows itself now."""
        return now_s == self.now_s and self._sources.changes == self._changes

    def span(self, first: int, end: int) -> tuple[int, int]:
        """Return which rows are of the sensors with these places among ``sensor_ids``."""
        if first == 0 and end == len(self.sensor_ids):
            return 0, len(self.keys)
        return self._starts[first], self._starts[end]

    @cached_property
    def _starts(self) -> list[int]:
        starts = np.array([*self.sensor_ids, self.sensor_ids[-1] + 1], np.int64) << ID_BITS
        found: list[int] = self.keys.searchsorted(starts).tolist()
        return found

    def places_of(self, some: set[int]) -> list[int]:
        """Return the places of those of some sensors that are among ``sensor_ids``, ascending."""
        ids = self.sensor_ids
        places = [(bisect_left(ids, one), one) for one in some]
        return sorted([place for place, one in places if place < len(ids) and ids[place] == one])

    def shown_to(self, place: int) -> list[VisibleTarget]:
        """Return what shows itself to one sensor, by modality, then source id."""
        first, end = self.span(place, place + 1)
        if first == end:
            return []
        shown = self._shown(slice(first, end))
        if any(one.number > two.number for one, two in pairwise(shown)):
            shown.sort(key=lambda one: one.number)
        return shown

    def told_to(self, place: int) -> list[VisibleTarget]:
        """Return what one sensor is to be told of, in the same order."""
        return [one for one in self.shown_to(place) if one.is_told]

    def note_told(self, first: int, end: int, some: set[int]) -> NDArray[np.intp]:
        """Note that of sensors with places from one to another some were told; return which rows, in order."""
        begun, ended = self.span(first, end)
        rows = begun + np.flatnonzero(self._is_told[begun:ended])
        sensor_ids = (self.keys[rows] >> ID_BITS).tolist()
        if not some.issuperset(sensor_ids):
            rows = rows[[one in some for one in sensor_ids]]
        if len(self._pairs) > 1:       # of one sensor by modality, then source
            rows = rows[np.lexsort((self._source_ids[rows], self.number[rows], self.keys[rows] >> ID_BITS))]
        for number, pairs in self._pairs.items():
            mine = rows if len(self._pairs) == 1 else rows[self.number[rows] == number]
            pairs.told_at_s[self._rows[mine]] = self.now_s
        return rows

    def block_told(self, rows: NDArray[np.intp]) -> SensationRows:
        """Return what some rows are of, as it is now, for who asks for few of them."""
        return SensationRows(
            self._source_ids[rows], self.number[rows], self.intensity[rows], self.position[rows], self._kinds[0],
            self.now_s)

    def rows_told(self, rows: NDArray[np.intp]) -> list[Row]:
        """Return what some rows are of."""
        names, _ = self._kinds
        return [
            (sensor_id, source_id, names[number], intensity, (x, y, z))
            for sensor_id, source_id, number, intensity, (x, y, z) in zip(
                (self.keys[rows] >> ID_BITS).tolist(), self._source_ids[rows].tolist(),
                self.number[rows].tolist(), self.intensity[rows].tolist(), self.position[rows].tolist(), strict=True)
        ]

    def _shown(self, rows: slice) -> list[VisibleTarget]:
        names, are_seen = self._kinds
        return [
            VisibleTarget(target, names[number], intensity, (x, y, z), are_seen[number], number, row, is_told)
            for target, intensity, (x, y, z), number, row, is_told in zip(
                self._source_ids[rows].tolist(), self.intensity[rows].tolist(),
                self.position[rows].tolist(), self.number[rows].tolist(),
                self._rows[rows].tolist(), self._is_told[rows].tolist(), strict=True,
            )
        ]

    @cached_property
    def _kinds(self) -> tuple[list[str], list[bool]]:
        kinds = [self._modalities[number] for number in range(len(self._modalities))]
        return [kind.name for kind in kinds], [kind.needs_line_of_sight for kind in kinds]

    def _of_modality(
        self, number: int, pairs: PairsInView, ends: tuple[int, int], tell_every_s: float
    ) -> tuple[Found, NDArray[np.intp]]:
        first, end = pairs.keys.searchsorted(ends).tolist()
        room = Found.of(end - first)
        found = room.first(following.shown(
            pairs.keys, pairs.is_sensed, pairs.told_at_s, pairs.intensity, first, end,
            self._sources.ids.by_slot, self._sources.position, self.now_s, tell_every_s, room))
        clarity = self._sources.views.clarity(number, found.keys)
        if clarity is not None:
            found = found._replace(intensity=found.intensity * clarity)
        return found, np.full(len(found.keys), number, np.int64)
