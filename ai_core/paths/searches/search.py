"""A*: the cheapest way, in slices.

Begin (make it), ``advance(budget)`` until ``is_done``, take ``result``. It looks
at its budget every ``CELLS_PER_LOOK`` cells, and every cell is a step.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import MOST_AT_ONCE, Budget, _StepBudget, check_budget
from ai_core.errors import shown, whole_number
from ai_core.maps.graph import Graph
from ai_core.maps.passage import Passage
from ai_core.paths.path import Path, PathState
from ai_core.paths.searches.called_back_search import called_back_search, goals_on
from ai_core.paths.searches.path_search import PathSearch
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.searches.walking_search import NOWHERE

__all__ = ["CELLS_PER_LOOK", "AStarSearch", "Goals", "StepCost"]

CELLS_PER_LOOK = 256
"""Cells expanded between two looks at the budget: 10 µs compiled, 0.4 ms interpreted.
More overruns a budget further; fewer cost more than a tenth of a compiled search."""

Goals = int | Iterable[int] | Callable[[int], bool]
"""A place, several of which any will do, or a function that tells whether a place is one."""

StepCost = Callable[[int, int, float], float]
"""Of a move: where from, where to, its cost; returns what it costs here, not less, ``inf`` if shut."""


class AStarSearch(PathSearch):
    """The cheapest way on a grid or a graph, found in slices.

    It is optimal, unless the limit ends it just after a first way is found. If no
    goal can be reached, or the limit ends it earlier, ``result`` leads to the place
    expanded that is nearest to the goals by estimate; ties go to the one reached more
    cheaply, then to the smaller number. If cells of the grid change between two slices
    it begins anew, which ``restarts`` counts; a way found stays as it was.

    Args:
        ground: a ``Passage`` of a grid, or a ``Graph``.
        start: a cell or place; there is no way out of one that cannot be entered.
        goals: a place, several of which any will do, or a function that tells whether
            a place is one (interpreted, and it looks in every direction).
        step_cost: what a move costs for this search (interpreted), never less than usual.
        most_expanded: after how many places to give up; None for no limit.
        memory: what it writes into; None makes its own. For many searches, one after
            the other, hand the same to each; with a ``JumpTable`` in it, ways to one goal
            are found faster where jumps are long, of the same cost but not always the same cells.

    Attributes:
        restarts: times it began anew because cells changed.
        expanded: places expanded so far, those before a restart included.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a place is not there, there is no goal, or the memory is of another passage or in use.

    Cost: O(expanded), besides making the memory, O(cells).
    Source: Hart, Nilsson, Raphael 1968; 003_designing_ai_for_games, navigation, whose listing is greedy.

    >>> from ai_core.maps.grid import Grid
    >>> grid = Grid([[True, True, True], [False, False, True], [True, True, True]])
    >>> search = AStarSearch(grid.passage(), grid.cell(0, 0), grid.cell(2, 0))
    >>> search.advance(Budget.unlimited())
    >>> search.result.cells.tolist(), search.result.cost
    ([0, 1, 2, 5, 8, 7, 6], 6.0)
    """

    def __init__(
        self,
        ground: Passage | Graph,
        start: int,
        goals: Goals,
        *,
        step_cost: StepCost | None = None,
        most_expanded: int | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(ground, Passage | Graph):
            raise TypeError(f"ground must be a Passage of a grid, or a Graph, got {shown(ground)}")
        self._ground = ground
        self._passage = ground if isinstance(ground, Passage) else None
        self._size = ground.size if isinstance(ground, Graph) else ground.costs.size
        self._start = whole_number("start", start, minimum=0, maximum=self._size - 1)
        self._goals = goals_on(self._size, goals)
        if step_cost is not None and not callable(step_cost):
            raise TypeError(f"step_cost must be a callable or None, got {shown(step_cost)}")
        self._step_cost = step_cost
        self._most = None if most_expanded is None else whole_number("most_expanded", most_expanded, minimum=1)
        self._memory = memory
        self._heart: _Heart
        self._version = 0
        self.restarts = 0
        self.expanded = 0
        self._begin()

    def cancel(self) -> None:
        """Give up; does nothing when it is done."""
        super().cancel()
        self._leave()

    def advance(self, budget: Budget, /) -> None:
        """Go on until done or the budget is spent, one look at least.

        Raises:
            RuntimeError: if it was cancelled.
            ValueError: if ``step_cost`` returned less than the usual cost, or NaN.
        """
        if self.is_done:
            return
        if self._is_cancelled:
            raise RuntimeError("the search was cancelled; begin another")
        passage = self._passage
        if passage is not None and passage.version != self._version:
            self.restarts += 1
            self._begin()
        if type(budget) is _StepBudget and self._most is None:
            # What follows, without three calls that take as long as the cells of a short slice.
            most = budget._allowed - budget.steps
            if 0 < most <= MOST_AT_ONCE:
                expanded = self._expand(most)
                self.expanded += expanded
                budget.steps += expanded
                if expanded == most:
                    return
                self._end()
                if self._result is not None:
                    return
        check_budget(budget)
        while True:
            most = budget.steps_at_once(CELLS_PER_LOOK)
            if self._most is not None and most > self._most - self.expanded:
                most = self._most - self.expanded
            expanded = self._expand(most)
            self.expanded += expanded
            is_spent = budget.spends(expanded)
            if expanded < most or self.expanded == self._most:   # hearts expand fewer only where nothing is left
                self._end()
            if is_spent or self.is_done:
                return

    def _end(self) -> None:
        if self._is_jumping and self._heart.is_done and self._heart.reached == NOWHERE:
            # Jumps tell that there is no way, not which cell is nearest.
            self._walk(self._ground, self._goals)  # type: ignore[arg-type]
        else:
            self._settle(self._found())
            self._leave()

    def _begin(self) -> None:
        ground, goals = self._ground, self._goals
        if isinstance(ground, Passage):
            self._version = ground.version
            if not callable(goals) and self._step_cost is None:
                self._memory = self._memory or SearchMemory(ground)
                self._memory.take(ground, self)
                jumping = self._memory.jumping() if len(goals) == 1 and self._most is None else None
                if jumping is None:
                    self._walk(ground, goals)
                else:
                    jumping.begin(self._start, int(goals[0]))
                    self._go_on_with(jumping, is_jumping=True)
                return
        self._go_on_with(called_back_search(ground, self._start, goals, self._step_cost))

    def _walk(self, passage: Passage, goals: NDArray[np.int32]) -> None:
        assert self._memory is not None
        walking = self._memory.walking()
        walking.begin(self._start, goals, passage.least_cost, passage.most_cost)
        self._go_on_with(walking)

    def _go_on_with(self, heart: _Heart, *, is_jumping: bool = False) -> None:
        self._heart, self._is_jumping = heart, is_jumping
        self._expand = heart.advance    # found once, not in every slice

    def _leave(self) -> None:
        if self._memory is not None and self._memory.holder is self:
            self._memory.holder = None

    def _found(self) -> Path:
        heart = self._heart
        if heart.reached != NOWHERE:
            return self._path("found", heart.reached)
        nearest: int = heart.nearest()  # type: ignore[attr-defined]
        if nearest == self._start:
            return Path("none", np.zeros(0, np.int32), math.inf, self.expanded)
        return self._path("partial", nearest)

    def _path(self, state: PathState, end: int) -> Path:
        cells, cost = np.frombuffer(self._heart.way_to(end), np.int32), self._heart.cost_to(end)
        if self._is_jumping:  # which counts moves, as if every cell cost 1
            cost *= self._ground.least_cost  # type: ignore[union-attr]
        return Path(state, cells, cost, self.expanded)


class _Heart(Protocol):
    """What a search needs of what does the work; only those that walk tell what is nearest."""


    @property
    def is_done(self) -> bool: ...
    @property
    def reached(self) -> int: ...
    def advance(self, most: int, /) -> int: ...
    def cost_to(self, cell: int, /) -> float: ...
    def way_to(self, cell: int, /) -> bytes: ...
