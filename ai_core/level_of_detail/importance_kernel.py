"""Hot loop of importance: the parts that viewers add for each agent, and the best viewer's.

All values are float32, computed with + - * / and square roots in a fixed order, so results are the same on all
machines.

A block of rows stays in the processor's cache through all operations, in a workspace that is
allocated once: nothing is allocated per agent.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["EYE_NUMBERS", "FARTHEST", "Workspace", "best_opinions"]

EYE_NUMBERS = 13
"""Numbers of a viewer (count): position, direction and speed, three each and scaled by
their weights; slope and height of the distance part; height of the view part; weight."""

BLOCK_ROWS = 16_384
"""Rows of a block (count): each array of a block takes 64 kB.

Larger blocks fall out of the cache, smaller ones spend more on calls: a quarter of this size takes
twice the time.
"""

SMALLEST_M = 1e-6
"""Least distance used as a divisor (m)."""

FARTHEST = 1e18
"""Coordinates and speeds are clamped to this (m, m/s): the square of a larger one overflows float32."""

Floats = NDArray[np.float32]


class Workspace:
    """Arrays of a block, allocated once; constants are arrays because NumPy compares two arrays faster."""

    def __init__(self) -> None:
        self.away, self.places, self.moving = (np.zeros((3, BLOCK_ROWS), np.float32) for _ in range(3))
        self.own = np.zeros((4, BLOCK_ROWS), np.float32)
        self.most = np.zeros((4, BLOCK_ROWS), np.float32)
        self.work = np.zeros((3, BLOCK_ROWS), np.float32)
        self.size, self.zeros = np.zeros(BLOCK_ROWS, np.float32), np.zeros(BLOCK_ROWS, np.float32)
        self.smallest = np.full(BLOCK_ROWS, SMALLEST_M, np.float32)
        self.flags = np.zeros(BLOCK_ROWS, np.bool_)


def best_opinions(
    eyes: Floats, scales: Floats, positions: Floats, velocities: Floats | None, sizes: Floats,
    total: Floats, parts: Floats | None, workspace: Workspace,
) -> int:
    """Write the largest contribution of any viewer for each agent, and its parts.

    Args:
        eyes: numbers of the viewers, shape (viewers, EYE_NUMBERS).
        scales: scale of speeds, scale of sizes, then the weight of each of the four parts.
        positions: positions of agents, shape (n, d) (m).
        velocities: velocities of agents, shape (n, d) (m/s), or None.
        sizes: diameters of agents, shape (n,) (m).
        total: shape (n,), overwritten.
        parts: shape (4, n), overwritten, or None.
        workspace: arrays for the NumPy form.

    Returns:
        The first row with a number that is not finite, -1 if there is none.
    """
    workspace.most[:] = scales[2:, None]
    with np.errstate(over="ignore", under="ignore"):
        for begin in range(0, len(positions), BLOCK_ROWS):
            rows = slice(begin, begin + BLOCK_ROWS)
            moving = None if velocities is None else velocities[rows]
            wrong = _see_block(
                eyes, scales, positions[rows], moving, sizes[rows], total[rows],
                None if parts is None else parts[:, rows], workspace)
            if wrong >= 0:
                return begin + wrong
    return -1


def _see_block(
    eyes: Floats, scales: Floats, positions: Floats, velocities: Floats | None, sizes: Floats,
    best: Floats, best_parts: Floats | None, workspace: Workspace,
) -> int:
    count, dimensions = positions.shape
    flags = workspace.flags[:count]
    places = workspace.places[:dimensions, :count]
    moving = workspace.moving[: 0 if velocities is None else dimensions, :count]
    wrong = _read(places, positions, flags)
    if velocities is not None:
        wrong = min(wrong, _read(moving, velocities, flags))
    if wrong < count:
        return wrong
    for one in moving:
        np.multiply(one, scales[0], out=one)
    size = np.multiply(sizes, scales[1], out=workspace.size[:count])
    best[:] = 0
    if best_parts is not None:
        best_parts[:] = 0
    for eye in eyes:
        _see(eye, places, moving, size, best, best_parts, workspace)
    return -1


def _read(columns: Floats, rows: Floats, flags: NDArray[np.bool_]) -> int:
    """Copy rows into columns; return the first row that is not finite, or the number of rows."""
    first = len(rows)
    for axis, column in enumerate(columns):
        np.copyto(column, rows[:, axis])
        # The sum of squares shows in one pass that all values are valid.
        if not np.vdot(column, column) <= FARTHEST**2:
            good = np.isfinite(column, out=flags)
            first = first if good.all() else min(first, int(np.argmin(good)))
            np.clip(column, -FARTHEST, FARTHEST, out=column)
    return first


def _see(
    eye: Floats, places: Floats, moving: Floats, sizes: Floats, best: Floats,
    best_parts: Floats | None, workspace: Workspace,
) -> None:
    """Replace the largest contribution so far where this viewer's is larger."""
    rows = places.shape[1]
    away, own, most = (one[:, :rows] for one in (workspace.away, workspace.own, workspace.most))
    distance, nearness, scratch = workspace.work[:, :rows]
    zeros, away = workspace.zeros[:rows], away[: len(places)]
    for axis, place in enumerate(places):
        np.subtract(place, eye[axis], out=away[axis])
    _dot(away, away, distance, scratch)
    np.sqrt(distance, out=distance)
    np.maximum(distance, workspace.smallest[:rows], out=nearness)
    np.divide(1, nearness, out=nearness)
    np.multiply(distance, eye[9], out=own[0])
    np.add(own[0], eye[10], out=own[0])
    np.maximum(own[0], zeros, out=own[0])
    np.minimum(own[0], most[0], out=own[0])
    _write_view(eye, away, nearness, own[1], scratch, most[1])
    _write_approach(eye[6:9], away, moving, nearness, own[2], scratch)
    np.maximum(own[2], zeros, out=own[2])
    np.minimum(own[2], most[2], out=own[2])
    np.multiply(sizes, nearness, out=own[3])
    np.minimum(own[3], most[3], out=own[3])
    total = distance
    np.add(own[0], own[1], out=total)
    np.add(total, own[2], out=total)
    np.add(total, own[3], out=total)
    if eye[12] != 1:
        np.multiply(total, eye[12], out=total)
    if best_parts is not None:
        better = np.greater(total, best, out=workspace.flags[:rows])
        for part, one in enumerate(own):
            np.maximum(one, zeros, out=one)  # rounding may give slightly less than 0
            np.multiply(one, eye[12], out=one)
            np.copyto(best_parts[part], one, where=better)
    np.maximum(best, total, out=best)


