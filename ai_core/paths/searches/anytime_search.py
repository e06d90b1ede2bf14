"""Anytime search (ARA*): a quick first path, and cheaper ones the longer the search runs.

The mover need not wait: it walks along ``best`` and reports its place with ``move_start``; the
results so far stay valid for the rest of the path.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.errors import shown, whole_number
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import Path, PathState
from ai_core.paths.searches.callback_search import check_goals
from ai_core.paths.searches.canonical_moves import suits
from ai_core.paths.searches.cells_along import costs_along, is_path
from ai_core.paths.searches.search import CELLS_PER_LOOK, AStarSearch, Goals
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.fields import Fields, State, StateError

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


class AnytimeSearch:
    """Search for a path on a grid that is found quickly and then improved, in slices. Anytime work.

    ``bound`` limits the ratio of the cost of ``best`` to the lowest cost; at the end it is 1, and the
    cost is that of A*. If no goal can be reached, the search ends with the result of ``AStarSearch``: the
    path to the nearest cell, or none. If cells change, the search restarts from the best path so far,
    provided it is still open; ``restarts`` counts these.

    Args:
        passage: passage of the grid.
        start: cell of the mover.
        goals: goal cell, or several cells.
        known: initial path from the start to a goal, for example of ``RegionSearch``; it is checked.
        memory: memory of the search; None creates one.

    Raises:
        TypeError: if an argument has the wrong type; a function is not accepted for goals.
        ValueError: if a cell is outside the grid, the known path is not open, or the memory belongs to
            another passage or is in use.

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

    def __init__(
        self,
        passage: GridPassage,
        start: int,
        goals: Goals,
        *,
        known: Path | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        if not isinstance(passage, GridPassage):
            raise TypeError(f"passage must be a GridPassage, got {shown(passage)}")
        checked = check_goals(passage.costs.size, goals)
        if callable(checked):
            raise TypeError("goals must be cells, got a function; use AStarSearch for a function")
        self.start = whole_number("start", start, minimum=0, maximum=passage.costs.size - 1)
        if known is not None and not (isinstance(known, Path) and known.is_found):
            raise TypeError(f"known must be a Path that is found, or None, got {shown(known)}")
        if known is not None and not is_path(passage, known.cells, self.start, checked):
            raise ValueError("known must lead from the start to a goal by open moves; search it on the same passage")
        self._passage, self._goals = passage, checked
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
        least = self._core.least
        if self._is_done or self._best.cost <= least:
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
    def is_cancelled(self) -> bool:
        """True after ``cancel``; ``best`` stays available."""
        return self._is_cancelled

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
        """Cancel the search; does nothing when it is done."""
        self._is_cancelled = not self._is_done
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

    def offer_path(self, path: Path) -> None:
        """Adopt a path found elsewhere, if it starts at the mover and is cheaper than ``best``.

        The search restarts with it, which is useful early in the search.

        Raises:
            RuntimeError: if the search was cancelled.
            TypeError: if ``path`` is not a Path.

        Cost: O(cells of the path).
        """
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, got {shown(path)}")
        self._check_not_cancelled()
        is_cheaper = path.is_found and path.cost < (math.inf if self._best is None else self._best.cost)
        if is_cheaper and not self._is_done and is_path(self._passage, path.cells, self.start, self._goals):
            self._begin(path.cells, self.start)

    def advance(self, budget: Budget, /) -> None:
        """Continue until a better path is found, the search is done, or the budget is spent.

        At least one batch of cells is expanded.

        Raises:
            RuntimeError: if the search was cancelled.
        """
        check_budget(budget)
        self._check_not_cancelled()
        if self._is_done:
            return
        if self._passage.version != self._version:
            self.restarts += 1
            old = self._best.cells if self._best is not None else np.zeros(0, np.int32)
            self._begin(old if is_path(self._passage, old, self.start, self._goals) else None, self.start)
        before = math.inf if self._best is None else self._best.cost
        while not self._is_done:
            if self._last is None:
                self._look(budget)
            else:
                self._look_for_nearest(budget)
            if budget.is_spent or (self._best is not None and self._best.cost < before):
                return

    def save_state(self) -> State:
        """Return start, goals and best path as plain data; expanded cells are not saved."""
        best = self._best
        state = "done" if self._is_done else "cancelled" if self._is_cancelled else "going"
        return {
            "version": 1, "start": self.start, "goals": self._goals.tolist(), "state": state,
            "best": None if best is None else {"state": best.state, "cells": best.cells.tolist()},
            "restarts": self.restarts, "expanded": self.expanded,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that applies it. The passage is not part of the state.

        The search continues from the best path, or restarts if that path is no longer open.

        Raises:
            StateError: if the state is invalid, or another search uses the memory; nothing is changed then.
        """
        fields, most = Fields.versioned(state, version=1), self._passage.costs.size - 1
        start, goals = fields.whole("start", maximum=most), sorted(set(fields.wholes("goals", maximum=most)))
        if not goals:
            fields.refuse("goals", "must be at least one cell, got none")
        told = fields.one_of("state", ("going", "done", "cancelled"))
        best, kind = np.zeros(0, np.int32), "none"
        if fields.anything("best") is not None:
            way = fields.group("best")
            kind = way.one_of("state", get_args(PathState))
            best = np.array(way.wholes("cells", maximum=most), np.int32)
            way.end()
        restarts, expanded = fields.whole("restarts"), fields.whole("expanded")
        fields.end()
        if self._memory.holder not in (None, self, self._last):
            raise StateError("the memory is in use by another search; finish or cancel that before loading")

        def change() -> None:
            self._goals = np.array(goals, np.int32)
            is_open = is_path(self._passage, best, start, self._goals)
            self._begin(best if is_open else None, start)
            self.restarts, self.expanded, self._is_cancelled = restarts, expanded, told == "cancelled"
            is_kept = is_open or (kind != "found" and is_path(self._passage, best, start, best[-1:]))
            if told == "done" and (is_kept or kind == "none"):
                self._costs = costs_along(self._passage, best) if len(best) else np.full(1, math.inf)
                self._best = Path(kind, best, float(self._costs[0]), expanded)  # type: ignore[arg-type]
                self._end()
            elif self._is_cancelled:
                self._leave()

        return change

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

    def _end(self) -> None:
        self._is_done = True
        if self._best is not None and self._best.is_found:
            self._best = replace(self._best, bound=1.0)
        self._leave()

    def _leave(self) -> None:
        if self._last is not None:
            self._last.cancel()
        if self._memory.holder is self:
            self._memory.holder = None

    def _check_not_cancelled(self) -> None:
        if self._is_cancelled:
            raise RuntimeError("the search was cancelled; begin another")
