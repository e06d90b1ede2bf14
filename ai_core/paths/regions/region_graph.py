"""Region graph: a grid divided into square regions, with precomputed portals and paths between them."""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_type, whole_number
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import PreparedGround
from ai_core.paths.regions.region_loops import FieldGround, RegionFields
from ai_core.paths.searches.jump_loops import NO_PORTAL, PortalSearch

__all__ = ["RegionGraph"]

SIDE = 32
"""Side length of a region (cells). Smaller regions have more portals, larger ones take longer to prepare."""

STRETCH = 16
"""Largest number of border cells per portal (count). Fewer give cheaper paths and slower searches."""

MOST_CHANGED = 1024
"""Number of changed cells (count) above which all regions are rebuilt."""

BORDERS = ((-1, 0), (0, -1), (0, 1), (1, 0))
"""Row and column offsets to the neighboring regions, in the order of portal numbers."""


class PortalGraph(NamedTuple):
    """Portals of a grid, with room for a fixed number of portals per region.

    A portal is numbered by its region and its index there.

    Attributes:
        portal_costs: (regions, room, room) float64, costs from portal to portal within a region, ``inf`` without
            a path.
        partners: (regions, room) int32, portal on the other side, ``NO_PORTAL`` for none.
        enter: (regions, room) float64, cost of entering the cell of the portal from the other side.
        counts: (regions,) int32, number of portals of each region.
    """

    portal_costs: NDArray[np.float64]
    partners: NDArray[np.int32]
    enter: NDArray[np.float64]
    counts: NDArray[np.int32]


class Portal(NamedTuple):
    """Pair of neighboring cells: ``cell`` in one region, ``other`` in the next."""

    cell: int
    other: int


