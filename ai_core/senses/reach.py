"""The first, rough test: who may be in reach of whom?

With a slack far above the rounding of float32, a part in 10,000 of the squared
reach and in 100,000 of the squared distance from the world's origin: it leaves
out nothing that an exact test afterwards lets through.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["may_reach"]

FARTHEST_M = 1e18
"""Reach from which on everything may be in it (m): its square is near the end of float32."""

PAIRS_AT_ONCE = 1 << 18
"""Pairs whose distances are held at a time (count), 1 MB: what fits a processor's cache."""

ROUNDING = 1e-5
"""Slack as a share of the squared distance from the world's origin; float32 rounds to 1e-7.

Smaller loses pairs far out in a large world; larger tests more of them exactly.
"""

Columns = NDArray[np.float32]
"""Positions as NumPy adds them up fastest: shape (3, n), each axis in one run of memory (m)."""

Rows = NDArray[np.intp]


def may_reach(origins: Columns, places: Columns, reach_m: NDArray[np.float64]) -> tuple[Rows, Rows]:
    """Return the columns of origins and of places that may be in reach of each other.

    Args:
        origins: (3, m) (m).
        places: (3, n) (m).
        reach_m: (m,), of each origin, 0 or more (m).

    Returns:
        Two arrays of shape (k,), by ascending origin, then place.

    Cost: O(n * m), fastest with few origins and many places.
    """
    m, n = origins.shape[1], places.shape[1]
    if not m or not n:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond any reach is far beyond
        # |p - o|² <= r²  is  |p|² - 2 p·o <= r² - |o|², one product of matrices.
        sums = np.empty((4, n), np.float32)
        sums[:3] = places
        sums[3] = np.einsum("ij,ij->j", places, places)
        weights = np.empty((m, 4), np.float32)
        weights[:, :3] = -2.0 * origins.T
        weights[:, 3] = 1.0 - ROUNDING
        own = np.einsum("ij,ij->j", origins, origins, dtype=np.float64)
        square = np.where(reach_m > FARTHEST_M, np.inf, reach_m * reach_m * 1.0001 + 1e-9)
        limit = (square - own * (1.0 - ROUNDING)).astype(np.float32)[:, np.newaxis]
        if m * n <= PAIRS_AT_ONCE:
            return _near(weights @ sums, limit, n)
        step = max(1, PAIRS_AT_ONCE // n)
        parts = [
            _near(weights[first : first + step] @ sums, limit[first : first + step], n)
            for first in range(0, m, step)
        ]
    found = [rows + first for (rows, _), first in zip(parts, range(0, m, step), strict=True)]
    return np.concatenate(found), np.concatenate([columns for _, columns in parts])


def _near(reached: NDArray[np.float32], limit: NDArray[np.float32], n: int) -> tuple[Rows, Rows]:
    # Not "<=": where numbers are too large to tell, the exact test must.
    return np.divmod(np.flatnonzero(~(reached > limit)), n)
