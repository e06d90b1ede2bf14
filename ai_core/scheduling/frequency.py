"""The frequency scheduler: all due work runs, exactly when it is due."""
from __future__ import annotations

from operator import attrgetter

from ai_core.budget import Budget
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["FrequencyScheduler"]

by_period_and_id = attrgetter("_period", "_id")


class FrequencyScheduler(Scheduler):
    """Runs each task on every frame with ``(frame + phase) % period == 0``.

    Over any number of frames that is a multiple of its period, a task runs exactly
    ``frames / period`` times, independently of the others. All due work runs, in the order
    added, on one common budget: work that can pause does so when it is spent, but no task is
    delayed. Where the budget must hold, use a LoadBalancingScheduler.

    Cost: O(tasks) a frame.
    Source: 000_execution_management, frequencies and phase; the due rule is corrected here.
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
