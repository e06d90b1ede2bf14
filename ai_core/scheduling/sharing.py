"""The base class of schedulers that share out a budget: queue, shares, activation delay, bias."""
from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, count, islice, repeat
from operator import attrgetter, truediv
from typing import ClassVar, Unpack

from ai_core.budget import Budget, _TimeBudget
from ai_core.clock import Clock
from ai_core.errors import shown, whole_number
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.budget_margin import BudgetMargin
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.settings import SchedulerSettings
from ai_core.scheduling.task import Task
from ai_core.scheduling.task_numbers import ids_saved, read_numbers, saved_numbers
from ai_core.scheduling.timed_sharing import ShareQueue, TaskShare, share_time, tuple_of

__all__ = ["SharingScheduler"]

MOST_ACTIVATIONS = 1_000_000
"""Largest cap on activations in a frame (count): more than a frame could run."""

by_id = attrgetter("_id")


class SharingScheduler(Scheduler):
    """Shares a budget over a queue of due tasks; a policy defines the order of the queue.

    A task receives ``left * weight / weight of those still to run``, where weight
    is its priority, times its bias if there is one. So the whole budget is
    given out, whatever the number of tasks: what a task leaves goes to those
    after it, and they pay for its overrun.

    Args:
        clock: source of ``now``.
        activations_per_frame: activation delay: most tasks that run for the
            first time in one frame (count), so that a wave of new ones makes
            no spike; None for no limit. Further ones wait their turn in the
            queue, and run with their true elapsed time.
        bias: learns which tasks overrun, and adjusts their shares; None for none.
        margin: learns how much earlier to stop, so that fewer frames exceed a budget of time; None stops when
            the budget is spent, and exceeds it by the piece of work in progress.
        settings: faults, trace, stopwatch and so on, as for every Scheduler.
    """

    carries_over: ClassVar[bool] = True

    lets_wait: ClassVar[bool] = True
    """Whether tasks wait when no budget is left; else they run without budget."""

    def __init__(
        self,
        clock: Clock,
        *,
        activations_per_frame: int | None = None,
        bias: OverrunBias | None = None,
        margin: BudgetMargin | None = None,
        **settings: Unpack[SchedulerSettings],
    ) -> None:
        super().__init__(clock, **settings)
        if activations_per_frame is not None:
            whole_number(
                "activations_per_frame", activations_per_frame, minimum=1,
                maximum=MOST_ACTIVATIONS, remedy="use None for no limit",
            )
        if bias is not None and not isinstance(bias, OverrunBias):
            raise TypeError(f"bias must be an OverrunBias or None, got {shown(bias)}")
        if margin is not None and not isinstance(margin, BudgetMargin):
            raise TypeError(f"margin must be a BudgetMargin or None, got {shown(margin)}")
        self._activations = activations_per_frame
        self._bias = bias
        self._margin = margin
        self._margin_ns = 0  # of the frame that runs

    @property
    def waiting(self) -> tuple[Task, ...]:
        """Due tasks that wait for the next frame, the longest due first, then by id."""
        return tuple(task for task in self._carried() if self._may_run(task))

    @abstractmethod
    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames that ``task`` can wait from falling due to running.

        It holds as long as no other task is added, and no priority changes.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.

        Cost: O(tasks).
        """

    def advance(self, budget: Budget) -> None:
        """Run one frame.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by work that this scheduler is running.
        """
        if self._margin is None or not isinstance(budget, _TimeBudget):
            super().advance(budget)
            return
        self._margin_ns = self._margin.ns
        super().advance(budget)
        self._margin.learn(budget._watch() - budget.deadline_ns, budget.deadline_ns - budget._started_ns)
        self._margin_ns = 0

    def remove(self, task: Task) -> None:
        """Remove ``task``; an unfinished generator is closed.

        Raises:
            ValueError: if it was removed before, or belongs to another scheduler.
        """
        super().remove(task)
        if self._bias is not None:
            self._bias.forget(task)

    def save_state(self) -> State:
        """Return frame, tasks, phases, run records, waiting work and biases, as plain data.

        Raises:
            RuntimeError: if called by work that this scheduler is running.
        """
        state = super().save_state()
        if self._bias is not None:
            ours = {task: self._bias.of(task) for task in self._tasks.values()}
            state["bias"] = saved_numbers(ours)
        return state

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the current tasks; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
            RuntimeError: if called by work that this scheduler is running.
        """
        if not isinstance(state, dict):
            return super().prepare_state(state)
        bias, load = self._bias, super().prepare_state({name: one for name, one in state.items() if name != "bias"})
        if bias is None:  # what was learned is of no use here
            return load
        saved = Fields({"bias": [], **state})  # what had none learns anew
        biases = read_numbers(saved, "bias", ids_saved(state), minimum=bias.least, maximum=bias.most)

        def change() -> None:
            load()
            for task in self._tasks.values():
                bias.forget(task)
            for task_id, number in biases.items():
                bias.put(self._tasks[task_id], number)
            self._put_waiting(self._waiting)  # it weighs something else now

        return change

    def _queue(self) -> list[Task]:
        """Return who is due or carried over: the longest due first, ties by smallest id."""
        waiting = self._waiting
        due = self._due()
        if len(self._due_buckets) > 1:  # in one they are by id already
            due.sort(key=by_id)
        if not waiting:
            return due
        queue = [task for task in self._carried() if self._may_run(task)]
        queue += [task for task in due if task not in waiting]
        return queue

    def _carried(self) -> list[Task]:
        waiting = self._waiting
        return sorted(waiting, key=lambda task: (waiting[task], task._id))

    def _admitted(self, queue: list[Task]) -> tuple[list[Task], list[Task]]:
        """Split a queue into those who may run this frame, and new ones beyond the cap."""
        left = self._activations
        if left is None:
            return queue, []
        admitted: list[Task] = []
        held: list[Task] = []
        for task in queue:
            if task.runs:
                admitted.append(task)
            elif left > 0:
                left -= 1
                admitted.append(task)
            else:
                held.append(task)
        return admitted, held

    def _share_out(
        self, queue: list[Task], late: list[Task], budget: Budget, requests: list[float | None] | None = None
    ) -> None:
        """Run a queue; those who are late after it are all who wait."""
        try:
            self._share(queue, late, budget, requests)
        finally:
            since, frame = self._waiting, self._frame
            self._waiting = {task: since.get(task, frame) for task in late}

    def _share(
        self,
        queue: list[Task],
        late: list[Task],
        budget: Budget,
        requests: list[float | None] | None = None,
        *,
        weight_behind: float = 0.0,
        may_wait: bool = False,
    ) -> bool:
        """Run a queue, each task with its part of what is left; note who is to wait.

        Args:
            queue: who may run, in order.
            late: those who are to wait are added to it.
            budget: of the frame.
            requests: what each in the queue asks for; None for a part by weight.
            weight_behind: of those who come after the queue.
            may_wait: whether the first of them may wait too: somebody ran before it.

        Returns:
            Whether those behind may wait.
        """
        asked = tuple_of(ShareQueue, (queue, iter(queue), requests, weight_behind))
        try:
            if isinstance(budget, _TimeBudget) and queue:
                return share_time(self, asked, budget, late, may_wait)
            if budget.is_unlimited and self._bias is None and not requests:
                return self._run_all(asked.to_come, budget, may_wait)
            return self._share_one_by_one(self._asking(asked), budget, late, may_wait)
        finally:  # those behind one that let something through wait too
            late += asked.to_come

    def _asking(self, asked: ShareQueue, done: int = 0, parts: Iterable[float] | None = None) -> Iterator[TaskShare]:
        """Return what those of a queue ask for who are still to come, after so many that are done.

        A priority that changes while a queue runs counts from the next one on: parts once made stay.
        """
        if parts is not None:
            return zip(count(done), asked.to_come, parts, repeat(None), strict=False)
        if len(asked.queue) == 1 and not asked.weight_behind:  # as a rule in groups: all that is left is its part
            request = asked.requests[0] if asked.requests else None
            return ((0, task, 1.0, request) for task in asked.to_come)
        weights = self._weights(asked.queue)
        # Summed from the end: each total holds exactly the weights still to run.
        totals = list(accumulate(reversed(weights), initial=asked.weight_behind))
        totals.reverse()
        parts = islice(map(truediv, weights, totals), done, None)
        return zip(count(done), asked.to_come, parts, asked.requests or repeat(None), strict=False)

    def _share_one_by_one(
        self, queue: Iterable[TaskShare], budget: Budget, late: list[Task], may_wait: bool
    ) -> bool:
        whole = budget.part(math.inf)  # nobody else asks it, or spends on it
        for _, task, part, request in queue:
            left = whole.left
            if left <= 0 and may_wait:
                late.append(task)
                break
            if not self._may_run(task):
                continue
            if request is not None and may_wait and not _fits(request, left, budget):
                late.append(task)
                continue
            may_wait = self.lets_wait  # one has run, or a tiny budget would starve all
            share = budget.part(left * part if request is None else request)
            since = self._waiting.get(task, self._frame)
            granted, used_us = share.peek(), task.used_us if self._bias else 0.0
            self._run(task, share, budget, self._frame - since)
            if self._bias is not None and not task.is_removed:
                used = task.used_us - used_us if share.stopwatch else share.steps
                self._bias.learn(task, granted, used)
        return may_wait

    def _run_all(self, queue: Iterable[Task], budget: Budget, may_wait: bool) -> bool:
        """Run a queue where nothing is ever spent, so that nobody has to wait; return as ``_share`` does."""
        for task in queue:
            if self._may_run(task):
                may_wait = self.lets_wait
                lateness_frames = self._frame - self._waiting.get(task, self._frame) if self._waiting else 0
                self._run(task, budget._part(math.inf), budget, lateness_frames)
        return may_wait

    def _weight(self, task: Task) -> float:
        return task._priority if self._bias is None else task._priority * self._bias.of(task)

    def _weights(self, queue: list[Task]) -> list[float]:
        if self._bias is None:
            return [task._priority for task in queue]
        return list(map(self._weight, queue))


def _fits(request: float, left: float, budget: Budget) -> bool:
    """Return whether a request is still left, as an answer that a recording keeps.

    A replay of frames that ran on time knows when a budget was spent, not how
    much was left of it: so the budget is asked for all or nothing.
    """
    return not budget.part(math.inf if request <= left else 0).is_spent
