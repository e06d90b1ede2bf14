"""Budgets: how much work may still be done in this frame.

Use ``Budget.of_time`` in a game, ``Budget.of_steps`` in tests and replays (the
same result on every machine), and ``Budget.unlimited`` where no limit applies.
Work reads ``is_spent`` at each point where it may pause.
"""
from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from math import inf
from typing import ClassVar

from ai_core.errors import finite_number, shown, whole_number

__all__ = ["Budget", "Stopwatch", "check_budget", "time_budget"]

Stopwatch = Callable[[], int]
"""A function that returns monotonic nanoseconds, for example ``time.perf_counter_ns``."""

MOST_AT_ONCE = 1 << 30
"""Largest result of ``steps_at_once`` (count): more does not fit the integers of kernels on every machine."""


NOTHING_OR_NO_LIMIT = "use 0 to allow nothing, Budget.unlimited() for no limit"

MOST_US = 1e15
"""Longest budget of time (µs): 31 years, whose nanoseconds fit the 64 bits of kernels with room to spare."""

MOST_STEPS = 1 << 53
"""Largest budget of steps (count): above it ``left``, which may be a float, would not be exact."""


class Budget:
    """An allowance of time (µs) or of steps that work uses up.

    Attributes:
        stopwatch: the function that measures time, or None when steps are counted.
        steps: steps reported through ``spend`` so far, including those of parts.
        is_unlimited: True if the budget is never spent, so that no check is needed.
        charges_runs: True if a run that reports no steps is charged one step, so
            that no run is free where steps are counted.
        deadline_ns: stopwatch reading at which the budget is spent (ns), or None
            if time does not decide.
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

        Args:
            us: 0 or more (µs).
            stopwatch: returns monotonic nanoseconds as int, like ``time.perf_counter_ns``.

        Raises:
            ValueError: if ``us`` is negative, NaN, or more than ``MOST_US``.
            TypeError: if the stopwatch is not callable or does not return an int.
        """
        if type(us) is not float or not 0 <= us <= MOST_US:
            us = finite_number("us", us, minimum=0, maximum=MOST_US, remedy=NOTHING_OR_NO_LIMIT)
        try:  # callable() is tested only after a failed call
            started_ns = stopwatch()
        except TypeError:
            if callable(stopwatch):
                raise
            raise TypeError(f"stopwatch must be a callable, got {shown(stopwatch)}") from None
        if type(started_ns) is not int and not isinstance(started_ns, int):  # in seconds it would never be spent
            raise TypeError(
                f"stopwatch must return nanoseconds as int, got {shown(started_ns)};"
                " use time.perf_counter_ns"
            )
        return time_budget(started_ns, round(us * 1000), stopwatch)

    @staticmethod
    def of_steps(n: int) -> Budget:
        """Return a budget of ``n`` steps, as counted by ``spend``.

        Raises:
            TypeError: if ``n`` is not an integer.
            ValueError: if ``n`` is negative or more than ``MOST_STEPS``.
        """
        if type(n) is not int or not 0 <= n <= MOST_STEPS:
            n = whole_number("n", n, minimum=0, maximum=MOST_STEPS, remedy=NOTHING_OR_NO_LIMIT)
        budget = _StepBudget()
        budget.steps, budget._allowed = 0, n
        return budget

    @staticmethod
    def unlimited() -> Budget:
        """Return a budget that is never spent but still counts steps."""
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
        """The amount left: µs or steps, 0 or more, ``inf`` if unlimited."""

    @property
    def used(self) -> float:
        """The amount used since the budget was made: µs or steps."""
        return self.steps

    @property
    @abstractmethod
    def over(self) -> float:
        """The overrun, the amount used above the allowance: µs or steps, 0 or more."""

    def __repr__(self) -> str:
        unit = "µs" if self.stopwatch is not None else "steps"
        return f"<{type(self).__name__.strip('_')} {self.peek():g} {unit} left, {self.steps} steps reported>"

    def peek(self) -> float:
        """Return ``left`` for a report; a recording does not store it, so no decision may depend on it."""
        return self.left

    def steps_at_once(self, usual: int) -> int:
        """Return the number of steps to do before the next check, at least 1.

        A budget of steps returns all steps left (at most ``MOST_AT_ONCE``), an unlimited
        budget ``MOST_AT_ONCE``, a budget of time ``usual``.

        Args:
            usual: steps per check of a budget of time, also of a recorded one, so that
                a replay checks as often as the recorded run.
        """
        return usual

    def spend(self, steps: int = 1) -> None:
        """Report ``steps`` of work done; every parent counts them too.

        A budget of time is used up by time only; reported steps do not change it.
        """
        if type(steps) is not int or steps < 0:
            steps = whole_number("steps", steps, minimum=0, remedy="work cannot be undone")
        budget: Budget | None = self
        while budget is not None:
            budget.steps += steps
            budget = budget._parent

    def spends(self, steps: int) -> bool:
        """Report work done, like ``spend``, and return whether the budget is spent; for work in short slices.

        Args:
            steps: 0 or more; not checked.
        """
        self.spend(steps)
        return self.is_spent

    def has_room(self, us: float) -> bool:
        """Return whether a piece of work fits into the rest; if not, the budget is spent from now on.

        Args:
            us: how long the piece takes until it looks at the budget (µs). Where time does not decide, any piece
                fits until the budget is spent.
        """
        return not self.is_spent

    def part(self, amount: float) -> Budget:
        """Return a share of this budget, never larger than ``left``.

        Args:
            amount: µs or steps, 0 or more; steps are rounded up to an integer;
                ``inf`` for all that is left.

        Raises:
            ValueError: if ``amount`` is negative or NaN.
        """
        if type(amount) is not float or not amount >= 0:
            amount = inf if amount == inf else finite_number("amount", amount, minimum=0)
        return self._part(amount)

    def part_of_at_least(self, least_us: float, amount: float = inf) -> Budget:
        """Return a share as ``part`` does; one of time is ``least_us`` long at least, even if this budget ends before.

        For a service that always does some of its work, so that small budgets do not starve it.

        Args:
            least_us: 0 or more (µs); a budget of steps ignores it.
            amount: as in ``part``.
        """
        return self.part(amount)

    def _part(self, amount: float) -> Budget:
        left = self.left
        return _StepPart(int(left if amount >= left else math.ceil(amount)), self)


