"""Where one leaves a region for the next: portals, each for a stretch of their border.

Open pairs of cells along a border that follow on each other are a run. A run is cut
into stretches of at most so many cells, and the pair in the middle of each is a portal.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.passage import Passage

__all__ = ["Portal", "portals_between"]


class Portal(NamedTuple):
    """A pair of neighboring cells: one in a region, the other in the next."""

    cell: int
    other: int


def portals_between(
    passage: Passage, cells: NDArray[np.int32], step: int, longest: int, move: int
) -> list[Portal]:
    """Return the portals of one border, in its order.

    Args:
        passage: where.
        cells: (n,), along the border on one side.
        step: from each of them to the cell on the other side.
        longest: cells of a stretch at most (count).
        move: the number of that move.

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
