"""Grid of cells with the cost of entering each, per class of movers and per team.

Cells are numbered ``row * width + column``. A grid is made from arrays; readers of Moving AI
maps, TileMapLayer and GridMap supply them.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import UnknownNameError, as_array, checked_name, flags, indices, named, shown, whole_number
from ai_core.maps.cell_moves import CORNER_RULES, Corners, moves_for
from ai_core.maps.passage import GridPassage

__all__ = ["MOST_CELLS", "Grid"]

MOST_CELLS = 1 << 24
"""Largest number of cells of a grid (count), such as 4096 × 4096: about 100 MB with the memory of a search.
Above it, cell numbers times moves would not fit 32-bit integers."""

SMALLEST_COST, LARGEST_COST = 1e-3, 1e6
"""Range of cell costs, besides ``inf`` for a cell that cannot be entered; outside it sums lose digits."""

DEFAULT = ""


class Grid(Described):
    """Grid of cells that movers walk on.

    A move costs the cost of the entered cell times the length of the move (1, or the square
    root of 2 for a diagonal). ``passage`` returns the grid as a class of movers or a team
    experiences it, with costs and closed cells of their own.

    Args:
        cells: (height, width): bool, True for walkable cells; or numbers, the cost of entering
            each cell, ``inf`` for a cell that cannot be entered.
        neighbors: 4, 8, or 6 for a hexagonal grid with odd rows shifted half a cell to the right.
        corners: with 8 neighbors, when a diagonal is open: "closed" if both cells beside it are
            free (no corner is cut), "half_open" if at least one is, "open" always.

    Raises:
        TypeError: if ``cells`` are neither bool nor numbers.
        ValueError: if ``cells`` are empty, not two-dimensional or more than ``MOST_CELLS``, or a cost is
            NaN or outside ``SMALLEST_COST`` to ``LARGEST_COST``.

    >>> grid = Grid([[True, False], [True, True]])
    >>> grid.passage().is_free(grid.cell(0, 1))
    False
    """

    SHOWN = ("shape",)

    def __init__(self, cells: ArrayLike, *, neighbors: int = 8, corners: Corners = "closed") -> None:
        if corners not in CORNER_RULES:
            raise ValueError(f"corners must be one of {', '.join(CORNER_RULES)}, got {shown(corners)}")
        self.neighbors = neighbors
        self.corners = corners
        self._moves = moves_for(neighbors)
        costs = _costs_of("cells", cells)
        if costs.ndim != 2 or not costs.size:
            raise ValueError(f"cells must have shape (height, width), got {costs.shape}")
        if costs.size > MOST_CELLS:
            raise ValueError(f"cells must be at most {MOST_CELLS}, got {costs.size}; use larger cells or several grids")
        self.shape: tuple[int, int] = costs.shape
        self._costs = {DEFAULT: costs}
        self._closed: dict[str, NDArray[np.bool_]] = {}
        self._passages: dict[tuple[str, str], GridPassage] = {}

    def cell(self, row: int, column: int) -> int:
        """Return the number of the cell in a row and column.

        Raises:
            TypeError: if row or column is not an integer.
            ValueError: if the cell is outside the grid.
        """
        height, width = self.shape
        row = whole_number("row", row, minimum=0, maximum=height - 1)
        return row * width + whole_number("column", column, minimum=0, maximum=width - 1)

    def place(self, cell: int) -> tuple[int, int]:
        """Return row and column of a cell.

        Raises:
            TypeError, ValueError: if ``cell`` is not a cell of the grid.
        """
        height, width = self.shape
        row, column = divmod(whole_number("cell", cell, minimum=0, maximum=height * width - 1), width)
        return row, column

    def add_mover(self, name: str, cells: ArrayLike) -> None:
        """Add a class of movers with cell costs of its own.

        Args:
            name: name of the class, such as "tank".
            cells: as for the grid, with the same shape.

        Raises:
            TypeError, ValueError: as for the grid; or if the name is empty or already used.

        Cost: O(cells).
        """
        self._check_new("mover", name, self._costs)
        costs = _costs_of("cells", cells)
        if costs.shape != self.shape:
            raise ValueError(f"cells must have the grid's shape {self.shape}, got {costs.shape}")
        self._costs[name] = costs

    def add_team(self, name: str, is_closed: ArrayLike) -> None:
        """Add a team for which some cells are closed, such as the doors of another team.

        Args:
            name: name of the team.
            is_closed: (height, width) bool, True for closed cells.

        Raises:
            TypeError: if ``is_closed`` is not an array of bool.
            ValueError: if it has another shape, or the name is empty or already used.
        """
        self._check_new("team", name, self._closed)
        self._closed[name] = flags("is_closed", is_closed, self.shape).copy()

    def passage(self, mover: str = DEFAULT, team: str = DEFAULT) -> GridPassage:
        """Return the costs and open moves of the grid for a class of movers and a team.

        Args:
            mover: class added by ``add_mover``; "" for movers without costs of their own.
            team: team added by ``add_team``; "" for none.

        Raises:
            UnknownNameError: if the class or team was not added.

        Cost: O(cells) the first time, then O(1); later changes of the grid update the passage.
        """
        passage = self._passages.get((mover, team))
        if passage is None:
            passage = GridPassage(self._costs_for(mover, team), self._moves, self.corners)
            self._passages[mover, team] = passage
        return passage

    def set_cells(self, cells: ArrayLike, values: ArrayLike, *, mover: str = DEFAULT) -> None:
        """Change the costs of cells for a class of movers, or whether the cells can be entered.

        Args:
            cells: (n,) int, cell numbers.
            values: one value or (n,): bool or numbers as for the grid.
            mover: class of movers; "" for movers without costs of their own.

        Raises:
            TypeError, ValueError: if the cells or values are invalid; nothing is changed then.
            UnknownNameError: if the class was not added; nothing is changed then.

        Cost: O(area of the smallest rectangle around the cells) for each passage in use.
        """
        if mover not in self._costs:
            raise UnknownNameError("mover", mover, (one for one in self._costs if one))
        numbers, costs = indices("cells", cells, self.shape[0] * self.shape[1]), _costs_of("values", values)
        if costs.ndim > 1 or (costs.ndim == 1 and len(costs) != len(numbers)):
            raise ValueError(f"values must be one, or one per cell, got shape {costs.shape} for {len(numbers)} cells")
        self._costs[mover].ravel()[numbers] = costs
        self._rewrite(numbers, of_mover=mover)

    def set_closed(self, cells: ArrayLike, is_closed: bool, *, team: str) -> None:
        """Close or open cells for a team.

        Raises:
            TypeError, ValueError: if the cells are invalid; nothing is changed then.
            UnknownNameError: if the team was not added; nothing is changed then.
        """
        closed, numbers = named("team", team, self._closed), indices("cells", cells, self.shape[0] * self.shape[1])
        closed.ravel()[numbers] = bool(is_closed)
        self._rewrite(numbers, of_team=team)

    def _rewrite(self, cells: NDArray[np.int32], of_mover: str | None = None, of_team: str | None = None) -> None:
        if not len(cells):
            return
        for (mover, team), passage in self._passages.items():
            if of_mover in (None, mover) and of_team in (None, team):
                costs = self._costs[mover].ravel()[cells]
                if team:
                    costs = np.where(self._closed[team].ravel()[cells], np.float32(np.inf), costs)
                passage.change(cells, costs)

    def _costs_for(self, mover: str, team: str) -> NDArray[np.float32]:
        if mover not in self._costs:
            raise UnknownNameError("mover", mover, (one for one in self._costs if one))
        closed = named("team", team, self._closed) if team else None
        costs = self._costs[mover].copy()
        if closed is not None:
            costs[closed] = np.inf
        return costs

    @staticmethod
    def _check_new(kind: str, name: str, known: Iterable[str]) -> None:
        checked_name(f"name of a {kind}", name)
        if name in known:
            raise ValueError(f"{kind} {name!r} already exists; change its cells or use another name")


def _costs_of(name: str, cells: ArrayLike) -> NDArray[np.float32]:
    """Return cell costs given as bool or numbers, as a copy."""
    array = as_array(name, cells)
    if array.dtype == np.bool_:
        return np.where(array, np.float32(1), np.float32(np.inf))
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be bool or numbers, got {shown(cells)}")
    is_wall = np.isposinf(array)
    fits = is_wall | ((array >= SMALLEST_COST) & (array <= LARGEST_COST))
    if not fits.all():
        raise ValueError(
            f"costs in {name} must be {SMALLEST_COST} to {LARGEST_COST:.0f}, or inf for a wall,"
            f" got {array[~fits][0]:g}; pass bool for open and blocked cells"
        )
    return np.array(array, np.float32)
