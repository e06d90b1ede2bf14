"""Anytime search (ARA*): a quick first path, and cheaper ones the longer the search runs.

The mover need not wait: it walks along ``best`` and reports its place with ``move_start``; the
results so far stay valid for the rest of the path.
"""
from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_kind, check_type, shown, whole_number
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import Path, path_record
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.callback_search import check_goals
from ai_core.paths.searches.canonical_moves import suits
from ai_core.paths.searches.cells_along import costs_along, is_path
from ai_core.paths.searches.search import CELLS_PER_LOOK, MOST_RESTARTS, AStarSearch, Goals
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import ArrayOf, Number, OneOf, Optional, Whole
from ai_core.scheduling.interruptible import Interruptible

__all__ = ["AnytimeSearch"]

FIRST_WEIGHT = 5.0
"""Weight of estimates in the first round. On game maps and on noise, a smaller weight expands more
cells before the first path, and a larger one finds more expensive paths."""

SECOND_WEIGHT = 1.5
"""Weight in the second round, which is skipped if the path is known to be as good. More than three
rounds cost more than they gain: most cells would be expanded again."""

POOR_BOUND = 4.0
"""Bound after the first round above which the second is skipped: estimates are useless there, as in a
maze, and a second round would expand nearly all cells again."""


def _last_cell(search: Any) -> int:
    last: int = search._passage.costs.size - 1
    return last


