"""The frequency scheduler: everything that is due runs, exactly when it is due."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.scheduling.scheduler import Scheduler

__all__ = ["FrequencyScheduler"]


class FrequencyScheduler(Scheduler):
    """Runs each task on every frame with ``(frame + phase) % period == 0``.

    Over any stretch of frames that is a multiple of its period, a task runs
    exactly ``frames / period`` times, whatever happens to the others. All due
    work runs, in the order added, on one common budget: the budget tells
    work that can pause when to do so, but holds nothing back. Where the
    budget must hold, use a LoadBalancingScheduler.

    Cost: O(tasks) a frame.
    Source: 000_execution_management, frequencies and phase; the due rule is
    the right way round here.
    """

    def _run_frame(self, budget: Budget) -> None:
        for task in self._due():
            if self._may_run(task):
                self._run(task, budget, budget)
