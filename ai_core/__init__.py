"""Game AI: when it runs, what it perceives, and what it decides.

The library uses Python and NumPy only. It depends on no engine and reads no wall
clock: the caller passes in the clock, the stopwatch and the random generators.
Begin with a ``Simulation``, or with a clock and a scheduler, then add packages as needed: ``scheduling``
(when work runs), ``level_of_detail`` (how much work each agent gets), ``events``
(notification and polling), ``maps`` (terrain and tactical data), ``senses``
(perception), ``paths`` (path finding), ``decisions`` (behavior of one agent) and
``squads`` (group behavior). ``snapshot`` saves and restores a run, ``recording``
replays it, and ``plots`` draws runs as SVG. ``compiled()`` returns the names of the C kernels in use.
"""
from __future__ import annotations

import importlib
from types import ModuleType

import numpy.ma  # noqa: F401  np.unique imports it at its first call, which took 15 to 40 ms of some frame

from ai_core.budget import Budget, Stopwatch
from ai_core.clock import Clock, ManualClock, TimeIndex
from ai_core.errors import CycleError, UnknownNameError
from ai_core.faults import Fault, FaultIsolation
from ai_core.loops import compiled
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.simulation import Simulation
from ai_core.scheduling.task import Task, Turn
from ai_core.trace import Trace

__version__ = "0.1.0"

PACKAGES = (
    "decisions", "events", "level_of_detail", "maps", "paths", "plots", "recording", "saving", "scheduling", "senses",
    "squads")
"""Packages that ``ai_core.senses`` and the like import when they are first used."""

__all__ = [
    "Budget",
    "Clock",
    "CycleError",
    "Fault",
    "FaultIsolation",
    "ManualClock",
    "Policy",
    "Scheduler",
    "Simulation",
    "Stopwatch",
    "Task",
    "TimeIndex",
    "Trace",
    "Turn",
    "UnknownNameError",
    "compiled",
]


def __getattr__(name: str) -> ModuleType:
    """Import a package of the library at its first use: ``import ai_core`` alone stays quick."""
    if name in PACKAGES:
        return importlib.import_module(f"ai_core.{name}")
    raise AttributeError(f"module 'ai_core' has no attribute {name!r}; packages are {', '.join(PACKAGES)}")
