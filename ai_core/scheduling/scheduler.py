"""The base class of all schedulers: adding, changing and safely running work.

Schedulers differ in which due work they run, and with how much budget: a new
scheduler only defines ``_run_frame``.
"""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import Clock, moment_of
from ai_core.errors import CycleError, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.scheduling.due_tasks import DueTasks
from ai_core.scheduling.phasing import SAMPLED_FRAMES, DryRun, PhaseQuality, PhaseSlot, PhaseTable, phase_quality
from ai_core.scheduling.rounds import FrameMoment
from ai_core.scheduling.scheduler_state import prepared_scheduler, saved_scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Work
from ai_core.scheduling.task_limits import (
    checked_budget,
    checked_period,
    checked_phase,
    checked_priority,
)
from ai_core.scheduling.task_rephasing import TaskRephasing, mean_costs_us, slots_of
from ai_core.scheduling.work import runner_for
from ai_core.trace import Trace

__all__ = ["Scheduler"]

PHASING = ("best_phase", "add", "remove")
"""Methods that an object that chooses phases must have, as a PhaseTable does."""


class Scheduler(DueTasks):
    """Runs pieces of work every so many frames; can itself be work of a scheduler.

    It counts its own frames, one for each ``advance``, starting with 0. Due work is
    determined when a frame starts. Changes that work makes to tasks during the frame:
    removing and pausing take effect at once; adding, resuming and changing in the next frame.
    Work that raises is reported and tried again, and is quarantined after several failures
    in a row, until ``release``.

    Args:
        clock: source of ``now``.
        faults: handles work that raises; None reports to the log.
        trace: hooks called around each run; None for none.
        stopwatch: measures each run if the budget does not measure time.
        on_overrun: called with the Overrun when a task took a frame beyond its budget.
        phasing: chooses automatic phases; None for a PhaseTable.
    """

    carries_over: ClassVar[bool] = False
    """Whether due work may wait for a later frame."""

    def __init__(
        self,
        clock: Clock,
        *,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
        stopwatch: Stopwatch | None = None,
        on_overrun: Callable[[Overrun], object] | None = None,
        phasing: PhaseTable | DryRun | None = None,
    ) -> None:
        super().__init__(clock, faults, trace, stopwatch, on_overrun)
        missing = [name for name in PHASING if not callable(getattr(phasing, name, None))]
        if phasing is not None and (missing or isinstance(phasing, type)):
            raise TypeError(f"phasing must have the methods {', '.join(PHASING)}, got {shown(phasing)}; use DryRun()")
        self._begin_without_tasks(phasing if phasing is not None else PhaseTable())
        self._next_id = 0

    @property
    def clock(self) -> Clock:
        """Source of ``now``."""
        return self._clock

    @property
    def frame(self) -> int:
        """The current frame, or the next one that ``advance`` runs."""
        return self._frame

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, paused and quarantined ones included, in the order added."""
        return tuple(self._tasks.values())

    def add(
        self,
        work: Work,
        *,
        period_frames: int = 1,
        phase_frames: int | None = None,
        priority: float = 1.0,
        name: str | None = None,
    ) -> Task:
        """Run ``work`` every ``period_frames`` from now on, and return its handle.

        Args:
            work: a callable taking a Turn, a generator function taking a Turn
                (at each pause it receives the next: ``turn = yield``), or an
                object with ``advance(budget)``, or with ``advance(turn)`` and
                ``advance_takes = "turn"``, such as a habit tree.
            period_frames: frames from run to run, 1 to MAX_PERIOD_FRAMES.
            phase_frames: it is due when ``(frame + phase) % period == 0``;
                may exceed the period. None chooses the phase that meets the
                fewest other tasks.
            priority: weight of its share of the budget, for schedulers that
                share it out; MIN_PRIORITY to MAX_PRIORITY.
            name: for reports; None for the name of the function or class.

        Raises:
            TypeError: if ``work`` is not work, or a number is of another type.
            ValueError: if a number is out of range.
            CycleError: if ``work`` is this scheduler, or a scheduler that
                runs it, directly or through others.

        Cost: O(LOOK_AHEAD_FRAMES) with automatic phasing, however many tasks there are.
        """
        runner = runner_for(work)
        if isinstance(work, Scheduler) and work.contains(self):
            raise CycleError("a scheduler cannot be its own work, directly or through others")
        if name is None:
            name = str(getattr(work, "__name__", type(work).__name__))
        period = checked_period(period_frames)
        phase = None if phase_frames is None else checked_phase(phase_frames)
        weight = checked_priority(priority)
        task = Task(self, self._next_id, _checked_name(name), work, runner, self._clock.now)
        task._automatic_phase = phase is None
        task._priority = weight
        self._place(task, period, phase)
        self._next_id += 1
        self._tasks[task.id] = task
        self._touch(task)
        return task

    def remove(self, task: Task) -> None:
        """Remove ``task``; an unfinished generator is closed.

        Raises:
            ValueError: if it was removed before, or belongs to another scheduler.
        """
        self._check_ours(task)
        task._owner = None
        del self._tasks[task.id]
        self._phasing.remove(PhaseSlot(task._period, task._phase))
        self._touch(task)
        self._close(task)

    def remove_all(self) -> None:
        """Remove all tasks and release their work, now or, in a running frame, at its end.

        ``remove`` may release work later.
        """
        for task in self.tasks:
            self.remove(task)
        if not self._is_advancing:
            self._put_waiting({})

    def pause(self, task: Task) -> None:
        """Suspend ``task`` until ``resume``; unfinished work stays unfinished, and the phase is kept.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        task._paused = True
        self._touch(task)

    def resume(self, task: Task) -> None:
        """Run ``task`` again whenever it is due; does nothing if it is not paused.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        if task._paused:
            task._paused = False
            self._touch(task)

    def release(self, task: Task) -> None:
        """Release ``task`` from quarantine, with all its tries; does nothing if it is not quarantined.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        if self._faults.is_quarantined(task):
            self._faults.release(task)
            self._touch(task)

    def change(
        self, task: Task, *, period_frames: int | None = None, phase_frames: int | None = None,
        priority: float | None = None,
    ) -> None:
        """Change the settings that are given; an invalid value changes nothing.

        With a new period, an automatic phase is chosen again and a given phase
        is kept. A phase given here is no longer automatic, until ``choose_phase``.

        Raises:
            ValueError: if a number is out of range, or the task belongs to another scheduler.
            TypeError: if a number is of another type.
        """
        self._check_ours(task)
        period = task._period if period_frames is None else checked_period(period_frames)
        phase = task._phase if phase_frames is None else checked_phase(phase_frames)
        weight = task._priority if priority is None else checked_priority(priority)
        if phase_frames is not None:
            task._automatic_phase = False
        task._priority = weight
        if priority is not None:
            self._reweigh(task)
        if (period, phase) != (task._period, task._phase):
            self._move(task, period, None if task._automatic_phase else phase)

    def rename(self, task: Task, name: str) -> None:
        """Set the name of ``task`` in reports and saves.

        Raises:
            TypeError: if ``name`` is not a string, or is empty.
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        task._name = _checked_name(name)

    def choose_phase(self, task: Task) -> None:
        """Make the phase of ``task`` automatic again, and choose the best one now.

        Raises:
            ValueError: if it was removed, or belongs to another scheduler.
        """
        self._check_ours(task)
        task._automatic_phase = True
        self._move(task, task._period, None)

    def advance(self, budget: Budget) -> None:
        """Run one frame.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by work that this scheduler is running.
        """
        checked_budget(budget)
        if self._is_advancing:
            raise RuntimeError("the scheduler is advancing already; work must not advance it")
        self._is_advancing = True
        self._overrun_told = not budget.is_unlimited and budget.over > 0
        now, table = self._clock.now, self._table
        table.moment = moment_of(FrameMoment, (now, now.seconds))
        self._due_buckets = table.due()
        try:
            self._run_frame(budget)
        finally:
            self._end_frame()

    def rephase(self, budget: Budget | None = None, *, by_cost: bool = True) -> TaskRephasing:
        """Search for better phases of all tasks at once, weighted by the measured cost of their runs.

        Only automatic phases change; paused and quarantined tasks are left out. From the last run
        before the change to the first one after it, a task with period ``n`` waits at most
        ``2 * n - 1`` frames.

        Args:
            budget: for a first slice; call ``advance`` of the returned work until it
                ``is_done``, or run it as a BackgroundJob. None for all of it at once.
            by_cost: False counts runs: the same tasks get the same phases on every machine.

        Cost: 0.2 s with 10,000 tasks.
        """
        rephasing = TaskRephasing(self, by_cost=by_cost)
        rephasing.advance(Budget.unlimited() if budget is None else checked_budget(budget))
        return rephasing

    def phase_quality(self, *, frames: int = SAMPLED_FRAMES) -> PhaseQuality:
        """Return how evenly runs, and their measured cost, are spread over coming frames.

        Args:
            frames: number of frames to look at if the common multiple of all periods is too long.

        Cost: as the function ``phase_quality``.
        """
        tasks = [task for task in self._tasks.values() if self._may_run(task)]
        costs_us, names = mean_costs_us(self, tasks), [task._name for task in tasks]
        return phase_quality(slots_of(tasks), costs_us=costs_us, names=names, frames=frames, from_frame=self._frame)

    def contains(self, other: Scheduler) -> bool:
        """Return True if ``other`` is this scheduler, or work of it at any depth."""
        inner = (task.work for task in self._tasks.values() if isinstance(task.work, Scheduler))
        return self is other or any(scheduler.contains(other) for scheduler in inner)

    def statistics(self) -> list[dict[str, object]]:
        """Return a row per task, in the order added: what it received, used and waited for.

        Staleness is the time since the last run, or since the task was added if it never ran.
        Times are 0 where nothing measures them.
        """
        now = self._clock.now
        self._settle_all()
        return [
            task.statistics_row(now, is_quarantined=self._faults.is_quarantined(task)) for task in self._tasks.values()
        ]

    def save_state(self) -> State:
        """Return frame, tasks, phases, run records and waiting work, as plain data.

        Saveable work is saved with its task. An unfinished generator starts from the beginning
        after loading, unless its work is saveable and so stores its progress.

        Raises:
            RuntimeError: if called by work that this scheduler is running.
        """
        return saved_scheduler(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the current tasks; return the function that loads it.

        Tasks are matched by name, those of one name by their order. They get
        their saved ids back; tasks that are not in the save are kept, under new ids.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
            RuntimeError: if called by work that this scheduler is running.
        """
        return prepared_scheduler(self, state)

    @abstractmethod
    def _run_frame(self, budget: Budget) -> None:
        """Run what is to run in ``self.frame``, each through ``_run``."""

    def _end_frame(self) -> None:
        if self._touched:
            for task in self._touched:
                self._put_in_table(task)
            self._touched.clear()
        if not self._tasks and self._waiting:      # all were removed meanwhile
            self._put_waiting({})
        self._due_buckets, self._table.moment = [], None
        self._frame += 1
        self._is_advancing = False

    def _check_ours(self, task: Task) -> None:
        if not isinstance(task, Task):
            raise TypeError(f"task must be a Task that add returned, got {shown(task)}")
        if task.is_removed:
            raise ValueError(f"task {shown(task.name)} was removed; add its work again to get a new task")
        if task._owner is not self:
            raise ValueError(f"task {shown(task.name)} belongs to another scheduler")


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a non-empty string, got {shown(name)}")
    return name
