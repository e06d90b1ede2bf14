"""Whose turn it is among many characters: those who are awake, in order, as far as the budget goes."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from math import inf
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habit_context import AWAKE
from ai_core.decisions.habit_place import INTERFACE, KERNEL
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.budget import Budget
    from ai_core.clock import TimeIndex
    from ai_core.decisions.habit_tree import HabitTree

__all__ = ["HabitTurns", "Member"]


@twin_class(KERNEL, INTERFACE)
class Member:
    """A tree in a population.

    Attributes:
        number: by which members take their turns.
        offset_s: the population's time less the tree's (s).
        timer_s: when the population looks whether to wake it (s, the population's); inf for not.
        is_resting: has no turns, and its time stands still.
        late_s: while it rests: what it has yet to live of the time before (s).
    """

    __slots__ = ("is_resting", "late_s", "number", "offset_s", "population", "timer_s", "tree")

    def __init__(self, population: HabitTurns, tree: HabitTree, number: int) -> None:
        self.population: Any = population
        self.tree, self.number = tree, number
        self.offset_s = population._now_s - tree._now_s
        self.timer_s = inf
        self.is_resting, self.late_s = False, 0.0

    def catch_up(self) -> None:
        """Tell a tree that sleeps what time it is."""
        if not self.is_resting:
            self.tree._now_s = self.population._now_s - self.offset_s

    def was_moved(self) -> None:
        """Note that the tree's time was set; by loading."""
        self.offset_s = self.population._now_s - self.tree._now_s

    def woke(self) -> None:
        """Visit the tree at the next advance."""
        self.population._wake(self)


@twin_class(KERNEL, INTERFACE)
class HabitTurns:
    """The part of a ``HabitPopulation`` that visits.

    Attributes:
        on_wake: called when somebody wakes while all slept; None, or set by who ticks it.
    """

    __slots__ = ("_awake", "_first", "_is_busy", "_most_awake", "_now_s", "_order", "_timers", "on_wake")

    on_wake: Callable[[], object] | None
    _tidy_timers: Callable[[], None]

    def __init__(self) -> None:
        self._now_s = 0.0
        self._awake: dict[int, Member] = {}
        self._most_awake = 0  # since that dict was made: it keeps room for so many
        self._order: list[Member] | None = None  # who is awake, by number; None: to be made anew
        self._timers: list[tuple[float, int, Member]] = []
        self._first = 0  # number of the member that comes first in the next advance
        self._is_busy = False
        self.on_wake = None

    def _give_turns(self, moment: TimeIndex | None, budget: Budget | None) -> Exception | None:
        """Visit who is awake, beginning with who had no turn the last time; return the first error."""
        first_error: Exception | None = None
        order = self._in_turn()
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
                self._sleep(member)
        return first_error

    def _in_turn(self) -> list[Member]:
        """Return who is awake in the order of turns."""
        order = self._order
        if order is None:
            if len(self._awake) * 8 < self._most_awake:  # going through all that room would cost who sleeps
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        if not self._first:
            return order
        begin = next((index for index, one in enumerate(order) if one.number >= self._first), 0)
        return order[begin:] + order[:begin]

    def _sleep(self, member: Member) -> None:
        """Visit a member no more until it wakes or its time has come."""
        if self._awake.pop(member.number, None) is not None:
            self._order = None
        wakes_at_s = member.tree._wake_at_s + member.offset_s
        if wakes_at_s < member.timer_s:
            member.timer_s = wakes_at_s
            heappush(self._timers, (wakes_at_s, member.number, member))
            if len(self._timers) > 2 * member.population.count + 64:
                self._tidy_timers()

    def _wake(self, member: Member) -> None:
        if member.is_resting or member.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[member.number] = member
        self._order = None
        if len(self._awake) > self._most_awake:
            self._most_awake = len(self._awake)
