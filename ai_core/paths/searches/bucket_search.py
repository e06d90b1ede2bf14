"""The heart of A* on grids: cells wait in buckets by the length of the way through them.

A bucket holds what differs by less than its width, the last in comes out first,
and what got cheaper comes out once more. The way found is the cheapest when the
bucket that holds its cost is empty, whatever the width: so no heap is needed.

This is the twin in Python of ``_bucket_search``, with the same results.
"""
from __future__ import annotations

from array import array
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import ODD_ROW, Moves
from ai_core.paths.searches.walking_search import NOWHERE, WalkingSearch
from ai_core.twins import twin

__all__ = [
    "BUCKETS", "INTERFACE", "ROUNDING", "BucketSearch", "Estimate", "bucket_search",
    "bucket_width",
]

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the kernel."""

BUCKETS = 1024
"""Buckets in the ring (count, a power of 2). Where costs differ by more than some hundred
times, buckets get wider instead of more, and more cells come out twice."""

WIDTH = 0.5
"""Width of a bucket, in the cheapest straight moves: narrower means more empty ones, wider
more cells that come out twice. Measured on game maps, 0.25 to 1 differ by 5 %."""

ROUNDS_FROM = 4.0
"""Width of a bucket, likewise, from which on what falls into the bucket that is emptied waits until it is empty.
Last in, first out goes down one way after the other there: with one cell of a million times the cost of the
others it took more than 700 steps a cell, and takes one."""

INFINITE = float("inf")

ROUNDING = 1 + 1e-13
"""A way counts as cheaper only by more than this factor. Ways of the same moves in another order
differ by a rounding, and on open ground every second cell would be expanded again for nothing. A way
is too dear by as much for each of its cells at most."""

DIAGONAL = 2 ** 0.5 - 1
SHAPES = {4: (1.0, 1.0, 1.0), 6: (0.0, 0.5, 0.5), 8: (DIAGONAL, 1.0, DIAGONAL)}
"""By neighbors: short, far, both of an ``Estimate``."""


class BucketSearch(WalkingSearch, Protocol):
    """A search that may also go back from goals, to every cell."""

    def spread(self, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        """Forget the last search and begin one back from goals, to every cell.

        Costs and ways are then from a cell to the cheapest goal: ``flow`` tells them all.

        Args:
            goals: (n,), at least one, ascending.
            least_cost: as for ``begin``.
            most_cost: as for ``begin``.
        """

    def flow(self, out_costs: NDArray[np.float64], out_next: NDArray[np.int32]) -> None:
        """Write what ``spread`` found: of each cell the cost to a goal, and the next cell on the way.

        Args:
            out_costs: (cells,), ``inf`` where there is no way yet.
            out_next: (cells,), the cell itself for goals, ``NOWHERE`` where there is no way.
        """


@twin
def bucket_search(open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: Moves) -> BucketSearch:
    """Return memory for searches on one passage.

    Args:
        open_moves: (height, width), of each cell, as bits. Kept, not copied.
        costs: (height, width) of entering each cell. Kept, not copied.
        moves: the kind of grid.

    Cost: 10 bytes a cell, compiled 16.
    """
    return _BucketSearch(open_moves, costs, moves)


class _BucketSearch:
    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: Moves) -> None:
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
        self.ring: list[list[int]] = [[] for _ in range(BUCKETS + 1)]    # the last: what waits for another round
        self.begin(0, np.zeros(1, np.int32), 1.0, 1.0)  # done at once: it stands on its goal

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
        self.least_cost = 0.0  # no goal draws it
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
            # Backwards every move ends here, and costs what this cell does.
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
        """Return the first bucket from one on in which cells wait, and these; some do."""
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
        """Return by open moves: step to the other cell and length, or cost if it is the same everywhere."""
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
    """How long a way to the rectangle around the goals is at least, in moves of length 1.

    With ``down`` rows and ``aside`` columns to go it is ``down + short * aside`` if there
    are more rows than columns to go, else ``far * aside + both * down``. On hexagonal grids
    columns are counted in halves of a cell, which puts odd rows where they lie.

    Attributes:
        rows_down: rows to go from each row.
        columns_aside: columns to go from each column, in even rows and in odd ones.
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
    def to(cls, goals: NDArray[np.int32], moves: Moves, height: int, width: int) -> Estimate:
        """Return the estimate to goals.

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
    """Return how far lines are from the range of the goals."""
    far: list[int] = np.maximum(np.maximum(goals.min() - lines, lines - goals.max()), 0).tolist()
    return far


def bucket_width(least_cost: float, most_cost: float) -> float:
    """Return how much ways in one bucket may differ, so that the ring holds all that wait.

    A move lengthens a way and its estimate by no more than 1.5 times the two costs.
    """
    return max(WIDTH * least_cost, 1.5 * (least_cost + most_cost) / (BUCKETS - 2))
