"""Habits written in Python, as a user's game has them: one that refuses, one that works."""
from __future__ import annotations

from ai_core.decisions import Habit, Status
from ai_core.decisions.habits.habit_runner_loops import HabitContext


class Refusing(Habit):
    """Never wants to."""

    def can_activate(self, context: HabitContext) -> bool:
        return False


class Working(Habit):
    """Works on and on."""

    def tick(self, context: HabitContext) -> Status:
        return Status.RUNNING
