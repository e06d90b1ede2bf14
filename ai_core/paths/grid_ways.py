"""Ways over a grid, for a path service: memory, jumps and reachability kept ready."""
from __future__ import annotations

import math
from typing import get_args

import numpy as np

from ai_core.budget import Budget
from ai_core.errors import shown, whole_number
from ai_core.maps.passage import Passage
from ai_core.paths.path import Path, PathState
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.cells_along import is_way
from ai_core.paths.searches.improving_search import ImprovingSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.fields import Fields, State

__all__ = ["GridWays"]

LONG_WAY = 3
"""Sides of a region (count) that ends must be apart for regions to be used: on shorter ways portals are a
detour of more than some hundredths, and a search by cells is short."""


class GridWays:
    """What a ``PathService`` asks for ways over one passage.

    Keeps memory for as many searches as ran at once, knows hopeless requests at once
    when ``reachability`` is there, and jumps where the grid allows it. Both are made and
    mended as ``prepare`` gets time; without them searches are right all the same.

    Args:
        passage: where.
        partial: what a request gets whose goal cannot be reached. True: "partial", with the way to the nearest
            cell that can be reached, which a search must find. False: "none", without a search where reachability
            is known. A start in a wall always gets "none".
        regions: whether long ways may go over regions where jumps do not help: some hundredths
            dearer than the cheapest, and found in some hundred steps. Long ways that improve begin with one.

    Raises:
        TypeError: if it is none.
        ValueError: if there can be no regions on it.
    """

    run_on_threads = True
    """Searches share nothing that changes while they run."""

    def __init__(self, passage: Passage, *, partial: bool = False, regions: bool = False) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        self.passage = passage
        self.partial = bool(partial)
        self.reachability = Reachability(passage)
        self.regions = RegionGraph(passage) if regions else None
        self.jumps: JumpTable | None = None
        self._memories: list[SearchMemory] = []

    @property
    def version(self) -> int:
        """Rises when cells change: ways found before may lead through walls."""
        return self.passage.version

    @property
    def is_prepared(self) -> bool:
        """True if nothing is left to be made or mended."""
        if not self.reachability.is_done or (self.regions is not None and not self.regions.is_done):
            return False
        if not JumpTable.suits(self.passage):
            return True
        return self.jumps is not None and self.jumps.is_done

    def check(self, name: str, place: object) -> int:
        """Return a place if it is a cell.

        Raises:
            TypeError, ValueError: if it is none.
        """
        return whole_number(name, place, minimum=0, maximum=self.passage.costs.size - 1)

    def distance(self, one: int, other: int) -> float:
        """Return how far two cells are apart (cells), as the crow flies."""
        width = self.passage.shape[1]
        return math.hypot(one // width - other // width, one % width - other % width)

    def hopeless(self, start: int, goal: int) -> Path | None:
        """Return the answer if it is known that there is no way, else None; always None if partial.

        Who stands in a wall, or goes to one, has none either; see ``ai_core.maps.passage``.
        """
        if self.partial or start == goal or not self.reachability.is_done:
            return None
        if self.reachability.are_connected(start, goal):
            return None
        return Path("none", np.zeros(0, np.int32), math.inf, 0)

    def begin(self, start: int, goal: int) -> AStarSearch | RegionSearch:
        """Return a search for a way."""
        if self.regions is not None and self._goes_over(self.regions, start, goal):
            return RegionSearch(self.regions, start, goal)
        return AStarSearch(self.passage, start, goal, memory=self._free_memory())

    def begin_improving(self, start: int, goal: int, known: Path | None) -> AnytimeSearch | ImprovingSearch:
        """Return a search for a way soon, then cheaper ones.

        Args:
            start: where the mover is.
            goal: where to.
            known: a way from an earlier search, of use if it is one still.
        """
        if known is not None and not is_way(self.passage, known.cells, start, np.array([goal])):
            known = None
        if known is None and self.regions is not None and self._is_long(self.regions, start, goal):
            return ImprovingSearch(self.regions, start, goal, memory=self._free_memory())
        return AnytimeSearch(self.passage, start, goal, known=known, memory=self._free_memory())

    def answer(self, start: int, path: Path) -> Path:
        """Return what a request gets for the result of a search: the same whether reachability was known or not."""
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

    def _goes_over(self, regions: RegionGraph, start: int, goal: int) -> bool:
        has_jumps = self.jumps is not None and self.jumps.is_worthwhile
        return not has_jumps and self._is_long(regions, start, goal)

    def _is_long(self, regions: RegionGraph, start: int, goal: int) -> bool:
        return regions.is_done and self.distance(start, goal) >= LONG_WAY * regions.side

    def fits(self, budget: Budget) -> bool:
        """Return True: its searches pause wherever they are told to."""
        return True

    def prepare(self, budget: Budget) -> None:
        """Make or mend what makes searches fast, until the budget is spent."""
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

    def place_state(self, place: int) -> int:
        """Return a cell as a save holds it."""
        return place

    def place_of(self, fields: Fields, name: str) -> int:
        """Return a cell out of a save.

        Raises:
            StateError: if it is none of the grid.
        """
        return fields.whole(name, maximum=self.passage.costs.size - 1)

    def path_state(self, path: Path) -> State:
        """Return a way as a save holds it."""
        return {
            "state": path.state, "cells": path.cells.tolist(), "cost": path.cost if path.cost < math.inf else None,
            "expanded": path.expanded, "bound": path.bound,
        }

    def path_of(self, fields: Fields) -> Path:
        """Return a way out of a save; that its cells are open now nobody says.

        Raises:
            StateError: if it is none.
        """
        cells = np.array(fields.wholes("cells", maximum=self.passage.costs.size - 1), np.int32)
        state: PathState = fields.one_of("state", get_args(PathState))  # type: ignore[assignment]
        if (state == "none") != (len(cells) == 0):
            fields.refuse("cells", f"must be there unless there is no way, got {len(cells)} with {state!r}")
        cost, bound = fields.number_or("cost", math.inf, minimum=0), fields.number("bound", minimum=1)
        path = Path(state, cells, cost, fields.whole("expanded"), bound)
        fields.end()
        return path
