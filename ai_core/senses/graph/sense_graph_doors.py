"""Doors that open and shut while gradual waves travel: a wave meets them as they are when it gets there."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph import PortalTable
from ai_core.senses.graph.sense_wavefront import SpreadingWave, WavefrontLabels

__all__ = ["WaveDoorUpdates"]


class WaveDoorUpdates:
    """Tells the waves of one sense that a passage which they have not come to lets through another share now.

    A wave that comes into a region reckons at once how it will come through each passage out of it, with
    the doors as they are then. Those in front of it are reckoned again when they change; behind its front,
    and in the passage itself, nothing changes.

    Args:
        ways: the passages of the sense; it follows them.
        number: of the modality.
        waves: all waves there are, also of other senses.
        first_labels: says how a wave comes through passages straight from its source.
        range_m: how far the sense carries now (m).
        faintest: an intensity below this is nothing.
    """

    def __init__(
        self, ways: PortalTable, number: int, waves: list[SpreadingWave],
        first_labels: Callable[[SpreadingWave, NDArray[np.int64]], WavefrontLabels], range_m: Callable[[], float],
        faintest: float,
    ) -> None:
        self._ways, self._number, self._waves = ways, number, waves
        self._first_labels, self._range_m, self._faintest = first_labels, range_m, faintest
        ways.followers.add(self)

    def row_changed(self, row: int) -> None:
        """Take in that another share comes through a passage now. Cost: O(passages that each wave came through)."""
        for wave in self._waves:
            if wave.modality == self._number and wave.is_begun and row not in wave.passed.row:
                self._meet(wave, row)

    def _meet(self, wave: SpreadingWave, row: int) -> None:
        waiting = wave.waiting
        kept = (waiting.row != row) | (self._near_m(waiting) <= wave.front_m)
        new = self._labels(wave, row)
        is_ahead = self._near_m(new) > wave.front_m
        wave.waiting = WavefrontLabels._make(one[kept] for one in waiting).and_then(
            WavefrontLabels._make(one[is_ahead] for one in new))

    def _near_m(self, labels: WavefrontLabels) -> NDArray[np.float64]:
        """Return how far a wave comes until it stands before the passages (m)."""
        near_m: NDArray[np.float64] = labels.distance_m - self._ways.distance_m[labels.row]
        return near_m

    def _labels(self, wave: SpreadingWave, row: int) -> WavefrontLabels:
        """Return how a wave comes through a passage as it is now, by every way to it."""
        ways, passed = self._ways, wave.passed
        region = int(ways.from_region[row])
        came = np.flatnonzero(ways.to_region[passed.row] == region)
        legs = ways.leg_first[passed.row[came]] + row - ways.out_first[region]
        distance_m = passed.distance_m[came] + ways.hop_m[legs]
        intensity = passed.intensity[came] * (ways.leg_kept[legs] * ways.kept[row])
        found = WavefrontLabels(np.full(len(came), row, np.int32), distance_m, intensity, passed.row[came])
        is_heard = (distance_m <= self._range_m()) & (intensity >= self._faintest) & (intensity > 0)
        found = WavefrontLabels._make(one[is_heard] for one in found)
        if region == wave.region:
            found = self._first_labels(wave, np.array([row])).and_then(found)
        return found
