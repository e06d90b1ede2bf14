"""The commander's path, smoothed: what slots are relative to.

A place on it is told by its arc, which is metres from the start, and how far to the right
of the path it is: its lane. Directions turn slowly at corners, so that slots swing around
and do not jump; lanes keep inside what is free on both sides.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.marching_step import SteeringState, lanes

__all__ = ["Clearance", "MarchPath", "plane_axes"]

Floats: TypeAlias = NDArray[np.float64]

Clearance: TypeAlias = Callable[[Floats, Floats, float], Floats]
"""Told points (n, d), directions (n, d) of length 1 and how far to look at most (m); returns the
free metres from each point in its direction, (n,)."""

FUNNEL = 1.0
"""How fast lanes open beside a wall's end (metres aside for each metre ahead): 1 is 45 degrees.
More makes slots jump aside, less narrows them long before a door."""

ROUNDS = 8
"""How often points are drawn between their neighbors where clearance is known (count): it takes
the stairs out of a path over cells, and rounds corners by about two steps."""

SEARCHED_M = 4.0
"""How far ahead on the path members are looked for, from where they were (m)."""

SEARCHED_BEHIND_M = 2.0
"""And how far behind (m): they may have been pushed back."""

MEASURED_TOGETHER = 4
"""Samples whose width is asked for at least, if any is (count): a spacing of the way. Each asking costs as much again
as what is asked; more would be done in one frame."""

MOST_SAMPLES = 20_000
"""Samples of a way, and of what is added at each end (count): 5 to 20 km. Those of a longer way are farther apart, so
that a way from where a body fell for hours does not take all memory."""

FREE_M = 1e6
"""How wide open ground is (m)."""


def plane_axes(dimensions: int) -> tuple[int, int]:
    """Return the two axes formations lie in: x and y of 2, x and z of 3 dimensions."""
    return (0, 1) if dimensions == 2 else (0, 2)


class MarchPath:
    """A smoothed path with lanes.

    Args:
        points: (k, d), the way, at least one point (m).
        heading: (2,) where to look if the way has no length.
        step_m: how far samples of it are apart (m); farther if there were more than ``MOST_SAMPLES``.
        turn_m: over how long a part of the way directions are averaged (m); the width of
            what marches, so that nobody inside a turn walks backwards.
        reach_m: how far it is made longer, straight on at both ends, as far as that is free (m).
        body_m: how near a middle may come to a wall (m).
        aside_m: how far to each side lanes may reach (m).
        clearance: what tells how much is free; None takes all ground for free.

    Attributes:
        length_m: of the way itself.
        first_m: the arc at which it begins with what was added; 0 or less.
        last_m: the arc at which it ends with what was added.
        samples: (m, 2 d + 2), what lanes are made of: places, directions to the right, what is free left and right.
        course: what a step of a march must know beside them.

    Cost: O(length / step), at most that of ``MOST_SAMPLES``.
    """

    def __init__(
        self, points: Floats, heading: Floats, *, step_m: float, turn_m: float, reach_m: float,
        body_m: float, aside_m: float, clearance: Clearance | None = None,
    ) -> None:
        self._axes = list(plane_axes(points.shape[1]))
        self._clearance, self._body_m, self._aside_m = clearance, body_m, aside_m
        way, self.length_m = _resampled(points, step_m)
        self._step_m = self.length_m / (len(way) - 1) if len(way) > 1 else step_m
        if clearance is not None:
            self._round_off(way)
        begin, end = _end_headings(way[:, self._axes], heading)
        before, after = self._added(way[0], -begin, reach_m), self._added(way[-1], end, reach_m)
        self._points = np.concatenate([before[::-1], way, after])
        self.first_m, self.last_m = -len(before) * self._step_m, self.length_m + len(after) * self._step_m
        self._headings = _smooth_headings(self._points[:, self._axes], max(1, round(turn_m / self._step_m / 2)), begin)
        self._free = np.full((2, len(self._points)), np.inf)        # left, right
        self._lanes = self._free.copy()                             # the same, opening slowly
        self._measured = 0 if clearance is not None else len(self._points)
        right, free = self._directions(_right_of(self._headings)), np.full((len(self._points), 2), FREE_M)
        self.samples = np.concatenate([self._points, right, free], axis=1)
        gap_m = max(self._step_m, SEARCHED_M / 8)
        self.course = SteeringState(
            self.first_m, self.last_m, self.length_m, self._step_m, -SEARCHED_BEHIND_M,
            (gap_m - SEARCHED_BEHIND_M) + SEARCHED_BEHIND_M,
            math.ceil((SEARCHED_M + self._step_m + SEARCHED_BEHIND_M) / gap_m))

    def measure(self, up_to_m: float, most: int) -> None:
        """Ask how much is free beside the path, from where that is known on.

        Args:
            up_to_m: an arc.
            most: samples asked about (count), each to both sides.

        Cost: two clearances a sample, asked for all together; O(samples) for lanes if there are any.
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
        """Return the least that is free along the length of a body, so that its ends pass corners, too."""
        least = self._free.copy()
        for shift in range(1, min(math.ceil(self._body_m / self._step_m) + 1, least.shape[1])):
            least[:, shift:] = np.minimum(least[:, shift:], self._free[:, :-shift])
            least[:, :-shift] = np.minimum(least[:, :-shift], self._free[:, shift:])
        return least

    def forget_ground(self) -> None:
        """Measure anew what is free: a door was shut, a wall fell."""
        if self._clearance is not None:
            self._free[:] = self._lanes[:] = np.inf
            self.samples[:, -2:] = FREE_M
            self._measured = 0

    @property
    def has_walls(self) -> bool:
        """True if there is a clearance to ask."""
        return self._clearance is not None

    def narrowest(self, from_m: float, to_m: float) -> float:
        """Return how wide lanes are where they are narrowest between two arcs (m); ``inf`` if all is free."""
        first, last = self._index(from_m), self._index(to_m)
        both = self._lanes[0, first:last + 1] + self._lanes[1, first:last + 1]
        return float(both.min()) if len(both) else math.inf

    def heading(self, arc_m: float) -> Floats:
        """Return where the path leads at an arc, (2,) of length 1."""
        heading: Floats = self._headings[self._index(arc_m)]
        return heading

    def lanes(self, arcs: Floats, right_m: Floats, span: tuple[float, float]) -> Floats:
        """Return places beside the path, moved together where it is narrow, (n, d); as ``marching_step.lanes``."""
        return lanes(self.samples, self.course, arcs, right_m, span)

    def begun(self, places: Floats, arcs: Floats) -> Floats:
        """Return arcs, those that are NaN as the nearest of the whole path. Cost: O(length / step) for each NaN."""
        known = arcs.copy()
        for row in np.flatnonzero(~np.isfinite(arcs)):
            away = ((self._points - places[row]) ** 2)[:, self._axes].sum(axis=1)
            known[row] = self.first_m + int(away.argmin()) * self._step_m
        return known

    def _round_off(self, way: Floats) -> None:
        """Draw points between their neighbors where they keep clear of walls, in place."""
        for _ in range(ROUNDS if len(way) > 2 else 0):
            drawn = 0.5 * way[1:-1] + 0.25 * (way[:-2] + way[2:])
            is_clear = np.ones(len(drawn), np.bool_)
            along = (way[2:] - way[:-2])[:, self._axes]
            length = np.maximum(np.sqrt((along ** 2).sum(axis=1)), 1e-9)
            right = self._directions(_right_of(along / length[:, None]))
            for sign in (-1.0, 1.0):
                is_clear &= np.asarray(self._clearance(drawn, sign * right, self._body_m)) >= self._body_m  # type: ignore[misc]
            way[1:-1][is_clear] = drawn[is_clear]

    def _added(self, end: Floats, direction: Floats, reach_m: float) -> Floats:
        """Return points straight on from an end, as far as that is free; the nearest first."""
        straight = self._directions(direction[None])
        if self._clearance is not None:
            free = float(np.asarray(self._clearance(end[None], straight, reach_m + self._body_m))[0])
            reach_m = min(reach_m, max(0.0, free - self._body_m))
        # One point more at least, so that there is always a next one to look at.
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
    """Return points of a way that are equally far apart, and how long it is."""
    steps = np.diff(points, axis=0)
    lengths = np.sqrt((steps ** 2).sum(axis=1))
    keep = np.concatenate([[True], lengths > 1e-6])
    points, lengths = points[keep], lengths[keep[1:]]
    length = float(lengths.sum())
    if length < 0.5 * step_m:
        # As good as there. Steps of this length would be as short, and what is added at the ends endless.
        return points[-1:].copy(), 0.0
    known = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = np.linspace(0, known[-1], min(max(1, math.ceil(length / step_m)), MOST_SAMPLES) + 1)
    return np.stack([np.interp(wanted, known, axis) for axis in points.T], axis=1), length


def _end_headings(flat: Floats, heading: Floats) -> tuple[Floats, Floats]:
    if len(flat) < 2:
        return heading, heading
    ends = []
    for way in (flat[1] - flat[0], flat[-1] - flat[-2]):
        length = math.sqrt(float((way ** 2).sum()))
        ends.append(way / length if length > 1e-9 else heading)
    return ends[0], ends[1]


def _smooth_headings(flat: Floats, reach: int, heading: Floats) -> Floats:
    """Return directions at points, each the mean over ``reach`` parts of the way before and behind."""
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
