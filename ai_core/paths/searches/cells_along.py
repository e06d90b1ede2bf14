"""Moves and costs along a path of cells."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.passage import GridPassage

__all__ = ["costs_along", "is_path", "moves_along", "remove_loops"]


def moves_along(passage: GridPassage, cells: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the move number from each cell of a path to the next, (n - 1,); -1 if no move is open."""
    width, opened = passage.shape[1], passage.open_moves.reshape(-1)[cells[:-1]]
    if width >= 3 and not passage.moves.is_hexagonal:  # every move has a unique difference of cells
        steps = np.array([down * width + right for down, right in passage.moves.even])
        moves = np.minimum(np.searchsorted(steps, np.diff(cells)), len(steps) - 1)
        is_open = (steps[moves] == np.diff(cells)) & (opened >> moves & 1).astype(bool)
        return np.where(is_open, moves, -1)
    rows, columns = np.divmod(cells.astype(np.int64), width)
    down, right = np.diff(rows), np.diff(columns)
    is_odd = (opened & ODD_ROW).astype(bool) & passage.moves.is_hexagonal
    found = np.full(len(down), -1)
    for parity, goes in enumerate((passage.moves.even, passage.moves.odd)):
        for move, (row, column) in enumerate(goes):
            is_it = (down == row) & (right == column) & (is_odd == bool(parity)) & (opened >> move & 1).astype(bool)
            found[is_it] = move
    return found


def is_path(passage: GridPassage, cells: NDArray[np.int32], start: int, goals: NDArray[np.int32]) -> bool:
    """Return whether cells form a path of open moves from ``start`` to one of ``goals``."""
    if not len(cells) or cells[0] != start or cells[-1] not in goals:
        return False
    if cells.min() < 0 or cells.max() >= passage.costs.size:
        return False
    return bool((moves_along(passage, cells) >= 0).all())


def costs_along(passage: GridPassage, cells: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the cost from each cell of a path to its end, (n,) float64; summed from the end."""
    lengths = np.array(passage.moves.lengths)[moves_along(passage, cells)]
    steps = lengths * passage.costs.reshape(-1)[cells[1:]].astype(np.float64)
    return np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])


def remove_loops(cells: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the path without loops: the cells between two visits of a cell are removed."""
    last = {cell: i for i, cell in enumerate(cells.tolist())}
    if len(last) == len(cells):
        return cells
    kept, i = [], 0
    while i < len(cells):
        cell = int(cells[i])
        kept.append(cell)
        i = last[cell] + 1
    return np.array(kept, np.int32)
