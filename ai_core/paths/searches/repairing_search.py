"""Anytime repairing search (ARA*): a quick first path, then cheaper ones; each round reuses the last.

The search runs backwards from the goals, so that its results stay valid when the mover moves. Estimates are
multiplied by ``weight``, which directs the search to the start. In a round with a weight above 1, no cell is
expanded twice; cells that become cheaper are parked for the next round, which sorts all waiting cells again.
The buckets range from the lower bound of the cost to the highest cost that waits; more expensive cells are
parked, too.

Python twin of the kernel ``_repairing_search``, with identical results.
"""
from __future__ import annotations

from array import array
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import ODD_ROW, GridMoves
from ai_core.paths.searches.bucket_search import BUCKETS, ROUNDING, WIDTH, Estimate
from ai_core.paths.searches.canonical_moves import AT_ONCE, SUCCESSORS
from ai_core.paths.searches.walking_search import NOWHERE
from ai_core.twins import twin

__all__ = ["INTERFACE", "RepairingSearch", "repairing_search"]

INTERFACE = 3
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

INFINITE = float("inf")

CONTRADICTORY = (
    "internal error in a search: its tables contradict each other; make a new search, and report this with the grid")


class RepairingSearch(Protocol):
    """Memory for consecutive anytime searches on one passage."""

    def begin(
        self, start: int, goals: NDArray[np.int32], least_cost: float, most_cost: float, weight: float, is_even: bool
    ) -> None:
        """Discard the last search and start a new one.

        Args:
            start: start cell.
            goals: (n,) int32, at least one goal cell, ascending.
            least_cost: lowest cost of a cell that can be entered.
            most_cost: highest cost of a cell that can be entered.
            weight: factor of the estimates, 1 or more.
            is_even: True if ``canonical_moves`` suit the current passage: fewer moves are tried.
        """

    def adopt(self, cells: NDArray[np.int32], ways: NDArray[np.float64]) -> None:
        """Adopt a path before the first cell is expanded.

        Args:
            cells: (n,) int32, cells from the start to a goal, connected by open moves.
            ways: (n,) float64, cost from each of them to the goal.
        """

    def repair(self, start: int, weight: float) -> None:
        """Start another round that reuses the results so far.

        Args:
            start: cell of the mover: unchanged, on the best path, or any cell while there is no path.
            weight: as for ``begin``; should not be larger than before.

        Cost: O(waiting cells).
        """

    def advance(self, most: int) -> int:
        """Expand up to ``most`` cells; return their number, 0 when the round is over."""

    @property
    def is_done(self) -> bool:
        """True when the round is over; after a round of weight 1 the path is the cheapest, or none exists."""

    @property
    def cost(self) -> float:
        """Cost of the best path, ``inf`` if none is found yet."""

    @property
    def least(self) -> float:
        """Lower bound of the cost of any path."""

    def way(self) -> bytes:
        """Return the cells of the best path from start to goal, as int32 bytes."""


