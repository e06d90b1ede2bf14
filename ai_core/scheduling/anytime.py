"""Anytime work: it has an answer at any time, and a better one the longer it runs.

There are two kinds. *Interruptible* anytime work may be stopped at any time: every object
with the members of ``Anytime``. A *contract* algorithm needs its budget in advance, and has
no answer until it ends; ``Contracts`` turns it into work of the first kind.

Use ``best`` while it improves, or let ``UntilGoodEnough`` stop when the answer is good
enough or is needed: that work has an end, so a ``BackgroundJob`` can run it.
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


class UntilGoodEnough(Generic[R]):
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
            raise TypeError(f"clock must be a Clock when deadline_s is set, got {shown(clock)}")
        self._work = work
        self._enough = finite_number("quality", quality, above=0, maximum=1)
        self._deadline_s = None if deadline_s is None else moment_s("deadline_s", deadline_s)
        self._clock = clock
        self._on_better = on_better
        self._told_quality = 0.0
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
        """Stop the search for an answer; does nothing when done."""
        if not self.is_done:
            self._outcome = "cancelled"

    def save_state(self) -> State:
        """Return progress and deadline, and the state of the work if it has one."""
        return {
            "version": 1,
            "outcome": self._outcome,
            "deadline_s": self._deadline_s,
            "told_quality": self._told_quality,
            "work": inner_state(self._work),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return the function that loads it. The saved deadline holds.

        Raises:
            StateError: if it cannot be loaded; names the place in it, and the reason.
        """
        fields = Fields.versioned(state, version=1)
        outcome = fields.one_of("outcome", ("open", "done", "cancelled"))
        deadline_s = None if fields.anything("deadline_s") is None else fields.seconds("deadline_s")
        if deadline_s is not None and self._clock is None:
            fields.refuse("deadline_s", "was saved, but the current object has no clock")
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
