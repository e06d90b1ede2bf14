"""How much a piece of work may still do in this frame.

``Budget.of_time`` in a game, ``Budget.of_steps`` in tests and replays (the
same result on every machine), ``Budget.unlimited`` where nobody counts.
Work asks ``is_spent`` at each point where it may pause.
"""
from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from math import inf
from typing import ClassVar

from ai_core.errors import finite_number, shown, whole_number

__all__ = ["Budget", "Stopwatch", "check_budget"]

Stopwatch = Callable[[], int]
"""Monotonic nanoseconds, for example ``time.perf_counter_ns``, handed in."""

MOST_AT_ONCE = 1 << 30
"""Steps that work is told to do at once at most (count): more does not fit the numbers of kernels on every machine."""


NOTHING_OR_NO_LIMIT = "use 0 to allow nothing, Budget.unlimited() for no limit"

MOST_US = 1e15
"""Longest budget of time (µs): 31 years, whose nanoseconds fit the 64 bits of kernels with room to spare."""

MOST_STEPS = 1 << 53
"""Largest budget of steps (count): above it ``left``, which may be a float, would not be exact."""


class Budget:
    """An allowance of time (µs) or of steps that work uses up.

    Attributes:
        stopwatch: what measures it, or None when steps are counted.
        steps: steps reported through ``spend`` so far, parts included.
        is_unlimited: True if it is never spent, so that nobody need ask.
        charges_runs: whether work that reports no steps is charged one for its run,
            so that nothing is free where steps are what counts.
        deadline_ns: when it is spent by its stopwatch (ns), if nothing else decides.
    """

    __slots__ = ("_parent", "steps", "stopwatch")

    is_unlimited: ClassVar[bool] = False
    charges_runs: ClassVar[bool] = True
    deadline_ns: int | None = None

    stopwatch: Stopwatch | None
    steps: int
    _parent: Budget | None

    @staticmethod
    def of_time(us: float, stopwatch: Stopwatch) -> Budget:
        """Return a budget of ``us`` microseconds that starts running now.

        Raises:
            ValueError: if ``us`` is negative, NaN, or more than ``MOST_US``.
            TypeError: if the stopwatch does not return whole nanoseconds.
        """
        if type(us) is not float or not 0 <= us <= MOST_US:
            us = finite_number("us", us, minimum=0, maximum=MOST_US, remedy=NOTHING_OR_NO_LIMIT)
        try:  # whether it can be called is asked where it could not
            started_ns = stopwatch()
        except TypeError:
            if callable(stopwatch):
                raise
            raise TypeError(f"stopwatch must be a callable, got {shown(stopwatch)}") from None
        if type(started_ns) is not int and not isinstance(started_ns, int):  # of seconds it would never be spent
            raise TypeError(
                f"stopwatch must return whole nanoseconds, got {shown(started_ns)};"
                " use time.perf_counter_ns"
            )
        budget = _TimeBudget()
        budget.stopwatch = budget._watch = stopwatch
        budget.steps, budget._parent = 0, None
        budget._started_ns, budget.deadline_ns = started_ns, started_ns + round(us * 1000)
        return budget

    @staticmethod
    def of_steps(n: int) -> Budget:
        """Return a budget of ``n`` steps, as counted by ``spend``.

        Raises:
            TypeError: if ``n`` is not a whole number.
            ValueError: if ``n`` is negative or more than ``MOST_STEPS``.
        """
        if type(n) is not int or not 0 <= n <= MOST_STEPS:
            n = whole_number("n", n, minimum=0, maximum=MOST_STEPS, remedy=NOTHING_OR_NO_LIMIT)
        budget = _StepBudget()
        budget.steps, budget._allowed = 0, n
        return budget

    @staticmethod
    def unlimited() -> Budget:
        """Return a budget that is never spent; it still counts steps."""
        budget = _UnlimitedBudget()
        budget.stopwatch, budget.steps, budget._parent = None, 0, None
        return budget

    @property
    @abstractmethod
    def is_spent(self) -> bool:
        """True when the work should pause or end."""

    @property
    @abstractmethod
    def left(self) -> float:
        """What may still be used: µs or steps, 0 or more, ``inf`` if unlimited."""

    @property
    @abstractmethod
    def used(self) -> float:
        """What has been used since it was made: µs or steps."""

    @property
    @abstractmethod
    def over(self) -> float:
        """How far the use went beyond what was allowed: µs or steps."""

    def __repr__(self) -> str:
        unit = "µs" if self.stopwatch is not None else "steps"
        return f"<{type(self).__name__.strip('_')} {self.peek():g} {unit} left, {self.steps} steps reported>"

    def peek(self) -> float:
        """Return ``left`` for a report; a recording keeps no such answer, so nothing may hang on it."""
        return self.left

    def steps_at_once(self, usual: int) -> int:
        """Return how many steps to do before asking again, 1 at least: all that are left where steps are counted.

        Args:
            usual: how many where time is, or was when it was recorded: a replay asks as often.
        """
        return usual

    def spend(self, steps: int = 1) -> None:
        """Report ``steps`` of work done; they count on every parent too.

        A budget of time is used by time passing, whatever is reported.
        """
        if type(steps) is not int or steps < 0:
            steps = whole_number("steps", steps, minimum=0, remedy="work cannot be undone")
        budget: Budget | None = self
        while budget is not None:
            budget.steps += steps
            budget = budget._parent

    def spends(self, steps: int) -> bool:
        """Report work done, as ``spend`` does, and return whether the budget is spent: for work in short slices.

        Args:
            steps: 0 or more, which is not checked.
        """
        self.spend(steps)
        return self.is_spent

    def part(self, amount: float) -> Budget:
        """Return a share of this budget, never larger than what is left of it.

        Args:
            amount: µs or steps, 0 or more; a share of steps is rounded up to
                whole steps; ``inf`` for all there is.

        Raises:
            ValueError: if ``amount`` is negative or NaN.
        """
        if type(amount) is not float or not amount >= 0:
            amount = inf if amount == inf else finite_number("amount", amount, minimum=0)
        return self._part(amount)

    @abstractmethod
    def _part(self, amount: float) -> Budget: ...


