"""Populations: the habit trees, or the minds, of many characters as a single task that visits only awake ones."""
from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from ai_core.budget import Budget, check_budget
from ai_core.clock import TimeIndex
from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_runner_loops import HabitContext, HabitPlace, TickMember, tick_in_turn
from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.errors import check_type, finite_number, shown
from ai_core.faults import FAILURES_STATE, NO_FAILURES, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import Change, DeclaredState, Saveable
from ai_core.saving.fields import LATEST_S, State
from ai_core.saving.kinds import MapOf, Record, Row, Seconds, Whole
from ai_core.scheduling.task import Turn

__all__ = ["Decider", "DeciderPopulation", "HabitPopulation", "MindPopulation"]


class PopulationSlot(Protocol):
    """The slot of a member in a population.

    Attributes:
        number: order of turns, from 1.
        timer_s: population time at which the member may wake (s); inf for no timer.
        is_paused: True if the member is paused: it has no turns, and its time stands still.
        late_s: while paused: earlier time that it has not yet processed (s).
    """

    number: int
    timer_s: float
    is_paused: bool
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

    def is_paused(self, member: AnyMember) -> bool:
        """Return whether a member is paused and has no turns.

        Raises:
            ValueError: if it is not in this population.
        """
        return self._slot_of(member).is_paused

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
            ValueError: if it is in a population already, or the time is negative or too long.

        Cost: O(1).
        """
        slot = self._slot_for(member, self._checked_late(late_s))
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

    def pause(self, member: AnyMember, *, late_s: float = 0.0) -> None:
        """Pause a member until ``resume``: it has no turns, its time stands still, and it keeps its place.

        Args:
            member: a member of this population.
            late_s: game time since the last tick (s), which it receives after ``resume``.

        Raises:
            ValueError: if it is not in this population, or the time is negative or too long.
        """
        slot = self._slot_of(member)
        late_s = self._checked_late(late_s)
        if slot.is_paused:
            slot.late_s = late_s
        else:
            self._pause(slot, late_s)

    def resume(self, member: AnyMember, *, late_s: float = 0.0) -> None:
        """Resume a member after ``pause``, or release a mind from quarantine.

        Args:
            member: a paused or quarantined member; for other members nothing changes.
            late_s: game time since the last tick (s), which does not count for the member.

        Raises:
            ValueError: if it is not in this population, or the time is negative or too long.
        """
        self._resume(self._slot_of(member), self._checked_late(late_s))

    def owed_s(self, member: AnyMember) -> float:
        """Return the time that a paused member receives after ``resume`` (s).

        Raises:
            ValueError: if it is not in this population.
        """
        return self._slot_of(member).late_s

    def tick(
        self, elapsed_s: float, budget: Budget | None = None, *, only_rest: bool = False,
        moment: TimeIndex | None = None,
    ) -> None:
        """Advance all awake members by ``elapsed_s`` of game time.

        Args:
            elapsed_s: time since the last tick (s), 0 or more.
            budget: limits the work; None for no limit.
            only_rest: visit only the members that the last tick did not reach before its budget was spent.
            moment: moment of traces and reports; None for the clock of each member.

        Raises:
            ValueError: if the time is negative, or the sum of all exceeds 1e12 s.
            RuntimeError: if called from inside one of its members.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s <= LATEST_S - self._now_s:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0, maximum=LATEST_S - self._now_s)
        if budget is not None and not isinstance(budget, Budget):
            check_budget(budget)  # type: ignore[unreachable]
        if self._is_busy:
            raise RuntimeError("a population was ticked from inside one of its members; tick it from outside")
        self._now_s += elapsed_s
        self._is_busy = True
        try:
            self._live(moment, budget, only_rest)
        finally:
            self._is_busy = False

    def advance(self, turn: Turn) -> None:
        """Tick as a task of a scheduler: ``scheduler.add(population)``."""
        check_type("turn", turn, Turn, "without one, call tick(elapsed_s)")
        self.tick(turn.elapsed_s, turn.budget, moment=turn.now)

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
            raise ValueError(f"{self._called(member)} is not in this population; add it first")
        return slot

    def _checked_late(self, late_s: float) -> float:
        return finite_number("late_s", late_s, minimum=0, maximum=LATEST_S - self._now_s)

    def _called(self, member: AnyMember) -> str:
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
        if slot.is_paused or slot.number in self._awake:
            return
        if not self._awake and self.on_wake is not None:
            self.on_wake()
        self._awake[slot.number] = slot
        self._order = None
        self._most_awake = max(self._most_awake, len(self._awake))

    @classmethod
    def without_members(cls, state: Mapping[str, Any]) -> State:
        """Return a checked state without what it holds of single members, for a population that lacks some of them.

        Members are saved by index: those after a missing one would get what was saved of another.
        """
        empty = cls().save_state()
        return {**empty, "seconds": state["seconds"]}

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
        return {place: one.late_s for place, one in enumerate(self._slots.values()) if one.is_paused}

    @_late.setter
    def _late(self, late: dict[int, float]) -> None:
        for place, slot in enumerate(self._slots.values()):
            slot.late_s = late.get(place, slot.late_s)


