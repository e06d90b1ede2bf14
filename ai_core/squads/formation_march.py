"""A formation on the march: its path with lanes, members in columns, and slots that wait for stragglers."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ArrayOf, Flag, ListOf, Number, Optional, Whole
from ai_core.scheduling.interruptible import Steps, finished
from ai_core.squads.marching_loops import MarchStep, PathLanes

__all__ = [
    "MARCHING_STATE", "NO_SLOT", "Clearance", "FormationMarch", "MarchPath", "MarchSettings",
    "MarchingShape", "MemberTable", "plane_axes"
]

Floats = NDArray[np.float64]
ELBOW_ROOM = 1.1
"""Least distance of neighbors abreast, in their widths; at less they push each other."""


class MarchingShape:
    """Slots and sizes of members, as needed for a march.

    Args:
        slots: slot of each member, shape (n,); members without one march in the slots that are left, in their order.
        places: offsets of slots, shape (m, 2), m at least n, ahead and to the right (m); read only.
        radii: half the widths of members, shape (n,) (m).
        spacing_m: distance between neighbors in the formation (m).

    Attributes:
        offsets: offset of each member's slot, shape (n, 2) (m).
        body_m: half the width of the widest member (m).
        aside_m: how far lanes reach to each side (m).
        reach_m: how far the path must extend beyond its ends (m).
        ahead_m: distance of the foremost slot ahead of the commander's slot (m), 0 or more.
        behind_m: offset of the hindmost slot (m).
    """

    def __init__(self, slots: NDArray[np.int32], places: Floats, radii: Floats, spacing_m: float) -> None:
        self._slots, self.spacing_m = slots.copy(), spacing_m
        has_slot = (slots >= 0) & (slots < len(places))
        if not has_slot.all():
            is_left = np.ones(len(places), np.bool_)
            is_left[slots[has_slot]] = False
            self._slots[~has_slot] = np.flatnonzero(is_left)[:len(slots) - np.count_nonzero(has_slot)]
        self.offsets = places[self._slots]
        ahead, right = self.offsets.T
        self.body_m = float(radii.max())
        self.aside_m = float(np.abs(right).max()) + spacing_m
        self.reach_m = max(float(np.abs(ahead).max()), spacing_m * (len(radii) - 1)) + spacing_m
        self.ahead_m, self.behind_m = float(ahead.max(initial=0)), float(ahead.min())

    @cached_property
    def needed_m(self) -> float:
        """Width of ground needed by the members abreast, between the centers of the outer ones (m); 0 for a column."""
        elbow_m = 2 * self.body_m * ELBOW_ROOM
        ahead = np.sort(self.offsets[:, 0])
        abreast = np.searchsorted(ahead, ahead + 0.99 * elbow_m) - np.arange(len(ahead))
        return float(abreast.max(initial=1) - 1) * elbow_m

    @cached_property
    def column(self) -> Floats:
        """Offsets in one file, ordered from front to rear, in a rank from the middle; slot 0 stays in place."""
        slots, offsets = self._slots, self.offsets
        order = np.lexsort((slots, np.abs(offsets[:, 1]), -np.round(offsets[:, 0], 3)))
        place = np.empty(len(order), np.float64)
        place[order] = np.arange(len(order))
        commander = np.flatnonzero(slots == 0)
        own = place[commander[0]] if len(commander) else 0.0
        return np.stack([(own - place) * self.spacing_m, np.zeros(len(place))], axis=1)


OPENS_AT = 1.2
"""Width, relative to the needed width, at which a column opens again; at 1 it flickers."""
LOOKS_AHEAD = 3.0
"""Distance before a narrow part at which a column forms, in spacings; less causes a queue at the entrance."""


MEASURED_AT_ONCE = 24
"""Samples of the path whose width is measured in one step (count), with two clearance queries each."""
STEP_SHARE = 0.25
"""Distance between samples of the path, in spacings; larger cuts corners, smaller costs more."""
LONGEST_STEP_M = 1.0


@dataclass(frozen=True)
class MarchSettings:
    """Settings for keeping a squad together on the march.

    Attributes:
        pace: speed of the slots as a share of the slowest member's speed, above 0 to 1; the rest is
            reserve for catching up.
        wait_from: distance of a member from its slot, in spacings, at which the slots slow down.
        wait_at: distance, in spacings, at which the slots stop; above ``wait_from``.
        patience_s: time the slots wait for a member that comes no nearer (s); then it is a straggler.
        response_s: time in which a member covers the distance to its slot (s); shorter is stiffer.
        tolerance_m: a member within this distance of its slot has arrived (m).

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    pace: float = 0.85
    wait_from: float = 0.5
    wait_at: float = 2.0
    patience_s: float = 5.0
    response_s: float = 0.3
    tolerance_m: float = 0.3

    def __post_init__(self) -> None:
        finite_number("pace", self.pace, above=0, maximum=1)
        finite_number("wait_from", self.wait_from, minimum=0)
        finite_number("wait_at", self.wait_at, above=self.wait_from, remedy="it must be above wait_from")
        for name in ("patience_s", "response_s", "tolerance_m"):
            finite_number(name, getattr(self, name), above=0)


