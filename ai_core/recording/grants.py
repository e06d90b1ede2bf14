"""Steps granted: how a frame that ran against time runs again without it.

Under a budget of time the machine decides where work pauses. It shows in the
answers the work gets from its budgets, and nowhere else: so those are noted,
and given again in a replay.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ai_core.budget import Budget, _TimeBudget
from ai_core.errors import shown, whole_number

__all__ = ["Grant", "GrantedBudget", "WatchedBudget"]


class Grant(NamedTuple):
    """When work was first told that its budget is spent.

    Attributes:
        steps: how many steps the budget had been charged with by then.
        asks: how often it had been asked before since the last of them.
    """

    steps: int
    asks: int


class WatchedBudget(_TimeBudget):
    """As much time as another budget has left, and when it was first said to be spent.

    It reads the stopwatch itself and asks nobody: it is asked several times
    for each piece of work.

    Args:
        inner: the budget of time that decides.
        grants: gets an entry for it, and for each of its parts, when it is
            asked for the first time: steps and asks as in ``Grant``, None for
            one that was never spent. What nobody asks has none.
    """

    __slots__ = ("_asks", "_number", "grants")

    grants: list[tuple[int, int] | None]
    _parent: WatchedBudget | None

    def __init__(self, inner: Budget, grants: list[tuple[int, int] | None]) -> None:
        if not isinstance(inner, _TimeBudget):
            raise TypeError(f"inner must be a budget of time, got {shown(inner)}; steps replay as they are")
        self._begin(inner, inner._watch(), inner.deadline_ns)
        self._parent = None
        self._begin_notes(grants)

    def _begin_notes(self, grants: list[tuple[int, int] | None]) -> None:
        self.grants = grants
        self._asks, self._number = 0, -1

    @property
    def is_spent(self) -> bool:
        """True from the deadline on, noted."""
        self._asks += 1
        if self._watch() < self.deadline_ns and self._number >= 0:
            return False
        return self._noted() <= 0

    @property
    def left(self) -> float:
        """Time left (µs), noted when there is none."""
        self._asks += 1
        return max(0, self._noted()) / 1000

    def spend(self, steps: int = 1) -> None:
        """Report ``steps`` of work done; they count on the budgets that it is part of, too."""
        if type(steps) is not int or steps < 0:
            steps = whole_number("steps", steps, minimum=0, remedy="work cannot be undone")
        # Here are only watched budgets: with others among them, the loop takes twice as long.
        budget: WatchedBudget | None = self if steps else None
        while budget is not None:
            budget.steps += steps
            budget._asks = 0
            budget = budget._parent

    spends = Budget.spends  # each question is noted

    def peek(self) -> float:
        """Return the time left (µs), and note nothing."""
        return max(0, self.deadline_ns - self._watch()) / 1000

    def _noted(self) -> int:
        """Return the time left (ns), as an answer."""
        left_ns = self.deadline_ns - self._watch()
        if self._number < 0:
            self._number = len(self.grants)
            self.grants.append(None)
        if left_ns <= 0 and self.grants[self._number] is None:
            self.grants[self._number] = (self.steps, self._asks - 1)
        return left_ns

    def _part(self, amount: float) -> WatchedBudget:
        now_ns = self._watch()
        left_ns = self.deadline_ns - now_ns
        return self._part_since(now_ns, amount * 1000 if amount * 1000 < left_ns else left_ns)

    def _part_since(self, begun_ns: int, granted_ns: float) -> WatchedBudget:
        part = WatchedBudget.__new__(WatchedBudget)
        part._begin(self, begun_ns, begun_ns + round(granted_ns))
        part._begin_notes(self.grants)
        return part


class GrantedBudget(Budget):
    """Is spent where a watched one was: at the same step, at the same question.

    It takes the next grant when it is first asked, whatever amount it is of.
    Beyond the recorded ones it is spent from the start; the replay has
    differed by then.

    Args:
        grants: as a watched budget noted them.
    """

    __slots__ = ("_asks", "_at_steps", "_grant", "_grants")

    charges_runs = False  # as the watched one

    def __init__(
        self, grants: Iterable[tuple[int, int] | None], parent: GrantedBudget | None = None
    ) -> None:
        self.stopwatch, self.steps, self._parent = None, 0, parent
        self._grants: Iterator[tuple[int, int] | None] = iter(grants)
        self._grant: Grant | None = None
        self._asks, self._at_steps = 0, -1

    @property
    def is_spent(self) -> bool:
        """True from the step, and the question, that was noted."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """Steps still granted; ``inf`` for what was never spent."""
        if self._at_steps < 0:
            grant = next(self._grants, (0, 0))
            self._grant = None if grant is None else Grant(*grant)
        if self.steps == self._at_steps:
            self._asks += 1
        else:
            self._at_steps, self._asks = self.steps, 0
        if self._grant is None:
            return math.inf
        if (self.steps, self._asks) >= self._grant:
            return 0
        return max(1, self._grant.steps - self.steps)

    def peek(self) -> float:
        """Return ``inf``: what was left cannot be known without asking."""
        return math.inf

    @property
    def used(self) -> float:
        """Steps so far."""
        return self.steps

    @property
    def over(self) -> float:
        """Nothing: how far time went over says nothing about steps."""
        return 0

    def _part(self, amount: float) -> Budget:
        return GrantedBudget(self._grants, self)
