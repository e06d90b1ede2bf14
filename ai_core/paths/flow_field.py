"""Flow fields: for every cell, the next cell on the cheapest path to shared goals."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.errors import check_kind, check_type, indices
from ai_core.maps.passage import GridPassage, PassageCopy
from ai_core.paths.path import PreparedGround
from ai_core.paths.searches.callback_search import check_goals
from ai_core.paths.searches.canonical_moves import AT_ONCE, costs_of, suits
from ai_core.paths.searches.grid_search_loops import FAR, NOWHERE, UniformField, WeightedSearch
from ai_core.paths.searches.search import CELLS_PER_LOOK, MOST_RESTARTS, Goals
from ai_core.paths.searches.search_memory import SearchMemory

Cells = NDArray[np.integer] | slice


class UniformFlow:
    """One field on a grid with a single cost, read for some cells, or for all by a slice: 5 bytes per cell."""

    def __init__(self, passage: GridPassage, goals: NDArray[np.int32], core: UniformField) -> None:
        self.core = core
        self._cost = passage.least_cost
        self._lengths = np.empty(passage.costs.size, np.uint32)
        self._moves = np.empty(passage.costs.size, np.uint8)
        steps = [down * passage.shape[1] + right for down, right in passage.moves.even]
        self._back = -np.array([*steps, 0], np.int32)       # the last entry is for AT_ONCE
        core.begin(goals, self._lengths, self._moves)

    def finish(self) -> bool:
        """Store the result of the finished search; return False if the field needs another search."""
        return not self.core.is_too_far

    def costs_of(self, cells: Cells) -> NDArray[np.float64]:
        """Return the costs of the paths, ``inf`` without a path."""
        lengths = self._lengths[cells]
        return np.where(lengths == FAR, np.inf, costs_of(lengths, self._cost))

    def next_of(self, cells: Cells) -> NDArray[np.int32]:
        """Return the next cells: a goal itself for goals, ``NOWHERE`` without a path."""
        back = self._back[np.minimum(self._moves[cells], AT_ONCE)]      # arbitrary where there is no path
        numbers = np.arange(back.size, dtype=np.int32) if isinstance(cells, slice) else cells
        return np.where(self._lengths[cells] == FAR, NOWHERE, numbers + back).astype(np.int32)


class WeightedFlow:
    """The same on any grid: costs and next cells, 12 bytes per cell."""

    def __init__(self, passage: GridPassage, goals: NDArray[np.int32], core: WeightedSearch) -> None:
        self.core = core
        self._costs = np.empty(passage.costs.size)
        self._next = np.empty(passage.costs.size, np.int32)
        core.spread(goals, passage.least_cost, passage.most_cost)

    def finish(self) -> bool:
        """Store the result of the finished search."""
        self.core.flow(self._costs, self._next)
        return True

    def costs_of(self, cells: Cells) -> NDArray[np.float64]:
        """Return the costs of the paths, as ``UniformFlow`` does."""
        return self._costs[cells]

    def next_of(self, cells: Cells) -> NDArray[np.int32]:
        """Return the next cells, as ``UniformFlow`` does."""
        return self._next[cells]


class FlowField(PreparedGround):
    """Next cell towards the goals, for every cell of a passage. Interruptible work: advance it until it is done.

    If cells change during the search, it restarts; after ``MOST_RESTARTS`` it goes on with a copy of the cells, so that
    it ends however often they change. If cells change later, ``is_current`` becomes False and ``advance`` computes
    a new field; the old one stays in use until the new one is done.

    Args:
        passage: passage of the grid.
        goals: goal cell, or several cells; the nearest one counts.
        memory: memory of the search; None creates one.

    Raises:
        TypeError: if an argument has the wrong type; a function is not accepted for goals.
        ValueError: if a goal is outside the grid, or there is no goal.

    Attributes:
        version: version of the passage that the field belongs to; -1 before the first.

    Cost: O(cells); each cell is a step. With 8 neighbors, closed corners and a single cost, 512 × 512 cells take
        about 1 ms compiled, 0.1 s interpreted, and 5 bytes per cell; otherwise about 7 ms, 1 s and 12 bytes.
        Cells in a straight line are written together, so that a slice may exceed its budget by a few hundred cells.
    """

    SHOWN = ("progress",)

    def __init__(self, passage: GridPassage, goals: Goals, *, memory: SearchMemory | None = None) -> None:
        check_type("passage", passage, GridPassage)
        checked = check_goals(passage.costs.size, goals)
        if callable(checked):
            raise TypeError("goals must be cells, got a function; use AStarSearch for a function")
        self._passage, self._goals = passage, checked
        check_kind("memory", memory, SearchMemory)
        self._memory = self._working = memory or SearchMemory(passage)
        self._version: int | None = None
        self._ground, self._restarts = passage, 0
        self._copy: PassageCopy | None = None
        self._is_made = False
        self.version = -1
        self._making: UniformFlow | WeightedFlow
        self._flow: UniformFlow | WeightedFlow | None = None
        self._costs: NDArray[np.float64] | None = None
        self._next_cells: NDArray[np.int32] | None = None

    @property
    def costs(self) -> NDArray[np.float64]:
        """Cost of the path from each cell to a goal, (height, width) float64; ``inf`` without a path.

        Cost: O(cells) on the first access, about 2 ms for 512 × 512; use ``costs_of`` for a few cells.

        Raises:
            RuntimeError: if the field is not done.
        """
        if self._costs is None:
            self._costs = self._known().costs_of(slice(None)).reshape(self._passage.shape)
        return self._costs

    @property
    def next_cells(self) -> NDArray[np.int32]:
        """Next cell from each cell, (height, width) int32: a goal itself for goals, ``NOWHERE`` without a path.

        Cost: O(cells) on the first access, about 1 ms for 512 × 512; use ``next_of`` for a few cells.

        Raises:
            RuntimeError: if the field is not done.
        """
        if self._next_cells is None:
            self._next_cells = self._known().next_of(slice(None)).reshape(self._passage.shape)
        return self._next_cells

    @property
    def is_done(self) -> bool:
        """True once a field is available, even if cells have changed since."""
        return self._is_made

    @property
    def is_current(self) -> bool:
        """True if the field is valid for the current cells."""
        return self._is_made and self.version == self._passage.version

    def advance(self, budget: Budget, /) -> None:
        """Continue until the field is current or the budget is spent.

        Raises:
            RuntimeError: if the field was cancelled.
        """
        self._check_goes_on(budget)
        if self.is_current:
            return
        if self._version is None or (self._version != self._passage.version and self._ground is self._passage):
            self._restart()
        if self._copy is not None:
            self._copy.advance(budget)
            if not self._copy.is_done:
                return
            self._ground, self._copy = self._copy.result, None
            self._start(SearchMemory(self._ground))
            if budget.is_spent:
                return
        while True:
            budget.spend(self._making.core.advance(budget.steps_at_once(CELLS_PER_LOOK)))
            if not self._making.core.is_done:
                if budget.is_spent:
                    return
            elif self._making.finish():
                break
            else:
                self._begin(evenly=False)
        self._flow, self._costs, self._next_cells = self._making, None, None
        assert self._version is not None
        self._is_made, self.version = True, self._version
        if self.version == self._passage.version:
            self._restarts = 0
        self._leave()

    def cancel(self) -> None:
        """Cancel the search; a field that is done stays in use, and an unfinished new one is dropped."""
        super().cancel()
        self._leave()

    def _leave(self) -> None:
        self._version, self._ground, self._copy = None, self._passage, None
        if self._memory.holder is self:
            self._memory.holder = None

    def _restart(self) -> None:
        if self._version is not None:
            self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            self._leave()
            self._copy = PassageCopy(self._passage)
            self._ground, self._version = self._copy.result, self._passage.version
        else:
            self._memory.take(self._passage, self)
            self._start(self._memory)

    def _start(self, memory: SearchMemory) -> None:
        self._version, self._working = self._ground.version, memory
        self._begin(evenly=suits(self._ground))

    def next_of(self, cells: ArrayLike) -> NDArray[np.int32]:
        """Return the next cell of each mover; its own cell at a goal or without a path.

        Args:
            cells: (n,) int, cells of the movers.

        Raises:
            RuntimeError: if the field is not done.
            TypeError: if cells are not integers.
            ValueError: if a cell is outside the grid.

        Cost: O(n).
        """
        numbers = self._checked(cells)
        following = self._known().next_of(numbers)
        return np.where(following == NOWHERE, numbers, following).astype(np.int32)

    def costs_of(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of the path of each mover, ``inf`` without a path.

        Args:
            cells: (n,) int, cells of the movers.

        Raises:
            RuntimeError: if the field is not done.
            TypeError: if cells are not integers.
            ValueError: if a cell is outside the grid.

        Cost: O(n).
        """
        return self._known().costs_of(self._checked(cells))

    def _begin(self, *, evenly: bool) -> None:
        """Begin the search; the one for grids of a single cost is many times faster."""
        self._making = (
            UniformFlow(self._ground, self._goals, self._working.uniform_field()) if evenly
            else WeightedFlow(self._ground, self._goals, self._working.spreading()))

    def _known(self) -> UniformFlow | WeightedFlow:
        if self._flow is None:
            raise RuntimeError("the flow field is not done; call advance until is_done is True")
        return self._flow

    def _checked(self, cells: ArrayLike) -> NDArray[np.integer]:
        return indices("cells", cells, self._passage.costs.size)


__all__ = ["FlowField", "UniformFlow", "WeightedFlow"]
