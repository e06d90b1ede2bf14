"""Whose turn it is among many: those who are awake, in the order in which they came."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappush
from math import inf
from typing import Any

from ai_core.decisions.habits.habit_place import INTERFACE, KERNEL
from ai_core.twins import twin_class

__all__ = ["PopulationSlot", "RoundRobin"]


@twin_class(KERNEL, INTERFACE)
class PopulationSlot:
    """Somebody's seat in a population.

    Attributes:
        number: by which they take their turns, from 1.
        timer_s: when the population looks whether to wake it (s, the population's); inf for not.
        is_resting: has no turns, and its time stands still.
        late_s: while it rests: what it has yet to live of the time before (s).
    """

    __slots__ = ("is_resting", "late_s", "number", "timer_s")

    def __init__(self, number: int) -> None:
        self.number = number
        self.timer_s = inf
        self.is_resting, self.late_s = False, 0.0


@twin_class(KERNEL, INTERFACE)
class RoundRobin:
    """The part of a population that knows who is awake, and who comes first in the next tick.

    Attributes:
        on_wake: called when somebody wakes while all slept; None, or set by who ticks it.
    """

    __slots__ = (
        "_awake", "_first", "_is_busy", "_most_awake", "_now_s", "_order", "_seats", "_timers", "_until", "on_wake")

    on_wake: Callable[[], object] | None

    def __init__(self) -> None:
        self._now_s = 0.0
        self._seats: dict[Any, Any] = {}  # by who sits there
        self._awake: dict[int, Any] = {}  # seats by number
        self._most_awake = 0  # since that dict was made: it keeps room for so many
        self._order: list[Any] | None = None  # who is awake, by number; None: to be made anew
        self._timers: list[tuple[float, int, Any]] = []
        self._first = 0  # number of the seat that comes first in the next tick, as the last was cut off; 0 for nobody
        self._until = 0  # of the seat with which the round that was cut off began; 0 for the first of all
        self._is_busy = False
        self.on_wake = None

    def _in_turn(self, only_rest: bool) -> list[Any]:
        """Return the seats of who is awake in the order of turns; perhaps only those the last round did not reach."""
        order = self._order
        if order is None:
            if len(self._awake) * 8 < self._most_awake:  # going through all that room would cost who sleeps
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        first, until = self._first, self._until
        if not first:
            return [] if only_rest else order
        begin = next((index for index, one in enumerate(order) if one.number >= first), 0)
        turned = order[begin:] + order[:begin]
        if not only_rest:
            return turned
        if until > first:
            return [one for one in turned if first <= one.number < until]
        return [one for one in turned if one.number >= first or one.number < until]

    def _sleep(self, seat: PopulationSlot, wakes_at_s: float) -> None:
        """Visit a seat no more until it wakes or a time has come (s, the population's; inf for never)."""
        if self._awake.pop(seat.number, None) is not None:
            self._order = None
        if wakes_at_s < seat.timer_s:
            seat.timer_s = wakes_at_s
            heappush(self._timers, (wakes_at_s, seat.number, seat))
            if len(self._timers) > 2 * len(self._seats) + 64:
                self._tidy_timers()

    def _wake(self, seat: PopulationSlot) -> None:
        """Visit a seat in the next tick, unless it rests."""
        if seat.is_resting or seat.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[seat.number] = seat
        self._order = None
        if len(self._awake) > self._most_awake:
            self._most_awake = len(self._awake)

    def _tidy_timers(self) -> None:
        """Forget timers of waits that were over early."""
        self._timers = [
            (one.timer_s, one.number, one) for one in self._seats.values() if one.timer_s < inf]
        heapify(self._timers)
