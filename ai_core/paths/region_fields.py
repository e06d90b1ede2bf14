"""Ways within one region: from each of its cells the next move to each of its portals.

This is the twin in Python of ``_region_fields``, with the same results: what a way
costs is the least sum whatever finds it, and ties between moves go to the smallest.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import Moves
from ai_core.twins import twin

__all__ = ["INTERFACE", "NO_MOVE", "fill_fields", "follow_field"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

NO_MOVE = 255
"""In place of a move: this is where it leads to, or there is no way."""

PASSES_PER_LOOK = 4
"""Passes (count) between two looks whether anything changed: a look costs an eighth of a pass, a pass in vain all."""


@twin
def fill_fields(
    open_moves: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: Moves,
    top: int,
    left: int,
    targets: NDArray[np.int32],
    out_costs: NDArray[np.float64],
    out_moves: NDArray[np.uint8],
) -> None:
    """Write ways within a rectangle of a grid.

    Args:
        open_moves: (height, width) of the grid, as bits.
        costs: (height, width) of entering each cell.
        moves: the kind of grid, a square one.
        top: first row of the rectangle.
        left: first column of it.
        targets: (n,), cells of the grid that lie in it.
        out_costs: (n, rows, columns) of the rectangle, of the way from each cell to each target, ``inf`` without one.
        out_moves: (n, rows, columns), the next move on it, or ``NO_MOVE``.

    Cost: O(n * cells of the rectangle); interpreted so many passes as the longest way has cells.
    """
    (count, rows, columns), width = out_costs.shape, costs.shape[1]
    # One row after the other with a border of cells in which nobody can go: a move is then one
    # offset for all, and arrays are read along their whole length.
    across, inside = columns + 2, np.s_[1:-1, 1:-1]
    steps = _steps(
        open_moves[top:top + rows, left:left + columns], costs[top:top + rows, left:left + columns], moves)
    ways = np.full((count, (rows + 2) * across), np.inf)
    ends = np.arange(count), (targets // width - top + 1) * across + targets % width - left + 1
    ways[ends] = 0.0
    first, last = across + 1, ways.shape[1] - across - 1
    here, there = ways[:, first:last], np.empty((count, last - first))
    before = np.empty_like(here)
    while not np.array_equal(before, here):
        before[:] = here
        for _ in range(PASSES_PER_LOOK):
            for offset, prices in steps:
                np.add(ways[:, first + offset:last + offset], prices[first:last], out=there)
                np.minimum(here, there, out=here)
    leads = np.full(ways.shape, NO_MOVE, np.uint8)
    for move in range(len(steps) - 1, -1, -1):
        offset, prices = steps[move]
        np.add(ways[:, first + offset:last + offset], prices[first:last], out=there)
        leads[:, first:last][(there == here) & np.isfinite(here)] = move
    leads[ends] = NO_MOVE
    out_costs[:] = ways.reshape(count, rows + 2, across)[:, *inside]
    out_moves[:] = leads.reshape(count, rows + 2, across)[:, *inside]


def _steps(
    opened: NDArray[np.uint8], entering: NDArray[np.float32], moves: Moves
) -> list[tuple[int, NDArray[np.float64]]]:
    """Return for each move its offset in a rectangle with a border, and what it costs from each cell, ``inf`` if shut.

    Args:
        opened: (rows, columns), open moves of the rectangle's cells.
        entering: (rows, columns), what entering them costs.
        moves: the kind of grid.
    """
    rows, columns = opened.shape
    around = np.full((rows + 2, columns + 2), np.inf)
    around[1:-1, 1:-1] = entering
    steps = []
    for move, ((down, right), length) in enumerate(zip(moves.even, moves.lengths, strict=True)):
        prices = np.full(around.shape, np.inf)
        beside = around[1 + down:1 + down + rows, 1 + right:1 + right + columns]
        prices[1:-1, 1:-1] = np.where(opened >> move & 1, length * beside, np.inf)
        steps.append((down * (columns + 2) + right, prices.reshape(-1)))
    return steps


@twin
def follow_field(
    field: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: Moves,
    top: int,
    left: int,
    cell: int,
) -> tuple[bytes, float]:
    """Return the way from a cell to where a field leads: cells after the first as int32, and what it costs.

    Args:
        field: (rows, columns), moves of ``fill_fields`` to one target.
        costs: (height, width) of the grid.
        moves: the kind of grid.
        top: first row of the rectangle.
        left: first column of it.
        cell: a cell of the grid that lies in it.

    Cost: O(cells of the way).
    """
    width, flat, total, cells = costs.shape[1], costs.reshape(-1).data, 0.0, []
    row, column = divmod(cell, width)
    move = int(field[row - top, column - left])
    while move != NO_MOVE:
        down, right = moves.even[move]
        row, column = row + down, column + right
        cells.append(row * width + column)
        total += moves.lengths[move] * flat[cells[-1]]
        move = int(field[row - top, column - left])
    return np.array(cells, np.int32).tobytes(), total