class RegionGraph(PreparedGround):
    """Regions of one passage. Interruptible work: advance it until it is done.

    After cells change, it is not done until ``advance`` has updated their regions; the field of a portal is a
    step. ``RegionSearch`` finds paths over the regions.

    Args:
        passage: passage with 4 neighbors, or with 8 and closed or half-open corners; see ``suits``.
        side: side length of a region (cells), 4 to 128.
        stretch: largest number of border cells per portal (count), 1 or more.

    Raises:
        TypeError: if ``passage`` is not a GridPassage.
        ValueError: if the passage does not support regions, or a number is out of range.

    Attributes:
        graph: portal graph for searches.
        ground: the grid on which the paths within regions are computed.
        cells: (regions, room) int32, cells of the portals.
        rows: (regions, room) int32, rows of these cells.
        columns: (regions, room) int32, columns of these cells.

    Cost: for 512 × 512 cells about 0.1 s, and on noise 0.5 s; a change of
        one cell costs the update of one or two regions. 5 to 10 bytes per cell.
    Source: 003_designing_ai_for_games, navigation; Botea, Müller, Schaeffer 2004.
    """

    SHOWN = ("side", "progress")

    def __init__(self, passage: GridPassage, *, side: int = SIDE, stretch: int = STRETCH) -> None:
        check_type("passage", passage, GridPassage)
        if not self.suits(passage):
            raise ValueError(
                "passage must have 4 neighbors, or 8 and closed or half-open corners; use AStarSearch on others")
        self.passage = passage
        self.ground = FieldGround(passage.open_moves, passage.costs, passage.moves)
        self.side = whole_number("side", side, minimum=4, maximum=128)
        self._stretch = whole_number("stretch", stretch, minimum=1)
        height, width = passage.shape
        self._across = -(-width // self.side)
        self._down = -(-height // self.side)
        self._reading: Iterator[None] | None = None     # of all borders
        self._steps: Iterator[bool] | None = None       # of the first stale region
        self._begin()

    @staticmethod
    def suits(passage: GridPassage) -> bool:
        """Return whether a passage supports regions."""
        # Portals are straight moves. Two of them lead around a half-open corner, but not between two walls.
        moves = len(passage.moves.lengths)
        return moves == 4 or (moves == 8 and passage.corners != "open")

    @property
    def is_done(self) -> bool:
        """True if all regions are valid for the current cells."""
        return not self._stale and self._version == self.passage.version

    @property
    def progress(self) -> float:
        """Progress, 0 to 1: a tenth for the borders, the rest for the regions that are valid."""
        count = self._across * self._down
        return 0.9 * (1 - len(self._stale) / count) + 0.1 * (1 - self._unread / (2 * count + 1))

    def advance(self, budget: Budget, /) -> None:
        """Build or update regions until all are valid or the budget is spent; at least one region's borders or portal.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        while not self.is_done:
            if self._reading is not None:       # cells that change meanwhile are read again afterwards
                self._unread -= 1
                if next(self._reading, self) is self:
                    self._reading = None
            elif self._version != self.passage.version:
                self._follow()
                continue
            else:
                region = next(iter(self._stale))
                self._steps = self._steps or self._make(region)
                if next(self._steps, True):
                    self._steps = None
                    del self._stale[region]
            budget.spend()
            if budget.is_spent:
                return

    def region_of(self, cell: int) -> int:
        """Return the number of the region of a cell."""
        row, column = divmod(self.passage.check_cell("cell", cell), self.passage.shape[1])
        return row // self.side * self._across + column // self.side

    def corner(self, region: int) -> tuple[int, int]:
        """Return the first row and the first column of a region."""
        self._check(region)
        return region // self._across * self.side, region % self._across * self.side

    def extent(self, region: int) -> tuple[int, int]:
        """Return the numbers of rows and columns of a region; those at the last rows and columns may be smaller."""
        top, left = self.corner(region)
        height, width = self.passage.shape
        return min(self.side, height - top), min(self.side, width - left)

    def portal_cells(self, region: int) -> list[int]:
        """Return the cells of the portals of a region, in the order of portal numbers."""
        self._check(region)
        return [portal.cell for border in self._borders[region] for portal in border]

    def fields(self, region: int) -> RegionFields:
        """Return the fields of a region, to its portals in the order of portal numbers."""
        self._check(region)
        return self._fields[region]

    def _check(self, region: int) -> None:
        whole_number("region", region, minimum=0, maximum=self._across * self._down - 1,
                     remedy="region_of(cell) is the region of a cell")

    def borrow_memory(self) -> PortalSearch:
        """Return memory for a search, valid until cells change; return it with ``return_memory``."""
        return self._free.pop() if self._free else PortalSearch(*self.graph)

    def return_memory(self, memory: PortalSearch, version: int) -> None:
        """Keep memory for the next search, if it belongs to the current version of the passage."""
        if version == self._version:
            self._free.append(memory)

    def _begin(self) -> None:
        count = self._across * self._down
        self._version = self.passage.version
        self._steps = None
        self._fields: dict[int, RegionFields] = {}
        self._borders: list[list[list[Portal]]] = [[[], [], [], []] for _ in range(count)]
        self._free: list[PortalSearch] = []
        self._stale = dict.fromkeys(range(count))
        self._reading, self._unread = self._read_all(), 2 * count + 1

    def _read_all(self) -> Iterator[None]:
        for region in range(len(self._borders)):
            self._read_borders(region, (2, 3))
            yield
        self._allot()
        for region in range(len(self._borders)):
            yield
            self._number(region)

    def _neighbor(self, region: int, direction: int) -> int | None:
        """Return the neighboring region in a direction, None outside the grid."""
        row, column = divmod(region, self._across)
        row, column = row + BORDERS[direction][0], column + BORDERS[direction][1]
        if 0 <= row < self._down and 0 <= column < self._across:
            return row * self._across + column
        return None

    def _read_borders(self, region: int, directions: tuple[int, ...]) -> set[int]:
        """Update the portals to some neighbors, on both sides; return the regions with changed portals."""
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
            found = _portals_between(self.passage, cells, down * width + right, self._stretch, move)
            if found != self._borders[region][direction]:
                self._borders[region][direction] = found
                self._borders[neighbor][3 - direction] = [Portal(portal.other, portal.cell) for portal in found]
                changed |= {region, neighbor}
        return changed

    def _allot(self) -> None:
        """Allocate arrays for the largest number of portals of a region; all must be numbered again."""
        count = len(self._borders)
        room = max(1, *(sum(map(len, borders)) for borders in self._borders))
        self.graph = PortalGraph(
            np.full((count, room, room), np.inf), np.full((count, room), NO_PORTAL, np.int32),
            np.zeros((count, room)), np.zeros(count, np.int32))
        self.cells = np.zeros((count, room), np.int32)
        self.rows, self.columns = np.zeros_like(self.cells), np.zeros_like(self.cells)

    def _number(self, region: int) -> None:
        """Write the portals of a region and their partners into the arrays."""
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

    def _make(self, region: int) -> Iterator[bool]:
        """Compute the paths between the portals of a region; yields False after each portal but the last."""
        passage, (top, left), extent = self.passage, self.corner(region), self.extent(region)
        targets = self.portal_cells(region)
        fields = RegionFields(self.ground, top, left, np.empty((len(targets), *extent), np.uint8))
        portal_costs = self.graph.portal_costs[region]
        portal_costs[:] = np.inf
        for number, target in enumerate(targets):
            portal_costs[:len(targets), number] = fields.fill([target], targets, passage.uniform_cost, number)[:, 0]
            if number + 1 < len(targets):
                yield False
        self._fields[region] = fields

    def _follow(self) -> None:
        """Mark the regions to rebuild after changes, or restart if that is less work."""
        changed = self.passage.changed_since(self._version)
        if changed is None or len(changed) > MOST_CHANGED:
            self._begin()
            return
        self._version, self._steps = self.passage.version, None
        self._free = []
        stale = {self.region_of(cell) for cell in changed.tolist()}
        for region in sorted(stale):
            stale |= self._read_borders(region, (0, 1, 2, 3))
        around = {self._neighbor(region, direction) for region in stale for direction in range(4)}
        changed_numbers = stale | {region for region in around if region is not None}
        if max(sum(map(len, self._borders[region])) for region in stale) > self.graph.partners.shape[1]:
            kept = self.graph.portal_costs
            self._allot()
            self.graph.portal_costs[:, :kept.shape[1], :kept.shape[1]] = kept
            changed_numbers = {*range(len(self._borders))}
        for number in sorted(changed_numbers):
            self._number(number)
        self._stale.update(dict.fromkeys(sorted(stale)))


def _portals_between(
    passage: GridPassage, cells: NDArray[np.int32], step: int, longest: int, move: int
) -> list[Portal]:
    """Return the portals of one border, in its order: the middle pair of cells of each stretch of open pairs.

    Cost: O(n).
    """
    is_open = (passage.open_moves.reshape(-1)[cells] >> move & 1).astype(bool)
    if not is_open.any():
        return []
    edges = np.diff(np.concatenate([[False], is_open, [False]]).astype(np.int8))
    portals = []
    for begin, end in zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True):
        pieces = -(-(end - begin) // longest)
        for piece in range(pieces):
            first = begin + (end - begin) * piece // pieces
            last = begin + (end - begin) * (piece + 1) // pieces
            cell = int(cells[(first + last) // 2])
            portals.append(Portal(cell, cell + step))
    return portals
