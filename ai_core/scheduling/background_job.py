"""Background jobs: a scheduler runs long work to its end once, and reports the result."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.budget import Budget
from ai_core.errors import shown
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.scheduling.interruptible import Interruptible, check_interruptible
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = ["BackgroundJob"]


class BackgroundJob:
    """Interruptible work as a task that removes itself when the work is done.

    ``then`` receives the result in the run in which the work ends, and before
    the task is removed: if it raises, that counts as a failure of the task, and it is called
    again on the next run, so no result is lost.

    Saved with its task if the work is saveable; else the work is saved as a separate part, or
    restarts. A job that was done when a game was saved is not
    in the save: do not start it again before loading.

    Args:
        scheduler: runs the job.
        work: interruptible work.
        then: called with the result; None if the caller reads ``work.result``.
        period_frames: as for ``Scheduler.add``.
        phase_frames: as for ``Scheduler.add``.
        priority: as for ``Scheduler.add``.
        name: for reports; None for the name of the work's class.

    Raises:
        TypeError: if ``scheduler`` is not a Scheduler, ``work`` is not interruptible, or
            ``then`` cannot be called.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        work: Interruptible[Any],
        *,
        then: Callable[[Any], object] | None = None,
        period_frames: int = 1,
        phase_frames: int | None = None,
        priority: float = 1.0,
        name: str | None = None,
    ) -> None:
        if not isinstance(scheduler, Scheduler):
            raise TypeError(f"scheduler must be a Scheduler, got {shown(scheduler)}")
        if then is not None and not callable(then):
            raise TypeError(f"then must be a callable or None, got {shown(then)}")
        self._work = check_interruptible("work", work)
        self._then = then
        self._scheduler = scheduler
        self._task = scheduler.add(
            self,
            period_frames=period_frames,
            phase_frames=phase_frames,
            priority=priority,
            name=type(work).__name__ if name is None else name,
        )

    @property
    def task(self) -> Task:
        """Its task handle, for pausing and changing; removed when the work is done."""
        return self._task

    @property
    def work(self) -> Interruptible[Any]:
        """The work that it runs."""
        return self._work

    def cancel(self) -> None:
        """Cancel the work and remove the task; does nothing when the job has ended.

        An exception that the work raises as it ends is reported, as by ``Scheduler.remove``.
        """
        if not self._task.is_removed:
            self._scheduler.remove(self._task)
        try:
            self._work.cancel()
        except Exception as error:  # a generator's clean-up is work too
            self._scheduler._faults.report_of_the_past(self._task.name, self._scheduler.clock.now.frame, error)

    def advance(self, budget: Budget, /) -> None:
        """Continue the work; called by the scheduler."""
        if not (self._work.is_done or self._work.is_cancelled):
            self._work.advance(budget)
        if self._work.is_done and not self._task.is_removed and self._then is not None:
            self._then(self._work.result)
        if (self._work.is_done or self._work.is_cancelled) and not self._task.is_removed:
            self._scheduler.remove(self._task)

    def save_state(self) -> State:
        """Return the state of the work, if it is saveable."""
        return {"version": 1, "work": inner_state(self._work)}

    def prepare_state(self, state: object) -> Callable[[], object]:
        """Check a saved state; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=1)
        load = prepared_inner(self._work, fields.anything("work"), "'work'")
        fields.end()
        return load
