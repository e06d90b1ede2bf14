"""The order in which pairs are asked for a line of sight: by importance and age.

Pairs that have waited longest come first. A pair of importance 1 is served as
if it had waited ``PATIENCE_PASSES`` longer, and no longer than that: so
what matters is noticed sooner, and what does not is still noticed in time.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import shown
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import MapOf, Number, Whole
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ID_BITS, ByPair, key_of, keys_of
from ai_core.senses.source_table import SourceTable

__all__ = ["PATIENCE_PASSES", "RayTurns"]

PATIENCE_PASSES = 8
"""Passes by which the most important pairs go ahead of the least important (count).

It is also what the least important may have to wait longer: at one pass a frame an
eighth of a second. More prefers the important ones longer when there are too few rays.
"""


Columns = tuple[NDArray[np.int64], NDArray[np.float64]]


class RayTurns(Saveable):
    """Orders questions by importance and age; a pair has that of its sensor, or its own if higher."""

    STATE = DeclaredState(
        of_sensors=MapOf(Number(0, 1), key=Whole(maximum=LARGEST_ID), at="_of_sensors"),
        of_pairs=ByPair(Number(0, 1), at="_of_pairs"))

    def __init__(self, sensors: SensorTable, sources: SourceTable) -> None:
        self._sensors = sensors
        self._sources = sources
        self._of_sensors: dict[int, float] = {}
        self._of_pairs: dict[int, float] = {}
        self._columns: tuple[Columns, Columns] | None = None

    @property
    def longest_patience(self) -> int:
        """How much longer the least important wait than by age alone (passes)."""
        return PATIENCE_PASSES if self._of_sensors or self._of_pairs else 0

    def set_importance(
        self, sensor_ids: ArrayLike, importances: ArrayLike, source_ids: ArrayLike | None = None
    ) -> None:
        """Set the importance of sensors or pairs; see ``RegionalSenseManager.set_importance``."""
        sensors, values = self._checked(sensor_ids, importances)
        if source_ids is None:
            self._of_sensors = self._known(self._of_sensors, self._sensors.ids.knows)
            _put(self._of_sensors, sensors, values)
        else:
            sources = np.asarray(source_ids)
            self._sources.ids.slots(sources)
            if sources.shape != sensors.shape:
                raise ValueError(
                    f"source_ids must have one element per sensor id, got {sources.shape} for {sensors.shape}")
            self._of_pairs = self._known(self._of_pairs, self._knows_pair)
            _put(self._of_pairs, keys_of(sensors.astype(np.int32), sources.astype(np.int32)), values)
        self._columns = None

    def since(self, waiting_since: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return since when pairs count as waiting: earlier for important ones.

        Cost: O(pairs log important ones) in NumPy.
        """
        if not (self._of_sensors or self._of_pairs):
            return waiting_since
        if self._columns is None:
            self._columns = _columns(self._of_sensors), _columns(self._of_pairs)
        of_sensors, of_pairs = self._columns
        ahead = _looked_up(of_sensors, keys >> ID_BITS)
        if self._of_pairs:
            ahead = np.maximum(ahead, _looked_up(of_pairs, keys))
        earlier: NDArray[np.int64] = waiting_since - 2 * np.rint(ahead * PATIENCE_PASSES).astype(np.int64)
        return earlier

    def of(self, sensor_id: int, source_id: int) -> float:
        """Return how important a pair is, 0 to 1."""
        return max(self._of_sensors.get(sensor_id, 0.0), self._of_pairs.get(key_of(sensor_id, source_id), 0.0))

    def _check_at_rest(self) -> None:
        """Drop what was removed, so that it is not saved."""
        self._of_sensors = self._known(self._of_sensors, self._sensors.ids.knows)
        self._of_pairs = self._known(self._of_pairs, self._knows_pair)

    def _finish_load(self) -> None:
        self._columns = None

    def _checked(
        self, sensor_ids: ArrayLike, importances: ArrayLike
    ) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
        ids = np.asarray(sensor_ids)
        self._sensors.ids.slots(ids)
        values = np.asarray(importances)
        if values.shape == ids.shape == (0,):
            return np.zeros(0, np.int32), np.zeros(0)
        if values.dtype.kind not in "fiu":
            raise TypeError(f"importances must be numbers, got {shown(importances)}")
        if values.shape != ids.shape:
            raise ValueError(f"importances must have one element per id, got {values.shape} for {ids.shape}")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"importances must be from 0 to 1, got {shown(importances)}")
        return ids, values.astype(np.float64)

    def _known(self, importance: dict[int, float], knows: Callable[[int], bool]) -> dict[int, float]:
        return {one: value for one, value in importance.items() if knows(one)}

    def _knows_pair(self, key: int) -> bool:
        sensor_id, source_id = key >> ID_BITS, key & (1 << ID_BITS) - 1
        return self._sensors.ids.knows(sensor_id) and self._sources.ids.knows(source_id)


def _put(importance: dict[int, float], keys: NDArray[np.integer], values: NDArray[np.float64]) -> None:
    importance.update(zip(keys.tolist(), values.tolist(), strict=True))
    for key in [key for key in keys.tolist() if importance.get(key) == 0]:
        del importance[key]


def _columns(importance: dict[int, float]) -> Columns:
    keys = np.array(sorted(importance), np.int64)
    return keys, np.array([importance[key] for key in keys.tolist()], np.float64)


def _looked_up(columns: Columns, keys: NDArray[np.integer]) -> NDArray[np.float64]:
    known, values = columns
    if not len(known):
        return np.zeros(len(keys))
    place = np.minimum(known.searchsorted(keys), len(known) - 1)
    return np.where(known[place] == keys, values[place], 0.0)
