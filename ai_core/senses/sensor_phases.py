"""Which sensors look in a frame, where each looks only every few frames."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.fields import MOST
from ai_core.saving.kinds import Row, Whole
from ai_core.senses.id_table import SLOT_MASK
from ai_core.senses.sensor_table import SensorTable

__all__ = ["DUE", "EVERYBODY", "LONGEST_PERIOD", "NOBODY", "Due", "SensorPhases"]

LONGEST_PERIOD = 60
"""Most frames from one look of a sensor to its next (count), a second; saves count looks up to twice this."""

TOGETHER = 256
"""Neighboring rows of sensors that have one phase (count).

A look of any sensor costs as much as some 60 more at 60 frames a second, because caches are cold; so fewer sensors in
more frames cost more. Higher values make frames less even: 256 sensors look in about half a millisecond.
"""


class Due(NamedTuple):
    """Phases whose sensors are due: a sensor of row r is if ``(frame - r // together) % period < phases``.

    Attributes:
        frame: the frame, or -1 for none so far.
        period: frames from one look of a sensor to its next.
        phases: number of phases; all from ``period`` on.
        together: neighboring rows that have one phase.
    """

    frame: int
    period: int
    phases: int
    together: int = TOGETHER


DUE = Row(Due, Whole(-1, MOST), Whole(1, LONGEST_PERIOD), Whole(0, LONGEST_PERIOD), Whole(1, MOST))
"""How it is saved."""

NOBODY = Due(-1, 1, 0)
"""Before the first look: no sensor is due."""

EVERYBODY = Due(0, 1, 1)
"""All sensors, at a period of 1."""


class SensorPhases:
    """The phases of sensors: each looks every ``period`` frames, at the frames ``(frame + phase) % period == 0``.

    The phase is minus the number of the block of ``together`` rows that the sensor stands in. So blocks are spread
    evenly over the frames, and sensors keep their phases.

    Attributes:
        period: frames from one look of a sensor to its next (count), 1 to ``LONGEST_PERIOD``.
        frame: the frame under way.
        together: see ``TOGETHER``.
    """

    def __init__(self, sensors: SensorTable) -> None:
        self._sensors = sensors
        self.period, self.frame, self.together = 1, 0, TOGETHER
        self._parts: list[NDArray[np.int32]] = []
        self._parts_of: tuple[object, int] = (None, 0)

    def due_since(self, last: Due) -> Due | None:
        """Return the phases that are due after others were: those of this frame and of frames that were skipped.

        None if no sensor has them. With a period of 1 all sensors are always due.
        """
        frame, period = self.frame, self.period
        if period == 1:
            return EVERYBODY
        passed = frame - last.frame
        if not 0 <= passed < period or last.period != period:
            return Due(frame, period, period, self.together)
        return Due(frame, period, passed, self.together) if self.next_frame(last.frame) <= frame else None

    def ids_of(self, due: Due) -> NDArray[np.int32]:
        """Return the sensors of phases, ascending. The same array until a sensor joins or leaves."""
        if due.phases >= due.period:
            return self._sensors.ids.ids
        parts = self._by_phase()
        if due.phases == 1:
            return parts[due.frame % due.period]
        return np.sort(np.concatenate([parts[(due.frame - k) % due.period] for k in range(due.phases)]))

    def next_frame(self, frame: int) -> int:
        """Return the first frame after one in which a sensor is due, a period later if there is none."""
        period, parts = self.period, self._by_phase()
        later = frame + 1
        while later < frame + period and not len(parts[later % period]):
            later += 1
        return later

    def next_look_in(self, sensor_id: int, frame: int) -> int:
        """Return the frames from a frame to the next look of a sensor: ``period`` if it is due in that frame."""
        return self.period - (frame - (sensor_id & SLOT_MASK) // self.together) % self.period

    @property
    def in_use(self) -> int:
        """Number of phases that a sensor has: looks of any sensors from one look of a sensor to its next (count)."""
        return 1 if self.period == 1 else max(1, sum(len(one) > 0 for one in self._by_phase()))

    def _by_phase(self) -> list[NDArray[np.int32]]:
        ids, period = self._sensors.ids.ids, self.period
        if self._parts_of[0] is not ids or self._parts_of[1] != period:
            phases = (ids & SLOT_MASK) // self.together % period
            self._parts, self._parts_of = [ids[phases == phase] for phase in range(period)], (ids, period)
        return self._parts