class FormationMarch(Saveable):
    """Moves slots along a path and computes each member's destination and velocity.

    Args:
        dimensions: 2 or 3.
        settings: how closely the members keep together.
        clearance: measures the free ground, as in ``MarchPath``; None for open ground.

    Attributes:
        anchor_m: arc of the commander's slot along the path (m).
        is_in_column: whether the members march in a column through a narrow passage now.
    """

    STATE = DeclaredState(
        points=ArrayOf(shape=lambda march: (None, march.dimensions), at="_points"), anchor_m=Number(0),
        is_at_end=Flag(), heading=ArrayOf(shape=(2,), minimum=-1.001, maximum=1.001),
        is_in_column=Flag(), measured=Whole(),
        made_for=Optional(ListOf(Number(1e-9), count=3, make=tuple)))

    def __init__(self, dimensions: int, settings: MarchSettings, clearance: Clearance | None) -> None:
        self.settings, self.clearance = settings, clearance
        self.anchor_m = 0.0
        self.path: MarchPath | None = None
        self.is_in_column = False
        self.heading = np.array([1.0, 0.0])
        self.dimensions = dimensions
        self._step = MarchStep(settings)
        self._points: Floats = np.zeros((0, dimensions))
        self.made_for: tuple[float, float, float] | None = None
        self._was_at_end, self._was_measured = False, 0     # valid until the path is built again

    def begin(self, points: Floats, path: MarchPath | None = None) -> None:
        """Start along a new path; ``path`` is what ``laid`` made of the points, None to make it when it is needed."""
        self._points = points
        self.forget_shape()
        self.anchor_m = 0.0
        self.is_in_column = False
        if path is not None:
            self.take(path)

    def take(self, path: MarchPath) -> None:
        """Use a path that ``laid`` made of the present points."""
        self.path, self.made_for = path, path.made_for

    def _finish_load(self) -> None:
        self.path = None        # it is built again from its points

    def forget_shape(self) -> None:
        """Build the path again for another formation."""
        self.made_for = self.path = None
        self._was_at_end, self._was_measured = False, 0

    def stop(self) -> None:
        """Drop the path; slots have no positions until the next one."""
        self.begin(np.zeros((0, self.dimensions)))

    @property
    def points(self) -> Floats:
        """Points of the path as given, shape (k, d) (m); empty without a path."""
        return self._points

    @property
    def has_path(self) -> bool:
        """True if there is a path, also after its end has been reached."""
        return len(self._points) > 0

    @property
    def is_laid(self) -> bool:
        """True if the path is ready, or there is none."""
        return self.path is not None or not self.has_path

    @property
    def is_at_end(self) -> bool:
        """True if the slots are at the end of the path, or there is no path."""
        if self.path is None:
            return self._was_at_end or not self.has_path
        return self.anchor_m >= self.path.length_m

    @is_at_end.setter
    def is_at_end(self, was_at_end: bool) -> None:
        """Set by a load, while there is no path yet."""
        self._was_at_end = was_at_end

    @property
    def measured(self) -> int:
        """Number of samples of the path beside which the free ground is known, from the first on."""
        return self._was_measured if self.path is None else self.path.measured

    @measured.setter
    def measured(self, was_measured: int) -> None:
        """Set by a load, as ``is_at_end``."""
        self._was_measured = was_measured

    def advance(self, elapsed_s: float, marchers: MemberTable, shape: MarchingShape) -> None:
        """Advance the slots, and write the destination and velocity of each member.

        Cost: O(n), plus the cost of clearance queries.
        """
        if not self.has_path or not len(marchers):
            marchers.stay()
            return
        path = self._path_for(shape)
        offsets = self._offsets(path, shape)
        if not math.isfinite(np.add.reduce(marchers.arcs)):
            path.lanes.begin(marchers.positions, marchers.arcs)
        self.anchor_m = self._step.advance(
            path.lanes, offsets, marchers, self.anchor_m, elapsed_s, shape.spacing_m,
            shape.aside_m)
        if path.length_m:           # else it was laid with this heading
            self.heading = path.heading(self.anchor_m)

    def places(self, marchers: MemberTable, offsets: Floats, shape: MarchingShape) -> Floats:
        """Return the present positions of slots at offsets ahead and to the right of the commander's, shape (m, d) (m).

        Without a path, the first member's position.
        """
        if not self.has_path:
            return marchers.positions[:1] + np.zeros((len(offsets), 1))
        ahead_m, right_m = offsets.T
        places: Floats = self._path_for(shape).lanes.places(
            self.anchor_m + ahead_m, right_m, float(right_m.min()), float(right_m.max()))
        return places

    def _look_ahead_arc(self, shape: MarchingShape) -> float:
        """Return the arc up to which a narrow part makes the members form a column (m)."""
        return self.anchor_m + shape.ahead_m + LOOKS_AHEAD * shape.spacing_m

    def _offsets(self, path: MarchPath, shape: MarchingShape) -> Floats:
        """Return the offsets to march with: those of the formation, or of a column."""
        # A member still inside the passage when the column opens leaves in file: lanes are narrow there.
        width = path.narrowest(self.anchor_m + shape.behind_m, self._look_ahead_arc(shape))
        needed_m = shape.needed_m * (OPENS_AT if self.is_in_column else 1.0) if width < math.inf else 0.0
        self.is_in_column = width < needed_m
        return shape.column if self.is_in_column else shape.offsets

    def _path_for(self, shape: MarchingShape) -> MarchPath:
        if self.path is None:
            finished(self.lay_again(shape))
        path = self.path
        assert path is not None
        path.measure(self._look_ahead_arc(shape) + shape.spacing_m, MEASURED_AT_ONCE)
        return path

    def lay_again(self, shape: MarchingShape) -> Steps[None]:
        """Make the path of the present points in steps, unless there is one that is wide and long enough."""
        wanted = shape.body_m, shape.aside_m, shape.reach_m
        made = self.made_for
        if made is not None and any(new > old for new, old in zip(wanted, made, strict=True)):
            made = None
        if not self.has_path or (self.path is not None and made is not None):
            return
        points = self._points
        path = yield from self.laid(points, shape, made, self.anchor_m, 0 if made is None else self._was_measured)
        if self._points is points:
            self.take(path)

    def laid(
        self, points: Floats, shape: MarchingShape, made_for: tuple[float, float, float] | None = None,
        anchor_m: float = 0.0, measured: int = 0,
    ) -> Steps[MarchPath]:
        """Make a path of points in steps, measured up to a sample, or as far as members look ahead from ``anchor_m``.
        """
        body, aside, reach = made_for or (shape.body_m, shape.aside_m, shape.reach_m)
        path = MarchPath(body_m=body, aside_m=aside, reach_m=reach, clearance=self.clearance)
        yield
        yield from path.lay(
            points, self.heading, step_m=min(LONGEST_STEP_M, STEP_SHARE * shape.spacing_m), turn_m=2 * aside)
        while path.measure_samples(measured, MEASURED_TOGETHER):
            yield
        up_to_m = anchor_m + shape.ahead_m + (LOOKS_AHEAD + 1) * shape.spacing_m
        while not measured and path.measure(up_to_m, MEASURED_TOGETHER):
            yield
        return path


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

