"""The library scheduler of an AIScheduler, created from its properties."""
from __future__ import annotations

import time
from enum import IntEnum
from typing import Any

from ai_core.scheduling.budget_margin import BudgetMargin
from ai_core.scheduling.direct_access import DirectAccessScheduler
from ai_core.scheduling.hierarchical import HierarchicalScheduler
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.phasing import DryRun
from ai_core.scheduling.priority import PriorityPolicy, PriorityScheduler
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.scheduler import Scheduler


class Policy(IntEnum):
    LOAD_BALANCING = 0
    FREQUENCY = 1
    DIRECT_ACCESS = 2
    PRIORITY = 3
    PRIORITY_ONLY = 4
    REQUESTED_TIME = 5


# Hierarchical: load balancing that also names the task that overran inside a nested scheduler.
# Frequency: direct access has the same outcomes as FrequencyScheduler and visits only due tasks;
# the one difference left is that each run is timed by itself.
_KINDS: dict[int, type[Scheduler]] = {
    Policy.LOAD_BALANCING: HierarchicalScheduler,
    Policy.FREQUENCY: DirectAccessScheduler,
    Policy.DIRECT_ACCESS: DirectAccessScheduler,
    Policy.PRIORITY: PriorityScheduler,
    Policy.PRIORITY_ONLY: PriorityScheduler,
    Policy.REQUESTED_TIME: RequestedTimeScheduler,
}

SHARING = (Policy.LOAD_BALANCING, Policy.PRIORITY, Policy.PRIORITY_ONLY, Policy.REQUESTED_TIME)
"""Policies that share out the budget, and so can delay new work."""


def core_of(node: Any, on_overrun: Any) -> Any:
    """Return a new scheduler as the properties of an AIScheduler describe it."""
    settings: dict[str, Any] = {}
    if node.policy in SHARING:
        settings["activations_per_frame"] = node.activations_per_frame or None
        settings["bias"] = OverrunBias() if node.overrun_bias else None
        settings["margin"] = BudgetMargin() if node.budget_margin else None
    if node.policy == Policy.PRIORITY_ONLY:
        settings["policy"] = PriorityPolicy.PRIORITY_ONLY
    if node.policy == Policy.DIRECT_ACCESS:
        settings["timed_every"] = node.timed_every
    if node.look_ahead:
        settings["phasing"] = DryRun(node.look_ahead)
    return _KINDS[node.policy](
        node.clock, faults=node.faults, trace=node.trace, stopwatch=time.perf_counter_ns,
        on_overrun=on_overrun, **settings)
