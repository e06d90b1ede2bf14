"""The load balancing scheduler: no work starts once the budget is spent, and none is lost."""
from __future__ import annotations

from itertools import filterfalse
from operator import attrgetter
from typing import Unpack

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.scheduling.admitting_line import AdmissionQueue
from ai_core.scheduling.settings import SharingSettings
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.task import Task
from ai_core.scheduling.waiting_line import CarryOverQueue

__all__ = ["LoadBalancingScheduler"]

SERVED_AT_ONCE = 64
"""Most waiting tasks that are looked at together (count).

A look costs 3 µs, and 0.1 µs for each task that then does not run: smaller values pay the
first cost for every run, larger ones the second in frames with few runs.
"""

by_id = attrgetter("_id")


class LoadBalancingScheduler(SharingScheduler):
    """Runs due work as far as the budget suffices, the work that has waited longest first.

    A task receives ``left * priority / remaining priority``: equal shares at
    equal priorities. When the budget is spent, the rest waits for the next
    frame. Waiting work goes first, by waiting time, ties by smallest id. A task
    that falls due again while it waits still runs once,
    with its true elapsed time.

    One task runs in every frame, even with no budget at all: so with n tasks
    none waits longer than n - 1 frames, whatever its priority. The overrun
    is at most the one task that was running when the budget
    ended; ``on_overrun`` names it. Work that counts no steps of its own
    costs one step of a budget of steps.

    Args:
        clock: source of ``now``.
        settings: as for every SharingScheduler.

    Cost: O(due + run) a frame, however many wait.
    Source: 000_execution_management, load balancing scheduler, which runs
    due work even when no time is left.
    """

    def __init__(self, clock: Clock, **settings: Unpack[SharingSettings]) -> None:
        super().__init__(clock, **settings)
        most = self._activations
        self._line = CarryOverQueue(self._weight) if most is None else AdmissionQueue(self._weight, most)
        self._waiting = self._line.since

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames that ``task`` can wait from falling due to running: n - 1.

        It holds as long as no other task is added.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        return len(self._tasks) - 1

    def _run_frame(self, budget: Budget) -> None:
        line = self._line
        if self._waiting:
            line.drop(self._may_run)
        due = self._newly_due()
        if line.since or line.holds_back(due):  # now, while the budget pays for it: most of them will have to
            line.join(due, self._frame)
            self._run_line(budget)
            return
        if not due:
            return
        late: list[Task] = []
        try:
            self._share(due, late, budget)
        finally:
            if late:
                self._let_wait(late)

    def _newly_due(self) -> list[Task]:
        """Return who is due and does not wait, by id."""
        due = self._due()
        if self._waiting:
            due = list(filterfalse(self._waiting.__contains__, due))
        if len(self._due_buckets) > 1:  # in one they are by id already
            due.sort(key=by_id)
        return due

    def _run_line(self, budget: Budget) -> None:
        """Run those who wait as far as the budget goes."""
        line, may_wait, late = self._line, False, list[Task]()
        while not late and (first := line.first(SERVED_AT_ONCE)):
            behind = line.weight_behind(first)
            try:
                may_wait = self._share(first, late, budget, weight_behind=behind, may_wait=may_wait)
            finally:  # who had no turn is the end of them
                line.leave(first[: len(first) - len(late)])

    def _let_wait(self, late: list[Task]) -> None:
        self._line.join(late, self._frame)
        for task in self._touched:  # before they waited
            self._line.touch(task)

    def _touch(self, task: Task) -> None:
        super()._touch(task)
        self._line.touch(task)

    def _reweigh(self, task: Task) -> None:
        self._line.touch(task)

    def _put_waiting(self, waiting: dict[Task, int]) -> None:
        self._line.refill(waiting.items())
