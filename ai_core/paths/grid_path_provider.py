"""Path provider over a grid for ``PathService``: keeps search memory, jumps and reachability ready."""
from __future__ import annotations

import math

import numpy as np

from ai_core.budget import Budget
from ai_core.described import Described
from ai_core.errors import check_type
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import Path, path_record
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.cells_along import is_path
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.kinds import Number, Whole

__all__ = ["GridPathProvider"]

LONG_PATH = 3
"""Smallest distance of start and goal, in region sides (count), for searches over regions: on shorter paths the
detour over portals exceeds a few per cent, and a search over cells is short."""


class GridPathProvider(Described):
    """Path provider of a ``PathService`` for one passage of a grid.

    Keeps memory for as many searches as run at once, answers requests for unreachable goals without
    a search once ``reachability`` is ready, and uses jumps where the grid allows them. ``prepare``
    builds and updates both as the budget allows; searches are correct without them.

    Args:
        passage: passage of the grid.
        partial: result for a goal that cannot be reached. True: "partial", with the path to the nearest
            reachable cell, which needs a search. False: "none", without a search once reachability is
            ready. A start in a wall always gets "none".
        regions: True to search long paths over regions where jumps do not help: a few per cent more
            expensive than the cheapest path, and found in a few hundred steps. Improving long paths start with one.

    Raises:
        TypeError: if ``passage`` is not a GridPassage.
        ValueError: if the passage does not support regions.
    """

    SHOWN = ("passage", "is_prepared", "version")

    run_on_threads = True
    """True: searches share no data that changes while they run."""

    def __init__(self, passage: GridPassage, *, partial: bool = False, regions: bool = False) -> None:
        check_type("passage", passage, GridPassage)
        self.passage = passage
        self.partial = bool(partial)
        self.reachability = Reachability(passage)
        self.regions = RegionGraph(passage) if regions else None
        self.jumps: JumpTable | None = None
        self._memories: list[SearchMemory] = []
        last = passage.costs.size - 1
        self.place_kind = Whole(0, last)
        self.path_kind = path_record(
            last, cost=Number(0, absent=math.inf), expanded=Whole(), bound=Number(1, absent=math.inf))

    @property
    def version(self) -> int:
        """Version of the passage; increases when cells change, as earlier paths may lead through new walls."""
        return self.passage.version

    @property
    def is_prepared(self) -> bool:
        """True if all data for fast searches is built and up to date."""
        if not self.reachability.is_done or (self.regions is not None and not self.regions.is_done):
            return False
        if not JumpTable.suits(self.passage):
            return True
        return self.jumps is not None and self.jumps.is_done

    def check(self, name: str, place: object) -> int:
        """Return a place if it is a cell of the grid.

        Raises:
            TypeError, ValueError: if it is not a cell.
        """
        return self.passage.check_cell(name, place)

    def distance(self, one: int, other: int) -> float:
        """Return the straight distance of two cells (cells)."""
        width = self.passage.shape[1]
        return math.hypot(one // width - other // width, one % width - other % width)

    def known_answer(self, start: int, goal: int) -> Path | None:
        """Return the empty path if the goal is known to be unreachable; otherwise None, and always with ``partial``.

        A start or goal in a wall counts as unreachable.
        """
        if self.partial or start == goal or not self.reachability.is_done:
            return None
        if self.reachability.are_connected(start, goal):
            return None
        return Path("none", np.zeros(0, np.int32), math.inf, 0)

    def begin(self, start: int, goal: int) -> AStarSearch | RegionSearch:
        """Return a new search for a path."""
        has_jumps = self.jumps is not None and self.jumps.is_worthwhile
        if self.regions is not None and not has_jumps and self._is_long(self.regions, start, goal):
            return RegionSearch(self.regions, start, goal)
        return AStarSearch(self.passage, start, goal, memory=self._free_memory())

    def begin_improving(self, start: int, goal: int, known: Path | None) -> AnytimeSearch:
        """Return a new search that finds a path quickly and then cheaper ones.

        Args:
            start: cell of the mover.
            goal: goal cell.
            known: path of an earlier search, used if it is still open; None for none.
        """
        if known is not None and not is_path(self.passage, known.cells, start, np.array([goal])):
            known = None
        is_over = known is None and self.regions is not None and self._is_long(self.regions, start, goal)
        return AnytimeSearch(
            self.passage, start, goal, known=known, regions=self.regions if is_over else None,
            memory=self._free_memory())

    def answer(self, start: int, path: Path) -> Path:
        """Return the path for a request from the result of a search; independent of reachability being ready."""
        if path.is_found:
            return path
        if not self.partial or not self.passage.is_free(start):
            return Path("none", np.zeros(0, np.int32), math.inf, path.expanded)
        if path.state == "none":    # no cell is nearer than the start
            return Path("partial", np.array([start], np.int32), 0.0, path.expanded)
        return path

    def _free_memory(self) -> SearchMemory:
        memory = next((one for one in self._memories if one.holder is None), None)
        if memory is None:
            memory = SearchMemory(self.passage)
            self._memories.append(memory)
        if memory.jumps is not self.jumps:
            memory.jumps = self.jumps
        return memory

    def _is_long(self, regions: RegionGraph, start: int, goal: int) -> bool:
        return regions.is_done and self.distance(start, goal) >= LONG_PATH * regions.side

    def fits(self, budget: Budget) -> bool:
        """Return True: the searches pause after any number of steps."""
        return True

    def prepare(self, budget: Budget) -> None:
        """Build or update the data for fast searches until the budget is spent."""
        if not self.reachability.is_done:
            self.reachability.advance(budget)
            if budget.is_spent:
                return
        if not JumpTable.suits(self.passage):
            self.jumps = None
        else:
            self.jumps = self.jumps or JumpTable(self.passage)
            if not self.jumps.is_done:
                self.jumps.advance(budget)
        if self.regions is not None and not self.regions.is_done and not budget.is_spent:
            self.regions.advance(budget)
