"""The requested time scheduler: work requests a budget, and receives it or waits."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Unpack

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import finite_number
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.settings import SharingSettings
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.task import Task
from ai_core.scheduling.task_numbers import ids_saved, read_numbers, saved_numbers

__all__ = ["RequestedTimeScheduler"]

LARGEST_REQUEST = 1e9
"""Largest request (µs or steps): 17 minutes. More could never be meant for one frame."""


class RequestedTimeScheduler(SharingScheduler):
    """Grants each task the budget it requested, or lets it wait with a growing claim.

    Due tasks are sorted by ``claim = priority * (1 + frames waited)``, the
    largest first, ties by smallest id. The first always runs, with its
    request or all there is. Each task after it runs if its request is
    still available; else it waits, and later tasks that fit may overtake it. Work
    without a request receives a share of the rest by priority. Once the budget
    is spent all wait.

    With n tasks, a task of priority p waits at most ``(n - 1) * (1 + highest / p)``
    frames: once it has waited ``(n - 1) * highest / p``, a task that overtakes it
    cannot do so again within n frames, and there are only n - 1 others.

    Args:
        clock: source of ``now``.
        settings: as for every SharingScheduler.

    Cost: O(n log n) a frame, with n tasks due or waiting.
    Source: 000_execution_management, other policies; claim and bound are ours.
    """

    def __init__(self, clock: Clock, **settings: Unpack[SharingSettings]) -> None:
        super().__init__(clock, **settings)
        self._requests: dict[Task, float] = {}

    def request(self, task: Task, amount: float | None) -> None:
        """Request a budget for each run of a task, from the next frame on.

        Work may request for itself while it runs.

        Args:
            task: the task.
            amount: µs, or steps under budgets of steps, 0 or more; None for
                a share by priority.

        Raises:
            ValueError: if ``amount`` is out of range, or the task belongs to another scheduler.
            TypeError: if ``amount`` is not a number.
        """
        self._check_ours(task)
        if amount is None:
            self._requests.pop(task, None)
            return
        self._requests[task] = finite_number(
            "amount", amount, minimum=0, maximum=LARGEST_REQUEST,
            remedy="use None for a share by priority",
        )

    def request_of(self, task: Task) -> float | None:
        """Return the request of ``task`` (µs or steps), None if it has none."""
        return self._requests.get(task)

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames that ``task`` can wait from falling due to running.

        It holds as long as no other task is added, and no priority changes.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.

        Cost: O(tasks).
        """
        self._check_ours(task)
        highest = max(one.priority for one in self._tasks.values())
        return math.floor((len(self._tasks) - 1) * (1 + highest / task.priority))

    def remove(self, task: Task) -> None:
        """Remove ``task`` and its request; an unfinished generator is closed.

        Raises:
            ValueError: if it was removed before, or belongs to another scheduler.
        """
        super().remove(task)
        self._requests.pop(task, None)

    def save_state(self) -> State:
        """Return the state of ``Scheduler.save_state``, and the requests, as plain data.

        Raises:
            RuntimeError: if called by work that this scheduler is running.
        """
        return {**super().save_state(), "requests": saved_numbers(self._requests)}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the current tasks; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
            RuntimeError: if called by work that this scheduler is running.
        """
        if not isinstance(state, dict):
            return super().prepare_state(state)
        load = super().prepare_state({name: one for name, one in state.items() if name != "requests"})
        saved = Fields({"requests": [], **state})  # another policy saved none
        requests = read_numbers(saved, "requests", ids_saved(state), maximum=LARGEST_REQUEST)

        def change() -> None:
            load()
            self._requests = {self._tasks[task_id]: one for task_id, one in requests.items()}

        return change

    def _run_frame(self, budget: Budget) -> None:
        queue, late = self._admitted(self._by_claim())
        # Settled now: what running work asks for holds from the next frame on.
        requests = [self._requests.get(task) for task in queue] if self._requests else None
        self._share_out(queue, late, budget, requests)

    def _by_claim(self) -> list[Task]:
        waiting, frame = self._waiting, self._frame

        def rank(task: Task) -> tuple[float, int]:
            return -task._priority * (1 + frame - waiting.get(task, frame)), task._id

        return sorted(self._queue(), key=rank)

