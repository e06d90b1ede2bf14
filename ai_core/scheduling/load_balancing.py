"""The load balancing scheduler: a budget that holds, and nothing lost by it."""
from __future__ import annotations

from itertools import accumulate

from ai_core.budget import Budget
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["LoadBalancingScheduler"]


class LoadBalancingScheduler(Scheduler):
    """Shares what is left of the budget over the due tasks still to run.

    A task gets ``left * priority / remaining priority``: equal shares at
    equal priorities. What it leaves goes to those after it, and what it takes
    too much they pay for. When the budget is spent the rest waits for the
    next frame; work carried over goes first, the longest late before others,
    ties by smallest id. A task that falls due again while it waits still runs
    once, and is told its true elapsed time.

    One task runs even when there is no budget at all, so with n tasks none waits longer
    than n frames. The budget is exceeded by no more than the one task that was running when
    it ended; ``on_overrun`` is told which. Work that counts no steps of its
    own costs one step of a budget of steps.

    Cost: O(tasks + due log due) a frame.
    Source: 000_execution_management, load balancing scheduler, which runs
    what is due even when no time is left.
    """

    carries_over = True

    @property
    def waiting(self) -> tuple[Task, ...]:
        """Due tasks carried over to the next frame, first to run first."""
        return tuple(task for task, _ in self._queue() if self._may_run(task))

    def _run_frame(self, budget: Budget) -> None:
        self._enqueue()
        queue = self._queue()
        priorities = [task.priority for task, _ in queue]
        # Summed from the end: each total holds exactly the priorities still to run.
        totals = list(accumulate(reversed(priorities)))
        has_run = False
        for (task, due_since), priority in zip(queue, priorities, strict=True):
            left = max(budget.left, 0)
            if left <= 0 and has_run:
                break
            total = totals.pop()
            if self._may_run(task):
                del self._waiting[task]
                share = budget.part(left * (priority / total))
                self._run(task, share, budget, self.frame - due_since)
                has_run = True  # one a frame at least, or a tiny budget would starve everybody

    def _enqueue(self) -> None:
        self._waiting = {
            task: since for task, since in self._waiting.items() if self._may_run(task)
        }
        for task in self._due():
            self._waiting.setdefault(task, self.frame)

    def _queue(self) -> list[tuple[Task, int]]:
        return sorted(self._waiting.items(), key=lambda item: (item[1], item[0].id))
