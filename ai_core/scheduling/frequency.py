"""The frequency scheduler: everything that is due runs, exactly when it is due."""
from __future__ import annotations

from operator import attrgetter

from ai_core.budget import Budget
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["FrequencyScheduler"]

by_period_and_id = attrgetter("_period", "_id")


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

    def _due(self) -> list[Task]:
        frame = self._frame
        due = [
            task
            for task in self._tasks.values()
            if (frame + task._phase) % task._period == 0 and self._may_run(task)
        ]
        return sorted(due, key=by_period_and_id)
