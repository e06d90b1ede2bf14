"""The commander's smoothed path, the frame of reference for slots.

A position relative to the path has an arc, its distance from the start along the path, and a lane,
its offset to the right. Directions turn slowly at corners, so that slots swing around without jumps;
lanes stay inside the free ground on both sides.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marching_loops import PathLanes

__all__ = ["Clearance", "MarchPath", "plane_axes"]

Floats: TypeAlias = NDArray[np.float64]

Clearance: TypeAlias = Callable[[Floats, Floats, float], Floats]
"""Callable that receives points (n, d), unit directions (n, d) and a maximum distance (m); returns the
free distance from each point in its direction, shape (n,) (m)."""

FUNNEL = 1.0
"""How fast lanes widen after the end of a wall (metres aside per metre ahead): 1 is 45 degrees.
More makes slots jump aside, less narrows them long before a door."""

ROUNDS = 8
"""Smoothing passes where clearance is known (count); each moves points between their neighbors.

They straighten the staircase of a path over cells and round corners by about two steps."""

SEARCHED_M = 4.0
"""How far ahead of its last arc a member is searched for on the path (m)."""

SEARCHED_BEHIND_M = 2.0
"""How far behind its last arc a member is searched for (m), in case it was pushed back."""

MEASURED_TOGETHER = 4
"""Least number of samples measured in one clearance query (count), about a spacing of the path.

The fixed cost of a query is about that of so few samples; more samples would lengthen one frame."""

MOST_SAMPLES = 20_000
"""Largest number of samples of a path, and of the extension at each end (count): 5 to 20 km.

