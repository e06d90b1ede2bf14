"""Turns of searches: how far each goes on before it is another's turn, one at a time or several at once."""
from __future__ import annotations

from functools import partial

from ai_core.budget import Budget
from ai_core.paths.search_threads import SearchThreads
from ai_core.paths.ways import Way

__all__ = ["TURN_STEPS", "TURN_US", "take_turn", "take_turns"]

TURN_STEPS = 1024
"""Cells a search of priority 1 expands in its turn, when steps are counted: 40 µs compiled."""

TURN_US = 100.0
"""Time of such a turn (µs). Shorter ones cost more for changing than they gain in fairness."""

TURNS_AT_ONCE = 16
"""Turns (count) that a search gets at once when several run on threads: to hand it over costs half a turn."""

MOST_URGENT = 16.0
"""Priorities above count as this one: or a turn would be as long as a frame."""


def take_turn(way: Way, budget: Budget) -> Exception | None:
    """Let one search go on for its share; return what it raised."""
    turn = budget.part((TURN_STEPS if budget.stopwatch is None else TURN_US) * min(way.priority, MOST_URGENT))
    before = budget.steps
    try:
        way.search.advance(turn)
    except Exception as error:
        return error
    if budget.steps == before:
        budget.spend()  # what reports nothing is not free
    way.turns += 1
    way.turns_taken += 1
    return None


def take_turns(ways: list[Way], threads: SearchThreads, budget: Budget) -> list[Exception | None]:
    """Let several searches go on at once; return what each raised.

    Each has a budget of its own: budgets are not for threads.
    """
    watch = budget.stopwatch
    left = budget.left if watch is not None else budget.left / len(ways)
    budgets = []
    for way in ways:
        share = TURNS_AT_ONCE * min(way.priority, MOST_URGENT) * (TURN_STEPS if watch is None else TURN_US)
        share = min(share, left)
        budgets.append(Budget.of_steps(max(1, int(share))) if watch is None else Budget.of_time(share, watch))
    raised = threads.run([partial(way.search.advance, own) for way, own in zip(ways, budgets, strict=True)])
    for way, own in zip(ways, budgets, strict=True):
        budget.spend(max(1, own.steps))
        way.turns += TURNS_AT_ONCE
    return raised
