"""How much sooner than the end of a budget to stop, learned from how far frames went beyond it.

Whoever stops when a budget is spent has gone beyond it: by the piece of work that was running, and
by what is to be done after it. So it is stopped sooner by about as much as that came to lately.

Rejected: the mean of the next piece of work as the margin. It knows nothing of what comes after
the last one, and where pieces differ much it is wrong for all of them.

A recording need not know it: what the margin decides is who waits, and that is an answer of the
budget, which is kept.

Rejected: saving it. It says how this machine does, and only budgets of time ask for it.
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
        ns: what is left of a budget when the rest is to wait (ns).
    """

    def __init__(self) -> None:
        self.ns = 0

    def learn(self, over_ns: int, budget_ns: int) -> None:
        """Take note of how a frame went.

        Args:
            over_ns: how far beyond its budget it ended; negative if it kept to it.
            budget_ns: what it was given; what one frame adds is limited by it, so that a frame in
                which the system ran something else counts little. From a frame whose budget was
                spent before it began, 0 or less, nothing is learned.
        """
        if budget_ns <= 0:
            return
        if over_ns > 0:
            most = budget_ns // MOST_OF_BUDGET
            self.ns = min(self.ns + min(over_ns, most) // STEP, most)
        else:
            self.ns -= self.ns // FADING
