"""Whose turn it is to be asked for a line of sight: by importance and by age.

Pairs that have waited longest come first. A sensor of importance 1 is served as
if its pairs had waited ``PATIENCE_PASSES`` longer, and no longer than that: so
what matters is noticed sooner, and what does not is still noticed in time.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown
from ai_core.saving.fields import Fields, State
from ai_core.senses.sensor_table import SensorTable

__all__ = ["PATIENCE_PASSES", "RayTurns"]

PATIENCE_PASSES = 8
"""Passes by which the most important pairs go ahead of the least important (count).

It is also what the least important may have to wait longer: at one pass a frame an
eighth of a second. More prefers the important ones longer when there are too few rays.
"""


class RayTurns:
    """Orders questions by importance and age.

    Args:
        sensors: those who look.
    """

    def __init__(self, sensors: SensorTable) -> None:
        self._sensors = sensors
        self._importance: dict[int, float] = {}

    @property
    def longest_patience(self) -> int:
        """How much longer the least important wait than by age alone (passes)."""
        return PATIENCE_PASSES if self._importance else 0

    def set_importance(self, sensor_ids: object, importances: object) -> None:
        """Say which sensors matter more; those never told of have importance 0.

        Args:
            sensor_ids: shape (n,).
            importances: shape (n,), 0 to 1.

        Raises:
            TypeError, ValueError: if they are not like that; nothing changes then.
            UnknownNameError: if an id is not in use; nothing changes then.
        """
        ids = np.asarray(sensor_ids)
        self._sensors.ids.slots(ids)
        values = np.asarray(importances)
        if values.dtype.kind not in "fiu":
            raise TypeError(f"importances must be numbers, got {shown(importances)}")
        if values.shape != ids.shape:
            raise ValueError(f"importances must have one per id, got {values.shape} for {ids.shape}")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"importances must be from 0 to 1, got {shown(importances)}")
        known = {one: it for one, it in self._importance.items() if self._sensors.ids.knows(one)}
        known.update(zip(ids.tolist(), values.astype(float).tolist(), strict=True))
        self._importance = {one: it for one, it in known.items() if it}

    def since(
        self, waiting_since: NDArray[np.int64], sensor_ids: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Return since when pairs count as waiting: earlier for those that matter."""
        if not self._importance:
            return waiting_since
        unique, place = np.unique(sensor_ids, return_inverse=True)
        ahead = [round(self._importance.get(one, 0.0) * PATIENCE_PASSES) for one in unique.tolist()]
        earlier: NDArray[np.int64] = waiting_since - 2 * np.array(ahead, np.int64)[place]
        return earlier

    def save_state(self) -> State:
        """Return importances by sensor id."""
        kept = sorted(one for one in self._importance if self._sensors.ids.knows(one))
        return {"sensor_ids": kept, "importances": [self._importance[one] for one in kept]}

    def read(self, fields: Fields, largest_id: int) -> dict[int, float]:
        """Return saved importances; ``put`` takes them."""
        ids = fields.wholes("sensor_ids", maximum=largest_id)
        values = fields.numbers("importances", count=len(ids), minimum=0, maximum=1)
        fields.end()
        return dict(zip(ids, values, strict=True))

    def put(self, importance: dict[int, float]) -> None:
        """Take what ``read`` returned."""
        self._importance = importance
