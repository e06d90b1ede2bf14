"""Viewers: cameras, players and others that would notice poor behavior."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown
from ai_core.level_of_detail.importance_kernel import EYE_NUMBERS, FARTHEST, Workspace, best_opinions
from ai_core.level_of_detail.importance_settings import VIEWER_PARTS, ImportanceSettings, check_range

Place = tuple[float, ...]
"""Two or three coordinates (m)."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Position and view of a viewer in one frame.

    Args:
        position: two or three coordinates, as many as agents have (m).
        forward: direction of view, of any length above 0; None sees in all directions.
        velocity: velocity of the viewer (m/s); None for a viewer at rest.
        field_of_view_rad: full angle in which agents count as in view (rad), above 0 to tau.
        weight: factor of the viewer's contributions, 0 to 1.
        near_m, far_m: range of this viewer, as in ``ImportanceSettings``; None for that of the settings. Use a
            long range for a scope, a short one for a mirror.

    Raises:
        TypeError, ValueError: if a number is not finite or out of range, or numbers of coordinates differ.
    """

    position: Place
    forward: Place | None = None
    velocity: Place | None = None
    field_of_view_rad: float = math.pi / 2
    weight: float = 1.0
    near_m: float | None = None
    far_m: float | None = None

    def __post_init__(self) -> None:
        place = _coordinates("position", self.position, 0)
        object.__setattr__(self, "position", place)
        if self.velocity is not None:
            object.__setattr__(self, "velocity", _coordinates("velocity", self.velocity, len(place)))
        if self.forward is not None:
            forward = _coordinates("forward", self.forward, len(place))
            length = math.hypot(*forward)
            if length < 1e-9:
                raise ValueError("forward must have a length, got 0; use None to see in all directions")
            object.__setattr__(self, "forward", tuple(one / length for one in forward))
        finite_number("field_of_view_rad", self.field_of_view_rad, above=0, maximum=math.tau)
        finite_number("weight", self.weight, minimum=0, maximum=1)
        if self.near_m is not None:
            finite_number("near_m", self.near_m, minimum=0)
        if self.far_m is not None:
            finite_number("far_m", self.far_m, above=0)
        if self.near_m is not None and self.far_m is not None:
            check_range(self.near_m, self.far_m)

    def range_m(self, near_m: float, far_m: float) -> tuple[float, float]:
        """Return the range of the viewer, with the arguments in place of missing values.

        Raises:
            ValueError: if the resulting ``far_m`` is not above ``near_m``.
        """
        near_m = near_m if self.near_m is None else self.near_m
        far_m = far_m if self.far_m is None else self.far_m
        check_range(near_m, far_m)
        return near_m, far_m


def _coordinates(name: str, value: object, count: int) -> Place:
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be two or three coordinates, got {shown(value)}")
    place = tuple(value)
    if len(place) not in ((count,) if count else (2, 3)):
        wanted = f"{count} coordinates, as many as position" if count else "two or three coordinates"
        raise ValueError(f"{name} must have {wanted}, got {shown(value)}")
    return tuple(finite_number(name, one) for one in place)


LEAST = 1e-6
"""Least value of the cosine of half the field of view, plus 1 (no unit): it is a divisor."""
Floats = NDArray[np.float32]


class ViewerContributions:
    """Computes what viewers add to the importance of arrays of agents.

    Weights, ranges and scales are multiplied into the few numbers of a viewer and of a block's input
    instead of into every intermediate array.
    """

    def __init__(self, settings: ImportanceSettings) -> None:
        self._settings = settings
        self._weights = settings.weights()[: len(VIEWER_PARTS)]
        self._per_speed = self._weights[2] / settings.full_approach_m_s
        self._scales = np.array(
            [self._per_speed, self._weights[3] / settings.full_size_rad, *self._weights], np.float32)
        self._eyes = np.zeros((0, EYE_NUMBERS), np.float32)
        self._workspace, self._agents = Workspace.of(0, 0), 0

    def write(
        self, viewers: Sequence[Viewer], positions: Floats, velocities: Floats | None,
        sizes: Floats, total: Floats, parts: Floats | None = None,
    ) -> int:
        """Write the largest contribution of any viewer, and its parts: ``best_opinions`` of these viewers.

        Cost: O(n * viewers), no allocation that grows with n.
        """
        if len(self._eyes) != len(viewers) or self._agents < len(positions):
            self._eyes, self._agents = np.zeros((len(viewers), EYE_NUMBERS), np.float32), len(positions)
            self._workspace = Workspace.of(len(viewers), len(positions))
        for row, viewer in enumerate(viewers):
            self._eyes[row] = self._numbers_of(viewer)
        return best_opinions(
            self._eyes, self._scales, positions, velocities, sizes, total, parts, self._workspace)

    def _numbers_of(self, viewer: Viewer) -> list[float]:
        near_m, far_m = viewer.range_m(self._settings.near_m, self._settings.far_m)
        slope = self._weights[0] / (far_m - near_m)
        # A viewer without a direction has everything in view, with the full weight.
        ahead, view = [0.0] * 3, self._weights[1]
        if viewer.forward is not None and view:
            view /= max(math.cos(viewer.field_of_view_rad / 2) + 1, LEAST)
            ahead = [one * view for one in viewer.forward]
        speeds = [_within(one) * self._per_speed for one in viewer.velocity or ()]
        return [
            *_three([_within(one) for one in viewer.position]), *_three(ahead), *_three(speeds),
            -slope, far_m * slope, view, viewer.weight]


def _three(numbers: Sequence[float]) -> list[float]:
    return [*numbers, 0.0, 0.0, 0.0][:3]


def _within(value: float) -> float:
    return max(-FARTHEST, min(FARTHEST, value))


__all__ = ["Place", "Viewer", "ViewerContributions"]
