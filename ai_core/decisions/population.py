"""A population of deciding agents as a single task: membership, sleep and turns."""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from ai_core.decisions.turns import PopulationSlot, RoundRobin
from ai_core.errors import shown
from ai_core.saving.declared_state import MapOf, Row, Saveable, Seconds, Whole

__all__ = ["TURNS_STATE", "DeciderPopulation"]

AnyWho = TypeVar("AnyWho")
AnySeat = TypeVar("AnySeat", bound=PopulationSlot)


class DeciderPopulation(RoundRobin, Saveable, Generic[AnyWho, AnySeat]):
    """Common base class of ``HabitPopulation`` and ``MindPopulation``.

    Attributes:
        on_wake: called when a member wakes while all are asleep; None, or set by the owner of the ticks.
    """

    _seats: dict[AnyWho, AnySeat]

    def __init__(self) -> None:
        super().__init__()
        self._next_number = 1

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
