"""Many who decide, as one piece of work: who is here, who is awake, whose turn it is."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from ai_core.decisions.turns import Seat, Turns
from ai_core.errors import shown
from ai_core.saving.fields import Fields

__all__ = ["Population"]

AnyWho = TypeVar("AnyWho")
AnySeat = TypeVar("AnySeat", bound=Seat)


class Population(Turns, Generic[AnyWho, AnySeat]):
    """What ``HabitPopulation`` and ``MindPopulation`` share; neither is made of it alone.

    Attributes:
        on_wake: called when somebody wakes while all slept; None, or set by who ticks it.
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
        """Game time this population has lived (s)."""
        return self._now_s

    @property
    def is_asleep(self) -> bool:
        """True if nothing happens until somebody wakes."""
        return not (self._awake or self._timers)

    @property
    def is_unfinished(self) -> bool:
        """True if the budget of the last tick was spent before all had their turn."""
        return self._first > 0

    @property
    def awake_count(self) -> int:
        """How many the next tick visits, if no other wakes."""
        return len(self._awake)

    def is_resting(self, who: AnyWho) -> bool:
        """Return whether one that is here has no turns.

        Raises:
            ValueError: if it is not here.
        """
        return self._seat_of(who).is_resting

    def _sit_down(self, who: AnyWho, seat: AnySeat) -> None:
        """Take in somebody with a seat of the next number, awake."""
        self._next_number += 1
        self._seats[who] = seat
        self._wake(seat)

    def _seat_of(self, who: AnyWho) -> AnySeat:
        seat = self._seats.get(who)
        if seat is None:
            raise ValueError(f"{self._called(who)} is not in this population")
        return seat

    def _called(self, who: AnyWho) -> str:
        """Return what errors call somebody."""
        return shown(who)

    def _check_alone(self) -> None:
        if self._is_busy:
            raise RuntimeError("a population was ticked from inside one who lives in it; tick it from outside")

    def _first_place(self) -> int:
        """Return, for saving, whose turn is next: a place in the order in which they came, 0 also for nobody."""
        return next((place for place, one in enumerate(self._seats.values()) if one.number >= self._first), 0)

    def _read_first(self, fields: Fields) -> int:
        """Return what ``_first_place`` wrote; raise StateError if so many are not here."""
        return fields.whole("first", maximum=max(len(self._seats) - 1, 0))

    def _put_first(self, place: int) -> None:
        seats = list(self._seats.values())
        self._first = seats[place].number if 0 < place < len(seats) else 0
