"""When work runs, and for how long.

- ``Scheduler``: runs work every so many frames within a budget. Its ``policy`` says which work
  waits when the budget is spent: ``LOAD_BALANCING`` is the usual one, ``FREQUENCY`` runs
  everything exactly on its frame. Schedulers nest: one is work of another.
- ``Simulation``: clock, scheduler and loop in one object, where there is no engine.
- ``Timeslicer``: one job for many keys. ``Interruptible``, ``Anytime``,
  ``ThreadedWork``: long work.

Rejected: a preemptive thread for each piece of work. Work pauses where its code says so,
and the same inputs give the same trace.
"""
from ai_core.scheduling.interruptible import Interruptible
from ai_core.scheduling.long_work import Anytime, BackgroundJob, Suspendable, UntilGoodEnough
from ai_core.scheduling.phase_quality import PhaseQuality, phase_quality
from ai_core.scheduling.phasing import DryRun, PhaseSlot, PhaseTable, rephased
from ai_core.scheduling.policies import BudgetMargin, Policy
from ai_core.scheduling.scheduler import Scheduler, tree_statistics
from ai_core.scheduling.simulation import Simulation
from ai_core.scheduling.statistics import (
    FrameTimeline,
    Overrun,
    QualityOfService,
    TimedFrame,
    TimedRun,
    statistics_table,
)
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY, Task, Turn, Work
from ai_core.scheduling.threaded_work import ThreadedWork
from ai_core.scheduling.timeslicer import Timeslicer, Timing
from ai_core.scheduling.work import NEXT_TURN, Advancing, TurnTaking

__all__ = [
    "MAX_PERIOD_FRAMES",
    "MAX_PRIORITY",
    "MIN_PRIORITY",
    "NEXT_TURN",
    "Advancing",
    "Anytime",
    "BackgroundJob",
    "BudgetMargin",
    "DryRun",
    "FrameTimeline",
    "Interruptible",
    "Overrun",
    "PhaseQuality",
    "PhaseSlot",
    "PhaseTable",
    "Policy",
    "QualityOfService",
    "Scheduler",
    "Simulation",
    "Suspendable",
    "Task",
    "ThreadedWork",
    "TimedFrame",
    "TimedRun",
    "Timeslicer",
    "Timing",
    "Turn",
    "TurnTaking",
    "UntilGoodEnough",
    "Work",
    "phase_quality",
    "rephased",
    "statistics_table",
    "tree_statistics",
]
