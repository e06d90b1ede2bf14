"""The load balancing scheduler: a budget that holds, and nothing lost by it."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.task import Task

__all__ = ["LoadBalancingScheduler"]


class LoadBalancingScheduler(SharingScheduler):
    """Runs what is due as far as the budget goes, the longest late first.

    A task gets ``left * priority / remaining priority``: equal shares at
    equal priorities. When the budget is spent the rest waits for the next
    frame; work carried over goes first, the longest late before others, ties
    by smallest id. A task that falls due again while it waits still runs once,
    and is told its true elapsed time.

    One task runs in every frame, even when there is no budget at all: so with
    n tasks none waits longer than n - 1 frames, whatever its priority. The
    budget is exceeded by no more than the one task that was running when it
    ended; ``on_overrun`` is told which. Work that counts no steps of its own
    costs one step of a budget of steps.

    Cost: O(due + waiting) a frame.
    Source: 000_execution_management, load balancing scheduler, which runs
    what is due even when no time is left.
    """

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames ``task`` can wait from falling due to running: n - 1.

        It holds as long as no other task is added.

        Raises:
            ValueError: if it was removed, or is another scheduler's.
        """
        self._check_ours(task)
        return len(self._tasks) - 1

    def _run_frame(self, budget: Budget) -> None:
        queue, late = self._admitted(self._queue())
        self._share_out(queue, late, budget)
