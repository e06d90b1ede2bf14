"""The hot loop of importance: what viewers make of agents, block by block.

A block of rows stays in the processor's cache through all the operations on
it, and its workspace is made once: an update allocates nothing per agent. All
is float32 with + - * / and square roots, so results are the same everywhere.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.level_of_detail.importance_settings import VIEWER_PARTS, ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer

__all__ = ["BLOCK_ROWS", "ViewerKernel"]

BLOCK_ROWS = 16_384
"""Rows worked on at a time (count): each array of a block takes 64 kB.

Larger blocks fall out of the cache, smaller ones spend more on calls: a
quarter of this takes twice the time.
"""

SMALLEST_M = 1e-6
"""Distance under which nothing is divided by it (m)."""

Floats = NDArray[np.float32]


class ViewerKernel:
    """Writes what viewers add to the importance of arrays of agents.

    Weights, ranges and scales are multiplied into the few numbers of a viewer
    and of a block's input, not into every intermediate array.

    Args:
        settings: weights and ranges.
    """

    def __init__(self, settings: ImportanceSettings) -> None:
        self._settings = settings
        self._weights = settings.weights()[: len(VIEWER_PARTS)]
        self._away = np.zeros((3, BLOCK_ROWS), np.float32)
        self._work = np.zeros((3, BLOCK_ROWS), np.float32)
        self._places = np.zeros((3, BLOCK_ROWS), np.float32)
        self._moving = np.zeros((3, BLOCK_ROWS), np.float32)
        self._sizes = np.zeros(BLOCK_ROWS, np.float32)
        self._own = np.zeros((len(VIEWER_PARTS), BLOCK_ROWS), np.float32)
        self._better = np.zeros(BLOCK_ROWS, np.bool_)

    def write(
        self, viewers: Sequence[Viewer], positions: Floats, velocities: Floats | None,
        sizes: Floats, total: Floats, parts: Floats | None = None,
    ) -> int:
        """Write the most that any viewer adds, and in which parts.

        Args:
            viewers: any number; none makes all 0.
            positions: (n, d) (m).
            velocities: (n, d) (m/s), or None.
            sizes: (n,), diameters (m).
            total: (n,), overwritten.
            parts: (4, n), overwritten; None leaves them out, which is faster.

        Returns:
            The first row with a number that is not finite, -1 if there is none.

        Cost: O(n * viewers), no allocation.
        """
        count, dimensions = positions.shape
        scale = self._weights[2] / self._settings.full_approach_m_s
        for begin in range(0, count, BLOCK_ROWS):
            end = min(count, begin + BLOCK_ROWS)
            places = self._places[:dimensions, : end - begin]
            moving = self._moving[: 0 if velocities is None else dimensions, : end - begin]
            for axis in range(dimensions):
                np.copyto(places[axis], positions[begin:end, axis])
                if velocities is not None:
                    np.multiply(velocities[begin:end, axis], scale, out=moving[axis])
            wrong = self._first_wrong(places, moving)
            if wrong >= 0:
                return begin + wrong
            size = self._sizes[: end - begin]
            np.multiply(sizes[begin:end], self._weights[3] / self._settings.full_size_rad, out=size)
            total[begin:end] = 0
            own = None if parts is None else parts[:, begin:end]
            if own is not None:
                own[:] = 0
            for viewer in viewers:
                self._see(viewer, places, moving, size, total[begin:end], own)
        return -1

    def _first_wrong(self, *arrays: Floats) -> int:
        """Return the first row in which a number is not finite, -1 if there is none."""
        found = -1
        for array in arrays:
            for one in array:  # one by one: of two dimensions NumPy would make a buffer
                good = np.isfinite(one, out=self._better[: len(one)])
                if not good.all():
                    row = int(np.argmin(good))
                    found = row if found < 0 else min(found, row)
        return found

    def _see(
        self, viewer: Viewer, places: Floats, moving: Floats, sizes: Floats, best: Floats,
        best_parts: Floats | None,
    ) -> None:
        """Replace the best opinion so far where this viewer's is higher."""
        rows = places.shape[1]
        away, work, own = self._away[: len(places), :rows], self._work[:, :rows], self._own[:, :rows]
        distance, nearness, scratch = work
        for axis, place in enumerate(places):
            np.subtract(place, viewer.position[axis], out=away[axis])
        _dot(away, away, distance, scratch)
        np.sqrt(distance, out=distance)
        np.maximum(distance, SMALLEST_M, out=nearness)
        np.divide(1, nearness, out=nearness)
        weights = [weight * viewer.weight for weight in self._weights]
        near_m, far_m = viewer.range_m(self._settings.near_m, self._settings.far_m)
        slope = weights[0] / (far_m - near_m)
        np.multiply(distance, -slope, out=own[0])
        np.add(own[0], far_m * slope, out=own[0])
        _clamp(own[0], weights[0])
        self._write_view(viewer, away, nearness, own[1], scratch, weights[1])
        self._write_approach(viewer, away, moving, nearness, own[2], scratch, weights[2])
        np.multiply(sizes, nearness, out=own[3])
        if viewer.weight != 1:
            np.multiply(own[3], viewer.weight, out=own[3])
        np.minimum(own[3], weights[3], out=own[3])
        total = distance
        np.add(own[0], own[1], out=total)
        np.add(total, own[2], out=total)
        np.add(total, own[3], out=total)
        if best_parts is not None:
            better = np.greater(total, best, out=self._better[:rows])
            for part in range(len(VIEWER_PARTS)):
                np.copyto(best_parts[part], own[part], where=better)
        np.maximum(best, total, out=best)

    def _write_view(
        self, viewer: Viewer, away: Floats, nearness: Floats, out: Floats, scratch: Floats,
        weight: float,
    ) -> None:
        """The whole weight inside the field of view, from there down to 0 right behind."""
        if viewer.forward is None or weight == 0:
            out.fill(weight)
            return
        slope = weight / max(math.cos(viewer.field_of_view_rad / 2) + 1, SMALLEST_M)
        _dot([one * slope for one in viewer.forward], away, out, scratch)
        np.multiply(out, nearness, out=out)
        np.add(out, slope, out=out)
        _clamp(out, weight)

    def _write_approach(
        self, viewer: Viewer, away: Floats, moving: Floats, nearness: Floats, out: Floats,
        scratch: Floats, weight: float,
    ) -> None:
        """Speed at which the distance shrinks; of both, as either may come nearer."""
        own = viewer.velocity
        if weight == 0 or (own is None and not len(moving)):
            out.fill(0)
            return
        scale = self._weights[2] / self._settings.full_approach_m_s
        speeds = [0.0] * len(away) if own is None else [one * scale for one in own]
        if not len(moving):
            _dot(speeds, away, out, scratch)
        for axis, one in enumerate(moving):
            term = out if axis == 0 else scratch
            np.subtract(speeds[axis], one, out=term)
            np.multiply(term, away[axis], out=term)
            if axis:
                np.add(out, scratch, out=out)
        np.multiply(out, nearness, out=out)
        if viewer.weight != 1:
            np.multiply(out, viewer.weight, out=out)
        _clamp(out, weight)


def _clamp(values: Floats, most: float) -> None:
    np.maximum(values, 0, out=values)
    np.minimum(values, most, out=values)


def _dot(one: Sequence[float] | Floats, other: Floats, out: Floats, scratch: Floats) -> None:
    np.multiply(one[0], other[0], out=out)
    for axis in range(1, len(other)):
        np.multiply(one[axis], other[axis], out=scratch)
        np.add(out, scratch, out=out)