CLEARED_AT_ONCE = 256
"""Samples whose ground is tested together for one body (count): 40 µs on a grid, most of them fixed."""

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

    ``lay`` makes it of points; until that has ended, it cannot be used.

    Args:
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
        made_for: ``body_m``, ``aside_m`` and ``reach_m``.
        measured: number of samples beside which the free ground is measured, from the first on.
    """

    def __init__(self, *, reach_m: float, body_m: float, aside_m: float, clearance: Clearance | None = None) -> None:
        self._clearance, self._body_m, self._aside_m, self._reach_m = clearance, body_m, aside_m, reach_m
        self.made_for = body_m, aside_m, reach_m

    def lay(self, points: Floats, heading: Floats, *, step_m: float, turn_m: float) -> Steps[None]:
        """Lay the path in steps of some 50 µs for 250 m, beside ``clearance``.

        Args:
            points: points of the path, shape (k, d), at least one (m).
            heading: direction used for a path without length, shape (2,).
            step_m: distance between samples (m); larger if the path needs more than ``MOST_SAMPLES``.
            turn_m: length of path over which directions are averaged (m); use the width of the formation,
                so that no member on the inside of a turn walks backwards.

        Cost: O(length / step), at most that of ``MOST_SAMPLES``.
        """
        self._axes = list(plane_axes(points.shape[1]))
        path_points, self.length_m = _resampled(points, step_m)
        self._step_m = self.length_m / (len(path_points) - 1) if len(path_points) > 1 else step_m
        yield
        if self._clearance is not None:
            yield from self._round_off(path_points)
        begin, end = _end_headings(path_points[:, self._axes], heading)
        before = self._added(path_points[0], -begin, self._reach_m)
        after = self._added(path_points[-1], end, self._reach_m)
        self._points = np.concatenate([before[::-1], path_points, after])
        self.first_m, self.last_m = -len(before) * self._step_m, self.length_m + len(after) * self._step_m
        yield
        self._headings = _smooth_headings(self._points[:, self._axes], max(1, round(turn_m / self._step_m / 2)), begin)
        yield
        self._free = np.full((2, len(self._points)), np.inf)        # left, right
        self._lanes = self._free.copy()                             # the same, opening slowly
        self.measured = 0 if self._clearance is not None else len(self._points)
        right, free = self._directions(_right_of(self._headings)), np.full((len(self._points), 2), FREE_M)
        self.samples = np.concatenate([self._points, right, free], axis=1)
        gap_m = max(self._step_m, SEARCHED_M / 8)
        self.lanes = PathLanes(
            self.samples, self.length_m, self.first_m, self.last_m, self._step_m, -SEARCHED_BEHIND_M,
            (gap_m - SEARCHED_BEHIND_M) + SEARCHED_BEHIND_M,
            math.ceil((SEARCHED_M + self._step_m + SEARCHED_BEHIND_M) / gap_m))
        yield

    def measure(self, up_to_m: float, most: int) -> bool:
        """Measure the free ground beside the path from the last measured sample on; return whether any was left.

        Args:
            up_to_m: arc up to which to measure (m).
            most: largest number of samples to measure (count), each on both sides.

        Cost: two clearances per sample, in one query; O(samples) for lanes if any sample is measured.
        """
        wanted = min(math.ceil((up_to_m - self.first_m) / self._step_m) + 1, self.measured + most)
        return wanted > self.measured and self.measure_samples(max(wanted, self.measured + MEASURED_TOGETHER))

    def measure_samples(self, count: int, most: int | None = None) -> bool:
        """Measure up to a number of samples from the first one, as ``measure`` does, at most ``most`` of them."""
        wanted = min(len(self._points), count, count if most is None else self.measured + most)
        if self._clearance is None or wanted <= self.measured:
            return False
        rows = slice(self.measured, wanted)
        points, right = self._points[rows], self._directions(_right_of(self._headings[rows]))
        both, sides = np.concatenate([points, points]), np.concatenate([-right, right])
        free = self._free_from(both, sides, self._aside_m + self._body_m)
        self._free[:, rows] = np.maximum(0.0, free - self._body_m).reshape(2, -1)
        self.measured = wanted
        slope = np.arange(len(self._points)) * (FUNNEL * self._step_m)
        opening = np.minimum.accumulate(self._beside_bodies() - slope, axis=1) + slope
        self._lanes = np.minimum.accumulate((opening + slope)[:, ::-1], axis=1)[:, ::-1] - slope
        self.samples[:, -2:] = np.minimum(self._lanes, FREE_M).T
        return True

    def _free_from(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return the answer of ``clearance``, checked."""
        assert self._clearance is not None
        answer = self._clearance(points, directions, most_m)
        free = np.asarray(answer)
        if free.dtype.kind not in "iuf" or free.shape != (len(points),) or np.isnan(free).any():
            raise ValueError(f"clearance must return distances of shape ({len(points)},), got {shown(answer)}")
        return free.astype(np.float64)

    def _beside_bodies(self) -> Floats:
        """Return the least free distance along the length of a body, so that its ends pass corners."""
        least = self._free.copy()
        for shift in range(1, min(math.ceil(self._body_m / self._step_m) + 1, least.shape[1])):
            least[:, shift:] = np.minimum(least[:, shift:], self._free[:, :-shift])
            least[:, :-shift] = np.minimum(least[:, :-shift], self._free[:, shift:])
        return least

    def invalidate_clearance(self) -> None:
        """Measure again from the first sample on, after a door closed or a wall fell; until then old ones count."""
        if self._clearance is not None:
            self.measured = 0

    def narrowest(self, from_m: float, to_m: float) -> float:
        """Return the smallest width of the lanes between two arcs (m); ``inf`` on open ground."""
        if self._clearance is None:
            return math.inf
        first, last = self._index(from_m), self._index(to_m)
        both = self._lanes[0, first:last + 1] + self._lanes[1, first:last + 1]
        return float(np.minimum.reduce(both)) if len(both) else math.inf

    def heading(self, arc_m: float) -> Floats:
        """Return the direction of the path at an arc, shape (2,), of length 1."""
        heading: Floats = self._headings[self._index(arc_m)]
        return heading

    def _round_off(self, path_points: Floats) -> Steps[None]:
        """Move points between their neighbors, in place, where that keeps clear of walls."""
        for _ in range(ROUNDS if len(path_points) > 2 else 0):
            drawn = 0.5 * path_points[1:-1] + 0.25 * (path_points[:-2] + path_points[2:])
            is_clear = np.ones(len(drawn), np.bool_)
            along = (path_points[2:] - path_points[:-2])[:, self._axes]
            length = np.maximum(np.sqrt((along ** 2).sum(axis=1)), 1e-9)
            right = self._directions(_right_of(along / length[:, None]))
            yield
            for sign in (-1.0, 1.0):
                for first in range(0, len(drawn), CLEARED_AT_ONCE):
                    rows = slice(first, first + CLEARED_AT_ONCE)
                    free = self._free_from(drawn[rows], sign * right[rows], self._body_m)
                    is_clear[rows] &= free >= self._body_m
                    yield
            path_points[1:-1][is_clear] = drawn[is_clear]

    def _added(self, end: Floats, direction: Floats, reach_m: float) -> Floats:
        """Return points straight on from an end, as far as the ground is free, nearest first."""
        straight = self._directions(direction[None])
        if self._clearance is not None:
            free = float(self._free_from(end[None], straight, reach_m + self._body_m)[0])
            reach_m = min(reach_m, max(0.0, free - self._body_m))
        # At least one more point, so that every arc has a next sample.
        count = min(max(1, math.floor(reach_m / self._step_m)), MOST_SAMPLES)
        steps = np.arange(1, count + 1)[:, None] * (self._step_m if reach_m >= self._step_m else 1e-3)
        return end + straight * steps

    def _directions(self, flat: Floats) -> Floats:
        full = np.zeros((len(flat), 3 if self._axes == [0, 2] else 2))
        full[:, self._axes] = flat
        return full

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


