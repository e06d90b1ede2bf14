"""The same behavior, less often or with less time: importance to period and priority."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, numbers, shown
from ai_core.saving.fields import Fields, State
from ai_core.saving.matching import match_by_name
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task
from ai_core.scheduling.task_limits import checked_period, checked_priority

__all__ = ["RateBand", "SchedulingLOD", "TaskRate"]

NEVER = -1.0
"""Applied importance of a task that was never given a rate."""


class TaskRate(NamedTuple):
    """What a task gets; None leaves that as it is.

    Attributes:
        period_frames: frames from run to run.
        priority: weight of its share of the budget.
    """

    period_frames: int | None = None
    priority: float | None = None


class RateBand(NamedTuple):
    """From which importance on a task gets a rate.

    Attributes:
        at_least: importance, 0 to 1; one band must begin at 0.
        rate: what it gets, up to where the next band begins.
    """

    at_least: float
    rate: TaskRate


class SchedulingLOD:
    """Gives a scheduler's tasks periods and priorities by importance.

    A task changes its rate only when importance is clearly past a border, or,
    with a function, clearly away from where its rate was last chosen. The
    scheduler finds it a good phase for a new period, and elapsed time stays
    true. Who becomes more important is served first.

    Args:
        scheduler: whose tasks they are.
        rates: bands in any order, or a function from importance to a Rate.
        hysteresis: how far importance must be past a border, or away, 0 to 0.5.

    Source: 000_execution_management, scheduling level of detail.
    """

    def __init__(
        self, scheduler: Scheduler, rates: Sequence[RateBand] | Callable[[float], TaskRate], *,
        hysteresis: float = 0.05,
    ) -> None:
        if not isinstance(scheduler, Scheduler):
            raise TypeError(f"scheduler must be a Scheduler, got {shown(scheduler)}")
        self._scheduler = scheduler
        self._hysteresis = finite_number("hysteresis", hysteresis, minimum=0, maximum=0.5)
        self._function = rates if callable(rates) else None
        self._bands = [] if callable(rates) else _checked_bands(rates)
        self._borders = np.array([band.at_least for band in self._bands[1:]])
        self._tasks: dict[Task, None] = {}
        self._applied = np.zeros(0)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks in the order added; importance is given in this order."""
        return tuple(self._tasks)

    def add(self, task: Task) -> None:
        """Choose the rate of a task from the next update on.

        Raises:
            ValueError: if it is here already, was removed or is another scheduler's.
        """
        self._scheduler.change(task)  # nothing but the check that it is the scheduler's
        if task in self._tasks:
            raise ValueError(f"task {shown(task.name)} was added before")
        self._tasks[task] = None
        self._applied = np.append(self._applied, NEVER)

    def remove(self, task: Task) -> None:
        """Leave a task at the rate it has.

        Raises:
            ValueError: if it is not here.
        """
        if task not in self._tasks:
            raise ValueError(f"{shown(task)} is not here; it was removed before, or never added")
        self._applied = np.delete(self._applied, list(self._tasks).index(task))
        del self._tasks[task]

    def update(self, values: object, budget: Budget | None = None) -> int:
        """Change the rates of tasks that need it; return how many were changed.

        Args:
            values: importance of each of ``tasks``, (n,), 0 to 1.
            budget: who does not fit waits for the next update, least important
                last; None does all. One step a change.

        Raises:
            ValueError: if the shape is another, or a value is NaN or outside 0 to 1.
            TypeError: if ``budget`` is no Budget, or the function gives a task no Rate; more important
                ones have theirs.

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
                self._scheduler.change(
                    task, period_frames=rate.period_frames, priority=rate.priority
                )
            self._applied[row] = value
            changed += 1
            if budget is not None:
                budget.spend()
        return changed

    @property
    def chosen(self) -> dict[Task, float]:
        """At which importance the rate of each task was chosen, below 0 if it was not yet. Cost: O(tasks)."""
        return dict(zip(self._tasks, self._applied.tolist(), strict=True))

    def choose(self, importances: Mapping[Task, float]) -> None:
        """Take the rates that tasks have for those of their importances, as after loading; below 0 for none.

        Raises:
            ValueError: if one is missing or too many, or an importance is above 1 or not finite.

        Cost: O(tasks).
        """
        if importances.keys() != self._tasks.keys():
            raise ValueError(f"importances must be of all {len(self._tasks)} tasks here, got {len(importances)}")
        self._applied = np.array([
            max(NEVER, finite_number(f"importance of task {shown(task.name)}", importances[task], maximum=1))
            for task in self._tasks], np.float64)

    def save_state(self) -> State:
        """Return at which importance each rate was chosen; rates are the scheduler's state."""
        return {
            "version": 1, "tasks": [task.name for task in self._tasks],
            "applied": self._applied.tolist(),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the tasks that are here; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        names = [str(name) for name in fields.items("tasks")]
        applied = fields.numbers("applied", count=len(names), minimum=NEVER, maximum=1)
        fields.end()
        found = match_by_name("task", names, [task.name for task in self._tasks])
        loaded = np.full(len(self._tasks), NEVER)
        loaded[found] = applied

        def change() -> None:
            self._applied = loaded

        return change

    def _checked(self, values: object) -> NDArray[np.float64]:
        array = numbers("values", values)
        if array.shape != (len(self._tasks),):
            raise ValueError(f"values must have shape ({len(self._tasks)},), got {array.shape}")
        wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
        if wrong.size:
            task = self.tasks[int(wrong[0])]
            raise ValueError(
                f"importance must be 0 to 1, got {array[wrong[0]]} for task {shown(task.name)}"
            )
        return array

    def _is_due(self, wanted: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Who is past a border by the hysteresis, or away by it from the last choice."""
        applied, margin = self._applied, self._hysteresis
        is_new = applied == NEVER
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
            raise TypeError(f"rates must return a Rate for importance {value:g}, got {shown(rate)}")
        return _checked_rate(TaskRate(*rate))


def _checked_bands(rates: Sequence[RateBand]) -> list[RateBand]:
    try:
        bands = [RateBand(at_least, TaskRate(*rate)) for at_least, rate in rates]
    except TypeError:
        raise TypeError(
            f"rates must be Bands or a function from importance to a Rate, got {shown(rates)}"
        ) from None
    for band in bands:
        finite_number("at_least", band.at_least, minimum=0, maximum=1)
        _checked_rate(band.rate)
    bands.sort(key=lambda band: band.at_least)
    begins = [band.at_least for band in bands]
    if not bands or begins[0] != 0:
        gap = begins[0] if bands else 1
        raise ValueError(f"no band holds importance 0 to {gap:g}; let one begin at 0")
    for one, other in pairwise(begins):
        if one == other:
            raise ValueError(f"two bands begin at {one:g}; leave one out")
    return bands


def _checked_rate(rate: TaskRate) -> TaskRate:
    if rate.period_frames is not None:
        checked_period(rate.period_frames)
    if rate.priority is not None:
        checked_priority(rate.priority)
    return rate
