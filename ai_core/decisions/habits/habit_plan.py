"""The plan of a habit tree: all its places, compiled once for all characters."""
from __future__ import annotations

import math

from ai_core.decisions.habits.habit_batch import alone
from ai_core.decisions.habits.habit_generators import as_tick
from ai_core.decisions.habits.habit_place import PlaceFields
from ai_core.decisions.habits.habits import Habit, Launch, Outcome, check_habit
from ai_core.errors import CycleError, named, shown

__all__ = ["MAXIMUM_DEPTH", "CompiledHabit", "HabitPlan", "plan_of"]

MAXIMUM_DEPTH = 64
"""Largest depth of a habit tree (count).

A tick takes three Python calls for each level; 64 levels stay far below Python's limit
of 1000 calls, even inside the call stack of a game. Real trees have under ten levels.
"""


class CompiledHabit(PlaceFields):
    """A place of a habit in a tree; a habit can have several places."""

    __slots__ = ()

    def __init__(self, habit: Habit, path: str, index: int) -> None:
        self.habit = habit
        self.index = index
        self.end = index + 1
        self.name = habit.name
        self.path = path
        self.launch = habit.launch
        self.outcome = None if habit.outcome is Outcome.UNCHANGED else habit.outcome
        self.weight = habit.weight
        self.urgency = habit.urgency
        self.timeout_s, self.cooldown_s = habit.timeout_s, habit.cooldown_s
        self.repeats, self.retries = habit.repeats, habit.retries
        self.asks_every_s, self.remembers_s = habit.asks_every_s, habit.remembers_s
        self.begins_on = habit.begins_on
        self.is_polled = not (habit.wakes_on or habit.begins_on or habit.asks_every_s)
        self.is_beside = habit.non_blocking
        self.held = math.inf if habit.uninterruptible else None
        self.can_activate = habit.callback("can_activate")
        self.asks_together = self.is_polled and hasattr(self.can_activate, "first_of")
        self.enter = habit.callback("enter")
        self.tick = as_tick(habit.callback("tick"))
        self.exit = habit.callback("exit")
        self.columns = habit.columns
        self.tick_batch = habit.callback("tick_batch")
        if self.tick is None and self.tick_batch is not None:
            self.tick = alone(self)
        self.blocking = ()
        self.non_blocking = ()
        self.children = ()
        self.number = 0
        self.interrupting = f"interrupted {habit.name}"
        self.interrupted = f"interrupted by {habit.name}"


class HabitPlan:
    """All places of a tree, shared by characters.

    Args:
        root: the definition.

    Attributes:
        places: all places, parents before children.
        by_path: the places by path.
        listeners: by name of a message or key, the indices of the places to try then.
        keys: blackboard keys on which a condition depends.
        remembers_s: by name of a message, how long a habit can begin on it (s).
        random_path: path of a habit that needs a random generator; None if there is none.

    Raises:
        CycleError: if a habit stands below itself.
        ValueError: if habits cannot launch, or nest too deep.

    Cost: O(places).
    """

    __slots__ = ("by_path", "keys", "listeners", "places", "random_path", "remembers_s", "root")

    def __init__(self, root: Habit) -> None:
        self.places: list[CompiledHabit] = []
        self.random_path: str | None = None
        self.listeners: dict[str, tuple[int, ...]] = {}
        self.remembers_s: dict[str, float] = {}
        self.root = self._lay_out(root, root.name, ())
        self.by_path = {place.path: place for place in self.places}
        self.keys = tuple(dict.fromkeys(key for place in self.places for key in place.habit.wakes_on))

    def at(self, path: str) -> CompiledHabit:
        """Return the place at a path.

        Raises:
            UnknownNameError: if there is none.
        """
        return named("habit", path, self.by_path)

    def _lay_out(self, habit: Habit, path: str, above: tuple[Habit, ...]) -> CompiledHabit:
        if any(one is habit for one in above):
            raise CycleError(f"habit {path!r} must not be below itself")
        if len(above) >= MAXIMUM_DEPTH:
            raise ValueError(f"habits nest deeper than {MAXIMUM_DEPTH} at {shown(path)}")
        children = tuple(habit.children)
        check_habit(habit, children, path)
        if (habit.launch is Launch.RANDOM or habit.draws) and self.random_path is None:
            self.random_path = path
        place = CompiledHabit(habit, path, len(self.places))
        self.places.append(place)
        for name in dict.fromkeys((*habit.wakes_on, *habit.begins_on)):
            self.listeners[name] = (*self.listeners.get(name, ()), place.index)
            self.remembers_s[name] = max(self.remembers_s.get(name, 0.0), habit.remembers_s)
        below = (*above, habit)
        place.children = tuple(self._lay_out(child, f"{path}/{child.name}", below) for child in children)
        place.blocking = tuple(child for child in place.children if not child.is_beside)
        place.non_blocking = tuple(child for child in place.children if child.is_beside)
        for number, child in enumerate(place.blocking):
            child.number = number
        place.end = len(self.places)
        return place


def plan_of(root: Habit) -> HabitPlan:
    """Return the plan of ``root``, made at the first call and kept with it."""
    if not isinstance(root, Habit):
        raise TypeError(f"root must be a Habit, got {shown(root)}")
    plan: HabitPlan | None = root.__dict__.get("_plan")
    if plan is None:
        plan = root.__dict__["_plan"] = HabitPlan(root)
    return plan
