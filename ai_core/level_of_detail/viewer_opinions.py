"""What viewers make of agents: everything that can be worked out for a viewer alone, once."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import ai_core.level_of_detail.importance_kernel as importance_kernel
from ai_core.level_of_detail.importance_kernel import EYE_NUMBERS, FARTHEST, Workspace
from ai_core.level_of_detail.importance_settings import VIEWER_PARTS, ImportanceSettings
from ai_core.level_of_detail.viewer import Viewer

__all__ = ["ViewerOpinions"]

LEAST = 1e-6
"""Cosine and one of the widest field of view (no unit): nothing is divided by less."""

Floats = NDArray[np.float32]


class ViewerOpinions:
    """Writes what viewers add to the importance of arrays of agents.

    Weights, ranges and scales are multiplied into the few numbers of a viewer
    and of a block's input, not into every intermediate array.

    Args:
        settings: weights and ranges.
    """

    def __init__(self, settings: ImportanceSettings) -> None:
        self._settings = settings
        self._weights = settings.weights()[: len(VIEWER_PARTS)]
        self._per_speed = self._weights[2] / settings.full_approach_m_s
        self._scales = np.array(
            [self._per_speed, self._weights[3] / settings.full_size_rad, *self._weights], np.float32
        )
        self._eyes = np.zeros((0, EYE_NUMBERS), np.float32)
        self._workspace = Workspace()

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

        Cost: O(n * viewers), no allocation that grows with n.
        """
        if len(self._eyes) < len(viewers):
            self._eyes = np.zeros((len(viewers), EYE_NUMBERS), np.float32)
        eyes = self._eyes[: len(viewers)]
        for row, viewer in enumerate(viewers):
            eyes[row] = self._numbers_of(viewer)
        return importance_kernel.best_opinions(
            eyes, self._scales, positions, velocities, sizes, total, parts, self._workspace
        )

    def _numbers_of(self, viewer: Viewer) -> list[float]:
        near_m, far_m = viewer.range_m(self._settings.near_m, self._settings.far_m)
        slope = self._weights[0] / (far_m - near_m)
        # Who sees all around has everything in full view: no direction, and the whole weight.
        ahead, view = [0.0] * 3, self._weights[1]
        if viewer.forward is not None and view:
            view /= max(math.cos(viewer.field_of_view_rad / 2) + 1, LEAST)
            ahead = [one * view for one in viewer.forward]
        speeds = [_within(one) * self._per_speed for one in viewer.velocity or ()]
        return [
            *_three([_within(one) for one in viewer.position]), *_three(ahead), *_three(speeds),
            -slope, far_m * slope, view, viewer.weight,
        ]


def _three(numbers: Sequence[float]) -> list[float]:
    return [*numbers, 0.0, 0.0, 0.0][:3]


def _within(value: float) -> float:
    return max(-FARTHEST, min(FARTHEST, value))
