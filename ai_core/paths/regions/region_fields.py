"""Paths within one region: for each cell, the next move towards each portal.

Python twin of the kernel ``_region_fields``, with identical results: the cost of a path is the
least sum in both, and ties between moves go to the smallest number.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import GridMoves
from ai_core.paths.searches.canonical_moves import DIAGONAL, STRAIGHT, costs_of
from ai_core.twins import twin

__all__ = ["INTERFACE", "NO_MOVE", "costs_by_fields", "fill_fields", "follow_field", "follow_fields"]

INTERFACE = 3
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

NO_MOVE = 255
"""Marker instead of a move: the cell is the target, or no path leads to it."""

PASSES_PER_LOOK = 2
"""Passes (count) between two checks for changes: a check costs an eighth of a pass, which a useless pass wastes."""

EXACT = STRAIGHT, DIAGONAL
"""Lengths of moves as integers."""

NO_PATH = 1 << 30
"""Length above that of any path within a region; twice the value fits 32 bits."""

ROUGH = 70, 99
"""Smaller lengths, which order paths with fewer than 70 diagonals correctly."""

NO_PATH_ROUGH = (1 << 15) - 1
"""The same for rough lengths; twice the value fits 16 bits. Longer paths, of 470 cells, use exact lengths."""

ENDLESS = "internal error in the fields of a region: a path has no end; make a new RegionGraph, and report this"

Steps = list[tuple[int, NDArray[Any]]]
"""For each move, its offset in a rectangle with a border, and its cost from each cell."""


@twin
def fill_fields(
    open_moves: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: GridMoves,
    top: int,
    left: int,
    targets: NDArray[np.int32],
    uniform_cost: float,
    out_costs: NDArray[np.float64],
    out_moves: NDArray[np.uint8],
) -> None:
    """Compute the paths to targets within a rectangle of a grid.

    On a grid with a single cost, lengths are integers, as in ``canonical_moves``: paths of the same moves in
    another order then have equal length, and the smallest move is written.

    Args:
        open_moves: (height, width) uint8, open moves of the grid as bits.
        costs: (height, width) float32, cost of entering each cell.
        moves: moves of the grid, a square one.
        top: first row of the rectangle.
        left: first column of the rectangle.
        targets: (n,) int32, cells in the rectangle.
        uniform_cost: common cost of all cells that can be entered; 0 if costs differ.
        out_costs: (n, rows, columns), cost of the path from each cell to each target, ``inf`` without a path.
        out_moves: (n, rows, columns), next move on the path, or ``NO_MOVE``.

    Cost: O(n * cells of the rectangle); interpreted, one pass per cell of the longest path.
    """
    (count, rows, columns), width = out_costs.shape, costs.shape[1]
    # Rows one after the other, with a border of closed cells: a move is then a single offset for
    # all cells, and arrays are read contiguously.
    across, inside = columns + 2, np.s_[1:-1, 1:-1]
    opened = open_moves[top:top + rows, left:left + columns]
    entering = costs[top:top + rows, left:left + columns]
    ends = np.arange(count), (targets // width - top + 1) * across + targets % width - left + 1
    shape = count, (rows + 2) * across
    if uniform_cost:
        steps, nowhere = _even_steps(opened, moves, EXACT)
        ways = _nearly(shape, ends, opened, moves)
        _spread(ways, steps, across, passes_per_look=1)
    else:
        steps, nowhere = _steps(opened, entering, moves)
        ways = np.full(shape, nowhere)
        ways[ends] = 0
        _spread(ways, steps, across)
    leads = _leads(ways, steps, across, nowhere)
    leads[ends] = NO_MOVE
    found = np.ascontiguousarray(ways.reshape(count, rows + 2, across)[:, *inside])
    out_costs[:] = np.where(found < nowhere, costs_of(found, uniform_cost), np.inf) if uniform_cost else found
    out_moves[:] = leads.reshape(count, rows + 2, across)[:, *inside]


def _nearly(
    shape: tuple[int, int], ends: tuple[NDArray[Any], NDArray[Any]], opened: NDArray[np.uint8], moves: GridMoves
) -> NDArray[np.uint32]:
    """Return lengths of paths, exact or slightly too long; computed with half the bits, so twice as fast."""
    straight, diagonal = ROUGH
    steps, nowhere = _even_steps(opened, moves, ROUGH)
    rough = np.full(shape, nowhere)
    rough[ends] = 0
    _spread(rough, steps, opened.shape[1] + 2)
    # Of the paths with a rough length, the one with the fewest diagonals is the longest.
    diagonals = rough.astype(np.uint32) * np.uint32(pow(diagonal, -1, straight)) % straight
    straights = (rough - diagonals * np.uint32(diagonal)) // straight
    exact = straights * np.uint32(STRAIGHT) + diagonals * np.uint32(DIAGONAL)
    return np.where(rough < nowhere, exact, np.uint32(NO_PATH))


def _spread(ways: NDArray[Any], steps: Steps, across: int, passes_per_look: int = PASSES_PER_LOOK) -> None:
    """Relax path lengths until no move shortens any of them."""
    first, last = across + 1, ways.shape[1] - across - 1
    alive, growing = np.arange(len(ways)), ways.copy()
    there, before = np.empty_like(ways[:, first:last]), np.empty_like(ways)
    looks = ways.shape[1] + 1   # each check follows at least one move, and no path visits a cell twice
    while len(alive):
        if not looks:
            raise RuntimeError(ENDLESS)
        looks -= 1
        here = growing[:, first:last]
        before[:len(alive)] = growing
        for _ in range(passes_per_look):
            for offset, prices in steps:
                np.add(growing[:, first + offset:last + offset], prices[first:last], out=there[:len(alive)])
                np.minimum(here, there[:len(alive)], out=here)
        grows = (before[:len(alive)] != growing).any(axis=1)
        if not grows.all():  # finished targets are dropped
            ways[alive] = growing
            alive, growing = alive[grows], growing[grows]


def _leads(ways: NDArray[Any], steps: Steps, across: int, nowhere: Any) -> NDArray[np.uint8]:
    """Return for each cell the smallest first move of a shortest path."""
    first, last = across + 1, ways.shape[1] - across - 1
    leads = np.full(ways.shape, NO_MOVE, np.uint8)
    here, there, inner = ways[:, first:last], np.empty_like(ways[:, first:last]), leads[:, first:last]
    for move in range(len(steps) - 1, -1, -1):
        offset, prices = steps[move]
        np.add(ways[:, first + offset:last + offset], prices[first:last], out=there)
        np.copyto(inner, move, where=there == here)
    inner[here == nowhere] = NO_MOVE
    return leads


def _steps(
    opened: NDArray[np.uint8], entering: NDArray[np.float32], moves: GridMoves
) -> tuple[Steps, np.float64]:
    """Return the offset of each move in a rectangle with a border, and its cost from each cell, ``inf`` if closed.

    Args:
        opened: (rows, columns), open moves of the cells of the rectangle.
        entering: (rows, columns), cost of entering each cell.
        moves: moves of the grid.

    Returns:
        The steps, and the value that marks a missing path.
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
    return steps, np.float64(np.inf)


