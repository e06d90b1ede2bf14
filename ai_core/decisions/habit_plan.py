"""The plan of a habit tree: every place in it, worked out once for all characters."""
from __future__ import annotations

import math

from ai_core.decisions.habits import Habit, Launch, check_habit
from ai_core.errors import CycleError, shown

__all__ = ["MAXIMUM_DEPTH", "HabitPlan", "Place", "plan_of"]

MAXIMUM_DEPTH = 64
"""Habits below each other (count).

A tick takes three Python calls for each; 64 stay far below Python's limit of
1000 even when called from deep inside a game. Real trees have under ten.
"""


class Place:
    """Where a habit stands in a tree. One habit may stand in several places.

    Attributes:
        index: number in the plan, parents before children.
        end: number after the last place below it.
        blocking: children that launch as ``launch`` says, in order.
        non_blocking: children that run beside them.
        number: position among the blocking siblings, from 0.
        is_beside: launched beside its siblings, not among them.
        held: priority of the hold it has from the beginning, or None.
        interrupting: why a sibling began that it gave way to.
        interrupted: how it ended for a sibling that this one is.
    """

    __slots__ = (
        "blocking", "can_activate", "end", "enter", "exit", "held", "index", "interrupted",
        "interrupting", "is_beside", "launch", "name", "non_blocking", "number", "path",
        "tick", "urgency", "weight",
    )

    def __init__(self, habit: Habit, path: str, index: int) -> None:
        self.index = index
        self.end = index + 1
        self.name = habit.name
        self.path = path
        self.launch: Launch = habit.launch
        self.weight: float = habit.weight
        self.urgency: float = habit.urgency
        self.is_beside: bool = habit.non_blocking
        self.held = math.inf if habit.uninterruptible else None
        self.can_activate = habit.callback("can_activate")
        self.enter = habit.callback("enter")
        self.tick = habit.callback("tick")
        self.exit = habit.callback("exit")
        self.blocking: tuple[Place, ...] = ()
        self.non_blocking: tuple[Place, ...] = ()
        self.number = 0
        self.interrupting = f"interrupted {habit.name}"
        self.interrupted = f"interrupted by {habit.name}"

    def strongest(self, holds: dict[int, float]) -> float | None:
        """Return the strongest of the holds here and below, None if there is none."""
        here = [held for index, held in holds.items() if self.index <= index < self.end]
        return max(here, default=None)

    def children(self) -> list[Place]:
        """Return all of them in the order of the definition."""
        return sorted((*self.blocking, *self.non_blocking), key=lambda place: place.index)


class HabitPlan:
    """All places of one tree; characters share it.

    Args:
        root: the definition.

    Raises:
        CycleError: if a habit stands below itself.
        ValueError: if habits cannot launch, or nest too deep.

    Cost: O(places).
    """

    __slots__ = ("places", "random_path", "root")

    def __init__(self, root: Habit) -> None:
        self.places: list[Place] = []
        self.random_path: str | None = None
        self.root = self._lay_out(root, root.name, ())

    def _lay_out(self, habit: Habit, path: str, above: tuple[Habit, ...]) -> Place:
        if any(one is habit for one in above):
            raise CycleError(f"habit {path!r} stands below itself; a habit cannot run itself")
        if len(above) >= MAXIMUM_DEPTH:
            raise ValueError(f"habits nest deeper than {MAXIMUM_DEPTH} at {shown(path)}")
        children = tuple(habit.children)
        check_habit(habit, children, path)
        if habit.launch is Launch.RANDOM and self.random_path is None:
            self.random_path = path
        place = Place(habit, path, len(self.places))
        self.places.append(place)
        below = (*above, habit)
        laid_out = [self._lay_out(child, f"{path}/{child.name}", below) for child in children]
        place.blocking = tuple(child for child in laid_out if not child.is_beside)
        place.non_blocking = tuple(child for child in laid_out if child.is_beside)
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
