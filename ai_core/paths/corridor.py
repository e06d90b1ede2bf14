"""Corridor: a path on a grid that follows small moves of its mover and goal without a full search."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_type, whole_number
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import Path
from ai_core.paths.searches.cells_along import costs_along, moves_along, remove_loops
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.string_pulling import pull_cells
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import ArrayOf, Whole

__all__ = ["Corridor"]

NEAR_CELLS = 16
"""Cells of the path (count) that a small move may rejoin; farther ahead, a full search finds a better path."""

MOST_EXPANDED = 256
"""Largest number of cells expanded for one move (count): 10 µs compiled, 0.4 ms interpreted. Enough
for moves of many cells on open ground, and of about 8 around a wall."""


class Corridor(Saveable):
    """Remaining path of a mover.

    After a move of the mover or the goal, a short search rejoins the path, if possible some cells
    ahead. After many moves the path may cost more than a new one: ``drift`` counts the cells added
    by moves; request a new path when it becomes a large part of the path.

    Args:
        passage: passage of the grid.
        path: path on the passage, found or partial.
        memory: memory for the short searches; None creates one.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the path is empty or not open on the passage, or the memory belongs to another passage.

    Attributes:
        cells: (n,) int32, cells from the mover to the goal.
        drift: number of cells added by moves.

    Cost: O(cells of the path) per move, plus a search of at most ``MOST_EXPANDED`` cells if it leaves the path.
    Source: 003_designing_ai_for_games, navigation; Detour's path corridor.
    """

    SHOWN = ("cells", "cost")

    STATE = DeclaredState(
        cells=ArrayOf(np.int32, minimum=0, maximum=lambda corridor: corridor._passage.costs.size - 1), drift=Whole())

    def __init__(self, passage: GridPassage, path: Path, *, memory: SearchMemory | None = None) -> None:
        check_type("passage", passage, GridPassage)
        check_type("path", path, Path)
        if not len(path.cells):
            raise ValueError("path must have cells, got none; a path with the state 'none' has no corridor")
        self._passage = passage
        self._memory = memory or SearchMemory(passage)
        self.cells: NDArray[np.int32] = path.cells
        self.drift = 0
        if not self.is_open():
            raise ValueError("path must be open on the passage as it is now; request a new path")

    @property
    def start(self) -> int:
        """Cell of the mover."""
        return int(self.cells[0])

    @property
    def goal(self) -> int:
        """Cell of the goal."""
        return int(self.cells[-1])

    @property
    def cost(self) -> float:
        """Cost of the remaining path."""
        return float(costs_along(self._passage, self.cells)[0])

    def is_open(self, ahead: int | None = None) -> bool:
        """Return whether the path is still open; changed cells may have closed it.

        Args:
            ahead: number of cells ahead to check; None for all.
        """
        cells = self.cells if ahead is None else self.cells[:ahead + 1]
        if int(self.cells.max()) >= self._passage.costs.size:
            return False
        return bool((moves_along(self._passage, cells) >= 0).all())

    def move_start(self, cell: int) -> bool:
        """Update the path for a new cell of the mover; return False, without a change, if it is too far away.

        Raises:
            TypeError, ValueError: if ``cell`` is not a cell of the grid.
        """
        joined = self._joined(cell, self.cells)
        if joined is None:
            return False
        self.cells = joined
        return True

    def move_goal(self, cell: int) -> bool:
        """Update the path for a new cell of the goal; return False, without a change, if it is too far away.

        Raises:
            TypeError, ValueError: if ``cell`` is not a cell of the grid.
        """
        joined = self._joined(cell, self.cells[::-1])
        if joined is None:
            return False
        self.cells = np.ascontiguousarray(joined[::-1])
        return True

    def turns(self) -> NDArray[np.int32]:
        """Return the cells at which the straightened path turns; the first is the cell of the mover."""
        return pull_cells(self._passage, self.cells)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if not len(values.cells):
            refuse("cells", "must be at least one cell, got none")

    def _joined(self, cell: int, path_cells: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """Return a path from a cell that joins another near its start, or None."""
        cell = whole_number("cell", cell, minimum=0, maximum=self._passage.costs.size - 1)
        near = path_cells[:NEAR_CELLS]
        on_it = np.flatnonzero(near == cell)
        if len(on_it):
            return path_cells[int(on_it[0]):]
        link = self._link(cell, near[-1:]) if len(near) > 1 else None
        link = self._link(cell, near) if link is None else link
        if link is None:
            return None
        rest = path_cells[int(np.flatnonzero(near == link[-1])[0]) + 1:]
        self.drift += max(0, len(link) + len(rest) - len(path_cells))
        return remove_loops(np.concatenate([link, rest]))

    def _link(self, cell: int, goals: NDArray[np.int32]) -> NDArray[np.int32] | None:
        search = AStarSearch(self._passage, cell, goals.tolist(), max_expanded=MOST_EXPANDED, memory=self._memory)
        search.advance(Budget.unlimited())
        return search.result.cells if search.result.is_found else None
