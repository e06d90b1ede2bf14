"""Better phases for the tasks of a scheduler, searched in slices and applied at the end."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ai_core.budget import Budget
from ai_core.scheduling.interruptible import Cancellable
from ai_core.scheduling.phasing import PhaseSlot, Rephasing

if TYPE_CHECKING:
    from ai_core.scheduling.scheduler import Scheduler
    from ai_core.scheduling.task import Task

__all__ = ["TaskRephasing", "mean_costs_us", "slots_of"]


MOVED_AT_ONCE = 10
"""Tasks that take over their phases in one step (count); 0.15 ms."""


class TaskRephasing(Cancellable):
    """The result of ``rephase`` of a scheduler: interruptible work, also for a ``BackgroundJob``.

    Only automatic phases change, once the search has ended. Tasks removed or
    changed in the meantime keep their phases.

    Args:
        scheduler: its tasks are looked at as they are now.
        by_cost: whether runs are weighted by their measured cost, or all equally.
    """

    def __init__(self, scheduler: Scheduler, *, by_cost: bool = True) -> None:
        self._scheduler = scheduler
        self._tasks = [task for task in scheduler.tasks if task._may_run]
        self._slots = slots_of(self._tasks)
        self._search = Rephasing(
            self._slots,
            weights=mean_costs_us(self._tasks) if by_cost else None,
            movable=[task._automatic_phase for task in self._tasks],
        )
        self._found: list[tuple[Task, PhaseSlot, int]] | None = None
        self._offered = self._moved = 0
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """True when all phases found have been applied."""
        return self._is_done

    @property
    def progress(self) -> float:
        """0 while it searches, then the share of the phases found that are applied."""
        if self._is_done:
            return 1.0
        return self._offered / len(self._found) if self._found else 0.0

    @property
    def result(self) -> int:
        """Number of tasks that got another phase.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return self._moved

    @property
    def search(self) -> Rephasing:
        """The search, with its measures before and after."""
        return self._search

    def advance(self, budget: Budget) -> None:
        """Continue the search until the budget is spent, then apply the phases found.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        self._search.advance(budget)
        if not self._search.is_done:
            return
        if self._found is None:
            found = zip(self._tasks, self._slots, self._search.result, strict=True)
            self._found = [one for one in found if one[1].phase_frames != one[2]]
        while not (self._is_done or budget.is_spent):
            for task, slot, phase in self._found[self._offered : self._offered + MOVED_AT_ONCE]:
                is_as_it_was = task._automatic_phase and slot == (task._period, task._phase)
                if is_as_it_was and task._owner is self._scheduler:
                    self._scheduler._move(task, task._period, phase)
                    self._moved += 1
            self._offered += MOVED_AT_ONCE
            self._is_done = self._offered >= len(self._found)
            budget.spend()


def slots_of(tasks: list[Task]) -> list[PhaseSlot]:
    """Return period and phase of each task."""
    return [PhaseSlot(task._period, task._phase) for task in tasks]


def mean_costs_us(tasks: list[Task]) -> list[float] | None:
    """Return the mean time of a run of each task (µs), None where nothing is measured.

    A task that has not run yet is taken to cost the mean of the others.
    """
    means = [task.mean_used_us for task in tasks]
    known = [mean for mean in means if mean is not None]
    if not known:
        return None
    usual = sum(known) / len(known)
    return [usual if mean is None else mean for mean in means]
