"""Flow fields: from every cell the next one on the cheapest way to the same goals.

One search serves any number of movers, each of which asks an array where to go.
"""
from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.errors import as_array, shown, whole_number
from ai_core.maps.passage import Passage
from ai_core.paths.path import Path
from ai_core.paths.searches.bucket_search import BucketSearch
from ai_core.paths.searches.called_back_search import goals_on
from ai_core.paths.searches.canonical_field import FAR, CanonicalField
from ai_core.paths.searches.canonical_moves import AT_ONCE, costs_of, suits
from ai_core.paths.searches.search import CELLS_PER_LOOK, Goals
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.searches.walking_search import NOWHERE
from ai_core.scheduling.interruptible import Cancellable

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


class FlowField(Cancellable):
    """Where to go from every cell of a passage. Interruptible work: advance it until it is done.

    When cells change while it is made, it begins anew. When they change later it goes
    on to say what was right before, ``is_current`` turns False, and ``advance`` makes it
    anew: until that is done the old one holds.

    Args:
        passage: where.
        goals: a cell, or several of which any will do.
        memory: what it writes into; None makes its own.

    Raises:
        TypeError: if they are of another type; a function does not do for goals here.
        ValueError: if a goal is not on the grid, or there is none.

    Cost: O(cells), and every cell is a step: with 8 neighbors, closed corners and one cost for all 512 × 512
        take some 1 ms compiled, 0.1 s interpreted, and 5 bytes a cell; else some 7 ms, 1 s and 12 bytes. Cells in
        a straight line are written at once, so that a slice may be some hundred cells too long.
    """

    def __init__(self, passage: Passage, goals: Goals, *, memory: SearchMemory | None = None) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        checked = goals_on(passage.costs.size, goals)
        if callable(checked):
            raise TypeError("goals must be cells, got a function; search for one with AStarSearch")
        self._passage, self._goals = passage, checked
        self._memory = memory or SearchMemory(passage)
        self._version: int | None = None
        self._is_made = False
        self._made_of = -1
        self._making: Flow
        self._flow: Flow | None = None
        self._costs: NDArray[np.float64] | None = None
        self._next_cells: NDArray[np.int32] | None = None

    @property
    def costs(self) -> NDArray[np.float64]:
        """What the way from each cell to a goal costs, (height, width) float64; ``inf`` without one.

        Cost: O(cells) when it is asked first, some 2 ms for 512 × 512; ``costs_of`` asks for a few.

        Raises:
            RuntimeError: if it is not done.
        """
        if self._costs is None:
            self._costs = self._known().costs_of(slice(None)).reshape(self._passage.shape)
        return self._costs

    @property
    def next_cells(self) -> NDArray[np.int32]:
        """The next cell from each, (height, width) int32; a goal itself; ``NOWHERE`` where there is no way.

        Cost: O(cells) when it is asked first, some 1 ms for 512 × 512; ``next_of`` asks for a few.

        Raises:
            RuntimeError: if it is not done.
        """
        if self._next_cells is None:
            self._next_cells = self._known().next_of(slice(None)).reshape(self._passage.shape)
        return self._next_cells

    @property
    def is_done(self) -> bool:
        """True once it says where to go, also when cells changed since."""
        return self._is_made

    @property
    def is_current(self) -> bool:
        """True if it says what is right for the cells as they are now."""
        return self._is_made and self._made_of == self._passage.version

    @property
    def result(self) -> FlowField:
        """Itself.

        Raises:
            RuntimeError: if it is not done.
        """
        self._known()
        return self

    def advance(self, budget: Budget, /) -> None:
        """Go on until it is current or the budget is spent.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        if self.is_current:
            return
        if self._version != self._passage.version:
            self._memory.take(self._passage, self)
            self._version = self._passage.version
            self._begin(evenly=suits(self._passage))
        while True:
            budget.spend(self._making.heart.advance(budget.steps_at_once(CELLS_PER_LOOK)))
            if not self._making.heart.is_done:
                if budget.is_spent:
                    return
            elif self._making.finish():
                break
            else:
                self._begin(evenly=False)
        self._flow, self._costs, self._next_cells = self._making, None, None
        self._is_made, self._made_of, self._version = True, self._version, None
        self._memory.holder = None

    def cancel(self) -> None:
        """Give up; does nothing when it is done."""
        super().cancel()
        if self._is_cancelled and self._memory.holder is self:
            self._memory.holder = None

    def next_of(self, cells: ArrayLike) -> NDArray[np.int32]:
        """Return for many movers the cell each goes to next; for one at a goal, or without a way, its own.

        Args:
            cells: (n,), where they are.

        Raises:
            RuntimeError: if it is not done.
            TypeError: if they are no whole numbers.
            ValueError: if one is not on the grid.

        Cost: O(n).
        """
        numbers = self._checked(cells)
        following = self._known().next_of(numbers)
        return np.where(following == NOWHERE, numbers, following).astype(np.int32)

    def costs_of(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return for many movers what their ways cost, ``inf`` without one.

        Args:
            cells: (n,), where they are.

        Raises:
            RuntimeError: if it is not done.
            TypeError: if they are no whole numbers.
            ValueError: if one is not on the grid.

        Cost: O(n).
        """
        return self._known().costs_of(self._checked(cells))

    def way_from(self, cell: int) -> Path:
        """Return the whole way of one mover.

        Raises:
            RuntimeError: if it is not done.
            TypeError: if it is no whole number.
            ValueError: if it is not on the grid.

        Cost: O(cells of the way).
        """
        following = self.next_cells.reshape(-1)
        cell = whole_number("cell", cell, minimum=0, maximum=len(following) - 1)
        if following[cell] == NOWHERE:
            return Path("none", np.zeros(0, np.int32), math.inf, 0)
        cells = [cell]
        while following[cells[-1]] != cells[-1]:
            cells.append(int(following[cells[-1]]))
        return Path("found", np.array(cells, np.int32), float(self.costs_of([cell])[0]), 0)

    def _begin(self, *, evenly: bool) -> None:
        """Begin to make it; one way is many times faster, but not for every ground."""
        self._making = (
            EvenFlow(self._passage, self._goals, self._memory.even_field()) if evenly
            else UnevenFlow(self._passage, self._goals, self._memory.spreading()))

    def _known(self) -> Flow:
        if self._flow is None:
            raise RuntimeError("the flow field is not done; advance it until is_done")
        return self._flow

    def _checked(self, cells: ArrayLike) -> NDArray[np.integer]:
        numbers, last = as_array("cells", cells), self._passage.costs.size - 1
        if numbers.dtype.kind not in "iu" and numbers.size:
            raise TypeError(f"cells must be whole numbers, got {shown(cells)}")
        if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) <= last):
            raise ValueError(f"cells must be 0 to {last}, got {shown(cells)}")
        return numbers.astype(np.intp, copy=False)


__all__ = ["EvenFlow", "Flow", "FlowField", "UnevenFlow"]
