"""The first, rough test: who may be in reach of whom?

With a slack far above the rounding of float32, a part in 10,000 of the squared
reach and in 100,000 of the squared distance from the world's origin: it leaves
out nothing that an exact test afterwards lets through.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["FARTHEST_M", "QueryBuffers", "may_reach", "own_squares"]

FARTHEST_M = 1e18
"""Reach from which on everything may be in it (m): its square is near the end of float32."""

PAIRS_AT_ONCE = 1 << 17
"""Pairs whose distances are held at a time (count), 512 kB: what a core's own cache holds, with the places of all."""

LEAST_AT_ONCE = 4096
"""Places that are gone through together at least (count): with fewer, calls would cost more than they do."""

ANSWERS_AT_ONCE = 1 << 22
"""Pairs of which is held whether they are near (count), 4 MB."""

MANY_ANSWERS = 1 << 15
"""Answers from which on eight are looked at together (count): with fewer, the calls cost more."""

ALL_SET = np.uint64(0x0101010101010101)
"""Eight answers, all True."""

ROUNDING = 1e-5
"""Slack as a share of the squared distance from the world's origin; float32 rounds to 1e-7.

Smaller loses pairs far out in a large world; larger tests more of them exactly.
"""

MANY_PLACES, MANY_ORIGINS = 4096, 32
"""Places and origins from which on places far from all origins are left out before the product (count)."""

CELLS_A_SIDE = 60
"""Cells along the longer side of what origins reach (count): smaller ones mark less, and mark longer."""

Columns = NDArray[np.float32]
"""Positions as NumPy adds them up fastest: shape (3, n), each axis in one run of memory (m)."""

Rows = NDArray[np.intp]

Reach = NDArray[np.float64] | float


class QueryBuffers:
    """Memory for questions, used again: to be given new pages for each takes longer than to answer it.

    One question at a time: who asks the same world from several threads holds a lock.
    """

    __slots__ = ("_are", "_products", "_sums")

    def __init__(self) -> None:
        self._sums = self._products = np.empty(0, np.float32)
        self._are = np.empty(0, np.bool_)

    def sums(self, n: int) -> NDArray[np.float32]:
        """Return (4, n) that hold anything."""
        if len(self._sums) < 4 * n:
            self._sums = np.empty(4 * n, np.float32)
        return self._sums[: 4 * n].reshape(4, n)

    def products(self, m: int, n: int) -> NDArray[np.float32]:
        """Return (m, n) that hold anything."""
        if len(self._products) < m * n:
            self._products = np.empty(m * n, np.float32)
        return self._products[: m * n].reshape(m, n)

    def answers(self, m: int, n: int) -> NDArray[np.bool_]:
        """Return (m, n) that hold anything."""
        if len(self._are) < m * n:
            self._are = np.empty(m * n, np.bool_)
        return self._are[: m * n].reshape(m, n)


def may_reach(
    origins: Columns, places: Columns, reach_m: Reach, room: QueryBuffers, own: NDArray[np.float32] | None = None
) -> tuple[Rows, Rows]:
    """Return the columns of origins and of places that may be in reach of each other.

    Numbers may overflow on the way, which is meant: who asks lets NumPy ignore it.

    Args:
        origins: (3, m) (m).
        places: (3, n) (m).
        reach_m: (m,), of each origin, or one of all, 0 or more (m).
        room: overwritten; it grows as is needed: 16 bytes for each place gone through together, one for each pair.
        own: (n,), from ``own_squares``: of each place a reach of its own, none above ``reach_m``, which is one then.

    Returns:
        Two arrays of shape (k,), by ascending origin, then place.

    Cost: O(n * m), fastest with few origins and many places.
    """
    m, n = origins.shape[1], places.shape[1]
    if not m or not n:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    if n >= MANY_PLACES and m >= MANY_ORIGINS:
        near = _in_marked_cells(origins, places, np.broadcast_to(reach_m, m))
        if near is not None:
            own = None if own is None else own.take(near)
            rows, columns = _all_near(origins, places.take(near, axis=1), reach_m, room, own)
            return rows, near.take(columns)
    return _all_near(origins, places, reach_m, room, own)


