"""A* on grids with buckets: cells wait in buckets by the estimated cost of the path through them.

A bucket holds cells with costs that differ by less than its width, last in, first out; a cell that
becomes cheaper is expanded again. The path found is the cheapest when the bucket of its cost is empty,
for any width, so no heap is needed.

Python twin of the kernel ``_bucket_search``, with identical results.
"""
from __future__ import annotations

from array import array
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import ODD_ROW, GridMoves
from ai_core.paths.searches.walking_search import NOWHERE, WalkingSearch
from ai_core.twins import twin

__all__ = [
    "BUCKETS", "INTERFACE", "ROUNDING", "BucketSearch", "Estimate", "bucket_search",
    "bucket_width",
]

INTERFACE = 2
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

BUCKETS = 1024
"""Buckets in the ring (count, a power of 2). If costs differ by a factor of more than a few hundred,
buckets become wider, and more cells are expanded twice."""

WIDTH = 0.5
"""Width of a bucket, in costs of the cheapest straight move: narrower buckets are more often empty, wider
ones expand more cells twice. On game maps, times for 0.25 to 1 differ by 5 %."""

ROUNDS_FROM = 4.0
"""Width of a bucket, in the same unit, above which cells added to the current bucket wait until it is empty.
Last in, first out would follow one path after the other there: with a single cell of a million times the cost
of the others, it needs more than 700 steps per cell instead of one."""

INFINITE = float("inf")

ROUNDING = 1 + 1e-13
"""Factor by which a path must be cheaper to replace another. Paths of the same moves in another order
differ by rounding errors, and on open ground every second cell would be expanded twice. The cost of a path
exceeds the lowest by at most this factor per cell."""

DIAGONAL = 2 ** 0.5 - 1
SHAPES = {4: (1.0, 1.0, 1.0), 6: (0.0, 0.5, 0.5), 8: (DIAGONAL, 1.0, DIAGONAL)}
"""Values ``short``, ``far`` and ``both`` of an ``Estimate``, by number of neighbors."""


