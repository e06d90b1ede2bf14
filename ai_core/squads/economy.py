"""Scarce, steady or plentiful: whether a strategist saves or masses."""
from __future__ import annotations

from typing import Literal

from ai_core.errors import finite_number

__all__ = ["WEALTHS", "Wealth", "judge_wealth"]

Wealth = Literal["scarce", "steady", "plentiful"]
"""How much there is to live on."""

WEALTHS: tuple[Wealth, ...] = ("scarce", "steady", "plentiful")
"""From the poorest to the richest."""

HYSTERESIS = 0.2
"""Share of a limit by which it must be passed to leave a judgement; less makes it flicker."""


def judge_wealth(
    stock: float, reachable: float, army_cost: float, before: Wealth = "steady",
    *, scarce_below: float = 0.5, plentiful_above: float = 2.0,
) -> Wealth:
    """Return how much there is to live on.

    Args:
        stock: what is in store, 0 or more.
        reachable: what is known to be left to gather, 0 or more.
        army_cost: of the army it is to have, above 0: wealth is counted in such armies.
        before: what was judged last; it is kept unless a limit is clearly passed.
        scarce_below: armies that can be paid for, below which resources are scarce.
        plentiful_above: from which they are plentiful.

    Raises:
        TypeError, ValueError: if a number is out of range, or the limits are not in order.

    >>> judge_wealth(100, 300, 1000), judge_wealth(500, 5000, 1000)
    ('scarce', 'plentiful')
    """
    if not 0 < scarce_below < plentiful_above:
        raise ValueError(f"0 < scarce_below < plentiful_above must hold, got {scarce_below!r} and {plentiful_above!r}")
    armies = (finite_number("stock", stock, minimum=0) + finite_number("reachable", reachable, minimum=0)) / (
        finite_number("army_cost", army_cost, above=0))
    low = scarce_below * (1 + HYSTERESIS if before == "scarce" else 1)
    high = plentiful_above * (1 - HYSTERESIS if before == "plentiful" else 1)
    return "scarce" if armies < low else "plentiful" if armies >= high else "steady"
