"""Steps granted: how a frame that ran against time runs again without it.

Under a budget of time the machine decides where work pauses. It shows in the
answers the work gets from its budgets, and nowhere else: so those are noted,
and given again in a replay.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ai_core.budget import Budget, Stopwatch
from ai_core.errors import shown

__all__ = ["Grant", "GrantedBudget", "WatchedBudget"]


class Grant(NamedTuple):
    """When work was first told that its budget is spent.

    Attributes:
        steps: how many steps the budget had been charged with by then.
        asks: how often it had been asked before since the last of them.
    """

    steps: int
    asks: int


class WatchedBudget(Budget):
    """As much time as another budget has left, and when it was first said to be spent.

    It reads the stopwatch itself and asks nobody: it is asked several times
    for each piece of work.

    Args:
        inner: the budget of time that decides; steps are reported to it.
        grants: gets an entry for it, and one for each part, in the order in
            which they are made: steps and asks as in ``Grant``, None for one
            that was never spent.
    """

    __slots__ = (
        "_asks", "_at_steps", "_deadline_ns", "_grants", "_is_noted", "_number", "_started_ns", "_watch"
    )

    charges_runs = False  # as a budget of time

    def __init__(self, inner: Budget, grants: list[tuple[int, int] | None]) -> None:
        watch = inner.stopwatch
        if watch is None:
            raise TypeError(f"inner must be a budget of time, got {shown(inner)}; steps replay as they are")
        left_us = inner.left
        now_ns = watch()
        self._begin(inner, watch, now_ns, now_ns + round(left_us * 1000), grants)

    def _begin(
        self, parent: Budget, watch: Stopwatch, started_ns: int, deadline_ns: int,
        grants: list[tuple[int, int] | None],
    ) -> None:
        self.stopwatch = self._watch = watch
        self.steps = 0
        self._parent = parent
        self._started_ns = started_ns
        self._deadline_ns = deadline_ns
        self._grants = grants
        self._number = len(grants)
        grants.append(None)
        self._is_noted = False
        self._at_steps = -1
        self._asks = 0

    @property
    def is_spent(self) -> bool:
        """True from the deadline on, noted."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """Time left (µs), noted when there is none."""
        left_ns = self._deadline_ns - self._watch()
        if not self._is_noted:
            if self.steps == self._at_steps:
                self._asks += 1
            else:
                self._at_steps, self._asks = self.steps, 0
            if left_ns <= 0:
                self._grants[self._number] = (self.steps, self._asks)
                self._is_noted = True
        return left_ns / 1000 if left_ns > 0 else 0

    @property
    def used(self) -> float:
        """Time since it was made (µs)."""
        return (self._watch() - self._started_ns) / 1000

    @property
    def over(self) -> float:
        """Time beyond the deadline (µs)."""
        return max(0, self._watch() - self._deadline_ns) / 1000

    def _part(self, amount: float) -> Budget:
        part = WatchedBudget.__new__(WatchedBudget)
        now_ns, deadline_ns = self._watch(), self._deadline_ns
        if amount * 1000 < deadline_ns - now_ns:
            deadline_ns = now_ns + round(amount * 1000)
        part._begin(self, self._watch, now_ns, deadline_ns, self._grants)
        return part


class GrantedBudget(Budget):
    """Is spent where a watched one was: at the same step, at the same question.

    A part takes the next grant, whatever amount is asked for. A part beyond
    the recorded ones is spent from the start; the replay has differed by then.

    Args:
        grants: as a watched budget noted them.
    """

    __slots__ = ("_asks", "_at_steps", "_cursor", "_grant", "_grants")

    charges_runs = False  # as the watched one

    def __init__(
        self,
        grants: Sequence[tuple[int, int] | None],
        cursor: list[int] | None = None,
        parent: Budget | None = None,
    ) -> None:
        super().__init__(None, parent)
        self._grants = grants
        self._cursor = [0] if cursor is None else cursor
        number = self._cursor[0]
        self._cursor[0] = number + 1
        grant = grants[number] if number < len(grants) else (0, 0)
        self._grant = None if grant is None else Grant(*grant)
        self._at_steps = -1
        self._asks = 0

    @property
    def is_spent(self) -> bool:
        """True from the step, and the question, that was noted."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """Steps still granted; ``inf`` for what was never spent."""
        if self._grant is None:
            return math.inf
        if self.steps == self._at_steps:
            self._asks += 1
        else:
            self._at_steps, self._asks = self.steps, 0
        if (self.steps, self._asks) >= self._grant:
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
