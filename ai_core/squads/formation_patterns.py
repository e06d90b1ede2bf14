"""The patterns of formations: where so many members stand, in units of their spacing.

Each returns (count, 2), ahead and to the right; the first is the commander's, at the
origin. They fill up in an order that leaves everybody in place when one more comes.
"""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATTERNS"]

Offsets = NDArray[np.float64]


def _aside(numbers: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return 0, 1, -1, 2, -2, … for 0, 1, 2, 3, 4, …: from the middle outwards."""
    return np.where(numbers % 2, (numbers + 1) // 2, -(numbers // 2))


def _line(count: int, files: int) -> Offsets:
    return np.stack([np.zeros(count), _aside(np.arange(count))], axis=1)


def _column(count: int, files: int) -> Offsets:
    return _ranks(count, files or 1)


def _wedge(count: int, files: int) -> Offsets:
    aside = _aside(np.arange(count))
    return np.stack([-np.abs(aside), aside], axis=1).astype(np.float64)


def _phalanx(count: int, files: int) -> Offsets:
    return _ranks(count, files or max(1, math.ceil(math.sqrt(2 * count)) | 1))


def _ranks(count: int, files: int) -> Offsets:
    ranks, places = np.divmod(np.arange(count), files)
    return np.stack([-ranks, _aside(places)], axis=1).astype(np.float64)


def _circle(count: int, files: int) -> Offsets:
    offsets = np.zeros((count, 2))
    around = count - 1
    if around > 0:
        radius = max(1.0, 0.5 / math.sin(math.pi / around)) if around > 1 else 1.0
        angles = np.arange(around) * (math.tau / around)
        offsets[1:] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return offsets


PATTERNS: dict[str, Callable[[int, int], Offsets]] = {
    "line": _line, "column": _column, "wedge": _wedge, "phalanx": _phalanx, "circle": _circle,
}
"""By name; called with how many members there are, and how many abreast (0: choose)."""
