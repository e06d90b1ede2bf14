"""Many minds of one kind, such as state machines: one piece of work for all, which visits only who is awake."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import Generic, Protocol, TypeVar

from ai_core.budget import Budget
from ai_core.errors import finite_number
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import Fields, State

__all__ = ["Mind", "MindPopulation"]


class Mind(Protocol):
    """Who decides."""

    def live(self, elapsed_s: float) -> float:
        """Live on; return for how long nothing happens by itself (s): 0 for until the next tick, inf for ever."""
        ...


AnyMind = TypeVar("AnyMind", bound=Mind)


class Seat(Generic[AnyMind]):
    """A mind in a population.

    Attributes:
        number: by which minds take their turns.
        lived_s: up to when it has lived (s, the population's time).
        wakes_at_s: when it is visited again (s); -inf for in each tick, inf for when it is woken.
        is_resting: has no turns, and its time stands still.
        late_s: while it rests: what it has yet to live of the time before (s).
    """

    __slots__ = ("is_resting", "late_s", "lived_s", "mind", "number", "wakes_at_s")

    def __init__(self, mind: AnyMind, number: int, lived_s: float) -> None:
        self.mind, self.number, self.lived_s = mind, number, lived_s
        self.wakes_at_s = -inf
        self.is_resting, self.late_s = False, 0.0


class MindPopulation(Generic[AnyMind]):
    """Lets many minds live. Who waits is not visited and costs nothing, however many wait.

    Minds take their turns in the order in which they were added. If the budget
    is spent before all had theirs, the next tick begins with the rest; the time
    they are told is true. Each is one step of a budget. One that raises is
    reported; one that raised several times in a row rests until ``go_on``.

    Args:
        faults: told of minds that raise; None makes one that logs.
        name_of: what reports call a mind.

    Attributes:
        on_wake: called when somebody wakes while all slept; None, or set by who ticks it.

    Cost: O(minds awake); one that falls asleep or wakes O(log minds).
    """

    def __init__(
        self, *, faults: FaultIsolation | None = None, name_of: Callable[[AnyMind], str] = repr,
    ) -> None:
        self._faults, self._name_of = faults or FaultIsolation(), name_of
        self._seats: dict[AnyMind, Seat[AnyMind]] = {}
        self._awake: dict[int, Seat[AnyMind]] = {}
        self._most_awake = 0        # since that dict was made: it keeps room for so many
        self._order: list[Seat[AnyMind]] | None = None
        self._timers: list[tuple[float, int, Seat[AnyMind]]] = []
        self._now_s = 0.0
        self._next_number, self._first = 1, 0       # the number of whose turn is next; 0 for nobody
        self.on_wake: Callable[[], object] | None = None

    def __len__(self) -> int:
        return len(self._seats)

    def __iter__(self) -> Iterator[AnyMind]:
        return iter(self._seats)

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

    def add(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Let a mind live with the others from the next tick on.

        Args:
            mind: who is not here yet.
            late_s: game time since the last tick (s), which it has not lived.

        Raises:
            ValueError: if it is here already, or the time is negative or not finite.
        """
        if mind in self._seats:
            raise ValueError(f"{self._name_of(mind)} is in this population already; remove it first")
        seat = Seat(mind, self._next_number, self._now_s + finite_number("late_s", late_s, minimum=0))
        self._next_number += 1
        self._seats[mind] = seat
        self._put_awake(seat)

    def remove(self, mind: AnyMind) -> None:
        """Let a mind go as it is.

        Raises:
            ValueError: if it is not here.
        """
        seat = self._seat_of(mind)
        self._put_asleep(seat, inf)
        self._faults.forget(seat)
        del self._seats[mind]

    def wake(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Visit a mind in the next tick: something has changed. One that rests stays at rest.

        Args:
            mind: who is here.
            late_s: game time since the last tick (s), in which it slept.

        Raises:
            ValueError: if it is not here, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        if seat.wakes_at_s != -inf and not seat.is_resting:
            seat.lived_s = self._now_s + late_s
            self._put_awake(seat)

    def rest(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Give a mind no turns until ``go_on``: its time stands still, it keeps its place.

        Args:
            mind: who is here.
            late_s: game time since the last tick (s), which it still lives when it goes on.

        Raises:
            ValueError: if it is not here, or the time is negative or not finite.
        """
        seat = self._seat_of(mind)
        late_s = finite_number("late_s", late_s, minimum=0)
        if seat.is_resting:
            seat.late_s = late_s
            return
        asleep = seat.wakes_at_s != -inf
        seat.late_s = late_s + (0.0 if asleep else max(0.0, self._now_s - seat.lived_s))
        seat.is_resting = True
        self._put_asleep(seat, inf)

    def go_on(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Give a mind its turns again after ``rest``, or after it kept raising.

        Args:
            mind: who rested or kept raising; for others nothing changes.
            late_s: game time since the last tick (s), in which it did not live.

        Raises:
            ValueError: if it is not here, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        is_left_out = self._faults.is_quarantined(seat)
        self._faults.release(seat)
        if seat.is_resting:
            seat.is_resting = False
            seat.lived_s = self._now_s + late_s - seat.late_s
            self._put_awake(seat)
        elif is_left_out:
            self.wake(mind, late_s=late_s)

    def is_resting(self, mind: AnyMind) -> bool:
        """Return whether a mind has no turns.

        Raises:
            ValueError: if it is not here.
        """
        return self._seat_of(mind).is_resting

    def tick(self, elapsed_s: float, budget: Budget | None = None) -> None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.
            budget: what it may use; None for all.

        Raises:
            ValueError: if the time is negative or not finite.
        """
        before_s = self._now_s
        self._now_s += finite_number("elapsed_s", elapsed_s, minimum=0)
        while self._timers and self._timers[0][0] <= self._now_s:
            at_s, _, seat = heappop(self._timers)
            if at_s == seat.wakes_at_s:
                seat.lived_s = max(seat.lived_s, before_s)
                self._put_awake(seat)
        order, self._first = self._in_turn(), 0
        for index, seat in enumerate(order):
            if budget is not None:
                if index and budget.is_spent:
                    self._first = seat.number
                    break
                budget.spend()
            if seat.wakes_at_s == -inf and not seat.is_resting:
                self._visit(seat)

    def save_state(self) -> State:
        """Return its time, whose turn it is, and who has not lived up to it; each mind is saved by itself."""
        seats = list(self._seats.values())
        return {
            "version": 1, "seconds": self._now_s,
            "first": next((place for place, one in enumerate(seats) if one.number >= self._first), 0),
            "lived": [{"place": place, "seconds": one.lived_s} for place, one in enumerate(seats)
                      if one.wakes_at_s == -inf and one.lived_s != self._now_s],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. Minds may be loaded before or after.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        seconds = fields.seconds("seconds")
        first = fields.whole("first", maximum=max(len(self._seats) - 1, 0))
        lived = {}
        for one in fields.groups("lived"):
            lived[one.whole("place")] = one.seconds("seconds")      # there may be fewer here than were saved
            one.end()
        fields.end()

        def change() -> None:
            seats = list(self._seats.values())
            self._now_s, self._first = seconds, seats[first].number if seats else 0
            for place, seat in enumerate(seats):
                seat.lived_s = lived.get(place, seconds)
                if not seat.is_resting:
                    self._put_awake(seat)

        return change

    def _visit(self, seat: Seat[AnyMind]) -> None:
        elapsed_s, seat.lived_s = max(0.0, self._now_s - seat.lived_s), max(seat.lived_s, self._now_s)
        try:
            rest_s = seat.mind.live(elapsed_s)
        except Exception as error:  # the others go on
            self._faults.failed(seat, self._name_of(seat.mind), -1, error)
            rest_s = inf if self._faults.is_quarantined(seat) else 0.0
        else:
            if self._faults.has_failing:
                self._faults.succeeded(seat)
        if rest_s > 0 and seat.wakes_at_s == -inf and seat.mind in self._seats and not seat.is_resting:
            self._put_asleep(seat, self._now_s + rest_s)

    def _in_turn(self) -> list[Seat[AnyMind]]:
        order = self._order
        if order is None:
            if len(self._awake) * 8 < self._most_awake:     # going through all that room would cost who sleeps
                self._awake = dict(self._awake.items())
                self._most_awake = len(self._awake)
            order = self._order = [self._awake[number] for number in sorted(self._awake)]
        if not self._first:
            return order
        begin = next((index for index, one in enumerate(order) if one.number >= self._first), 0)
        return order[begin:] + order[:begin]

    def _put_awake(self, seat: Seat[AnyMind]) -> None:
        seat.wakes_at_s = -inf
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[seat.number] = seat
        self._most_awake = max(self._most_awake, len(self._awake))
        self._order = None

    def _put_asleep(self, seat: Seat[AnyMind], wakes_at_s: float) -> None:
        seat.wakes_at_s = wakes_at_s
        if self._awake.pop(seat.number, None) is not None:
            self._order = None
        if wakes_at_s < inf:
            heappush(self._timers, (wakes_at_s, seat.number, seat))
            if len(self._timers) > 2 * len(self._seats) + 64:
                self._timers = sorted(
                    (one.wakes_at_s, one.number, one) for one in self._seats.values() if abs(one.wakes_at_s) < inf)

    def _seat_of(self, mind: AnyMind) -> Seat[AnyMind]:
        seat = self._seats.get(mind)
        if seat is None:
            raise ValueError(f"{self._name_of(mind)} is not in this population")
        return seat