class _TimeBudget(Budget):
    """A budget of time; made for every frame and slice, so it has no ``__init__``, like ``_StepBudget``."""

    __slots__ = ("_started_ns", "_watch", "deadline_ns")

    charges_runs = False
    grants: list[tuple[int, int] | None] | None = None
    """The list in which a recording stores the results."""

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

    def has_room(self, us: float) -> bool:
        now_ns = self._watch()
        if self.deadline_ns - now_ns > us * 1000:
            return True
        self.deadline_ns = min(self.deadline_ns, now_ns)    # as it is in a replay
        return False

    def _part(self, amount: float) -> Budget:
        started_ns = self._watch()
        deadline_ns = self.deadline_ns
        if amount * 1000 < deadline_ns - started_ns:
            deadline_ns = started_ns + round(amount * 1000)
        part = _TimeBudget()
        part._begin(self, started_ns, deadline_ns)
        return part

    def part_of_at_least(self, least_us: float, amount: float = inf) -> Budget:
        now_ns = self._watch()
        return self._part_since(now_ns, max(least_us * 1000, min(amount * 1000, self.deadline_ns - now_ns)))

    def _part_since(self, begun_ns: int, granted_ns: float) -> _TimeBudget:
        """Return a part that began earlier; its length is not checked against this budget."""
        part = _TimeBudget()
        part._begin(self, begun_ns, begun_ns + round(granted_ns))
        return part

    def _begin(self, parent: _TimeBudget, started_ns: int, deadline_ns: int) -> None:
        self.stopwatch = self._watch = parent._watch
        self.steps, self._parent = 0, parent
        self._started_ns, self.deadline_ns = started_ns, deadline_ns


def time_budget(started_ns: int, granted_ns: int, stopwatch: Stopwatch) -> Budget:
    """Return a budget of time that began at a reading of its stopwatch, as ``Budget.of_time`` does; checks nothing."""
    budget = _TimeBudget()
    budget.stopwatch = budget._watch = stopwatch
    budget.steps, budget._parent = 0, None
    budget._started_ns, budget.deadline_ns = started_ns, started_ns + granted_ns
    return budget


class _StepBudget(Budget):
    """A budget of steps without a parent; ``of_steps`` makes it for every slice of some work, so it is short.

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
    def over(self) -> float:
        return max(0, self.steps - self._allowed)


class _StepPart(Budget):
    """A share of a budget of steps, at most what is left of it; only other parts can use it up early."""

    __slots__ = ("_allowed", "_others", "_root", "_whole")

    stopwatch = None

    def __init__(self, allowed: int, whole: Budget) -> None:
        self.steps, self._parent, self._whole, self._allowed = 0, whole, whole, allowed
        root = whole
        while root._parent is not None:
            root = root._parent
        self._root = root
        self._others = root.steps  # steps spent by other parts of the whole

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
    def over(self) -> float:
        return max(0, self.steps - self._allowed, self._whole.over)


class _UnlimitedBudget(Budget):
    """A budget without a limit; made for every frame, so it has no ``__init__``, like ``_StepBudget``."""

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
    def over(self) -> float:
        return 0

    def _part(self, amount: float) -> Budget:
        if amount == inf:
            budget = _UnlimitedBudget()
            budget.stopwatch, budget.steps, budget._parent = None, 0, self
            return budget
        return super()._part(amount)


def check_budget(budget: object) -> None:
    """Raise TypeError if ``budget`` is not a Budget; every ``advance`` calls this first."""
    if not isinstance(budget, Budget):
        raise TypeError(f"budget must be a Budget, got {shown(budget)}; use Budget.unlimited() for no limit")
