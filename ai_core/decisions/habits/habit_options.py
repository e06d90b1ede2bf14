"""The keyword arguments of every habit, for type checkers and code completion."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from ai_core.decisions.habits.habits import Callback, Habit, Launch, Outcome

__all__ = ["HabitOptions"]


class HabitOptions(TypedDict, total=False):
    """The options of ``Habit``, described there, without ``tick``, which built-in habits define themselves."""

    children: Iterable[Habit]
    launch: Launch
    non_blocking: bool
    uninterruptible: bool
    weight: float
    urgency: float
    can_activate: Callback | None
    enter: Callback | None
    exit: Callback | None
    timeout_s: float
    cooldown_s: float
    repeats: float
    retries: float
    outcome: Outcome
    wakes_on: Iterable[str]
    asks_every_s: float
    begins_on: Iterable[str]
    remembers_s: float
