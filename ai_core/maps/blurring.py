"""Blur: each cell takes from its neighbors and gives to them; nothing is lost.

One pass weighs a cell 2 and its neighbors 1, along columns and then along rows;
beyond the edge lies what lies on it. The total stays, and passes widen by a cell each.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["blur_rows", "blur_rows_within_walls"]

Floats = NDArray[np.float32]

OF_SIXTEEN = np.float32(1 / 16)
"""Weights of a pass add up to 4 × 4. A power of two: scaling rounds nothing."""


def blur_rows(source: Floats, first: int, last: int, scratch: Floats, out: Floats) -> None:
    """Blur some rows once.

    Args:
        source: (height, width) float32, read from one row before to one behind.
        first, last: from row ``first`` to below ``last``.
        scratch: (height, width) float32, overwritten in these rows.
        out: (height, width) float32, overwritten in these rows; none of the others.

    Cost: O(cells of the rows), no allocation.

    >>> one = np.array([[0, 16, 0]], np.float32)
    >>> blurred = np.empty_like(one)
    >>> blur_rows(one, 0, 1, np.empty_like(one), blurred)
    >>> blurred.tolist()
    [[4.0, 8.0, 4.0]]
    """
    here, column, target = source[first:last], scratch[first:last], out[first:last]
    np.add(here, here, out=column)
    second, last_but_one = max(first, 1), min(last, len(source) - 1)
    column[second - first:] += source[second - 1:last - 1]
    column[:last_but_one - first] += source[first + 1:last_but_one + 1]
    if first == 0:
        column[0] += source[0]
    if last == len(source):
        column[-1] += source[-1]
    np.add(column, column, out=target)
    target[:, 1:] += column[:, :-1]
    target[:, :-1] += column[:, 1:]
    target[:, 0] += column[:, 0]
    target[:, -1] += column[:, -1]
    target *= OF_SIXTEEN


def blur_rows_within_walls(
    source: Floats, first: int, last: int, is_open: NDArray[np.bool_], scratch: Floats, out: Floats
) -> None:
    """Blur some rows once; nothing goes into walls, out of them or through: as if beyond lay what lies before.

    Args:
        is_open: (height, width) bool, False for walls. The others as for ``blur_rows``.

    Cost: O(cells of the rows), some two times that of ``blur_rows``; allocates as much as the rows hold.

    >>> one = np.array([[0, 16, 0]], np.float32)
    >>> blurred = np.empty_like(one)
    >>> blur_rows_within_walls(one, 0, 1, np.array([[True, True, False]]), np.empty_like(one), blurred)
    >>> blurred.tolist()
    [[4.0, 12.0, 0.0]]
    """
    here, column, target, free = source[first:last], scratch[first:last], out[first:last], is_open[first:last]
    np.multiply(here, np.float32(4), out=column)
    second, last_but_one = max(first, 1), min(last, len(source) - 1)
    above, below = slice(second - 1, last - 1), slice(first + 1, last_but_one + 1)
    column[second - first:] += (source[above] - source[second:last]) * (is_open[above] & is_open[second:last])
    column[:last_but_one - first] += (source[below] - source[first:last_but_one]) * (
        is_open[below] & is_open[first:last_but_one])
    np.multiply(column, np.float32(4), out=target)
    flow = (column[:, 1:] - column[:, :-1]) * (free[:, 1:] & free[:, :-1])
    target[:, :-1] += flow
    target[:, 1:] -= flow
    target *= OF_SIXTEEN
