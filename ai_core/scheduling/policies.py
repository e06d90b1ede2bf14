"""How a scheduler shares its budget: the policies, the bias learned from overruns, and the margin before the end."""
from __future__ import annotations

from enum import Enum

from ai_core.described import Described

__all__ = ["BudgetMargin", "Policy", "learned_bias"]


class Policy(Enum):
    """Which due tasks of a ``Scheduler`` run in a frame, and with how much of its budget.

    All policies but ``FREQUENCY`` share out the budget: a task receives ``left * priority / remaining
    priority``. So the whole budget is given out, whatever the number of tasks; what a task leaves goes to
    those after it, and they pay for its overrun.

    Source: 000_execution_management. Its listings take the remainder of the wrong number (direct access), run
    due work when no time is left (load balancing), and divide by the priority of all tasks, which leaves a
    third of the time unused (priority); these are corrected here. Claims and bounds of requested time are ours.
    """

    FREQUENCY = "frequency"
    """Every due task, exactly on its frame, drawing on the whole budget. Work that can pause does so when it is spent,
    but no task is delayed: for work that is short or must not be late."""

    LOAD_BALANCING = "load_balancing"
    """No task starts once the budget is spent; the rest waits for the next frame. Waiting tasks go first, by waiting
    time, ties by smallest id. A task that falls due again while it waits still runs once. One task runs in every
    frame, even with no budget at all: so with n tasks none waits longer than n - 1 frames, and the overrun is at most
    the one task that was running when the budget ended. So many new tasks make no spike."""

    PRIORITY = "priority"
    """Every due task, the highest priority first. Nothing waits: work is expected to pause when its share is spent,
    and receives no budget once nothing is left. With a period of 1, tasks run in every frame: for work that never
    ends."""

    REQUESTED_TIME = "requested_time"
    """Tasks sorted by ``claim = priority * (1 + frames waited)``, the largest first, ties by smallest id. The first
    always runs, with its request or all there is. Each task after it runs if its request is still available; else
    it waits, and later tasks that fit may overtake it. Tasks without a request receive a share of the rest."""


LEAST_BIAS, LARGEST_BIAS = 0.5, 2.0
"""Smallest and largest bias (no unit).

With a wider range priorities would matter less: within this one a share already changes fourfold.
"""

MEMORY_RUNS = 8.0
"""How slowly a bias adapts (runs): after this many it has covered 2/3 of the difference.

With fewer, one expensive frame lowers the share of a task; with more, a task that was
fixed keeps a small share for seconds.
"""


def learned_bias(bias: float, granted: float, used: float) -> float:
    """Return a task's bias after a run: the factor of its priority, by how well its runs keep to their shares.

    After each run, with ``fit = granted / used`` limited to 0.5 .. 2::

        bias += (fit - bias) / 8

    The bias of a task starts at 1, is 1 for work that uses what it is granted, falls towards
    0.5 for work that overruns, rises towards 2 for work that leaves time over.
    A run with no grant, or without limit, is ignored.

    Args:
        bias: before the run.
        granted: budget of the run (µs or steps).
        used: amount that it used.

    Source: 000_execution_management, other policies; the formula is ours.
    """
    if not 0 < granted < float("inf"):
        return bias
    fit = LARGEST_BIAS if used * LARGEST_BIAS <= granted else max(LEAST_BIAS, granted / used)
    bias += (fit - bias) / MEMORY_RUNS
    return min(max(bias, LEAST_BIAS), LARGEST_BIAS)  # rounding may not leave them


MOST_OF_BUDGET = 2
"""The margin is at most this part of the budget (1 / it): with a larger one most of the budget would be left unused."""

RISE, MOST_RISE_NS = 12, 50_000
"""Grows by the overrun of a frame, at most by this part of the budget (1 / it), and by this (ns), as pieces of work are
as long in any budget. With larger steps a single spike costs more of the next frames, and the hiccups of a busy system
take a large budget; with smaller ones more frames exceed the budget until the margin is learned."""

FADING = 1024
"""Shrinks by this part of itself (1 / it) with each frame that ended in time: half in 710 frames. The 99th frame of 100
then takes 0.99 to 1.03 of the budget, for work whose 99th percentile is 1.1 to 1.5 times the median (simulated)."""


class BudgetMargin(Described):
    """How much before the end of a budget of time tasks wait, learned from the overruns of earlier frames.

    A scheduler that stops only once the budget is spent has already exceeded it: by the piece of
    work in progress, by what the processor's caches do not hold, and by its own bookkeeping after it.
    So it stops earlier, by as much as holds all but one frame in a hundred to the budget.

    Rejected: a margin as large as the usual overrun, at most a seventh of the budget: one frame in eight
    exceeded the budget. The mean of the next piece of work as the margin: it ignores the time after
    the last one, and where pieces differ much it is wrong for all of them. Frames with a piece of work above half of
    the budget as no lesson: with a budget of 500 µs, whose pieces are 100 to 400 µs, they are most of what exceeds it.

    A recording need not contain it: the margin decides which work waits, and that is an answer of
    the budget, which is recorded. It describes this machine, so it is not saved.

    Attributes:
        ns: remaining budget at which the rest of the work waits (ns).
    """

    SHOWN = ("ns",)

    def __init__(self) -> None:
        self.ns = 0

    def learn(self, over_ns: int, budget_ns: int, is_full: bool = True) -> None:
        """Update the margin after a frame.

        Args:
            over_ns: how far the frame exceeded its budget; negative if it kept to it. A frame that exceeded it by
                more than any margin is ignored.
            budget_ns: its budget. A frame whose budget was spent before it began, 0 or less, is ignored.
            is_full: whether work waits. A frame that had time for all work, and to spare, is ignored.
        """
        most_ns = budget_ns // MOST_OF_BUDGET
        if budget_ns <= 0 or over_ns > most_ns:
            return
        if over_ns > 0:
            self.ns = min(self.ns + min(over_ns, budget_ns // RISE, MOST_RISE_NS), most_ns)
        elif is_full or over_ns > -self.ns:
            self.ns = min(self.ns - self.ns // FADING, most_ns)
