"""Jump table for JPS+: precomputed jump distances from every cell in every direction.

It is built as interruptible work and updated where cells change. Compared with A*, searches on game maps take
from a half to a fifteenth of the time, in the corridors of a maze from a thirteenth to a hundredth, depending on the
CPU caches; on noise and between ragged walls they take as long.
``docs/project/benchmarks.md`` has figures and conditions.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_type
from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import PreparedGround
from ai_core.paths.searches.jump_loops import LONGEST_SIDE, JumpDistances, JumpSearch

__all__ = ["JumpTable"]

STRAIGHT, DIAGONAL = (1, 3, 4, 6), (0, 2, 5, 7)
"""Numbers of the moves along rows and columns, and of the others, in ``SQUARE_8``."""

LINES_PER_LOOK = 16
"""Lines between two checks of the budget (count): 50 µs at 512 cells per line."""

WORTHWHILE_CELLS = 3.0
"""Mean length of straight jumps (cells) from which searches with jumps are faster. It is 2 on a third of
random walls, where jumps halve the speed, and 10 or more on game maps."""

MOST_SAMPLED = 4096
"""Cells from which the mean length of jumps is found (count): 20 µs."""

MOST_CHANGED = 64
"""Number of changed cells (count) above which a new table costs less than an update."""


class JumpTable(PreparedGround):
    """Jump distances of one passage. Interruptible work: advance it until it is done.

    Args:
        passage: passage with 8 neighbors, closed corners and a single cost; see ``suits``.

    Raises:
        TypeError: if ``passage`` is not a GridPassage.
        ValueError: if the passage does not support jumps.

    Cost: 16 bytes per cell, after a first change 17. 512 × 512 cells take about 10 ms.
    """

    SHOWN = ("passage", "progress")

    def __init__(self, passage: GridPassage) -> None:
        check_type("passage", passage, GridPassage)
        if not self.suits(passage):
            raise ValueError(
                "passage must have 8 neighbors, closed corners, one cost for all cells, and sides of"
                f" at most {LONGEST_SIDE} cells; search others without a JumpTable")
        self.passage = passage
        self._jumps: NDArray[np.int16] = np.zeros((*passage.shape, 8), np.int16)
        self._distances = JumpDistances(passage.open_moves, self._jumps)
        height, width = passage.shape
        self._lines = [(move, height if SQUARE_8[move][0] else width) for move in (*STRAIGHT, *DIAGONAL)]
        self._all = sum(count for _, count in self._lines)
        self._version = passage.version
        self._done: int = 0
        self._mean_jump: float | None = None

    @staticmethod
    def suits(passage: GridPassage) -> bool:
        """Return whether the current passage supports jumps."""
        return (
            len(passage.moves.lengths) == 8 and passage.corners == "closed" and passage.is_uniform
            and max(passage.shape) <= LONGEST_SIDE)

    @property
    def is_done(self) -> bool:
        """True if the table is complete and valid for the current cells."""
        return bool(self._done == self._all and self._version == self.passage.version)

    @property
    def progress(self) -> float:
        """Share of the lines that are computed, 0 to 1."""
        return self._done / self._all

    @property
    def is_worthwhile(self) -> bool:
        """True if jumps are long enough to make searches faster; False until the table is done."""
        if not self.is_done:
            return False
        if self._mean_jump is None:
            straight = np.abs(self._sampled()[:, list(STRAIGHT)])
            self._mean_jump = int(straight.sum(dtype=np.int64)) / max(1, int(np.count_nonzero(straight)))
        return self._mean_jump >= WORTHWHILE_CELLS

    def _sampled(self) -> NDArray[np.int16]:
        """Return the jumps of all cells, or of some in all rows and columns: all of a large grid take a millisecond."""
        step = max(1, self.passage.costs.size // MOST_SAMPLED)
        while math.gcd(step, self.passage.shape[1]) > 1:
            step += 1
        return self._jumps.reshape(-1, 8)[::step]

    def search(self) -> JumpSearch:
        """Return memory for consecutive searches; valid while ``is_done``."""
        return JumpSearch(self.passage.open_moves, self._jumps)

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent; a line is a step, and so is an update.

        Raises:
            RuntimeError: if the table was cancelled.
            ValueError: if the passage no longer supports jumps.
        """
        self._check_goes_on(budget)
        if self._version != self.passage.version:
            self._follow(budget)
        while self._done < self._all:
            count = self._write(LINES_PER_LOOK)
            budget.spend(count)
            if budget.is_spent:
                return

    def _follow(self, budget: Budget) -> None:
        """Update the table for changed cells, or restart if that is less work."""
        if not self.suits(self.passage):
            raise ValueError(
                "passage must have one cost for all cells, but a changed cell has another cost; search without jumps")
        changed = self.passage.changed_since(self._version)
        self._version, self._mean_jump = self.passage.version, None
        if self._done < self._all or changed is None or len(changed) > MOST_CHANGED:
            self._done = 0
            return
        self._distances.repair(changed)
        budget.spend()

    def _write(self, most: int) -> int:
        """Compute up to ``most`` lines of one direction; return their number."""
        begun = self._done
        for move, count in self._lines:
            if begun < count:
                last = min(count, begun + most)
                self._distances.fill_lines(move, begun, last)
                self._done += last - begun
                return last - begun
            begun -= count
        return 0
