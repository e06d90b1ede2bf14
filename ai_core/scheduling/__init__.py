"""When does work run, and for how long?

- ``FrequencyScheduler``: all that is due runs, exactly on its frame. Choose it
  for work that is short or must not be late.
- ``LoadBalancingScheduler``: shares a budget over what is due and carries the
  rest over. Choose it where the budget must hold; the usual root.

Both are objects with ``advance(budget)``, so either can be work of the other:
a character's scheduler inside the game's. Phases are chosen automatically.

Rejected: preemptive threads for each piece of work. Work pauses where it
says so, and the same inputs give the same trace.
"""
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.phasing import DryRun, Slot, runs_per_frame
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import Advancing, Task, Turn, Work
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY

__all__ = [
    "MAX_PERIOD_FRAMES",
    "MAX_PRIORITY",
    "MIN_PRIORITY",
    "Advancing",
    "DryRun",
    "FrequencyScheduler",
    "LoadBalancingScheduler",
    "Overrun",
    "Scheduler",
    "Slot",
    "Task",
    "Turn",
    "Work",
    "runs_per_frame",
]