def own_squares(reach_m: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return what ``may_reach`` takes as reaches of places: (n,) (m), at most ``FARTHEST_M``, below 0 for none."""
    squares = reach_m * reach_m * (1.0001 / (1.0 - ROUNDING)) + 1e-9
    squares[reach_m < 0] = -np.inf
    return squares.astype(np.float32)


def _all_near(
    origins: Columns, places: Columns, reach_m: Reach, room: QueryBuffers, own: NDArray[np.float32] | None
) -> tuple[Rows, Rows]:
    """Return which may be near by one product of matrices: |p|² - own² - 2 p·o <= r² - |o|², one of both reaches 0."""
    m, n = origins.shape[1], places.shape[1]
    weights = np.empty((m, 4), np.float32)
    np.multiply(origins.T, -2.0, out=weights[:, :3])
    weights[:, 3] = 1.0 - ROUNDING
    at = origins.astype(np.float64)
    at *= at
    limits = at[0] + at[1]
    limits += at[2]
    limits *= ROUNDING - 1.0
    if own is None:
        limits += np.where(np.greater(reach_m, FARTHEST_M), np.inf, np.square(reach_m) * 1.0001 + 1e-9)
    limit = limits.astype(np.float32)[:, np.newaxis]
    step = max(1, ANSWERS_AT_ONCE // n)
    if m <= step:
        return _near(weights, places, limit, room, own)
    parts = [
        _near(weights[first : first + step], places, limit[first : first + step], room, own)
        for first in range(0, m, step)
    ]
    found = [rows + first for (rows, _), first in zip(parts, range(0, m, step), strict=True)]
    return np.concatenate(found), np.concatenate([columns for _, columns in parts])


def _near(
    weights: NDArray[np.float32], places: Columns, limit: NDArray[np.float32], room: QueryBuffers,
    own: NDArray[np.float32] | None,
) -> tuple[Rows, Rows]:
    """Return which are near, going through places by so many as stay in the cache meanwhile."""
    m, n = len(weights), places.shape[1]
    width, step = -(-n // 8) * 8, max(LEAST_AT_ONCE, PAIRS_AT_ONCE // m)
    is_far = room.answers(m, width)
    is_far[:, n:] = True
    for first in range(0, n, step):
        some = places[:, first : first + step]
        sums, reached = _sums_of(some, room), room.products(m, some.shape[1])
        if own is not None:
            sums[3] -= own[first : first + step]
        np.matmul(weights, sums, out=reached)
        # Not "<=": where numbers are too large to tell, the exact test must.
        np.greater(reached, limit, out=is_far[:, first : first + some.shape[1]])
    return np.divmod(_unset(is_far), width)


def _unset(are: NDArray[np.bool_]) -> Rows:
    """Return which of (m, n) are not set, counted on from row to row; n a multiple of 8."""
    if are.size < MANY_ANSWERS:
        return np.logical_not(are, out=are).ravel().nonzero()[0]
    # Few are, so most eights of them are left out by one look at each.
    eights = (are.ravel().view(np.uint64) != ALL_SET).nonzero()[0]
    found = np.logical_not(are.reshape(-1, 8).take(eights, axis=0)).ravel().nonzero()[0]
    eights *= 8
    at: Rows = eights.take(found >> 3)
    at += found & 7
    return at


def _sums_of(places: Columns, room: QueryBuffers) -> NDArray[np.float32]:
    """Return places, and the squares of their distances from the world's origin."""
    sums = room.sums(places.shape[1])
    coordinates = sums[:3]
    np.multiply(places, places, out=coordinates)
    np.add.reduce(coordinates, axis=0, out=sums[3])
    coordinates[:] = places
    return sums


def _in_marked_cells(
    origins: Columns, places: Columns, reach_m: NDArray[np.float64]
) -> Rows | None:
    """Return the places in cells that any reach comes into, ascending; None if that leaves out few.

    Cells are squares in the two directions in which origins are spread most. One more on
    every side is marked, far above what float32 rounds.
    """
    longest = float(reach_m.max())
    if longest > FARTHEST_M:
        return None
    at = origins.astype(np.float64)
    low, high = at.min(axis=1) - longest, at.max(axis=1) + longest
    axes = np.sort(np.argsort(low - high, kind="stable")[:2]).tolist()
    low = low.astype(np.float32)
    cell_m = max(float((high - low)[axes].max()) / CELLS_A_SIDE, 1e-30)
    begin, end = (
        np.floor((at[axes] - low[axes, np.newaxis] + side) / cell_m).astype(np.int64)
        for side in (-reach_m, reach_m)
    )
    marked = np.zeros((CELLS_A_SIDE + 5, CELLS_A_SIDE + 5), np.bool_)
    for i, j, k, most in zip(*begin.tolist(), *end.tolist(), strict=True):
        marked[max(0, i) + 1 : k + 4, max(0, j) + 1 : most + 4] = True
    marked[[0, -1]], marked[:, [0, -1]] = False, False  # what lies outside is given these
    if 2 * int(marked.sum()) > marked.size:
        return None
    one_per_m, most_cell = np.float32(1 / cell_m), np.float32(CELLS_A_SIDE + 4)
    cells = []
    for axis in axes:
        steps = places[axis] - low[axis]
        steps *= one_per_m
        steps += np.float32(2)
        np.maximum(steps, np.float32(0), out=steps)
        cells.append(np.minimum(steps, most_cell, out=steps).astype(np.int32))
    cells[0] *= CELLS_A_SIDE + 5
    cells[0] += cells[1]
    return np.flatnonzero(marked.ravel().take(cells[0]))
