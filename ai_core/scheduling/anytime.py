"""Anytime work: it has an answer at every moment, and a better one if left to run on.

Two kinds are told apart. *Interruptible* anytime work may be stopped when one
likes: whatever has the members of ``Anytime``. A *contract* algorithm must be
told beforehand how much it may use, and has nothing until then; ``Contracts``
makes work of the first kind of it.

Act on ``best`` while it improves, or have ``UntilGoodEnough`` stop when the answer
will do or must do: it has an end, so an ``BackgroundJob`` can run it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, moment_s
from ai_core.errors import finite_number, shown
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.scheduling.interruptible import check_done, check_not_cancelled

__all__ = ["Anytime", "UntilGoodEnough"]

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Anytime(Protocol[R_co]):
    """Work that may be stopped at any time, and is the better the later."""

    @property
    def best(self) -> R_co | None:
        """The best answer so far; never a worse one than before. None: none yet."""
        ...

    @property
    def quality(self) -> float:
        """How good ``best`` is, 0 to 1: 0 without an answer, 1 if none can be better."""
        ...

    @property
    def is_done(self) -> bool:
        """True when ``best`` will not get any better."""
        ...

    def advance(self, budget: Budget, /) -> object:
        """Look for a better answer until one is found or the budget is spent, one step at least.

        It may go on after finding one; who stops at each can be stopped sooner.
        """
        ...


class UntilGoodEnough(Generic[R]):
    """Runs anytime work until its answer is good enough, or time is up; interruptible work.

    Done when the quality asked for is reached, when the work finds no better
    answer, or when the clock stands at the deadline or later and there is any
    answer. A deadline passed without one lets the work go on to its first.

    Saved together with its work, if that is saveable.

    Args:
        work: anytime work.
        quality: what is good enough, above 0, to 1.
        deadline_s: game time at which any answer will do (s); None for no deadline.
        clock: what the deadline is measured by; needed with a deadline alone.
        on_better: told (best, quality) whenever a better one was found; told again
            on the next ``advance`` if it raises.

    Raises:
        TypeError: if ``work`` is no anytime work, or a deadline is given without a clock.
        ValueError: if a number is out of range.

    Source: 000_execution_management, anytime algorithms.
    """

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
        if on_better is not None and not callable(on_better):
            raise TypeError(f"on_better must be a callable or None, got {shown(on_better)}")
        if deadline_s is not None and not hasattr(clock, "now"):
            raise TypeError(f"clock must have a 'now' to keep a deadline by, got {shown(clock)}")
        self._work = work
        self._enough = finite_number("quality", quality, above=0, maximum=1)
        self._deadline_s = None if deadline_s is None else moment_s("deadline_s", deadline_s)
        self._clock = clock
        self._on_better = on_better
        self._told_quality = 0.0
        self._outcome = "open"

    @property
    def best(self) -> R | None:
        """The best answer so far, None if there is none yet; act on it whenever you like."""
        return self._work.best

    @property
    def quality(self) -> float:
        """How good ``best`` is, 0 to 1."""
        return finite_number("quality", self._work.quality, minimum=0, maximum=1)

    @property
    def is_done(self) -> bool:
        """True when ``advance`` found that the answer will do, or must."""
        return self._outcome == "done"

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``; ``best`` is still there."""
        return self._outcome == "cancelled"

    @property
    def progress(self) -> float:
        """The quality reached, as a share of what is asked for; 1 when done."""
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
        """Go on, unless the answer will do already.

        Raises:
            RuntimeError: if it was cancelled.
            TypeError: if ``budget`` is no Budget, or the work's quality no number.
            ValueError: if it is outside 0 to 1.
        """
        check_budget(budget)
        check_not_cancelled(self)
        if self.is_done:
            return
        self._tell()
        while self._outcome == "open" and not self._will_do():
            quality = self.quality
            self._work.advance(budget)
            self._tell()
            if budget.is_spent or self.quality <= quality:
                break
        if self._outcome == "open" and self._will_do():
            self._outcome = "done"

    def cancel(self) -> None:
        """Nobody waits for an answer any more; does nothing when done."""
        if not self.is_done:
            self._outcome = "cancelled"

    def save_state(self) -> State:
        """Return how it stands and by when it is to be done, and the work's own state if it has one."""
        return {
            "version": 1,
            "outcome": self._outcome,
            "deadline_s": self._deadline_s,
            "told_quality": self._told_quality,
            "work": inner_state(self._work),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. The saved deadline holds.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        outcome = fields.one_of("outcome", ("open", "done", "cancelled"))
        deadline_s = None if fields.anything("deadline_s") is None else fields.seconds("deadline_s")
        if deadline_s is not None and self._clock is None:
            fields.refuse("deadline_s", "was saved, and here is no clock to keep it by")
        told_quality = fields.number("told_quality", minimum=0, maximum=1)
        load = prepared_inner(self._work, fields.anything("work"), "'work'")
        fields.end()

        def change() -> None:
            self._outcome, self._deadline_s, self._told_quality = outcome, deadline_s, told_quality
            load()

        return change

    def _tell(self) -> None:
        best, quality = self._work.best, self.quality
        if best is not None and quality > self._told_quality:
            if self._on_better is not None:
                self._on_better(best, quality)
            self._told_quality = quality

    def _will_do(self) -> bool:
        if self._work.is_done or self.quality >= self._enough:
            return True
        is_late = self._deadline_s is not None and self._clock is not None and (
            self._clock.now.seconds >= self._deadline_s
        )
        return is_late and self._work.best is not None