def _even_steps(opened: NDArray[np.uint8], moves: GridMoves, lengths: tuple[int, int]) -> tuple[Steps, Any]:
    """Return the same with 32-bit integers, or 16-bit where lengths are ``ROUGH``."""
    rows, columns = opened.shape
    nowhere = np.uint16(NO_PATH_ROUGH) if lengths is ROUGH else np.uint32(NO_PATH)
    shut, steps = nowhere + nowhere.dtype.type(1), []   # nowhere in the border and one step more: no number is as large
    for move, (down, right) in enumerate(moves.even):
        prices = np.full((rows + 2, columns + 2), shut)
        prices[1:-1, 1:-1] = np.where(opened >> move & 1, nowhere.dtype.type(lengths[bool(down and right)]), shut)
        steps.append((down * (columns + 2) + right, prices.reshape(-1)))
    return steps, nowhere


@twin
def follow_field(
    field: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: GridMoves,
    top: int,
    left: int,
    cell: int,
) -> tuple[bytes, float]:
    """Return the path from a cell to the target of a field: cells after the first as int32 bytes, and the cost.

    Args:
        field: (rows, columns), next moves to one target, from ``fill_fields``.
        costs: (height, width), costs of the grid.
        moves: moves of the grid.
        top: first row of the rectangle.
        left: first column of the rectangle.
        cell: cell in the rectangle.

    Cost: O(cells of the path).
    """
    width, flat, total = costs.shape[1], costs.reshape(-1).data, 0.0
    cells: list[int] = []
    row, column = divmod(cell, width)
    move = int(field[row - top, column - left])
    while move != NO_MOVE:
        if len(cells) == field.size:
            raise RuntimeError(ENDLESS)
        down, right = moves.even[move]
        row, column = row + down, column + right
        cells.append(row * width + column)
        total += moves.lengths[move] * flat[cells[-1]]
        move = int(field[row - top, column - left])
    return np.array(cells, np.int32).tobytes(), total


@twin
def costs_by_fields(
    fields: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: GridMoves,
    top: int,
    left: int,
    cell: int,
) -> list[float]:
    """Return the costs from one cell to the targets of all fields of a region, -1 without a path.

    Args:
        fields: (n, rows, columns), next moves, from ``fill_fields``.
        costs: (height, width), costs of the grid.
        moves: moves of the grid.
        top: first row of the rectangle.
        left: first column of the rectangle.
        cell: cell in the rectangle.

    Cost: O(cells of the paths).
    """
    ways = (follow_field(field, costs, moves, top, left, cell) for field in fields)
    return [cost if cells else -1.0 for cells, cost in ways]


@twin
def follow_fields(
    fields: Sequence[NDArray[np.uint8]],
    costs: NDArray[np.float32],
    moves: GridMoves,
    corners: Sequence[tuple[int, int]],
    starts: Sequence[int],
) -> bytes:
    """Return the concatenated paths from each start to the target of its field, all cells as int32 bytes.

    Args:
        fields: (rows, columns) each, next moves to one target.
        costs: (height, width), costs of the grid.
        moves: moves of the grid.
        corners: first row and first column of the rectangle of each field.
        starts: start cell in the rectangle of each field.

    Cost: O(cells of the paths).
    """
    joined = []
    for field, corner, start in zip(fields, corners, starts, strict=True):
        joined += [np.int32(start).tobytes(), follow_field(field, costs, moves, *corner, start)[0]]
    return b"".join(joined)