class AnytimeSearch(Interruptible, Saveable):
    """Search for a path on a grid that is found quickly and then improved, in slices. Anytime work.

    ``bound`` limits the ratio of the cost of ``best`` to the lowest cost; at the end it is 1, and the
    cost is that of A*. If no goal can be reached, the search ends with the result of ``AStarSearch``: the
    path to the nearest cell, or none. If cells change, the search restarts from the best path so far,
    provided it is still open; ``restarts`` counts these. After ``MOST_RESTARTS`` an ``AStarSearch`` ends it, which may
    leave a bound above 1 if cells change meanwhile.

    Args:
        passage: passage of the grid.
        start: cell of the mover.
        goals: goal cell, or several cells.
        known: initial path from the start to a goal, for example of ``RegionSearch``; it is checked.
        regions: regions of the passage, done, over which the first path to a single goal is searched: sooner in a
            maze, where estimates mislead. If cells change or the mover moves before, the search continues without.
        memory: memory of the search; None creates one.

    Raises:
        TypeError: if an argument has the wrong type; a function is not accepted for goals.
        ValueError: if a cell is outside the grid, the known path is not open, the memory belongs to
            another passage or is in use, or there are regions and several goals.
        RuntimeError: if the regions are not done.

    Attributes:
        start: cell of the mover.
        restarts: number of restarts because cells changed or the mover left the path.
        expanded: number of expanded cells.

    Cost: O(cells) for each of at most three rounds. The first path takes a few hundred cells on open
        ground, but in a maze nearly as many as A*: pass a known path there.
    Source: Likhachev, Gordon, Thrun 2003; 000_execution_management, anytime algorithms.

    >>> from ai_core.maps.grid import Grid
    >>> search = AnytimeSearch(Grid([[True] * 9] * 9).passage(), 0, 80)
    >>> search.advance(Budget.of_steps(20))
    >>> search.best.is_found, search.bound < 1.5
    (True, True)
    """

    SHOWN = ("quality", "bound", "progress")

    # The passage and the expanded cells are not saved; costs of the path are those of the present passage.
    STATE = DeclaredState(
        start=Whole(0, _last_cell),
        goals=ArrayOf(np.int32, minimum=0, maximum=_last_cell, is_ascending=True, at="_goals"),
        state=OneOf(("going", "done", "cancelled"), at="_state"),
        best=Optional(path_record(_last_cell, bound=Number(1, absent=math.inf)), at="_best"),
        restarts=Whole(), expanded=Whole())

    def __init__(
        self, passage: GridPassage, start: int, goals: Goals, *, known: Path | None = None,
        regions: RegionGraph | None = None, memory: SearchMemory | None = None,
    ) -> None:
        check_type("passage", passage, GridPassage)
        checked = check_goals(passage.costs.size, goals)
        if callable(checked):
            raise TypeError("goals must be cells, got a function; use AStarSearch for a function")
        self.start = whole_number("start", start, minimum=0, maximum=passage.costs.size - 1)
        if known is not None and not (isinstance(known, Path) and known.is_found):
            raise TypeError(f"known must be a Path that is found, or None, got {shown(known)}")
        if known is not None and not is_path(passage, known.cells, self.start, checked):
            raise ValueError("known must lead from the start to a goal by open moves; search it on the same passage")
        if regions is not None and (regions.passage is not passage or len(checked) > 1):
            raise ValueError("regions must be of the passage, and the goal a single cell; leave out regions")
        self._passage, self._goals = passage, checked
        self._over: RegionSearch | AStarSearch | None = (
            None if regions is None else RegionSearch(regions, self.start, int(checked[0])))
        check_kind("memory", memory, SearchMemory)
        self._memory = memory or SearchMemory(passage)
        self._memory.take(passage, self)
        self._core = self._memory.repairing()
        self._weight = 0.0
        self._costs = np.zeros(0)       # from each cell of the best path to the goal
        self._last: AStarSearch | None = None
        self._best: Path | None = None
        self._is_done = self._is_cancelled = False
        self.restarts = self.expanded = 0
        self._begin(None if known is None else known.cells, self.start)

    @property
    def best(self) -> Path | None:
        """Best path so far from ``start``, with its bound at the last update; None if none is found yet."""
        return self._best

    @property
    def bound(self) -> float:
        """Upper limit of the cost of ``best`` divided by the lowest cost: 1 at the end, ``inf`` without a path."""
        if self._best is None:
            return math.inf
        if self._is_done:
            return self._best.bound
        least = self._core.least
        if self._best.cost <= least:
            return 1.0
        return self._best.cost / least if least > 0 else math.inf

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1: the reciprocal of ``bound``."""
        return 1 / self.bound

    @property
    def is_done(self) -> bool:
        """True when ``best`` is the cheapest path, or no path exists."""
        return self._is_done

    @property
    def progress(self) -> float:
        """Progress of the search: the quality so far."""
        return self.quality

    @property
    def result(self) -> Path:
        """The cheapest path.

        Raises:
            RuntimeError: if the search is not done.
        """
        if not self._is_done or self._best is None:
            raise RuntimeError("the search is not done; call advance until is_done is True, or read best")
        return self._best

    def cancel(self) -> None:
        """Cancel the search; does nothing when it is done. ``best`` stays available."""
        super().cancel()
        self._leave_regions()
        self._leave()

    def move_start(self, cell: int) -> None:
        """Report the cell of the mover.

        On the best path, all results stay valid, and the rest of the path becomes the best path. Without a
        path, the search continues for the new cell. Beside the path, the search restarts from the new cell.

        Raises:
            TypeError, ValueError: if ``cell`` is not a cell of the grid, or a finished search has to restart
                while another search uses the memory.
            RuntimeError: if the search was cancelled.

        Cost: O(cells in the queue and of the path).
        """
        self._check_not_cancelled()
        cell = whole_number("cell", cell, minimum=0, maximum=self._passage.costs.size - 1)
        if cell == self.start:
            return
        self._leave_regions()
        best = self._best
        if best is None and self._last is None:
            self.start = cell
            self._core.repair(cell, self._weight)
            return
        passed = int((best.cells == cell).argmax()) if best is not None and cell in best.cells else -1
        if best is None or passed < 0:
            self._begin(None, cell)
            self.restarts += 1
            return
        self.start = cell
        if not best.is_found:
            rest = best.cells[passed:]
            self._best = Path(best.state, rest, float(costs_along(self._passage, rest)[0]), best.expanded)
            return
        if not self._is_done:
            self._core.repair(cell, self._weight)      # updates the lower bound for the new start
        self._costs = self._costs[passed:]
        self._keep(best.cells[passed:])

    def advance(self, budget: Budget, /) -> None:
        """Continue until a better path is found, the search is done, or the budget is spent.

        At least one batch of cells is expanded.

        Raises:
            RuntimeError: if the search was cancelled.
        """
        self._check_goes_on(budget)
        if self._is_done:
            return
        if self._passage.version != self._version:
            whole = self._over if isinstance(self._over, AStarSearch) else None
            if whole is None:
                self._leave_regions()
            self.restarts += 1
            old = self._best.cells if self._best is not None else np.zeros(0, np.int32)
            self._begin(old if is_path(self._passage, old, self.start, self._goals) else None, self.start)
            if self.restarts > MOST_RESTARTS:
                self._over = whole or AStarSearch(self._passage, self.start, self._goals)
        if self._over is not None:
            self._look_over_regions(self._over, budget)
            return
        before = math.inf if self._best is None else self._best.cost
        while not self._is_done:
            if self._last is None:
                self._look(budget)
            else:
                self._look_for_nearest(budget)
            if budget.is_spent or (self._best is not None and self._best.cost < before):
                return

    @property
    def _state(self) -> str:
        return "done" if self._is_done else "cancelled" if self._is_cancelled else "going"

    @_state.setter
    def _state(self, state: str) -> None:
        self._is_done, self._is_cancelled = state == "done", state == "cancelled"

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if not len(values.goals):
            refuse("goals", "must be at least one cell, got none")
        if self._memory.holder not in (None, self, self._last):
            raise StateError("the memory is in use by another search; finish or cancel that before loading")

    def _finish_load(self) -> None:
        """Continue from the loaded path, or restart if it is no longer open."""
        self._leave_regions()
        was_done, passage = self._is_done, self._passage
        kind, cells = ("none", np.zeros(0, np.int32)) if self._best is None else (self._best.state, self._best.cells)
        bound = 1.0 if self._best is None else self._best.bound
        is_open = is_path(passage, cells, self.start, self._goals)
        self._begin(cells if is_open else None, self.start)
        is_kept = is_open or (kind != "found" and is_path(passage, cells, self.start, cells[-1:]))
        if was_done and (is_kept or kind == "none"):
            self._costs = costs_along(passage, cells) if len(cells) else np.full(1, math.inf)
            self._best = Path(kind, cells, float(self._costs[0]), self.expanded)
            self._end(bound)
        elif self._is_cancelled:
            self._leave()

    def _look_over_regions(self, over: RegionSearch | AStarSearch, budget: Budget) -> None:
        over.advance(budget)
        if not over.is_done:
            return
        self._over, found = None, over.result
        if found.is_found and (self._best is None or found.cost < self._best.cost):
            self._begin(found.cells, self.start)
        if isinstance(over, RegionSearch):
            return
        bound = self.bound
        if self._best is None:
            self._best = found
        elif found.is_found:
            bound = max(1.0, self._best.cost / found.cost * found.bound) if found.cost else 1.0
        self._end(bound)

    def _leave_regions(self) -> None:
        if self._over is not None:
            self._over.cancel()
            self._over = None

    def _look(self, budget: Budget) -> None:
        core = self._core
        expanded = core.advance(budget.steps_at_once(CELLS_PER_LOOK))
        self.expanded += expanded
        budget.spend(expanded)
        if core.cost < (math.inf if self._best is None else self._best.cost):
            self._learn_way()
        if not core.is_done:
            return
        if core.cost == math.inf:
            self._leave()
            self._last = AStarSearch(self._passage, self.start, self._goals, memory=self._memory)
        elif self._weight == 1 or self.bound == 1:
            self._end()
        else:
            is_second = self._weight > SECOND_WEIGHT and SECOND_WEIGHT < self.bound < POOR_BOUND
            self._weight = SECOND_WEIGHT if is_second else 1.0
            core.repair(self.start, self._weight)

    def _look_for_nearest(self, budget: Budget) -> None:
        """Advance the A* search for the nearest cell, after no goal could be reached."""
        last = self._last
        assert last is not None
        before = last.expanded
        last.advance(budget)
        self.expanded += last.expanded - before
        if last.is_done:
            self._best = last.result
            self._end()

    def _begin(self, known: NDArray[np.int32] | None, start: int) -> None:
        if self._last is not None:
            self._last.cancel()
            self._last = None
        passage = self._passage
        self._memory.take(passage, self)    # may raise, so nothing is changed before
        self.start = start
        self._version = passage.version
        self._weight = FIRST_WEIGHT if known is None else 1.0
        self._core.begin(
            self.start, self._goals, passage.least_cost, passage.most_cost, self._weight, suits(passage))
        self._best, self._is_done = None, False
        if known is not None:
            self._core.adopt(known, costs_along(passage, known))
            self._learn_way()

    def _learn_way(self) -> None:
        cells = self._core.path()
        self._costs = costs_along(self._passage, cells)
        self._keep(cells)

    def _keep(self, cells: NDArray[np.int32]) -> None:
        """Store a path as the best, with its current bound."""
        self._best = Path("found", cells, float(self._costs[0]), self.expanded)
        self._best = replace(self._best, bound=self.bound)

    def _end(self, bound: float = 1.0) -> None:
        self._is_done = True
        if self._best is not None and self._best.is_found:
            self._best = replace(self._best, bound=bound)
        self._leave()

    def _leave(self) -> None:
        if self._last is not None:
            self._last.cancel()
        if self._memory.holder is self:
            self._memory.holder = None
