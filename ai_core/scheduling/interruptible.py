"""Work too long for one frame: it pauses, continues later, and has a result in the end.

Create it, call ``advance(budget)`` until ``is_done``, then read ``result``.
"""
from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.errors import shown

__all__ = [
    "Cancellable", "Interruptible", "SteppedWork", "Steps", "check_done", "check_interruptible", "check_not_cancelled",
    "finished",
]

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Steps: TypeAlias = Generator[None, object, R]
"""Work that may pause after each step and returns a result."""


class Interruptible(Protocol[R_co]):
    """Long work with a result: a search, a plan, a map that is being built."""

    @property
    def is_done(self) -> bool:
        """True when ``result`` is available; stays False if it was cancelled."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``: there will be no result."""
        ...

    @property
    def progress(self) -> float:
        """Progress, 0 to 1, as well as it can be estimated."""
        ...

    @property
    def result(self) -> R_co:
        """The result.

        Raises:
            RuntimeError: if it is not done.
        """
        ...

    def advance(self, budget: Budget, /) -> object:
        """Continue until done or the budget is spent, at least one step; does nothing when done.

        Raises:
            RuntimeError: if it was cancelled.
        """
        ...

    def cancel(self) -> None:
        """Stop for good, and drop the unfinished work; does nothing when done."""
        ...


class Cancellable:
    """Base of interruptible work that has ``is_done``: cancelling, progress, and the checks of both."""

    _is_cancelled = False

    if TYPE_CHECKING:           # a property of some, an attribute of others

        @property
        def is_done(self) -> bool: ...

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``."""
        return self._is_cancelled

    @property
    def progress(self) -> float:
        """0 until it is done, then 1; for work that cannot estimate its progress."""
        return float(self.is_done)

    def cancel(self) -> None:
        """Stop for good; does nothing when it is done."""
        self._is_cancelled = not self.is_done

    def _check_goes_on(self, budget: Budget) -> None:
        """Raise TypeError unless ``budget`` is a Budget, and RuntimeError if it was cancelled; for ``advance``."""
        check_budget(budget)
        check_not_cancelled(self)

    def _check_done(self) -> None:
        """Raise RuntimeError unless there is a result."""
        check_done(self)


class SteppedWork(Cancellable):
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


def check_interruptible(name: str, work: Any) -> Interruptible[Any]:
    """Return ``work`` if it is interruptible work."""
    members = ("is_done", "is_cancelled", "progress", "result", "advance", "cancel")
    # Looked up on the class, because reading ``result`` of an object without one raises.
    missing = [one for one in members if not hasattr(type(work), one) and one not in getattr(work, "__dict__", ())]
    if missing or isinstance(work, type):
        raise TypeError(
            f"{name} must be interruptible work, got {shown(work)} without {', '.join(missing) or 'an object'};"
            " wrap a generator function in Suspendable(function)"
        )
    checked: Interruptible[Any] = work
    return checked


def check_done(work: Interruptible[Any] | Cancellable) -> None:
    """Raise RuntimeError unless ``work`` has a result."""
    if not work.is_done:
        why = "it was cancelled" if work.is_cancelled else f"it is not done ({work.progress:.0%})"
        raise RuntimeError(f"{type(work).__name__} has no result: {why}; check is_done first")


def check_not_cancelled(work: Interruptible[Any] | Cancellable) -> None:
    """Raise RuntimeError if ``work`` was cancelled."""
    if work.is_cancelled:
        raise RuntimeError(f"{type(work).__name__} was cancelled; create another to run it again")
