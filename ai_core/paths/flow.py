"""What a flow field knows of each cell: what its way costs, and which cell is next on it."""
from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.passage import Passage
from ai_core.paths.bucket_search import BucketSearch
from ai_core.paths.canonical_field import FAR, CanonicalField
from ai_core.paths.canonical_moves import AT_ONCE, costs_of
from ai_core.paths.walking_search import NOWHERE

__all__ = ["EvenFlow", "Flow", "UnevenFlow"]

Cells = NDArray[np.integer] | slice


class Flow(Protocol):
    """A field that is made, and then asked for some cells or, by a slice, for all."""

    @property
    def heart(self) -> BucketSearch | CanonicalField:
        """What makes it."""

    def finish(self) -> bool:
        """Take what the heart found, which is done; return whether that is all."""

    def costs_of(self, cells: Cells) -> NDArray[np.float64]:
        """Return what ways cost, ``inf`` without one."""

    def next_of(self, cells: Cells) -> NDArray[np.int32]:
        """Return the next cells, goals themselves, ``NOWHERE`` without a way."""


class EvenFlow:
    """Where every cell costs the same: lengths and moves, 5 bytes a cell."""

    def __init__(self, passage: Passage, goals: NDArray[np.int32], heart: CanonicalField) -> None:
        self.heart = heart
        self._cost = passage.least_cost
        self._lengths = np.empty(passage.costs.size, np.uint32)
        self._moves = np.empty(passage.costs.size, np.uint8)
        steps = [down * passage.shape[1] + right for down, right in passage.moves.even]
        self._back = -np.array([*steps, 0], np.int32)       # the last for AT_ONCE
        heart.begin(goals, self._lengths, self._moves)

    def finish(self) -> bool:
        """As ``Flow`` says."""
        return not self.heart.is_too_far

    def costs_of(self, cells: Cells) -> NDArray[np.float64]:
        """As ``Flow`` says."""
        lengths = self._lengths[cells]
        return np.where(lengths == FAR, np.inf, costs_of(lengths, self._cost))

    def next_of(self, cells: Cells) -> NDArray[np.int32]:
        """As ``Flow`` says."""
        back = self._back[np.minimum(self._moves[cells], AT_ONCE)]      # anything where no way is
        numbers = np.arange(back.size, dtype=np.int32) if isinstance(cells, slice) else cells
        return np.where(self._lengths[cells] == FAR, NOWHERE, numbers + back).astype(np.int32)


class UnevenFlow:
    """On any grid: costs and next cells, 12 bytes a cell."""

    def __init__(self, passage: Passage, goals: NDArray[np.int32], heart: BucketSearch) -> None:
        self.heart = heart
        self._costs = np.empty(passage.costs.size)
        self._next = np.empty(passage.costs.size, np.int32)
        heart.spread(goals, passage.least_cost, passage.most_cost)

    def finish(self) -> bool:
        """As ``Flow`` says."""
        self.heart.flow(self._costs, self._next)
        return True

    def costs_of(self, cells: Cells) -> NDArray[np.float64]:
        """As ``Flow`` says."""
        return self._costs[cells]

    def next_of(self, cells: Cells) -> NDArray[np.int32]:
        """As ``Flow`` says."""
        return self._next[cells]