TURNS_STATE: dict[str, Any] = {
    "seconds": Seconds(at="_now_s"), "turns": Row(lambda *turns: turns, Whole(-1), Whole(-1), at="_turns"),
    "late": MapOf(Seconds(), key=Whole(), at="_late")}
"""The fields of a population; loading it is possible with fewer or more members."""


class HabitPopulation(DeciderPopulation[HabitTree, TickMember]):
    """Ticks the trees of many characters as a single task: ``scheduler.add(population)``.

    A sleeping tree is not visited and costs nothing, however many sleep. All runs of a
    habit with ``tick_batch`` are ticked at once, before the trees; the trees process
    the ended runs in the same advance.

    Trees take turns in the order in which they were added. If the budget is spent
    before all had their turn, the next advance begins with the rest; each tree receives
    the true time since its last turn. Each turn is a step of the budget.

    Trees are saved separately.

    Args:
        faults: receives the exceptions of batches; None makes one that logs.

    Cost: O(awake trees + habits in batches); falling asleep or waking O(log trees).
    """

    SHOWN = ("awake_count", "seconds")

    STATE = DeclaredState(**TURNS_STATE)

    def __init__(self, *, faults: FaultIsolation | None = None) -> None:
        super().__init__(faults=faults)
        self._batches: dict[HabitPlace, HabitBatch] = {}

    @property
    def is_asleep(self) -> bool:
        """True if all trees sleep without a timer and there are no batches, so that ticks have nothing to do."""
        return not (self._awake or self._timers or self._batches)

    def _slot_for(self, tree: HabitTree, late_s: float) -> TickMember:
        check_type("tree", tree, HabitTree)
        if tree.member is not None:
            raise ValueError(f"{tree.name!r} is already in a population; remove it there first")
        tree.member = TickMember(self, tree, self._next_number)
        tree.member.offset_s += late_s
        return tree.member

    def _release(self, member: TickMember) -> None:
        if not member.is_paused:
            self._pause(member, 0.0)
        member.tree.member = None

    def _pause(self, member: TickMember, late_s: float) -> None:
        member.late_s = late_s
        member.catch_up()
        member.tree.leave_batches()
        member.tree.wake(False)
        member.is_paused = True
        self._sleep(member, inf)

    def _resume(self, member: TickMember, late_s: float) -> None:
        if member.is_paused:
            member.is_paused = False
            member.was_moved()
            member.offset_s += late_s - member.late_s
            self._wake(member)

    def prepare_state(self, state: object) -> Change:
        """Check a saved state; return a function that loads it. Trees may be loaded before or after.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
        """
        change = super().prepare_state(state)
        for one in self._slots.values():
            one.catch_up()      # not when it is loaded: by then a tree may have its saved time
        return change

    def _finish_load(self) -> None:
        for one in self._slots.values():
            batched = one.tree.leave_batches()
            one.was_loaded()
            for run in batched:
                self.join_batch(run)
            self.settle(one)
        if self.on_wake is not None:
            self.on_wake()

    def settle(self, member: TickMember) -> None:
        """Update the sleep of a tree after its time was loaded; called by trees."""
        member.timer_s = inf        # of another time
        if not member.tree.is_asleep:
            self._wake(member)
        elif not member.is_paused:
            self._sleep(member, member.tree.wakes_at_s + member.offset_s)

    def _live(self, moment: TimeIndex | None, budget: Budget | None, only_rest: bool) -> None:
        if self._batches and not only_rest:
            self._tick_batches()
        if self._timers and self._timers[0][0] <= self._now_s:
            self._wake_due()
        if self._awake or self._first:
            order = self._order
            if order is None or self._first or only_rest:
                order = self._begin_round(only_rest)
            else:
                self._until = 0
            self._first, error, asleep = tick_in_turn(order, self._now_s, moment, budget)
            for member in asleep:
                if member.tree.is_asleep and member.tree.member is member:  # a later one may have woken it
                    self._sleep(member, member.tree.wakes_at_s + member.offset_s)
            if error is not None:
                raise error

    def _wake_due(self) -> None:
        timers = self._timers
        while timers and timers[0][0] <= self._now_s:
            at_s, _, member = heappop(timers)
            if at_s != member.timer_s or member.tree.member is not member:
                continue  # another timer came before it, or it left
            member.timer_s = inf
            if member.is_paused or not member.tree.is_asleep:
                continue
            wakes_at_s = member.tree.wakes_at_s + member.offset_s
            if wakes_at_s <= self._now_s:
                self._wake(member)
            elif wakes_at_s < inf:
                member.timer_s = wakes_at_s
                heappush(timers, (wakes_at_s, member.number, member))

    def join_batch(self, run: HabitContext) -> None:
        """Add a run to the batch of its habit; called by trees."""
        place, member = run.place, run.tree.member
        assert member is not None
        batch = self._batches.get(place)
        if batch is None:
            batch = self._batches[place] = HabitBatch(place.columns)
        batch.join(run, member.offset_s)

    def _tick_batches(self) -> None:
        for place, batch in list(self._batches.items()):
            if not len(batch):
                del self._batches[place]
                continue
            key = f"tick_batch of {place.path}"
            assert place.tick_batch is not None
            try:
                if self._faults.is_quarantined(key):
                    raise RuntimeError(f"{key} is quarantined after repeated failures")
                ended = batch.tick(place.tick_batch, self._now_s)
                self._faults.succeeded(key)
            except Exception as error:  # its runs fail, the frame continues
                ended = [(context, Status.FAILED) for context in batch.contexts]
                if not self._faults.is_quarantined(key):
                    self._faults.failed(key, key, -1, error)
            for context, status in ended:
                batch.leave(context)        # its tree may have to wait for its turn
                context.batch_status = status
                context.tree.wake(False)


