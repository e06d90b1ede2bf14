"""An errand: a scheduler runs long work to its end once, and tells what came of it."""
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

    ``then`` is told the result in the run in which the work ends, and before
    the task is removed: if it raises, that is the task's fault, and it is told
    again on the next run, so no result is lost.

    Saved with its task if the work is saveable; else the work is a part of its
    own, or begins anew. An errand that was done when a game was saved is not
    in the save: do not begin it again before loading.

    Args:
        scheduler: what runs it.
        work: interruptible work.
        then: told the result; None for whoever asks ``work.result``.
        period_frames: as for ``Scheduler.add``.
        phase_frames: as for ``Scheduler.add``.
        priority: as for ``Scheduler.add``.
        name: for reports; None takes the name of the work's class.

    Raises:
        TypeError: if ``scheduler`` is none, ``work`` is not interruptible, or
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
        """Its handle, for pausing and changing; removed when the work is done."""
        return self._task

    @property
    def work(self) -> Interruptible[Any]:
        """What it runs."""
        return self._work

    def cancel(self) -> None:
        """Cancel the work and remove the task; does nothing when it is over.

        What the work raises as it ends is reported, as by ``Scheduler.remove``.
        """
        if not self._task.is_removed:
            self._scheduler.remove(self._task)
        try:
            self._work.cancel()
        except Exception as error:  # a generator's clean-up is work too
            self._scheduler._faults.report_of_the_past(self._task.name, self._scheduler.clock.now.frame, error)

    def advance(self, budget: Budget, /) -> None:
        """Go on with the work; for the scheduler to call."""
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
        """Check a saved state; return what loads it.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        load = prepared_inner(self._work, fields.anything("work"), "'work'")
        fields.end()
        return load
