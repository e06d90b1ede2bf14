"""Path smoothing: cuts the corners of a path where there is room."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number, numbers, shown, whole_number

__all__ = ["smooth"]


def smooth(
    points: ArrayLike, radius: float, *, rounds: int = 2,
    is_open: Callable[[NDArray[np.float64], NDArray[np.float64]], bool] | None = None,
) -> NDArray[np.float64]:
    """Return a path with its corners cut repeatedly, which approximates arcs.

    A cut starts at most ``radius`` and at most half a segment from the corner. A corner stays
    if its cut is not open. Start and end stay.

    Args:
        points: (n, 2) or (n, 3), start, turns and end of the path.
        radius: largest distance of the first cut from a corner, 0 or more, in the unit of the points.
        rounds: number of passes, 0 to 8; each doubles the points at most, and halves the cuts.
        is_open: function that returns whether the line between two points is open; None for always.

    Raises:
        ValueError: if the points have another shape or are not finite, or a number is out of range.

    Cost: O(n * 2 ** rounds), and as many calls of ``is_open``.
    Source: Chaikin 1974.

    >>> smooth([(0, 0), (4, 0), (4, 4)], 1.0, rounds=1).tolist()
    [[0.0, 0.0], [3.0, 0.0], [4.0, 1.0], [4.0, 4.0]]
    """
    given = numbers("points", points)
    if given.ndim != 2 or given.shape[1] not in (2, 3) or not np.isfinite(given).all():
        raise ValueError(f"points must be finite numbers of shape (n, 2) or (n, 3), got {shown(points)}")
    reach = finite_number("radius", radius, minimum=0)
    for _ in range(whole_number("rounds", rounds, minimum=0, maximum=8)):
        given = _cut(given, reach, is_open)
        reach /= 2
    return given


def _cut(
    given: NDArray[np.float64], reach: float, is_open: Callable[[NDArray[np.float64], NDArray[np.float64]], bool] | None
) -> NDArray[np.float64]:
    if len(given) < 3 or reach == 0:
        return given
    kept = [given[0]]
    for before, corner, after in zip(given[:-2], given[1:-1], given[2:], strict=True):
        sides = [corner + (other - corner) * _share(corner, other, reach) for other in (before, after)]
        if is_open is None or is_open(*sides):
            kept += sides
        else:
            kept.append(corner)
    return np.array([*kept, given[-1]])


def _share(corner: NDArray[np.float64], other: NDArray[np.float64], reach: float) -> float:
    """Return the share of a segment within reach of the corner, at most half."""
    length = float(np.linalg.norm(other - corner))
    return min(0.5, reach / length) if length else 0.5
