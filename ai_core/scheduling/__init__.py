"""When work runs, and for how long.

- ``Scheduler``: runs work every so many frames within a budget. Its ``policy`` says which work
  waits when the budget is spent: ``LOAD_BALANCING`` is the usual one, ``FREQUENCY`` runs
  everything exactly on its frame. Schedulers nest: ``add_group``.
- ``Timeslicer``: one job for many keys. ``Interruptible``, ``Anytime``,
  ``ThreadedWork``: long work.

Rejected: a preemptive thread for each piece of work. Work pauses where its code says so,
and the same inputs give the same trace.
"""
from ai_core.scheduling.anytime import Anytime, UntilGoodEnough
from ai_core.scheduling.background_job import BackgroundJob
from ai_core.scheduling.contracts import Contracts
from ai_core.scheduling.frame_timeline import FrameTimeline, TimedFrame, TimedRun
from ai_core.scheduling.in_sequence import WorkSequence
from ai_core.scheduling.interruptible import Interruptible
from ai_core.scheduling.phasing import DryRun, PhaseQuality, PhaseSlot, PhaseTable, Rephasing, phase_quality
from ai_core.scheduling.policies import BudgetMargin, OverrunBias, Policy
from ai_core.scheduling.quality_of_service import QualityOfService
from ai_core.scheduling.scheduler import Scheduler, tree_statistics
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.statistics_table import statistics_table
from ai_core.scheduling.suspendable import Suspendable
from ai_core.scheduling.task import (
    MAX_PERIOD_FRAMES,
    MAX_PRIORITY,
    MIN_PRIORITY,
    Advancing,
    Task,
    Turn,
    TurnTaking,
    Work,
)
from ai_core.scheduling.task_rephasing import TaskRephasing
from ai_core.scheduling.threaded_work import ThreadedWork
from ai_core.scheduling.timeslicer import Timeslicer
from ai_core.scheduling.timing import Timing

__all__ = [
    "MAX_PERIOD_FRAMES",
    "MAX_PRIORITY",
    "MIN_PRIORITY",
    "Advancing",
    "Anytime",
    "BackgroundJob",
    "BudgetMargin",
    "Contracts",
    "DryRun",
    "FrameTimeline",
    "Interruptible",
    "Overrun",
    "OverrunBias",
    "PhaseQuality",
    "PhaseSlot",
    "PhaseTable",
    "Policy",
    "QualityOfService",
    "Rephasing",
    "Scheduler",
    "Suspendable",
    "Task",
    "TaskRephasing",
    "ThreadedWork",
    "TimedFrame",
    "TimedRun",
    "Timeslicer",
    "Timing",
    "Turn",
    "TurnTaking",
    "UntilGoodEnough",
    "Work",
    "WorkSequence",
    "phase_quality",
    "statistics_table",
    "tree_statistics",
]