@twin
def repairing_search(open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> RepairingSearch:
    """Return memory for anytime searches on one passage.

    Args:
        open_moves: (height, width) uint8, open moves of each cell as bits; referenced, not copied.
        costs: (height, width) float32, cost of entering each cell; referenced, not copied.
        moves: moves of the grid.

    Cost: 11 bytes per cell, compiled 16.
    """
    return _RepairingSearch(open_moves, costs, moves)


class _RepairingSearch:
    def __init__(self, open_moves: NDArray[np.uint8], costs: NDArray[np.float32], moves: GridMoves) -> None:
        self.moves = moves
        self.height, self.width = costs.shape
        self.open_moves = open_moves.reshape(-1).data
        self.costs = costs.reshape(-1).data
        self.ways = array("d", [INFINITE]) * costs.size
        self.came = array("i", [NOWHERE]) * costs.size
        self.is_waiting = bytearray(costs.size)
        self.touched: list[int] = []
        self.ring: list[list[int]] = [[] for _ in range(BUCKETS)]
        self.parked: list[int] = []
        self.rounds = array("i", [0]) * costs.size
        self.led = bytearray(costs.size)    # the move that led to each cell
        self.steps = [
            tuple(
                (down * self.width + right, length, move)
                for move, ((down, right), length) in enumerate(
                    zip(moves.odd if moves.is_hexagonal and bits & ODD_ROW else moves.even, moves.lengths, strict=True)
                )
                if bits >> move & 1
            )
            for bits in range(256)
        ]
        self.is_even, self.is_done, self.cost, self.least, self.round = False, True, 0.0, 0.0, 0

    def begin(
        self, start: int, goals: NDArray[np.int32], least_cost: float, most_cost: float, weight: float, is_even: bool
    ) -> None:
        for cell in self.touched:
            self.ways[cell], self.is_waiting[cell] = INFINITE, 0
        for bucket in (*self.ring, self.parked):
            bucket.clear()
        self.least_cost, self.most_cost, self.is_even = least_cost, most_cost, is_even
        self.touched = goals.tolist()
        for cell in self.touched:
            self._write(cell, 0.0, cell)
        self.parked.extend(self.touched)
        self.is_done, self.cost, self.least = False, INFINITE, 0.0
        self.repair(start, weight)

    def adopt(self, cells: NDArray[np.int32], ways: NDArray[np.float64]) -> None:
        way, towards = ways.tolist(), cells.tolist()
        for i in range(len(towards) - 2, -1, -1):
            if way[i] < self.ways[towards[i]]:
                self._write(towards[i], way[i], towards[i + 1])
                self.touched.append(towards[i])
                self.parked.append(towards[i])
        self.repair(self.start, self.weight)

    def _write(self, cell: int, way: float, came: int) -> None:
        self.ways[cell], self.came[cell], self.is_waiting[cell] = way, came, 1
        self.rounds[cell] = 0
        self.led[cell] = AT_ONCE if cell == came else self._move(came, cell)

    def _move(self, cell: int, other: int) -> int:
        """Return the move from one cell to its neighbor."""
        return next(move for step, _, move in self.steps[self.open_moves[cell]] if step == other - cell)

    def repair(self, start: int, weight: float) -> None:
        self.start, self.weight = start, weight
        self.estimate = Estimate.to(np.array([start], np.int32), self.moves, self.height, self.width)
        self.cost = self.ways[start]
        self.round += 1
        self._sort()

    def _sort(self) -> None:
        """Sort the waiting cells into buckets."""
        cells = self._gathered()
        keys = [self.ways[cell] + self.weight * (self.least_cost * self.estimate.from_cell(cell)) for cell in cells]
        reach = 1.5 * (self.weight * self.least_cost + self.most_cost)  # largest increase of a key by one move
        high = min(max(keys, default=0.0) + reach, self.cost)
        self.base = min(self.least, high)
        self.per_bucket = 1 / max(WIDTH * self.least_cost, (high - self.base) / (BUCKETS - 2))
        self.bucket, self.due = BUCKETS, 0
        for cell, key in zip(cells, keys, strict=True):
            self._put(cell, key)
        self.is_done = self.due == 0

    def _put(self, cell: int, key: float) -> None:
        """Put a cell into its bucket; park it if it is not due in this round or beyond the last bucket."""
        slot = (key - self.base) * self.per_bucket
        if key >= self.cost or slot >= BUCKETS or (self.weight > 1 and self.rounds[cell] == self.round):
            self.parked.append(cell)
            return
        self.due += 1
        self.bucket = min(self.bucket, int(slot))
        self.ring[int(slot)].append(cell)

    def _gathered(self) -> list[int]:
        """Remove and return all waiting cells that may lead to a better path; update the lower bound."""
        cells, least = [], INFINITE
        for bucket in (*self.ring, self.parked):
            for cell in reversed(bucket):
                if self.is_waiting[cell] != 1:
                    continue
                whole = self.ways[cell] + self.least_cost * self.estimate.from_cell(cell)
                if whole * ROUNDING >= self.cost:
                    self.is_waiting[cell] = 0
                    continue
                self.is_waiting[cell] = 2  # so that the cell is gathered once
                cells.append(cell)
                least = min(least, whole)
            bucket.clear()
        for cell in cells:
            self.is_waiting[cell] = 1
        self.least = min(least, self.cost)
        return cells

    def advance(self, most: int) -> int:
        expanded = 0
        while expanded < most and not self.is_done:
            if not self.due:
                self._sort()
            while self.due and not self.ring[self.bucket]:
                self.bucket += 1
            if not self.due or self.base * self.per_bucket + self.bucket > self.cost * self.per_bucket:
                self.is_done = True
                break
            cell = self.ring[self.bucket].pop()
            self.due -= 1
            if self.is_waiting[cell]:
                self.is_waiting[cell], self.rounds[cell] = 0, self.round
                whole = self.ways[cell] + self.least_cost * self.estimate.from_cell(cell)
                if whole * ROUNDING < self.cost:
                    self._expand(cell)
                    expanded += 1
        if self.weight == 1:
            self._learn_least()
        return expanded

    def _expand(self, cell: int) -> None:
        ways, width, least_cost, cost = self.ways, self.width, self.least_cost, self.cost
        rows_down, columns_aside, short, far, both = self.estimate
        so_far, here, bits = ways[cell], self.costs[cell], self.open_moves[cell]
        for step, length, move in self.steps[SUCCESSORS[self.led[cell] << 8 | bits] if self.is_even else bits]:
            other = cell + step
            way = so_far + length * here
            if way * ROUNDING >= ways[other]:
                continue
            row = other // width
            down, aside = rows_down[row], columns_aside[row & 1][other % width]
            left = least_cost * (down + short * aside if aside < down else far * aside + both * down)
            if (way + left) * ROUNDING >= cost:
                continue
            if ways[other] == INFINITE:
                self.touched.append(other)
                self.rounds[other] = 0
            ways[other], self.came[other], self.led[other] = way, cell, move
            if other == self.start:
                cost = self.cost = way
            else:
                self.is_waiting[other] = 1
                self._put(other, way + self.weight * left)

    def _learn_least(self) -> None:
        """Raise the lower bound: in a round of weight 1 no path is cheaper than the current bucket."""
        least = self.cost if self.is_done else min(self.cost, self.base + self.bucket / self.per_bucket)
        self.least = max(self.least, least)

    def way(self) -> bytes:
        cells = array("i", [self.start])
        while self.came[cells[-1]] != cells[-1]:
            cells.append(self.came[cells[-1]])
            if len(cells) > len(self.came):
                raise RuntimeError(CONTRADICTORY)
        return cells.tobytes()
