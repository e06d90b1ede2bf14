"""A population of deciding agents as a single task: membership, sleep and turns."""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from heapq import heapify, heappush
from math import inf
from typing import Any, Generic, Protocol, TypeVar

from ai_core.errors import shown
from ai_core.saving.declared_state import MapOf, Row, Saveable, Seconds, Whole

__all__ = ["TURNS_STATE", "DeciderPopulation", "PopulationSlot"]


class PopulationSlot(Protocol):
    """The slot of a member in a population.

    Attributes:
        number: order of turns, from 1.
        timer_s: population time at which the member may wake (s); inf for no timer.
        is_resting: True if the member is paused: it has no turns, and its time stands still.
        late_s: while paused: earlier time that it has not yet processed (s).
    """

    number: int
    timer_s: float
    is_resting: bool
    late_s: float


AnyWho = TypeVar("AnyWho")
AnySeat = TypeVar("AnySeat", bound=PopulationSlot)


class DeciderPopulation(Saveable, Generic[AnyWho, AnySeat]):
    """Common base class of ``HabitPopulation`` and ``MindPopulation``: turns of awake members, in order of arrival.

    Attributes:
        on_wake: called when a member wakes while all are asleep; None, or set by the owner of the ticks.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        self._seats: dict[AnyWho, AnySeat] = {}
        self._next_number = 1
        self._awake: dict[int, AnySeat] = {}  # slots by number
        self._most_awake = 0  # largest size of that dict so far, for which it keeps room
        self._order: list[AnySeat] | None = None  # slots of awake members, by number; None: must be rebuilt
        self._timers: list[tuple[float, int, AnySeat]] = []
        self._first = 0  # number of the slot with which the next tick begins after a spent budget; 0 for none
        self._until = 0  # number of the slot with which the interrupted round began; 0 for the first slot
        self._is_busy = False
        self.on_wake: Callable[[], object] | None = None

    def __len__(self) -> int:
        return len(self._seats)

    def __iter__(self) -> Iterator[AnyWho]:
        return iter(self._seats)

    def __contains__(self, who: object) -> bool:
        return who in self._seats

    @property
    def seconds(self) -> float:
        """Game time that has passed in this population (s)."""
        return self._now_s

    @property
    def is_asleep(self) -> bool:
        """True if all members sleep without a timer, so that ticks have nothing to do."""
        return not (self._awake or self._timers)

    @property
    def is_unfinished(self) -> bool:
        """True if the budget of the last tick was spent before all members had their turn."""
        return self._first > 0

    @property
    def awake_count(self) -> int:
        """Members that the next tick visits (count), if no other wakes."""
        return len(self._awake)

    def is_resting(self, who: AnyWho) -> bool:
        """Return whether a member is paused and has no turns.

        Raises:
            ValueError: if it is not in this population.
        """
        return self._seat_of(who).is_resting

    def is_sleeping(self, who: AnyWho) -> bool:
        """Return whether a member is skipped until its timer ends or it is woken.

        Raises:
            ValueError: if it is not in this population.
        """
        return self._seat_of(who).number not in self._awake

    def _sit_down(self, who: AnyWho, seat: AnySeat) -> None:
        """Add a member with a slot of the next number, awake."""
        self._next_number += 1
        self._seats[who] = seat
        self._wake(seat)

    def _seat_of(self, who: AnyWho) -> AnySeat:
        seat = self._seats.get(who)
        if seat is None:
            raise ValueError(f"{self._called(who)} is not in this population")
        return seat

    def _called(self, who: AnyWho) -> str:
        """Return the name of a member for messages."""
        return shown(who)

    def _check_alone(self) -> None:
        if self._is_busy:
            raise RuntimeError("a population was ticked from inside one of its members; tick it from outside")

    def _begin_round(self, only_rest: bool) -> list[AnySeat]:
        """Return the slots of awake members in order of turns, or only those that the last round did not reach."""
        order, first, until = self._order, self._first, self._until
        if order is None:
            if len(self._awake) * 8 < self._most_awake:  # iterating over the spare room would cost time
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        if not only_rest:
            self._until = first
        self._first = 0
        if not first:
            return [] if only_rest else order
        begin = next((index for index, one in enumerate(order) if one.number >= first), 0)
        turned = order[begin:] + order[:begin]
        if not only_rest:
            return turned
        if until > first:
            return [one for one in turned if first <= one.number < until]
        return [one for one in turned if one.number >= first or one.number < until]

    def _sleep(self, seat: AnySeat, wakes_at_s: float) -> None:
        """Skip a slot until it is woken, or until a population time (s; inf for no timer)."""
        if self._awake.pop(seat.number, None) is not None:
            self._order = None
        if wakes_at_s < seat.timer_s:
            seat.timer_s = wakes_at_s
            heappush(self._timers, (wakes_at_s, seat.number, seat))
            if len(self._timers) > 2 * len(self._seats) + 64:  # drop the timers of waits that ended early
                self._timers = [(one.timer_s, one.number, one) for one in self._seats.values() if one.timer_s < inf]
                heapify(self._timers)

    def _wake(self, seat: AnySeat) -> None:
        """Visit a slot in the next tick, unless it is paused."""
        if seat.is_resting or seat.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[seat.number] = seat
        self._order = None
        self._most_awake = max(self._most_awake, len(self._awake))

    @property
    def _turns(self) -> tuple[int, int]:
        """The member with the next turn and the one with which the round began, by index; -1 for none.

        If a member has left, its successor is meant instead.
        """
        numbers = [one.number for one in self._seats.values()]
        first, until = (
            bisect_left(numbers, number) if number else -1 for number in (self._first, self._until))
        return first, until

    @_turns.setter
    def _turns(self, turns: tuple[int, int]) -> None:
        numbers = [one.number for one in self._seats.values()]
        self._first, self._until = (
            0 if one < 0 else numbers[one] if one < len(numbers) else self._next_number for one in turns)

    @property
    def _late(self) -> dict[int, float]:
        """Times that paused members have not yet processed (s), by index."""
        return {place: one.late_s for place, one in enumerate(self._seats.values()) if one.is_resting}

    @_late.setter
    def _late(self, late: dict[int, float]) -> None:
        for place, seat in enumerate(self._seats.values()):
            seat.late_s = late.get(place, seat.late_s)


TURNS_STATE: dict[str, Any] = {
    "seconds": Seconds(at="_now_s"), "turns": Row(lambda *turns: turns, Whole(-1), Whole(-1), at="_turns"),
    "late": MapOf(Seconds(), key=Whole(), at="_late")}
"""The fields of a population; loading it is possible with fewer or more members."""
