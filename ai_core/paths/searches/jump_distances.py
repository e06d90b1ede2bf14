"""Jump distances from every cell of a grid, precomputed for JPS+.

For grids with 8 neighbors, a single cost and closed corners. Of all paths of equal length, one that
turns from diagonals to straight lines as early as possible is enough; so only cells at the end of a wall
are worth a stop: jump points.

Python twin of the kernel ``_jump_distances``, with identical results.
Source: Harabor, Grastien, Improving Jump Point Search, 2014; Rabin, Silva, JPS+, 2015.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.twins import twin

__all__ = ["DIAGONAL", "INTERFACE", "LONGEST_SIDE", "MOVE_OF", "STRAIGHT", "fill_lines", "repair_jumps"]

INTERFACE = 1
"""Version of the interface; changed with every change of names, arguments or results, here and in the kernel."""

LONGEST_SIDE = 32_766
"""Longest side of a grid (cells): jumps are 16-bit integers."""

MOVES = 8
STRAIGHT = tuple(move for move, (down, right) in enumerate(SQUARE_8) if not (down and right))
"""Moves along rows and columns."""

DIAGONAL = tuple(move for move, (down, right) in enumerate(SQUARE_8) if down and right)
"""Diagonal moves."""

HANGING = tuple(
    tuple(move for move in DIAGONAL if (down and SQUARE_8[move][0] == down) or (right and SQUARE_8[move][1] == right))
    for down, right in SQUARE_8
)
"""For each straight move, the diagonal moves that may turn into it."""

MOVE_OF = {goes: move for move, goes in enumerate(SQUARE_8)}
"""Number of the move with a (row, column) offset."""


@twin
def fill_lines(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16], move: int, first: int, last: int) -> None:
    """Compute the jumps in one direction for the cells of some lines.

    Lines are rows, or columns for moves along a row. A jump of n > 0 leads to a jump point n cells
    away; n <= 0 means that there is no jump point, and a wall after -n cells.

    Args:
        open_moves: (height, width) uint8, open moves as bits.
        jumps: (height, width, 8) int16, overwritten in the plane of the move. The line that the move leads
            to must be computed already, and for a diagonal both straight planes.
        move: number of the move.
        first: first line, in the order against the direction of the move.
        last: line after the last; at most the number of lines.

    Cost: O(cells of the lines).
    """
    down, right = SQUARE_8[move]
    # Transposed so that the move leads to the next line: for moves along a row, columns are the lines.
    lines = open_moves if down else open_moves.T
    planes = jumps if down else jumps.transpose(1, 0, 2)
    ahead = down or right
    count, length = lines.shape
    aside = right if down else 0
    here = slice(max(0, -aside), length - max(0, aside))
    there = slice(max(0, aside), length + min(0, aside))
    walls = _beside(down, right)
    for back in range(first, last):
        line = count - 1 - back if ahead > 0 else back
        planes[line, :, move] = 0
        following = line + ahead
        if not 0 <= following < count:
            continue
        farther = planes[following, there, move]
        if walls:
            stops = (~lines[line, here] & lines[following, there] & walls) != 0
        else:
            stops = (planes[following, there, MOVE_OF[down, 0]] > 0) | (planes[following, there, MOVE_OF[0, right]] > 0)
        jump = np.where(stops, 1, np.where(farther > 0, farther + 1, farther - 1))
        planes[line, here, move] = np.where(lines[line, here] >> move & 1, jump, 0)


def _beside(down: int, right: int) -> int:
    """Return the bits of the moves to both sides of a straight move; 0 for a diagonal."""
    if down and right:
        return 0
    return 1 << MOVE_OF[right, down] | 1 << MOVE_OF[-right, -down]


@twin
def repair_jumps(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16], cells: NDArray[np.int32]) -> None:
    """Update the jumps that depend on changed cells.

    Args:
        open_moves: (height, width) uint8, current open moves.
        jumps: (height, width, 8) int16, previous jumps; updated in place.
        cells: (n,) int32, changed cells.

    Cost: O(changed jumps + n).
    """
    height, width = open_moves.shape
    opened, flat = open_moves.reshape(-1).data, jumps.reshape(-1).data
    # Open moves change up to one cell away, and a jump depends on those of the next cell too.
    around = _around(cells, height, width, 2)
    turned: list[tuple[int, int]] = []
    for move in STRAIGHT:  # first, as diagonal jumps depend on them
        for cell in around:
            for other, jump in _repair_back(opened, flat, cell, move, height, width):
                if (jump > 0) != (flat[other * MOVES + move] > 0):
                    turned.append((other, move))
                flat[other * MOVES + move] = jump
    waiting = [(cell, move) for cell in around for move in DIAGONAL]
    for cell, straight in turned:
        row, column = divmod(cell, width)
        for move in HANGING[straight]:
            down, right = SQUARE_8[move]
            if 0 <= row - down < height and 0 <= column - right < width:
                waiting.append((cell - down * width - right, move))
    for cell, move in waiting:
        for other, jump in _repair_back(opened, flat, cell, move, height, width):
            flat[other * MOVES + move] = jump


def _repair_back(
    opened: memoryview, jumps: memoryview, cell: int, move: int, height: int, width: int
) -> Iterator[tuple[int, int]]:
    """Yield cells against the direction of a move, with their new jumps, until a jump is unchanged."""
    down, right = SQUARE_8[move]
    row, column = divmod(cell, width)
    while 0 <= row < height and 0 <= column < width:
        cell = row * width + column
        jump = _jump_from(opened, jumps, cell, move, width)
        if jump == jumps[cell * MOVES + move]:
            return
        yield cell, jump
        row, column = row - down, column - right


def _around(cells: NDArray[np.int32], height: int, width: int, reach: int) -> list[int]:
    """Return the cells up to ``reach`` rows and columns away, ascending."""
    found = np.zeros((height, width), np.bool_)
    for row, column in zip(*np.divmod(cells, width), strict=True):
        found[max(0, row - reach):row + reach + 1, max(0, column - reach):column + reach + 1] = True
    numbers: list[int] = np.flatnonzero(found).tolist()
    return numbers


def _jump_from(opened: memoryview, jumps: memoryview, cell: int, move: int, width: int) -> int:
    """Return the jump from one cell, in the form of ``fill_lines``."""
    if not opened[cell] >> move & 1:
        return 0
    down, right = SQUARE_8[move]
    other = cell + down * width + right
    walls = _beside(down, right)
    if walls:
        stops = ~opened[cell] & opened[other] & walls
    else:
        stops = jumps[other * MOVES + MOVE_OF[down, 0]] > 0 or jumps[other * MOVES + MOVE_OF[0, right]] > 0
    farther: int = jumps[other * MOVES + move]
    return 1 if stops else farther + 1 if farther > 0 else farther - 1
