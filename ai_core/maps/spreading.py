"""Spread: every cell gets the strongest that reaches it, weaker with each step.

Strength goes from cell to cell along rows and columns, and keeps a share with each.
One scan in each direction carries it anywhere on open ground. Round walls it is
carried a corner further with every round of scans, until nothing changes.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROWS_PER_SLICE", "spread"]

Floats = NDArray[np.float32]

ROWS_PER_SLICE = 128
"""Rows between two points where it may pause: 0.1 ms at 512 columns."""

MOST_ROUNDS = 64
"""Rounds of scans (count) after which spreading round walls ends: a maze of 128 corners.
What is still further along keeps the share it has lost by then anyway."""


def spread(values: Floats, kept: float, is_open: NDArray[np.bool_] | None, turned: Floats) -> Iterator[int]:
    """Let strength flow over a map, in place; yields the rows done where it may pause.

    Args:
        values: (height, width) float32, 0 or more; overwritten.
        kept: share kept with each step from cell to cell, 0 < kept < 1.
        is_open: (height, width) bool, False where nothing gets through; None for no walls.
        turned: (width, height) float32, overwritten.

    Cost: O(cells) on open ground, O(cells × corners of the longest way) with walls.

    >>> line = np.array([[8, 0, 0, 0]], np.float32)
    >>> sum(spread(line, 0.5, None, np.empty((4, 1), np.float32))) > 0
    True
    >>> line.tolist()
    [[8.0, 4.0, 2.0, 1.0]]
    """
    share = np.float32(kept)
    is_open_turned = None if is_open is None else np.ascontiguousarray(is_open.T)
    before = None if is_open is None else np.empty_like(values)
    if is_open is not None:
        values *= is_open
    for _ in range(MOST_ROUNDS):
        if before is not None:
            before[:] = values
        yield from _scan(values, share, is_open)
        turned[:] = values.T
        yield from _scan(turned, share, is_open_turned)
        values[:] = turned.T
        if before is None or np.array_equal(values, before):
            return


def _scan(values: Floats, share: np.float32, is_open: NDArray[np.bool_] | None) -> Iterator[int]:
    """Carry strength down all columns, and up again."""
    height, carried = len(values), np.empty(values.shape[1], np.float32)
    for order in (range(1, height), range(height - 2, -1, -1)):
        for row, previous in zip(order, (row - order.step for row in order), strict=True):
            np.multiply(values[previous], share, out=carried)
            if is_open is not None:
                carried *= is_open[row]
            np.maximum(values[row], carried, out=values[row])
            if row % ROWS_PER_SLICE == 0:
                yield ROWS_PER_SLICE
    yield 1
