"""A* search for the cheapest path, in slices."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import MOST_AT_ONCE, Budget, _StepBudget, check_budget
from ai_core.errors import check_callables, check_kind, shown, whole_number
from ai_core.maps.cell_moves import Corners
from ai_core.maps.graph import Graph
from ai_core.maps.grid import Grid
from ai_core.maps.passage import GridPassage, PassageCopy
from ai_core.paths.path import Path, PathSearch, PathState
from ai_core.paths.searches.callback_search import (
    CallbackSearch,
    callback_search,
    check_goals,
    estimate_on_grid,
    nothing_known,
)
from ai_core.paths.searches.cells_along import moves_along
from ai_core.paths.searches.grid_search_loops import NOWHERE, UniformSearch, WeightedSearch
from ai_core.paths.searches.jump_loops import JumpSearch
from ai_core.paths.searches.search_memory import SearchMemory

__all__ = ["CELLS_PER_LOOK", "MOST_RESTARTS", "AStarSearch", "Goals", "StepCost", "find_path"]

CELLS_PER_LOOK = 256
"""Cells expanded between two checks of the budget (count): 10 µs compiled, 0.4 ms interpreted.
More cells overrun a budget further; fewer slow a compiled search down by more than a tenth."""

MOST_RESTARTS = 3
"""Restarts (count) after which a search works on a copy of the ground: more lose more work on a map that changes often,
fewer make copies where a restart would do."""

MOST_CHANGED = 1024
"""Cells that changed while a search ran on a copy (count), up to which those that became cheaper are looked for."""

MOST_IMPROVED = 256
"""Cells that became cheaper (count) up to which each is looked at for a cheaper path: 1 µs each."""

SearchCore = UniformSearch | WeightedSearch | JumpSearch | CallbackSearch
"""The search that does the work of an ``AStarSearch``."""

Goals = int | Iterable[int] | Callable[[int], bool]
"""A goal place, several goal places, or a function that returns whether a place is a goal."""

StepCost = Callable[[int, int, float], float]
"""Function of start, end and usual cost of a move; returns its cost, at least the usual one, ``inf`` if closed."""


def find_path(
    grid: ArrayLike | Grid | GridPassage, start: Sequence[int] | NDArray[np.integer],
    goal: Sequence[int] | NDArray[np.integer], *, neighbors: int = 8, corners: Corners = "closed",
) -> NDArray[np.int32]:
    """Return the cheapest path over an array of cells, all at once.

    Args:
        grid: (height, width) bool, True for cells that can be entered; or numbers, the cost of entering
            each cell, ``inf`` for walls. Or a ``Grid`` or a ``GridPassage``, with moves of their own.
        start: row and column of the first cell.
        goal: row and column of the last cell.
        neighbors: of an array: 4, 8, or 6 for hexagons; see ``Grid``.
        corners: of an array: when a diagonal is open; see ``Grid``.

    Returns:
        (n, 2) int32, row and column of each cell from start to goal; (0, 2) if there is no path.

    Raises:
        TypeError: if cells or ends have the wrong type.
        ValueError: if an array is no grid, as for ``Grid``; or if an end is not on it.

    Cost: O(cells); for an array 0.2 ms and 30 ns per cell, plus the search. For many paths over one level make a
        ``Grid`` once, and share a ``SearchMemory`` between searches.

    >>> find_path([[True, True, True], [False, False, True], [True, True, True]], (0, 0), (2, 1)).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 2], [2, 2], [2, 1]]
    """
    if not isinstance(grid, Grid | GridPassage):
        grid = Grid(grid, neighbors=neighbors, corners=corners)
    passage = grid.passage() if isinstance(grid, Grid) else grid
    search = AStarSearch(passage, _cell_at("start", start, passage.shape), _cell_at("goal", goal, passage.shape))
    search.advance(Budget.unlimited())
    return search.result.places(passage.shape[1]) if search.result.is_found else np.zeros((0, 2), np.int32)


def _cell_at(name: str, place: Sequence[int] | NDArray[np.integer], shape: tuple[int, int]) -> int:
    try:
        row, column = place
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a row and a column, got {shown(place)}") from None
    row = whole_number(f"row of {name}", row, minimum=0, maximum=shape[0] - 1)
    return row * shape[1] + whole_number(f"column of {name}", column, minimum=0, maximum=shape[1] - 1)


class AStarSearch(PathSearch):
    """Search for the cheapest path on a grid or a graph, in slices.

    The result is optimal, unless ``max_expanded`` ends the search right after a first path is found.
    If no goal can be reached, or the limit ends the search earlier, ``result`` leads to the expanded
    place nearest to the goals by estimate; ties go to the lower cost, then to the smaller number.

    If cells of the grid change between two slices, the search restarts, which ``restarts`` counts. After
    ``MOST_RESTARTS`` it goes on with a copy of the cells, so that it ends however often cells change. A path found
    there is open when the search ends, and has its cost of that moment; ``result.bound`` is above 1 if cells that
    became cheaper meanwhile may allow a cheaper one. If it is blocked, the search is repeated on a new copy, up to
    ``MOST_RESTARTS`` times; then the result is the part of the path before the block, as "partial". A goal that could
    not be reached on several copies counts as unreachable. A result stays unchanged.

    Args:
        ground: a ``GridPassage`` or a ``Graph``.
        start: start cell or place; no path leaves a cell that cannot be entered.
        goals: a place, several places, or a function that returns whether a place is a goal. A function
            runs interpreted, and the search expands in all directions.
        step_cost: cost of a move in this search, at least the usual one (interpreted); None for the usual costs.
        max_expanded: largest number of places to expand, 1 or more; None for no limit.
        memory: memory of the search; None creates one. Pass the same memory to consecutive searches. With
            a ``JumpTable`` in it, searches for one goal are faster where jumps are long; the cost of the path
            is the same, its cells may differ.

    Attributes:
        restarts: number of restarts because cells changed.
        expanded: number of expanded places, including those before a restart.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a place does not exist, there is no goal, or the memory belongs to another passage or
            is in use.

    Cost: O(expanded), plus O(cells) to create the memory.
    Source: Hart, Nilsson, Raphael 1968; 003_designing_ai_for_games, navigation, whose listing is greedy.

    >>> from ai_core.maps.grid import Grid
    >>> grid = Grid([[True, True, True], [False, False, True], [True, True, True]])
    >>> search = AStarSearch(grid.passage(), grid.cell(0, 0), grid.cell(2, 0))
    >>> search.advance(Budget.unlimited())
    >>> search.result.cells.tolist(), search.result.cost
    ([0, 1, 2, 5, 8, 7, 6], 6.0)
    """

    SHOWN = ("progress", "expanded")

    def __init__(
        self, ground: GridPassage | Graph, start: int, goals: Goals, *, step_cost: StepCost | None = None,
        max_expanded: int | None = None, memory: SearchMemory | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(ground, GridPassage | Graph):
            raise TypeError(f"ground must be a GridPassage or a Graph, got {shown(ground)}")
        self._ground = ground
        self._passage = ground if isinstance(ground, GridPassage) else None
        self._size = ground.size if isinstance(ground, Graph) else ground.costs.size
        self._start = whole_number(
            "start", start, minimum=0, maximum=self._size - 1, remedy="grid.cell(row, column) is the number of a cell")
        self._goals = check_goals(self._size, goals)
        check_callables(step_cost=step_cost)
        self._step_cost = step_cost
        self._most = None if max_expanded is None else whole_number("max_expanded", max_expanded, minimum=1)
        check_kind("memory", memory, SearchMemory)
        self._memory = memory
        self._copy: PassageCopy | None = None
        self._core: SearchCore
        self._version = 0
        self.restarts = 0
        self.expanded = 0
        self._begin()

    def cancel(self) -> None:
        """Cancel the search; does nothing when it is done."""
        super().cancel()
        self._leave()

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent; at least one batch of cells.

        Raises:
            RuntimeError: if the search was cancelled.
            ValueError: if ``step_cost`` returned less than the usual cost, or NaN.
        """
        if self.is_done:
            return
        if self._is_cancelled:
            self._check_not_cancelled()
        passage = self._passage
        if passage is not None and passage.version != self._version and self._ground is passage:
            self._restart(passage)
        if type(budget) is _StepBudget and self._most is None and self._copy is None:
            # Fast case of the loop below: three calls would take as long as the cells of a short slice.
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
            if self._copy is not None:
                self._copy.advance(budget)
                if not self._copy.is_done:
                    return
                self._ground, self._copy = self._copy.result, None
                self._begin()
                if budget.is_spent:
                    return
            most = budget.steps_at_once(CELLS_PER_LOOK)
            if self._most is not None and most > self._most - self.expanded:
                most = self._most - self.expanded
            expanded = self._expand(most)
            self.expanded += expanded
            is_spent = budget.spends(expanded)
            if expanded < most or self.expanded == self._most:   # fewer cells are expanded only if none is left
                self._end()
            if is_spent or self.is_done:
                return

    def _end(self) -> None:
        if self._is_jumping and self._core.is_done and self._core.reached == NOWHERE:
            # Jumps prove that there is no path, but do not find the nearest cell.
            self._walk(self._ground, self._goals)  # type: ignore[arg-type]
            return
        path, passage = self._found(), self._passage
        if passage is not None and passage.version != self._version:
            present = self._on_present_cells(path, passage)
            if present is None:
                self._restart(passage)
                return
            path = present
        self._settle(path)
        self._leave()

    def _restart(self, passage: GridPassage) -> None:
        self.restarts += 1
        if self.restarts > MOST_RESTARTS:
            self._leave()
            self._copy, self._memory = PassageCopy(passage), None
            self._ground = self._copy.result        # once it is done
        else:
            self._begin()

    def _on_present_cells(self, path: Path, passage: GridPassage) -> Path | None:
        """Return the path found on a copy with its present cost and bound; None if the search has to be repeated."""
        ground, searched = self._ground, path.cost
        assert isinstance(ground, GridPassage)
        if len(path.cells) > 1:
            costs = self._present_costs(path, passage)
            if not np.isfinite(costs).all():
                if self._may_repeat():
                    return None
                cells = path.cells[:int(np.isinf(costs).argmax()) + 1]
                if len(cells) == 1:
                    return self._no_path()
                return Path("partial", cells, float(costs[:len(cells) - 1].sum()), path.expanded)
            path = replace(path, cost=float(np.cumsum(costs[::-1])[-1]))
        opened, cheaper = self._improved(passage, ground)
        cost_to = self._core.cost_to
        if not path.is_found:
            is_reached = any(cost_to(cell) < math.inf for cell in opened)
            return None if is_reached and self._may_repeat() else path
        from_start = estimate_on_grid(passage, np.array([self._start], np.int32))
        to_goal = nothing_known if callable(self._goals) else estimate_on_grid(passage, self._goals)
        # A cheaper path leads over such a cell, up to which it costs at least what was found: a cell not expanded is
        # on no cheaper path, as estimates have not become less.
        before = cost_to if passage.least_cost >= ground.least_cost else from_start
        least = min((
            searched, *(before(cell) + to_goal(cell) for cell in opened),
            *(from_start(cell) + to_goal(cell) for cell in cheaper)))
        return replace(path, bound=max(1.0, path.cost / least) if least else math.inf if path.cost else 1.0)

    def _may_repeat(self) -> bool:
        """Return whether the search may be repeated on another copy."""
        return self.expanded != self._most and self.restarts < 2 * MOST_RESTARTS

    def _improved(self, passage: GridPassage, ground: GridPassage) -> tuple[list[int], list[int]]:
        """Return the cells that have a move more than on a copy, and those that became cheaper."""
        changed = passage.changed_since(self._version)
        if changed is not None and len(changed) <= MOST_CHANGED:
            around = passage.with_neighbors(changed)
            is_opened = passage.open_moves.ravel()[around] & ~ground.open_moves.ravel()[around] != 0
            opened = np.unique(around[is_opened]).tolist()
            before = ground.costs.ravel()[changed]
            cheaper = changed[(passage.costs.ravel()[changed] < before) & np.isfinite(before)].tolist()
            if len(opened) + len(cheaper) <= MOST_IMPROVED:
                return opened, cheaper
        return [self._start], [self._start]      # as if a path could be cheaper from its start on

    def _present_costs(self, path: Path, passage: GridPassage) -> NDArray[np.float64]:
        """Return the present cost of each move of a path, ``inf`` where it is blocked."""
        cells, moves = path.cells, moves_along(passage, path.cells)
        costs = np.array(passage.moves.lengths)[moves] * passage.costs.ravel()[cells[1:]].astype(np.float64)
        costs[moves < 0] = math.inf
        if self._step_cost is not None:
            costs[:] = [cost if cost == math.inf else self._step_cost(start, end, cost) for start, end, cost in zip(
                cells[:-1].tolist(), cells[1:].tolist(), costs.tolist(), strict=True)]
        return costs

    def _begin(self) -> None:
        ground, goals = self._ground, self._goals
        if isinstance(ground, GridPassage):
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
        self._go_on_with(callback_search(ground, self._start, goals, self._step_cost))

    def _walk(self, passage: GridPassage, goals: NDArray[np.int32]) -> None:
        assert self._memory is not None
        walking = self._memory.walking()
        walking.begin(self._start, goals, passage.least_cost, passage.most_cost)
        self._go_on_with(walking)

    def _go_on_with(self, core: SearchCore, *, is_jumping: bool = False) -> None:
        self._core, self._is_jumping = core, is_jumping
        self._expand = core.advance    # looked up once, not in every slice

    def _leave(self) -> None:
        if self._memory is not None and self._memory.holder is self:
            self._memory.holder = None

    def _found(self) -> Path:
        core = self._core
        if core.reached != NOWHERE:
            return self._path("found", core.reached)
        nearest: int = core.nearest()  # type: ignore[union-attr]
        if nearest == self._start:
            return self._no_path()
        return self._path("partial", nearest)

    def _no_path(self) -> Path:
        return Path("none", np.zeros(0, np.int32), math.inf, self.expanded)

    def _path(self, state: PathState, end: int) -> Path:
        cells, cost = self._core.path_to(end), float(self._core.cost_to(end))
        if self._is_jumping:  # which counts moves, as if every cell cost 1
            cost *= self._ground.least_cost  # type: ignore[union-attr]
        return Path(state, cells, cost, self.expanded)
