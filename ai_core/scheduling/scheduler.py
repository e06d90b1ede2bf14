"""What all schedulers share: adding, changing and safely running work.

A scheduler differs from another in which due work it runs, and with how much
budget; that is its ``_run_frame``, and all that a new one has to write.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import Clock
from ai_core.errors import CycleError, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.scheduling.phasing import DryRun, Slot
from ai_core.scheduling.scheduler_state import prepared_scheduler, saved_scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Turn, Work
from ai_core.scheduling.task_limits import checked_period, checked_phase, checked_priority
from ai_core.scheduling.work import runner_for
from ai_core.trace import Trace

__all__ = ["Scheduler"]


class Scheduler(ABC):
    """Runs pieces of work every so many frames; itself work for a scheduler.

    It counts its own frames, one for each ``advance``, beginning with 0. What
    is due is settled when a frame begins: of what work does to tasks while the
    frame runs, removing and pausing hold at once, adding, resuming and changing
    from the next frame on. Work that raises is reported and tried again, and left out after several failures
    in a row, until ``release``.

    Args:
        clock: where ``now`` comes from.
        faults: what happens to work that raises; None reports to the log.
        trace: hooks called around each run; None for none.
        stopwatch: measures each run when the budget does not measure time.
        on_overrun: told which task took a frame beyond its budget.
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
    ) -> None:
        if not hasattr(clock, "now"):
            raise TypeError(f"clock must have a 'now', got {shown(clock)}; use ManualClock()")
        self._clock = clock
        self._faults = faults if faults is not None else FaultIsolation()
        self._trace = trace if trace is not None else Trace()
        self._stopwatch = stopwatch
        self._on_overrun = on_overrun
        self._tasks: dict[int, Task] = {}
        self._dry_run = DryRun()
        self._next_id = 0
        self._frame = 0
        self._is_advancing = False
        self._overrun_told = False
        self._overruns = 0
        self._waiting: dict[Task, int] = {}

    @property
    def clock(self) -> Clock:
        """Where ``now`` comes from."""
        return self._clock

    @property
    def frame(self) -> int:
        """The frame that is running, or that the next ``advance`` will run."""
        return self._frame

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, paused and quarantined ones too, in the order added."""
        return tuple(self._tasks.values())

    @property
    def overruns(self) -> int:
        """Frames that went beyond the budget they were given."""
        return self._overruns

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
            work: a callable taking a Turn, a generator function taking a
                Turn, or an object with ``advance(budget)``.
            period_frames: frames from run to run, 1 to MAX_PERIOD_FRAMES.
            phase_frames: it is due when ``(frame + phase) % period == 0``;
                may exceed the period. None takes the phase that meets the
                fewest other tasks.
            priority: weight of its share of the budget, for schedulers that
                share it out; MIN_PRIORITY to MAX_PRIORITY.
            name: for reports; None takes the name of the function or class.

        Raises:
            TypeError: if ``work`` is not work, or a number is of another type.
            ValueError: if a number is out of range.
            CycleError: if ``work`` is this scheduler, or a scheduler that
                runs it, directly or through others.

        Cost: O(LOOK_AHEAD_FRAMES) with automatic phasing, else less.
        """
        runner = runner_for(work)
        if isinstance(work, Scheduler) and work.contains(self):
            raise CycleError("a scheduler cannot be its own work, directly or through others")
        if name is None:
            name = str(getattr(work, "__name__", type(work).__name__))
        elif not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        period = checked_period(period_frames)
        phase = None if phase_frames is None else checked_phase(phase_frames)
        weight = checked_priority(priority)
        task = Task(self, self._next_id, name, work, runner, self._clock.now.seconds)
        task._automatic_phase = phase is None
        task._priority = weight
        self._place(task, period, phase)
        self._next_id += 1
        self._tasks[task.id] = task
        return task

    def remove(self, task: Task) -> None:
        """Forget ``task``; a generator that is half done is closed.

        Raises:
            ValueError: if it was removed before, or is another scheduler's.
        """
        self._check_ours(task)
        task._owner = None
        del self._tasks[task.id]
        self._dry_run.remove(Slot(task._period, task._phase))
        self._close(task)

    def pause(self, task: Task) -> None:
        """Leave ``task`` out until ``resume``; work half done stays half done.

        Raises:
            ValueError: if it was removed, or is another scheduler's.
        """
        self._check_ours(task)
        task._paused = True

    def resume(self, task: Task) -> None:
        """Run ``task`` again whenever it is due; does nothing if not paused.

        Raises:
            ValueError: if it was removed, or is another scheduler's.
        """
        self._check_ours(task)
        task._paused = False

    def release(self, task: Task) -> None:
        """Give quarantined ``task`` all its tries again; does nothing if it is not.

        Raises:
            ValueError: if it was removed, or is another scheduler's.
        """
        self._check_ours(task)
        self._faults.release(task)

    def change(
        self,
        task: Task,
        *,
        period_frames: int | None = None,
        phase_frames: int | None = None,
        priority: float | None = None,
    ) -> None:
        """Change what is given, keep the rest; a bad value changes nothing.

        With a new period, an automatic phase is chosen anew and a given phase
        is kept. A phase given here is no longer automatic.

        Raises:
            ValueError: if a number is out of range, or the task is not ours.
            TypeError: if a number is of another type.
        """
        self._check_ours(task)
        period = task._period if period_frames is None else checked_period(period_frames)
        phase = task._phase if phase_frames is None else checked_phase(phase_frames)
        weight = task._priority if priority is None else checked_priority(priority)
        if phase_frames is not None:
            task._automatic_phase = False
        task._priority = weight
        if (period, phase) != (task._period, task._phase):
            self._dry_run.remove(Slot(task._period, task._phase))
            self._place(task, period, None if task._automatic_phase else phase)

    def advance(self, budget: Budget) -> None:
        """Run one frame.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by work that this scheduler is running.
        """
        if not isinstance(budget, Budget):
            raise TypeError(
                f"budget must be a Budget, got {shown(budget)};"
                " use Budget.of_time(us, stopwatch) or Budget.unlimited()"
            )
        if self._is_advancing:
            raise RuntimeError("the scheduler is advancing already; work must not advance it")
        self._is_advancing = True
        self._overrun_told = budget.over > 0
        try:
            self._run_frame(budget)
        finally:
            self._frame += 1
            self._is_advancing = False

    def contains(self, other: Scheduler) -> bool:
        """Return True if ``other`` is this scheduler, or work of it, however deep."""
        inner = (task.work for task in self._tasks.values() if isinstance(task.work, Scheduler))
        return self is other or any(scheduler.contains(other) for scheduler in inner)

    def statistics(self) -> list[dict[str, object]]:
        """Return one row per task, in the order added: what it got and used."""
        return [
            {
                "id": task.id,
                "name": task.name,
                "period_frames": task.period_frames,
                "phase_frames": task.phase_frames,
                "priority": task.priority,
                "is_paused": task.is_paused,
                "is_quarantined": self._faults.is_quarantined(task),
                **task._record.as_dict(),
            }
            for task in self._tasks.values()
        ]

    def save_state(self) -> State:
        """Return frame, tasks, phases, run records and waiting work, as plain data.

        Work that is saveable itself is saved with its task. A generator that
        was half done begins anew after loading, unless its work is saveable
        and so knows how far it had come.

        Raises:
            RuntimeError: if called by work that this scheduler is running.
        """
        return saved_scheduler(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the tasks that are here; return what loads it.

        Tasks are found by name, those of one name by their order. They get
        their saved ids back; tasks that are only here are kept, under new ids.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called by work that this scheduler is running.
        """
        return prepared_scheduler(self, state)

    @abstractmethod
    def _run_frame(self, budget: Budget) -> None:
        """Run what is to run in ``self.frame``, each through ``_run``."""

    def _due(self) -> list[Task]:
        frame = self._frame
        return [
            task
            for task in self._tasks.values()
            if (frame + task._phase) % task._period == 0 and self._may_run(task)
        ]

    def _may_run(self, task: Task) -> bool:
        return not (
            task._paused or task._owner is None or self._faults.is_quarantined(task)
        )

    def _run(self, task: Task, share: Budget, whole: Budget, lateness_frames: int = 0) -> None:
        """Run one task with ``share``, its part of the ``whole`` budget of the frame."""
        now = self._clock.now
        turn = Turn(now, now.seconds - task._last_run_s, share)
        task._last_run_s = now.seconds
        for hook in self._trace.before_task:
            hook(task.name, now)
        granted, steps = share.left, share.steps
        stopwatch = share.stopwatch or self._stopwatch
        failure: Exception | None = None
        result: object = None
        started_ns = stopwatch() if stopwatch else 0
        try:
            result = task._runner.run(turn)
        except Exception as error:  # whatever work raises stays with it
            failure = error
        used_us = (stopwatch() - started_ns) / 1000 if stopwatch else 0.0
        if share.steps == steps:
            share.spend()  # work that counts no steps costs one
        task._record.add_run(granted if share.stopwatch else 0.0, used_us, lateness_frames)
        used = used_us if share.stopwatch else share.steps - steps
        if used > granted and not self._overrun_told and whole.over > 0:
            self._tell_overrun(Overrun(task.name, task.id, now, granted, used, whole.over), task)
        for hook in self._trace.after_task:
            hook(task.name, now, used_us)
        for hook in self._trace.task_ran:
            hook(task.name, now, granted, share.steps - steps, used_us, result if failure is None else failure)
        self._settle(task, failure)

    def _settle(self, task: Task, failure: Exception | None) -> None:
        try:
            if failure is None:
                self._faults.succeeded(task)
            else:
                task._record.faults += 1
                self._faults.failed(task, task.name, self._clock.now.frame, failure)
        finally:
            if task._owner is None:  # removed by its own work, which may have begun anew
                self._close(task)

    def _close(self, task: Task) -> None:
        try:
            task._runner.close()
        except Exception as error:  # a generator's clean-up is work too
            self._faults.failed(task, task.name, self._clock.now.frame, error)
        finally:
            self._faults.forget(task)

    def _tell_overrun(self, overrun: Overrun, task: Task) -> None:
        self._overrun_told = True
        self._overruns += 1
        task._record.overruns += 1
        if self._on_overrun is None:
            return
        try:
            self._on_overrun(overrun)
        except Exception as error:  # who listens must not stop the frame either
            self._faults.failed(self, "on_overrun", overrun.now.frame, error)
            self._faults.forget(self)

    def _place(self, task: Task, period: int, phase: int | None) -> None:
        task._period = period
        task._phase = self._dry_run.best_phase(period) if phase is None else phase
        self._dry_run.add(Slot(period, task._phase))

    def _check_ours(self, task: Task) -> None:
        if not isinstance(task, Task):
            raise TypeError(f"task must be what add returned, got {shown(task)}")
        if task.is_removed:
            raise ValueError(f"task {shown(task.name)} was removed; add its work again")
        if task._owner is not self:
            raise ValueError(f"task {shown(task.name)} belongs to another scheduler")
