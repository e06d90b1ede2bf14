"""How long each of several tasks took that always run one after the other.

This is the twin in Python and NumPy of ``_round_times``, which is used in its
place where it was built.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.scheduling.statistics import RECENT_RUNS
from ai_core.twins import twin

__all__ = ["INTERFACE", "Column", "RoundTimes", "note_round"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

TOTAL, LONGEST, RECENT = 0, 1, 2
"""Rows of a table: sums, maxima, and from the third on the latest rounds, each in its row."""


@twin
def note_round(table: NDArray[np.int64], row: int, stamps: list[int]) -> None:
    """Note a round in a table: it becomes a row, and goes into sums and maxima.

    Args:
        table: shape (2 + RECENT_RUNS, tasks), lengths of time (ns).
        row: which one it becomes, from RECENT on.
        stamps: when it began, and when each task ended (ns).

    Raises:
        ValueError: if there are not as many stamps as tasks and one more.
    """
    if len(stamps) != table.shape[1] + 1:
        raise ValueError(f"stamps must be {table.shape[1] + 1}, got {len(stamps)}")
    used = np.diff(np.array(stamps, np.int64))
    table[TOTAL] += used
    np.maximum(table[LONGEST], used, out=table[LONGEST])
    table[row] = used


class Column(NamedTuple):
    """What the rounds of one task were like (ns)."""

    runs: int
    total_ns: int
    longest_ns: int
    recent_ns: list[int]


class RoundTimes:
    """Times of so many tasks in rounds that ended, of constant size.

    Args:
        tasks: how many run in each round.
    """

    __slots__ = ("_rounds", "_table")

    def __init__(self, tasks: int) -> None:
        self._table = np.zeros((RECENT + RECENT_RUNS, tasks), np.int64)
        self._rounds = 0

    def note(self, stamps: list[int]) -> None:
        """Note a round: when it began, and when each task ended (ns)."""
        note_round(self._table, RECENT + self._rounds % RECENT_RUNS, stamps)
        self._rounds += 1

    def columns(self) -> list[Column]:
        """Return what was noted for each task, the latest round last."""
        latest = self._rounds % RECENT_RUNS if self._rounds > RECENT_RUNS else 0
        recent = np.roll(self._table[RECENT:], -latest, axis=0)[: self._rounds]
        return [
            Column(self._rounds, *one)
            for one in zip(
                self._table[TOTAL].tolist(), self._table[LONGEST].tolist(), recent.T.tolist(),
                strict=True,
            )
        ]
