"""Work too long for one frame: it pauses, continues later, and has a result in the end."""
from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.described import Described

__all__ = ["Interruptible", "SteppedWork", "Steps", "finished"]

R = TypeVar("R")

Steps: TypeAlias = Generator[None, object, R]
"""Work that may pause after each step and returns a result."""


class Interruptible(Described):
    """Base of long work with a result: a search, a plan, a map that is being built.

    Create it, call ``advance(budget)`` until ``is_done``, then read ``result``.

    A class of such work has ``is_done`` (False if it was cancelled), ``result`` and ``advance``, which continues until
    done or the budget is spent, at least one step. It calls ``_check_goes_on`` as it begins; ``result`` calls
    ``_check_done``.
    """

    _is_cancelled = False

    if TYPE_CHECKING:

        @property
        def is_done(self) -> bool: ...  # of some classes a plain attribute

        @property
        def result(self) -> Any: ...

        def advance(self, budget: Budget, /) -> object: ...

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``: there will be no result."""
        return self._is_cancelled

    @property
    def progress(self) -> float:
        """Progress, 0 to 1, as well as it can be estimated; by default 0 until it is done, then 1."""
        return float(self.is_done)

    def cancel(self) -> None:
        """Stop for good, and drop the unfinished work; does nothing when it is done."""
        self._is_cancelled = not self.is_done

    def _check_goes_on(self, budget: Budget) -> None:
        """Raise TypeError unless ``budget`` is a Budget, and RuntimeError if it was cancelled."""
        check_budget(budget)
        self._check_not_cancelled()

    def _check_not_cancelled(self) -> None:
        if self._is_cancelled:
            raise RuntimeError(f"{type(self).__name__} was cancelled; create another to run it again")

    def _check_done(self) -> None:
        """Raise RuntimeError unless there is a result."""
        if not self.is_done:
            why = "it was cancelled" if self._is_cancelled else f"it is not done ({self.progress:.0%})"
            raise RuntimeError(f"{type(self).__name__} has no result: {why}; check is_done first")


class SteppedWork(Interruptible):
    """Base of interruptible work whose steps are those of a generator; each costs one step of the budget."""

    _steps: Iterator[object] = iter(())     # a class of steps sets its own

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent, at least one step; an error ends the work as ``cancel`` does.

        Raises:
            RuntimeError: if it was cancelled, or has failed before.
        """
        self._check_goes_on(budget)
        while not self.is_done:
            try:
                next(self._steps, None)
            except BaseException:
                self.cancel()
                raise
            budget.spend()
            if self._is_cancelled or budget.is_spent:
                return

    def cancel(self) -> None:
        """Stop for good, and release what the unfinished steps hold; does nothing when it is done."""
        super().cancel()
        self._steps = iter(())


def finished(steps: Steps[R]) -> R:
    """Do all steps of a generator at once, and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
