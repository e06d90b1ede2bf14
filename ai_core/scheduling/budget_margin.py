"""How much before the end of a budget to stop, learned from the overruns of earlier frames.

A scheduler that stops only once the budget is spent has already exceeded it: by the piece of
work in progress, and by its own bookkeeping after it. So it stops earlier, by about the recent
overrun.

Rejected: the mean of the next piece of work as the margin. It ignores the time after
the last one, and where pieces differ much it is wrong for all of them.

A recording need not contain it: the margin decides which work waits, and that is an answer of
the budget, which is recorded.

Rejected: saving it. It describes this machine, and only budgets of time use it.
"""
from __future__ import annotations

__all__ = ["BudgetMargin"]

MOST_OF_BUDGET = 8
"""The margin is at most this part of the budget (1 / it). More would leave the work too little
where single pieces take longer than that, and no margin helps."""

STEP = 4
"""Grows by this part (1 / it) of what a frame went too far. Larger steps follow single spikes."""

FADING = 64
"""Shrinks by this part (1 / it) with each frame that kept to its budget: half in 44 frames.

With the step above it settles where a frame in four goes too far, by an eighth of a piece of work.
"""


class BudgetMargin:
    """The margin of one scheduler.

    Attributes:
        ns: remaining budget at which the rest of the work waits (ns).
    """

    def __init__(self) -> None:
        self.ns = 0

    def learn(self, over_ns: int, budget_ns: int) -> None:
        """Update the margin with the overrun of a frame.

        Args:
            over_ns: how far the frame exceeded its budget; negative if it kept to it.
            budget_ns: its budget; it limits the influence of one frame, so that a frame in
                which the system ran something else counts little. A frame whose budget was
                spent before it began, 0 or less, is ignored.
        """
        if budget_ns <= 0:
            return
        if over_ns > 0:
            most = budget_ns // MOST_OF_BUDGET
            self.ns = min(self.ns + min(over_ns, most) // STEP, most)
        else:
            self.ns -= self.ns // FADING
