"""The first, rough test: who may be in reach of whom?

With a slack far above the rounding of float32, a part in 10,000 of the squared
reach: it leaves out nothing that an exact test afterwards lets through.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.sensation import Point

__all__ = ["may_reach", "may_reach_from"]

FARTHEST_M = 1e18
"""Reach from which on everything may be in it (m): its square is near the end of float32."""

FEW_PLACES = 40
"""Places up to which a loop is faster than NumPy's calls (count); both take some 6 µs there."""

Columns = NDArray[np.float32]
"""Positions as NumPy adds them up fastest: shape (3, n), each axis in one run of memory (m)."""

Rows = NDArray[np.intp]


def may_reach(eyes: Columns, targets: Columns, reach_m: float) -> tuple[Rows, Rows]:
    """Return the columns of eyes and of targets that may be in reach of each other.

    Args:
        eyes: (3, n) (m).
        targets: (3, m) (m).
        reach_m: 0 or more (m).

    Returns:
        Two arrays of shape (k,), by ascending eye, then target.

    Cost: O(n * m).
    """
    if eyes.shape[1] <= targets.shape[1]:
        near = _squared_distances(eyes[:, :, np.newaxis], targets[:, np.newaxis])
        return np.divmod(np.flatnonzero(near <= _limit(reach_m)), max(1, targets.shape[1]))
    # The longer side comes last: NumPy's inner loops run along it.
    near = _squared_distances(targets[:, :, np.newaxis], eyes[:, np.newaxis])
    found_targets, found_eyes = np.divmod(np.flatnonzero(near <= _limit(reach_m)), eyes.shape[1])
    order = np.lexsort((found_targets, found_eyes))
    return found_eyes[order], found_targets[order]


def may_reach_from(origin: Point, places: Columns, reach_m: float) -> Sequence[int]:
    """Return the columns of places that may be in reach of one point, ascending.

    Args:
        origin: (m), exact in float32.
        places: (3, n) (m).
        reach_m: 0 or more (m).

    Cost: O(n).
    """
    limit = _limit(reach_m)
    if places.shape[1] > FEW_PLACES:
        squared = _squared_distances(places, np.array(origin, np.float32)[:, np.newaxis])
        near: list[int] = (squared <= limit).nonzero()[0].tolist()
        return near
    ox, oy, oz = origin
    return [
        k for k, (x, y, z) in enumerate(zip(*places.tolist(), strict=True))
        if (x - ox) * (x - ox) + (y - oy) * (y - oy) + (z - oz) * (z - oz) <= limit
    ]


def _squared_distances(a: Columns, b: Columns) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # far beyond any reach is far beyond
        offsets = a - b
        offsets *= offsets
        squared: NDArray[np.float32] = offsets[0]
        squared += offsets[1]
        squared += offsets[2]
    return squared


def _limit(reach_m: float) -> float:
    return np.inf if reach_m > FARTHEST_M else reach_m * reach_m * 1.0001 + 1e-9