NO_SLOT = -1
"""Slot number of a member without a slot."""


PLACES = ArrayOf(shape=lambda squad: (None, squad.dimensions))
MARCHING_STATE = {
    "positions": PLACES, "destinations": PLACES, "velocities": PLACES,
    "slots": ArrayOf(np.int32, minimum=-1), "arcs": ArrayOf(absent=math.nan), "away": ArrayOf(absent=math.inf),
    "late_s": ArrayOf(), "nearest_m": ArrayOf(absent=math.inf), "is_straggler": ArrayOf(np.bool_),
}
"""Columns of a squad's members that are saved."""


class MemberTable:
    """Rows of members; all arrays have shape (n,) or (n, d).

    Attributes:
        ids: ids, ascending.
        positions: positions (m).
        speeds: highest speeds (m/s).
        radii: half the widths (m).
        slots: slots in the formation, -1 for none.
        arcs: arcs along the path (m), NaN until first computed.
        away: distances from the slots (m).
        late_s: how long each member has been late without coming nearer (s).
        nearest_m: least distance from its slot since the member has been late (m).
        is_straggler: whether the slots no longer wait for the member.
        is_detached: whether the member has a task and keeps no slot.
        destinations: positions to go to (m).
        velocities: velocities to move with (m/s).
        rises: vertical speed with which a member follows its lane (m/s), whatever its height above it; 0 in
            2D, and for a member on another floor. Valid for the last step only; not saved.
    """

    def __init__(self, dimensions: int) -> None:
        self.ids = np.zeros(0, np.int32)
        self.positions = np.zeros((0, dimensions))
        self.speeds = np.zeros(0)
        self.radii = np.zeros(0)
        self.slots = np.zeros(0, np.int32)
        self.arcs = np.zeros(0)
        self.away = np.zeros(0)
        self.late_s = np.zeros(0)
        self.nearest_m = np.zeros(0)
        self.is_straggler = np.zeros(0, np.bool_)
        self.is_detached = np.zeros(0, np.bool_)
        self.destinations = np.zeros((0, dimensions))
        self.velocities = np.zeros((0, dimensions))
        self.rises = np.zeros(0)

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, member_id: int) -> int | None:
        """Return the row of a member, None for an unknown id."""
        row = int(np.searchsorted(self.ids, member_id))
        return row if row < len(self.ids) and self.ids[row] == member_id else None

    def insert(self, member_id: int, position: Floats, speed: float, radius_m: float) -> None:
        """Add a row. Cost: O(n)."""
        row = int(np.searchsorted(self.ids, member_id))
        values: dict[str, Any] = {
            "ids": member_id, "positions": position, "speeds": speed, "radii": radius_m, "slots": NO_SLOT,
            "arcs": np.nan, "away": np.inf, "nearest_m": np.inf, "destinations": position}
        for name, array in vars(self).items():
            setattr(self, name, np.insert(array, row, values.get(name, 0), axis=0))

    def delete(self, row: int) -> None:
        """Delete a row; slots that a smaller formation does not have are taken away. Cost: O(n)."""
        stays = np.arange(len(self)) != row
        for name, array in vars(self).items():
            setattr(self, name, array[stays])
        self.slots[self.slots >= len(self)] = NO_SLOT

    def reset(self, *, forgives: bool) -> None:
        """Reset the progress of all members, for a new path.

        Args:
            forgives: whether to wait again for stragglers, and for late members as long as for others.
        """
        self.arcs[:] = np.nan
        self.away[:] = np.inf
        if forgives:
            self.nearest_m[:] = np.inf
            self.late_s[:] = 0
            self.is_straggler[:] = False

    def stay(self) -> None:
        """Make every member stay at its position."""
        self.destinations[:] = self.positions
        self.velocities[:] = self.rises[:] = 0
