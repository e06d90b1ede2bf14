"""Many minds of one kind, such as state machines: one piece of work for all, which visits only who is awake."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heappop
from math import inf
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.decisions.population import DeciderPopulation, by_place
from ai_core.decisions.turns import PopulationSlot
from ai_core.errors import finite_number, shown
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Turn

__all__ = ["Decider", "MindPopulation"]


class Decider(Protocol):
    """Who decides."""

    def live(self, elapsed_s: float) -> float:
        """Live on; return for how long nothing happens by itself (s): 0 for until the next tick, inf for ever."""
        ...


AnyMind = TypeVar("AnyMind", bound=Decider)


class MindSeat(PopulationSlot, Generic[AnyMind]):
    """A mind's seat in a population.

    Attributes:
        lived_s: up to when it has lived (s, the population's time).
    """

    __slots__ = ("lived_s", "mind")

    def __init__(self, mind: AnyMind, number: int, lived_s: float) -> None:
        super().__init__(number)
        self.mind, self.lived_s = mind, lived_s


class MindPopulation(DeciderPopulation[AnyMind, MindSeat[AnyMind]]):
    """Lets many minds live: ``scheduler.add(population)``.

    A mind that waits is not visited and costs nothing, however many wait.

    Minds take their turns in the order in which they were added. If the budget
    is spent before all had theirs, the next tick begins with the rest; the time
    they are told is true, that of a rest they asked for included; not that until
    they were woken. Each is one step of a budget. One that raises is reported;
    one that raised several times in a row rests until ``go_on``.

    Args:
        faults: told of minds that raise; None makes one that logs.
        name_of: what reports call a mind.

    Attributes:
        on_wake: called when somebody wakes while all slept; None, or set by who ticks it.

    Cost: O(minds awake); one that falls asleep or wakes O(log minds).
    """

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    def __init__(
        self, *, faults: FaultIsolation | None = None, name_of: Callable[[AnyMind], str] = repr,
    ) -> None:
        super().__init__()
        self._faults, self._name_of = given_faults(faults), name_of

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
        lived_s = self._now_s + finite_number("late_s", late_s, minimum=0)
        self._sit_down(mind, MindSeat(mind, self._next_number, lived_s))

    def remove(self, mind: AnyMind) -> None:
        """Let a mind go as it is.

        Raises:
            ValueError: if it is not here.
        """
        seat = self._seat_of(mind)
        self._leave_out(seat)
        self._faults.forget(seat)
        del self._seats[mind]

    def wake(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Visit a mind in the next tick: something has changed. One that rests or kept raising stays at rest.

        Args:
            mind: who is here.
            late_s: game time since the last tick (s), in which it slept.

        Raises:
            ValueError: if it is not here, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        if seat.number not in self._awake:
            self._wake_up(seat, self._now_s + late_s)

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
        seat.late_s = late_s + (max(0.0, self._now_s - seat.lived_s) if self._counts_time(seat) else 0.0)
        seat.is_resting = True
        self._leave_out(seat)

    def go_on(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Give a mind its turns again after ``rest``, or after it kept raising.

        Args:
            mind: who rested or kept raising; for others nothing changes.
            late_s: game time since the last tick (s), in which it did not live.

        Raises:
            ValueError: if it is not here, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        if seat.is_resting or self._faults.is_quarantined(seat):
            self._faults.release(seat)
            seat.is_resting = False
            self._wake_up(seat, self._now_s + late_s - seat.late_s)
            seat.late_s = 0.0

    def tick(self, elapsed_s: float, budget: Budget | None = None, *, only_rest: bool = False) -> None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.
            budget: what it may use; None for all.
            only_rest: visit only those whom the last tick did not reach, its budget being spent.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside one of its minds.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if budget is not None:
            check_budget(budget)
        self._check_alone()
        self._is_busy = True
        try:
            self._live(elapsed_s, budget, only_rest)
        finally:
            self._is_busy = False

    def advance(self, turn: Turn) -> None:
        """Tick as a scheduler's work: ``scheduler.add(population)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)}; use population.tick(elapsed_s) by hand")
        self.tick(turn.elapsed_s, turn.budget)

    def save_state(self) -> State:
        """Return its time, whose turn it is, who sleeps and who has not lived up to it; minds are saved by themselves.

        A save of as many minds lets those sleep who slept; of others, all are visited once.
        """
        seats = list(enumerate(self._seats.values()))
        asleep = [(place, one) for place, one in seats if one.number not in self._awake and not one.is_resting]
        return {
            "version": 1, "seconds": self._now_s, **self._saved_turns(), "count": len(seats),
            "lived": [{"place": place, "seconds": one.lived_s} for place, one in seats
                      if self._counts_time(one) and one.lived_s != self._now_s],
            "asleep": [{"place": place, "wakes_at_s": one.timer_s if one.timer_s < inf else None}
                       for place, one in asleep],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. Minds may be loaded before or after.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        seconds, count = fields.seconds("seconds"), fields.whole("count")
        change_turns = self._prepared_turns(fields)
        lived, asleep = by_place(fields, "lived", "seconds"), by_place(fields, "asleep", "wakes_at_s", or_never=True)
        fields.end()

        def change() -> None:
            self._now_s = seconds
            change_turns()
            are_the_same = count == len(self._seats)
            for place, seat in enumerate(self._seats.values()):
                self._wake_up(seat, lived.get(place, seconds))      # there may be fewer here than were saved
                if are_the_same and place in asleep:
                    self._leave_out(seat)
                    self._sleep(seat, asleep[place])

        return change

    def _live(self, elapsed_s: float, budget: Budget | None, only_rest: bool) -> None:
        now_s = self._now_s = self._now_s + elapsed_s
        while self._timers and self._timers[0][0] <= now_s:
            at_s, _, seat = heappop(self._timers)
            if at_s == seat.timer_s:
                self._wake_up(seat, seat.lived_s)
        order, awake = self._in_turn(only_rest), self._awake
        if not only_rest:
            self._until = self._first
        self._first = 0
        for index, seat in enumerate(order):
            if budget is not None:
                if index and budget.is_spent:
                    self._first = seat.number
                    break
                budget.spend()
            if seat.number not in awake:
                continue
            rest_s = self._visit(seat, now_s)
            if rest_s > 0 and seat.number in awake:
                self._sleep(seat, now_s + rest_s)

    def _visit(self, seat: MindSeat[AnyMind], now_s: float) -> float:
        """Let a mind live up to now; return how long it rests (s)."""
        lived_s = seat.lived_s
        seat.lived_s = max(lived_s, now_s)
        try:
            rest_s = seat.mind.live(max(0.0, now_s - lived_s))
        except Exception as error:  # the others go on
            self._faults.failed(seat, self._name_of(seat.mind), -1, error)
            if self._seats.get(seat.mind) is not seat:      # it left, and raised then
                self._faults.forget(seat)
            return inf if self._faults.is_quarantined(seat) else 0.0
        if self._faults.has_failing:
            self._faults.succeeded(seat)
        return rest_s

    def _counts_time(self, seat: MindSeat[AnyMind]) -> bool:
        """Return whether it is told of the time since it lived last: not if it sleeps until it is woken."""
        return seat.number in self._awake or seat.timer_s < inf

    def _leave_out(self, seat: MindSeat[AnyMind]) -> None:
        seat.timer_s = inf
        self._sleep(seat, inf)

    def _wake_up(self, seat: MindSeat[AnyMind], lived_s: float) -> None:
        """Visit a mind in the next tick, which has lived so far; not one that is left out."""
        seat.lived_s = lived_s
        if not self._faults.is_quarantined(seat):
            seat.timer_s = inf
            self._wake(seat)

    def _called(self, mind: AnyMind) -> str:
        return self._name_of(mind)
