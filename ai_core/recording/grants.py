"""Steps granted: how a frame that ran against time runs again without it.

Under a budget of time the machine decides where work pauses. It shows in the
answers the work gets from its budgets, and nowhere else: so those are noted,
and given again in a replay.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ai_core.budget import Budget

__all__ = ["Grant", "GrantedBudget", "WatchedBudget"]


class Grant(NamedTuple):
    """When work was first told that its budget is spent.

    Attributes:
        steps: how many steps the budget had been charged with by then.
        asks: how often it had been asked before since the last of them.
    """

    steps: int
    asks: int


class _Asked(Budget):
    """A budget that knows how often it was asked since its last step."""

    __slots__ = ("_asks", "_at_steps")

    def __init__(self, inner: Budget | None, parent: Budget | None) -> None:
        super().__init__(inner.stopwatch if inner is not None else None, parent)
        self._at_steps = -1
        self._asks = 0

    def _asks_before(self) -> int:
        if self.steps == self._at_steps:
            self._asks += 1
        else:
            self._at_steps, self._asks = self.steps, 0
        return self._asks


class WatchedBudget(_Asked):
    """Passes on a budget, and notes when it was first said to be spent.

    Args:
        inner: the budget that decides.
        grants: gets an entry for it, and one for each part, in the order in
            which they are made; None for one that was never spent.
    """

    __slots__ = ("_grants", "_inner", "_number")

    def __init__(
        self, inner: Budget, grants: list[Grant | None], parent: Budget | None = None
    ) -> None:
        super().__init__(inner, parent)
        self._inner = inner
        self._grants = grants
        self._number = len(grants)
        grants.append(None)

    @property
    def is_spent(self) -> bool:
        """As the budget that decides says, noted."""
        return self._note(self._inner.is_spent)

    @property
    def left(self) -> float:
        """As the budget that decides says, noted when it is nothing."""
        left = self._inner.left
        self._note(left <= 0)
        return left

    @property
    def used(self) -> float:
        """As the budget that decides says."""
        return self._inner.used

    @property
    def over(self) -> float:
        """As the budget that decides says."""
        return self._inner.over

    def spend(self, steps: int = 1) -> None:
        """Report steps done, here and on the budget that decides."""
        super().spend(steps)
        self._inner.spend(steps)

    def _note(self, is_spent: bool) -> bool:
        asks = self._asks_before()
        if is_spent and self._grants[self._number] is None:
            self._grants[self._number] = Grant(self.steps, asks)
        return is_spent

    def _part(self, amount: float) -> Budget:
        return WatchedBudget(self._inner.part(amount), self._grants, self)


class GrantedBudget(_Asked):
    """Is spent where a watched one was: at the same step, at the same question.

    A part takes the next grant, whatever amount is asked for. A part beyond
    the recorded ones is spent from the start; the replay has differed by then.

    Args:
        grants: as a watched budget noted them.
    """

    __slots__ = ("_cursor", "_grant", "_grants")

    def __init__(
        self,
        grants: Sequence[Grant | None],
        cursor: list[int] | None = None,
        parent: Budget | None = None,
    ) -> None:
        super().__init__(None, parent)
        self._grants = grants
        self._cursor = [0] if cursor is None else cursor
        number = self._cursor[0]
        self._cursor[0] = number + 1
        self._grant = grants[number] if number < len(grants) else Grant(0, 0)

    @property
    def is_spent(self) -> bool:
        """True from the step, and the question, that was noted."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """Steps still granted; ``inf`` for what was never spent."""
        asks = self._asks_before()
        if self._grant is None:
            return math.inf
        if (self.steps, asks) >= self._grant:
            return 0
        return max(1, self._grant.steps - self.steps)

    @property
    def used(self) -> float:
        """Steps so far."""
        return self.steps

    @property
    def over(self) -> float:
        """Nothing: how far time went over says nothing about steps."""
        return 0

    def _part(self, amount: float) -> Budget:
        return GrantedBudget(self._grants, self._cursor, self)
