"""Open moves and costs of every cell of a grid, for one class of movers and one team.

Searches read a passage. It belongs to a ``Grid``, which updates it where cells change and is
its only writer.
"""
from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import check_type, finite_number, numbers, shown, whole_number
from ai_core.maps.cell_moves import Corners, GridMoves
from ai_core.scheduling.interruptible import SteppedWork, Steps

CHANGES_KEPT = 256
"""Changes that a passage remembers (count). A reader that is further behind starts over. Each
change holds the list of its cells; more would keep the whole history of a level alive."""

COPIED_AT_ONCE = 1 << 15
"""Cells copied in one step (count), 5 bytes each: 5 µs, several times as long while they are in no cache."""

MUCH = 256
"""Ratio of cells copied before to cells changed since, below which all are copied again: that takes less time."""


class GridPassage(Described):
    """Costs and open moves of a grid for one class of movers and one team.

    Attributes:
        shape: (height, width).
        moves: moves of the kind of grid.
        corners: when a diagonal is open.
        costs: (height, width) float32, cost of entering each cell, ``inf`` if it cannot be entered.
        open_moves: (height, width) uint8, open moves from each cell as bits.
        version: increases with every change.
        least_cost: lowest cost of a cell; 1 if no cell can be entered.
        most_cost: highest finite cost of a cell; 1 if no cell can be entered.
    """

    SHOWN = ("shape", "version")

    def __init__(self, costs: NDArray[np.float32], moves: GridMoves, corners: Corners) -> None:
        self.shape: tuple[int, int] = (costs.shape[0], costs.shape[1])
        self.moves = moves
        self.corners = corners
        self.costs = np.ascontiguousarray(costs, np.float32)
        self.open_moves = moves.open_from(np.isfinite(self.costs), corners)
        self.version = 0
        self._changes: deque[tuple[int, NDArray[np.int32]]] = deque(maxlen=CHANGES_KEPT)
        self.least_cost = self.most_cost = 1.0
        self._find_extremes()

    @property
    def is_uniform(self) -> bool:
        """True if all cells that can be entered have the same cost."""
        return self.least_cost == self.most_cost

    @property
    def uniform_cost(self) -> float:
        """Common cost of all cells that can be entered; 0 if costs differ."""
        return self.least_cost if self.is_uniform else 0.0

    def is_free(self, cell: int) -> bool:
        """Return whether a cell can be entered.

        Raises:
            TypeError, ValueError: if it is not the number of a cell.
        """
        return bool(np.isfinite(self.costs.flat[self.check_cell("cell", cell)]))

    def check_cell(self, name: str, cell: object) -> int:
        """Return ``cell`` if it is the number of a cell of the grid; ``name`` is for the message.

        Raises:
            TypeError, ValueError: if it is not.
        """
        return whole_number(
            name, cell, minimum=0, maximum=self.costs.size - 1,
            remedy="grid.cell(row, column) is the number of a cell")

    def changed_since(self, version: int) -> NDArray[np.int32] | None:
        """Return the cells changed after ``version``, ascending; None if the history does not go back that far."""
        if version == self.version:
            return np.zeros(0, np.int32)
        if not self._changes or self._changes[0][0] > version + 1:
            return None
        later = [cells for at, cells in self._changes if at > version]
        return later[0] if len(later) == 1 else np.unique(np.concatenate(later))

    def with_neighbors(self, cells: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return cells and their neighbors, some repeatedly: all cells whose open moves depend on the given ones."""
        height, width = self.shape
        rows, columns = (
            (at[:, None] + np.array([-1, 0, 1])).clip(0, size - 1)
            for at, size in zip(np.divmod(cells.astype(np.int64), width), (height, width), strict=True))
        around: NDArray[np.int64] = (rows[:, :, None] * width + columns[:, None]).ravel()
        return around

    def change(self, cells: NDArray[np.int32], costs: NDArray[np.float32]) -> bool:
        """Write new costs into cells and return whether any cost changed; for ``Grid`` only.

        Args:
            cells: (n,) int32, cell numbers.
            costs: (n,) float32.

        Cost: O(area around the cells), and O(all cells) if the lowest or highest cost may have changed.
        """
        flat = self.costs.ravel()
        differs = flat[cells] != costs
        if not differs.any():
            return False
        cells, costs = cells[differs], costs[differs]
        before = flat[cells]
        flat[cells] = costs
        self._reopen(cells)
        if not self._keeps_extremes(before) or not self._keeps_extremes(costs):
            self._find_extremes()
        self.version += 1
        self._changes.append((self.version, np.unique(cells)))
        return True

    def _reopen(self, cells: NDArray[np.int32]) -> None:
        """Recompute the open moves of cells and their neighbors in one rectangle."""
        height, width = self.shape
        rows, columns = np.divmod(cells, width)
        top, bottom = max(0, int(rows.min()) - 1), min(height, int(rows.max()) + 2)
        left, right = max(0, int(columns.min()) - 1), min(width, int(columns.max()) + 2)
        # One more row and column are read than written: moves out of the window lead there.
        upper, lower = max(0, top - 1), min(height, bottom + 1)
        west, east = max(0, left - 1), min(width, right + 1)
        opened = self.moves.open_from(np.isfinite(self.costs[upper:lower, west:east]), self.corners, upper)
        self.open_moves[top:bottom, left:right] = opened[top - upper:bottom - upper, left - west:right - west]

    def _keeps_extremes(self, costs: NDArray[np.float32]) -> bool:
        finite = costs[np.isfinite(costs)]
        return bool(((finite > self.least_cost) & (finite < self.most_cost)).all()) or (
            self.is_uniform and bool((finite == self.least_cost).all()))

    def _find_extremes(self) -> None:
        finite = self.costs[np.isfinite(self.costs)]
        self.least_cost = float(finite.min()) if finite.size else 1.0
        self.most_cost = float(finite.max()) if finite.size else 1.0


class PassageCopy(SteppedWork):
    """Copies a passage in steps, however often its cells change meanwhile.

    Args:
        passage: the passage.

    Attributes:
        result: a passage that no grid updates, with the cells and the version of the moment when it was done.
        is_done: whether the copy is done.

    Cost: O(cells), and O(changed cells) for each change. One step copies all cells again if a large part of them has
        changed since the step before, or there were more than ``CHANGES_KEPT`` changes.
    """

    is_done: bool
    result: GridPassage

    def __init__(self, passage: GridPassage) -> None:
        self.is_done = False
        self.result = copy.copy(passage)
        self.result.costs, self.result.open_moves = np.empty_like(passage.costs), np.empty_like(passage.open_moves)
        self.result._changes = deque(maxlen=CHANGES_KEPT)
        self._steps = self._copied(passage, self.result)

    def _copied(self, passage: GridPassage, result: GridPassage) -> Steps[None]:
        pairs = [(one.ravel(), other.ravel()) for one, other in (
            (passage.costs, result.costs), (passage.open_moves, result.open_moves))]
        for first in range(0, passage.costs.size, COPIED_AT_ONCE):
            parts: list[slice | NDArray[np.int64]] = [slice(first, first + COPIED_AT_ONCE)]
            if result.version != passage.version:
                changed = passage.changed_since(result.version)
                if changed is None or len(changed) * MUCH > first:
                    parts.append(slice(first))
                else:
                    parts.append(passage.with_neighbors(changed))
                result.version = passage.version
            for cells in parts:
                for source, target in pairs:
                    target[cells] = source[cells]
            result.least_cost, result.most_cost = passage.least_cost, passage.most_cost
            self.is_done = first + COPIED_AT_ONCE >= passage.costs.size
            yield


SQUARES = ((0.0, 1.0), (1.0, 0.0))
HEXAGONS = ((0.0, 1.0), (math.sqrt(0.75), 0.0))
"""Offsets as (row, column) from the center of a cell to the next column and row; rows of hexagons lie closer."""
SLACK = 1e-6
"""Share by which a cell may be farther than ``within``: cell centers are rounded."""


def nearest_free(
    passage: GridPassage, place: Sequence[float], within: float, *, steps: ArrayLike | None = None
) -> int | None:
    """Return the free cell with its center nearest to a position; None if there is none within reach.

    Ties go to the smaller cell number.

    Args:
        passage: passage of the grid.
        place: (d,) position relative to the center of cell 0, in the unit of ``steps``; on or beside the grid.
        within: largest distance of the center, 0 or more, in the unit of ``steps``.
        steps: (2, d), offsets to the next column and to the next row (for hexagons, without the shift);
            None for (row, column) with cells at distance 1.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or shape, or is out of range.

    Cost: O(cells within reach).
    """
    check_type("passage", passage, GridPassage, "use grid.passage()")
    within = finite_number("within", within, minimum=0)
    if steps is None:
        steps = HEXAGONS if passage.moves.is_hexagonal else SQUARES
    axes, point = numbers("steps", steps), numbers("place", place)
    if axes.ndim != 2 or len(axes) != 2 or not np.isfinite(axes).all():
        raise ValueError(f"steps must be two vectors of finite numbers, got {shown(steps)}")
    if point.shape != axes.shape[1:] or not np.isfinite(point).all():
        raise ValueError(f"place must be {axes.shape[1]} finite numbers, got {shown(place)}")
    column, row = point @ np.linalg.pinv(axes)
    reach = within / float(np.linalg.svd(axes, compute_uv=False).min()) + 1.0
    rows, columns = (
        np.arange(max(0, math.ceil(middle - reach)), min(size, math.floor(middle + reach) + 1))
        for middle, size in zip((row, column), passage.shape, strict=True))
    return _nearest(passage, (row, column), rows, columns, axes, within) if len(rows) and len(columns) else None


def _nearest(
    passage: GridPassage, middle: tuple[float, float], rows: NDArray[np.int64], columns: NDArray[np.int64],
    axes: NDArray[np.float64], within: float,
) -> int | None:
    at_row, at_column = np.nonzero(np.isfinite(passage.costs[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]))
    if not len(at_row):
        return None
    row, column = rows[at_row], columns[at_column]
    shift = 0.5 * (row & 1) if passage.moves.is_hexagonal else 0.0
    apart = np.linalg.norm(np.stack((column + shift - middle[1], row - middle[0]), axis=1) @ axes, axis=1)
    first = int(np.argmin(apart))
    return int(row[first]) * passage.shape[1] + int(column[first]) if apart[first] <= within * (1 + SLACK) else None


__all__ = ["CHANGES_KEPT", "GridPassage", "PassageCopy", "nearest_free"]
