"""What JPS+ knows of a grid beforehand: how far one may jump from every cell, in every direction.

Built as long work, and mended where cells change. Beside A*, compiled, paths over maps of games take a half to a
fifteenth of the time, in the corridors of a maze a thirteenth to a hundredth, the longer times where caches are cold;
on noise and between ragged walls as long. ``docs/benchmarks.md`` has the figures and their conditions.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ai_core.paths.searches.jump_distances as jump_distances
import ai_core.paths.searches.jump_search as jump_search
from ai_core.budget import Budget
from ai_core.errors import shown
from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.passage import Passage
from ai_core.paths.searches.jump_distances import DIAGONAL, LONGEST_SIDE, STRAIGHT
from ai_core.paths.searches.jump_search import JumpSearch
from ai_core.scheduling.interruptible import Cancellable

__all__ = ["JumpTable"]

LINES_PER_LOOK = 16
"""Lines between two looks at the budget: 50 µs compiled on a side of 512 cells, 0.4 ms interpreted."""

WORTHWHILE_CELLS = 3.0
"""Mean straight jump (cells) from which on jumping beats walking: 2 on a third of random walls,
where it is half as fast as a plain search, 10 and more on maps of games."""

MOST_CHANGED = 64
"""Cells changed at once (count) above which a new table costs less than mending."""


class JumpTable(Cancellable):
    """The jumps of one passage. Interruptible work: advance it until it is done.

    Args:
        passage: of 8 neighbors with closed corners, where every cell costs the same;
            ``suits`` tells.

    Raises:
        TypeError: if it is no passage.
        ValueError: if it does not suit.

    Cost: 16 bytes a cell. 512 × 512 cells take some 10 ms compiled, 100 ms interpreted.
    """

    def __init__(self, passage: Passage) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        if not self.suits(passage):
            raise ValueError(
                "passage must have 8 neighbors, closed corners, one cost for all cells, and sides of"
                f" at most {LONGEST_SIDE} cells, for others there are no jumps; search without a JumpTable"
            )
        self.passage = passage
        self._jumps: NDArray[np.int16] = np.zeros((*passage.shape, 8), np.int16)
        height, width = passage.shape
        self._lines: list[tuple[int, int]] = [
            (move, height if SQUARE_8[move][0] else width) for move in (*STRAIGHT, *DIAGONAL)
        ]
        self._all = sum(count for _, count in self._lines)
        self._version = passage.version
        self._done: int = 0
        self._mean_jump: float | None = None

    @staticmethod
    def suits(passage: Passage) -> bool:
        """Return whether there can be jumps on a passage as it is now."""
        return (
            len(passage.moves.lengths) == 8 and passage.corners == "closed" and passage.is_uniform
            and max(passage.shape) <= LONGEST_SIDE
        )

    @property
    def is_done(self) -> bool:
        """True if the jumps are there and the passage is as it was; False again once cells changed."""
        return bool(self._done == self._all and self._version == self.passage.version)

    @property
    def progress(self) -> float:
        """Share of the lines that are written."""
        return self._done / self._all

    @property
    def result(self) -> JumpTable:
        """Itself.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return self

    @property
    def is_worthwhile(self) -> bool:
        """True if jumps are long enough to be faster than plain searches; False until it is done."""
        if not self.is_done:
            return False
        if self._mean_jump is None:
            straight = np.abs(self._jumps[:, :, list(STRAIGHT)])
            self._mean_jump = int(straight.sum(dtype=np.int64)) / max(1, int(np.count_nonzero(straight)))
        return self._mean_jump >= WORTHWHILE_CELLS

    def search(self) -> JumpSearch:
        """Return memory for searches, one after the other; of use while ``is_done``."""
        return jump_search.jump_search(self.passage.open_moves, self._jumps)

    def advance(self, budget: Budget, /) -> None:
        """Go on until done or the budget is spent; a line is a step, and mending is one.

        Raises:
            RuntimeError: if it was cancelled.
            ValueError: if the passage does not suit any more.
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
        """Mend what changed, or begin anew where that is less work."""
        if not self.suits(self.passage):
            raise ValueError("passage must have one cost for all cells; a cell changed, so there are no jumps any more")
        changed = self.passage.changed_since(self._version)
        self._version, self._mean_jump = self.passage.version, None
        if self._done < self._all or changed is None or len(changed) > MOST_CHANGED:
            self._done = 0
            return
        jump_distances.mend_jumps(self.passage.open_moves, self._jumps, changed)
        budget.spend()

    def _write(self, most: int) -> int:
        """Write up to so many lines of one direction; return how many."""
        begun = self._done
        for move, count in self._lines:
            if begun < count:
                last = min(count, begun + most)
                jump_distances.fill_lines(self.passage.open_moves, self._jumps, move, begun, last)
                self._done += last - begun
                return last - begun
            begun -= count
        return 0
