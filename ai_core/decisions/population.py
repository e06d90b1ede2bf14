"""A population of deciding agents as a single task: membership, sleep and turns."""
from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from heapq import heapify, heappush
from math import inf
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, shown
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.declared_state import MapOf, Row, Saveable, Seconds, Whole
from ai_core.scheduling.task import Turn

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


AnyMember = TypeVar("AnyMember")
AnySlot = TypeVar("AnySlot", bound=PopulationSlot)


class DeciderPopulation(Saveable, Generic[AnyMember, AnySlot]):
    """Common base class of ``HabitPopulation`` and ``MindPopulation``: turns of awake members, in order of arrival.

    Attributes:
        on_wake: called when a member wakes while all are asleep; None, or set by the owner of the ticks.
    """

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    def __init__(self, *, faults: FaultIsolation | None = None) -> None:
        self._faults = given_faults(faults)
        self._now_s = 0.0
        self._slots: dict[AnyMember, AnySlot] = {}
        self._next_number = 1
        self._awake: dict[int, AnySlot] = {}  # slots by number
        self._most_awake = 0  # largest size of that dict so far, for which it keeps room
        self._order: list[AnySlot] | None = None  # slots of awake members, by number; None: must be rebuilt
        self._timers: list[tuple[float, int, AnySlot]] = []
        self._first = 0  # number of the slot with which the next tick begins after a spent budget; 0 for none
        self._until = 0  # number of the slot with which the interrupted round began; 0 for the first slot
        self._is_busy = False
        self.on_wake: Callable[[], object] | None = None

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[AnyMember]:
        return iter(self._slots)

    def __contains__(self, member: object) -> bool:
        return member in self._slots

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

    def is_resting(self, member: AnyMember) -> bool:
        """Return whether a member is paused and has no turns.

        Raises:
            ValueError: if it is not in this population.
        """
        return self._slot_of(member).is_resting

    def is_sleeping(self, member: AnyMember) -> bool:
        """Return whether a member is skipped until its timer ends or it is woken.

        Raises:
            ValueError: if it is not in this population.
        """
        return self._slot_of(member).number not in self._awake

    def add(self, member: AnyMember, *, late_s: float = 0.0) -> AnyMember:
        """Add a member and return it; its first turn is in the next tick.

        Args:
            member: a member that is in no population.
            late_s: game time since the last tick (s), which does not count for the member.

        Raises:
            TypeError: if it has a wrong type.
            ValueError: if it is in a population already, or the time is negative or not finite.

        Cost: O(1).
        """
        slot = self._slot_for(member, finite_number("late_s", late_s, minimum=0))
        self._next_number += 1
        self._slots[member] = slot
        self._wake(slot)
        return member

    def remove(self, member: AnyMember) -> None:
        """Remove a member; its state is unchanged. To end the active habits of a tree, call its ``stop`` first.

        Raises:
            ValueError: if it is not in this population.

        Cost: O(1), and O(active habits in batches).
        """
        slot = self._slot_of(member)
        self._release(slot)
        del self._slots[member]

    def rest(self, member: AnyMember, *, late_s: float = 0.0) -> None:
        """Pause a member until ``go_on``: it has no turns, its time stands still, and it keeps its place.

        Args:
            member: a member of this population.
            late_s: game time since the last tick (s), which it receives after ``go_on``.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
        """
        slot = self._slot_of(member)
        late_s = finite_number("late_s", late_s, minimum=0)
        if slot.is_resting:
            slot.late_s = late_s
        else:
            self._pause(slot, late_s)

    def go_on(self, member: AnyMember, *, late_s: float = 0.0) -> None:
        """Resume a member after ``rest``, or release a mind from quarantine.

        Args:
            member: a paused or quarantined member; for other members nothing changes.
            late_s: game time since the last tick (s), which does not count for the member.

        Raises:
            ValueError: if it is not in this population, or the time is negative or not finite.
        """
        self._resume(self._slot_of(member), finite_number("late_s", late_s, minimum=0))

    def tick(self, elapsed_s: float, budget: Budget | None = None, *, only_rest: bool = False) -> None:
        """Advance all awake members by ``elapsed_s`` of game time.

        Args:
            elapsed_s: time since the last tick (s), 0 or more.
            budget: limits the work; None for no limit.
            only_rest: visit only the members that the last tick did not reach before its budget was spent.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside one of its members.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s < inf:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if budget is not None:
            check_budget(budget)
        self._visit_all(elapsed_s, None, budget, only_rest)

    def advance(self, turn: Turn) -> None:
        """Tick as a task of a scheduler: ``scheduler.add(population)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"turn must be a scheduler's Turn, got {shown(turn)}; without one, call tick(elapsed_s)")
        self._visit_all(turn.elapsed_s, turn.now, turn.budget, False)

    def _visit_all(self, elapsed_s: float, moment: TimeIndex | None, budget: Budget | None, only_rest: bool) -> None:
        if self._is_busy:
            raise RuntimeError("a population was ticked from inside one of its members; tick it from outside")
        self._now_s += elapsed_s
        self._is_busy = True
        try:
            self._live(moment, budget, only_rest)
        finally:
            self._is_busy = False

    @abstractmethod
    def _slot_for(self, member: AnyMember, late_s: float) -> AnySlot:
        """Return a slot of the next number for a member that is not in a population."""

    @abstractmethod
    def _pause(self, slot: AnySlot, late_s: float) -> None:
        """Pause a member that is not paused."""

    @abstractmethod
    def _resume(self, slot: AnySlot, late_s: float) -> None:
        """Resume a member, if it is paused."""

    @abstractmethod
    def _release(self, slot: AnySlot) -> None:
        """Drop what belongs to a member that leaves."""

    @abstractmethod
    def _live(self, moment: TimeIndex | None, budget: Budget | None, only_rest: bool) -> None:
        """Visit the awake members."""

    def _slot_of(self, member: AnyMember) -> AnySlot:
        slot = self._slots.get(member)
        if slot is None:
            raise ValueError(f"{self._called(member)} is not in this population")
        return slot

    def _called(self, member: AnyMember) -> str:
        """Return the name of a member for messages."""
        return shown(member)

    def _begin_round(self, only_rest: bool) -> list[AnySlot]:
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

    def _sleep(self, slot: AnySlot, wakes_at_s: float) -> None:
        """Skip a slot until it is woken, or until a population time (s; inf for no timer)."""
        if self._awake.pop(slot.number, None) is not None:
            self._order = None
        if wakes_at_s < slot.timer_s:
            slot.timer_s = wakes_at_s
            heappush(self._timers, (wakes_at_s, slot.number, slot))
            if len(self._timers) > 2 * len(self._slots) + 64:  # drop the timers of waits that ended early
                self._timers = [(one.timer_s, one.number, one) for one in self._slots.values() if one.timer_s < inf]
                heapify(self._timers)

    def _wake(self, slot: AnySlot) -> None:
        """Visit a slot in the next tick, unless it is paused."""
        if slot.is_resting or slot.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[slot.number] = slot
        self._order = None
        self._most_awake = max(self._most_awake, len(self._awake))

    @property
    def _turns(self) -> tuple[int, int]:
        """The member with the next turn and the one with which the round began, by index; -1 for none.

        If a member has left, its successor is meant instead.
        """
        numbers = [one.number for one in self._slots.values()]
        first, until = (
            bisect_left(numbers, number) if number else -1 for number in (self._first, self._until))
        return first, until

    @_turns.setter
    def _turns(self, turns: tuple[int, int]) -> None:
        numbers = [one.number for one in self._slots.values()]
        self._first, self._until = (
            0 if one < 0 else numbers[one] if one < len(numbers) else self._next_number for one in turns)

    @property
    def _late(self) -> dict[int, float]:
        """Times that paused members have not yet processed (s), by index."""
        return {place: one.late_s for place, one in enumerate(self._slots.values()) if one.is_resting}

    @_late.setter
    def _late(self, late: dict[int, float]) -> None:
        for place, slot in enumerate(self._slots.values()):
            slot.late_s = late.get(place, slot.late_s)


TURNS_STATE: dict[str, Any] = {
    "seconds": Seconds(at="_now_s"), "turns": Row(lambda *turns: turns, Whole(-1), Whole(-1), at="_turns"),
    "late": MapOf(Seconds(), key=Whole(), at="_late")}
"""The fields of a population; loading it is possible with fewer or more members."""
