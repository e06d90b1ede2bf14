"""The order in which pairs are asked for a line of sight: by importance and age."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import numbers, shown
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import Number
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ID_BITS, ByPair, key_of, keys_of
from ai_core.senses.source_table import SourceTable

__all__ = ["ANY_SOURCE", "PATIENCE_PASSES", "RayTurns"]

PATIENCE_PASSES = 8
"""Passes by which the most important pairs go ahead of the least important (count).

It is also what the least important may have to wait longer: at one pass a frame an
eighth of a second. More prefers the important ones longer when there are too few rays.
"""

ANY_SOURCE = LARGEST_ID
"""Stands for all targets of a sensor among ids of sources."""


class RayTurns(Saveable):
    """Orders questions by importance and age; a pair has that of its sensor, or its own if higher."""

    STATE = DeclaredState(importance=ByPair(Number(0, 1)))

    def __init__(self, sensors: SensorTable, sources: SourceTable) -> None:
        self._sensors = sensors
        self._sources = sources
        self._importance: dict[int, float] = {}     # above 0, by key
        self._columns: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None      # the same
        self._removals = 0      # sensors and sources that were removed until removed ones were dropped last (count)

    @property
    def longest_patience(self) -> int:
        """How much longer the least important wait than by age alone (passes)."""
        return PATIENCE_PASSES if self._importance else 0

    def set_importance(
        self, sensor_ids: ArrayLike, importances: ArrayLike, source_ids: ArrayLike | None = None
    ) -> None:
        """Set the importance of sensors or pairs; see ``RegionalSenseManager.set_importance``."""
        sensors, values = np.asarray(sensor_ids), numbers("importances", importances)
        self._sensors.ids.slots(sensors)
        if values.shape != sensors.shape:
            raise ValueError(f"importances must have one element per id, got {values.shape} for {sensors.shape}")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"importances must be from 0 to 1, got {shown(importances)}")
        sources = np.full(len(sensors), ANY_SOURCE) if source_ids is None else np.asarray(source_ids)
        if source_ids is not None:
            self._sources.ids.slots(sources)
        if sources.shape != sensors.shape:
            raise ValueError(f"source_ids must have one element per sensor id, got {sources.shape} for {sensors.shape}")
        keys = keys_of(sensors.astype(np.int32), sources.astype(np.int32)).tolist()
        importance = self.importance
        for key, value in zip(keys, values.tolist(), strict=True):
            if value > 0:
                importance[key] = value
            else:
                importance.pop(key, None)
        self._columns = None

    def since(self, waiting_since: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return since when pairs count as waiting: earlier for important ones.

        Cost: O(pairs log important ones) in NumPy.
        """
        if not self._importance:
            return waiting_since
        if self._columns is None:
            known = np.array(sorted(self._importance), np.int64)
            self._columns = known, np.array([self._importance[key] for key in known.tolist()])
        ahead = np.maximum(self._looked_up(keys | ANY_SOURCE), self._looked_up(keys))
        earlier: NDArray[np.int64] = waiting_since - 2 * np.rint(ahead * PATIENCE_PASSES).astype(np.int64)
        return earlier

    def of(self, sensor_id: int, source_id: int) -> float:
        """Return how important a pair is, 0 to 1."""
        return max(self._importance.get(key_of(sensor_id, one), 0.0) for one in (ANY_SOURCE, source_id))

    def _looked_up(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self._columns is not None
        known, values = self._columns
        place = np.minimum(known.searchsorted(keys), len(known) - 1)
        return np.where(known[place] == keys, values[place], 0.0)

    @property
    def importance(self) -> dict[int, float]:
        """Importances above 0 by key, without those of removed sensors and sources; setting it replaces all."""
        removals = self._sensors.ids.removals + self._sources.ids.removals
        if removals != self._removals:
            self._removals = removals
            self._importance = {key: one for key, one in self._importance.items() if self._knows(key)}
            self._columns = None
        return self._importance

    @importance.setter
    def importance(self, importance: dict[int, float]) -> None:
        self._importance, self._columns, self._removals = importance, None, -1

    def _knows(self, key: int) -> bool:
        sensor_id, source_id = key >> ID_BITS, key & ANY_SOURCE
        return self._sensors.ids.knows(sensor_id) and (source_id == ANY_SOURCE or self._sources.ids.knows(source_id))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Let sensors that are not in the save keep the importance of all their targets."""
        sensors = values.within.within.sensors
        saved = {*sensors.saved_ids}
        for key, one in self._importance.items():
            new = sensors.new_ids.get(key >> ID_BITS)
            if new is not None and new not in saved and key & ANY_SOURCE == ANY_SOURCE:
                values.importance[key_of(new, ANY_SOURCE)] = one
