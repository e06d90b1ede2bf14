"""For how long a state machine has nothing to do by itself, so that nobody need visit it."""
from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_core.decisions.state_machine_plan import Node

__all__ = ["rest_in"]

ROUNDING_S = 1e-9
"""What sums of times may differ by (s): who rests until a time is over wakes that much earlier, not a frame late."""


def rest_in(leaf: Node, since_s: float, since_around: Mapping[int, float] | None, now_s: float) -> float:
    """Return for how long an update in a state does nothing (s): 0, or until a time is over, or inf until an event.

    Args:
        leaf: the innermost active state.
        since_s: when it began (s).
        since_around: by index, when states around it began (s), where that counts.
        now_s: the time (s).
    """
    if leaf.updates:
        return 0.0
    rest_s = inf
    for route in leaf.automatic:
        if route.after_s is None:
            return 0.0
        began_s = (since_around or {}).get(route.source.index, since_s)
        rest_s = min(rest_s, began_s + route.after_s - now_s - ROUNDING_S)
    return max(rest_s, 0.0)