class Decider(Protocol):
    """Interface of a mind: an object that makes decisions over time."""

    def live(self, elapsed_s: float) -> float:
        """Advance by ``elapsed_s``; return how long the mind may sleep (s): 0 until the next tick, inf until woken."""
        ...


AnyMind = TypeVar("AnyMind", bound=Decider)


class MindSlot(Generic[AnyMind]):
    """The slot of a mind in a population.

    Attributes:
        number, timer_s, is_paused, late_s: as those of every ``PopulationSlot``.
        lived_s: population time up to which the mind has advanced (s).
    """

    __slots__ = ("is_paused", "late_s", "lived_s", "mind", "number", "timer_s")

    def __init__(self, mind: AnyMind, number: int, lived_s: float) -> None:
        self.number, self.timer_s, self.is_paused, self.late_s = number, inf, False, 0.0
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
    until ``resume``.

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

    def __init__(self, *, faults: FaultIsolation | None = None, name_of: Callable[[AnyMind], str] = repr) -> None:
        super().__init__(faults=faults)
        self._name_of = name_of

    def wake(self, mind: AnyMind, *, late_s: float = 0.0) -> None:
        """Wake a mind, so that the next tick visits it. A paused or quarantined mind is not woken.

        Args:
            mind: a mind of this population.
            late_s: game time since the last tick (s), during which it slept.

        Raises:
            ValueError: if it is not in this population, or the time is negative or too long.
        """
        slot, late_s = self._slot_of(mind), self._checked_late(late_s)
        if slot.number not in self._awake:
            self._wake_up(slot, self._now_s + late_s)

    def _slot_for(self, mind: AnyMind, late_s: float) -> MindSlot[AnyMind]:
        if mind in self._slots:
            raise ValueError(f"{self._name_of(mind)} is already in this population; remove it first")
        return MindSlot(mind, self._next_number, self._now_s + late_s)

    def _release(self, slot: MindSlot[AnyMind]) -> None:
        self._sleep_until_woken(slot)
        self._faults.forget(slot)

    def _pause(self, slot: MindSlot[AnyMind], late_s: float) -> None:
        slot.late_s = late_s + (max(0.0, self._now_s - slot.lived_s) if self._counts_time(slot) else 0.0)
        slot.is_paused = True
        self._sleep_until_woken(slot)

    def _resume(self, slot: MindSlot[AnyMind], late_s: float) -> None:
        if slot.is_paused or self._faults.is_quarantined(slot):
            self._faults.release(slot)
            slot.is_paused = False
            self._wake_up(slot, self._now_s + late_s - slot.late_s)
            slot.late_s = 0.0

    @property
    def _saved_minds(self) -> _SavedMinds:
        saved = _SavedMinds(len(self._slots), {}, {}, {})
        for place, slot in enumerate(self._slots.values()):
            if self._counts_time(slot) and slot.lived_s != self._now_s:
                saved.lived[place] = slot.lived_s
            if slot.number not in self._awake and not slot.is_paused:
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
                self._sleep_until_woken(slot)
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

    def _sleep_until_woken(self, slot: MindSlot[AnyMind]) -> None:
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
