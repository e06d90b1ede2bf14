"""The task that took a scheduler beyond its budget."""
from __future__ import annotations

from typing import NamedTuple

from ai_core.clock import TimeIndex

__all__ = ["Overrun"]


class Overrun(NamedTuple):
    """The task that took a scheduler beyond its budget.

    Attributes:
        name: name of the task.
        task_id: id of the task in its scheduler.
        now: game time of the overrun.
        granted: budget of the task (µs, or steps).
        used: what it used (µs, or steps).
        over: excess over the whole budget (µs, or steps).
    """

    name: str
    task_id: int
    now: TimeIndex
    granted: float
    used: float
    over: float
