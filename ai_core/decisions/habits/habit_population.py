"""A population of habit trees: a single task that visits only awake trees."""
from __future__ import annotations

from heapq import heappop, heappush
from math import inf

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_runner_loops import HabitContext, HabitPlace, TickMember, tick_in_turn
from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.population import TURNS_STATE, DeciderPopulation
from ai_core.errors import shown
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import Change, DeclaredState

__all__ = ["HabitPopulation"]


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

    STATE = DeclaredState(**TURNS_STATE)

    def __init__(self, *, faults: FaultIsolation | None = None) -> None:
        super().__init__(faults=faults)
        self._batches: dict[HabitPlace, HabitBatch] = {}

    @property
    def is_asleep(self) -> bool:
        """True if all trees sleep without a timer and there are no batches, so that ticks have nothing to do."""
        return not (self._awake or self._timers or self._batches)

    def _slot_for(self, tree: HabitTree, late_s: float) -> TickMember:
        if not isinstance(tree, HabitTree):
            raise TypeError(f"tree must be a HabitTree, got {shown(tree)}")
        if tree.member is not None:
            raise ValueError(f"{tree.name!r} is already in a population; remove it there first")
        tree.member = TickMember(self, tree, self._next_number)
        tree.member.offset_s += late_s
        return tree.member

    def _release(self, member: TickMember) -> None:
        if not member.is_resting:
            self._pause(member, 0.0)
        member.tree.member = None

    def _pause(self, member: TickMember, late_s: float) -> None:
        member.late_s = late_s
        member.catch_up()
        member.tree.leave_batches()
        member.tree.wake(False)
        member.is_resting = True
        self._sleep(member, inf)

    def _resume(self, member: TickMember, late_s: float) -> None:
        if member.is_resting:
            member.is_resting = False
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
        """Let a tree sleep or have its turns after its time was loaded; called by trees."""
        member.timer_s = inf        # of another time
        if not member.tree.is_asleep:
            self._wake(member)
        elif not member.is_resting:
            self._sleep(member, member.tree.wakes_at_s + member.offset_s)

    def _live(self, moment: TimeIndex | None, budget: Budget | None, only_rest: bool) -> None:
        if self._batches and not only_rest:
            self._tick_batches()
        if self._timers and self._timers[0][0] <= self._now_s:
            self._wake_due()
        if self._awake or self._first:
            order = self._begin_round(only_rest)
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
            if member.is_resting or not member.tree.is_asleep:
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
