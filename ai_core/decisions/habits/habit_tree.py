"""A habit tree: one character living by a definition of habits."""
from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar, Literal

from ai_core.clock import Clock, checked_clock
from ai_core.decisions.habits.habit_choice import RandomSource, check_random
from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habit_edits import added, carry_over, removed, replaced
from ai_core.decisions.habits.habit_noticing import HabitMessaging
from ai_core.decisions.habits.habit_plan import plan_of
from ai_core.decisions.habits.habit_state import PLAIN_VALUES, SaveableHabits, active_runs
from ai_core.decisions.habits.habit_text import active_paths, live_view
from ai_core.decisions.habits.habits import Habit, Status
from ai_core.errors import check_kind, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

__all__ = ["HabitTree"]

RUNNING = Status.RUNNING


class HabitTree(HabitMessaging, SaveableHabits):
    """Runs one definition for one character.

    Rules, beyond those of ``Habit`` and ``Launch``:

    - A habit's own ``tick`` comes first, then its children launch and tick,
      then those beside them. An end reported by its tick ends them all.
    - A prioritized child that wants to run sends the active one and all below
      it back to pending first, children before parents, and then begins.
      Nothing above the active one is asked while a hold forbids it.
    - When a prioritized child ends, all are asked from the most urgent on, in
      the same tick and the one that ended too: nothing less urgent begins in
      between. One that ends in the tick in which it began is asked again in
      the next, so no tick goes round in a circle.
    - A sequence fails when a child fails, or cannot run when its turn comes. A
      random habit fails when no child can run or the chosen one fails.
    - The root that ends is pending until the next tick.
    - A habit that is over its time fails instead of being ticked.
    - A callback that raises is reported; the habit fails, and its ``exit`` is
      still called. A habit that failed so in several runs in a row is left out
      until ``release_quarantined``.
    - A tree in which all wait (for a name, a time, the end of a cooldown)
      sleeps: its tick looks at the time, and a ``HabitPopulation`` does not
      even call it.

    Args:
        root: the definition, shared with other characters.
        owner: the character; ``context.owner`` for its habits.
        name: what traces, reports and ``to_text`` call it; else the root's name.
        clock: tells traces and reports what time it is; None counts its ticks.
        random: what random habits choose with.
        trace: ``state_entered`` is called for each habit that begins.
        faults: told of callbacks that raise; None makes one that logs.
        blackboard: what the character knows: a ``Blackboard``, or a dict whose
            changes wake nobody; None starts an empty Blackboard.
        values: writes blackboard and memories into saves; None knows plain data.
        parts: what of the character belongs to each place of the plan, in the
            order of ``plan.places``; ``context.part`` for its habits. Lets
            definitions be shared by characters whose habits act on something
            of their own.

    Attributes:
        plan: the places of its definition.
        root_run: of the root, None while it is pending.
        endings: by place, how its last run ended.
        holds: by place, the priority of the hold it has.
        on_wake: called with the tree when something wakes it from its sleep
            before ``wakes_at_s``; None, or set by whoever ticks it.
        on_entered: called with the context of each habit that begins, before
            its ``enter``; None, or set by who wants to know.
        on_exited: the same after each ``exit``.
        listening: says whether these two want to be called just now, so that
            habits that begin and end at once need not tell; None: they do.
        listening_counter: a capsule "ai_core.counter" of a uint64 that changes
            when the answer may have; then a False is good for a tenth of a
            second (game time). None: it is asked each time.

    Raises:
        CycleError: if a habit stands below itself.
        ValueError: if the tree cannot run, with the path of the habit that
            cannot; or has random habits and no ``random`` was handed in.

    Cost: O(1) once some character has the same definition, O(places) before.
    A tick is O(active habits that are ticked, and pending ones that are asked).
    """

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    __slots__ = ("__weakref__", "_kept", "values")

    def __init__(
        self,
        root: Habit,
        *,
        owner: Any = None,
        name: str = "",
        clock: Clock | None = None,
        random: RandomSource | None = None,
        trace: Trace | None = None,
        faults: FaultIsolation | None = None,
        blackboard: dict[str, Any] | None = None,
        values: SavedValues | None = None,
        parts: Sequence[Any] | None = None,
    ) -> None:
        super().__init__()
        plan = plan_of(root)
        if random is not None or plan.random_path is not None:
            check_random(plan, random)
        if not isinstance(name, str):
            raise TypeError(f"name must be a text, got {shown(name)}")
        self.plan, self.owner, self.name = plan, owner, name or root.name
        self.parts = parts
        if clock is not None:
            checked_clock(clock)
        check_kind("trace", trace, Trace)
        check_kind("faults", faults, FaultIsolation)
        self.values = values or PLAIN_VALUES
        self._clock, self._random, self._trace, self._isolation = clock, random, trace, faults
        self._kept: dict[int, dict[str, Any]] | None = None
        self._watched = self.on_wake = None
        if blackboard is not None:
            self._blackboard = blackboard
            self._watch(plan.keys)

    @property
    def definition(self) -> Habit:
        """The habits it lives by; its own after an edit."""
        return self._next_root or self.plan.root.habit

    @property
    def is_active(self) -> bool:
        """True while the root runs."""
        return self.root_run is not None

    def stop(self) -> None:
        """End every active habit, children before parents; the next tick begins anew.

        What was held, told, kept, failed or cooling down is forgotten. From
        inside a habit of this tree: as soon as the tick is over.
        """
        if self._is_busy:
            self._should_stop = True
            return
        self._catch_up()
        self._wake()
        self._is_busy = True
        try:
            self._stop_now()
            self._change_now()  # an exit may have asked for it
        finally:
            self._is_busy = False
        self._raise_kept_errors()

    def change(self, root: Habit, parts: Sequence[Any] | None = None) -> None:
        """Live by another definition from now on, or as soon as the tick is over.

        A habit goes on if the new definition has it at the same path, with
        other children at most, and its parents go on. The rest ends first. What
        was kept and cools down stays with its path.

        Args:
            root: the definition.
            parts: what belongs to its places, as for a new tree; None keeps it by path.

        Raises:
            CycleError, ValueError, TypeError: as for a new tree; then nothing changes.

        Cost: O(places).
        """
        check_random(plan_of(root), self._random)
        self._next_root, self._next_parts = root, parts
        if not self._is_busy:
            self._catch_up()
            self._wake()
            self._is_busy = True
            try:
                self._change_now()
            finally:
                self._is_busy = False
            self._raise_kept_errors()

    def add(self, path: str, habit: Habit, *, before: str | None = None) -> None:
        """Add a habit below the one at ``path``, before a sibling or as the last.

        Raises:
            UnknownNameError: if there is no such habit or sibling.
            ValueError: if it cannot run there.
        """
        self.change(added(self.definition, path, habit, before))

    def remove(self, path: str) -> None:
        """Remove a habit; if it is active it ends first.

        Raises:
            UnknownNameError: if there is no such habit.
            ValueError: if it is the root, or its parent cannot be without it.
        """
        self.change(removed(self.definition, path))

    def replace(self, path: str, habit: Habit) -> None:
        """Put another habit in the place of one; if that is active it ends first.

        Raises:
            UnknownNameError: if there is no such habit.
            ValueError: if it cannot run there.
        """
        self.change(replaced(self.definition, path, habit))

    def release_quarantined(self) -> None:
        """Let habits run again that were left out because they kept failing."""
        if self._faults is not None and self._faults.release():
            self._wake(asks_all=True)

    def active_paths(self) -> list[str]:
        """Return the path of each active habit that has none active below it."""
        return active_paths(self.root_run)

    def to_text(self) -> str:
        """Return what is active, what is pending, and why; one habit per line."""
        self._catch_up()
        return live_view(self)

    def _forget(self) -> None:
        """Know nothing of what was held, told, kept or cooling down; ask everybody."""
        self.holds.clear()
        self._agenda = self._cooldowns = self._asks_at_s = self._noticed = self._told = None
        self._answered = self._kept = None
        self._rebuild_at_s = inf
        self._is_lasting = False
        self._wake(asks_all=True)

    def _leave_batches(self) -> list[HabitContext]:
        """Let its runs be in no batch; return those that were."""
        batched = []
        for run in active_runs(self.root_run):
            if run.batch is not None:
                run.batch.leave(run)
                batched.append(run)
        return batched

    def _stop_now(self) -> None:
        self._should_stop = False
        if self.root_run is not None:
            self._end(self.root_run, None, "stopped")
        self._should_stop = False  # an exit that asks for a stop has it
        self._forget()
        if self._faults is not None:
            self._faults.release()

    def _change_now(self) -> None:
        """Exchange the plan; what goes on finds its place in the new one by path."""
        while self._next_root is not None or self._should_stop:  # an exit may ask for yet another change, or a stop
            if self._should_stop:
                self._stop_now()
                continue
            plan, parts = plan_of(self.definition), self._next_parts
            self._next_root = self._next_parts = None
            carry_over(self, plan, parts)
            self._wake(asks_all=True)
            self._watch(self.plan.keys)

    def _hold(self, index: int, priority: float) -> None:
        if index in self.holds:
            self._wake(asks_all=True)  # who was held back by a higher one was not asked
        self.holds[index] = priority

    def _release(self, index: int) -> None:
        if self.holds.pop(index, None) is not None:
            self._wake(asks_all=True)

    def _kept_by(self, index: int) -> dict[str, Any]:
        if self._kept is None:
            self._kept = {}
        return self._kept.setdefault(index, {})
