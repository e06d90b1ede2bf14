"""Which sensors look in a frame, where each looks only every few frames."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.declared_state import Row, Whole
from ai_core.saving.fields import MOST
from ai_core.senses.id_table import SLOT_MASK
from ai_core.senses.sensor_table import SensorTable

__all__ = ["DUE", "LONGEST_PERIOD", "Due", "SensorPhases"]

LONGEST_PERIOD = 60
"""Most frames from one look of a sensor to its next (count), a second; saves count looks up to twice this."""


class Due(NamedTuple):
    """Phases whose sensors are due: a sensor of row r is if ``(frame - r) % period < phases``.

    Attributes:
        frame: the frame, or -1 for none so far.
        period: frames from one look of a sensor to its next.
        phases: number of phases; all from ``period`` on.
    """

    frame: int
    period: int
    phases: int


DUE = Row(Due, Whole(-1, MOST), Whole(1, LONGEST_PERIOD), Whole(0, LONGEST_PERIOD))
"""How it is saved."""

NOBODY = Due(-1, 1, 0)


class SensorPhases:
    """The phases of sensors: each looks every ``period`` frames, at the frames ``(frame + phase) % period == 0``.

    The phase is minus the row of the sensor. So sensors are spread evenly over the frames, and keep their phases.

    Args:
        sensors: all sensors.

    Attributes:
        period: frames from one look of a sensor to its next (count), 1 to ``LONGEST_PERIOD``.
        frame: the frame under way.
    """

    def __init__(self, sensors: SensorTable) -> None:
        self._sensors = sensors
        self.period, self.frame = 1, 0
        self._parts: list[NDArray[np.int32]] = []
        self._parts_of: tuple[object, int] = (None, 0)

    def due_since(self, last: Due) -> Due | None:
        """Return the phases that are due after others were: those of this frame and of frames that were skipped.

        None if no sensor has them. With a period of 1 all sensors are always due.
        """
        frame, period = self.frame, self.period
        if period == 1:
            return Due(frame, 1, 1)
        passed = frame - last.frame
        if not 0 <= passed < period or last.period != period:
            return Due(frame, period, period)
        parts = self._by_phase()
        if any(len(parts[(frame - k) % period]) for k in range(passed)):
            return Due(frame, period, passed)
        return None

    def ids_of(self, due: Due) -> NDArray[np.int32]:
        """Return the sensors of phases, ascending. The same array until a sensor joins or leaves."""
        if due.phases >= due.period:
            return self._sensors.ids.ids
        parts = self._by_phase()
        if due.phases == 1:
            return parts[due.frame % due.period]
        return np.sort(np.concatenate([parts[(due.frame - k) % due.period] for k in range(due.phases)]))

    @property
    def in_use(self) -> int:
        """Number of phases that a sensor has: looks of any sensors from one look of a sensor to its next (count)."""
        return 1 if self.period == 1 else max(1, sum(len(one) > 0 for one in self._by_phase()))

    def _by_phase(self) -> list[NDArray[np.int32]]:
        ids, period = self._sensors.ids.ids, self.period
        if self._parts_of[0] is not ids or self._parts_of[1] != period:
            rows = (ids & SLOT_MASK) % period
            self._parts, self._parts_of = [ids[rows == phase] for phase in range(period)], (ids, period)
        return self._parts
