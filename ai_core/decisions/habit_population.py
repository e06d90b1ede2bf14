"""Many characters living by habits: one piece of work for all, which visits only who is awake."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from ai_core.budget import Budget
from ai_core.clock import TimeIndex
from ai_core.decisions.habit_batch import HabitBatch
from ai_core.decisions.habit_context import AWAKE, HabitContext
from ai_core.decisions.habit_tree import HabitTree
from ai_core.decisions.habits import Status
from ai_core.errors import finite_number, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Turn

if TYPE_CHECKING:
    from ai_core.decisions.habit_plan import Place

__all__ = ["HabitPopulation", "Member"]


class Member:
    """A tree in a population.

    Attributes:
        number: by which members take their turns.
        offset_s: the population's time less the tree's (s).
        is_awake: visited at the next advance.
    """

    __slots__ = ("is_awake", "number", "offset_s", "population", "tree")

    def __init__(self, population: HabitPopulation, tree: HabitTree, number: int) -> None:
        self.population, self.tree, self.number = population, tree, number
        self.offset_s = population.seconds - tree._now_s
        self.is_awake = False

    def catch_up(self) -> None:
        """Tell a tree that sleeps what time it is."""
        self.tree._now_s = self.population.seconds - self.offset_s

    def was_moved(self) -> None:
        """Note that the tree's time was set; by loading."""
        self.offset_s = self.population.seconds - self.tree._now_s

    def woke(self) -> None:
        """Visit the tree at the next advance."""
        self.population._wake(self)


