"""Choke points: narrow passages between wide areas, where few defenders can stop many."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import flags, whole_number

__all__ = ["ChokePoint", "choke_points"]

AROUND = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0))
BESIDE = ((-1, 0), (0, -1), (0, 1), (1, 0))


class ChokePoint(NamedTuple):
    """One choke point.

    Attributes:
        cell: narrowest cell; of several, the one nearest to the middle, then the smallest number.
        width_cells: width at this cell (cells).
        cells: (n,) int32, all cells of the choke point, ascending.
    """

    cell: int
    width_cells: int
    cells: NDArray[np.int32]


def choke_points(is_open: ArrayLike, max_width_cells: int = 3) -> list[ChokePoint]:
    """Return the narrow passages that join wide areas, ordered by cell.

    A cell is narrow if the run of open cells through it, along its row or its column, is at most
    ``max_width_cells`` long. Narrow cells that touch form one passage. A passage is a choke point
    if it touches two or more wide areas that do not meet nearby, which excludes nooks.

    Args:
        is_open: (height, width) bool, True for walkable cells; the edge of the map is a wall.
        max_width_cells: largest width of a narrow passage (cells), 1 or more.

    Raises:
        TypeError: if ``is_open`` is not bool, or the width is not an integer.
        ValueError: if ``is_open`` is not two-dimensional, or the width is below 1.

    Cost: O(cells) in NumPy and O(narrow cells × max_width_cells²) in Python; the ground rarely
        changes, so call it once, while loading.

    >>> [point.cell for point in choke_points(np.array([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1],
    ...                                                 [1, 1, 0, 1, 1]], bool), 1)]
    [7]
    """
    ground = flags("is_open", is_open)
    most = whole_number("max_width_cells", max_width_cells, minimum=1)
    widths = np.minimum(_runs(ground), _runs(np.ascontiguousarray(ground.T)).T)
    is_narrow = ground & (widths <= most)
    found = []
    for place in _places(is_narrow):
        if _joins_wide_ground(place, ground & ~is_narrow, most):
            found.append(_choke_point(place, widths))
    return sorted(found, key=lambda point: point.cell)


def _runs(ground: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return for each open cell the length of its run of open cells in the row; 0 for walls."""
    height, width = ground.shape
    padded = np.zeros((height, width + 2), np.int8)
    padded[:, 1:-1] = ground
    steps = np.diff(padded, axis=1).reshape(-1)
    begins, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    runs = np.zeros(height * width, np.int32)
    runs[ground.reshape(-1)] = np.repeat(ends - begins, ends - begins)
    return runs.reshape(height, width)


def _places(is_narrow: NDArray[np.bool_]) -> list[list[tuple[int, int]]]:
    """Return groups of narrow cells that touch, also at corners, as lists of (row, column)."""
    left = set(zip(*(axis.tolist() for axis in np.nonzero(is_narrow)), strict=True))
    places = []
    for start in sorted(left):
        if start not in left:
            continue
        left.discard(start)
        place, ahead = [start], [start]
        while ahead:
            row, column = ahead.pop()
            for down, right in AROUND:
                cell = (row + down, column + right)
                if cell in left:
                    left.discard(cell)
                    place.append(cell)
                    ahead.append(cell)
        places.append(place)
    return places


def _joins_wide_ground(place: list[tuple[int, int]], is_wide: NDArray[np.bool_], reach: int) -> bool:
    """Return whether the wide cells beside a passage form two or more groups within ``reach`` of it."""
    height, width = is_wide.shape
    near = {
        (r, c)
        for row, column in place
        for r in range(max(0, row - reach), min(height, row + reach + 1))
        for c in range(max(0, column - reach), min(width, column + reach + 1))
        if is_wide[r, c]}
    beside = {(row + down, column + right) for row, column in place for down, right in BESIDE} & near
    groups = 0
    while beside:
        groups += 1
        if groups == 2:
            return True
        ahead = [beside.pop()]
        near.discard(ahead[0])
        while ahead:
            row, column = ahead.pop()
            for down, right in BESIDE:
                cell = (row + down, column + right)
                if cell in near:
                    near.discard(cell)
                    beside.discard(cell)
                    ahead.append(cell)
    return False


def _choke_point(place: list[tuple[int, int]], widths: NDArray[np.int32]) -> ChokePoint:
    columns = widths.shape[1]
    row_sum, column_sum, count = sum(row for row, _ in place), sum(column for _, column in place), len(place)

    def order(cell: tuple[int, int]) -> tuple[int, int, int]:
        row, column = cell
        away = (row * count - row_sum) ** 2 + (column * count - column_sum) ** 2
        return int(widths[cell]), away, row * columns + column

    width, _, number = min(map(order, place))
    return ChokePoint(number, width, np.array(sorted(row * columns + column for row, column in place), np.int32))
