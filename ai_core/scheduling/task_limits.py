"""Ranges of period, phase and priority of a task, and the check of budgets."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.errors import finite_number, shown, whole_number

__all__ = [
    "MAX_PERIOD_FRAMES",
    "MAX_PRIORITY",
    "MIN_PRIORITY",
    "checked_budget",
    "checked_period",
    "checked_phase",
    "checked_priority",
]

MAX_PERIOD_FRAMES = 1_000_000
"""Longest period and phase (frames): 4.6 hours at 60 frames a second.

For rarer work send a delayed event.
"""

MIN_PRIORITY = 1e-6
"""Smallest priority (no unit). Less beside a normal task would never run."""

MAX_PRIORITY = 1e6
"""Largest priority (no unit). More would starve every normal task."""


def checked_period(value: object, name: str = "period_frames") -> int:
    """Return ``value`` if it is a period (frames)."""
    is_rarer = isinstance(value, int) and value > MAX_PERIOD_FRAMES
    remedy = "send a delayed event for what is rarer" if is_rarer else "use 1 to run every frame"
    return whole_number(name, value, minimum=1, maximum=MAX_PERIOD_FRAMES, remedy=remedy)


def checked_phase(value: object) -> int:
    """Return ``value`` if it is a phase (frames)."""
    is_later = isinstance(value, int) and value > MAX_PERIOD_FRAMES
    remedy = "use phase % period, which is due on the same frames" if is_later else "use None to have it chosen"
    return whole_number("phase_frames", value, minimum=0, maximum=MAX_PERIOD_FRAMES, remedy=remedy)


def checked_priority(value: object) -> float:
    """Return ``value`` if it is a priority."""
    remedy = "pause a task to give it nothing"
    priority = finite_number("priority", value, minimum=MIN_PRIORITY, remedy=remedy)
    if priority <= MAX_PRIORITY:
        return priority
    remedy = "give the others less instead"
    return finite_number("priority", priority, maximum=MAX_PRIORITY, remedy=remedy)


def checked_budget(
    value: object, *, remedy: str = "use Budget.of_time(us, stopwatch) or Budget.unlimited()"
) -> Budget:
    """Return ``value`` if it is a budget."""
    if isinstance(value, Budget):
        return value
    raise TypeError(f"budget must be a Budget, got {shown(value)}; {remedy}")