def _write_view(eye: Floats, away: Floats, nearness: Floats, out: Floats, scratch: Floats, most: Floats) -> None:
    """Write the view part: the full weight inside the field of view, falling to 0 straight behind."""
    if not eye[3:6].any():
        out.fill(eye[11])
        return
    _dot(eye[3:6], away, out, scratch)
    np.multiply(out, nearness, out=out)
    np.add(out, eye[11], out=out)
    np.minimum(out, most, out=out)


def _write_approach(
    speeds: Floats, away: Floats, moving: Floats, nearness: Floats, out: Floats, scratch: Floats
) -> None:
    """Write the approach part: the speed at which the distance shrinks, from both movements."""
    if not len(moving):
        _dot(speeds, away, out, scratch)
    for axis, one in enumerate(moving):
        term = out if axis == 0 else scratch
        np.subtract(speeds[axis], one, out=term)
        np.multiply(term, away[axis], out=term)
        if axis:
            np.add(out, scratch, out=out)
    np.multiply(out, nearness, out=out)


def _dot(one: Sequence[float] | Floats, other: Floats, out: Floats, scratch: Floats) -> None:
    np.multiply(one[0], other[0], out=out)
    for axis in range(1, len(other)):
        np.multiply(one[axis], other[axis], out=scratch)
        np.add(out, scratch, out=out)
