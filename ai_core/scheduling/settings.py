"""Arguments of every scheduler, for type checkers and for code completion."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from ai_core.budget import Stopwatch
from ai_core.faults import FaultIsolation
from ai_core.scheduling.budget_margin import BudgetMargin
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.phasing import DryRun, PhaseTable
from ai_core.scheduling.statistics import Overrun
from ai_core.trace import Trace

__all__ = ["SchedulerSettings", "SharingSettings"]


class SchedulerSettings(TypedDict, total=False):
    """Settings of a ``Scheduler``, which says what each means."""

    faults: FaultIsolation | None
    trace: Trace | None
    stopwatch: Stopwatch | None
    on_overrun: Callable[[Overrun], object] | None
    phasing: PhaseTable | DryRun | None


class SharingSettings(SchedulerSettings, total=False):
    """Those, and the settings of a ``SharingScheduler``."""

    activations_per_frame: int | None
    bias: OverrunBias | None
    margin: BudgetMargin | None
