"""String pulling: straightens a path of cells."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, check_type, shown
from ai_core.maps.passage import GridPassage
from ai_core.paths.grid_line import highest_cost_on_line
from ai_core.paths.searches.cells_along import costs_along, moves_along

__all__ = ["pull_cells"]

SHORTER = 1 + 1e-9
"""Factor by which a straight segment may cost more, for rounding errors (no unit)."""


def pull_cells(passage: GridPassage, cells: ArrayLike) -> NDArray[np.int32]:
    """Return the cells at which a path turns after straightening.

    The straight line between two of them is open, and its length times its highest cell cost is at
    most the cost of the original path between them.

    Args:
        passage: passage of a square grid.
        cells: (n,) int, cells of a path.

    Raises:
        TypeError: if ``passage`` is not a GridPassage.
        ValueError: if the cells are not a path of open moves, or the grid is hexagonal.

    Cost: O(n * cells between two turns).

    >>> from ai_core.maps.grid import Grid
    >>> grid = Grid([[True] * 4] * 3, neighbors=4)
    >>> pull_cells(grid.passage(), [0, 1, 5, 6, 10, 11]).tolist()
    [0, 11]
    """
    check_type("passage", passage, GridPassage, "use grid.passage()")
    if passage.moves.is_hexagonal:
        raise ValueError("passage must be of a square grid, got a hexagonal one; follow the path cell by cell")
    path_cells = as_array("cells", cells)
    if path_cells.ndim != 1 or path_cells.dtype.kind not in "iu" or (path_cells.size and not (
            int(path_cells.min()) >= 0 and int(path_cells.max()) < passage.costs.size)):
        raise ValueError(f"cells must be cells of the grid, shape (n,), got {shown(cells)}")
    path_cells = path_cells.astype(np.int32)
    if len(path_cells) < 3:
        return path_cells
    if (moves_along(passage, path_cells) < 0).any():
        raise ValueError("cells must be a path of open moves; if cells have changed since it was found, request a new"
                         " path")
    left = costs_along(passage, path_cells).tolist()
    places = np.stack(np.divmod(path_cells, passage.shape[1]), axis=1).tolist()
    kept, at = [0], 1
    while at < len(path_cells) - 1:
        first = kept[-1]
        highest = highest_cost_on_line(passage, places[first], places[at + 1])
        length = math.dist(places[first], places[at + 1])
        if highest == math.inf or highest * length > (left[first] - left[at + 1]) * SHORTER:
            kept.append(at)
        at += 1
    return path_cells[[*kept, len(path_cells) - 1]]
