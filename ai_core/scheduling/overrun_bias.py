"""Bias by measured overrun: who takes more than its share gets a smaller one."""
from __future__ import annotations

from ai_core.errors import finite_number
from ai_core.scheduling.task import Task

__all__ = ["OverrunBias"]

MEMORY_RUNS = 8.0
"""How slowly a bias follows (runs): after so many it has gone 2/3 of the way.

Fewer, and one dear frame is held against a task; more, and one that was mended
is punished for seconds.
"""

LEAST, MOST = 0.5, 2.0
"""Smallest and largest bias (no unit).

Wider, and priorities would no longer say who matters: between the two a task's
claim may change fourfold already.
"""


class OverrunBias:
    """Multiplies the priority of each task by what earlier runs made of their shares.

    After each run, with ``fit = granted / used`` taken to ``least .. most``::

        bias += (fit - bias) / memory_runs

    It begins at 1, is 1 for work that uses what it is given, falls towards
    ``least`` for work that overruns, rises towards ``most`` for work that
    leaves time over, and forgets: a run counts for little ``memory_runs`` later.
    A run granted nothing, or without limit, teaches nothing.

    Args:
        least: smallest bias, above 0 and at most 1.
        most: largest bias, 1 or more.
        memory_runs: how slowly it follows (runs), 1 or more.

    Source: 000_execution_management, other policies; the formula is ours.
    """

    def __init__(
        self, *, least: float = LEAST, most: float = MOST, memory_runs: float = MEMORY_RUNS
    ) -> None:
        self.least = finite_number("least", least, above=0, maximum=1, remedy="1 punishes nobody")
        self.most = finite_number("most", most, minimum=1, maximum=1e6, remedy="1 rewards nobody")
        self._memory_runs = finite_number(
            "memory_runs", memory_runs, minimum=1, remedy="use 1 to go by the last run alone"
        )
        self._biases: dict[Task, float] = {}

    def of(self, task: Task) -> float:
        """Return the bias of a task, 1 before its first run."""
        return self._biases.get(task, 1.0)

    def learn(self, task: Task, granted: float, used: float) -> None:
        """Take into account one run that was given and used so much (µs or steps)."""
        if not 0 < granted < float("inf"):
            return
        fit = self.most if used * self.most <= granted else max(self.least, granted / used)
        bias = self.of(task)
        bias += (fit - bias) / self._memory_runs
        self._biases[task] = min(max(bias, self.least), self.most)  # rounding may not leave them

    def forget(self, task: Task) -> None:
        """Drop what is known of a task; it would begin at 1 again."""
        self._biases.pop(task, None)

    def put(self, task: Task, bias: float) -> None:
        """Set the bias of a task to one that ``of`` returned."""
        self._biases[task] = finite_number("bias", bias, minimum=self.least, maximum=self.most)
