"""Schedulers inside schedulers: the scheduler of a character inside that of its squad."""
from __future__ import annotations

from typing import Any

from ai_core.errors import shown
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Work

__all__ = ["HierarchicalScheduler", "tree_statistics"]


class HierarchicalScheduler(LoadBalancingScheduler):
    """A load balancing scheduler with named groups, each a scheduler of its own.

    Any scheduler can be work of any other; this one makes groups with the same
    clock, faults, trace and stopwatch, and names tasks by paths:
    "squad/bob/think". A group shares out its share of the budget, counts its own
    frames, stops when it is paused, and is saved with this scheduler.

    Args:
        clock: source of ``now``, in groups as well.
        settings: as for every scheduler that shares out a budget.

    Cost: as a LoadBalancingScheduler, in each group that is due.
    Source: 000_execution_management, hierarchical scheduling.
    """

    @property
    def groups(self) -> dict[str, Scheduler]:
        """The groups by name, in the order added; includes schedulers that were added as work."""
        return {
            task.name: task.work for task in self.tasks if isinstance(task.work, Scheduler)
        }

    def add(
        self,
        work: Work,
        *,
        period_frames: int = 1,
        phase_frames: int | None = None,
        priority: float = 1.0,
        name: str | None = None,
    ) -> Task:
        """Run ``work`` as in ``Scheduler.add``; work that is a scheduler becomes a group.

        Raises:
            ValueError: if it is a scheduler, and there is a group of its name.
        """
        if isinstance(work, Scheduler):
            taken = type(work).__name__ if name is None else name
            if taken in self.groups:
                raise ValueError(f"name must be unique among the groups of this scheduler, got {shown(taken)}")
        return super().add(
            work, period_frames=period_frames, phase_frames=phase_frames, priority=priority, name=name)

    def add_group(
        self,
        name: str,
        *,
        kind: type[Scheduler] | None = None,
        period_frames: int = 1,
        phase_frames: int | None = None,
        priority: float = 1.0,
        **settings: Any,
    ) -> Any:
        """Make a scheduler that runs as work of this one, and return it.

        Args:
            name: part of paths; unique among the groups here, without "/".
            kind: class of the group; None for HierarchicalScheduler.
            period_frames: as in ``add``; frames of the group pass slower by this factor.
            phase_frames: as in ``add``.
            priority: as in ``add``; weight of the group as a whole.
            settings: arguments of ``kind`` besides clock, faults, trace and stopwatch.

        Raises:
            TypeError: if ``name`` is not a string, or ``kind`` not a subclass of Scheduler.
            ValueError: if there is a group of that name, or a number is out of range.
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a non-empty string, got {shown(name)}")
        if "/" in name or name in self.groups:
            raise ValueError(f"name must be a new group name without '/', got {shown(name)}")
        kind = HierarchicalScheduler if kind is None else kind
        if not (isinstance(kind, type) and issubclass(kind, Scheduler)):
            raise TypeError(f"kind must be a subclass of Scheduler, got {shown(kind)}")
        group = kind(
            self.clock, faults=self._faults, trace=self._trace, stopwatch=self._stopwatch, **settings
        )
        self.add(
            group, name=name, period_frames=period_frames, phase_frames=phase_frames, priority=priority
        )
        return group

    def task_of(self, group: Scheduler) -> Task:
        """Return the handle of a group, to pause, change or remove it.

        Raises:
            ValueError: if it is not a group of this scheduler.
        """
        for task in self.tasks:
            if task.work is group:
                return task
        raise ValueError(f"{shown(group)} is not a group of this scheduler; add it first")

    def _emit_overrun(self, overrun: Overrun, task: Task) -> None:
        super()._emit_overrun(overrun._replace(name="/".join(_culprits(task, overrun))), task)


def tree_statistics(scheduler: Scheduler) -> list[dict[str, object]]:
    """Return the statistics of a scheduler and of all schedulers in it, depth first.

    Each row is as in ``statistics``, with its "path" of names before it. The
    time of a group includes that of its work.

    Cost: O(tasks).
    """
    return _rows_below(scheduler, "")


def _rows_below(scheduler: Scheduler, path: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for task, row in zip(scheduler.tasks, scheduler.statistics(), strict=True):
        rows.append({"path": path + task.name, **row})
        if isinstance(task.work, Scheduler):
            rows += _rows_below(task.work, f"{path}{task.name}/")
    return rows


def _culprits(task: Task, overrun: Overrun) -> list[str]:
    """Return names from a task down to the work in it that overran in the same moment."""
    names, inner = [task.name], task.work
    while isinstance(inner, Scheduler):
        last = inner.last_overrun
        if last is None or last.now != overrun.now:
            break
        names.append(last.name)
        culprit = inner._tasks.get(last.task_id)
        if culprit is None or isinstance(inner, HierarchicalScheduler):
            break  # removed meanwhile, or named by its path already
        inner = culprit.work
    return names
