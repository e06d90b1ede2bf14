"""Ways over a grid, for a path service: memory, jumps and reachability kept ready."""
from __future__ import annotations

import math

import numpy as np

from ai_core.budget import Budget
from ai_core.errors import shown, whole_number
from ai_core.maps.passage import Passage
from ai_core.paths.jump_table import JumpTable
from ai_core.paths.path import Path
from ai_core.paths.reachability import Reachability
from ai_core.paths.search import AStarSearch
from ai_core.paths.search_memory import SearchMemory

__all__ = ["GridWays"]


class GridWays:
    """What a ``PathService`` asks for ways over one passage.

    Keeps memory for as many searches as ran at once, knows hopeless requests at once
    when ``reachability`` is there, and jumps where the grid allows it. Both are made and
    mended as ``prepare`` gets time; without them searches are right all the same.

    Args:
        passage: where.
        partial: whether a request that is hopeless always gets the way to the nearest cell that
            can be reached, which a search must find; else it gets none as soon as that is known.

    Raises:
        TypeError: if it is none.
    """

    def __init__(self, passage: Passage, *, partial: bool = False) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        self.passage = passage
        self.partial = bool(partial)
        self.reachability = Reachability(passage)
        self.jumps: JumpTable | None = None
        self._memories: list[SearchMemory] = []

    @property
    def version(self) -> int:
        """Rises when cells change: ways found before may lead through walls."""
        return self.passage.version

    @property
    def is_prepared(self) -> bool:
        """True if nothing is left to be made or mended."""
        if self.jumps is None or not JumpTable.suits(self.passage):
            return self.reachability.is_done and not JumpTable.suits(self.passage)
        return self.reachability.is_done and self.jumps.is_done

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

        Who stands in a wall, or goes to one, has none either; snap such cells first.
        """
        if self.partial or start == goal or not self.reachability.is_done:
            return None
        if self.reachability.are_connected(start, goal):
            return None
        return Path("none", np.zeros(0, np.int32), math.inf, 0)

    def begin(self, start: int, goal: int) -> AStarSearch:
        """Return a search for a way."""
        memory = next((one for one in self._memories if one.holder is None), None)
        if memory is None:
            memory = SearchMemory(self.passage)
            self._memories.append(memory)
        if memory.jumps is not self.jumps:
            memory.jumps = self.jumps
        return AStarSearch(self.passage, start, goal, memory=memory)

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
