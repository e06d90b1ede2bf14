"""Bias by measured overrun: work that uses more than its share gets a smaller one."""
from __future__ import annotations

from ai_core.errors import finite_number
from ai_core.scheduling.task import Task

__all__ = ["OverrunBias"]

MEMORY_RUNS = 8.0
"""How slowly a bias adapts (runs): after this many it has covered 2/3 of the difference.

With fewer, one expensive frame counts against a task; with more, a task that was
fixed is penalized for seconds.
"""

LEAST, MOST = 0.5, 2.0
"""Smallest and largest bias (no unit).

Wider, and priorities would no longer say who matters: between the two a task's
claim may change fourfold already.
"""


class OverrunBias:
    """Multiplies the priority of each task by how well earlier runs kept to their shares.

    After each run, with ``fit = granted / used`` limited to ``least .. most``::

        bias += (fit - bias) / memory_runs

    The bias starts at 1, is 1 for work that uses what it is granted, falls towards
    ``least`` for work that overruns, rises towards ``most`` for work that
    leaves time over, and adapts: after ``memory_runs`` more runs, a run counts for little.
    A run with no grant, or without limit, is ignored.

    Args:
        least: smallest bias, above 0 and at most 1.
        most: largest bias, 1 or more.
        memory_runs: how slowly it adapts (runs), 1 or more.

    Source: 000_execution_management, other policies; the formula is ours.
    """

    def __init__(
        self, *, least: float = LEAST, most: float = MOST, memory_runs: float = MEMORY_RUNS
    ) -> None:
        self.least = finite_number("least", least, above=0, maximum=1, remedy="use 1 for no penalty")
        self.most = finite_number("most", most, minimum=1, maximum=1e6, remedy="use 1 for no bonus")
        self._memory_runs = finite_number(
            "memory_runs", memory_runs, minimum=1, remedy="use 1 to count only the last run"
        )
        self._biases: dict[Task, float] = {}

    def of(self, task: Task) -> float:
        """Return the bias of a task, 1 before its first run."""
        return self._biases.get(task, 1.0)

    def learn(self, task: Task, granted: float, used: float) -> None:
        """Update the bias with a run's granted and used amounts (µs or steps)."""
        if not 0 < granted < float("inf"):
            return
        fit = self.most if used * self.most <= granted else max(self.least, granted / used)
        bias = self.of(task)
        bias += (fit - bias) / self._memory_runs
        self._biases[task] = min(max(bias, self.least), self.most)  # rounding may not leave them

    def forget(self, task: Task) -> None:
        """Remove a task; its bias is 1 again."""
        self._biases.pop(task, None)

    def put(self, task: Task, bias: float) -> None:
        """Set the bias of a task to a value that ``of`` returned."""
        self._biases[task] = finite_number("bias", bias, minimum=self.least, maximum=self.most)
