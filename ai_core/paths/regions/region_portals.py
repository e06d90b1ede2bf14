"""Portals between neighboring regions, one for each stretch of their border.

Consecutive open pairs of cells along a border form a run. A run is divided into stretches of
limited length, and the middle pair of each stretch is a portal.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.passage import GridPassage

__all__ = ["Portal", "portals_between"]


class Portal(NamedTuple):
    """Pair of neighboring cells: ``cell`` in one region, ``other`` in the next."""

    cell: int
    other: int


def portals_between(
    passage: GridPassage, cells: NDArray[np.int32], step: int, longest: int, move: int
) -> list[Portal]:
    """Return the portals of one border, in its order.

    Args:
        passage: passage of the grid.
        cells: (n,) int32, cells along one side of the border.
        step: difference from each cell to the cell on the other side.
        longest: largest length of a stretch (cells).
        move: number of the move across the border.

    Cost: O(n).
    """
    is_open = (passage.open_moves.reshape(-1)[cells] >> move & 1).astype(bool)
    if not is_open.any():
        return []
    edges = np.diff(np.concatenate([[False], is_open, [False]]).astype(np.int8))
    portals = []
    for begin, end in zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True):
        pieces = -(-(end - begin) // longest)
        for piece in range(pieces):
            first = begin + (end - begin) * piece // pieces
            last = begin + (end - begin) * (piece + 1) // pieces
            cell = int(cells[(first + last) // 2])
            portals.append(Portal(cell, cell + step))
    return portals
