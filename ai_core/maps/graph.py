"""Directed graph of places and connections as arrays: waypoints, rooms, navigation polygons."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import indices, numbers, shown, whole_number

__all__ = ["Graph"]

ROUNDING = 1 - 1e-9
"""Factor that shortens straight distances, so that rounding never makes one longer than the path along it."""


class Graph(Described):
    """Places numbered from 0, and one-way connections with costs.

    Args:
        size: number of places.
        begins: (m,) int, start place of each connection.
        ends: (m,) int, end place of each; add a second connection for the opposite direction.
        costs: (m,), 0 or more.
        positions: (size, 2) or (size, 3) float, positions of the places (m). With positions,
            searches expand towards the goal first; without, in all directions.

    Raises:
        TypeError: if place numbers are not integers.
        ValueError: if lengths differ, a place does not exist, or a cost is negative, NaN or infinite.

    Attributes:
        first: (size + 1,) int32, index of the first connection of each place in ``ends`` and ``costs``.
        ends: (m,) int32, ordered by start, then end.
        costs: (m,) float64.
        positions: (size, 2 or 3) float64, or None.
        cost_per_m: lowest cost of a connection per metre between its ends.

    Cost: O(m log m).
    """

    SHOWN = ("size",)

    def __init__(
        self, size: int, begins: ArrayLike, ends: ArrayLike, costs: ArrayLike, *, positions: ArrayLike | None = None
    ) -> None:
        self.size = whole_number("size", size, minimum=1, maximum=2 ** 31 - 2)
        begin, end = (indices(name, one, self.size) for name, one in (("begins", begins), ("ends", ends)))
        cost = numbers("costs", costs)
        if not begin.shape == end.shape == cost.shape:
            raise ValueError(
                f"begins, ends and costs must have equal length, got {begin.shape}, {end.shape} and {cost.shape}")
        fits = np.isfinite(cost) & (cost >= 0)
        if not fits.all():
            raise ValueError(f"costs must be 0 or more and finite, got {cost[~fits][0]}")
        order = np.lexsort((cost, end, begin))
        self.ends, self.costs = end[order], cost[order]
        self.first = np.searchsorted(begin[order], np.arange(self.size + 1)).astype(np.int32)
        self.positions: NDArray[np.float64] | None = None
        self.cost_per_m = 0.0
        if positions is not None:
            self.positions = self._placed(positions)
            apart = np.sqrt(((self.positions[begin] - self.positions[end]) ** 2).sum(axis=1))
            per_m = cost[apart > 0] / apart[apart > 0]
            self.cost_per_m = float(per_m.min()) * ROUNDING if per_m.size else 0.0

    def moves_from(self, place: int) -> list[tuple[int, float]]:
        """Return (end, cost) of each connection from a place, ordered by end."""
        begin, end = self.first[place], self.first[place + 1]
        return list(zip(self.ends[begin:end].tolist(), self.costs[begin:end].tolist(), strict=True))

    def _placed(self, positions: ArrayLike) -> NDArray[np.float64]:
        array = numbers("positions", positions)
        if array.ndim != 2 or array.shape[0] != self.size or array.shape[1] not in (2, 3):
            raise ValueError(f"positions must have shape ({self.size}, 2 or 3), got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"positions must be finite, got {shown(positions)}; give every node a position, or none")
        return array
