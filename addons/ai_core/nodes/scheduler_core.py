"""The scheduler that an AIScheduler runs: made as its properties say, and what the core lacks of it."""
from __future__ import annotations

import time
from enum import IntEnum
from typing import Any

from ai_core.budget import Budget
from ai_core.scheduling.direct_access import DirectAccessScheduler
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.hierarchical import HierarchicalScheduler
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.phasing import DryRun
from ai_core.scheduling.priority import PriorityPolicy, PriorityScheduler
from ai_core.scheduling.rephasing import Rephasing
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task
from ai_core.scheduling.task_rephasing import slots_of


class Policy(IntEnum):
    LOAD_BALANCING = 0
    FREQUENCY = 1
    DIRECT_ACCESS = 2
    PRIORITY = 3
    PRIORITY_ONLY = 4
    REQUESTED_TIME = 5


# Hierarchical: a load balancing scheduler that names who overran inside another scheduler, too.
_KINDS: dict[int, type[Scheduler]] = {
    Policy.LOAD_BALANCING: HierarchicalScheduler,
    Policy.FREQUENCY: FrequencyScheduler,
    Policy.DIRECT_ACCESS: DirectAccessScheduler,
    Policy.PRIORITY: PriorityScheduler,
    Policy.PRIORITY_ONLY: PriorityScheduler,
    Policy.REQUESTED_TIME: RequestedTimeScheduler,
}

SHARING = (Policy.LOAD_BALANCING, Policy.PRIORITY, Policy.PRIORITY_ONLY, Policy.REQUESTED_TIME)
"""Policies that share out the budget, and so may let new work wait."""


def core_of(node: Any, on_overrun: Any) -> Any:
    """Make the scheduler that an AIScheduler's properties describe."""
    settings: dict[str, Any] = {}
    if node.policy in SHARING:
        settings["activations_per_frame"] = node.activations_per_frame or None
        settings["bias"] = OverrunBias() if node.learns_overruns else None
    if node.policy == Policy.PRIORITY_ONLY:
        settings["policy"] = PriorityPolicy.PRIORITY_ONLY
    if node.policy == Policy.DIRECT_ACCESS:
        settings["timed_every"] = node.timed_every
    if node.look_ahead_frames:
        settings["phasing"] = DryRun(node.look_ahead_frames)
    return _KINDS[node.policy](
        node.clock, faults=node.faults, trace=node.trace, stopwatch=time.perf_counter_ns,
        on_overrun=on_overrun, **settings)


def rephase(core: Scheduler, *, by_cost: bool) -> int:
    """Move automatic phases apart, all at once; return how many behaviors have another phase now.

    Without costs the same behaviors get the same phases, however long they took.
    """
    tasks = [task for task in core.tasks if not task.is_paused]
    slots = slots_of(tasks)
    if by_cost:
        core.rephase()
    else:
        search = Rephasing(slots, movable=[task._automatic_phase for task in tasks])
        search.advance(Budget.unlimited())
        for task, slot, phase in zip(tasks, slots, search.result, strict=True):
            if phase != slot.phase_frames:
                core._move(task, task.period_frames, phase)
    return sum(new != old for new, old in zip(slots_of(tasks), slots, strict=True))


def change(core: Scheduler, task: Task, *, period_frames: int, phase_frames: int | None, priority: float) -> None:
    """Change a task, which keeps its record; a phase of None is chosen, and is automatic from now on."""
    core.change(task, period_frames=period_frames, phase_frames=phase_frames, priority=priority)
    if phase_frames is None and not task._automatic_phase:
        task._automatic_phase = True
        core._move(task, task.period_frames, None)
