"""What viewers add to the importance of agents: all viewers and a block of agents at once.

All values are float32, computed with + - * / and square roots in a fixed order, so results are the same on all
machines.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["EYE_NUMBERS", "FARTHEST", "Workspace", "best_opinions"]

EYE_NUMBERS = 13
"""Numbers of a viewer (count): position, direction and speed, three each and scaled by
their weights; slope and height of the distance part; height of the view part; weight."""

BLOCK_NUMBERS = 65536
"""Agents of a block times viewers (count): ten arrays take 256 kB each. Smaller blocks spend more on calls."""

SMALLEST_M = np.float32(1e-6)
"""Least distance used as a divisor (m)."""

FARTHEST = 1e18
"""Coordinates and speeds are clamped to this (m, m/s): the square of a larger one overflows float32."""

Floats = NDArray[np.float32]


class Workspace(NamedTuple):
    """Arrays for the numbers of a block, made once.

    Attributes:
        columns: positions, velocities and sizes of agents, shape (7, n).
        work: three arrays of offsets, three of terms, and one for each part, shape (10, viewers, n).
    """

    columns: Floats
    work: Floats

    @classmethod
    def of(cls, viewers: int, agents: int) -> Workspace:
        """Return a workspace for as many agents, or as many as fit in a block."""
        count = max(1, min(agents, BLOCK_NUMBERS // max(1, viewers)))
        return cls(np.zeros((7, count), np.float32), np.zeros((10, viewers, count), np.float32))


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
        workspace: for as many viewers.

    Returns:
        The first row with a number that is not finite, -1 if there is none.
    """
    count, dimensions = workspace.columns.shape[1], positions.shape[1]
    with np.errstate(over="ignore", under="ignore"):
        for begin in range(0, len(positions), count):
            rows = slice(begin, begin + count)
            columns, work = workspace.columns[:, :len(positions[rows])], workspace.work[..., :len(positions[rows])]
            places, moving, size = columns[:dimensions], columns[3:3 + dimensions], columns[6]
            wrong = _read(places, positions[rows])
            moving.fill(0)
            if velocities is not None:
                wrong = min(wrong, _read(moving, velocities[rows]))
            if wrong < len(size):
                return begin + wrong
            moving *= scales[0]
            np.multiply(sizes[rows], scales[1], out=size)
            _see(eyes.T[:, :, None], scales, places, moving, size, work)
            sums, own = work[3], work[6:]
            np.add(own[0], own[1], out=sums)
            sums += own[2]
            sums += own[3]
            sums *= eyes[:, 12, None]
            best = np.max(sums, axis=0, initial=0, out=total[rows])
            if parts is not None:
                parts[:, rows] = 0
                seen = np.flatnonzero(best)
                viewers = sums[:, seen].argmax(axis=0) if len(seen) else seen
                # Rounding may give slightly less than 0.
                parts[:, begin + seen] = np.maximum(own[:, viewers, seen], 0) * eyes[viewers, 12]
    return -1


def _read(columns: Floats, rows: Floats) -> int:
    """Copy rows into columns, clamped; return the first row that is not finite, or the number of rows."""
    np.copyto(columns, rows.T)
    # The sum of squares shows in one pass that all values are valid.
    if sum(np.vdot(column, column) for column in columns) <= FARTHEST**2:
        return len(rows)
    is_good = np.isfinite(columns).all(axis=0)
    np.clip(columns, -FARTHEST, FARTHEST, out=columns)
    return len(rows) if is_good.all() else int(is_good.argmin())


def _see(numbers: Floats, scales: Floats, places: Floats, moving: Floats, sizes: Floats, work: Floats) -> None:
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
    np.minimum(own, scales[2:, None, None], out=own)
