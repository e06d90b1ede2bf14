"""How far each sensor senses anything of a modality, kept until thresholds or cones change.

Who needs a loud signal is left out by distance alone: before logarithms, powers and cones.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.reach import FARTHEST_M, own_squares
from ai_core.senses.waves import Sense

if TYPE_CHECKING:
    from ai_core.senses.sensor_table import SensorTable

__all__ = ["OwnReach", "farthest_m"]

CONE_SLACK = 1.0001
"""Factor on the reach of the farthest cone for a rough test, far above the tolerance of borders."""

ROUGHLY = 1e-6
"""Slack of logarithms of intensities (no unit): float64 rounds them to 1e-13 at most."""

MOST_KEPT = 16
"""Senses and strengths of which reaches are kept (count): 4 bytes for each sensor."""


class OwnReach:
    """Keeps, for senses and strengths lately asked of, how far each sensor senses them."""

    def __init__(self) -> None:
        self._known: dict[tuple[Sense, float], NDArray[np.float32]] = {}
        self._of = (-1, -1)

    def squares(self, sensors: SensorTable, sense: Sense, strongest: float) -> NDArray[np.float32] | None:
        """Return for each row what ``may_reach`` takes as ``own``; None if a sense reaches too far for that.

        Args:
            sensors: always the same.
            sense: what they sense; ``range_m`` 0 or more.
            strongest: no source is stronger; 0 or more. Kept for strengths up to the next power of 2.

        Cost: O(1); O(n) when thresholds, cones, the sense or the strength are new.
        """
        if sense.range_m > FARTHEST_M:
            return None
        now = (sensors.ability_changes, sensors.rows)
        if now != self._of or len(self._known) > MOST_KEPT:
            self._known.clear()
            self._of = now
        share, exponent = math.frexp(strongest)
        up_to = math.ldexp(1.0, min(1023, exponent if share > 0.5 else exponent - 1))
        found = self._known.get((sense, up_to))
        if found is None:
            found = self._known[sense, up_to] = _squares(sensors, sense, max(up_to, strongest))
        return found


def _squares(sensors: SensorTable, sense: Sense, strongest: float) -> NDArray[np.float32]:
    thresholds = sensors.log_threshold[: sensors.rows, sense.number]
    acuity = max(1.0, sensors.most_acuity) if sense.needs_cone else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        to_lose = math.log(strongest) + math.log(acuity) + ROUGHLY - thresholds
        # Not a number where nothing can be told, and then as far as the sense reaches.
        own_m = np.fmin(to_lose / np.abs(np.log(sense.attenuation)), farthest_m(sensors, sense))
    own_m[to_lose < 0] = -1.0
    return own_squares(own_m)


def farthest_m(sensors: SensorTable, sense: Sense) -> float:
    """Return from how far anything of size 1 may be sensed at all (m)."""
    return min(sense.range_m, sensors.farthest_cone_m * CONE_SLACK) if sense.needs_cone else sense.range_m
