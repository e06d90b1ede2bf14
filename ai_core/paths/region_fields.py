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
    rows, columns = out_costs.shape[1:]
    count, width = len(targets), costs.shape[1]
    around = np.full((count, rows + 2, columns + 2), np.inf)
    here = around[:, 1:-1, 1:-1]
    where = (np.arange(count), targets // width - top + 1, targets % width - left + 1)
    around[where] = 0.0
    opened, entering = open_moves[top:top + rows, left:left + columns], np.full((rows + 2, columns + 2), np.inf)
    entering[1:-1, 1:-1] = costs[top:top + rows, left:left + columns]
    steps = []
    for move, ((down, right), length) in enumerate(zip(moves.even, moves.lengths, strict=True)):
        place = np.s_[1 + down:1 + down + rows, 1 + right:1 + right + columns]
        prices = np.where(opened >> move & 1, length * entering[place], np.inf)
        steps.append((place, prices))
    before = np.empty_like(here)
    while not np.array_equal(before, here):
        before[:] = here
        for place, prices in steps:
            np.minimum(here, around[:, *place] + prices, out=here)
    out_costs[:], out_moves[:] = here, NO_MOVE
    for move in range(len(steps) - 1, -1, -1):
        place, prices = steps[move]
        out_moves[(around[:, *place] + prices == here) & np.isfinite(here)] = move
    out_moves[where[0], where[1] - 1, where[2] - 1] = NO_MOVE


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
