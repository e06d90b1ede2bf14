"""A grid over sensors, so that a signal costs what is near it and not what exists.

Looking at all sensors costs less than making a grid for a few signals, so it is
made only when many signals have come since sensors last moved.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable

__all__ = ["SensorIndex"]

LEAST_SENSORS = 2000
"""Sensors below which looking at all of them is always cheaper (count)."""

SIGNALS_WORTH_A_GRID = 24
"""Signals since sensors last moved from which on a grid has paid for itself (count).

Making one takes some 20 times what looking at all sensors does.
"""

SENSORS_PER_CELL = 4
"""Sensors in a cell if they were spread evenly (count); fewer search more cells, more test more sensors."""

MOST_CELLS_A_SIDE = 255
"""Cells along an axis (count): numbers of cells fit 16 bits, which NumPy sorts in one pass."""


class SensorIndex:
    """Finds sensors near a point, in the two directions in which they are spread most.

    Args:
        sensors: whom to find; looked at again whenever it has changed.
    """

    def __init__(self, sensors: SensorTable) -> None:
        self._sensors = sensors
        self._changes = -1
        self._signals = 0
        self._is_made = False

    def is_worth_it(self, signals: int) -> bool:
        """Return whether so many more signals should go through the grid."""
        if self._changes != self._sensors.changes:
            self._changes, self._signals, self._is_made = self._sensors.changes, 0, False
        self._signals += signals
        return self._sensors.rows >= LEAST_SENSORS and self._signals >= SIGNALS_WORTH_A_GRID

    def near(self, origin: Point, reach_m: float) -> NDArray[np.intp]:
        """Return slots that may be in reach of a point, ascending; all that are, and others.

        Cost: O(cells and sensors near); O(sensors) when sensors have changed.
        """
        if not self._is_made:
            self._make()
        lowest, highest = (
            np.clip((np.array([origin[axis] for axis in self._axes]) + side - self._corner)
                    / self._cell, -1, self._side).astype(np.intp)
            for side in (-reach_m * 1.0001 - 1e-3, reach_m * 1.0001 + 1e-3)
        )
        lowest, highest = np.clip(lowest, 0, self._side - 1), np.clip(highest, 0, self._side - 1)
        columns = np.arange(lowest[0], highest[0] + 1) * self._side
        starts, ends = self._starts[columns + lowest[1]], self._starts[columns + highest[1] + 1]
        found = np.concatenate([self._slots[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
        found.sort()
        return found

    def _make(self) -> None:
        places = self._sensors.position[: self._sensors.rows].astype(np.float64)
        low, high = places.min(axis=0), places.max(axis=0)
        self._axes = np.sort(np.argsort(low - high, kind="stable")[:2]).tolist()
        self._side = int(min(MOST_CELLS_A_SIDE, max(1, (len(places) / SENSORS_PER_CELL) ** 0.5)))
        self._corner = low[self._axes]
        self._cell = np.maximum((high - low)[self._axes] / self._side, 1e-6)
        cells = np.clip((places[:, self._axes] - self._corner) / self._cell, 0, self._side - 1).astype(np.uint16)
        number = cells[:, 0] * np.uint16(self._side) + cells[:, 1]
        self._slots = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=self._side * self._side)
        self._starts = np.concatenate(([0], np.cumsum(counts)))
        self._is_made = True
