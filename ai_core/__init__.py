"""Game AI: when it runs, what it perceives, and what it decides.

Pure Python and NumPy; knows no engine and reads no clock: time, stopwatch and
randomness are handed in. Begin with a clock and a scheduler, then add the
folder that answers your question: ``scheduling`` (when does work run?),
``level_of_detail`` (how much thought?), ``events`` (what happened?), ``maps``
(what is the ground like?), ``senses`` (what is perceived?), ``paths`` (how do I
get there?), ``decisions`` (what now?), ``squads`` (what together?); ``snapshot``
and ``recording`` keep and repeat it. ``compiled()`` names the kernels that run
in C where they were built.
"""
import numpy.ma  # noqa: F401  np.unique imports it at its first call, which took 15 to 40 ms of some frame

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import Clock, ManualClock, TimeIndex
from ai_core.errors import CycleError, UnknownNameError
from ai_core.faults import Fault, FaultIsolation
from ai_core.scheduling.direct_access import DirectAccessScheduler
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.hierarchical import HierarchicalScheduler
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace
from ai_core.twins import compiled

__all__ = [
    "Budget",
    "Clock",
    "CycleError",
    "DirectAccessScheduler",
    "Fault",
    "FaultIsolation",
    "FrequencyScheduler",
    "HierarchicalScheduler",
    "LoadBalancingScheduler",
    "ManualClock",
    "Stopwatch",
    "Task",
    "TimeIndex",
    "Trace",
    "Turn",
    "UnknownNameError",
    "compiled",
]
