"""Pairs of sensor and source in reach of each other, and whose turn it is to be asked.

Whether something stands between costs a ray, so not every pair is asked every
time: those that have waited longest come first. A pair asked goes to the end,
a pair that comes into reach joins there. So a pair is asked at the latest after
``ceil(pairs / maximum_rays)`` passes, however many others come and go; see
``ray_turns`` for those that matter more.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import Fields, State
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.sight.sight_loops import merge_pairs, stay_as_they_are

__all__ = ["ID_BITS", "PairsInView", "ids_of", "key_of", "keys_of", "read_found"]

ID_BITS = 31
"""Bits of an id; two of them make one int64 key that sorts by sensor, then source."""

NEVER_REPORTED_S = -np.inf


class PairsInView:
    """All pairs of one continuous modality that passed every test but the ray.

    Attributes:
        keys: (n,) int64, ascending: sensor id, then source id.
        intensity: (n,) float64, what the sensor would sense.
        waiting_since: (n,) int64, moments of the queue for rays.
        is_sensed: (n,) bool, the last answer; False until the first.
        reported_at_s: (n,) float64, when the target was reported to the sensor last (s).
    """

    def __init__(self) -> None:
        self.keys = np.zeros(0, np.int64)
        self.intensity = np.zeros(0)
        self.waiting_since = np.zeros(0, np.int64)
        self.is_sensed = np.zeros(0, np.bool_)
        self.reported_at_s = np.zeros(0)
        self._viewed: tuple[object, ...] = (None,) * 4
        self._views = (memoryview(b""),) * 4

    def __len__(self) -> int:
        return len(self.keys)

    def take(
        self,
        keys: NDArray[np.int64],
        intensity: NDArray[np.float64],
        count: int,
        moment: int,
        *,
        needs_ray: bool,
    ) -> None:
        """Take over the pairs found by a new pass.

        What stays in reach keeps its answer and its place in the queue.

        Args:
            keys: (count,) or more, ascending; copied.
            intensity: (count,) or more; copied.
            count: how many pairs were found.
            moment: place in the queue for pairs that are new.
            needs_ray: False if being in reach is enough to be sensed.

        Raises:
            ValueError: if keys do not ascend.

        Cost: O(n + pairs before); no allocation if they are the pairs before.
        """
        if stay_as_they_are(self.keys, self.intensity, keys, intensity, count):
            if not needs_ray:
                self.is_sensed[:] = True
            return
        keys, intensity = keys[:count].copy(), intensity[:count].copy()
        waiting_since = np.full(count, moment, np.int64)
        is_sensed, reported_at_s = np.full(count, not needs_ray), np.full(count, NEVER_REPORTED_S)
        merge_pairs(
            self.keys, self.waiting_since, self.is_sensed, self.reported_at_s, keys, waiting_since, is_sensed,
            reported_at_s)
        self.keys, self.intensity, self.waiting_since = keys, intensity, waiting_since
        self.is_sensed, self.reported_at_s = is_sensed, reported_at_s

    def views(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        """Return memory views of keys, intensity, is_sensed (as bytes) and reported_at_s, for loops."""
        arrays = self.keys, self.intensity, self.is_sensed, self.reported_at_s
        for array, viewed in zip(arrays, self._viewed, strict=True):
            if array is not viewed:
                self._viewed = arrays
                self._views = (
                    memoryview(self.keys), memoryview(self.intensity), memoryview(self.is_sensed.view(np.uint8)),
                    memoryview(self.reported_at_s))
                break
        return self._views

    def row_of(self, sensor_id: int, source_id: int) -> int | None:
        """Return the row of a pair, None if it is not in view."""
        key = key_of(sensor_id, source_id)
        row = int(np.searchsorted(self.keys, key))
        return row if row < len(self.keys) and self.keys[row] == key else None

    def sensed_by(self, sensor_id: int) -> NDArray[np.intp]:
        """Return the rows of what a sensor senses, by ascending source id."""
        ends = (sensor_id << ID_BITS, (sensor_id + 1) << ID_BITS)
        first, end = np.searchsorted(self.keys, ends)
        rows: NDArray[np.intp] = first + np.flatnonzero(self.is_sensed[first:end])
        return rows

    def save_state(self) -> State:
        """Return all columns, keys as ids of sensors and sources."""
        sensors, sources = ids_of(self.keys)
        return {
            "sensor_ids": sensors.tolist(),
            "source_ids": sources.tolist(),
            "intensity": self.intensity.tolist(),
            "waiting_since": self.waiting_since.tolist(),
            "is_sensed": self.is_sensed.tolist(),
            "reported_at_s": [None if one == NEVER_REPORTED_S else one for one in self.reported_at_s.tolist()],
        }

    @classmethod
    def read(cls, fields: Fields, passes: int, latest_s: float) -> PairsInView:
        """Return the pairs of a save; raises StateError if they cannot be."""
        pairs = cls()
        pairs.keys, pairs.intensity = read_found(fields)
        count = len(pairs.keys)
        if (np.diff(pairs.keys) <= 0).any():
            fields.refuse("source_ids", "must be sorted by ascending sensor, then source, each pair once")
        since = fields.wholes("waiting_since", count=count, maximum=2 * passes + 1)
        pairs.waiting_since = np.array(since, np.int64)
        sensed = fields.items("is_sensed", count=count)
        if not all(type(one) is bool for one in sensed):
            fields.refuse("is_sensed", "must hold only true and false")
        pairs.is_sensed = np.array(sensed, np.bool_)
        reported = fields.numbers("reported_at_s", count=count, maximum=latest_s, absent=NEVER_REPORTED_S)
        pairs.reported_at_s = np.array(reported, np.float64)
        fields.end()
        return pairs



def keys_of(
    sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the keys of pairs."""
    keys: NDArray[np.int64] = sensor_ids.astype(np.int64) << ID_BITS | source_ids
    return keys


def key_of(sensor_id: int, source_id: int) -> int:
    """Return the key of one pair."""
    return int(sensor_id) << ID_BITS | int(source_id)


def ids_of(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return sensor ids and source ids of keys."""
    sensor_ids = (keys >> ID_BITS).astype(np.int32)
    source_ids = (keys & ((1 << ID_BITS) - 1)).astype(np.int32)
    return sensor_ids, source_ids


def read_found(fields: Fields) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return saved pairs and intensities, in their order."""
    sensors = fields.wholes("sensor_ids", maximum=LARGEST_ID)
    sources = fields.wholes("source_ids", count=len(sensors), maximum=LARGEST_ID)
    intensity = fields.numbers("intensity", count=len(sensors), minimum=0)
    keys = keys_of(np.array(sensors, np.int32), np.array(sources, np.int32))
    return keys, np.array(intensity, np.float64)
