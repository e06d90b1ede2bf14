"""Scheduling level of detail: importance sets the period and priority of a scheduler's tasks."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget, check_budget
from ai_core.errors import check_type, finite_number, numbers, shown
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Saveable
from ai_core.saving.kinds import ListOf, Number, Row, Text
from ai_core.saving.matching import match_by_name
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task, checked_period, checked_priority

__all__ = ["RateBand", "SchedulingLOD", "TaskRate"]

NEVER = -1.0
"""Applied importance of a task without a rate."""


class TaskRate(NamedTuple):
    """Period and priority of a task; None leaves a value unchanged.

    Attributes:
        period_frames: frames from run to run, 1 or more.
        priority: weight of its share of the budget.
    """

    period_frames: int | None = None
    priority: float | None = None


class RateBand(NamedTuple):
    """Rate of tasks from an importance on, up to the start of the next band.

    Attributes:
        at_least: lowest importance of the band, 0 to 1; one band must start at 0.
        rate: rate of tasks in the band.
    """

    at_least: float
    rate: TaskRate


class SchedulingLOD(Saveable):
    """Sets periods and priorities of a scheduler's tasks by importance.

    The rate of a task changes when its importance has passed the border of a band by the hysteresis or,
    with a function, differs by the hysteresis from the importance at the last choice. The scheduler
    finds a phase for a new period, and the elapsed time of the task stays exact. More important tasks
    are changed first.

    Args:
        scheduler: scheduler that runs the tasks.
        rates: bands in any order, or a function from importance to a TaskRate.
        hysteresis: least distance past a border, or from the last choice, 0 to 0.5.

    Raises:
        TypeError, ValueError: if an argument has a wrong type, or the bands leave a gap or repeat.

    Source: 000_execution_management, scheduling level of detail.
    """

    SHOWN = ("tasks",)

    STATE = DeclaredState(tasks=Hook())

    def __init__(
        self, scheduler: Scheduler, rates: Sequence[RateBand] | Callable[[float], TaskRate], *,
        hysteresis: float = 0.05,
    ) -> None:
        check_type("scheduler", scheduler, Scheduler)
        self._scheduler = scheduler
        self._hysteresis = finite_number("hysteresis", hysteresis, minimum=0, maximum=0.5)
        self._function = rates if callable(rates) else None
        self._bands = [] if callable(rates) else _checked_bands(rates)
        self._borders = np.array([band.at_least for band in self._bands[1:]])
        self._tasks: dict[Task, None] = {}
        self._applied = np.zeros(0)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks in the order added; ``update`` takes importances in this order."""
        return tuple(self._tasks)

    def add(self, task: Task) -> None:
        """Add a task, whose rate is set from the next update on.

        Raises:
            ValueError: if the task was added before, was removed from the scheduler, or belongs to another.
        """
        self._scheduler.change(task)  # only checks that the task belongs to the scheduler
        if task in self._tasks:
            raise ValueError(f"task {shown(task.name)} was added before; add each task once")
        self._tasks[task] = None
        self._applied = np.append(self._applied, NEVER)

    def remove(self, task: Task) -> None:
        """Remove a task; it keeps its present rate.

        Raises:
            ValueError: if the task was not added, or was removed before.
        """
        if task not in self._tasks:
            raise ValueError(f"unknown task {shown(task)}; it was removed before, or never added")
        self._applied = np.delete(self._applied, list(self._tasks).index(task))
        del self._tasks[task]

    def update(self, values: ArrayLike, budget: Budget | None = None) -> int:
        """Change the rates of tasks whose importance requires it; return the number of changes.

        Args:
            values: importance of each of ``tasks``, shape (n,), 0 to 1.
            budget: limits the changes, one step each; the most important tasks go first, the others wait for
                the next update. None changes all.

        Raises:
            ValueError: if the shape differs, or a value is NaN or outside 0 to 1.
            TypeError: if ``budget`` is not a Budget, or the function returns no TaskRate; the more important
                tasks are changed by then.

        Cost: O(tasks) in NumPy, and a ``Scheduler.change`` for each that changes.
        """
        if budget is not None:
            check_budget(budget)
        wanted = self._checked(values)
        rows = np.flatnonzero(self._is_due(wanted))
        tasks, changed = self.tasks, 0
        for row in rows[np.lexsort((rows, -wanted[rows]))].tolist():
            if budget is not None and changed and budget.is_spent:
                break
            task, value = tasks[row], float(wanted[row])
            if task.is_removed:
                continue
            rate = self._rate_of(value)
            if rate.period_frames is not None or rate.priority is not None:
                self._scheduler.change(task, period_frames=rate.period_frames, priority=rate.priority)
            self._applied[row] = value
            changed += 1
            if budget is not None:
                budget.spend()
        return changed

    @property
    def chosen(self) -> dict[Task, float]:
        """Importance at which the rate of each task was chosen, below 0 for a task without one. Cost: O(tasks)."""
        return dict(zip(self._tasks, self._applied.tolist(), strict=True))

    def choose(self, importances: Mapping[Task, float]) -> None:
        """Set the importances at which the present rates count as chosen, as after loading; below 0 for none.

        Raises:
            ValueError: if a task is missing or unknown, or an importance is above 1 or not finite.

        Cost: O(tasks).
        """
        if importances.keys() != self._tasks.keys():
            raise ValueError(
                f"importances must be of exactly {len(self._tasks)} added tasks, got {len(importances)}")
        given = np.array([
            finite_number(f"importance of task {shown(task.name)}", importances[task], maximum=1)
            for task in self._tasks], np.float64)
        self._applied = np.where(given < 0, NEVER, given)

    def _save_tasks(self) -> list[list[Any]]:
        """Return the importance at which each rate was chosen; the rates are part of the scheduler's state."""
        return [[task.name, value] for task, value in zip(self._tasks, self._applied.tolist(), strict=True)]

    def _prepare_tasks(self, plain: Any, place: str) -> Change:
        rows = ListOf(Row(lambda name, value: (name, value), Text(), Number(NEVER, 1))).read(plain, place, self)
        found = match_by_name("task", [name for name, _ in rows], [task.name for task in self._tasks])
        loaded = np.full(len(self._tasks), NEVER)
        loaded[found] = [value for _, value in rows]
        return lambda: setattr(self, "_applied", loaded)

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        array = numbers("values", values)
        if array.shape != (len(self._tasks),):
            raise ValueError(f"values must have shape ({len(self._tasks)},), got {array.shape}")
        wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
        if wrong.size:
            task = self.tasks[int(wrong[0])]
            raise ValueError(f"importance must be 0 to 1, got {array[wrong[0]]} for task {shown(task.name)}")
        return array

    def _is_due(self, wanted: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which tasks are past a border by the hysteresis, or away by it from the last choice."""
        applied, margin = self._applied, self._hysteresis
        is_new = applied < 0
        if self._function is not None:
            moved: NDArray[np.bool_] = is_new | (np.abs(wanted - applied) > margin)
            return moved
        band = np.searchsorted(self._borders, applied, side="right")
        lower = np.concatenate(((0.0,), self._borders))[band]
        upper = np.concatenate((self._borders, (2.0,)))[band]
        # Close to an end of 0 to 1 there is no room for the whole hysteresis.
        margin_above = np.minimum(margin, (1 - upper) / 2)
        out = (wanted < lower - np.minimum(margin, lower / 2)) | (wanted >= upper + margin_above)
        due: NDArray[np.bool_] = is_new | out
        return due

    def _rate_of(self, value: float) -> TaskRate:
        if self._function is None:
            return self._bands[int(np.searchsorted(self._borders, value, side="right"))].rate
        rate = self._function(value)
        if not isinstance(rate, tuple) or len(rate) != 2:
            raise TypeError(f"rates must return a TaskRate for importance {value:g}, got {shown(rate)}")
        return _checked_rate(TaskRate(*rate))


def _checked_bands(rates: Sequence[RateBand]) -> list[RateBand]:
    try:
        bands = [RateBand(at_least, TaskRate(*rate)) for at_least, rate in rates]
    except TypeError:
        raise TypeError(
            f"rates must hold RateBand or be a function from importance to a TaskRate, got {shown(rates)}") from None
    for band in bands:
        finite_number("at_least", band.at_least, minimum=0, maximum=1)
        _checked_rate(band.rate)
    bands.sort(key=lambda band: band.at_least)
    begins = [band.at_least for band in bands]
    if not bands or begins[0] != 0:
        gap = begins[0] if bands else 1
        raise ValueError(f"no band contains importance 0 to {gap:g}; add a band with at_least 0")
    for one, other in pairwise(begins):
        if one == other:
            raise ValueError(f"two bands start at {one:g}; remove one")
    return bands


def _checked_rate(rate: TaskRate) -> TaskRate:
    if rate.period_frames is not None:
        checked_period(rate.period_frames)
    if rate.priority is not None:
        checked_priority(rate.priority)
    return rate
