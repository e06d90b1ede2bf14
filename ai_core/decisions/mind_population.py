"""A population of minds, such as state machines: a single task that visits only awake minds."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heappop
from math import inf
from typing import Generic, NamedTuple, Protocol, TypeVar

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.decisions.population import TURNS_STATE, DeciderPopulation
from ai_core.errors import finite_number
from ai_core.faults import FAILURES_STATE, NO_FAILURES, Failures, FaultIsolation
from ai_core.saving.declared_state import DeclaredState, MapOf, Record, Seconds, Whole

__all__ = ["Decider", "MindPopulation"]


class Decider(Protocol):
    """Interface of a mind: an object that makes decisions over time."""

    def live(self, elapsed_s: float) -> float:
        """Advance by ``elapsed_s``; return how long the mind may sleep (s): 0 until the next tick, inf until woken."""
        ...


AnyMind = TypeVar("AnyMind", bound=Decider)


class MindSlot(Generic[AnyMind]):
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


class MindPopulation(DeciderPopulation[AnyMind, MindSlot[AnyMind]]):
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

    def __init__(
        self, *, faults: FaultIsolation | None = None, name_of: Callable[[AnyMind], str] = repr,
    ) -> None:
        super().__init__(faults=faults)
        self._name_of = name_of

    def wake(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Wake a mind, so that the next tick visits it. A paused or quarantined mind is not woken.

        Args:
            mind: a mind of this population.
            late_s: game time since the last tick (s), during which it slept.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
        """
        slot, late_s = self._slot_of(mind), finite_number("late_s", late_s, minimum=0)
        if slot.number not in self._awake:
            self._wake_up(slot, self._now_s + late_s)

    def _slot_for(self, mind: AnyMind, late_s: float) -> MindSlot[AnyMind]:
        if mind in self._slots:
            raise ValueError(f"{self._name_of(mind)} is already in this population; remove it first")
        return MindSlot(mind, self._next_number, self._now_s + late_s)

    def _release(self, slot: MindSlot[AnyMind]) -> None:
        self._leave_out(slot)
        self._faults.forget(slot)

    def _pause(self, slot: MindSlot[AnyMind], late_s: float) -> None:
        slot.late_s = late_s + (max(0.0, self._now_s - slot.lived_s) if self._counts_time(slot) else 0.0)
        slot.is_resting = True
        self._leave_out(slot)

    def _resume(self, slot: MindSlot[AnyMind], late_s: float) -> None:
        if slot.is_resting or self._faults.is_quarantined(slot):
            self._faults.release(slot)
            slot.is_resting = False
            self._wake_up(slot, self._now_s + late_s - slot.late_s)
            slot.late_s = 0.0

    @property
    def _saved_minds(self) -> _SavedMinds:
        """The times and failures of all minds, for saves."""
        saved = _SavedMinds(len(self._slots), {}, {}, {})
        for place, slot in enumerate(self._slots.values()):
            if self._counts_time(slot) and slot.lived_s != self._now_s:
                saved.lived[place] = slot.lived_s
            if slot.number not in self._awake and not slot.is_resting:
                saved.asleep[place] = slot.timer_s
            if (failures := self._faults.failures_of(slot)) != NO_FAILURES:
                saved.failing[place] = failures
        return saved

    @_saved_minds.setter
    def _saved_minds(self, saved: _SavedMinds) -> None:
        asleep, failing = (saved.asleep, saved.failing) if saved.minds == len(self._slots) else ({}, {})
        for place, slot in enumerate(self._slots.values()):
            self._faults.put_failures(slot, failing.get(place, NO_FAILURES))
            self._wake_up(slot, saved.lived.get(place, self._now_s))     # there may be fewer here than were saved
            if place in asleep:
                self._leave_out(slot)
                self._sleep(slot, asleep[place])

    def _live(self, moment: TimeIndex | None, budget: Budget | None, only_rest: bool) -> None:
        now_s = self._now_s
        while self._timers and self._timers[0][0] <= now_s:
            at_s, _, slot = heappop(self._timers)
            if at_s == slot.timer_s:
                self._wake_up(slot, slot.lived_s)
        order, awake = self._begin_round(only_rest), self._awake
        for index, slot in enumerate(order):
            if budget is not None:
                if index and budget.is_spent:
                    self._first = slot.number
                    break
                budget.spend()
            if slot.number not in awake:
                continue
            rest_s = self._visit(slot, now_s)
            if rest_s > 0 and slot.number in awake:
                self._sleep(slot, now_s + rest_s)

    def _visit(self, slot: MindSlot[AnyMind], now_s: float) -> float:
        """Advance a mind up to now; return how long it sleeps (s)."""
        lived_s = slot.lived_s
        slot.lived_s = max(lived_s, now_s)
        try:
            rest_s = slot.mind.live(max(0.0, now_s - lived_s))
        except Exception as error:  # the other minds continue
            self._faults.failed(slot, self._name_of(slot.mind), -1, error)
            if self._slots.get(slot.mind) is not slot:      # it was removed before it raised
                self._faults.forget(slot)
            return inf if self._faults.is_quarantined(slot) else 0.0
        if self._faults.has_failing:
            self._faults.succeeded(slot)
        return rest_s

    def _counts_time(self, slot: MindSlot[AnyMind]) -> bool:
        """Return whether the time since its last turn counts: not if it sleeps until it is woken."""
        return slot.number in self._awake or slot.timer_s < inf

    def _leave_out(self, slot: MindSlot[AnyMind]) -> None:
        slot.timer_s = inf
        self._sleep(slot, inf)

    def _wake_up(self, slot: MindSlot[AnyMind], lived_s: float) -> None:
        """Visit a mind in the next tick, counting time from ``lived_s``; a quarantined mind is not woken."""
        slot.lived_s = lived_s
        if not self._faults.is_quarantined(slot):
            slot.timer_s = inf
            self._wake(slot)

    def _called(self, mind: AnyMind) -> str:
        return self._name_of(mind)
