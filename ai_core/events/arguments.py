"""The logs that managers and stations are handed, checked at the call."""
from __future__ import annotations

from typing import TypeVar

from ai_core.errors import shown

__all__ = ["checked_log"]

Log = TypeVar("Log")


def checked_log(log: object, kind: type[Log]) -> Log | None:
    """Return a log of a kind, or None; TypeError for anything else."""
    if log is not None and not isinstance(log, kind):
        raise TypeError(f"log must be of class {kind.__name__} or None, got {shown(log)}")
    return log
