"""A waiting line in which only so many a frame may run for the first time."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import merge
from itertools import islice

from ai_core.scheduling.task import Task
from ai_core.scheduling.waiting_line import CarryOverQueue

__all__ = ["AdmissionQueue"]


class AdmissionQueue:
    """Serves as a ``CarryOverQueue``, but of those who never ran only the first so many in a frame.

    They stand in a line of their own, so that a wave of new ones is not gone through
    in each frame to find those who ran before.

    Args:
        weight_of: as a CarryOverQueue takes it.
        most: who may run for the first time in one frame (count), 1 or more.

    Attributes:
        since: by task, of both lines, the frame on which it fell due.
    """

    __slots__ = ("_known", "_left", "_most", "_new", "since")

    def __init__(self, weight_of: Callable[[Task], float], most: int) -> None:
        self.since: dict[Task, int] = {}
        self._known, self._new = CarryOverQueue(weight_of), CarryOverQueue(weight_of)
        self._most = self._left = most

    def join(self, tasks: Iterable[Task], frame: int) -> None:
        """As the frame begins, let tasks wait that fell due on it; all others did so earlier.

        Cost: O(n log n) with n tasks, however many wait.
        """
        tasks = list(tasks)
        self._left = self._most
        self._known.join((task for task in tasks if task.runs), frame)
        self._new.join((task for task in tasks if not task.runs), frame)
        self.since.update(dict.fromkeys(tasks, frame))

    def first(self, count: int) -> list[Task]:
        """Return the first of those who may run, at most so many. Cost: O(count)."""
        known, new = self._known.first(count), self._new.first(min(count, self._left))
        return list(islice(merge(known, new, key=self._rank), count)) if known and new else known or new

    def weight_behind(self, first: list[Task]) -> float:
        """Return what all weigh who may run, without these. Cost: O(first + most)."""
        new = set(first).intersection(self._new.since)
        admitted = self._new.first(self._left)
        return (
            self._known.weight_behind([task for task in first if task not in new])
            + self._new.weight_of_all(task for task in admitted if task not in new))

    def leave(self, tasks: Iterable[Task]) -> None:
        """Take tasks out that wait. Cost: O(tasks)."""
        for task in tasks:
            del self.since[task]
            if task in self._new.since:
                self._new.leave((task,))
                self._left -= 1
            else:
                self._known.leave((task,))

    def touch(self, task: Task) -> None:
        """Take note that a task was changed: it may weigh something else, or wait no longer."""
        self._known.touch(task)
        self._new.touch(task)

    def drop(self, may_run: Callable[[Task], bool]) -> None:
        """Take out those who may not run, of those that were touched. Cost: O(touched)."""
        for line in (self._known, self._new):
            for task in line.drop(may_run):
                del self.since[task]

    def refill(self, since: Iterable[tuple[Task, int]]) -> None:
        """Let these tasks wait, each since a frame, and nobody else. Cost: O(n log n)."""
        rows = list(since)
        self.since.clear()
        self.since.update(rows)
        self._known.refill(row for row in rows if row[0].runs)
        self._new.refill(row for row in rows if not row[0].runs)

    def holds_back(self, due: list[Task]) -> bool:
        """Return whether somebody newly due never ran."""
        return not all(task.runs for task in due)

    def _rank(self, task: Task) -> tuple[int, int]:
        return self.since[task], task._id
