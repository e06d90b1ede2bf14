"""How far one may jump from every cell of a grid: what JPS+ knows beforehand.

For grids of 8 neighbors where every cell costs the same and no corner is cut.
Of all ways of one length, one that turns from diagonals to straight lines as
early as it can is enough; so only cells where a wall beside ends are worth a
stop: jump points.

This is the twin in Python of ``_jump_distances``, with the same results.
Source: Harabor, Grastien, Improving Jump Point Search, 2014; Rabin, Silva, JPS+, 2015.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.twins import twin

__all__ = ["DIAGONAL", "INTERFACE", "LONGEST_SIDE", "MOVE_OF", "STRAIGHT", "fill_lines", "mend_jumps"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

LONGEST_SIDE = 32_766
"""Longest side of a grid (cells): jumps are kept in 16 bits."""

MOVES = 8
STRAIGHT = tuple(move for move, (down, right) in enumerate(SQUARE_8) if not (down and right))
"""Moves along rows and columns."""

DIAGONAL = tuple(move for move, (down, right) in enumerate(SQUARE_8) if down and right)
"""The other moves."""

HANGING = tuple(
    tuple(move for move in DIAGONAL if (down and SQUARE_8[move][0] == down) or (right and SQUARE_8[move][1] == right))
    for down, right in SQUARE_8
)
"""By straight move: the diagonal ones that may turn into it."""

MOVE_OF = {goes: move for move, goes in enumerate(SQUARE_8)}
"""By rows and columns: the number of the move that goes so."""


@twin
def fill_lines(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16], move: int, first: int, last: int) -> None:
    """Write how far one may jump in one direction, from the cells of some lines.

    Lines are rows, or columns for moves along a row. A jump of n > 0 leads to a jump
    point n cells away; n <= 0 means that there is none, and a wall after -n cells.

    Args:
        open_moves: (height, width).
        jumps: (height, width, 8), overwritten in the plane of the move. The line that a move
            leads to must be there already, and for a diagonal both straight planes.
        move: its number.
        first: first line, in the order one meets them coming back against the move.
        last: behind the last; at most the number of lines.

    Cost: O(cells of the lines).
    """
    down, right = SQUARE_8[move]
    # Turned so that the move leads to the next line: along a row, columns are the lines.
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
def mend_jumps(open_moves: NDArray[np.uint8], jumps: NDArray[np.int16], cells: NDArray[np.int32]) -> None:
    """Write jumps anew that hang on cells whose walls changed.

    Args:
        open_moves: (height, width), as they are now.
        jumps: (height, width, 8), as they were before; mended.
        cells: (n,), numbers of the cells that changed.

    Cost: O(jumps that differ + n).
    """
    height, width = open_moves.shape
    opened, flat = open_moves.reshape(-1).data, jumps.reshape(-1).data
    # Open moves differ up to a cell away, and a jump hangs on those of the next cell too.
    around = _around(cells, height, width, 2)
    turned: list[tuple[int, int]] = []
    for move in STRAIGHT:  # first: diagonal jumps hang on them
        for cell in around:
            for other, jump in _mend_back(opened, flat, cell, move, height, width):
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
        for other, jump in _mend_back(opened, flat, cell, move, height, width):
            flat[other * MOVES + move] = jump


def _mend_back(
    opened: memoryview, jumps: memoryview, cell: int, move: int, height: int, width: int
) -> Iterator[tuple[int, int]]:
    """Give the cells back against a move, as far as their jumps differ, with what they should be."""
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
    """Return how far one may jump from one cell, as ``fill_lines`` writes it."""
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
