"""Progress along a path: distance walked, point to steer for, and arrival."""
from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import LARGEST, finite_number, numbers, shown
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import ArrayOf, Flag, Number

__all__ = ["PathProgress"]

WINDOW_M = 5.0
"""Largest progress per call of ``note`` (m); more would let progress skip a loop of the path."""


class PathProgress(Saveable):
    """Progress of a mover along a path.

    The position is projected onto the path between the last progress and ``WINDOW_M`` ahead of it,
    so that progress does not jump to a later part where the path crosses itself.

    Args:
        points: (n, 2) or (n, 3), n at least 1, start, turns and end of the path (m).
        arrival_m: distance from the end at which the mover has arrived (m), 0 or more.

    Attributes:
        points: (n, 2) or (n, 3) float64.
        length_m: length of the whole path (m).
        walked_m: distance walked along the path (m); never decreases.
        offset_m: distance of the mover from the path (m).
        has_arrived: True once the mover has come along the path and within ``arrival_m`` of its end.

    Raises:
        ValueError: if the points have another shape or are not finite, or a number is out of range.

    >>> progress = PathProgress([(0, 0), (10, 0), (10, 10)])
    >>> progress.note((4, 1))
    >>> progress.walked_m, progress.offset_m, progress.ahead(8.0).tolist()
    (4.0, 1.0, [10.0, 2.0])
    """

    SHOWN = ("walked_m", "length_m", "has_arrived")

    STATE = DeclaredState(
        points=ArrayOf(shape=(None, None)), walked_m=Number(0), offset_m=Number(0), has_arrived=Flag())

    def __init__(self, points: ArrayLike, *, arrival_m: float = 0.5) -> None:
        self.points: NDArray[np.float64] = numbers("points", points).copy()
        if self.points.ndim != 2 or self.points.shape[1] not in (2, 3) or not len(self.points):
            raise ValueError(f"points must be (n, 2) or (n, 3) with n of at least 1, got {shown(points)}")
        if not (np.abs(self.points) <= LARGEST).all():
            raise ValueError(f"points must be finite numbers of at most ±{LARGEST:g}, got {shown(points)}")
        self._arrival_m = finite_number("arrival_m", arrival_m, minimum=0)
        self._measure()
        self.walked_m = self.offset_m = 0.0
        self.has_arrived = False

    def _measure(self) -> None:
        self._pieces = np.diff(self.points, axis=0)
        self._ends = np.concatenate([[0.0], np.cumsum(np.linalg.norm(self._pieces, axis=1))])
        self.length_m = float(self._ends[-1])

    @property
    def remaining_m(self) -> float:
        """Remaining distance along the path (m)."""
        return self.length_m - self.walked_m

    def note(self, position: ArrayLike) -> None:
        """Update the progress with the position of the mover (m).

        Raises:
            ValueError: if the position is not finite, or has another number of dimensions than the points.

        Cost: O(segments within the window).
        """
        here = numbers("position", position)
        if here.shape != self.points.shape[1:] or not np.isfinite(here).all():
            raise ValueError(f"position must be {self.points.shape[1]} finite numbers, got {shown(position)}")
        first = max(0, int(np.searchsorted(self._ends, self.walked_m, "right")) - 1)
        last = int(np.searchsorted(self._ends, self.walked_m + WINDOW_M, "right"))
        nearest = math.inf
        pieces = len(self._pieces)
        for piece in range(max(0, min(first, pieces - 1)), min(max(first + 1, last), pieces)):
            at_m, far_m = self._nearest_on(piece, here)
            if far_m < nearest:
                nearest, found_m = far_m, at_m
        if nearest == math.inf:  # a path of one point
            nearest, found_m = math.dist(here, self.points[0]), 0.0
        self.offset_m = nearest
        self.walked_m = max(self.walked_m, min(found_m, self.walked_m + WINDOW_M))
        near_end = math.dist(here, self.points[-1]) <= self._arrival_m
        self.has_arrived = self.has_arrived or (near_end and self.remaining_m <= 2 * self._arrival_m + 1e-9)

    def ahead(self, distance_m: float) -> NDArray[np.float64]:
        """Return the point of the path ``distance_m`` ahead, to steer for; the end of the path at most.

        Raises:
            ValueError: if the distance is negative.
        """
        at_m = min(self.walked_m + finite_number("distance_m", distance_m, minimum=0), self.length_m)
        piece = min(int(np.searchsorted(self._ends, at_m, "right")) - 1, len(self._pieces) - 1)
        if piece < 0:
            first: NDArray[np.float64] = self.points[0].copy()
            return first
        length_m = self._ends[piece + 1] - self._ends[piece]
        share = (at_m - self._ends[piece]) / length_m if length_m else 0.0
        place: NDArray[np.float64] = self.points[piece] + share * self._pieces[piece]
        return place

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        try:
            fresh = PathProgress(values.points)
        except (TypeError, ValueError) as error:
            refuse("points", str(error))
        if values.walked_m > fresh.length_m:
            refuse("walked_m", f"must be at most {fresh.length_m:g}, the length of the path, got {values.walked_m:g}")

    def _finish_load(self) -> None:
        self._measure()

    def _nearest_on(self, piece: int, here: NDArray[np.float64]) -> tuple[float, float]:
        """Return the distance along the path of the nearest point of a segment, and the distance to it (m)."""
        begin, along = self.points[piece], self._pieces[piece]
        length_m = float(self._ends[piece + 1] - self._ends[piece])
        share = min(1.0, max(0.0, float(np.dot(here - begin, along)) / length_m ** 2)) if length_m else 0.0
        return float(self._ends[piece]) + share * length_m, math.dist(here, begin + share * along)