class HabitPopulation:
    """Ticks the trees of many characters: ``scheduler.add(population.advance)``.

    Who waits is not visited and costs nothing, however many wait. Where a habit
    offers ``tick_batch``, all who are in it are ticked at once, before the trees
    are; what ended so is seen to by the trees in the same advance.

    Trees take their turns in the order in which they were added. If the budget
    is spent before all had theirs, the next advance begins with the rest; the
    time they are told is true. Each tree is one step of a budget.

    Args:
        faults: told of batches that raise; None makes one that logs.

    Cost: O(trees awake + habits in batches); a tree that falls asleep or wakes
    O(log trees).
    """

    def __init__(self, *, faults: FaultIsolation | None = None) -> None:
        self._faults = faults or FaultIsolation()
        self._members: dict[HabitTree, Member] = {}
        self._next_number = 0
        self._now_s = 0.0
        self._awake: dict[int, Member] = {}
        self._most_awake = 0  # since that dict was made: it keeps room for so many
        self._timers: list[tuple[float, int, Member]] = []
        self._batches: dict[Place, HabitBatch] = {}
        self._first = 0  # number of the member that comes first in the next advance
        self._is_busy = False

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[HabitTree]:
        return iter(self._members)

    def __contains__(self, tree: object) -> bool:
        return tree in self._members

    @property
    def seconds(self) -> float:
        """Game time this population has lived (s)."""
        return self._now_s

    @property
    def awake_count(self) -> int:
        """How many trees the next advance visits, if no other wakes."""
        return len(self._awake)

    def add(self, tree: HabitTree) -> HabitTree:
        """Let a tree live with the others from the next advance on; return it.

        Raises:
            TypeError: if it is no HabitTree.
            ValueError: if it is in a population already.

        Cost: O(1), whoever else is here.
        """
        if not isinstance(tree, HabitTree):
            raise TypeError(f"tree must be a HabitTree, got {shown(tree)}")
        if tree._member is not None:
            raise ValueError(f"{tree.name!r} is in a population already; remove it there first")
        member = Member(self, tree, self._next_number)
        self._next_number += 1
        self._members[tree] = tree._member = member
        self._wake(member)
        return tree

    def remove(self, tree: HabitTree) -> None:
        """Let a tree go as it is; to end what is active, call its ``stop`` first.

        Raises:
            ValueError: if it is not here.

        Cost: O(1), and O(active habits in batches).
        """
        member = self._members.pop(tree, None)
        if member is None:
            raise ValueError(f"{shown(tree)} is not in this population")
        member.catch_up()
        tree._leave_batches()
        tree._member = None
        tree._wake()
        self._awake.pop(member.number, None)

    def tick(self, elapsed_s: float, budget: Budget | None = None) -> None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.
            budget: what it may use; None for all.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside one of its trees.
        """
        self._live(finite_number("elapsed_s", elapsed_s, minimum=0), None, budget)

    def advance(self, turn: Turn) -> None:
        """Tick as a scheduler's work: ``scheduler.add(population.advance)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)};"
                " add population.advance to the scheduler, not the population"
            )
        self._live(turn.elapsed_s, turn.now, turn.budget)

    def save_state(self) -> State:
        """Return its time and whose turn it is, as plain data; each tree is saved by itself."""
        order = list(self._members.values())
        first = next((place for place, one in enumerate(order) if one.number >= self._first), 0)
        return {"version": 1, "seconds": self._now_s, "first": first}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. Trees may be loaded before or after.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        seconds = fields.seconds("seconds")
        first = fields.whole("first", maximum=max(len(self._members) - 1, 0))
        fields.end()

        def change() -> None:
            members = list(self._members.values())
            for one in members:
                one.catch_up()
            self._now_s = seconds
            self._first = members[first].number if members else 0
            for one in members:
                one.was_moved()
                one.tree._leave_batches()
                one.tree._wake()
                self._wake(one)

        return change

    def _live(self, elapsed_s: float, moment: TimeIndex | None, budget: Budget | None) -> None:
        if self._is_busy:
            raise RuntimeError("a population was ticked from inside one of its trees; tick it from outside")
        self._now_s = now_s = self._now_s + elapsed_s
        self._is_busy = True
        first_error: Exception | None = None
        try:
            if self._batches:
                self._tick_batches()
            while self._timers and self._timers[0][0] <= now_s:
                at_s, _, member = heappop(self._timers)
                if member.tree._member is member and member.tree._wake_at_s + member.offset_s <= at_s:
                    self._wake(member)
            first_error = self._give_turns(moment, budget)
        finally:
            self._is_busy = False
        if first_error is not None:
            raise first_error

    def _give_turns(self, moment: TimeIndex | None, budget: Budget | None) -> Exception | None:
        """Visit who is awake, beginning with who had no turn the last time; return the first error."""
        first_error: Exception | None = None
        if len(self._awake) * 8 < self._most_awake:  # going through all that room would cost who sleeps
            self._awake = dict(self._awake.items())
            self._most_awake = len(self._awake)
        members = [self._awake[number] for number in sorted(self._awake)]
        begin = next((index for index, one in enumerate(members) if one.number >= self._first), 0)
        self._first = 0
        for index, member in enumerate(members[begin:] + members[:begin]):
            if budget is not None:
                if index and budget.is_spent:
                    self._first = member.number
                    break
                budget.spend()
            try:
                self._visit(member, moment)
            except Exception as error:  # asked to come through: when all had their turn
                first_error = first_error or error
        return first_error

    def _visit(self, member: Member, moment: TimeIndex | None) -> None:
        tree = member.tree
        if tree._member is not member:
            return  # removed by somebody who had a turn before
        tree._moment = moment
        tree._frame += 1
        try:
            tree._live_until(self._now_s - member.offset_s)
        finally:
            wakes_at_s = tree._wake_at_s
            if wakes_at_s > AWAKE:
                member.is_awake = False
                self._awake.pop(member.number, None)
                if wakes_at_s < inf:
                    heappush(self._timers, (wakes_at_s + member.offset_s, member.number, member))

    def _wake(self, member: Member) -> None:
        member.is_awake = True
        self._awake[member.number] = member
        self._most_awake = max(self._most_awake, len(self._awake))

    def join_batch(self, run: HabitContext) -> None:
        """Let a run, which was ticked now, be ticked with its like from now on; trees call this."""
        place = run.place
        batch = self._batches.get(place)
        if batch is None:
            batch = self._batches[place] = HabitBatch(place.columns)
        batch.join(run, self._now_s)

    def _tick_batches(self) -> None:
        for place, batch in list(self._batches.items()):
            if not len(batch):
                del self._batches[place]
                continue
            key = f"tick_batch of {place.path}"
            assert place.tick_batch is not None
            try:
                if self._faults.is_quarantined(key):
                    raise RuntimeError(f"{key} is left out, it kept failing")
                ended = batch.tick(place.tick_batch, self._now_s)
                self._faults.succeeded(key)
            except Exception as error:  # its runs fail, the frame goes on
                ended = [(context, Status.FAILED) for context in batch.contexts]
                if not self._faults.is_quarantined(key):
                    self._faults.failed(key, key, -1, error)
            for context, status in ended:
                context.batch_status = status
                context.tree._wake()