Samples of a longer path are farther apart, so that a path from a body that fell for hours fits in memory."""

FREE_M = 1e6
"""Free distance that stands for open ground (m)."""


def plane_axes(dimensions: int) -> tuple[int, int]:
    """Return the two axes of the plane of formations: x and y in 2D, x and z in 3D."""
    return (0, 1) if dimensions == 2 else (0, 2)


class MarchPath:
    """A smoothed path with lanes.

    Args:
        points: points of the path, shape (k, d), at least one (m).
        heading: direction used for a path without length, shape (2,).
        step_m: distance between samples (m); larger if the path needs more than ``MOST_SAMPLES``.
        turn_m: length of path over which directions are averaged (m); use the width of the formation,
            so that no member on the inside of a turn walks backwards.
        reach_m: straight extension at both ends, as far as the ground is free (m).
        body_m: least distance of a member's center from a wall (m).
        aside_m: how far lanes reach to each side (m).
        clearance: measures the free ground; None treats all ground as free.

    Attributes:
        length_m: length of the path without extensions (m).
        first_m: arc at the start of the extension (m), 0 or less.
        last_m: arc at the end of the extension (m).
        samples: shape (m, 2 d + 2): positions, directions to the right, free distances left and right.
        lanes: the lanes beside the path, for ``MarchStep``.

    Cost: O(length / step), at most that of ``MOST_SAMPLES``.
    """

    def __init__(
        self, points: Floats, heading: Floats, *, step_m: float, turn_m: float, reach_m: float,
        body_m: float, aside_m: float, clearance: Clearance | None = None,
    ) -> None:
        self._axes = list(plane_axes(points.shape[1]))
        self._clearance, self._body_m, self._aside_m = clearance, body_m, aside_m
        path_points, self.length_m = _resampled(points, step_m)
        self._step_m = self.length_m / (len(path_points) - 1) if len(path_points) > 1 else step_m
        if clearance is not None:
            self._round_off(path_points)
        begin, end = _end_headings(path_points[:, self._axes], heading)
        before, after = self._added(path_points[0], -begin, reach_m), self._added(path_points[-1], end, reach_m)
        self._points = np.concatenate([before[::-1], path_points, after])
        self.first_m, self.last_m = -len(before) * self._step_m, self.length_m + len(after) * self._step_m
        self._headings = _smooth_headings(self._points[:, self._axes], max(1, round(turn_m / self._step_m / 2)), begin)
        self._free = np.full((2, len(self._points)), np.inf)        # left, right
        self._lanes = self._free.copy()                             # the same, opening slowly
        self._measured = 0 if clearance is not None else len(self._points)
        right, free = self._directions(_right_of(self._headings)), np.full((len(self._points), 2), FREE_M)
        self.samples = np.concatenate([self._points, right, free], axis=1)
        gap_m = max(self._step_m, SEARCHED_M / 8)
        self.lanes = PathLanes(
            self.samples, self.length_m, self.first_m, self.last_m, self._step_m, -SEARCHED_BEHIND_M,
            (gap_m - SEARCHED_BEHIND_M) + SEARCHED_BEHIND_M,
            math.ceil((SEARCHED_M + self._step_m + SEARCHED_BEHIND_M) / gap_m))

    def measure(self, up_to_m: float, most: int) -> None:
        """Measure the free ground beside the path from the last measured sample on.

        Args:
            up_to_m: arc up to which to measure (m).
            most: largest number of samples to measure (count), each on both sides.

        Cost: two clearances per sample, in one query; O(samples) for lanes if any sample is measured.
        """
        wanted = min(len(self._points), math.ceil((up_to_m - self.first_m) / self._step_m) + 1, self._measured + most)
        if self._clearance is None or wanted <= self._measured:
            return
        wanted = min(len(self._points), max(wanted, self._measured + MEASURED_TOGETHER))
        rows = slice(self._measured, wanted)
        points, right = self._points[rows], self._directions(_right_of(self._headings[rows]))
        both, sides = np.concatenate([points, points]), np.concatenate([-right, right])
        free = np.asarray(self._clearance(both, sides, self._aside_m + self._body_m), np.float64)
        self._free[:, rows] = np.maximum(0.0, free - self._body_m).reshape(2, -1)
        self._measured = wanted
        slope = np.arange(len(self._points)) * (FUNNEL * self._step_m)
        opening = np.minimum.accumulate(self._beside_bodies() - slope, axis=1) + slope
        self._lanes = np.minimum.accumulate((opening + slope)[:, ::-1], axis=1)[:, ::-1] - slope
        self.samples[:, -2:] = np.minimum(self._lanes, FREE_M).T

    def _beside_bodies(self) -> Floats:
        """Return the least free distance along the length of a body, so that its ends pass corners."""
        least = self._free.copy()
        for shift in range(1, min(math.ceil(self._body_m / self._step_m) + 1, least.shape[1])):
            least[:, shift:] = np.minimum(least[:, shift:], self._free[:, :-shift])
            least[:, :-shift] = np.minimum(least[:, :-shift], self._free[:, shift:])
        return least

    def invalidate_clearance(self) -> None:
        """Discard all measurements, after a door closed or a wall fell; ``measure`` starts from the first sample."""
        if self._clearance is not None:
            self._free[:] = self._lanes[:] = np.inf
            self.samples[:, -2:] = FREE_M
            self._measured = 0

    @property
    def has_walls(self) -> bool:
        """True if the path has a clearance callable."""
        return self._clearance is not None

    def narrowest(self, from_m: float, to_m: float) -> float:
        """Return the smallest width of the lanes between two arcs (m); ``inf`` on open ground."""
        first, last = self._index(from_m), self._index(to_m)
        both = self._lanes[0, first:last + 1] + self._lanes[1, first:last + 1]
        return float(both.min()) if len(both) else math.inf

    def heading(self, arc_m: float) -> Floats:
        """Return the direction of the path at an arc, shape (2,), of length 1."""
        heading: Floats = self._headings[self._index(arc_m)]
        return heading

    def begun(self, places: Floats, arcs: Floats) -> Floats:
        """Return arcs with each NaN replaced by the nearest arc of the path. Cost: O(length / step) for each NaN."""
        known = arcs.copy()
        for row in np.flatnonzero(~np.isfinite(arcs)):
            away = ((self._points - places[row]) ** 2)[:, self._axes].sum(axis=1)
            known[row] = self.first_m + int(away.argmin()) * self._step_m
        return known

    def _round_off(self, path_points: Floats) -> None:
        """Move points between their neighbors, in place, where that keeps clear of walls."""
        for _ in range(ROUNDS if len(path_points) > 2 else 0):
            drawn = 0.5 * path_points[1:-1] + 0.25 * (path_points[:-2] + path_points[2:])
            is_clear = np.ones(len(drawn), np.bool_)
            along = (path_points[2:] - path_points[:-2])[:, self._axes]
            length = np.maximum(np.sqrt((along ** 2).sum(axis=1)), 1e-9)
            right = self._directions(_right_of(along / length[:, None]))
            for sign in (-1.0, 1.0):
                is_clear &= np.asarray(self._clearance(drawn, sign * right, self._body_m)) >= self._body_m  # type: ignore[misc]
            path_points[1:-1][is_clear] = drawn[is_clear]

    def _added(self, end: Floats, direction: Floats, reach_m: float) -> Floats:
        """Return points straight on from an end, as far as the ground is free, nearest first."""
        straight = self._directions(direction[None])
        if self._clearance is not None:
            free = float(np.asarray(self._clearance(end[None], straight, reach_m + self._body_m))[0])
            reach_m = min(reach_m, max(0.0, free - self._body_m))
        # At least one more point, so that every arc has a next sample.
        count = min(max(1, math.floor(reach_m / self._step_m)), MOST_SAMPLES)
        steps = np.arange(1, count + 1)[:, None] * (self._step_m if reach_m >= self._step_m else 1e-3)
        return end + straight * steps

    def _directions(self, flat: Floats) -> Floats:
        full = np.zeros((len(flat), self._points_dimensions))
        full[:, self._axes] = flat
        return full

    @property
    def _points_dimensions(self) -> int:
        return 3 if self._axes == [0, 2] else 2

    def _index(self, arc_m: float) -> int:
        return min(max(round((arc_m - self.first_m) / self._step_m), 0), len(self._points) - 1)


def _right_of(headings: Floats) -> Floats:
    return np.stack([-headings[:, 1], headings[:, 0]], axis=1)


def _resampled(points: Floats, step_m: float) -> tuple[Floats, float]:
    """Return equally spaced points of a path, and its length."""
    steps = np.diff(points, axis=0)
    lengths = np.sqrt((steps ** 2).sum(axis=1))
    keep = np.concatenate([[True], lengths > 1e-6])
    points, lengths = points[keep], lengths[keep[1:]]
    length = float(lengths.sum())
    if length < 0.5 * step_m:
        # The start is the goal: steps of this length would make the extension endless.
        return points[-1:].copy(), 0.0
    known = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = np.linspace(0, known[-1], min(max(1, math.ceil(length / step_m)), MOST_SAMPLES) + 1)
    return np.stack([np.interp(wanted, known, axis) for axis in points.T], axis=1), length


def _end_headings(flat: Floats, heading: Floats) -> tuple[Floats, Floats]:
    if len(flat) < 2:
        return heading, heading
    ends = []
    for offset in (flat[1] - flat[0], flat[-1] - flat[-2]):
        length = math.sqrt(float((offset ** 2).sum()))
        ends.append(offset / length if length > 1e-9 else heading)
    return ends[0], ends[1]


def _smooth_headings(flat: Floats, reach: int, heading: Floats) -> Floats:
    """Return the directions at points, each the mean over ``reach`` segments ahead and behind."""
    parts = np.diff(flat, axis=0)
    lengths = np.sqrt((parts ** 2).sum(axis=1))
    parts = np.where(lengths[:, None] > 1e-9, parts / np.maximum(lengths, 1e-9)[:, None], heading)
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(parts, axis=0)])
    rows = np.arange(len(flat))
    low, high = np.maximum(rows - reach, 0), np.minimum(rows + reach, len(parts))
    mean = sums[high] - sums[low]
    length = np.sqrt((mean ** 2).sum(axis=1))
    raw = parts[np.minimum(rows, len(parts) - 1)]
    return np.where(length[:, None] > 1e-6, mean / np.maximum(length, 1e-6)[:, None], raw)
