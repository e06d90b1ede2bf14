"""Ground cut into rooms: a watershed on the distance to walls, with its lines at narrow places.

Cells are taken from the middles of rooms outwards, as rising water takes a landscape
turned upside down. Where two pools meet, the width there is compared with theirs.
"""
from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.baking.sense_graph_baking_ground import NO_CELL, GroundCells

__all__ = ["NO_ROOM", "NarrowSettings", "distances_to_walls", "rooms"]

NO_ROOM = -1
"""Room of a cell that is in none."""

STRAIGHT, DIAGONAL = 5, 7
"""Lengths of steps to the cells around: 7 / 5 is within 1 % of the root of 2."""

SURE_CELLS = 1.0
"""A place is narrow only if it is so much narrower, each side (cells): less may come of the grid."""

CELLS_A_STEP = 256
"""Cells taken between two looks at the budget, about 0.3 ms."""

Ids = NDArray[np.int64]


class NarrowSettings(NamedTuple):
    """What counts as narrow, see ``BakingSettings``."""

    share: float
    widest_m: float
    least_area_m2: float


def distances_to_walls(cells: GroundCells) -> Generator[float, None, Ids]:
    """Return distances in steps of ``STRAIGHT`` for a cell, 0 beside a wall.

    Cost: O(cells), a ring of equal distance a step.
    """
    beside = cells.neighbors
    ways = [(beside[:, side], STRAIGHT) for side in range(4)]
    for side in range(4):
        around = beside[beside[:, side], (side + 1) % 4]
        ways.append((np.where(beside[:, side] == NO_CELL, NO_CELL, around), DIAGONAL))
    far = np.iinfo(np.int64).max // 2
    distance = np.full(len(cells), far)
    at_wall = np.flatnonzero((beside == NO_CELL).any(axis=1))
    distance[at_wall] = 0
    rings: dict[int, list[Ids]] = {0: [at_wall]}
    reached = 0
    while rings:
        ring = np.concatenate(rings.pop(reached, [at_wall[:0]]))
        ring = np.unique(ring[distance[ring] == reached])
        for there, step in ways:
            cells_there = there[ring]
            cells_there = cells_there[cells_there != NO_CELL]
            nearer = cells_there[distance[cells_there] > reached + step]
            if len(nearer):
                distance[nearer] = reached + step
                rings.setdefault(reached + step, []).append(nearer)
        reached += 1
        yield 0.0
    return distance


def rooms(
    cells: GroundCells, distance: Ids, taken: NDArray[np.bool_], narrow: NarrowSettings
) -> Generator[float, None, Ids]:
    """Yield how far it has come, 0 to 1, and return the room of every cell, ``NO_ROOM`` for none.

    Rooms are numbered by their first cells. What is too small becomes part of the room
    to which it opens widest; what is too small and opens nowhere is no room.

    Args:
        cells: the ground.
        distance: as ``distances_to_walls`` says.
        taken: (n,) bool, cells that are not to be in a room.
        narrow: what counts as narrow.

    Cost: O(n log n) of cells for one sort, then about 2 µs a cell.
    """
    half_m = (distance / STRAIGHT + 0.5) * cells.cell_m + cells.radius_m
    pools = _Pools(cells, half_m.tolist(), narrow)
    yield 0.0
    order = np.lexsort((np.arange(len(cells)), -distance))
    order = order[~taken[order]]
    for begin in range(0, len(order), CELLS_A_STEP):
        for cell in order[begin : begin + CELLS_A_STEP].tolist():
            pools.take(cell)
        yield begin / len(order)
    return _numbered(pools.without_small_ones())


