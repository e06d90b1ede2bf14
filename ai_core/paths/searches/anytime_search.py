"""Anytime search (ARA*): a way at once, and a cheaper one the longer it may look.

The mover need not wait: it walks along ``best``, says so with ``walk_to``, and what
was found so far stays good for the rest of the way.
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
from ai_core.maps.passage import Passage
from ai_core.paths.path import Path, PathState
from ai_core.paths.searches.called_back_search import goals_on
from ai_core.paths.searches.canonical_moves import suits
from ai_core.paths.searches.cells_along import costs_along, is_way
from ai_core.paths.searches.search import CELLS_PER_LOOK, AStarSearch, Goals
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.fields import Fields, State, StateError

__all__ = ["AnytimeSearch"]

FIRST_WEIGHT = 5.0
"""How much estimates count in the first round. On maps of games and on noise a smaller one expands
more cells before the first way, and a greater one finds dearer ways."""

SECOND_WEIGHT = 1.5
"""In the second round, which is left out if the way is known to be as good. More rounds than three
cost more than they gain: where they help at all, most of what was expanded is expanded again."""

POOR_BOUND = 4.0
"""Where a way after the first round may be so many times too dear, as in a maze, estimates are of no use
there, and a second round would look at nearly all cells once more: it is left out."""


class AnytimeSearch:
    """The way on a grid, known soon and then made cheaper, in slices. Anytime work.

    ``bound`` tells how much too dear ``best`` may be; at the end it is 1, and the cost that of
    A*. If no goal can be reached, it ends with what ``AStarSearch`` gives: the way to the
    nearest cell, or none. If cells change it begins anew, which ``restarts`` counts, but
    with the best way where that is still open.

    Args:
        passage: where.
        start: where the mover is.
        goals: a cell, or several of which any will do.
        known: a way from the start to a goal to begin with, say of ``RegionSearch``; checked.
        memory: what it writes into; None makes its own.

    Raises:
        TypeError: if they are of another type; a function does not do for goals here.
        ValueError: if a place is not on the grid, the known way is none, or the memory is of
            another passage or in use.

    Attributes:
        start: where the mover is.
        restarts: times it began anew, because cells changed or the mover left the way.
        expanded: cells expanded so far.

    Cost: O(cells) for each of at most three rounds. The first way takes some hundred cells where
        little is in the way, but in a maze nearly as many as A*: give it a known one there.
    Source: Likhachev, Gordon, Thrun 2003; 000_execution_management, anytime algorithms.

    >>> from ai_core.maps.grid import Grid
    >>> search = AnytimeSearch(Grid([[True] * 9] * 9).passage(), 0, 80)
    >>> search.advance(Budget.of_steps(20))
    >>> search.best.is_found, search.bound < 1.5
    (True, True)
    """

    def __init__(
        self,
        passage: Passage,
        start: int,
        goals: Goals,
        *,
        known: Path | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        checked = goals_on(passage.costs.size, goals)
        if callable(checked):
            raise TypeError("goals must be cells, got a function; search for one with AStarSearch")
        self.start = whole_number("start", start, minimum=0, maximum=passage.costs.size - 1)
        if known is not None and not (isinstance(known, Path) and known.is_found):
            raise TypeError(f"known must be a Path that is found, or None, got {shown(known)}")
        if known is not None and not is_way(passage, known.cells, self.start, checked):
            raise ValueError("known must lead from the start to a goal by open moves; find it on the same passage")
        self._passage, self._goals = passage, checked
        self._memory = memory or SearchMemory(passage)
        self._memory.take(passage, self)
        self._heart = self._memory.repairing()
        self._weight = 0.0
        self._costs = np.zeros(0)       # from each cell of the best way to the goal
        self._last: AStarSearch | None = None
        self._best: Path | None = None
        self._is_done = self._is_cancelled = False
        self.restarts = self.expanded = 0
        self._begin(None if known is None else known.cells, self.start)

    @property
    def best(self) -> Path | None:
        """The best way so far from ``start``, with its bound when it was found or walked along; None: none yet."""
        return self._best

    @property
    def bound(self) -> float:
        """The best way costs at most so many times what the cheapest does: 1 at the end, ``inf`` without any."""
        if self._best is None:
            return math.inf
        least = self._heart.least
        if self._is_done or self._best.cost <= least:
            return 1.0
        return self._best.cost / least if least > 0 else math.inf

    @property
    def quality(self) -> float:
        """How good ``best`` is, 0 to 1: one divided by ``bound``."""
        return 1 / self.bound

    @property
    def is_done(self) -> bool:
        """True when no way is cheaper, or there is none."""
        return self._is_done

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``; ``best`` is still there."""
        return self._is_cancelled

    @property
    def progress(self) -> float:
        """The quality so far."""
        return self.quality

    @property
    def result(self) -> Path:
        """The cheapest way.

        Raises:
            RuntimeError: if it is not done.
        """
        if not self._is_done or self._best is None:
            raise RuntimeError("the search is not done; advance it until is_done, or take best")
        return self._best

    def cancel(self) -> None:
        """Look for no better one; does nothing when it is done."""
        self._is_cancelled = not self._is_done
        self._leave()

    def walk_to(self, cell: int) -> None:
        """Say where the mover is now.

        On the best way, what is found stays good, and the rest of it is the best way. If there is
        none yet the search goes on for the new place. Beside the way it begins anew from there.

        Raises:
            TypeError, ValueError: if it is no cell; or another search is in the memory, which was done with.
            RuntimeError: if it was cancelled.

        Cost: O(cells that wait, and of the way).
        """
        self._check_not_cancelled()
        cell = whole_number("cell", cell, minimum=0, maximum=self._passage.costs.size - 1)
        if cell == self.start:
            return
        best = self._best
        if best is None and self._last is None:
            self.start = cell
            self._heart.repair(cell, self._weight)
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
            self._heart.repair(cell, self._weight)      # what ways cost at least, from here
        self._costs = self._costs[passed:]
        self._keep(best.cells[passed:])

    def learn(self, path: Path) -> None:
        """Take a way found elsewhere for the best, if it leads from where the mover is and is cheaper.

        It begins anew from there: of use before much was looked at.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if it is no way.

        Cost: O(cells of the way).
        """
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, got {shown(path)}")
        self._check_not_cancelled()
        is_cheaper = path.is_found and path.cost < (math.inf if self._best is None else self._best.cost)
        if is_cheaper and not self._is_done and is_way(self._passage, path.cells, self.start, self._goals):
            self._begin(path.cells, self.start)

    def advance(self, budget: Budget, /) -> None:
        """Go on until there is a better way, none can be, or the budget is spent; one look at least.

        Raises:
            RuntimeError: if it was cancelled.
        """
        check_budget(budget)
        self._check_not_cancelled()
        if self._is_done:
            return
        if self._passage.version != self._version:
            self.restarts += 1
            old = self._best.cells if self._best is not None else np.zeros(0, np.int32)
            self._begin(old if is_way(self._passage, old, self.start, self._goals) else None, self.start)
        before = math.inf if self._best is None else self._best.cost
        while not self._is_done:
            if self._last is None:
                self._look(budget)
            else:
                self._look_for_nearest(budget)
            if budget.is_spent or (self._best is not None and self._best.cost < before):
                return

    def save_state(self) -> State:
        """Return its ends and the best way as plain data; not the cells it has looked at."""
        best = self._best
        state = "done" if self._is_done else "cancelled" if self._is_cancelled else "going"
        return {
            "version": 1, "start": self.start, "goals": self._goals.tolist(), "state": state,
            "best": None if best is None else {"state": best.state, "cells": best.cells.tolist()},
            "restarts": self.restarts, "expanded": self.expanded,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what ``save_state`` returned; return what takes it back. The passage is saved by others.

        It goes on from the best way, and begins anew if that is open no more.

        Raises:
            StateError: if something does not fit, or another search is in the memory; nothing is changed then.
        """
        fields, most = Fields.versioned(state, version=1), self._passage.costs.size - 1
        start, goals = fields.whole("start", maximum=most), sorted(set(fields.wholes("goals", maximum=most)))
        if not goals:
            fields.refuse("goals", "must be one at least")
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
            is_open = is_way(self._passage, best, start, self._goals)
            self._begin(best if is_open else None, start)
            self.restarts, self.expanded, self._is_cancelled = restarts, expanded, told == "cancelled"
            is_kept = is_open or (kind != "found" and is_way(self._passage, best, start, best[-1:]))
            if told == "done" and (is_kept or kind == "none"):
                self._costs = costs_along(self._passage, best) if len(best) else np.full(1, math.inf)
                self._best = Path(kind, best, float(self._costs[0]), expanded)  # type: ignore[arg-type]
                self._end()
            elif self._is_cancelled:
                self._leave()

        return change

    def _look(self, budget: Budget) -> None:
        heart = self._heart
        expanded = heart.advance(budget.steps_at_once(CELLS_PER_LOOK))
        self.expanded += expanded
        budget.spend(expanded)
        if heart.cost < (math.inf if self._best is None else self._best.cost):
            self._learn_way()
        if not heart.is_done:
            return
        if heart.cost == math.inf:
            self._leave()
            self._last = AStarSearch(self._passage, self.start, self._goals, memory=self._memory)
        elif self._weight == 1 or self.bound == 1:
            self._end()
        else:
            is_second = self._weight > SECOND_WEIGHT and SECOND_WEIGHT < self.bound < POOR_BOUND
            self._weight = SECOND_WEIGHT if is_second else 1.0
            heart.repair(self.start, self._weight)

    def _look_for_nearest(self, budget: Budget) -> None:
        """No goal can be reached: A* tells which cell is nearest."""
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
        self._memory.take(passage, self)    # which may be refused: until then nothing has changed
        self.start = start
        self._version = passage.version
        self._weight = FIRST_WEIGHT if known is None else 1.0
        self._heart.begin(
            self.start, self._goals, passage.least_cost, passage.most_cost, self._weight, suits(passage))
        self._best, self._is_done = None, False
        if known is not None:
            self._heart.adopt(known, costs_along(passage, known))
            self._learn_way()

    def _learn_way(self) -> None:
        cells = np.frombuffer(self._heart.way(), np.int32)
        self._costs = costs_along(self._passage, cells)
        self._keep(cells)

    def _keep(self, cells: NDArray[np.int32]) -> None:
        """Take a way for the best; what is known of its bound stands in it."""
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
