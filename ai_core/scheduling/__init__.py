"""When work runs, and for how long.

- ``DirectAccessScheduler``: runs all due work, exactly on its frame. Choose it for work
  that is short or must not be late. ``FrequencyScheduler`` does the same with simple
  code, and is the reference that the other is tested against.
- ``LoadBalancingScheduler``: starts nothing once the budget is spent; the rest waits. The
  usual root.
- ``PriorityScheduler``, ``RequestedTimeScheduler``: other rules to share the budget.
- ``HierarchicalScheduler``: named groups. Any scheduler can be work of another scheduler.
- ``Timeslicer``: one job for many keys. ``Interruptible``, ``Anytime``,
  ``ThreadedWork``: long work.

Rejected: a preemptive thread for each piece of work. Work pauses where its code says so,
and the same inputs give the same trace.
"""
from ai_core.scheduling.anytime import Anytime, UntilGoodEnough
from ai_core.scheduling.background_job import BackgroundJob
from ai_core.scheduling.budget_margin import BudgetMargin
from ai_core.scheduling.contracts import Contracts
from ai_core.scheduling.direct_access import DirectAccessScheduler
from ai_core.scheduling.frame_timeline import FrameTimeline, TimedFrame, TimedRun
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.hierarchical import HierarchicalScheduler, tree_statistics
from ai_core.scheduling.in_sequence import WorkSequence
from ai_core.scheduling.interruptible import Interruptible
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.phasing import DryRun, PhaseQuality, PhaseSlot, PhaseTable, Rephasing, phase_quality
from ai_core.scheduling.priority import PriorityPolicy, PriorityScheduler
from ai_core.scheduling.quality_of_service import QualityOfService
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.statistics_table import statistics_table
from ai_core.scheduling.suspendable import Suspendable
from ai_core.scheduling.task import Advancing, Task, Turn, TurnTaking, Work
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY
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
    "DirectAccessScheduler",
    "DryRun",
    "FrameTimeline",
    "FrequencyScheduler",
    "HierarchicalScheduler",
    "Interruptible",
    "LoadBalancingScheduler",
    "Overrun",
    "OverrunBias",
    "PhaseQuality",
    "PhaseSlot",
    "PhaseTable",
    "PriorityPolicy",
    "PriorityScheduler",
    "QualityOfService",
    "Rephasing",
    "RequestedTimeScheduler",
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