class BucketSearch(WalkingSearch, Protocol):
    """Cell-by-cell search that can also spread from goals to all cells."""

    def spread(self, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        """Discard the last search and start one from the goals to all cells, backwards.

        Costs and paths then lead from each cell to the cheapest goal; ``flow`` returns them.

        Args:
            goals: (n,) int32, at least one goal cell, ascending.
            least_cost: as for ``begin``.
            most_cost: as for ``begin``.
        """

    def flow(self, out_costs: NDArray[np.float64], out_next: NDArray[np.int32]) -> None:
        """Write the results of ``spread``: for each cell the cost to a goal, and the next cell on the path.

        Args:
            out_costs: (cells,) float64, ``inf`` without a path.
            out_next: (cells,) int32, the cell itself for goals, ``NOWHERE`` without a path.
        """


@twin
def bucket_search(open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> BucketSearch:
    """Return memory for searches on one passage.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.
        costs: (height, width) float32, cost of entering each cell; referenced, not copied.
        moves: moves of the grid.

    Cost: 10 bytes per cell, compiled 16.
    """
    return _BucketSearch(open_moves, costs, moves)


class _BucketSearch:
    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> None:
        self.moves = moves
        self.height, self.width = costs.shape
        self.open_moves = open_moves.reshape(-1).data  # indexed twice as fast as the array
        self.costs = costs.reshape(-1).data
        # Arrays, not lists: a list of that length makes every full garbage collection 1.5 ms longer.
        self.ways = array("d", [INFINITE]) * costs.size
        self.came = array("i", [NOWHERE]) * costs.size
        self.is_waiting = bytearray(costs.size)
        self.touched: list[int] = []
        self.tables: dict[float, list[tuple[tuple[int, float], ...]]] = {}
        self.ring: list[list[int]] = [[] for _ in range(BUCKETS + 1)]    # the last one holds cells of the next round
        self.begin(0, np.zeros(1, np.int32), 1.0, 1.0)  # done at once: start and goal are equal

    def begin(self, start: int, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        self._clear(least_cost, most_cost)
        self.start, self.goals, self.is_backward = start, frozenset(goals.tolist()), False
        self.least_cost = least_cost
        self.estimate = Estimate.to(goals, self.moves, self.height, self.width)
        self.is_done = start in self.goals
        self.reached, self.bound = (start, 0.0) if self.is_done else (NOWHERE, INFINITE)
        self.bucket = int(least_cost * self.estimate.from_cell(start) * self.per_bucket)
        self._begin_at([start])

    def spread(self, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        self._clear(least_cost, most_cost)
        self.start, self.goals, self.is_backward = NOWHERE, frozenset(), True
        self.least_cost = 0.0  # no estimates
        self.estimate = Estimate.to(goals, self.moves, self.height, self.width)
        self.is_done, self.reached, self.bound, self.bucket = False, NOWHERE, INFINITE, 0
        self._begin_at(goals.tolist())

    def flow(self, out_costs: NDArray[np.float64], out_next: NDArray[np.int32]) -> None:
        out_costs[:] = np.frombuffer(self.ways)
        out_next[:] = NOWHERE
        known = np.unique(np.array(self.touched, np.int32))
        out_next[known] = np.frombuffer(self.came, np.int32)[known]

    def _clear(self, least_cost: float, most_cost: float) -> None:
        for cell in self.touched:
            self.ways[cell] = INFINITE
            self.is_waiting[cell] = 0
        for bucket in self.ring:
            bucket.clear()
        width = bucket_width(least_cost, most_cost)
        self.per_bucket, self.in_rounds = 1 / width, width > ROUNDS_FROM * least_cost
        self.uniform_cost = least_cost if least_cost == most_cost else 0.0

    def _begin_at(self, cells: list[int]) -> None:
        self.touched = cells
        for cell in cells:
            self.ways[cell], self.came[cell], self.is_waiting[cell] = 0.0, cell, 1
        self.ring[self.bucket % BUCKETS].extend(cells)
        self.waiting = len(cells)

    def advance(self, most: int) -> int:
        ring, bucket, waiting, expanded = self.ring, self.bucket, self.waiting, 0
        ways, came, is_waiting, touched = self.ways, self.came, self.is_waiting, self.touched
        costs, open_moves, width, goals = self.costs, self.open_moves, self.width, self.goals
        rows_down, columns_aside, short, far, both = self.estimate
        least_cost, uniform, per_bucket, bound = self.least_cost, self.uniform_cost, self.per_bucket, self.bound
        table, current, limit = self._table(uniform), ring[bucket % BUCKETS], bound / ROUNDING
        while expanded < most and not self.is_done:
            if not current and waiting:
                bucket, current = self._not_empty(bucket)
            if not waiting or bucket > bound * per_bucket:
                self.is_done = True
                break
            cell, waiting = current.pop(), waiting - 1
            if not is_waiting[cell]:
                continue
            # Backwards, every move ends here and has the cost of this cell.
            is_waiting[cell], so_far, here = 0, ways[cell], costs[cell] if self.is_backward else 0.0
            if bound != INFINITE and so_far + least_cost * self.estimate.from_cell(cell) >= limit:
                continue
            expanded += 1
            for step, price in table[open_moves[cell]]:
                other = cell + step
                way = so_far + price if uniform else so_far + price * (here or costs[other])
                if way * ROUNDING >= ways[other]:
                    continue
                row = other // width
                down, aside = rows_down[row], columns_aside[row & 1][other % width]
                whole = way + least_cost * (down + short * aside if aside < down else far * aside + both * down)
                if whole >= limit:
                    continue
                ways[other], came[other], is_waiting[other] = way, cell, 1
                touched.append(other)
                if other in goals:
                    self.reached, bound, limit = other, way, way / ROUNDING
                into = max(int(whole * per_bucket), bucket)
                ring[BUCKETS if self.in_rounds and into == bucket else into % BUCKETS].append(other)
                waiting += 1
        self.bucket, self.waiting, self.bound = bucket, waiting, bound
        return expanded

    def _not_empty(self, bucket: int) -> tuple[int, list[int]]:
        """Return the first non-empty bucket from ``bucket`` on, and its cells; there is one."""
        ring = self.ring
        while not ring[bucket % BUCKETS]:
            if ring[BUCKETS]:
                ring[bucket % BUCKETS], ring[BUCKETS] = ring[BUCKETS], ring[bucket % BUCKETS]
            else:
                bucket += 1
        return bucket, ring[bucket % BUCKETS]

    def cost_to(self, cell: int) -> float:
        return self.ways[cell]

    def way_to(self, cell: int) -> bytes:
        cells = array("i", [cell])
        while cell != self.start:
            cell = self.came[cell]
            cells.append(cell)
        cells.reverse()
        return cells.tobytes()

    def nearest(self) -> int:
        cells = np.unique(np.array(self.touched, np.int32))
        cells = cells[np.frombuffer(self.is_waiting, np.uint8)[cells] == 0]
        if not len(cells):
            return self.start
        far = [self.estimate.from_cell(cell) for cell in cells.tolist()]
        return int(cells[np.lexsort((cells, np.frombuffer(self.ways)[cells], far))[0]])

    def _table(self, uniform_cost: float) -> list[tuple[tuple[int, float], ...]]:
        """Return by open moves: cell difference and length of each move, or its cost on a grid with a single cost."""
        table = self.tables.get(uniform_cost)
        if table is None:
            table = self.tables[uniform_cost] = [self._row(bits, uniform_cost or 1.0) for bits in range(256)]
        return table

    def _row(self, bits: int, cost: float) -> tuple[tuple[int, float], ...]:
        is_odd = self.moves.is_hexagonal and bits & ODD_ROW
        return tuple(
            (down * self.width + right, length * cost)
            for move, ((down, right), length) in enumerate(
                zip(self.moves.odd if is_odd else self.moves.even, self.moves.lengths, strict=True)
            )
            if bits >> move & 1
        )


class Estimate(NamedTuple):
    """Lower bound of the length of a path to the bounding rectangle of the goals, in moves of length 1.

    With ``down`` rows and ``aside`` columns left, it is ``down + short * aside`` if more rows than
    columns are left, otherwise ``far * aside + both * down``. On hexagonal grids columns count half
    cells, which accounts for the shift of odd rows.

    Attributes:
        rows_down: rows left from each row.
        columns_aside: columns left from each column, for even and for odd rows.
        short: see above.
        far: see above.
        both: see above.
    """

    rows_down: list[int]
    columns_aside: tuple[list[int], list[int]]
    short: float
    far: float
    both: float

    @classmethod
    def to(cls, goals: NDArray[np.int32], moves: GridMoves, height: int, width: int) -> Estimate:
        """Return the estimate for goals.

        Cost: O(height + width + goals).
        """
        rows, columns = np.divmod(goals, width)
        even = odd = np.arange(width)
        if moves.is_hexagonal:
            columns, even, odd = 2 * columns + rows % 2, 2 * even, 2 * odd + 1
        short, far, both = SHAPES[len(moves.lengths)]
        return cls(
            _outside(np.arange(height), rows), (_outside(even, columns), _outside(odd, columns)), short, far, both
        )

    def from_cell(self, cell: int) -> float:
        """Return the estimate from one cell."""
        row, column = divmod(cell, len(self.columns_aside[0]))
        down, aside = self.rows_down[row], self.columns_aside[row & 1][column]
        return down + self.short * aside if aside < down else self.far * aside + self.both * down


def _outside(lines: NDArray[np.int_], goals: NDArray[np.int_]) -> list[int]:
    """Return the distances of rows or columns from the range of the goals."""
    far: list[int] = np.maximum(np.maximum(goals.min() - lines, lines - goals.max()), 0).tolist()
    return far


def bucket_width(least_cost: float, most_cost: float) -> float:
    """Return the width of a bucket for which the ring holds all waiting cells.

    A move increases the cost of a path plus its estimate by at most 1.5 times the sum of the two costs.
    """
    return max(WIDTH * least_cost, 1.5 * (least_cost + most_cost) / (BUCKETS - 2))