class _Pools:
    """Cells taken so far, in pools; a pool is named by its first cell, its deepest."""

    def __init__(self, cells: GroundCells, half_m: list[float], narrow: NarrowSettings) -> None:
        self._neighbors = cells.neighbors
        self._beside = [cells.neighbors[:, side].tolist() for side in range(4)]
        self._half_m = half_m
        self._narrow = narrow
        self._sure_m = SURE_CELLS * cells.cell_m
        self._least_cells = narrow.least_area_m2 / cells.cell_m**2
        self._parent = [NO_CELL] * len(cells)

    def take(self, cell: int) -> None:
        """Let a cell be part of a pool beside it, or begin one; join pools that are one room.

        It goes where it is steepest: else a pool would creep along the walls of another.
        """
        parent, half_m = self._parent, self._half_m
        found: list[int] = []
        mine, steepest_m = cell, 0.0
        for side in self._beside:
            other = side[cell]
            if other != NO_CELL and parent[other] != NO_CELL:
                pool = self._pool(other)
                if half_m[other] > steepest_m or (
                    half_m[other] == steepest_m and (half_m[pool], -pool) > (half_m[mine], -mine)
                ):
                    mine, steepest_m = pool, half_m[other]
                if pool not in found:
                    found.append(pool)
        parent[cell] = mine
        if len(found) < 2:
            return
        found.sort(key=lambda pool: (-half_m[pool], pool))
        for pool in found[1:]:
            if self._is_one_room(half_m[cell], half_m[pool]):
                parent[pool] = found[0]

    def without_small_ones(self) -> Ids:
        """Return the pool of every cell, with small ones joined to others or dropped."""
        pool_of = np.array(self._parent, np.int64)
        taken = np.flatnonzero(pool_of != NO_CELL)
        while (pool_of[pool_of[taken]] != pool_of[taken]).any():
            pool_of[taken] = pool_of[pool_of[taken]]
        sizes = np.bincount(pool_of[taken], minlength=len(pool_of)).tolist()
        small = [pool for pool, size in enumerate(sizes) if 0 < size < self._least_cells]
        if not small:
            return pool_of
        openings = self._openings(pool_of)
        joined: dict[int, int] = {}
        for pool in sorted(small, key=lambda pool: (sizes[pool], pool)):
            if pool in joined or sizes[pool] >= self._least_cells:
                continue
            ways = openings.pop(pool, {})
            if not ways:
                joined[pool] = NO_ROOM
                continue
            into = min(ways, key=lambda other: (-ways[other], other))
            joined[pool] = into
            sizes[into] += sizes[pool]
            for other, half_m in ways.items():
                there = openings[other]
                del there[pool]
                if other != into:
                    there[into] = openings[into][other] = max(half_m, there.get(into, 0.0))
        for pool in small:
            goal = pool
            while goal in joined:
                goal = joined[goal]
            pool_of[pool_of == pool] = goal
        return pool_of

    def _pool(self, cell: int) -> int:
        parent = self._parent
        root = cell
        while parent[root] != root:
            root = parent[root]
        while parent[cell] != root:
            parent[cell], cell = root, parent[cell]
        return root

    def _is_one_room(self, opening_m: float, room_m: float) -> bool:
        return (
            opening_m > self._narrow.share * room_m
            or room_m - opening_m < self._sure_m
            or 2 * opening_m > self._narrow.widest_m
        )

    def _openings(self, pool_of: Ids) -> dict[int, dict[int, float]]:
        """Return for every pool its neighbours, and half the width of the widest way there (m)."""
        found: dict[int, dict[int, float]] = {}
        half_m = np.array(self._half_m)
        for side in (0, 1):
            there = self._neighbors[:, side]
            rows = np.flatnonzero((there != NO_CELL) & (pool_of != pool_of[there]))
            rows = rows[(pool_of[rows] != NO_ROOM) & (pool_of[there[rows]] != NO_ROOM)]
            width = np.minimum(half_m[rows], half_m[there[rows]])
            for a, b, w in zip(pool_of[rows].tolist(), pool_of[there[rows]].tolist(),
                               width.tolist(), strict=True):
                for one, other in ((a, b), (b, a)):
                    ways = found.setdefault(one, {})
                    ways[other] = max(w, ways.get(other, 0.0))
        return found


def _numbered(pool_of: Ids) -> Ids:
    """Return rooms numbered 0, 1, 2 in the order of their first cells."""
    is_in = pool_of != NO_ROOM
    _, first, place = np.unique(pool_of[is_in], return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    numbered = np.full(len(pool_of), NO_ROOM, np.int64)
    numbered[is_in] = number[place]
    return numbered
