"""A corridor: a way on a grid that follows small moves of its mover and of its goal, without a search anew."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import shown, whole_number
from ai_core.maps.passage import Passage
from ai_core.paths.path import Path
from ai_core.paths.searches.cells_along import costs_along, moves_along, without_loops
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.string_pulling import pull_cells
from ai_core.saving.fields import Fields, State

__all__ = ["Corridor"]

NEAR_CELLS = 16
"""Cells of the way (count) that a small move may join: beyond, a fresh search would find a better way."""

MOST_EXPANDED = 256
"""Cells looked at for one move (count): 10 µs compiled, 0.4 ms interpreted. In the open
moves of many cells are followed, round a wall those of some 8."""


class Corridor:
    """The rest of a way.

    A move is followed by a little search back to the way, some cells on if that is near
    enough. After many of them it may be dearer than a fresh way: ``drift`` says how many cells
    were added so; ask for another when that is a good part of the way.

    Args:
        passage: where.
        path: a way on it that leads to its goal, or as near as one gets.
        memory: for the little searches; None makes its own.

    Raises:
        TypeError: if they are of another type.
        ValueError: if the way is none of the passage as it is now, or the memory is of another.

    Attributes:
        cells: (n,) int32, from the mover to the goal.
        drift: cells that moves have added.

    Cost: O(cells of the way) for a move, and a search of at most ``MOST_EXPANDED`` cells if it leaves the way.
    Source: 003_designing_ai_for_games, navigation; Detour's path corridor.
    """

    def __init__(self, passage: Passage, path: Path, *, memory: SearchMemory | None = None) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        if not isinstance(path, Path):
            raise TypeError(f"path must be a Path, got {shown(path)}")
        if not len(path.cells):
            raise ValueError("path must have cells, got none: no way leads there")
        self._passage = passage
        self._memory = memory or SearchMemory(passage)
        self.cells: NDArray[np.int32] = path.cells
        self.drift = 0
        if not self.is_open():
            raise ValueError("path must be a way on the passage as it is now; ask for it anew")

    @property
    def start(self) -> int:
        """Where the mover is."""
        return int(self.cells[0])

    @property
    def goal(self) -> int:
        """Where it goes."""
        return int(self.cells[-1])

    @property
    def cost(self) -> float:
        """What the rest of the way costs."""
        return float(costs_along(self._passage, self.cells)[0])

    def is_open(self, ahead: int | None = None) -> bool:
        """Return whether the way is open still: where cells changed it may not be.

        Args:
            ahead: how many cells of it to look at; None for all.
        """
        cells = self.cells if ahead is None else self.cells[:ahead + 1]
        if int(self.cells.max()) >= self._passage.costs.size:
            return False
        return bool((moves_along(self._passage, cells) >= 0).all())

    def move_start(self, cell: int) -> bool:
        """Follow the mover to a cell; return False, and stay as it is, if it is too far from the way.

        Raises:
            TypeError, ValueError: if it is no cell.
        """
        joined = self._joined(cell, self.cells)
        if joined is None:
            return False
        self.cells = joined
        return True

    def move_goal(self, cell: int) -> bool:
        """Follow the goal to a cell; return False, and stay as it is, if it is too far from the way.

        Raises:
            TypeError, ValueError: if it is no cell.
        """
        joined = self._joined(cell, self.cells[::-1])
        if joined is None:
            return False
        self.cells = np.ascontiguousarray(joined[::-1])
        return True

    def turns(self) -> NDArray[np.int32]:
        """Return the cells at which it turns, once it is pulled straight; the first is the mover's."""
        return pull_cells(self._passage, self.cells)

    def save_state(self) -> State:
        """Return the rest of the way as plain data."""
        return {"version": 1, "cells": self.cells.tolist(), "drift": self.drift}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what ``save_state`` returned; return what takes it back; ``is_open`` says whether it is open still.

        Raises:
            StateError: if something does not fit.
        """
        fields = Fields.versioned(state, version=1)
        cells = np.array(fields.wholes("cells", maximum=self._passage.costs.size - 1), np.int32)
        if not len(cells):
            fields.refuse("cells", "must be one at least")
        drift = fields.whole("drift")
        fields.end()

        def change() -> None:
            self.cells, self.drift = cells, drift

        return change

    def _joined(self, cell: int, way: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """Return a way from a cell that joins another near its beginning, or None."""
        cell = whole_number("cell", cell, minimum=0, maximum=self._passage.costs.size - 1)
        near = way[:NEAR_CELLS]
        on_it = np.flatnonzero(near == cell)
        if len(on_it):
            return way[int(on_it[0]):]
        link = self._link(cell, near[-1:]) if len(near) > 1 else None
        link = self._link(cell, near) if link is None else link
        if link is None:
            return None
        rest = way[int(np.flatnonzero(near == link[-1])[0]) + 1:]
        self.drift += max(0, len(link) + len(rest) - len(way))
        return without_loops(np.concatenate([link, rest]))

    def _link(self, cell: int, goals: NDArray[np.int32]) -> NDArray[np.int32] | None:
        search = AStarSearch(self._passage, cell, goals.tolist(), most_expanded=MOST_EXPANDED, memory=self._memory)
        search.advance(Budget.unlimited())
        return search.result.cells if search.result.is_found else None
