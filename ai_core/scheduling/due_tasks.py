"""Which tasks of a scheduler are due when: what was changed is put in its place when no frame runs."""
from __future__ import annotations

from itertools import chain
from operator import attrgetter

from ai_core.scheduling.bucket import Bucket
from ai_core.scheduling.due_table import DueTable
from ai_core.scheduling.phasing import DryRun, PhaseSlot, PhaseTable
from ai_core.scheduling.rounds import Call
from ai_core.scheduling.running import TaskRunning
from ai_core.scheduling.task import Task

__all__ = ["DueTasks"]

tasks_of = attrgetter("tasks")


class DueTasks(TaskRunning):
    """The part of a ``Scheduler`` that knows its tasks, their phases and who is due."""

    def _begin_without_tasks(self, phasing: PhaseTable | DryRun) -> None:
        """Have no task; phases are chosen by ``phasing``."""
        self._tasks: dict[int, Task] = {}
        self._phasing = phasing
        self._table = DueTable()
        self._due_buckets: list[Bucket] = []
        self._touched: dict[Task, None] = {}
        self._frame = 0
        self._is_advancing = False

    def _due(self) -> list[Task]:
        """Return what is due in this frame, the shortest period first, then by id."""
        return list(chain.from_iterable(map(tasks_of, self._due_buckets)))  # who may not run is in no bucket

    def _touch(self, task: Task) -> None:
        """Put a task where it belongs by now; once the frame has ended, if one runs."""
        if self._is_advancing:
            self._touched[task] = None
        else:
            self._put_in_table(task)

    def _put_in_table(self, task: Task) -> None:
        if task._bucket is not None:
            self._table.remove(task)
        if self._may_run(task):
            self._table.add(task, self._call_of(task))

    def _fill_table(self) -> None:
        """Put all tasks in a new table, for the frame that comes next."""
        self._table = DueTable()
        self._table.frame = self._frame
        for task in self._tasks.values():
            task._bucket, task._in_step_since = None, -1
            self._put_in_table(task)

    def _call_of(self, task: Task) -> Call:
        """Return what a bucket calls to run a task that is not in step."""
        return task._runner.run

    def _settle_all(self) -> None:
        """Write down what tasks in step have done since it was last asked."""
        for task in self._tasks.values():
            if task._bucket is not None and task._in_step_since >= 0:
                task._bucket.settle(task)
                task._bucket.settle_times()

    def _place(self, task: Task, period: int, phase: int | None) -> None:
        task._period = period
        task._phase = self._phasing.best_phase(period) if phase is None else phase
        self._phasing.add(PhaseSlot(period, task._phase))

    def _move(self, task: Task, period: int, phase: int | None) -> None:
        self._phasing.remove(PhaseSlot(task._period, task._phase))
        self._place(task, period, phase)
        self._touch(task)
