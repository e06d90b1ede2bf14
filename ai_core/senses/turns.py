"""Turns: kinds of work that share a budget, of which none starves."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, Whole

__all__ = ["LEAST_US", "Stage", "Turns"]

LEAST_US = 50.0
"""Shortest time for the kind of work that comes first (µs), even if the budget ends before."""

PLANNED_US = 250.0
"""Longest time that a kind of work plans for its run (µs); longer runs overrun a small budget.

Without a plan, work that begins late in a small budget takes as much again; a longer plan would leave time unused of
which long work uses all.
"""

LAST_WEIGHT = 5
"""Shares that the last kind gets for each one of the others (count): what they find is noticed only when it has ended.

With fewer, a crowd notices late; with more, a budget that is too small leaves too little for the others.
"""

RUNS_LEARNED = 32
"""Runs after which a shorter time is believed (count), half a second of frames."""

Stage = Callable[[Budget, float], bool]
"""A stage of work at a game time (s); returns False if the budget ended before the stage did."""


class Turns(Saveable):
    """Runs kinds of work within a budget that may not suffice for all.

    Each kind gets a share of what is left, the last one ``LAST_WEIGHT`` times that of each other, and then what the
    others leave. Its stages run in order, each at most once in an advance; one that was interrupted continues before
    the next begins. Within a budget of time a kind begins only if what it took before, at most ``PLANNED_US``, is
    left. A kind for which there was no room comes first in the next advance, and the first kind always runs, so none
    starves. Otherwise the first two come first in turns while the budget does not suffice.

    Args:
        kinds: stages of each kind, in order.

    Attributes:
        first: the kind that comes first in the next advance.
        following: of each kind, the stage that runs next; 0 unless one was interrupted.
        is_interrupted: whether a kind had no room, or was interrupted between two stages.

    Cost: O(stages) and what they do.
    """

    STATE = DeclaredState(
        first=Whole(maximum=lambda owner: len(owner.kinds) - 1),
        following=ListOf(
            Whole(maximum=lambda owner: max(map(len, owner.kinds)) - 1), count=lambda owner: len(owner.kinds)))

    def __init__(self, *kinds: Sequence[Stage]) -> None:
        self.kinds = kinds
        self.first = 0
        self.following = [0] * len(kinds)
        self.is_interrupted = False
        self._weights = [1] * (len(kinds) - 1) + [LAST_WEIGHT]
        self._planned_us = [0.0] * len(kinds)

    def advance(self, budget: Budget, now_s: float, busy: Sequence[int]) -> list[int]:
        """Run the kinds that have work, by their numbers; return those that the budget ended, or had no room for."""
        order = sorted(busy, key=lambda kind: (kind - self.first) % len(self.kinds))
        left = [len(stages) for stages in self.kinds]
        refused: list[int] = []
        undone: list[int] = []
        for place, kind in enumerate(order):
            later = sum(self._weights[one] for one in order[place + 1 :])
            # A part is asked: where it has no room, the rest of the budget is left to others.
            part = budget.part(inf) if place else budget
            if place and not part.has_room(self._planned_us[kind]):
                refused.append(kind)
                continue
            if later or not place:
                share = budget.left * self._weights[kind] / (self._weights[kind] + later)
                part = budget.part(share) if place else budget.part_of_at_least(LEAST_US, share)
            if not self._run(kind, left, part, now_s):
                undone.append(kind)
        # Some work is done however little is left: both in one advance would be one long piece.
        for kind in () if refused else tuple(undone):
            if budget.is_spent:
                break
            if self._run(kind, left, budget.part(inf), now_s):
                undone.remove(kind)
        if refused:
            self.first = refused[0]
        else:
            self.first = 1 if undone and not order[0] else 0
        self.is_interrupted = bool(self.first or any(self.following))
        return refused + undone

    def owe(self, kind: int, long: int) -> None:
        """Let a kind come first in the next advance; plan more for another one, which spent the budget elsewhere."""
        self.first, self.is_interrupted = kind, True
        self._learn(long, PLANNED_US)

    def _run(self, kind: int, left: list[int], budget: Budget, now_s: float) -> bool:
        """Run the stages of a kind that are left in this advance; return whether all of them ended."""
        stages, following = self.kinds[kind], self.following
        while left[kind]:
            is_done = stages[following[kind]](budget, now_s)
            if not is_done:
                break
            left[kind] -= 1
            following[kind] = (following[kind] + 1) % len(stages)
        else:
            following[kind] = 0
        if not budget.charges_runs:
            self._learn(kind, budget.used)
        return not left[kind]

    def _learn(self, kind: int, took_us: float) -> None:
        """Note how long a run took: a longer one is soon believed, a shorter one slowly."""
        more_us = min(took_us, PLANNED_US) - self._planned_us[kind]
        self._planned_us[kind] += more_us / (2 if more_us > 0 else RUNS_LEARNED)

    def _finish_load(self) -> None:
        self.following = [one % len(stages) for one, stages in zip(self.following, self.kinds, strict=True)]
        self.is_interrupted = bool(self.first or any(self.following))
