"""Kinds of work that is too long for one frame: generators, sequences, background jobs, anytime work and contracts.

``Suspendable`` wraps a generator, ``WorkSequence`` several pieces of work, and ``BackgroundJob`` lets a scheduler
run work to its end. *Anytime* work has an answer at any time, and a better one the longer it runs: every object
with the members of ``Anytime``. A *contract* algorithm needs its budget in advance; ``Contracts`` turns it into
anytime work, and ``UntilGoodEnough`` ends anytime work when the answer is good enough or is needed.

Rejected: stopping endless generators here, as schedulers do with theirs. This work has an end by design, and may
be run as a whole on a loading screen.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any, Generic, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, moment_s
from ai_core.errors import check_callables, check_type, finite_number, shown, whole_number
from ai_core.saving.declared_state import Change, DeclaredState, Part, Refuse, Saveable
from ai_core.saving.fields import State
from ai_core.saving.inner_state import inner_state, is_saveable, prepared_inner
from ai_core.saving.kinds import Flag, GameValue, Kind, Number, OneOf, Optional, Seconds, Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.interruptible import (
    Interruptible,
    check_done,
    check_interruptible,
    check_not_cancelled,
)
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

__all__ = [
    "MAX_CONTRACT_STEPS",
    "Anytime",
    "BackgroundJob",
    "Contracts",
    "Suspendable",
    "UntilGoodEnough",
    "WorkSequence",
]


R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

OUTCOMES = ("open", "done", "cancelled")


class Suspendable(Saveable, Generic[R]):
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

    Raises:
        TypeError: if ``function`` cannot be called.

    Source: 000_execution_management, interruptible processes, software threads.
    """

    SHOWN = ("progress", "is_done")

    STATE = DeclaredState(
        outcome=OneOf(OUTCOMES, at="_outcome"),
        progress=Number(0, 1, at="_kept_progress"),
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
        self._outcome = "open"
        self._result: Any = None

    def begin(self) -> None:
        """Restart, whatever its state; unfinished work is dropped.

        Raises:
            RuntimeError: if called by the generator itself.
        """
        self._check_not_running()
        self._progress, self._outcome, self._result = 0.0, "open", None
        self._close()

    @property
    def is_done(self) -> bool:
        """True when ``result`` is available."""
        return self._outcome == "done"

    @property
    def is_cancelled(self) -> bool:
        """True from ``cancel`` to ``begin``."""
        return self._outcome == "cancelled"

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
        check_done(self)
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
        check_budget(budget)
        self._check_not_running()
        check_not_cancelled(self)
        # Not kept if it raises.
        generator, self._generator = self._generator, None
        message: Budget | None = budget
        if generator is None and not self.is_done:
            generator, message = self._start(), None
        self._is_running = True
        try:
            while generator is not None and self._outcome == "open":
                self._run_leg(generator, message, budget)
                message = budget
                if budget.is_spent:
                    break
        except Exception:
            self._progress = 0.0
            if generator is not None:
                generator.close()  # its last yield may be invalid
            raise
        finally:
            self._is_running = False
        if self._outcome == "open":
            self._generator = generator
        elif generator is not None:
            generator.close()  # cancelled by itself

    def cancel(self) -> None:
        """Close the generator, so that its ``finally`` runs; does nothing when done."""
        if not self.is_done:
            self._outcome = "cancelled"
            self._close()

    def prepare_state(self, state: object) -> Change:
        """Check a saved state; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place and the reason.
        """
        load = super().prepare_state(state)

        def change() -> None:
            try:
                self.begin()  # closes the present generator, whose ``finally`` may raise
            finally:
                load()

        return change

    @property
    def _kept_progress(self) -> float:
        return self._progress if self.is_done or is_saveable(self._function) else 0.0

    @_kept_progress.setter
    def _kept_progress(self, progress: float) -> None:
        self._progress = progress

    def _run_leg(
        self, generator: Generator[float | None, Budget, R], message: Budget | None, budget: Budget
    ) -> None:
        steps = budget.steps
        try:
            progress = generator.send(message)  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            if not self.is_cancelled:
                self._progress, self._outcome, self._result = 1.0, "done", end.value
            return
        finally:
            if budget.steps == steps:
                budget.spend()
        if progress is not None:
            self._progress = finite_number("progress", progress, minimum=0, maximum=1)

    def _check_not_running(self) -> None:
        if self._is_running:
            raise RuntimeError("the work is already running; it must not advance or begin itself")

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


class WorkSequence(Saveable):
    """A sequence of interruptible work that acts as one piece of work.

    Args:
        stages: each takes the result of the previous stage (None for the first)
            and returns the next work. The result of the last is the result of the sequence.
        values: how results between stages are saved that are not plain data.

    After loading, the stage that was running is created from the result before it
    and, if it is saveable, continues; else it restarts.

    Raises:
        TypeError: if a stage cannot be called.
        ValueError: if there is none.
    """

    SHOWN = ("stage", "progress")

    STATE = DeclaredState(
        stage=Whole(0, lambda sequence: len(sequence._stages), at="_number"),
        is_cancelled=Flag(at="_ends_cancelled"),
        result=GameValue("_values", at="_result"),
        work=Kind(at="_work_state"),
    )

    def __init__(
        self, *stages: Callable[[Any], Interruptible[Any]], values: SavedValues | None = None
    ) -> None:
        if not stages:
            raise ValueError("stages must hold at least one stage, got none")
        for number, stage in enumerate(stages):
            if not callable(stage):
                raise TypeError(
                    f"stage {number} must be a function of the previous result, got {shown(stage)}; use a lambda")
        self._stages = stages
        self._values = values if values is not None else SavedValues()
        self._number = 0
        self._current: Interruptible[Any] | None = None
        self._result: Any = None
        self._is_cancelled = False

    @property
    def is_done(self) -> bool:
        """True when the last stage is done."""
        return self._number == len(self._stages)

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``, and if the current stage was cancelled from outside."""
        return self._is_cancelled or (self._current is not None and self._current.is_cancelled)

    @property
    def stage(self) -> int:
        """Index of the next or current stage; the count of stages when done."""
        return self._number

    @property
    def progress(self) -> float:
        """Share of the stages that are done; all count as equally long."""
        part = 0.0 if self._current is None else self._current.progress
        return (self._number + part) / len(self._stages)

    @property
    def result(self) -> Any:
        """The result of the last stage.

        Raises:
            RuntimeError: if it is not done.
        """
        check_done(self)
        return self._result

    def advance(self, budget: Budget, /) -> None:
        """Continue the current stage, and the next ones while budget is left.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is not a Budget, or a stage returned no interruptible work.
        """
        check_budget(budget)
        check_not_cancelled(self)
        while not self.is_done and not self.is_cancelled:
            current = self._current = self._current or self._start(self._number, self._result)
            if not current.is_cancelled:
                current.advance(budget)
            if not current.is_done:
                return  # paused or waiting: continued by the next ``advance``
            self._number, self._result, self._current = self._number + 1, current.result, None
            if budget.is_spent:
                return

    def cancel(self) -> None:
        """Cancel the current stage and all later ones; does nothing when done."""
        if self.is_done:
            return
        self._is_cancelled = True
        current, self._current = self._current, None
        if current is not None:
            current.cancel()

    @property
    def _ends_cancelled(self) -> bool:
        return self.is_cancelled

    @_ends_cancelled.setter
    def _ends_cancelled(self, is_cancelled: bool) -> None:
        self._is_cancelled = is_cancelled

    @property
    def _work_state(self) -> State | None:
        return inner_state(self._current)

    @_work_state.setter
    def _work_state(self, loaded: tuple[Interruptible[Any] | None, Change]) -> None:
        replaced, (self._current, load) = self._current, loaded
        load()
        if replaced is not None:
            replaced.cancel()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Create the saved stage here already, to check its state."""
        if values.work is not None and values.stage == len(self._stages):
            refuse("work", "must be None, as all stages are done")
        current = None if values.work is None else self._start(values.stage, values.result)
        values.work = current, prepared_inner(current, values.work, "'work'")

    def _start(self, number: int, result: Any) -> Interruptible[Any]:
        work = self._stages[number](result)
        return check_interruptible(f"the result of stage {number}", work)


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

    Raises:
        TypeError: if ``scheduler`` is not a Scheduler, ``work`` is not interruptible, or
            ``then`` cannot be called.
    """

    SHOWN = ("task", "work")

    STATE = DeclaredState(work=Part(if_saveable=True, at="_work"))

    def __init__(
        self,
        scheduler: Scheduler,
        work: Interruptible[Any],
        *,
        then: Callable[[Any], object] | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        check_type("scheduler", scheduler, Scheduler)
        check_callables(then=then)
        self._work = check_interruptible("work", work)
        self._then = then
        self._scheduler = scheduler
        self._task = scheduler.add(self, name=type(work).__name__ if name is None else name, **settings)

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
        except Exception as error:  # the clean-up of a generator is work too
            self._scheduler._faults.report_of_the_past(self._task.name, self._scheduler.clock.now.frame, error)

    def advance(self, budget: Budget, /) -> None:
        """Continue the work; called by the scheduler."""
        if not (self._work.is_done or self._work.is_cancelled):
            self._work.advance(budget)
        if self._work.is_done and not self._task.is_removed and self._then is not None:
            self._then(self._work.result)
        if (self._work.is_done or self._work.is_cancelled) and not self._task.is_removed:
            self._scheduler.remove(self._task)


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


class UntilGoodEnough(Saveable, Generic[R]):
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
        on_better: called with (best, quality) whenever a better answer is found; called again
            on the next ``advance`` if it raises.

    Raises:
        TypeError: if ``work`` is not anytime work, or a deadline is given without a clock.
        ValueError: if a number is out of range.

    Source: 000_execution_management, anytime algorithms.
    """

    SHOWN = ("quality", "is_done")

    STATE = DeclaredState(
        outcome=OneOf(OUTCOMES, at="_outcome"),
        deadline_s=Optional(Seconds(), at="_deadline_s"),
        reported_quality=Number(0, 1, at="_reported_quality"),
        work=Part(if_saveable=True, at="_work"),
    )

    def __init__(
        self,
        work: Anytime[R],
        *,
        quality: float = 1.0,
        deadline_s: float | None = None,
        clock: Clock | None = None,
        on_better: Callable[[R, float], object] | None = None,
    ) -> None:
        missing = [one for one in ("best", "quality", "is_done", "advance") if not hasattr(work, one)]
        if missing or isinstance(work, type):
            what = ", ".join(missing) or "an object"
            raise TypeError(f"work must be anytime work, got {shown(work)} without {what}")
        check_callables(on_better=on_better)
        if deadline_s is not None and not hasattr(clock, "now"):
            raise TypeError(f"clock must be a Clock when deadline_s is set, got {shown(clock)}")
        self._work = work
        self._enough = finite_number("quality", quality, above=0, maximum=1)
        self._deadline_s = None if deadline_s is None else moment_s("deadline_s", deadline_s)
        self._clock = clock
        self._on_better = on_better
        self._reported_quality = 0.0
        self._outcome = "open"

    @property
    def best(self) -> R | None:
        """The best answer so far, None if there is none yet; may be used at any time."""
        return self._work.best

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1."""
        return finite_number("quality", self._work.quality, minimum=0, maximum=1)

    @property
    def is_done(self) -> bool:
        """True when ``advance`` found that the answer is good enough, or that time is up."""
        return self._outcome == "done"

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``; ``best`` stays available."""
        return self._outcome == "cancelled"

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
        check_done(self)
        return self._work.best

    def advance(self, budget: Budget, /) -> None:
        """Continue, unless the answer is already good enough.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is not a Budget, or the quality of the work is not a number.
            ValueError: if it is outside 0 to 1.
        """
        check_budget(budget)
        check_not_cancelled(self)
        if self.is_done:
            return
        self._report_better()
        while self._outcome == "open" and not self._is_satisfied():
            quality = self.quality
            self._work.advance(budget)
            self._report_better()
            if budget.is_spent or self.quality <= quality:
                break
        if self._outcome == "open" and self._is_satisfied():
            self._outcome = "done"

    def cancel(self) -> None:
        """Stop the search for an answer; does nothing when done."""
        if not self.is_done:
            self._outcome = "cancelled"

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.deadline_s is not None and self._clock is None:
            refuse("deadline_s", "was saved, but the current object has no clock")

    def _report_better(self) -> None:
        best, quality = self._work.best, self.quality
        if best is not None and quality > self._reported_quality:
            if self._on_better is not None:
                self._on_better(best, quality)
            self._reported_quality = quality

    def _is_satisfied(self) -> bool:
        if self._work.is_done or self.quality >= self._enough:
            return True
        is_late = self._deadline_s is not None and self._clock is not None and (
            self._clock.now.seconds >= self._deadline_s
        )
        return is_late and self._work.best is not None


MAX_CONTRACT_STEPS = 1 << 40
"""Longest contract (steps): days of work. Doubling ends here at the latest."""


class Contracts(Saveable, Generic[R]):
    """Anytime work made from a contract algorithm, by contracts each twice as long as the last.

    Whenever it is stopped, the longest completed contract had more
    than a quarter of all steps so far: not knowing the time in advance
    costs a factor of four at most. There is no answer before the end of
    the first.

    A contract that raises is restarted on the next ``advance``. After loading,
    an unfinished one continues if it is saveable, else it restarts.

    Args:
        begin: takes the steps of a contract, and returns interruptible work
            that keeps to them, and whose result is the answer.
        quality_of: returns the quality of an answer, 0 to 1; at 1 no further contract begins.
        first_steps: steps of the first contract, 1 or more.
        max_steps: steps of the longest contract, ``first_steps`` or more.
        values: how the best answer is saved if it is not plain data.

    Raises:
        TypeError: if ``begin`` or ``quality_of`` cannot be called.
        ValueError: if a number of steps is out of range.

    Source: S. Russell and S. Zilberstein, Composing real-time systems (1991).
    """

    SHOWN = ("quality", "is_done")

    STATE = DeclaredState(
        steps=Whole(1, 2 * MAX_CONTRACT_STEPS, at="_steps"),
        best=GameValue("_values", at="_best"),
        quality=Number(0, 1, at="_quality"),
        contract=Kind(at="_contract_state"),
    )

    def __init__(
        self,
        begin: Callable[[int], Interruptible[R]],
        quality_of: Callable[[R], float],
        *,
        first_steps: int,
        max_steps: int = MAX_CONTRACT_STEPS,
        values: SavedValues | None = None,
    ) -> None:
        for name, function in (("begin", begin), ("quality_of", quality_of)):
            if not callable(function):
                raise TypeError(f"{name} must be a callable, got {shown(function)}")
        self._begin = begin
        self._quality_of = quality_of
        self._steps = whole_number("first_steps", first_steps, minimum=1, maximum=MAX_CONTRACT_STEPS)
        self._most_steps = whole_number(
            "max_steps", max_steps, minimum=self._steps, maximum=MAX_CONTRACT_STEPS
        )
        self._values = values if values is not None else SavedValues()
        self._contract: Interruptible[R] | None = None
        self._best: R | None = None
        self._quality = 0.0

    @property
    def best(self) -> R | None:
        """The best answer of all contracts so far; None before the end of the first."""
        return self._best

    @property
    def quality(self) -> float:
        """Quality of ``best``, 0 to 1."""
        return self._quality

    @property
    def is_done(self) -> bool:
        """True when the answer cannot be better, or the longest contract is completed."""
        return self._quality >= 1 or self._steps > self._most_steps

    @property
    def contract_steps(self) -> int:
        """Steps of the next or current contract."""
        return self._steps

    def advance(self, budget: Budget, /) -> None:
        """Continue the current contract until it is completed or the budget is spent.

        Raises:
            TypeError: if ``budget`` is not a Budget, ``begin`` returned no interruptible work, or a
                quality is not a number.
            ValueError: if a quality is outside 0 to 1.
        """
        check_budget(budget)
        if self.is_done:
            return
        contract, self._contract = self._contract, None  # if it raises it is not kept
        if contract is None:
            contract = self._start(self._steps)
        contract.advance(budget)
        if not contract.is_done:
            self._contract = contract
            return
        answer = contract.result
        quality = finite_number("quality", self._quality_of(answer), minimum=0, maximum=1)
        if self._best is None or quality > self._quality:
            self._best, self._quality = answer, quality
        self._steps *= 2

    @property
    def _contract_state(self) -> State | None:
        return inner_state(self._contract)

    @_contract_state.setter
    def _contract_state(self, loaded: tuple[Interruptible[R] | None, Change]) -> None:
        replaced, (self._contract, load) = self._contract, loaded
        load()
        if replaced is not None:
            replaced.cancel()

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Create the saved contract here already, to check its state."""
        if values.contract is not None and values.steps > MAX_CONTRACT_STEPS:
            refuse("contract", "must be None, as the longest contract is completed")
        contract = None if values.contract is None else self._start(values.steps)
        values.contract = contract, prepared_inner(contract, values.contract, "'contract'")

    def _start(self, steps: int) -> Interruptible[R]:
        return check_interruptible("the result of begin", self._begin(steps))
