"""Viewers: cameras, players and others that would notice poor behavior."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, shown
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
EYE_NUMBERS = 13
"""Numbers of a viewer (count): position, direction and speed, three each and scaled by
their weights; slope and height of the distance part; height of the view part; weight."""

BLOCK_NUMBERS = 65536
"""Agents of a block times viewers (count): ten arrays take 256 kB each. Smaller blocks spend more on calls."""

SMALLEST_M = np.float32(1e-6)
"""Least distance used as a divisor (m)."""

FARTHEST = 1e18
"""Coordinates and speeds are clamped to this (m, m/s): the square of a larger one overflows float32."""


class ViewerContributions:
    """Computes what viewers add to the importance of arrays of agents: all viewers and a block of agents at once.

    Weights, ranges and scales are multiplied into the few numbers of a viewer and of a block's input
    instead of into every intermediate array. All values are float32, computed with + - * / and square roots in a
    fixed order, so results are the same on all machines.
    """

    def __init__(self, settings: ImportanceSettings) -> None:
        self._settings = settings
        self._weights = settings.weights()[: len(VIEWER_PARTS)]
        self._per_speed = self._weights[2] / settings.full_approach_m_s
        self._per_size = self._weights[3] / settings.full_size_rad
        self._most = np.array(self._weights, np.float32)[:, None, None]
        self._eyes = np.zeros((0, EYE_NUMBERS), np.float32)
        # Positions, velocities and sizes of a block; by viewer three arrays of offsets, three of terms, and the parts.
        self._columns, self._work = np.zeros((7, 1), np.float32), np.zeros((10, 0, 1), np.float32)
        self._agents = 0

    def write(
        self, viewers: Sequence[Viewer], positions: Floats, velocities: Floats | None,
        sizes: Floats, total: Floats, parts: Floats | None = None,
    ) -> int:
        """Write the largest contribution of any viewer for each agent, and its parts.

        Args:
            viewers: any number of viewers; without viewers all contributions are 0.
            positions: positions of agents, shape (n, d) (m).
            velocities: velocities of agents, shape (n, d) (m/s), or None.
            sizes: diameters of agents, shape (n,) (m).
            total: shape (n,), overwritten.
            parts: shape (4, n), overwritten; None skips them, which is faster.

        Returns:
            The first row with a number that is not finite, -1 if there is none.

        Cost: O(n * viewers), no allocation that grows with n.
        """
        if len(self._eyes) != len(viewers) or self._agents < len(positions):
            self._eyes, self._agents = np.zeros((len(viewers), EYE_NUMBERS), np.float32), len(positions)
            count = max(1, min(len(positions), BLOCK_NUMBERS // max(1, len(viewers))))
            self._columns = np.zeros((7, count), np.float32)
            self._work = np.zeros((10, len(viewers), count), np.float32)
        for row, viewer in enumerate(viewers):
            self._eyes[row] = self._numbers_of(viewer)
        count = self._columns.shape[1]
        with np.errstate(over="ignore", under="ignore"):
            for begin in range(0, len(positions), count):
                rows = slice(begin, begin + count)
                moving = None if velocities is None else velocities[rows]
                wrong = self._write_block(
                    positions[rows], moving, sizes[rows], total[rows], None if parts is None else parts[:, rows])
                if wrong >= 0:
                    return begin + wrong
        return -1

    def _write_block(
        self, positions: Floats, velocities: Floats | None, sizes: Floats, total: Floats, parts: Floats | None,
    ) -> int:
        (count, dimensions), eyes = positions.shape, self._eyes
        columns, work = self._columns[:, :count], self._work[..., :count]
        places, moving, size = columns[:dimensions], columns[3:3 + dimensions], columns[6]
        wrong = _read(places, positions)
        moving.fill(0)
        if velocities is not None:
            wrong = min(wrong, _read(moving, velocities))
        if wrong < count:
            return wrong
        moving *= np.float32(self._per_speed)
        np.multiply(sizes, np.float32(self._per_size), out=size)
        _see(eyes.T[:, :, None], self._most, places, moving, size, work)
        sums, own = work[3], work[6:]
        np.add(own[0], own[1], out=sums)
        sums += own[2]
        sums += own[3]
        sums *= eyes[:, 12, None]
        best = np.max(sums, axis=0, initial=0, out=total)
        if parts is not None:
            parts.fill(0)
            seen = np.flatnonzero(best)
            viewers = sums[:, seen].argmax(axis=0) if len(seen) else seen
            # Rounding may give slightly less than 0.
            parts[:, seen] = np.maximum(own[:, viewers, seen], 0) * eyes[viewers, 12]
        return -1

    def _numbers_of(self, viewer: Viewer) -> list[float]:
        near_m, far_m = viewer.range_m(self._settings.near_m, self._settings.far_m)
        slope = self._weights[0] / (far_m - near_m)
        # A viewer without a direction, or with a full angle, has everything in view, with the full weight.
        ahead, view = [0.0] * 3, self._weights[1]
        if viewer.forward is not None and view and viewer.field_of_view_rad < math.tau:
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


def _read(columns: Floats, rows: Floats) -> int:
    """Copy rows into columns, clamped; return the first row that is not finite, or the number of rows."""
    np.copyto(columns, rows.T)
    # The sum of squares shows in one pass that all values are valid.
    if sum(np.vdot(column, column) for column in columns) <= FARTHEST**2:
        return len(rows)
    is_good = np.isfinite(columns).all(axis=0)
    np.clip(columns, -FARTHEST, FARTHEST, out=columns)
    return len(rows) if is_good.all() else int(is_good.argmin())


def _see(numbers: Floats, most: Floats, places: Floats, moving: Floats, sizes: Floats, work: Floats) -> None:
    """Write what each viewer adds by each part, before its weight."""
    dimensions = len(places)
    away, terms, own = work[:dimensions], work[3:3 + dimensions], work[6:]
    nearness, distance = terms[1], own[0]
    np.subtract(places[:, None], numbers[:dimensions], out=away)
    np.multiply(away, away, out=terms).sum(axis=0, out=distance)
    np.sqrt(distance, out=distance)
    # The view part: the full weight inside the field of view, falling to 0 straight behind.
    np.multiply(numbers[3:3 + dimensions], away, out=terms).sum(axis=0, out=own[1])
    # The approach part: the speed at which the distance shrinks, from both movements.
    np.subtract(numbers[6:6 + dimensions], moving[:, None], out=terms)
    np.multiply(terms, away, out=terms).sum(axis=0, out=own[2])
    np.divide(1, np.maximum(distance, SMALLEST_M, out=nearness), out=nearness)
    distance *= numbers[9]
    distance += numbers[10]
    own[1:3] *= nearness
    own[1] += numbers[11]
    np.multiply(sizes, nearness, out=own[3])
    np.maximum(own[::2], 0, out=own[::2])
    np.minimum(own, most, out=own)


__all__ = ["Place", "Viewer", "ViewerContributions"]
