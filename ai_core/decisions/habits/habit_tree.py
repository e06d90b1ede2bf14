"""The habit tree of a character: a behaviour tree that runs a shared definition of habits."""
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
    """Runs a definition of habits for one character.

    Rules, beyond those of ``Habit`` and ``Launch``:

    - A habit's own ``tick`` is called first, then its children launch and tick, then
      its non-blocking children. If the ``tick`` ends the habit, all children end.
    - Before a more urgent prioritized child begins, the active child and all habits
      below it return to pending, children before parents. More urgent children are not
      tried while a hold forbids it.
    - When a prioritized child ends, all children are tried again in the same tick, from
      the most urgent on and including the ended child: no less urgent child begins in
      between. A child that ends in the tick in which it began is tried again in the
      next tick, so that a tick cannot loop.
    - A sequence fails when a child fails, or cannot run at its turn. A random habit
      fails when no child can run, or the chosen child fails.
    - A root that ends is pending until the next tick.
    - A habit that exceeds its ``timeout_s`` fails instead of being ticked.
    - An exception of a callback is reported; the habit fails, and its ``exit`` is still
      called. After failures in several runs in a row the habit is quarantined until
      ``release_quarantined``.
    - A tree in which all habits wait (for a name, a time, the end of a cooldown) sleeps:
      its tick only compares the time, and a ``HabitPopulation`` does not call it at all.

    Args:
        root: the definition, shared with other characters.
        owner: the character; ``context.owner`` for its habits.
        name: name in traces, reports and ``to_text``; the default is that of the root.
        clock: time for traces and reports; None counts ticks.
        random: random source of random habits.
        trace: its ``state_entered`` hook is called for each habit that begins.
        faults: receives the exceptions of callbacks; None makes one that logs.
        blackboard: the values of the character: a ``Blackboard``, or a dict, whose
            changes wake no habit; None makes an empty Blackboard.
        values: writes blackboard and memories into saves; None supports plain data only.
        parts: an object of the character for each place of the plan, in the order of
            ``plan.places``; ``context.part`` for its habits. Characters can then share
            definitions whose habits act on objects of the character.

    Attributes:
        plan: the places of the definition.
        root_run: the run of the root, None while it is pending.
        endings: by place, how its last run ended.
        holds: by place, the priority of its hold.
        on_wake: called with the tree when it is woken before ``wakes_at_s``; None, or
            set by the owner of the ticks.
        on_entered: called with the context of each habit that begins, before its
            ``enter``; None for no call.
        on_exited: called with the context after each ``exit``; None for no call.
        listening: returns whether these two need calls now, so that habits that begin
            and end at once can skip them; None for always.
        listening_counter: a capsule "ai_core.counter" of a uint64 that changes when the
            result of ``listening`` may have changed; a False is then valid for a tenth of
            a second (game time). None calls ``listening`` each time.

    Raises:
        CycleError: if a habit is below itself.
        ValueError: if a habit cannot run, with its path; or if the tree has random habits
            and ``random`` is None.

    Cost: O(1) if another character has the same definition, O(places) otherwise.
    A tick is O(active habits ticked + pending habits tried).
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
            raise TypeError(f"name must be a string, got {shown(name)}")
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
        """The definition of its habits; a private copy after an edit."""
        return self._next_root or self.plan.root.habit

    @property
    def is_active(self) -> bool:
        """True while the root runs."""
        return self.root_run is not None

    def stop(self) -> None:
        """End every active habit, children before parents; the next tick begins at the root.

        Holds, messages, kept values, failures and cooldowns are cleared. Inside a habit of
        this tree, this takes effect after the tick.
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
        """Change the definition, or as soon as the tick is over when called inside a habit.

        An active habit continues if the new definition has it at the same path, with
        different children at most, and its parents continue. The others end first. Kept
        values and cooldowns stay with their path.

        Args:
            root: the new definition.
            parts: an object for each place, as for a new tree; None keeps them by path.

        Raises:
            CycleError, ValueError, TypeError: as for a new tree; nothing changes then.

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
        """Add a habit below the habit at ``path``, before a sibling or as the last.

        Raises:
            UnknownNameError: if the path or the sibling does not exist.
            ValueError: if the habit cannot run there.
        """
        self.change(added(self.definition, path, habit, before))

    def remove(self, path: str) -> None:
        """Remove a habit; an active habit ends first.

        Raises:
            UnknownNameError: if the path does not exist.
            ValueError: if it is the root, or its parent requires it.
        """
        self.change(removed(self.definition, path))

    def replace(self, path: str, habit: Habit) -> None:
        """Replace the habit at ``path``; an active habit ends first.

        Raises:
            UnknownNameError: if the path does not exist.
            ValueError: if the new habit cannot run there.
        """
        self.change(replaced(self.definition, path, habit))

    def release_quarantined(self) -> None:
        """Release all quarantined habits."""
        if self._faults is not None and self._faults.release():
            self._wake(asks_all=True)

    def active_paths(self) -> list[str]:
        """Return the path of each active habit without an active child."""
        return active_paths(self.root_run)

    def to_text(self) -> str:
        """Return one line per habit: active or pending, and why."""
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
