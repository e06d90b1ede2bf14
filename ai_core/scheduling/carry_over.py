"""The carry-over queue: tasks that wait for a later frame, in order, and their weight together."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice

from ai_core.scheduling.due_table import by_id
from ai_core.scheduling.task import Task

__all__ = ["UNIT", "CarryOverQueue"]

UNIT = 2.0**80
"""How many units a weight of 1 is (count): sums of integers are exact in any order.

Every priority of 1e-6 or more is an integer in it. Sums of floats would drift as tasks are added
and removed, and shares after loading would differ from those of a game that continued.
"""


class CarryOverQueue:
    """Tasks in the order in which they fell due, those of one frame by id; served from the front.

    With ``most_new``, tasks that never ran have a queue of their own, of which only that many may run
    in a frame: so a wave of new tasks causes no spike, and costs no iteration in each frame.

    Only ``all``, ``clear`` and ``refill`` iterate over all waiting tasks.

    Args:
        most_new: tasks that may run for the first time in one frame (count), 1 or more; None for all.
    """

    def __init__(self, most_new: int | None = None) -> None:
        self._most_new = self._new_left = most_new
        # Not a dict, which also iterates over entries that were removed from its front.
        self._known: OrderedDict[Task, None] = OrderedDict()
        self._new: OrderedDict[Task, None] = OrderedDict()
        self._units = 0         # of ``_known``
        self._stopped: list[Task] = []

    def __len__(self) -> int:
        return len(self._known) + len(self._new)

    def begin_frame(self) -> bool:
        """Remove tasks that were stopped and not resumed; let ``most_new`` tasks run for the first time again.

        Returns:
            Whether tasks wait.
        """
        self._new_left = self._most_new
        if self._stopped:
            for task in self._stopped:
                if not task._may_run:
                    self.leave(task)
            self._stopped.clear()
        return bool(self._known or self._new)

    def stop(self, task: Task) -> None:
        """Mark a task as unable to run; it keeps its place if it is resumed before the next frame."""
        if task._due_since >= 0:
            self._stopped.append(task)

    def join(self, tasks: Iterable[Task], frame: int) -> None:
        """Add tasks that fell due on this frame; those in the queue fell due earlier.

        Cost: O(n log n) with n tasks, however many wait.
        """
        for task in sorted(tasks, key=by_id):
            task._due_since = frame
            self._add(task)

    def first(self, count: int, without: Sequence[Task] = ()) -> list[Task]:
        """Return the first of those that may run, at most so many, without some. Cost: O(count + without)."""
        if without:
            held = set(without)
            return [one for one in self.first(count + len(without)) if one not in held][:count]
        known = list(islice(self._known, count))
        if not self._new:
            return known
        new = list(islice(self._new, min(count, self._new_left or 0)))
        return list(islice(merge(known, new, key=_rank), count)) if known and new else known or new

    def weight_behind(self, first: list[Task]) -> float:
        """Return the weight of all tasks that may run, without these. Cost: O(first + most_new)."""
        units = self._units
        if self._new:
            units += sum(task._units for task in islice(self._new, self._new_left or 0))
        return (units - sum(task._units for task in first)) / UNIT

    def leave(self, task: Task) -> None:
        """Remove a task; does nothing if it does not wait. Cost: O(1)."""
        if task._due_since < 0:
            return
        task._due_since = -1
        if task in self._new:
            del self._new[task]
            if self._new_left and task._runs:
                self._new_left -= 1
        else:
            del self._known[task]
            self._units -= task._units

    def reweigh(self, task: Task) -> None:
        """Update the total after the weight of a task changed. Cost: O(1)."""
        if task._due_since >= 0:
            before, task._units = task._units, _units_of(task)
            if task in self._known:
                self._units += task._units - before

    def all(self) -> list[Task]:
        """Return all tasks that wait, in order. Cost: O(waiting log waiting)."""
        return sorted([*self._known, *self._new], key=_rank)

    def clear(self) -> None:
        """Remove all tasks."""
        for task in (*self._known, *self._new):
            task._due_since = -1
        self._known.clear()
        self._new.clear()
        self._stopped.clear()
        self._units = 0

    def refill(self, tasks: Iterable[Task]) -> None:
        """Fill the empty queue with tasks that wait, each since its ``_due_since``. Cost: O(n log n)."""
        for task in sorted(tasks, key=_rank):
            self._add(task)

    def _add(self, task: Task) -> None:
        task._units = _units_of(task)
        if self._most_new is not None and not task._runs:
            self._new[task] = None
        else:
            self._known[task] = None
            self._units += task._units


def _units_of(task: Task) -> int:
    return int(task._priority * task._bias * UNIT)


def _rank(task: Task) -> tuple[int, int]:
    return task._due_since, task._id
