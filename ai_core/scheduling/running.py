"""One run of one task: budget, stopwatch, trace and faults around it."""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import shown
from ai_core.faults import FaultIsolation, given_faults
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace, given_trace

__all__ = ["TaskRunning"]


class TaskRunning(ABC):
    """What a scheduler runs its tasks with; arguments as those of ``Scheduler``."""

    def __init__(
        self,
        clock: Clock,
        faults: FaultIsolation | None,
        trace: Trace | None,
        stopwatch: Stopwatch | None,
        on_overrun: Callable[[Overrun], object] | None,
    ) -> None:
        if stopwatch is not None and not callable(stopwatch):
            raise TypeError(f"stopwatch must be a callable or None, got {shown(stopwatch)}")
        if on_overrun is not None and not callable(on_overrun):
            raise TypeError(f"on_overrun must be a callable or None, got {shown(on_overrun)}")
        self._clock = checked_clock(clock)
        self._faults, self._trace = given_faults(faults), given_trace(trace)
        self._stopwatch = stopwatch
        self._on_overrun = on_overrun
        self._overrun_told = False
        self._overruns = 0
        self._last_overrun: Overrun | None = None
        self._waiting: dict[Task, int] = {}

    @property
    def overruns(self) -> int:
        """Frames that went beyond the budget they were given."""
        return self._overruns

    @property
    def last_overrun(self) -> Overrun | None:
        """Who went beyond a budget last, None if nobody did; not saved."""
        return self._last_overrun

    def _may_run(self, task: Task) -> bool:
        if task._paused or task._owner is None:
            return False
        return not (self._faults.has_quarantined and self._faults.is_quarantined(task))

    def _run(self, task: Task, share: Budget, whole: Budget, lateness_frames: int = 0) -> None:
        """Run one task with ``share``, its part of the ``whole`` budget of the frame."""
        now = self._clock.now
        turn = Turn(now, now.seconds - task._last_run.seconds, share)
        task._last_run = now
        for hook in self._trace.before_task:
            hook(task._name, now)
        granted, steps = math.inf if share.is_unlimited else share.peek(), share.steps
        stopwatch = share.stopwatch or self._stopwatch
        failure: Exception | None = None
        result: object = None
        started_ns = stopwatch() if stopwatch else 0
        try:
            result = task._runner.run(turn)
        except Exception as error:  # whatever work raises stays with it
            failure = error
        used_ns = stopwatch() - started_ns if stopwatch else 0
        if share.steps == steps and share.charges_runs:
            share.spend()
        record = task._record
        if stopwatch:
            is_granted = share is not whole and share.stopwatch is not None
            record.note_run(round(granted * 1000) if is_granted else 0, used_ns)
        else:
            record.runs += 1
        if lateness_frames:
            record.note_lateness(lateness_frames)
        used = used_ns / 1000 if share.stopwatch else share.steps - steps
        if used > granted and not self._overrun_told and whole.over > 0:
            self._emit_overrun(Overrun(task._name, task._id, now, granted, used, whole.over), task)
        told = result if failure is None else failure
        if self._trace.after_task or self._trace.task_ran:
            self._tell_trace(task, now, granted, share.steps - steps, used_ns / 1000, told)
        if failure is not None or task._owner is None or self._faults.has_failing:
            self._settle(task, failure)

    def _tell_trace(
        self, task: Task, now: TimeIndex, granted: float, steps: int, used_us: float, result: object
    ) -> None:
        for hook in self._trace.after_task:
            hook(task._name, now, used_us)
        for hook in self._trace.task_ran:
            hook(task._name, now, granted, steps, used_us, result)

    @abstractmethod
    def _touch(self, task: Task) -> None:
        """Take note that a task may have to be run on other frames, or not at all."""

    def _reweigh(self, task: Task) -> None:  # noqa: B027  # nothing to do where nobody waits
        """Take note that the priority of a task has changed."""

    def _put_waiting(self, waiting: dict[Task, int]) -> None:
        """Let these tasks wait, each since it fell due on a frame, and nobody else."""
        self._waiting = waiting

    def _settle(self, task: Task, failure: Exception | None) -> None:
        try:
            if failure is None:
                self._faults.succeeded(task)
            else:
                task._record.faults += 1
                name, frame = task._name, self._clock.now.frame
                if self._faults.failed(task, name, frame, failure).is_quarantined:
                    self._touch(task)
        finally:
            if task._owner is None:  # removed by its own work, which may have begun anew
                self._close(task)

    def _close(self, task: Task) -> None:
        try:
            task._runner.close()
        except Exception as error:  # a generator's clean-up is work too
            self._faults.failed(task, task._name, self._clock.now.frame, error)
        finally:
            self._faults.forget(task)

    def _emit_overrun(self, overrun: Overrun, task: Task) -> None:
        self._overrun_told = True
        self._overruns += 1
        self._last_overrun = overrun
        task._record.overruns += 1
        if self._on_overrun is None:
            return
        try:
            self._on_overrun(overrun)
        except Exception as error:  # who listens must not stop the frame either
            self._faults.failed(self, "on_overrun", overrun.now.frame, error)
            self._faults.forget(self)
