"""A waiting line: who waits for a later frame, in order, and what they weigh together."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice
from operator import attrgetter

from ai_core.scheduling.task import Task

__all__ = ["CarryOverQueue"]

UNIT = 2.0**80
"""How many units a weight of 1 is (count): in whole units sums are exact, in any order, for ever.

Every priority of 1e-6 or more is whole in it. Sums of floats would drift as tasks come
and go, and shares after loading would not be those of a game that went on.
"""

by_id = attrgetter("_id")


class CarryOverQueue:
    """Tasks in order since when they wait, those of one frame by id; served from the front.

    Nothing here but ``refill`` goes through all who wait.

    Args:
        weight_of: what a task weighs when a budget is shared out, above 0.

    Attributes:
        since: by task, the frame on which it fell due.
    """

    __slots__ = ("_touched", "_units", "_units_of", "_weight_of", "since")

    def __init__(self, weight_of: Callable[[Task], float]) -> None:
        self.since: OrderedDict[Task, int] = OrderedDict()  # a dict looks at all that ever left its front
        self._weight_of = weight_of
        self._units_of: dict[Task, int] = {}
        self._units = 0
        self._touched: set[Task] = set()

    def join(self, tasks: Iterable[Task], frame: int) -> None:
        """Let tasks wait that fell due on this frame, and did not wait before; all others did so earlier.

        Cost: O(n log n) with n tasks, however many wait.
        """
        for task in sorted(tasks, key=by_id):
            self.since[task] = frame
            self._weigh(task)

    def first(self, count: int) -> list[Task]:
        """Return the first of those who wait, at most so many. Cost: O(count)."""
        return list(islice(self.since, count))

    def weight_behind(self, first: list[Task]) -> float:
        """Return what all weigh who wait, without these. Cost: O(first)."""
        return (self._units - sum(map(self._units_of.__getitem__, first))) / UNIT

    def weight_of_all(self, tasks: Iterable[Task]) -> float:
        """Return what tasks that wait weigh together. Cost: O(tasks)."""
        return sum(map(self._units_of.__getitem__, tasks)) / UNIT

    def leave(self, tasks: Iterable[Task]) -> None:
        """Take tasks out that wait. Cost: O(tasks)."""
        for task in tasks:
            del self.since[task]
            self._units -= self._units_of.pop(task)

    def touch(self, task: Task) -> None:
        """Take note that a task was changed: it may weigh something else, or wait no longer."""
        if task in self.since:
            self._touched.add(task)
            self._units -= self._units_of[task]
            self._weigh(task)

    def drop(self, may_run: Callable[[Task], bool]) -> list[Task]:
        """Take out those who may not run, of those that were touched, and return them. Cost: O(touched)."""
        if not self._touched:
            return []
        touched, self._touched = self._touched, set()
        dropped = [task for task in touched if task in self.since and not may_run(task)]
        self.leave(dropped)
        return dropped

    def holds_back(self, due: list[Task]) -> bool:
        """Return whether somebody newly due may have to wait whatever the budget; here nobody."""
        return False

    def refill(self, since: Iterable[tuple[Task, int]]) -> None:
        """Let these tasks wait, each since a frame, and nobody else. Cost: O(n log n)."""
        rows = sorted(since, key=lambda row: (row[1], row[0]._id))
        self.since.clear()
        self.since.update(rows)
        self._touched = {task for task, _ in rows}
        self._units_of, self._units = {}, 0
        for task, _ in rows:
            self._weigh(task)

    def _weigh(self, task: Task) -> None:
        self._units_of[task] = units = int(self._weight_of(task) * UNIT)
        self._units += units
