"""What do I do now?

Choose ``Habit`` and ``HabitTree`` when a task falls into smaller tasks: fight
is attack or dodge, attack is aim and then shoot. A ``Habit`` is the definition,
shared by every character; a ``HabitTree`` is one character living by it.

Rejected: asking every habit from the root each time and comparing (behaviour
trees without memory). A habit knows when it begins and ends, each exactly once.
Rejected: numbers for priority. They creep upwards; the order of children does not.
"""
from __future__ import annotations

from ai_core.decisions.habit_context import HabitContext
from ai_core.decisions.habit_tree import HabitTree
from ai_core.decisions.habits import Callback, Habit, Launch, Status

__all__ = ["Callback", "Habit", "HabitContext", "HabitTree", "Launch", "Status"]
