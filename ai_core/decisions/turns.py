"""Round-robin turns among the awake members of a population, in order of arrival."""
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
    """The slot of a member in a population.

    Attributes:
        number: order of turns, from 1.
        timer_s: population time at which the member may wake (s); inf for no timer.
        is_resting: True if the member is paused: it has no turns, and its time stands still.
        late_s: while paused: earlier time that it has not yet processed (s).
    """

    __slots__ = ("is_resting", "late_s", "number", "timer_s")

    def __init__(self, number: int) -> None:
        self.number = number
        self.timer_s = inf
        self.is_resting, self.late_s = False, 0.0


@twin_class(KERNEL, INTERFACE)
class RoundRobin:
    """The part of a population that keeps the awake members and the order of turns.

    Attributes:
        on_wake: called when a member wakes while all are asleep; None, or set by the owner of the ticks.
    """

    __slots__ = (
        "_awake", "_first", "_is_busy", "_most_awake", "_now_s", "_order", "_seats", "_timers", "_until", "on_wake")

    on_wake: Callable[[], object] | None

    def __init__(self) -> None:
        self._now_s = 0.0
        self._seats: dict[Any, Any] = {}  # slots by member
        self._awake: dict[int, Any] = {}  # slots by number
        self._most_awake = 0  # largest size of that dict so far, for which it keeps room
        self._order: list[Any] | None = None  # slots of awake members, by number; None: must be rebuilt
        self._timers: list[tuple[float, int, Any]] = []
        self._first = 0  # number of the slot with which the next tick begins after a spent budget; 0 for none
        self._until = 0  # number of the slot with which the interrupted round began; 0 for the first slot
        self._is_busy = False
        self.on_wake = None

    def _in_turn(self, only_rest: bool) -> list[Any]:
        """Return the slots of awake members in order of turns, or only those that the last round did not reach."""
        order = self._order
        if order is None:
            if len(self._awake) * 8 < self._most_awake:  # iterating over the spare room would cost time
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
        """Skip a slot until it is woken, or until a population time (s; inf for no timer)."""
        if self._awake.pop(seat.number, None) is not None:
            self._order = None
        if wakes_at_s < seat.timer_s:
            seat.timer_s = wakes_at_s
            heappush(self._timers, (wakes_at_s, seat.number, seat))
            if len(self._timers) > 2 * len(self._seats) + 64:
                self._tidy_timers()

    def _wake(self, seat: PopulationSlot) -> None:
        """Visit a slot in the next tick, unless it is paused."""
        if seat.is_resting or seat.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[seat.number] = seat
        self._order = None
        if len(self._awake) > self._most_awake:
            self._most_awake = len(self._awake)

    def _tidy_timers(self) -> None:
        """Drop the timers of waits that ended early."""
        self._timers = [
            (one.timer_s, one.number, one) for one in self._seats.values() if one.timer_s < inf]
        heapify(self._timers)
