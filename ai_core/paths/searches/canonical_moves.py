"""Canonical moves: the moves to try after a move on a grid with a single cost, mostly one to three of eight.

Of all paths of equal length, one that takes its diagonals first is enough. So after a diagonal, only that
diagonal and its two straight components are tried; after a straight move, only the same move, and the moves
around the corner at the end of a wall. Jump point search uses the same pruning, with jumps.

No cheapest path is lost, whichever of them is kept for a cell: a pruned move is made from a neighboring
cell that is reached at no higher cost.

Source: Harabor, Grastien, Online Graph Pruning for Pathfinding on Grid Maps, 2011; Sturtevant, Rabin,
Canonical Orderings on Grids, 2016.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import SQRT_2, SQUARE_8
from ai_core.maps.passage import GridPassage

__all__ = [
    "AT_ONCE", "DIAGONAL", "FIELD_RING", "LENGTHS", "STRAIGHT", "SUCCESSORS", "cost_of", "costs_of", "suits",
]

STRAIGHT = 13_860
"""Length of a straight move as an integer (no unit). Sums of integers do not depend on their order, and the
ratio of the two lengths is so near to the square root of 2 (2 parts in 1,000,000,000) that of two paths with
fewer than 13,860 diagonals each, the shorter one has the smaller sum."""

DIAGONAL = 19_601
"""Length of a diagonal move, in the same unit."""

FIELD_RING = 1024
"""Buckets of a field (count): enough for a run and the move before it."""

AT_ONCE = 8
"""Marker instead of the move that led to a cell: the search starts here."""

LENGTHS = tuple(DIAGONAL if down and right else STRAIGHT for down, right in SQUARE_8)
"""Length of each move."""

_INVERSE = pow(DIAGONAL, -1, STRAIGHT)
_MOVE_OF = {goes: move for move, goes in enumerate(SQUARE_8)}


def _successors(came: int, open_moves: int) -> int:
    """Return the moves to try, as bits."""
    if came == AT_ONCE:
        return open_moves
    down, right = SQUARE_8[came]
    if down and right:
        return open_moves & (1 << came | 1 << _MOVE_OF[down, 0] | 1 << _MOVE_OF[0, right])
    bits = 1 << came
    for side in ((right, down), (-right, -down)):
        back = _MOVE_OF[side[0] - down, side[1] - right]
        # The previous cell is free: if the side cell is free too, a wall beside the previous cell closes this diagonal.
        if open_moves >> _MOVE_OF[side] & 1 and not open_moves >> back & 1:
            bits |= 1 << _MOVE_OF[side] | 1 << _MOVE_OF[side[0] + down, side[1] + right]
    return open_moves & bits


SUCCESSORS = bytes(_successors(came, open_moves) for came in range(AT_ONCE + 1) for open_moves in range(256))
"""Moves to try, as bits; the index is 256 times the move that led to the cell, plus its open moves."""


def suits(passage: GridPassage) -> bool:
    """Return whether canonical moves suit the current passage: 8 neighbors, closed corners, a single cost."""
    return len(passage.moves.lengths) == 8 and passage.corners == "closed" and passage.is_uniform


def cost_of(length: int, cost: float) -> float:
    """Return the cost of a path from its integer length and the single cost of all cells."""
    diagonals = length % STRAIGHT * _INVERSE % STRAIGHT
    straights = (length - diagonals * DIAGONAL) // STRAIGHT
    return (straights + SQRT_2 * diagonals) * cost


def costs_of(lengths: NDArray[np.uint32], cost: float) -> NDArray[np.float64]:
    """Return the same for many paths."""
    # Remainders from integer quotients, which NumPy computes many times faster.
    rest = (lengths - lengths // STRAIGHT * STRAIGHT) * np.uint32(_INVERSE)
    diagonals = rest - rest // STRAIGHT * STRAIGHT
    straights = (lengths - diagonals * np.uint32(DIAGONAL)) // STRAIGHT
    costs: NDArray[np.float64] = (straights + SQRT_2 * diagonals) * cost
    return costs
