"""Ways within one region: from each of its cells the next move to each of its portals.

This is the twin in Python of ``_region_fields``, with the same results: what a way
costs is the least sum whatever finds it, and ties between moves go to the smallest.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import Moves
from ai_core.paths.searches.canonical_moves import DIAGONAL, STRAIGHT, costs_of
from ai_core.twins import twin

__all__ = ["INTERFACE", "NO_MOVE", "costs_by_fields", "fill_fields", "follow_field", "follow_fields"]

INTERFACE = 3
"""Changes with any change of names, arguments or results, here and in the kernel."""

NO_MOVE = 255
"""In place of a move: this is where it leads to, or there is no way."""

PASSES_PER_LOOK = 2
"""Passes (count) between two looks whether anything changed: a look costs an eighth of a pass, a pass in vain all."""

EXACT = STRAIGHT, DIAGONAL
"""Lengths of moves in whole numbers."""

NO_WAY = 1 << 30
"""Longer than any way within a region; twice that still fits 32 bits."""

ROUGH = 70, 99
"""Smaller ones, by which the shortest of ways with less than 70 diagonals each is known, too."""

NO_WAY_ROUGH = (1 << 15) - 1
"""Twice that still fits 16 bits. Longer ways, of 470 cells, are left to exact numbers."""

ENDLESS = "internal error in the fields of a region: a way has no end; make the regions again, and report this"

Steps = list[tuple[int, NDArray[Any]]]
"""By move, its offset in a rectangle with a border, and what it costs from each cell."""


@twin
def fill_fields(
    open_moves: NDArray[np.uint8],
    costs: NDArray[np.float32],
    moves: Moves,
    top: int,
    left: int,
    targets: NDArray[np.int32],
    even_cost: float,
    out_costs: NDArray[np.float64],
    out_moves: NDArray[np.uint8],
) -> None:
    """Write ways within a rectangle of a grid.

    Where every cell costs the same lengths are counted in whole numbers, as in ``canonical_moves``: ways of the
    same moves in another order are as long then, and of those the smallest move is written.

    Args:
        open_moves: (height, width) of the grid, as bits.
        costs: (height, width) of entering each cell.
        moves: the kind of grid, a square one.
        top: first row of the rectangle.
        left: first column of it.
        targets: (n,), cells of the grid that lie in it.
        even_cost: what every cell costs that can be entered; 0 if they differ.
        out_costs: (n, rows, columns) of the rectangle, of the way from each cell to each target, ``inf`` without one.
        out_moves: (n, rows, columns), the next move on it, or ``NO_MOVE``.

    Cost: O(n * cells of the rectangle); interpreted so many passes as the longest way has cells.
    """
    (count, rows, columns), width = out_costs.shape, costs.shape[1]
    # One row after the other with a border of cells in which nobody can go: a move is then one
    # offset for all, and arrays are read along their whole length.
    across, inside = columns + 2, np.s_[1:-1, 1:-1]
    opened = open_moves[top:top + rows, left:left + columns]
    entering = costs[top:top + rows, left:left + columns]
    ends = np.arange(count), (targets // width - top + 1) * across + targets % width - left + 1
    shape = count, (rows + 2) * across
    if even_cost:
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
    out_costs[:] = np.where(found < nowhere, costs_of(found, even_cost), np.inf) if even_cost else found
    out_moves[:] = leads.reshape(count, rows + 2, across)[:, *inside]


def _nearly(
    shape: tuple[int, int], ends: tuple[NDArray[Any], NDArray[Any]], opened: NDArray[np.uint8], moves: Moves
) -> NDArray[np.uint32]:
    """Return exact lengths of ways that are shortest, or a hair longer; found in half the bits, so twice as fast."""
    straight, diagonal = ROUGH
    steps, nowhere = _even_steps(opened, moves, ROUGH)
    rough = np.full(shape, nowhere)
    rough[ends] = 0
    _spread(rough, steps, opened.shape[1] + 2)
    # Of the ways of such a length the one with fewest diagonals is the longest.
    diagonals = rough.astype(np.uint32) * np.uint32(pow(diagonal, -1, straight)) % straight
    straights = (rough - diagonals * np.uint32(diagonal)) // straight
    exact = straights * np.uint32(STRAIGHT) + diagonals * np.uint32(DIAGONAL)
    return np.where(rough < nowhere, exact, np.uint32(NO_WAY))


def _spread(ways: NDArray[Any], steps: Steps, across: int, passes_per_look: int = PASSES_PER_LOOK) -> None:
    """Let ways to each target spread until no cell is nearer by another move."""
    first, last = across + 1, ways.shape[1] - across - 1
    alive, growing = np.arange(len(ways)), ways.copy()
    there, before = np.empty_like(ways[:, first:last]), np.empty_like(ways)
    looks = ways.shape[1] + 1   # each spreads by one move at least, and no way comes to a cell twice
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
        if not grows.all():  # what is done need not be carried along
            ways[alive] = growing
            alive, growing = alive[grows], growing[grows]


def _leads(ways: NDArray[Any], steps: Steps, across: int, nowhere: Any) -> NDArray[np.uint8]:
    """Return the smallest move from each cell that its way begins with."""
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
    opened: NDArray[np.uint8], entering: NDArray[np.float32], moves: Moves
) -> tuple[Steps, np.float64]:
    """Return for each move its offset in a rectangle with a border, and what it costs from each cell, ``inf`` if shut.

    Args:
        opened: (rows, columns), open moves of the rectangle's cells.
        entering: (rows, columns), what entering them costs.
        moves: the kind of grid.

    Returns:
        The steps, and what stands for no way.
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


def _even_steps(opened: NDArray[np.uint8], moves: Moves, lengths: tuple[int, int]) -> tuple[Steps, Any]:
    """Return the same in whole numbers of 32 bits, or of 16 where lengths are ``ROUGH``."""
    rows, columns = opened.shape
    nowhere = np.uint16(NO_WAY_ROUGH) if lengths is ROUGH else np.uint32(NO_WAY)
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
    moves: Moves,
    top: int,
    left: int,
    cell: int,
) -> list[float]:
    """Return what it costs from one cell to where each of a region's fields leads, -1 where one leads nowhere.

    Args:
        fields: (n, rows, columns), of ``fill_fields``.
        costs: (height, width) of the grid.
        moves: the kind of grid.
        top: first row of the rectangle.
        left: first column of it.
        cell: a cell of the grid that lies in it.

    Cost: O(cells of the ways).
    """
    ways = (follow_field(field, costs, moves, top, left, cell) for field in fields)
    return [cost if cells else -1.0 for cells, cost in ways]


@twin
def follow_fields(
    fields: Sequence[NDArray[np.uint8]],
    costs: NDArray[np.float32],
    moves: Moves,
    corners: Sequence[tuple[int, int]],
    starts: Sequence[int],
) -> bytes:
    """Return ways one after the other, each from a cell to where its field leads: all their cells as int32.

    Args:
        fields: of each, (rows, columns).
        costs: (height, width) of the grid.
        moves: the kind of grid.
        corners: of each, first row and first column of its rectangle.
        starts: of each, a cell in it.

    Cost: O(cells of the ways).
    """
    joined = []
    for field, corner, start in zip(fields, corners, starts, strict=True):
        joined += [np.int32(start).tobytes(), follow_field(field, costs, moves, *corner, start)[0]]
    return b"".join(joined)
