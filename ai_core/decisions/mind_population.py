"""A population of minds, such as state machines: a single task that visits only awake minds."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heappop
from math import inf
from typing import ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.decisions.population import TURNS_STATE, DeciderPopulation
from ai_core.errors import finite_number, shown
from ai_core.faults import FAILURES_STATE, NO_FAILURES, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import DeclaredState, MapOf, Record, Seconds, Whole
from ai_core.scheduling.task import Turn

__all__ = ["Decider", "MindPopulation"]


class Decider(Protocol):
    """Interface of a mind: an object that makes decisions over time."""

    def live(self, elapsed_s: float) -> float:
        """Advance by ``elapsed_s``; return how long the mind may sleep (s): 0 until the next tick, inf until woken."""
        ...


AnyMind = TypeVar("AnyMind", bound=Decider)


class MindSeat(Generic[AnyMind]):
    """The slot of a mind in a population.

    Attributes:
        number, timer_s, is_resting, late_s: as those of every ``PopulationSlot``.
        lived_s: population time up to which the mind has advanced (s).
    """

    __slots__ = ("is_resting", "late_s", "lived_s", "mind", "number", "timer_s")

    def __init__(self, mind: AnyMind, number: int, lived_s: float) -> None:
        self.number, self.timer_s, self.is_resting, self.late_s = number, inf, False, 0.0
        self.mind, self.lived_s = mind, lived_s


class _SavedMinds(NamedTuple):
    """The times and failures of the minds of a population, by index, in a save."""

    minds: int
    lived: dict[int, float]
    """Population times up to which minds have advanced, if they are not the present time (s)."""
    asleep: dict[int, float]
    """Population times at which sleeping minds wake (s), inf until woken."""
    failing: dict[int, Failures]


class MindPopulation(DeciderPopulation[AnyMind, MindSeat[AnyMind]]):
    """Runs many minds as a single task: ``scheduler.add(population)``.

    A sleeping mind is not visited and costs nothing, however many sleep.

    Minds take turns in the order in which they were added. If the budget is spent
    before all had their turn, the next tick begins with the rest. Each mind receives
    the time since its last turn, including the time of a sleep it requested itself,
    but not the time until it was woken. Each turn is a step of the budget. A mind that
    raises an exception is reported; after several failures in a row it is quarantined
    until ``go_on``.

    Minds are saved separately, and may be loaded before or after the population. If the
    number of minds is the same at loading, sleeping minds sleep again; otherwise all are
    visited once.

    Args:
        faults: receives the exceptions of minds; None makes one that logs.
        name_of: returns the name of a mind for reports.

    Attributes:
        on_wake: called when a mind wakes while all are asleep; None, or set by the owner of the ticks.

    Cost: O(awake minds); falling asleep or waking O(log minds).
    """

    STATE = DeclaredState(
        **TURNS_STATE,
        times=Record(
            _SavedMinds, minds=Whole(), lived=MapOf(Seconds(), key=Whole()),
            asleep=MapOf(Seconds(absent=inf), key=Whole()),
            failing=MapOf(FAILURES_STATE, key=Whole()), at="_saved_minds"))

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    def __init__(
        self, *, faults: FaultIsolation | None = None, name_of: Callable[[AnyMind], str] = repr,
    ) -> None:
        super().__init__()
        self._faults, self._name_of = given_faults(faults), name_of

    def add(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Add a mind; its first turn is in the next tick.

        Args:
            mind: a mind that is not in this population.
            late_s: game time since the last tick (s), which does not count for the mind.

        Raises:
            ValueError: if it is in this population already, or the time is negative or not finite.
        """
        if mind in self._seats:
            raise ValueError(f"{self._name_of(mind)} is already in this population; remove it first")
        lived_s = self._now_s + finite_number("late_s", late_s, minimum=0)
        self._sit_down(mind, MindSeat(mind, self._next_number, lived_s))

    def remove(self, mind: AnyMind) -> None:
        """Remove a mind; its state is unchanged.

        Raises:
            ValueError: if it is not in this population.
        """
        seat = self._seat_of(mind)
        self._leave_out(seat)
        self._faults.forget(seat)
        del self._seats[mind]

    def wake(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Wake a mind, so that the next tick visits it. A paused or quarantined mind is not woken.

        Args:
            mind: a mind of this population.
            late_s: game time since the last tick (s), during which it slept.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        if seat.number not in self._awake:
            self._wake_up(seat, self._now_s + late_s)

    def rest(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Pause a mind until ``go_on``: it has no turns, its time stands still, and it keeps its place.

        Args:
            mind: a mind of this population.
            late_s: game time since the last tick (s), which it receives after ``go_on``.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
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
        """Resume a mind after ``rest``, or release it from quarantine.

        Args:
            mind: a paused or quarantined mind; for other minds nothing changes.
            late_s: game time since the last tick (s), which does not count for the mind.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
        """
        seat, late_s = self._seat_of(mind), finite_number("late_s", late_s, minimum=0)
        if seat.is_resting or self._faults.is_quarantined(seat):
            self._faults.release(seat)
            seat.is_resting = False
            self._wake_up(seat, self._now_s + late_s - seat.late_s)
            seat.late_s = 0.0

    def tick(self, elapsed_s: float, budget: Budget | None = None, *, only_rest: bool = False) -> None:
        """Advance all awake minds by ``elapsed_s`` of game time.

        Args:
            elapsed_s: time since the last tick (s), 0 or more.
            budget: limits the work; None for no limit.
            only_rest: visit only the minds that the last tick did not reach before its budget was spent.

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
        """Tick as a task of a scheduler: ``scheduler.add(population)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"turn must be the Turn of a scheduler, got {shown(turn)}; without one, call"
                f" population.tick(elapsed_s)")
        self.tick(turn.elapsed_s, turn.budget)

    @property
    def _saved_minds(self) -> _SavedMinds:
        """The times and failures of all minds, for saves."""
        saved = _SavedMinds(len(self._seats), {}, {}, {})
        for place, seat in enumerate(self._seats.values()):
            if self._counts_time(seat) and seat.lived_s != self._now_s:
                saved.lived[place] = seat.lived_s
            if seat.number not in self._awake and not seat.is_resting:
                saved.asleep[place] = seat.timer_s
            if (failures := self._faults.failures_of(seat)) != NO_FAILURES:
                saved.failing[place] = failures
        return saved

    @_saved_minds.setter
    def _saved_minds(self, saved: _SavedMinds) -> None:
        asleep, failing = (saved.asleep, saved.failing) if saved.minds == len(self._seats) else ({}, {})
        for place, seat in enumerate(self._seats.values()):
            self._faults.put_failures(seat, failing.get(place, NO_FAILURES))
            self._wake_up(seat, saved.lived.get(place, self._now_s))     # there may be fewer here than were saved
            if place in asleep:
                self._leave_out(seat)
                self._sleep(seat, asleep[place])

    def _live(self, elapsed_s: float, budget: Budget | None, only_rest: bool) -> None:
        now_s = self._now_s = self._now_s + elapsed_s
        while self._timers and self._timers[0][0] <= now_s:
            at_s, _, seat = heappop(self._timers)
            if at_s == seat.timer_s:
                self._wake_up(seat, seat.lived_s)
        order, awake = self._begin_round(only_rest), self._awake
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
        """Advance a mind up to now; return how long it sleeps (s)."""
        lived_s = seat.lived_s
        seat.lived_s = max(lived_s, now_s)
        try:
            rest_s = seat.mind.live(max(0.0, now_s - lived_s))
        except Exception as error:  # the other minds continue
            self._faults.failed(seat, self._name_of(seat.mind), -1, error)
            if self._seats.get(seat.mind) is not seat:      # it was removed before it raised
                self._faults.forget(seat)
            return inf if self._faults.is_quarantined(seat) else 0.0
        if self._faults.has_failing:
            self._faults.succeeded(seat)
        return rest_s

    def _counts_time(self, seat: MindSeat[AnyMind]) -> bool:
        """Return whether the time since its last turn counts: not if it sleeps until it is woken."""
        return seat.number in self._awake or seat.timer_s < inf

    def _leave_out(self, seat: MindSeat[AnyMind]) -> None:
        seat.timer_s = inf
        self._sleep(seat, inf)

    def _wake_up(self, seat: MindSeat[AnyMind], lived_s: float) -> None:
        """Visit a mind in the next tick, counting time from ``lived_s``; a quarantined mind is not woken."""
        seat.lived_s = lived_s
        if not self._faults.is_quarantined(seat):
            seat.timer_s = inf
            self._wake(seat)

    def _called(self, mind: AnyMind) -> str:
        return self._name_of(mind)
