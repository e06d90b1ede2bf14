"""The cell that can be walked nearest to a place: for who stands in a wall, or beside the map."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number, numbers, shown
from ai_core.maps.passage import Passage

__all__ = ["nearest_free"]

SQUARES = ((0.0, 1.0), (1.0, 0.0))
HEXAGONS = ((0.0, 1.0), (math.sqrt(0.75), 0.0))
"""Places as (row, column), one from the middle of a cell to those beside it; rows of hexagons lie closer."""

SLACK = 1e-6
"""Share by which a cell may be farther than asked: middles of cells are rounded."""


def nearest_free(
    passage: Passage, place: Sequence[float], within: float, *, steps: ArrayLike | None = None
) -> int | None:
    """Return the free cell whose middle is nearest to a place, of equal ones the smallest; None if none is so near.

    Args:
        passage: what can be walked.
        place: (d,) from the middle of cell 0, in the unit of ``steps``; on or beside the grid.
        within: how far the middle may be, 0 or more.
        steps: (2, d), from a cell to the next column, and from a row to the next (of hexagons without their
            shift); None is (row, column), with cells that are 1 apart.

    Raises:
        TypeError, ValueError: if a place or a number is none.

    Cost: O(cells within reach).
    """
    within = finite_number("within", within, minimum=0)
    if steps is None:
        steps = HEXAGONS if passage.moves.is_hexagonal else SQUARES
    axes, point = numbers("steps", steps), numbers("place", place)
    if point.shape != axes.shape[1:] or not np.isfinite(point).all():
        raise ValueError(f"place must be {axes.shape[1]} finite numbers, got {shown(place)}")
    column, row = point @ np.linalg.pinv(axes)
    reach = within / float(np.linalg.svd(axes, compute_uv=False).min()) + 1.0
    rows, columns = (
        np.arange(max(0, math.ceil(middle - reach)), min(size, math.floor(middle + reach) + 1))
        for middle, size in zip((row, column), passage.shape, strict=True))
    return _nearest(passage, (row, column), rows, columns, axes, within) if len(rows) and len(columns) else None


def _nearest(
    passage: Passage, middle: tuple[float, float], rows: NDArray[np.int64], columns: NDArray[np.int64],
    axes: NDArray[np.float64], within: float,
) -> int | None:
    at_row, at_column = np.nonzero(np.isfinite(passage.costs[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]))
    if not len(at_row):
        return None
    row, column = rows[at_row], columns[at_column]
    shift = 0.5 * (row & 1) if passage.moves.is_hexagonal else 0.0
    apart = np.linalg.norm(np.stack((column + shift - middle[1], row - middle[0]), axis=1) @ axes, axis=1)
    first = int(np.argmin(apart))
    return int(row[first]) * passage.shape[1] + int(column[first]) if apart[first] <= within * (1 + SLACK) else None
