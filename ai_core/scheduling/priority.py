"""The priority scheduler: all work runs, each with a share by its priority."""
from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import ClassVar, Unpack

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import shown
from ai_core.scheduling.settings import SharingSettings
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.task import Task

__all__ = ["PriorityPolicy", "PriorityScheduler"]

by_id, by_priority = attrgetter("_id"), attrgetter("_priority")


class PriorityPolicy(Enum):
    """Which work runs in a frame."""

    REMAINING_PRIORITY = "remaining_priority"
    """Due tasks, by period and phase."""

    PRIORITY_ONLY = "priority_only"
    """All tasks, every frame; periods are ignored. For work that never ends."""


class PriorityScheduler(SharingScheduler):
    """Runs all its work in every frame; priorities set how long, not whether.

    A task receives ``left * priority / remaining priority``. The highest priority
    runs first, ties by smallest id: so important tasks get their full shares, what
    they do not use goes to less important ones, and these pay for an
    overrun. Nothing waits, even when the budget is spent: work is expected to
    pause when its share is spent, and then receives no budget. Where work cannot pause,
    use a LoadBalancingScheduler, which starts nothing once the budget is spent.

    Args:
        clock: source of ``now``.
        policy: which work runs in a frame.
        settings: as for every SharingScheduler.

    Cost: O(due log due) a frame.
    Source: 000_execution_management, priority scheduling and other policies.
    Its listing divides the remaining time by the priority of all tasks, and so leaves a third
    of it unused; here it is divided by the remaining priority.
    """

    lets_wait: ClassVar[bool] = False

    def __init__(
        self,
        clock: Clock,
        *,
        policy: PriorityPolicy = PriorityPolicy.REMAINING_PRIORITY,
        **settings: Unpack[SharingSettings],
    ) -> None:
        super().__init__(clock, **settings)
        if not isinstance(policy, PriorityPolicy):
            raise TypeError(
                f"policy must be a PriorityPolicy, got {shown(policy)};"
                " use PriorityPolicy.REMAINING_PRIORITY"
            )
        self._policy = policy

    @property
    def policy(self) -> PriorityPolicy:
        """Which work runs in a frame."""
        return self._policy

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames that ``task`` can wait from falling due to running.

        0; with an activation delay, a task that never ran waits for those
        before it: (tasks that never ran - 1) // activations_per_frame.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.

        Cost: O(tasks).
        """
        self._check_ours(task)
        if self._activations is None or task.runs:
            return 0
        new = sum(not one.runs for one in self._tasks.values())
        return (new - 1) // self._activations

    def _run_frame(self, budget: Budget) -> None:
        queue, late = self._admitted(self._queue())
        if self._waiting:  # else it is by id already
            queue.sort(key=by_id)
        queue.sort(key=by_priority, reverse=True)  # keeps the order of equals
        self._share_out(queue, late, budget)

    def _due(self) -> list[Task]:
        if self._policy is PriorityPolicy.REMAINING_PRIORITY:
            return super()._due()
        return [task for task in self._tasks.values() if self._may_run(task)]
