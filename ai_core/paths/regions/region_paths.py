"""Path search over regions: from portal to portal instead of from cell to cell.

A long path takes a few hundred steps. With three or more regions between start and goal it costs 1 to 4 % more than
the cheapest path on average, and 11 % at most on the maps measured; between near ends it may be a detour of up to 2.5
times the cheapest. ``Path.bound`` limits the ratio, measured against the straight distance.

Rejected: a backward search with path costs reduced by the largest detour over a portal, for a tighter
bound. It takes three times the steps, and helps only on noise.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_type, whole_number
from ai_core.maps.cell_moves import SQRT_2
from ai_core.paths.path import Path, PathSearch
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_loops import RegionFields, follow
from ai_core.paths.searches.cells_along import costs_along, remove_loops
from ai_core.paths.searches.jump_loops import PortalSearch
from ai_core.paths.searches.search import AStarSearch

__all__ = ["RegionSearch"]

PORTALS_PER_LOOK = 16
"""Portals expanded between two checks of the budget (count): 5 µs."""


class RegionSearch(PathSearch):
    """Path over regions, found in slices; ``result.bound`` limits its excess cost.

    If no path over portals exists, no path exists at all. In this case, and when cells change before
    the search is done, an ``AStarSearch`` continues and returns the path to the nearest cell, or the
    cheapest path.

    Args:
        regions: region graph of the passage; must be done.
        start: start cell.
        goal: goal cell.

    Attributes:
        expanded: number of expanded portals and cells.
        restarts: number of restarts after cells changed.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a cell is outside the grid.
        RuntimeError: if the regions are not done.

    Cost: O(portals * portals of a region), plus O(cells of a region) if costs differ or both ends
        lie in one region.
    Source: 003_designing_ai_for_games, navigation.
    """

    SHOWN = ("progress", "expanded")

    def __init__(self, regions: RegionGraph, start: int, goal: int) -> None:
        super().__init__()
        check_type("regions", regions, RegionGraph)
        self._regions, self._passage = regions.result, regions.passage
        most = self._passage.costs.size - 1
        self._start = whole_number("start", start, minimum=0, maximum=most)
        self._goal = whole_number("goal", goal, minimum=0, maximum=most)
        self._version = self._passage.version
        self.expanded = self.restarts = 0
        self._instead: AStarSearch | None = None
        self._goal_field: RegionFields | None = None
        self._memory: PortalSearch = regions.borrow_memory()
        self._begin()

    def cancel(self) -> None:
        """Cancel the search; does nothing when it is done."""
        if not self.is_done and not self._is_cancelled:
            self._is_cancelled = True
            if self._instead is None:       # otherwise it was returned, and another search may use it
                self._regions.return_memory(self._memory, self._version)

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent; at least one batch of portals.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        if self._instead is None and not self.is_done and self._passage.version != self._version:
            self.restarts += 1
            self._go_by_cells()
        while not self.is_done:
            if self._instead is not None:
                self._advance_instead(budget)
            else:
                looked = self._memory.advance(budget.steps_at_once(PORTALS_PER_LOOK))
                self.expanded += looked
                budget.spend(looked)
                if self._memory.is_done:
                    self._end()
            if budget.is_spent:
                return

    def _begin(self) -> None:
        regions, memory = self._regions, self._memory
        start, goal = regions.region_of(self._start), regions.region_of(self._goal)
        out, direct = self._followed(start, self._start), math.inf
        if start == goal or not self._passage.is_uniform:
            into, direct = self._spread_from_goal(goal)
        else:  # both directions cost the same
            into = self._followed(goal, self._goal)
        memory.begin(start, goal, out, into, self._at_least(self._regions.rows, self._regions.columns), direct)

    def _followed(self, region: int, cell: int) -> NDArray[np.float64]:
        """Return the costs from a cell to each portal of its region."""
        regions = self._regions
        costs: NDArray[np.float64] = regions.fields(region).costs_from(cell)
        at_portals = regions.cells[region, :len(costs)] == cell
        return np.where(costs >= 0, costs, np.where(at_portals, 0.0, np.inf))

    def _spread_from_goal(self, region: int) -> tuple[NDArray[np.float64], float]:
        """Return the costs from each portal of the goal region to the goal, and from the start if it lies there."""
        regions, extent = self._regions, self._regions.extent(region)
        is_inside = regions.region_of(self._start) == region
        starts = [*regions.portal_cells(region), self._start if is_inside else self._goal]
        self._goal_field = RegionFields(regions.ground, *regions.corner(region), np.empty((1, *extent), np.uint8))
        costs = self._goal_field.fill([self._goal], starts, self._passage.uniform_cost)[:, 0]
        self.expanded += extent[0] * extent[1]
        return costs[:-1].copy(), float(costs[-1]) if is_inside else math.inf

    def _end(self) -> None:
        if self._memory.cost == math.inf:
            self._go_by_cells()
            return
        cells = remove_loops(self._joined())
        cost = float(costs_along(self._passage, cells)[0])
        least = float(self._at_least(*np.divmod(np.array([self._start]), self._passage.shape[1]))[0])
        self._settle(Path("found", cells, cost, self.expanded, max(1.0, cost / least) if least else 1.0))
        self._regions.return_memory(self._memory, self._version)

    def _joined(self) -> NDArray[np.int32]:
        """Return the cells of the path over the portals."""
        regions, portals = self._regions, self._memory.portals()
        entries = [self._start, *regions.cells.reshape(-1)[portals].tolist()]
        # From the start, and from the entry of each region, to the portal on the near side of the next region.
        before, index = np.divmod(regions.graph.partners.reshape(-1)[portals], regions.cells.shape[1])
        fields, numbers = [regions.fields(region) for region in before.tolist()], index.tolist()
        if self._goal_field is not None:
            return follow([*fields, self._goal_field], [*numbers, 0], entries)
        # Fields lead to portals: the last part is found in reverse.
        last = regions.region_of(entries[-1])
        back = follow([regions.fields(last)], [regions.portal_cells(last).index(entries[-1])], [self._goal])
        return np.concatenate((follow(fields, numbers, entries[:-1]), back[::-1]))

    def _at_least(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return lower bounds of the costs from cells to the goal, by straight distance."""
        row, column = divmod(self._goal, self._passage.shape[1])
        down, across = np.abs(rows - row), np.abs(columns - column)
        short = SQRT_2 - 1 if len(self._passage.moves.lengths) == 8 else 1.0
        whole: NDArray[np.float64] = np.maximum(down, across) + short * np.minimum(down, across)
        return self._passage.least_cost * whole

    def _go_by_cells(self) -> None:
        self._regions.return_memory(self._memory, self._version)
        self._instead = AStarSearch(self._passage, self._start, self._goal)

    def _advance_instead(self, budget: Budget) -> None:
        instead = self._instead
        assert instead is not None
        before = instead.expanded
        instead.advance(budget)
        self.expanded += instead.expanded - before
        if instead.is_done:
            self._settle(instead.result)
