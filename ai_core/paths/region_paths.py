"""Ways over regions: from portal to portal instead of from cell to cell.

A long way takes some hundred steps. On maps of games it is 1 to 6 % dearer than the
cheapest; how much at most, measured against the way as the crow flies, it says.

Rejected: a search back over ways shortened by what a detour by portals costs at most,
for a tighter bound. It takes thrice the steps, and tells more on noise alone.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import ai_core.paths.region_fields as region_fields
from ai_core.budget import Budget
from ai_core.errors import shown, whole_number
from ai_core.paths.bucket_search import Estimate
from ai_core.paths.cells_along import costs_along, without_loops
from ai_core.paths.path import Path
from ai_core.paths.path_search import PathSearch
from ai_core.paths.portal_search import PortalSearch
from ai_core.paths.region_graph import RegionGraph
from ai_core.paths.search import AStarSearch

__all__ = ["RegionSearch"]

PORTALS_PER_LOOK = 16
"""Portals between two looks at the budget: 5 µs compiled, 0.5 ms interpreted."""


class RegionSearch(PathSearch):
    """A way over regions, found in slices; ``result.bound`` says how much too dear it may be.

    No way over portals means no way at all: then, and when cells change before it is done,
    an ``AStarSearch`` goes on instead, with the nearest cell or the cheapest way.

    Args:
        regions: of the passage; done.
        start: a cell.
        goal: a cell.

    Attributes:
        expanded: portals looked at, and cells expanded, so far.
        restarts: times it began anew because cells changed.

    Raises:
        TypeError: if they are of another type.
        ValueError: if a place is not on the grid.
        RuntimeError: if the regions are not done.

    Cost: O(portals * portals of a region), and O(cells of a region) where costs differ, or both
        ends lie in one region.
    Source: 003_designing_ai_for_games, navigation.
    """

    def __init__(self, regions: RegionGraph, start: int, goal: int) -> None:
        super().__init__()
        if not isinstance(regions, RegionGraph):
            raise TypeError(f"regions must be a RegionGraph, got {shown(regions)}")
        self._regions, self._passage = regions.result, regions.passage
        most = self._passage.costs.size - 1
        self._start = whole_number("start", start, minimum=0, maximum=most)
        self._goal = whole_number("goal", goal, minimum=0, maximum=most)
        self._version = self._passage.version
        self._to_goal = Estimate.to(np.array([self._goal], np.int32), self._passage.moves, *self._passage.shape)
        self.expanded = self.restarts = 0
        self._instead: AStarSearch | None = None
        self._goal_field: NDArray[np.uint8] | None = None
        self._memory: PortalSearch = regions.lend()
        self._begin()

    def cancel(self) -> None:
        """Give up; does nothing when it is done."""
        if not self.is_done and not self._is_cancelled:
            self._is_cancelled = True
            if self._instead is None:       # else it was given back, and somebody else may have it
                self._regions.give_back(self._memory, self._version)

    def advance(self, budget: Budget, /) -> None:
        """Go on until done or the budget is spent, one look at least.

        Raises:
            RuntimeError: if it was cancelled.
        """
        if self._is_cancelled:
            raise RuntimeError("the search was cancelled; begin another")
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
        else:  # both ways cost the same
            into = self._followed(goal, self._goal)
        memory.begin(start, goal, out, into, self._rest(), direct)

    def _followed(self, region: int, cell: int) -> NDArray[np.float64]:
        """Return what it costs from a cell to each portal of its region."""
        ways = np.full(len(self._regions.fields(region)), np.inf)
        for k, portal in enumerate(self._regions.portal_cells(region)):
            cells, cost = self._follow(region, k, cell)
            if len(cells) or portal == cell:
                ways[k] = cost
        return ways

    def _follow(self, region: int, k: int, cell: int) -> tuple[bytes, float]:
        """Return the cells after one on the way to a portal of its region, and what it costs."""
        return self._follow_field(region, self._regions.fields(region)[k], cell)

    def _follow_field(self, region: int, field: NDArray[np.uint8], cell: int) -> tuple[bytes, float]:
        passage = self._passage
        return region_fields.follow_field(field, passage.costs, passage.moves, *self._regions.corner(region), cell)

    def _spread_from_goal(self, region: int) -> tuple[NDArray[np.float64], float]:
        """Return what it costs from each portal of the goal's region to the goal, and from the start if it is there."""
        passage, (top, left) = self._passage, self._regions.corner(region)
        rows, columns = self._regions.extent(region)
        costs, field = np.empty((1, rows, columns)), np.empty((1, rows, columns), np.uint8)
        region_fields.fill_fields(
            passage.open_moves, passage.costs, passage.moves, top, left, np.array([self._goal], np.int32),
            passage.even_cost, costs, field)
        self._goal_field = field[0]
        self.expanded += rows * columns
        cells = np.array([*self._regions.portal_cells(region), self._start], np.int64)
        if self._regions.region_of(self._start) != region:
            cells[-1] = self._goal
        row, column = np.divmod(cells, passage.shape[1])
        ways = costs[0, row - top, column - left]
        is_inside = self._regions.region_of(self._start) == region
        return ways[:-1], float(ways[-1]) if is_inside else math.inf

    def _end(self) -> None:
        if self._memory.cost == math.inf:
            self._go_by_cells()
            return
        cells = without_loops(np.frombuffer(self._joined(), np.int32))
        cost = float(costs_along(self._passage, cells)[0])
        least = self._passage.least_cost * self._to_goal.from_cell(self._start)
        self._settle(Path("found", cells, cost, self.expanded, max(1.0, cost / least) if least else 1.0))
        self._regions.give_back(self._memory, self._version)

    def _joined(self) -> bytes:
        """Return the cells of the way from portal to portal."""
        regions = self._regions
        joined, cell, region = [np.int32(self._start).tobytes()], self._start, regions.region_of(self._start)
        for portal in np.frombuffer(self._memory.way(), np.int32).tolist():
            before, k = regions.partner_of(portal)
            joined.append(self._follow(before, k, cell)[0])
            region, number = regions.place_of(portal)
            cell = regions.portal_cells(region)[number]
            joined.append(np.int32(cell).tobytes())
        if self._goal_field is not None:
            joined.append(self._follow_field(region, self._goal_field, cell)[0])
        elif cell != self._goal:
            back = regions.portal_cells(region).index(cell)
            cells = np.frombuffer(self._follow(region, back, self._goal)[0], np.int32)[::-1]
            joined.append(np.concatenate([cells[1:], [self._goal]]).astype(np.int32).tobytes())
        return b"".join(joined)

    def _rest(self) -> NDArray[np.float64]:
        """Return what it costs at least from each portal to the goal, as the crow flies."""
        rows, columns = np.divmod(self._regions.cells, self._passage.shape[1])
        down = np.array(self._to_goal.rows_down)[rows]
        aside = np.array(self._to_goal.columns_aside[0])[columns]
        short, far, both = self._to_goal[2:]
        whole: NDArray[np.float64] = np.where(aside < down, down + short * aside, far * aside + both * down)
        return self._passage.least_cost * whole

    def _go_by_cells(self) -> None:
        self._regions.give_back(self._memory, self._version)
        self._instead = AStarSearch(self._passage, self._start, self._goal)

    def _advance_instead(self, budget: Budget) -> None:
        instead = self._instead
        assert instead is not None
        before = instead.expanded
        instead.advance(budget)
        self.expanded += instead.expanded - before
        if instead.is_done:
            self._settle(instead.result)