class _TimeBudget(Budget):
    """Time that passes; made for every frame and slice, so it has no ``__init__``, as ``_StepBudget``."""

    __slots__ = ("_started_ns", "_watch", "deadline_ns")

    charges_runs = False
    grants: list[tuple[int, int] | None] | None = None
    """Where a recording keeps the answers it gives."""

    deadline_ns: int
    _started_ns: int
    _watch: Stopwatch

    def spend(self, steps: int = 1) -> None:
        if self._parent is None and type(steps) is int and steps >= 0:
            self.steps += steps
        else:
            super().spend(steps)

    def spends(self, steps: int) -> bool:
        if self._parent is None:
            self.steps += steps
        else:
            super().spend(steps)
        return self._watch() >= self.deadline_ns

    @property
    def is_spent(self) -> bool:
        return self._watch() >= self.deadline_ns

    @property
    def left(self) -> float:
        return max(0, self.deadline_ns - self._watch()) / 1000

    @property
    def used(self) -> float:
        return (self._watch() - self._started_ns) / 1000

    @property
    def over(self) -> float:
        over_ns = self._watch() - self.deadline_ns
        return over_ns / 1000 if over_ns > 0 else 0.0

    def _part(self, amount: float) -> Budget:
        started_ns = self._watch()
        deadline_ns = self.deadline_ns
        if amount * 1000 < deadline_ns - started_ns:
            deadline_ns = started_ns + round(amount * 1000)
        part = _TimeBudget()
        part._begin(self, started_ns, deadline_ns)
        return part

    def _part_since(self, begun_ns: int, granted_ns: float) -> _TimeBudget:
        """Return a part that began a while ago; that it is no longer than this is not checked."""
        part = _TimeBudget()
        part._begin(self, begun_ns, begun_ns + round(granted_ns))
        return part

    def _begin(self, parent: _TimeBudget, started_ns: int, deadline_ns: int) -> None:
        self.stopwatch = self._watch = parent._watch
        self.steps, self._parent = 0, parent
        self._started_ns, self.deadline_ns = started_ns, deadline_ns


