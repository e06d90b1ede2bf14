"""Two kinds of work that share budgets so that neither starves: signals, and what is sensed continuously."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, Whole

__all__ = ["NEVER_CUT", "Stage", "StageShares"]

NEVER_CUT = 1 << 30
"""Advances that count as for ever (count)."""

Stage = Callable[[Budget, float], bool]
"""A stage of work at a game time (s); returns False if the budget ended before the stage did."""


class StageShares(Saveable):
    """Runs two kinds of stages; each gets half of a budget when both have work, and what the other leaves.

    The stages of a kind take turns: one that was interrupted continues before the next begins. Each stage
    runs at most once in an advance. Where the kind that comes first spends the budget, the other comes first in the
    next advance.

    Args:
        kinds: stages of both kinds, in order; the first kind comes first unless work of the other is left.

    Attributes:
        uncut: advances since each kind was interrupted last, at most ``NEVER_CUT`` (count).

    Cost: O(stages) and what they do.
    """

    STATE = DeclaredState(
        first=Whole(maximum=1),
        uncut=ListOf(Whole(maximum=NEVER_CUT), count=2),
        following=ListOf(Whole(maximum=lambda owner: max(map(len, owner.kinds)) - 1), count=2),
    )

    def __init__(self, *kinds: Sequence[Stage]) -> None:
        self.kinds = kinds
        self.first = 0
        self.following = [0, 0]      # of each kind, the stage that runs next
        self.uncut = [NEVER_CUT, NEVER_CUT]

    def advance(self, budget: Budget, now_s: float, *, is_shared: bool) -> None:
        """Run both kinds, each as far as its share goes; if not ``is_shared``, the first has no work and is skipped."""
        if not is_shared:
            uncut = self.uncut
            is_done = self._run(1, [0, len(self.kinds[1])], budget, now_s)
            uncut[0] += uncut[0] < NEVER_CUT
            uncut[1] = uncut[1] + (uncut[1] < NEVER_CUT) if is_done else 0
            self.first = 0 if is_done else 1
            return
        first, other = self.first, 1 - self.first
        left = [len(kind) for kind in self.kinds]
        share = budget if budget.is_unlimited else budget.part(budget.left / 2)
        is_done = self._run(first, left, share, now_s)
        # A stage does some of its work however little is left: both in one advance would be one long piece.
        is_other_done = not budget.is_spent and self._run(other, left, budget, now_s)
        if not is_done and not budget.is_spent:
            is_done = self._run(first, left, budget, now_s)
        self._note(first, is_done)
        self._note(other, is_other_done)
        if is_done:
            self.first = 0 if is_other_done else other
        elif not is_other_done:
            self.first = other

    def note_skipped(self) -> None:
        """Note an advance in which no stage ran, although there was work."""
        self.uncut = [0, 0]

    def _note(self, kind: int, was_done: bool) -> None:
        self.uncut[kind] = min(NEVER_CUT, self.uncut[kind] + 1) if was_done else 0

    def _run(self, kind: int, left: list[int], budget: Budget, now_s: float) -> bool:
        """Run the stages of a kind that are left in this advance; return whether all of them ended."""
        stages = self.kinds[kind]
        while left[kind]:
            if not stages[self.following[kind]](budget, now_s):
                return False
            left[kind] -= 1
            self.following[kind] = (self.following[kind] + 1) % len(stages)
        return True

    def _finish_load(self) -> None:
        self.following = [one % len(kind) for one, kind in zip(self.following, self.kinds, strict=True)]
