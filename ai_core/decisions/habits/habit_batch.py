"""Batches: the runs of a habit by many characters, ticked at once with arrays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import STATUS_OF_CODE, Status
from ai_core.described import Described
from ai_core.errors import UnknownNameError, shown

__all__ = ["HabitBatch"]

SMALLEST = 8
"""Initial capacity of a batch (rows); it doubles when it is used up."""


class HabitBatch(Described):
    """The active runs of a habit at a place, of all characters of a population.

    ``batch["energy"]`` is the array of ``context.memory["energy"]`` of all runs, one of
    the habit's ``columns``; write to it in place. While a run is in the batch, the array
    holds the valid values; its memory is updated when it is read and when the run ends.

    Args:
        columns: names of the numbers that each run keeps; 0 where its memory has none.

    Attributes:
        contexts: the runs, in the order of the rows.
    """

    SHOWN = ("owners",)

    def __init__(self, columns: Sequence[str]) -> None:
        self.contexts: list[HabitContext] = []
        self._times = np.zeros((3, SMALLEST))  # began, ticked, by the tree's time; and by how much that is less
        self._columns = {name: np.zeros(SMALLEST) for name in columns}
        self._now_s = 0.0

    def __len__(self) -> int:
        return len(self.contexts)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column, shape (n,); change it in place."""
        if name not in self._columns:
            raise UnknownNameError("column", name, self._columns)
        return self._columns[name][: len(self.contexts)]

    def __setitem__(self, name: str, values: Any) -> None:
        """Write a column: ``batch["x"] += 1``."""
        self[name][:] = values

    @property
    def owners(self) -> list[Any]:
        """The characters, in the order of the rows. Cost: O(n)."""
        return [context.owner for context in self.contexts]

    @property
    def elapsed_s(self) -> NDArray[np.float64]:
        """Game time since each run's last tick (s), shape (n,)."""
        return self._lived() - self._times[1, : len(self.contexts)]

    @property
    def time_in_habit_s(self) -> NDArray[np.float64]:
        """Game time since each run began (s), shape (n,)."""
        return self._lived() - self._times[0, : len(self.contexts)]

    def join(self, context: HabitContext, offset_s: float) -> None:
        """Add a run.

        Args:
            context: the run.
            offset_s: time of the population minus time of its tree (s).
        """
        row = len(self.contexts)
        if row == self._times.shape[1]:
            self._times = np.concatenate([self._times, np.zeros_like(self._times)], axis=1)
            self._columns = {name: np.concatenate([one, np.zeros_like(one)]) for name, one in self._columns.items()}
        self._times[:, row] = context.began_s, context.ticked_s, offset_s
        memory = context.memory
        for name, column in self._columns.items():
            column[row] = memory.get(name, 0.0)
        self.contexts.append(context)
        context.batch, context.row = self, row

    def leave(self, context: HabitContext) -> None:
        """Remove a run after writing its row to its memory; the last row takes its place."""
        self.remember(context)
        row, last = context.row, len(self.contexts) - 1
        context.batch = None
        moved = self.contexts.pop()
        if row != last:
            self.contexts[row] = moved
            moved.row = row
            self._times[:, row] = self._times[:, last]
            for column in self._columns.values():
                column[row] = column[last]

    def remember(self, context: HabitContext) -> None:
        """Write the row of a run back to it: the time of its last tick, and the columns to its memory."""
        context.ticked_s = float(self._times[1, context.row])
        if self._columns:
            context.remember({name: float(column[context.row]) for name, column in self._columns.items()})

    def tick(self, tick_batch: Callable[[HabitBatch], object], now_s: float) -> list[tuple[HabitContext, Status]]:
        """Tick all runs; return those that ended, in the order of the rows.

        Raises:
            TypeError, ValueError: if the result of ``tick_batch`` is neither None nor n codes.
            Exception: an exception of ``tick_batch``.
        """
        self._now_s = now_s
        answer = tick_batch(self)
        self._times[1, : len(self.contexts)] = self._lived()
        if answer is None:
            return []
        codes = np.asarray(answer)
        if codes.shape != (len(self.contexts),) or codes.dtype.kind not in "iu":
            raise TypeError(
                f"tick_batch must return None or {len(self.contexts)} integers, one per row, got {shown(answer)}")
        ended = np.flatnonzero(codes).tolist()
        if ended and not 0 <= codes.min() <= codes.max() <= 2:
            raise ValueError(f"tick_batch must return 0 (running), 1 (succeeded) or 2 (failed), got {shown(answer)}")
        return [(self.contexts[row], STATUS_OF_CODE[codes[row]]) for row in ended]

    def _lived(self) -> NDArray[np.float64]:
        """Return the time of each run's tree (s)."""
        return self._now_s - self._times[2, : len(self.contexts)]