class _StepBudget(Budget):
    """Steps that are part of nothing: made for every slice of some work, by ``of_steps`` alone, so all of it is short.

    It has no ``__init__``: that would take a third of a slice.
    """

    __slots__ = ("_allowed",)

    stopwatch = None
    _parent = None
    _allowed: int

    def steps_at_once(self, usual: int) -> int:
        left = self._allowed - self.steps
        return MOST_AT_ONCE if left > MOST_AT_ONCE else left if left > 1 else 1

    def spend(self, steps: int = 1) -> None:
        if type(steps) is int and steps >= 0:
            self.steps += steps
        else:
            super().spend(steps)

    def spends(self, steps: int) -> bool:
        self.steps += steps
        return self.steps >= self._allowed

    @property
    def is_spent(self) -> bool:
        return self.steps >= self._allowed

    @property
    def left(self) -> float:
        return max(0, self._allowed - self.steps)

    @property
    def used(self) -> float:
        return self.steps

    @property
    def over(self) -> float:
        return max(0, self.steps - self._allowed)

    def _part(self, amount: float) -> Budget:
        left = self.left
        return _StepPart(int(left if amount >= left else math.ceil(amount)), self)


class _StepPart(Budget):
    """Steps of a whole, never more than what is left of it, so only others can spend it early."""

    __slots__ = ("_allowed", "_others", "_root", "_whole")

    stopwatch = None

    def __init__(self, allowed: int, whole: Budget) -> None:
        self.steps, self._parent, self._whole, self._allowed = 0, whole, whole, allowed
        root = whole
        while root._parent is not None:
            root = root._parent
        self._root = root
        self._others = root.steps  # what others have spent, on any part of the whole

    def steps_at_once(self, usual: int) -> int:
        left = int(self.left)
        return MOST_AT_ONCE if left > MOST_AT_ONCE else left if left > 1 else 1

    @property
    def is_spent(self) -> bool:
        if self.steps >= self._allowed:
            return True
        return self._root.steps - self.steps != self._others and self._whole.is_spent

    @property
    def left(self) -> float:
        own = max(0, self._allowed - self.steps)
        return own if self._root.steps - self.steps == self._others else min(own, self._whole.left)

    @property
    def used(self) -> float:
        return self.steps

    @property
    def over(self) -> float:
        return max(0, self.steps - self._allowed, self._whole.over)

    def _part(self, amount: float) -> Budget:
        left = self.left
        return _StepPart(int(left if amount >= left else math.ceil(amount)), self)


class _UnlimitedBudget(Budget):
    """Never spent; made for every frame, so it has no ``__init__``, as ``_StepBudget``."""

    __slots__ = ()

    is_unlimited = True
    charges_runs = False

    def steps_at_once(self, usual: int) -> int:
        return MOST_AT_ONCE

    @property
    def is_spent(self) -> bool:
        return False

    @property
    def left(self) -> float:
        return inf

    @property
    def used(self) -> float:
        return self.steps

    @property
    def over(self) -> float:
        return 0

    def _part(self, amount: float) -> Budget:
        if amount == inf:
            budget = _UnlimitedBudget()
            budget.stopwatch, budget.steps, budget._parent = None, 0, self
            return budget
        return _StepPart(math.ceil(amount), self)


def check_budget(budget: object) -> None:
    """Raise TypeError for what is no budget; whoever is advanced asks at the call."""
    if not isinstance(budget, Budget):
        raise TypeError(f"budget must be a Budget, got {shown(budget)}; use Budget.unlimited() for no limit")
