"""Work too long for one frame: it pauses, goes on later, and has a result in the end.

Begin (make it), ``advance(budget)`` until ``is_done``, then take ``result``.
Whatever has the members of ``Interruptible`` is such work; nothing need be
inherited. A generator becomes one through ``Suspendable``, several become one
through ``WorkSequence``, anytime work through ``UntilGoodEnough``, and ``BackgroundJob`` has
a scheduler run one to its end.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.errors import shown

__all__ = ["Cancellable", "Interruptible", "check_done", "check_interruptible", "check_not_cancelled"]

R_co = TypeVar("R_co", covariant=True)


class Interruptible(Protocol[R_co]):
    """Long work with a result: a search, a plan, a map that is being built."""

    @property
    def is_done(self) -> bool:
        """True when ``result`` is there; False for good if it was cancelled."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``: it will have no result."""
        ...

    @property
    def progress(self) -> float:
        """How far it has come, 0 to 1, as well as it can tell."""
        ...

    @property
    def result(self) -> R_co:
        """What came of it.

        Raises:
            RuntimeError: if it is not done.
        """
        ...

    def advance(self, budget: Budget, /) -> object:
        """Go on until done or the budget is spent, one step at least; when done do nothing.

        Raises:
            RuntimeError: if it was cancelled.
        """
        ...

    def cancel(self) -> None:
        """Drop what is half done, now and for good; does nothing when done."""
        ...


class Cancellable:
    """What kinds of interruptible work share that know by themselves when they are done."""

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
        """0 until it is done, then 1, where it cannot tell how far it has come."""
        return float(self.is_done)

    def cancel(self) -> None:
        """Give up; does nothing when it is done."""
        self._is_cancelled = not self.is_done

    def _check_goes_on(self, budget: Budget) -> None:
        """Raise for what is no budget, and if it was cancelled; whoever is advanced asks first."""
        check_budget(budget)
        check_not_cancelled(self)

    def _check_done(self) -> None:
        """Raise RuntimeError unless there is a result."""
        check_done(self)


def check_interruptible(name: str, work: Any) -> Interruptible[Any]:
    """Return ``work`` if it is interruptible work.

    Raises:
        TypeError: naming what it has not.
    """
    members = ("is_done", "is_cancelled", "progress", "result", "advance", "cancel")
    # Looked up on the class: to ask an object for a result it does not have yet would raise.
    missing = [one for one in members if not hasattr(type(work), one) and one not in getattr(work, "__dict__", ())]
    if missing or isinstance(work, type):
        raise TypeError(
            f"{name} must be interruptible work, got {shown(work)} without {', '.join(missing) or 'an object'};"
            " a generator function becomes such work by Suspendable(function)"
        )
    checked: Interruptible[Any] = work
    return checked


def check_done(work: Interruptible[Any] | Cancellable) -> None:
    """Raise RuntimeError unless ``work`` has a result."""
    if not work.is_done:
        why = "it was cancelled" if work.is_cancelled else f"it is not done ({work.progress:.0%})"
        raise RuntimeError(f"{type(work).__name__} has no result: {why}; ask is_done first")


def check_not_cancelled(work: Interruptible[Any] | Cancellable) -> None:
    """Raise RuntimeError if ``work`` was cancelled."""
    if work.is_cancelled:
        raise RuntimeError(f"{type(work).__name__} was cancelled; make it anew to run it again")
