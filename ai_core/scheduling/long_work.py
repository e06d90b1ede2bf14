"""Kinds of work that is too long for one frame: generators, background jobs and anytime work.

Rejected: stopping endless generators here, as schedulers do with theirs. This work has an end by design, and may
be run as a whole on a loading screen.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any, Generic, Protocol, TypeVar

from ai_core.budget import Budget
from ai_core.clock import Clock, moment_s
from ai_core.errors import check_callables, check_type, finite_number, shown
from ai_core.saving.declared_state import Change, DeclaredState, Part, Refuse, Saveable
from ai_core.saving.inner_state import is_saveable
from ai_core.saving.kinds import Flag, GameValue, Number, Optional, Seconds
from ai_core.saving.values import SavedValues
from ai_core.scheduling.interruptible import Interruptible
from ai_core.scheduling.scheduler import Scheduler

__all__ = [
    "Anytime",
    "BackgroundJob",
    "Suspendable",
    "UntilGoodEnough",
]


R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Suspendable(Saveable, Interruptible, Generic[R]):
    """Runs a generator as interruptible work: its return value is the result.

    It may pause at each ``yield``, reports its progress by yielding a number from
    0 to 1 (or yields nothing), and receives the current budget, to pass on to
    work of its own. If it raises, the next ``advance`` restarts it.

    After loading, unfinished work restarts, unless ``function`` is
    an object with ``save_state`` and ``prepare_state``, which then stores its
    progress.

    Args:
        function: a generator function, taking ``arguments``.
        arguments: passed to it at each start; not saved.
        values: how a result is saved that is not plain data.

    Attributes:
        is_done: True when ``result`` is available.

    Raises:
        TypeError: if ``function`` cannot be called.

    Source: 000_execution_management, interruptible processes, software threads.
    """

    SHOWN = ("progress", "is_done")
    is_done: bool = False

    STATE = DeclaredState(
        is_done=Flag(),
        is_cancelled=Flag(at="_is_cancelled"),
        progress=Number(0, 1, at="_progress"),
        result=GameValue("_values", at="_result"),
        function=Part(if_saveable=True, at="_function"),
    )

    def __init__(
        self,
        function: Callable[..., Generator[float | None, Budget, R]],
        *arguments: object,
        values: SavedValues | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"function must be a generator function, got {shown(function)}; pass the function without calling it")
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"function must not be async, got {shown(function)}; use def and yield")
        self._function = function
        self._arguments = arguments
        self._values = values if values is not None else SavedValues()
        self._generator: Generator[float | None, Budget, R] | None = None
        self._is_running = False
        self._progress = 0.0
        self._result: Any = None

    @property
    def progress(self) -> float:
        """The last number it yielded; 1 when it is done."""
        return self._progress

    @property
    def result(self) -> R:
        """The return value of the generator.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        result: R = self._result
        return result

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent; a leg that counts no steps costs one.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is not a Budget, the function returned no
                generator, or it yielded neither a number nor None.
            ValueError: if it yielded a number outside 0 to 1.
        """
        self._check_goes_on(budget)
        self._check_at_rest()
        if self.is_done:
            return
        # Not kept if it raises.
        generator, self._generator = self._generator, None
        message: Budget | None = budget
        if generator is None:
            generator, message = self._start(), None
        self._is_running = True
        try:
            while not (self.is_done or self._is_cancelled):
                self._run_leg(generator, message, budget)
                message = budget
                if budget.is_spent:
                    break
        except Exception:
            self._progress = 0.0
            generator.close()  # its last yield may be invalid
            raise
        finally:
            self._is_running = False
        self._generator = generator
        if self.is_done or self._is_cancelled:
            self._close()  # cancelled by itself

    def cancel(self) -> None:
        """Close the generator, so that its ``finally`` runs; does nothing when done."""
        super().cancel()
        self._close()

    def prepare_state(self, state: object) -> Change:
        """Check a saved state; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place and the reason.
        """
        load = super().prepare_state(state)

        def change() -> None:
            try:
                self._close()  # the ``finally`` of the present generator may raise
            finally:
                load()
                if not (self.is_done or is_saveable(self._function)):
                    self._progress = 0.0    # it restarts

        return change

    def _run_leg(
        self, generator: Generator[float | None, Budget, R], message: Budget | None, budget: Budget
    ) -> None:
        steps = budget.steps
        try:
            progress = generator.send(message)  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            if not self._is_cancelled:
                self._progress, self.is_done, self._result = 1.0, True, end.value
            return
        finally:
            if budget.steps == steps:
                budget.spend()
        if progress is not None:
            self._progress = finite_number("progress", progress, minimum=0, maximum=1)

    def _check_at_rest(self) -> None:
        if self._is_running:
            raise RuntimeError("the work is already running; it must not advance, save or load itself")

    def _start(self) -> Generator[float | None, Budget, R]:
        generator = self._function(*self._arguments)
        if not isinstance(generator, Generator):
            raise TypeError(
                f"function must be a generator function, got one that returned {shown(generator)};"
                " use yield where it may pause"
            )
        self._progress = 0.0
        return generator

    def _close(self) -> None:
        generator, self._generator = self._generator, None
        if generator is not None:
            generator.close()


class BackgroundJob(Saveable):
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
        name: for reports; None for the name of the work's class.
        settings: other arguments of ``Scheduler.add``, such as ``period_frames``.

    Attributes:
        task: its handle, for pausing and changing; removed when the work is done.
        work: as given.

    Raises:
        TypeError: if ``scheduler`` is not a Scheduler, ``work`` is not interruptible, or
            ``then`` cannot be called.
    """

    SHOWN = ("task", "work")

    STATE = DeclaredState(work=Part(if_saveable=True))

    def __init__(
        self,
        scheduler: Scheduler,
        work: Interruptible,
        *,
        then: Callable[[Any], object] | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        check_type("scheduler", scheduler, Scheduler)
        check_type("work", work, Interruptible, "wrap a generator function in Suspendable(function)")
        check_callables(then=then)
        self.work = work
        self._then = then
        self._scheduler = scheduler
        self.task = scheduler.add(self, name=type(work).__name__ if name is None else name, **settings)

    def cancel(self) -> None:
        """Cancel the work and remove the task; does nothing when the job has ended.

        An exception that the work raises as it ends is reported, as by ``Scheduler.remove``.
        """
        if not self.task.is_removed:
            self._scheduler.remove(self.task)
        try:
            self.work.cancel()
        except Exception as error:  # the clean-up of a generator is work too
            self._scheduler._faults.report_of_the_past(self.task.name, self._scheduler.clock.now.frame, error)

    def advance(self, budget: Budget, /) -> None:
        """Continue the work; called by the scheduler."""
        if not (self.work.is_done or self.work.is_cancelled):
            self.work.advance(budget)
        if self.work.is_done and not self.task.is_removed and self._then is not None:
            self._then(self.work.result)
        if (self.work.is_done or self.work.is_cancelled) and not self.task.is_removed:
            self._scheduler.remove(self.task)


class Anytime(Protocol[R_co]):
    """Work that may be stopped at any time, and improves with time."""

    @property
    def best(self) -> R_co | None:
        """The best answer so far; never worse than before. None: no answer yet."""
        ...

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1: 0 without an answer, 1 if none can be better."""
        ...

    @property
    def is_done(self) -> bool:
        """True when ``best`` will not improve."""
        ...

    def advance(self, budget: Budget, /) -> object:
        """Search for a better answer until one is found or the budget is spent, at least one step.

        It may continue after finding one; work that returns at each can be stopped sooner.
        """
        ...


class UntilGoodEnough(Saveable, Interruptible, Generic[R]):
    """Runs anytime work until its answer is good enough, or the deadline has passed; interruptible work.

    Done when the requested quality is reached, when the work finds no better
    answer, or when the clock is at the deadline or later and there is any
    answer. If the deadline passes without an answer, the work continues to its first.

    Saved together with its work, if that is saveable.

    Args:
        work: anytime work.
        quality: quality that is good enough, above 0, to 1.
        deadline_s: game time from which any answer is accepted (s); None for no deadline.
        clock: measures the deadline; required with a deadline only.

    Attributes:
        is_done: True when ``result`` is available.

    Raises:
        TypeError: if ``work`` is not anytime work, or a deadline is given without a clock.
        ValueError: if a number is out of range.

    Source: 000_execution_management, anytime algorithms.
    """

    SHOWN = ("quality", "is_done")
    is_done: bool = False

    STATE = DeclaredState(
        is_done=Flag(),
        is_cancelled=Flag(at="_is_cancelled"),
        deadline_s=Optional(Seconds(), at="_deadline_s"),
        work=Part(if_saveable=True, at="_work"),
    )

    def __init__(
        self,
        work: Anytime[R],
        *,
        quality: float = 1.0,
        deadline_s: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        missing = [one for one in ("best", "quality", "is_done", "advance") if not hasattr(work, one)]
        if missing or isinstance(work, type):
            what = ", ".join(missing) or "an object"
            raise TypeError(f"work must be anytime work, got {shown(work)} without {what}")
        if deadline_s is not None and not hasattr(clock, "now"):
            raise TypeError(f"clock must be a Clock when deadline_s is set, got {shown(clock)}")
        self._work = work
        self._enough = finite_number("quality", quality, above=0, maximum=1)
        self._deadline_s = None if deadline_s is None else moment_s("deadline_s", deadline_s)
        self._clock = clock

    @property
    def best(self) -> R | None:
        """The best answer so far, None if there is none yet; may be used at any time."""
        return self._work.best

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1."""
        return finite_number("quality", self._work.quality, minimum=0, maximum=1)

    @property
    def progress(self) -> float:
        """The quality reached, as a share of the requested quality; 1 when done."""
        return 1.0 if self.is_done else min(1.0, self.quality / self._enough)

    @property
    def result(self) -> R | None:
        """The answer; None only if the work ended without any.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return self._work.best

    def advance(self, budget: Budget, /) -> None:
        """Continue, unless the answer is already good enough.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is not a Budget, or the quality of the work is not a number.
            ValueError: if it is outside 0 to 1.
        """
        self._check_goes_on(budget)
        if self.is_done:
            return
        while not self._is_cancelled and not self._is_satisfied():
            quality = self.quality
            self._work.advance(budget)
            if budget.is_spent or self.quality <= quality:
                break
        self.is_done = not self._is_cancelled and self._is_satisfied()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.deadline_s is not None and self._clock is None:
            refuse("deadline_s", "was saved, but the current object has no clock")

    def _is_satisfied(self) -> bool:
        if self._work.is_done or self.quality >= self._enough:
            return True
        is_late = self._deadline_s is not None and self._clock is not None and (
            self._clock.now.seconds >= self._deadline_s
        )
        return is_late and self._work.best is not None
