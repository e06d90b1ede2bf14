"""Which moves are worth a look after a move, where every cell costs the same: mostly one to three of eight.

Of all ways of one length the one that takes its diagonals first is enough. So after a diagonal only that
diagonal and its two straight parts are tried, after a straight move only the same once more; and past the end
of a wall, round the corner. That is what jump points stand on, without the jumps.

Whichever of the cheapest ways to a cell is kept, none is lost: a move left out is one that another cell,
beside this one and no dearer to get to, does make.

Source: Harabor, Grastien, Online Graph Pruning for Pathfinding on Grid Maps, 2011; Sturtevant, Rabin,
Canonical Orderings on Grids, 2016.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQRT_2, SQUARE_8
from ai_core.maps.passage import Passage

__all__ = [
    "AT_ONCE", "BUCKET_BITS", "DIAGONAL", "FIELD_RING", "LENGTHS", "STRAIGHT", "SUCCESSORS",
    "cost_of", "costs_of", "suits",
]

STRAIGHT = 13_860
"""Length of a straight move, as whole numbers count it. Sums of whole numbers are the same in any order, and
the two are so near to the square root of 2 (two parts in a thousand million) that of two ways with less than
13,860 diagonals each the shorter one has the smaller number."""

DIAGONAL = 19_601
"""Length of a diagonal."""

BUCKET_BITS = 13
"""Ways that are the same but for so many bits wait in one bucket: 0.6 moves. Half or twice that takes longer."""

FIELD_RING = 1024
"""Buckets of a field (count): a run and the move before it are no longer than all of them."""

AT_ONCE = 8
"""In place of the move that led to a cell: it began here."""

LENGTHS = tuple(DIAGONAL if down and right else STRAIGHT for down, right in SQUARE_8)
"""By move."""

_INVERSE = pow(DIAGONAL, -1, STRAIGHT)
_MOVE_OF = {goes: move for move, goes in enumerate(SQUARE_8)}


def _successors(came: int, open_moves: int) -> int:
    """Return the moves worth a look, as bits."""
    if came == AT_ONCE:
        return open_moves
    down, right = SQUARE_8[came]
    if down and right:
        return open_moves & (1 << came | 1 << _MOVE_OF[down, 0] | 1 << _MOVE_OF[0, right])
    bits = 1 << came
    for side in ((right, down), (-right, -down)):
        back = _MOVE_OF[side[0] - down, side[1] - right]
        # The cell before is free: if the one beside is, too, this diagonal is shut by a wall beside the cell before.
        if open_moves >> _MOVE_OF[side] & 1 and not open_moves >> back & 1:
            bits |= 1 << _MOVE_OF[side] | 1 << _MOVE_OF[side[0] + down, side[1] + right]
    return open_moves & bits


SUCCESSORS = bytes(_successors(came, open_moves) for came in range(AT_ONCE + 1) for open_moves in range(256))
"""By 256 times the move that led to a cell and the moves open there: those worth a look, as bits."""


def suits(passage: Passage) -> bool:
    """Return whether these moves are enough on a passage as it is now: 8 neighbors, closed corners, one cost."""
    return len(passage.moves.lengths) == 8 and passage.corners == "closed" and passage.is_uniform


def cost_of(length: int, cost: float) -> float:
    """Return what a way costs of that length in whole numbers, where every cell has that cost."""
    diagonals = length % STRAIGHT * _INVERSE % STRAIGHT
    straights = (length - diagonals * DIAGONAL) // STRAIGHT
    return (straights + SQRT_2 * diagonals) * cost


def costs_of(lengths: NDArray[np.uint32], cost: float) -> NDArray[np.float64]:
    """Return the same of many."""
    # Remainders by way of whole quotients, which NumPy finds many times faster.
    rest = (lengths - lengths // STRAIGHT * STRAIGHT) * np.uint32(_INVERSE)
    diagonals = rest - rest // STRAIGHT * STRAIGHT
    straights = (lengths - diagonals * np.uint32(DIAGONAL)) // STRAIGHT
    costs: NDArray[np.float64] = (straights + SQRT_2 * diagonals) * cost
    return costs
