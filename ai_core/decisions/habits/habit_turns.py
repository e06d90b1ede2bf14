"""Turns of the awake trees of a population, within a budget."""
from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habit_context import AWAKE
from ai_core.decisions.habits.habit_place import INTERFACE, KERNEL
from ai_core.decisions.turns import PopulationSlot, RoundRobin
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.budget import Budget
    from ai_core.clock import TimeIndex
    from ai_core.decisions.habits.habit_tree import HabitTree

__all__ = ["HabitTurns", "TickMember"]


@twin_class(KERNEL, INTERFACE)
class TickMember(PopulationSlot):
    """The slot of a tree in a population.

    Attributes:
        offset_s: the population's time less the tree's (s).
        saved_offset_s: the same as its tree was saved (s); nan if it was not loaded.
    """

    __slots__ = ("offset_s", "population", "saved_offset_s", "tree")

    def __init__(self, population: HabitTurns, tree: HabitTree, number: int) -> None:
        super().__init__(number)
        self.population: Any = population
        self.tree = tree
        self.offset_s = population._now_s - tree._now_s
        self.saved_offset_s = nan

    def catch_up(self) -> None:
        """Tell a tree that sleeps what time it is."""
        if not self.is_resting:
            self.tree._now_s = self.population._now_s - self.offset_s

    def was_moved(self) -> None:
        """Note that one of the two times was set."""
        self.offset_s = self.population._now_s - self.tree._now_s

    def was_loaded(self) -> None:
        """Note that one of the two times was loaded; when both are, no rounding makes it another life."""
        self.was_moved()
        if self.population._now_s - self.saved_offset_s == self.tree._now_s:
            self.offset_s = self.saved_offset_s

    def woke(self) -> None:
        """Visit the tree at the next advance."""
        self.population._wake(self)


@twin_class(KERNEL, INTERFACE)
class HabitTurns(RoundRobin):
    """Base class of ``HabitPopulation`` that gives turns to awake trees."""

    __slots__ = ()

    def _give_turns(
        self, moment: TimeIndex | None, budget: Budget | None, only_rest: bool,
    ) -> Exception | None:
        """Visit who is awake, beginning with who had no turn the last time, or only those; return the first error."""
        first_error: Exception | None = None
        order = self._in_turn(only_rest)
        if not only_rest:
            self._until = self._first
        self._first = 0
        for index, member in enumerate(order):
            if budget is not None:
                if index and budget.is_spent:
                    self._first = member.number
                    break
                budget.spend()
            tree = member.tree
            if tree._member is not member or member.is_resting:
                continue  # removed by somebody who had a turn before
            tree._moment = moment
            tree._frame += 1
            try:
                tree._live_until(self._now_s - member.offset_s)
            except Exception as error:  # asked to come through: when all had their turn
                first_error = first_error or error
            if tree._wake_at_s > AWAKE:
                self._sleep(member, tree._wake_at_s + member.offset_s)
        return first_error
