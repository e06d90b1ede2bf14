"""A generator run as interruptible work.

Rejected: stopping endless generators here, as schedulers do with theirs. This
work has an end by design, and may be run as a whole on a loading screen.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, shown
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.values import SavedValues
from ai_core.scheduling.interruptible import check_done, check_not_cancelled

__all__ = ["Suspendable"]

R = TypeVar("R")

OUTCOMES = ("open", "done", "cancelled")


class Suspendable(Generic[R]):
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

    def __init__(
        self,
        function: Callable[..., Generator[float | None, Budget, R]],
        *arguments: object,
        values: SavedValues | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"function must be a generator function, got {shown(function)};"
                " pass the function without calling it"
            )
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
        # Held here while it runs: if it raises it is not kept.
        generator, self._generator = self._generator, None
        message: Budget | None = budget
        if generator is None and not self.is_done:
            generator, message = self._begun(), None
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
                generator.close()  # it may have yielded what is no progress
            raise
        finally:
            self._is_running = False
        if self._outcome == "open":
            self._generator = generator
        elif generator is not None:
            generator.close()  # it was cancelled from within

    def cancel(self) -> None:
        """Close the generator, so that its ``finally`` runs; does nothing when done."""
        if not self.is_done:
            self._outcome = "cancelled"
            self._close()

    def save_state(self) -> State:
        """Return whether it is done, its result, and the function's own state if it has one.

        Raises:
            StateError: if the result is neither plain data nor named in ``values``.
        """
        function = inner_state(self._function)
        return {
            "version": 1,
            "outcome": self._outcome,
            "progress": self._progress if self.is_done or function is not None else 0.0,
            "result": self._values.plain(self._result, "result"),
            "function": function,
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that loads it.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=1)
        outcome = fields.one_of("outcome", OUTCOMES)
        progress = fields.number("progress", minimum=0, maximum=1)
        result = self._values.value(fields.anything("result"), fields.place_of("result"))
        load = prepared_inner(self._function, fields.anything("function"), "'function'")
        fields.end()

        def change() -> None:
            try:
                self.begin()  # closes what is half done here: its ``finally`` may raise
            finally:
                self._outcome, self._progress, self._result = outcome, progress, result
                load()

        return change

    def _run_leg(
        self, generator: Generator[float | None, Budget, R], message: Budget | None, budget: Budget
    ) -> None:
        steps = budget.steps
        try:
            told = generator.send(message)  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            if not self.is_cancelled:
                self._progress, self._outcome, self._result = 1.0, "done", end.value
            return
        finally:
            if budget.steps == steps:
                budget.spend()
        if told is not None:
            self._progress = finite_number("progress", told, minimum=0, maximum=1)

    def _check_not_running(self) -> None:
        if self._is_running:
            raise RuntimeError("the work is already running; it must not advance or begin itself")

    def _begun(self) -> Generator[float | None, Budget, R]:
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
