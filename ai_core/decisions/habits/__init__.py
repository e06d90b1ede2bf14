"""Habit trees (behavior trees with priorities): HabitTree for one character, HabitPopulation for many."""

__all__: list[str] = []
