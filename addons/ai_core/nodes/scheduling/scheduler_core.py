"""The library scheduler of an AIScheduler, created from its properties."""
from __future__ import annotations

import time
from enum import IntEnum
from typing import Any

import ai_core.scheduling.policies as policies
from ai_core.scheduling.phasing import DryRun
from ai_core.scheduling.scheduler import Scheduler


class Policy(IntEnum):
    LOAD_BALANCING = 0
    FREQUENCY = 1
    PRIORITY = 2
    REQUESTED_TIME = 3


SHARING = tuple(one for one in Policy if one is not Policy.FREQUENCY)
"""Policies that share out the budget, and so can delay new work."""


def core_of(node: Any, on_overrun: Any) -> Scheduler:
    """Return a new scheduler as the properties of an AIScheduler describe it."""
    settings: dict[str, Any] = {}
    if node.policy in SHARING:
        settings["learns_bias"] = bool(node.overrun_bias)
        settings["margin"] = policies.BudgetMargin() if node.budget_margin else None
    if node.look_ahead:
        settings["phasing"] = DryRun(node.look_ahead)
    return Scheduler(
        node.clock, policy=policies.Policy[Policy(node.policy).name], faults=node.faults, trace=node.trace,
        stopwatch=time.perf_counter_ns, on_overrun=on_overrun, **settings)
