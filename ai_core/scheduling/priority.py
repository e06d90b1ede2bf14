"""The priority scheduler: everything runs, each with a share by its priority."""
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
    """Who runs in a frame."""

    REMAINING_PRIORITY = "remaining_priority"
    """What is due, by period and phase."""

    PRIORITY_ONLY = "priority_only"
    """Everything, every frame; periods are ignored. For work that always goes on."""


class PriorityScheduler(SharingScheduler):
    """Runs all of it in every frame; priorities say how long, not whether.

    A task gets ``left * priority / remaining priority``. The highest priority
    goes first, ties by smallest id: so the important get their shares in full,
    what they leave goes to the less important, and it is these that pay for an
    overrun. Nothing waits, even when the budget is spent: work is expected to
    pause when its share is, and is then given none. Where work cannot pause,
    use a LoadBalancingScheduler: there nothing begins once the budget is spent.

    Args:
        clock: where ``now`` comes from.
        policy: who runs in a frame.
        settings: as for every SharingScheduler.

    Cost: O(due log due) a frame.
    Source: 000_execution_management, priority scheduling and other policies.
    Its listing divides what remains of the time by the priority of all, and
    leaves a third of it to nobody; here it is divided by what remains of both.
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
        """Who runs in a frame."""
        return self._policy

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames ``task`` can wait from falling due to running.

        0; with an activation delay, a task that never ran waits for those
        before it: (tasks that never ran - 1) // activations_per_frame.

        Raises:
            ValueError: if it was removed, or is another scheduler's.

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
