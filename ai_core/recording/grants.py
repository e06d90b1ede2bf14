"""Grants: record where time budgets were spent, so that a replay pauses work at the same steps.

Under a time budget, the speed of the machine decides where work pauses. This affects only the values
that budgets return, so these are recorded and repeated in a replay.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ai_core.budget import Budget, _TimeBudget
from ai_core.errors import shown, whole_number

__all__ = ["Grant", "RecordingBudget", "ReplayBudget"]


class Grant(NamedTuple):
    """Point at which a budget first reported that it is spent.

    Attributes:
        steps: steps charged to the budget by then.
        asks: number of earlier queries of the budget since the last of these steps.
    """

    steps: int
    asks: int


class RecordingBudget(_TimeBudget):
    """Budget with the remaining time of another budget that records when it is first reported spent.

    ``grants`` receives an entry for this budget and for each of its parts at the first query: steps and asks
    as in ``Grant``, or None for a budget that is never spent.
    """

    __slots__ = ("_asks", "_number", "grants")

    grants: list[tuple[int, int] | None]
    _parent: RecordingBudget | None

    def __init__(self, inner: Budget, grants: list[tuple[int, int] | None]) -> None:
        if not isinstance(inner, _TimeBudget):
            raise TypeError(f"inner must be a time budget, got {shown(inner)}; budgets of steps need no recording")
        self._begin(inner, inner._watch(), inner.deadline_ns)
        self._parent = None
        self._begin_notes(grants)

    def _begin_notes(self, grants: list[tuple[int, int] | None]) -> None:
        self.grants = grants
        self._asks, self._number = 0, -1

    @property
    def is_spent(self) -> bool:
        """True from the deadline on; recorded."""
        self._asks += 1
        if self._watch() < self.deadline_ns and self._number >= 0:
            return False
        return self._noted() <= 0

    @property
    def left(self) -> float:
        """Remaining time (µs); recorded when it is 0."""
        self._asks += 1
        return max(0, self._noted()) / 1000

    def has_room(self, us: float) -> bool:
        """Return whether more than ``us`` is left; recorded when it is not, as the budget is spent from then on."""
        self._asks += 1
        left_ns = self._noted()
        if left_ns > us * 1000:
            return True
        if self.grants[self._number] is None:
            self.grants[self._number] = (self.steps, self._asks - 1)
        self.deadline_ns -= max(0, left_ns)
        return False

    def spend(self, steps: int = 1) -> None:
        """Charge ``steps`` of work; they also count for the budgets that contain this one."""
        if type(steps) is not int or steps < 0:
            steps = whole_number("steps", steps, minimum=0, remedy="steps cannot be taken back")
        # All parents are of this class: with other classes, the loop takes twice as long.
        budget: RecordingBudget | None = self if steps else None
        while budget is not None:
            budget.steps += steps
            budget._asks = 0
            budget = budget._parent

    spends = Budget.spends  # each query is recorded

    def peek(self) -> float:
        """Return the remaining time (µs) without recording the query."""
        return max(0, self.deadline_ns - self._watch()) / 1000

    def _noted(self) -> int:
        """Return the remaining time (ns) and record the query."""
        left_ns = self.deadline_ns - self._watch()
        if self._number < 0:
            self._number = len(self.grants)
            self.grants.append(None)
        if left_ns <= 0 and self.grants[self._number] is None:
            self.grants[self._number] = (self.steps, self._asks - 1)
        return left_ns

    def _part(self, amount: float) -> RecordingBudget:
        now_ns = self._watch()
        left_ns = self.deadline_ns - now_ns
        return self._part_since(now_ns, amount * 1000 if amount * 1000 < left_ns else left_ns)

    def _part_since(self, begun_ns: int, granted_ns: float) -> RecordingBudget:
        part = RecordingBudget.__new__(RecordingBudget)
        part._begin(self, begun_ns, begun_ns + round(granted_ns))
        part._begin_notes(self.grants)
        return part


class ReplayBudget(Budget):
    """Budget of a replay: spent at the same step and query as the recorded budget.

    It takes the next grant at its first query, for any amount. When no grant is left it is spent from
    the start; the replay already differs by then.
    """

    __slots__ = ("_asks", "_at_steps", "_grant", "_grants")

    charges_runs = False  # as the recorded budget

    def __init__(
        self, grants: Iterable[tuple[int, int] | None], parent: ReplayBudget | None = None
    ) -> None:
        self.stopwatch, self.steps, self._parent = None, 0, parent
        self._grants: Iterator[tuple[int, int] | None] = iter(grants)
        self._grant: Grant | None = None
        self._asks, self._at_steps = 0, -1

    @property
    def is_spent(self) -> bool:
        """True from the recorded step and query on."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """Steps still granted; ``inf`` for a budget that was never spent."""
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
        """Return ``inf``: the remaining amount is unknown without a recorded query."""
        return math.inf

    @property
    def over(self) -> float:
        """0: an overrun of time has no equivalent in steps."""
        return 0

    def _part(self, amount: float) -> Budget:
        return ReplayBudget(self._grants, self)
