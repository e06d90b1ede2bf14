"""A population of deciding agents as a single task: membership, sleep and turns."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Generic, TypeVar

from ai_core.decisions.turns import PopulationSlot, RoundRobin
from ai_core.errors import shown
from ai_core.saving.fields import Fields, State

__all__ = ["DeciderPopulation", "by_place"]

AnyWho = TypeVar("AnyWho")
AnySeat = TypeVar("AnySeat", bound=PopulationSlot)


class DeciderPopulation(RoundRobin, Generic[AnyWho, AnySeat]):
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

    def _saved_turns(self) -> State:
        """Return the next turn and the resting members, by index in order of arrival; -1 for none.

        If the member with the next turn has left, its successor is saved instead.
        """
        seats = list(self._seats.values())
        return {
            "first": _place(seats, self._first), "until": _place(seats, self._until),
            "late": [{"place": place, "seconds": one.late_s} for place, one in enumerate(seats) if one.is_resting],
        }

    def _prepared_turns(self, fields: Fields) -> Callable[[], None]:
        """Read the result of ``_saved_turns``; return a function that restores it. Fewer members may be present."""
        first, until = fields.whole("first", minimum=-1), fields.whole("until", minimum=-1)
        late = by_place(fields, "late", "seconds")

        def change() -> None:
            for place, seat in enumerate(self._seats.values()):
                seat.late_s = late.get(place, seat.late_s)
            numbers = [one.number for one in self._seats.values()]
            self._first, self._until = (
                numbers[one] if 0 <= one < len(numbers) else 0 if one < 0 else self._next_number
                for one in (first, until))

        return change


def _place(seats: Sequence[PopulationSlot], number: int) -> int:
    if not number:
        return -1
    return next((place for place, one in enumerate(seats) if one.number >= number), len(seats))


def by_place(fields: Fields, name: str, what: str, *, or_never: bool = False) -> dict[int, float]:
    """Read times (s) by index of the member; None stands for inf where ``or_never`` allows it."""
    found = {}
    for one in fields.groups(name):
        is_never = or_never and one.anything(what) is None
        found[one.whole("place")] = inf if is_never else one.seconds(what)
        one.end()
    return found
