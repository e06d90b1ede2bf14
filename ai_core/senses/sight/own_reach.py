"""How far each sensor senses anything of a modality, kept until its threshold or its cones change.

Who needs a loud signal is left out by distance alone: before logarithms, powers and cones.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.sight.reach import FARTHEST_M, own_squares
from ai_core.senses.stimuli.waves import ModalityNumbers

if TYPE_CHECKING:
    from ai_core.senses.sensor_table import SensorTable

__all__ = ["OwnReach", "farthest_m"]

CONE_SLACK = 1.0001
"""Factor on the reach of the farthest cone for a rough test, far above the tolerance of borders."""

ROUGHLY = 1e-6
"""Slack of logarithms of intensities (no unit): float64 rounds them to 1e-13 at most."""

MOST_KEPT = 16
"""Senses and strengths of which reaches are kept (count): 4 bytes for each sensor."""

Key = tuple[ModalityNumbers, float]
"""A sense, and the strength up to which it holds."""

Rows = NDArray[np.intp] | slice


class OwnReach:
    """Keeps, for senses and strengths asked of again and again, how far each sensor senses them.

    Attributes:
        asked_from: of how many sensors on the compiled loops ask (count): a call costs them more than it
            spares with fewer.
    """

    asked_from = 4096

    def __init__(self) -> None:
        self._known: dict[Key, NDArray[np.float32]] = {}
        self._caught_up: dict[Key, int] = {}
        self._asked_once: set[Key] = set()
        self._changes: list[int] = []
        self._of = (0, 0.0, 0.0)

    def changed(self, slot: int) -> None:
        """Note that a sensor has another threshold or other cones now."""
        if self._known:
            self._changes.append(slot)
            if len(self._changes) > self._of[0]:    # so many that working all out anew costs less
                self._forget()

    def squares(self, sensors: SensorTable, sense: ModalityNumbers, strongest: float) -> NDArray[np.float32] | None:
        """Return for each row what ``may_reach`` takes as ``own``; None if that is not worth knowing.

        It is not where nothing is lost on the way, so that nearly all sense it as far, as the fronts of slow
        signals ask; where a sense reaches too far for it; and where nobody asked before: what changes from
        frame to frame, as in fog that comes up, is hardly asked of twice.

        Args:
            sensors: always the same.
            sense: what they sense; ``range_m`` 0 or more.
            strongest: no source is stronger; 0 or more. Kept for strengths up to the next power of 2.

        Cost: O(1) and O(sensors changed since it was last asked); O(n) the second time.
        """
        if sense.kept_per_m == 1 or sense.range_m > FARTHEST_M:
            return None
        self._forget_outdated(sensors)
        share, exponent = math.frexp(strongest)
        exponent -= share == 0.5
        key = sense, math.ldexp(1.0, exponent) if exponent < 1024 else math.inf
        found = self._known.get(key)
        if found is None:
            if len(self._asked_once) == MOST_KEPT:
                self._asked_once.clear()
            if key not in self._asked_once:
                self._asked_once.add(key)
                return None
            found = self._known[key] = _squares(sensors, *key, slice(None))
        elif self._caught_up[key] < len(self._changes):
            rows = np.array(sorted(set(self._changes[self._caught_up[key] :])), np.intp)
            found[rows] = _squares(sensors, *key, rows)
        self._caught_up[key] = len(self._changes)
        return found[: sensors.rows]

    def _forget_outdated(self, sensors: SensorTable) -> None:
        now = (len(sensors.log_threshold), sensors.most_acuity, sensors.farthest_cone_m)
        if now != self._of or len(self._known) > MOST_KEPT:
            self._of = now
            self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._changes.clear()


def _squares(sensors: SensorTable, sense: ModalityNumbers, strongest: float, rows: Rows) -> NDArray[np.float32]:
    thresholds = sensors.log_threshold[rows, sense.number]
    acuity = max(1.0, sensors.most_acuity) if sense.needs_cone else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        to_lose = np.log(strongest) + math.log(acuity) + ROUGHLY - thresholds
        # Not a number where nothing can be told, and then as far as the sense reaches.
        own_m = np.fmin(to_lose / np.abs(np.log(sense.kept_per_m)), farthest_m(sensors, sense))
    own_m[to_lose < 0] = -1.0
    return own_squares(own_m)


def farthest_m(sensors: SensorTable, sense: ModalityNumbers) -> float:
    """Return from how far anything of size 1 may be sensed at all (m)."""
    return min(sense.range_m, sensors.farthest_cone_m * CONE_SLACK) if sense.needs_cone else sense.range_m
