"""A level cut into square regions, whose portals and the ways between them are known beforehand."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ai_core.paths.regions.region_fields as region_fields
import ai_core.paths.searches.portal_search as portal_search
from ai_core.budget import Budget
from ai_core.errors import shown, whole_number
from ai_core.maps.passage import Passage
from ai_core.paths.regions.region_portals import Portal, portals_between
from ai_core.paths.searches.portal_search import NO_PORTAL, PortalGraph, PortalSearch
from ai_core.scheduling.interruptible import Cancellable

__all__ = ["RegionGraph"]

SIDE = 32
"""Cells along a region (count). Smaller regions make more portals to look at, larger ones dearer preparation."""

STRETCH = 16
"""Cells of a border that share a portal at most (count). Fewer make ways cheaper, and searches slower."""

MOST_CHANGED = 1024
"""Cells changed at once (count) above which all is made anew."""

BORDERS = ((-1, 0), (0, -1), (0, 1), (1, 0))
"""Rows and columns of regions to the next, in the order in which a region's portals are numbered."""


class RegionGraph(Cancellable):
    """The regions of one passage. Interruptible work: advance it until it is done.

    When cells change it is not done until ``advance`` has mended the regions they lie in; a
    region is a step. ``RegionSearch`` finds ways over them.

    Args:
        passage: of 4 neighbors, or of 8 with closed or half-open corners; ``suits`` tells.
        side: cells along a region.
        stretch: cells of a border that share a portal at most.

    Raises:
        TypeError: if it is no passage.
        ValueError: if it does not suit, or a number is out of range.

    Attributes:
        graph: the portals, for searches.
        cells: (regions, room) int32, of the portals.
        rows: of each of those cells.
        columns: likewise.

    Cost: 512 × 512 cells some 0.1 s compiled, 0.3 to 0.8 s interpreted, 2.5 s on noise; a change of
        one cell the share of one region or two. 5 to 10 bytes a cell.
    Source: 003_designing_ai_for_games, navigation; Botea, Müller, Schaeffer 2004.
    """

    def __init__(self, passage: Passage, *, side: int = SIDE, stretch: int = STRETCH) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        if not self.suits(passage):
            raise ValueError(
                "passage must have 4 neighbors, or 8 and closed or half-open corners; on others search with AStarSearch"
            )
        self.passage = passage
        self.side = whole_number("side", side, minimum=4, maximum=128)
        self._stretch = whole_number("stretch", stretch, minimum=1)
        height, width = passage.shape
        self._across = -(-width // self.side)
        self._down = -(-height // self.side)
        self._begin()

    @staticmethod
    def suits(passage: Passage) -> bool:
        """Return whether there can be regions on a passage."""
        # Portals are straight moves. Past a half-open corner one gets by two of them, past two walls one does not.
        moves = len(passage.moves.lengths)
        return moves == 4 or (moves == 8 and passage.corners != "open")

    @property
    def is_done(self) -> bool:
        """True if all regions are right for the cells as they are now."""
        return not self._stale and self._version == self.passage.version

    @property
    def progress(self) -> float:
        """Share of the regions that are right."""
        return 1 - len(self._stale) / (self._across * self._down)

    @property
    def result(self) -> RegionGraph:
        """Itself.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return self

    def advance(self, budget: Budget, /) -> None:
        """Make or mend regions until all are right or the budget is spent, one at least.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        if self._version != self.passage.version:
            self._follow()
        while self._stale:
            region = next(iter(self._stale))
            self._make(region)
            del self._stale[region]
            budget.spend()
            if budget.is_spent:
                return

    def region_of(self, cell: int) -> int:
        """Return the number of the region that a cell lies in."""
        row, column = divmod(cell, self.passage.shape[1])
        return row // self.side * self._across + column // self.side

    def corner(self, region: int) -> tuple[int, int]:
        """Return the first row and the first column of a region."""
        return region // self._across * self.side, region % self._across * self.side

    def extent(self, region: int) -> tuple[int, int]:
        """Return how many rows and columns a region has: those at the far sides may have fewer."""
        top, left = self.corner(region)
        height, width = self.passage.shape
        return min(self.side, height - top), min(self.side, width - left)

    def portal_cells(self, region: int) -> list[int]:
        """Return the cells of a region's portals, as they are numbered there."""
        return [portal.cell for border in self._borders[region] for portal in border]

    def fields(self, region: int) -> NDArray[np.uint8]:
        """Return the moves from a region's cells to its portals, (portals, rows, columns)."""
        return self._fields[region]

    def lend(self) -> PortalSearch:
        """Return memory for a search, of use until cells change; ``give_back`` it when it is over."""
        return self._free.pop() if self._free else portal_search.portal_search(*self.graph)

    def give_back(self, memory: PortalSearch, version: int) -> None:
        """Keep memory for the next search, if it is from the version of the passage that is known now."""
        if version == self._version:
            self._free.append(memory)

    def _begin(self) -> None:
        count = self._across * self._down
        self._version = self.passage.version
        self._fields: list[NDArray[np.uint8]] = [np.zeros((0, 0, 0), np.uint8)] * count
        self._borders: list[list[list[Portal]]] = [[[], [], [], []] for _ in range(count)]
        for region in range(count):
            self._read_borders(region, (2, 3))
        self._allot()
        self._stale = dict.fromkeys(range(count))

    def _neighbor(self, region: int, direction: int) -> int | None:
        """Return the region beside one, None beyond the edge."""
        row, column = divmod(region, self._across)
        row, column = row + BORDERS[direction][0], column + BORDERS[direction][1]
        if 0 <= row < self._down and 0 <= column < self._across:
            return row * self._across + column
        return None

    def _read_borders(self, region: int, directions: tuple[int, ...]) -> set[int]:
        """Find the portals to some of its neighbors, on both sides; return those regions for which that changed any."""
        (top, left), (rows, columns) = self.corner(region), self.extent(region)
        width, changed = self.passage.shape[1], set()
        for direction in directions:
            neighbor = self._neighbor(region, direction)
            if neighbor is None:
                continue
            down, right = BORDERS[direction]
            row = top + (rows - 1 if down == 1 else 0) + np.arange(rows if right else 1)
            column = left + (columns - 1 if right == 1 else 0) + np.arange(columns if down else 1)
            cells = (row * width + column).astype(np.int32)
            move = self.passage.moves.even.index((down, right))
            found = portals_between(self.passage, cells, down * width + right, self._stretch, move)
            if found != self._borders[region][direction]:
                self._borders[region][direction] = found
                self._borders[neighbor][3 - direction] = [Portal(portal.other, portal.cell) for portal in found]
                changed |= {region, neighbor}
        return changed

    def _allot(self) -> None:
        """Make arrays with room for as many portals as the region with most has; all must be made anew."""
        count = len(self._borders)
        room = max(1, *(sum(map(len, borders)) for borders in self._borders))
        self.graph = PortalGraph(
            np.full((count, room, room), np.inf), np.full((count, room), NO_PORTAL, np.int32),
            np.zeros((count, room)), np.zeros(count, np.int32),
        )
        self.cells = np.zeros((count, room), np.int32)
        self.rows, self.columns = np.zeros_like(self.cells), np.zeros_like(self.cells)
        self._free: list[PortalSearch] = []
        for region in range(count):
            self._number(region)

    def _number(self, region: int) -> None:
        """Write the portals of a region, and those on their other side, into the arrays."""
        partners, enter = self.graph.partners[region], self.graph.enter[region]
        partners[:], k = NO_PORTAL, 0
        for direction, portals in enumerate(self._borders[region]):
            neighbor = self._neighbor(region, direction)
            if neighbor is None:
                continue
            first = sum(map(len, self._borders[neighbor][:3 - direction]))
            for number, portal in enumerate(portals):
                partners[k] = neighbor * len(partners) + first + number
                enter[k] = self.passage.costs.flat[portal.cell]
                self.cells[region, k] = portal.cell
                k += 1
        self.graph.counts[region] = k
        self.rows[region], self.columns[region] = np.divmod(self.cells[region], self.passage.shape[1])

    def _make(self, region: int) -> None:
        """Find the ways between the portals of a region."""
        passage, (top, left), extent = self.passage, self.corner(region), self.extent(region)
        targets = np.array(self.portal_cells(region), np.int32)
        costs, fields = np.empty((len(targets), *extent)), np.empty((len(targets), *extent), np.uint8)
        if len(targets):
            region_fields.fill_fields(
                passage.open_moves, passage.costs, passage.moves, top, left, targets, passage.even_cost, costs, fields)
        self._fields[region] = fields
        rows, columns = np.divmod(targets, passage.shape[1])
        self.graph.ways[region] = np.inf
        self.graph.ways[region, :len(targets), :len(targets)] = costs[:, rows - top, columns - left].T

    def _follow(self) -> None:
        """Find out which regions are to be made anew, or begin anew where that is less work."""
        changed = self.passage.changed_since(self._version)
        if changed is None or len(changed) > MOST_CHANGED:
            self._begin()
            return
        self._version = self.passage.version
        self._free = []
        stale = {self.region_of(cell) for cell in changed.tolist()}
        for region in sorted(stale):
            stale |= self._read_borders(region, (0, 1, 2, 3))
        if max(sum(map(len, self._borders[region])) for region in stale) > self.graph.partners.shape[1]:
            kept = self.graph.ways
            self._allot()
            self.graph.ways[:, :kept.shape[1], :kept.shape[1]] = kept
        around = {self._neighbor(region, direction) for region in stale for direction in range(4)}
        for number in sorted(stale | {region for region in around if region is not None}):
            self._number(number)
        self._stale.update(dict.fromkeys(sorted(stale)))
