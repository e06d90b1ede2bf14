"""The compiled data of a place in a habit tree, in the form that ticks need."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habits import Habit, Launch, Outcome
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_plan import CompiledHabit

__all__ = ["INTERFACE", "KERNEL", "PlaceFields"]

KERNEL = "ai_core.decisions.habits._habit_ticking"
"""Places, runs and ticks in C; the twins are this file and those that import this name."""

INTERFACE = 7
"""Changes with any change of names, arguments or results, here and in the kernel."""

Callback = Callable[[Any], object]


@twin_class(KERNEL, INTERFACE)
class PlaceFields:
    """Where a habit stands in a tree. One habit may stand in several places.

    What the habit says has the habit's names; the rest:

    Attributes:
        habit: what stands here.
        index: number in the plan, parents before children.
        end: number after the last place below it.
        blocking: children that launch as ``launch`` says, in order.
        non_blocking: children that run beside them.
        children: all of them, in the order of the definition.
        number: position among the blocking siblings, from 0.
        asks_together: its condition can be asked in one go with others that have the same.
        is_beside: launched beside its siblings, not among them.
        is_polled: asked in every tick whether it wants to run.
        held: priority of the hold it has from the beginning, or None.
        interrupting: why a sibling began that it gave way to.
        interrupted: how it ended for a sibling that this one is.
    """

    __slots__ = (
        "asks_every_s", "asks_together", "begins_on", "blocking", "can_activate", "children", "columns", "cooldown_s",
        "end", "enter", "exit", "habit", "held", "index", "interrupted", "interrupting", "is_beside", "is_polled",
        "launch", "name", "non_blocking", "number", "outcome", "path", "remembers_s", "repeats", "retries", "tick",
        "tick_batch", "timeout_s", "urgency", "weight",
    )

    asks_every_s: float
    asks_together: bool
    begins_on: tuple[str, ...]
    blocking: tuple[CompiledHabit, ...]
    can_activate: Callback | None
    children: tuple[CompiledHabit, ...]
    columns: tuple[str, ...]
    cooldown_s: float
    end: int
    enter: Callback | None
    exit: Callback | None
    habit: Habit
    held: float | None
    index: int
    interrupted: str
    interrupting: str
    is_beside: bool
    is_polled: bool
    launch: Launch
    name: str
    non_blocking: tuple[CompiledHabit, ...]
    number: int
    outcome: Outcome | None
    path: str
    remembers_s: float
    repeats: float
    retries: float
    tick: Callback | None
    tick_batch: Callback | None
    timeout_s: float
    urgency: float
    weight: float

    def strongest(self, holds: dict[int, float]) -> float | None:
        """Return the strongest of the holds here and below, None if there is none."""
        here = [held for index, held in holds.items() if self.index <= index < self.end]
        return max(here, default=None)
