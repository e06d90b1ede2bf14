"""Tasks of one period that are due on the same frames, and the count of those in step."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.clock import TimeIndex
from ai_core.scheduling.batched_round import BatchedRound
from ai_core.scheduling.rounds import Call, FrameMoment, Row

if TYPE_CHECKING:
    from ai_core.scheduling.due_table import DueTable
    from ai_core.scheduling.task import Task

__all__ = ["Bucket"]

NEVER = FrameMoment(TimeIndex(0, 0.0), 0.0)
"""Stands where no task is in step, so that none asks."""


class Bucket(Row):
    """What to call, and in ``tasks`` whose call it is; due when ``frame % period == residue``.

    Tasks stand by ascending id.

    A task is *in step* from the frame after it ran with the others: then it
    runs whenever the bucket does, and nothing is written down for it. Its runs
    follow from the frames since, its last run is the bucket's. ``settle``
    writes them down; whoever changes a task that is in step settles it first.
    """

    __slots__ = ("batched", "changes", "period", "residue", "table", "tasks")

    def __init__(self, table: DueTable, period: int, residue: int) -> None:
        super().__init__(NEVER)
        self.table = table
        self.period = period
        self.residue = residue
        self.tasks: list[Task] = []
        self.changes = 0
        self.batched: BatchedRound | None = None

    def insert_task(self, task: Task, call: Call) -> None:
        """Take in a task, out of step; it is run through ``call``."""
        self._begin_change()
        self.tasks.insert(self.insert_call(task._id, call), task)
        task._bucket = self

    def remove_task(self, task: Task) -> None:
        """Let go of a task, with its runs written down."""
        self.settle(task)
        self._begin_change()
        place = self.place_of(task._id)
        del self.tasks[place]
        self.remove_call(place)
        task._bucket = None
        task._in_step_since = -1

    def join(self, task: Task, call: Call) -> None:
        """Put a task that has just run in step, from the next frame on."""
        self._begin_change()
        self.put_call(self.place_of(task._id), call)
        task._in_step_since = self.table.frame
        batch_of = getattr(call, "batch_of", None)
        if batch_of is not None and self.batched is None:
            self.batched = BatchedRound(self, batch_of)
            self.table.has_batches = True

    def leave(self, task: Task, call: Call) -> None:
        """Take a task out of step: it runs through ``call`` from its next turn on."""
        self.settle(task)
        self._begin_change()
        self.put_call(self.place_of(task._id), call)
        task._in_step_since = -1
        if self.table.round is not None:
            self.table.round.call_changed(self)

    def dissolve(self, call_of: Callable[[Task], Call]) -> None:
        """Take all tasks out of step."""
        for task in self.tasks:
            if task._in_step_since >= 0:
                self.leave(task, call_of(task))

    def runs_since(self, task: Task) -> int:
        """Return the runs of a task in step that are not written down yet."""
        since = task._in_step_since
        if since < 0:
            return 0
        is_open = self.is_to_come(task) or self.is_running(task)
        until = self.table.frame - is_open
        return max(0, self._due_before(until) - self._due_before(since))

    def last_run_of(self, task: Task) -> TimeIndex:
        """Return when the last turn of a task began, or when it was added."""
        moment = self.table.moment
        if moment is not None and task._in_step_since >= 0 and self.is_running(task):
            return moment.now
        if not self.runs_since(task):
            return task._last_run
        if moment is not None and self._is_due_now() and not self.is_to_come(task):
            return moment.now
        return self.last.now

    def settle(self, task: Task) -> None:
        """Write down the runs of a task in step, and when the last one was."""
        since, table = task._in_step_since, self.table
        if since < 0:
            return
        if table.moment is None:  # as most changes are made: nothing is open
            runs, is_open = self._due_before(table.frame) - self._due_before(since), False
            last_run = self.last.now
        else:
            runs, is_open = self.runs_since(task), self.is_to_come(task) or self.is_running(task)
            task._last_run = last_run = self.last_run_of(task)
        if runs > 0:
            task._last_run = last_run
            task._record.runs += runs
            task._in_step_since = table.frame - is_open

    def settle_running(self, task: Task) -> None:
        """Write down the runs of a task in step, the one that has just ended included."""
        self.settle(task)
        moment = self.table.moment
        assert moment is not None
        task._record.runs += 1
        task._last_run = moment.now
        task._in_step_since = self.table.frame

    def settle_times(self) -> None:
        """Write down the times of all rounds that have ended."""
        if self.times is None:
            return
        columns, self.times = self.times.columns(), None
        for task, times in zip(self.tasks, columns, strict=True):
            if task._in_step_since >= 0:
                task._record.note_rounds(*times)

    def is_to_come(self, task: Task) -> bool:
        """Return whether the turn of a task is still to begin in the frame that runs."""
        table = self.table
        if table.moment is None or not self._is_due_now() or self.last is table.moment:
            return False
        if table.round is None or table.round.bucket is not self:
            return True
        return self.place_of(task._id) >= table.round.place

    def is_running(self, task: Task) -> bool:
        """Return whether the turn of a task in step has begun and not ended."""
        one = self.table.round
        if one is None or one.bucket is not self or self.last is self.table.moment:
            return False
        return self.place_of(task._id) == one.place - 1

    def _begin_change(self) -> None:
        if self.times is not None:
            self.settle_times()
        self.changes += 1
        if self.batched is not None:
            self.batched.row_changes()

    def _is_due_now(self) -> bool:
        return (self.table.frame - 1) % self.period == self.residue

    def _due_before(self, frame: int) -> int:
        """Return on how many of the frames before ``frame`` the bucket was due."""
        return (frame - self.residue + self.period - 1) // self.period
