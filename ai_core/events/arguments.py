"""What managers and stations are handed: a clock, a log. Each is checked at the call."""
from __future__ import annotations

from typing import TypeVar

from ai_core.clock import Clock, TimeIndex
from ai_core.errors import shown

__all__ = ["checked_clock", "checked_log"]

Log = TypeVar("Log")


def checked_clock(clock: Clock) -> Clock:
    """Return a clock; TypeError for what has no ``now``."""
    if not isinstance(getattr(clock, "now", None), TimeIndex):
        raise TypeError(f"clock must have now, a TimeIndex, got {shown(clock)}; use ManualClock() to move it by hand")
    return clock


def checked_log(log: object, kind: type[Log]) -> Log | None:
    """Return a log of a kind, or None; TypeError for anything else."""
    if log is not None and not isinstance(log, kind):
        raise TypeError(f"log must be of class {kind.__name__} or None, got {shown(log)}")
    return log
