"""Habit trees: the habits of a character, by a definition that characters share."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import inf, nan
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple

from ai_core.clock import Clock, checked_clock
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.callback_faults import failing_state
from ai_core.decisions.habits.habit_plan import HabitPlan, plan_of
from ai_core.decisions.habits.habit_runner_loops import HabitContext, HabitPlace, HabitRunner, TreeMessage
from ai_core.decisions.habits.habit_status import Launch, RandomSource, Status
from ai_core.decisions.habits.habits import Habit, added, removed, replaced
from ai_core.described import Described
from ai_core.errors import UnknownNameError, check_kind, check_kinds, shown
from ai_core.faults import Failures, FaultIsolation
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Refuse
from ai_core.saving.fields import LATEST_S, State, brief, checked_dict, place_in, refuse
from ai_core.saving.inner_state import is_saveable
from ai_core.saving.kinds import (
    Flag,
    GameDict,
    GameValue,
    Kind,
    ListOf,
    MapOf,
    Named,
    Number,
    Optional,
    Record,
    Seconds,
    Text,
    Whole,
)
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

__all__ = ["HabitTree"]


Refusal = Callable[[HabitPlace], str]

CANNOT = "cannot activate"
"""Why a habit is pending that was asked."""


class HabitRow(NamedTuple):
    """What one habit of a tree does: its run, None while it is pending, and why it began or is pending."""

    place: HabitPlace
    run: HabitContext | None
    why: str

    def state(self, tree: HabitRunner) -> str:
        """Return "active", "waiting", "cooling down", "quarantined", "pending", or how the last run ended."""
        if self.run is not None:
            return "waiting" if self.run.begins_next or self.run.wake_s > tree.seconds else "active"
        if self.why.startswith("cools down"):
            return "cooling down"
        ending = tree.endings[self.place.index] or ""
        has_ended = ending.startswith(("succeeded", "failed", "interrupted", "quarantined"))
        return ending.partition(" ")[0] if has_ended else "pending"


def rows_of(tree: HabitRunner, refusal: Refusal | None = None) -> list[HabitRow]:
    """Return a row for each habit; ``refusal`` returns why one that was asked cannot begin, "" if it does not know."""
    rows: list[HabitRow] = []
    root, run = tree.plan.root, tree.root_run
    _add_rows(rows, tree, root, run, "" if run else _waiting(tree, root, "waits for the next tick", None), refusal)
    return rows


def _add_rows(rows: list[HabitRow], tree: HabitRunner, place: HabitPlace, run: HabitContext | None, why: str,
    refusal: Refusal | None) -> None:
    rows.append(HabitRow(place, run, why if run is None else run.reason))
    for child in place.children:
        _add_rows(rows, tree, child, *_child(tree, child, place, run, refusal), refusal)


def live_view(tree: HabitRunner, rows: list[HabitRow]) -> str:
    """Return one line per habit: a mark, its name, active or pending, and why."""
    return "\n".join([tree.name, *(_line(tree, row) for row in rows)])


def _line(tree: HabitRunner, row: HabitRow) -> str:
    place, run = row.place, row.run
    indent = "  " * place.path.count("/")
    if run is None:
        ending = tree.endings[place.index]
        before = "" if ending in (None, row.why) else f" (before: {ending})"
        return f"{indent}  {place.name}: pending, {row.why}{before}"
    if run.begins_next:
        return f"{indent}* {place.name}: begins in the next tick, {run.reason}"
    held = ", holds" if place.strongest(tree.holds) is not None else ""
    score = f", score {tree.scores[place.index]:.2f}" if place.index in tree.scores else ""
    return (
        f"{indent}* {place.name}: active for {run.time_in_habit_s:.2f} s{held}{score}{_asleep(tree, run)},"
        f" {run.reason}")


def _asleep(tree: HabitRunner, run: HabitContext) -> str:
    rest_s = run.wake_s - tree.seconds
    if rest_s <= 0:
        return ""
    names = f" for {' or '.join(run.waits_for)}" if run.waits_for else ""
    return f", waits{names}{f' {rest_s:.2f} s' if rest_s < inf else ''}"


def _child(tree: HabitRunner, child: HabitPlace, parent: HabitPlace,
    run: HabitContext | None, refusal: Refusal | None) -> tuple[HabitContext | None, str]:
    """Return the run of a child, or None and why it is pending."""
    if run is None:
        return None, f"{parent.name} is not active"
    if child.is_beside:
        for one in run.beside or ():
            if one.place is child:
                return one, ""
        return None, _waiting(tree, child, CANNOT, refusal)
    active = run.child
    if active is None:
        return None, _waiting(tree, child, CANNOT, refusal)
    if active.place is child:
        return active, ""
    if parent.launch is Launch.RANDOM:
        return None, f"{active.place.name} was chosen"
    if parent.is_utility:
        score = f"score {tree.scores[child.index]:.2f}" if child.index in tree.scores else "not scored yet"
        return None, _waiting(tree, child, score, None)
    if parent.launch is not Launch.PRIORITIZED:
        is_done = child.number < active.place.number
        return None, "done" if is_done else f"its turn comes after {active.place.name}"
    if child.number > active.place.number:
        return None, f"{active.place.name} is more urgent"
    held = active.place.strongest(tree.holds)
    if held is not None and child.urgency <= held:
        return None, f"held back by {active.place.name}"
    return None, _waiting(tree, child, CANNOT, refusal)


def _waiting(tree: HabitRunner, place: HabitPlace, otherwise: str, refusal: Refusal | None) -> str:
    """Return what a pending habit waits for; ``refusal`` is called if it was asked."""
    rest_s = (tree._cooldowns or {}).get(place.index, 0.0) - tree.seconds
    if rest_s > 0:
        return f"cools down for {rest_s:.2f} s"
    why, habit = tree.why_unasked(place), place.habit
    if why:
        return why
    why = refusal(place) if refusal is not None else ""
    if not why and (habit.begins_on or habit.wakes_on):
        return f"waits for {' or '.join((*habit.begins_on, *habit.wakes_on))}"
    if habit.asks_every_s and tree.root_run is not None:
        return f"{why or otherwise}, asked every {habit.asks_every_s:g} s"
    return why or otherwise


BOARD = Optional(GameDict())
"""How the values of a blackboard are saved; None if there are none."""

PLAIN_VALUES = SavedValues()
"""For blackboards and memories with plain data; shared by all trees."""


class ByPath(Kind):
    """Values by place of a tree, saved by path; None if there are none."""

    def __init__(self, kind: Kind, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.kind = kind

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values by path."""
        places = owner.plan.places
        return {places[index].path: self.kind.save(one, owner) for index, one in sorted((value or {}).items())}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the values by place."""
        found, by_path = {}, owner.plan.by_path
        for path, one in checked_dict(place, plain).items():
            where = place_in(place, path)
            if path not in by_path:
                refuse(where, f"is not valid: {UnknownNameError('habit', path, by_path)}")
            found[by_path[path].index] = self.kind.read(one, where, owner)
        return found


class Result(Kind):
    """A final status."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return its name."""
        return value.value

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the status."""
        if plain not in ("succeeded", "failed"):
            refuse(place, f"must be 'succeeded' or 'failed', got {brief(plain)}")
        return Status(plain)


def _check_parts(parts: object, plan: HabitPlan) -> None:
    """Raise if ``parts`` is neither None nor a sequence with an object for each place of a plan."""
    if not hasattr(parts, "__getitem__"):       # the row of nodes of an engine is no Sequence by its class
        check_kind("parts", parts, Sequence)
    if hasattr(parts, "__len__") and len(parts) != len(plan.places):
        raise ValueError(
            f"parts must have an object for each of the {len(plan.places)} places of the plan, got {len(parts)};"
            " use None for places without one")


RUN_FIELDS: dict[str, Any] = {
    "began_s": Seconds(), "ticked_s": Seconds(), "elapsed_s": Seconds(0, LATEST_S),
    "waits_for": ListOf(Text(), make=tuple), "woken_by": Text(), "number": Whole(), "successes": Whole(),
    "failures": Whole(), "begins_next": Flag(), "is_faulty": Flag(), "batch_status": Optional(Result()),
    "restart_point": Text(), "payload": GameValue(), "memory": Optional(GameDict(at="_memory"))}
"""Fields of a run that are saved and loaded as they are."""

HABIT_STATE = DeclaredState(
    seconds=Seconds(at="_now_s"), frame=Whole(at="_frame"), tick_number=Whole(at="_tick_number"),
    behind_s=Seconds(-2 * LATEST_S, 2 * LATEST_S, absent=nan, at="_behind_s"),
    sleeps=Flag(at="_sleeps"), asks_all=Flag(at="_asks_all"),
    noticed=Optional(ListOf(Text(), make=set), at="_noticed"),
    messages=Optional(
        MapOf(Record(TreeMessage, payload=GameValue(), tick_number=Whole(), at_s=Seconds())), at="_messages"),
    active=ListOf(Record(
        SimpleNamespace, path=Named(lambda tree: tree.plan.by_path, "habit", name=attrgetter("path"), at="place"),
        reason=Text(), is_waiting=Flag(), wake_s=Number(absent=inf), is_in_batch=Flag(), **RUN_FIELDS,
    ), at="_saved_runs"),
    holds=ByPath(Number(absent=inf)), endings=ByPath(Text(), at="_saved_endings"),
    cooldowns=ByPath(Seconds(), at="_cooldowns"), asks_at_s=ByPath(Seconds(), at="_asks_at_s"),
    answered=ByPath(Whole(), at="_answered"), kept=ByPath(GameDict(), at="_kept"),
    failing=failing_state(
        lambda tree: [key for path in tree.plan.by_path for key in (path, f"can_activate of {path}")],
        at="_failing"),
    random=RandomGenerator(at="_random_in_use"), blackboard=Hook())
"""The state of a ``HabitTree``. The blackboard is last: its watchers see the loaded tree."""


class HabitTree(Described, HabitRunner):
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
        endings: by place, how its last run ended; None before its end.
        holds: by place, the priority of its hold.
        scores: by place, the last score of a child of a utility habit.
        on_wake: called with the tree when it is woken before ``wakes_at_s``; None, or
            set by the owner of the ticks.
        on_entered: called with the context of each habit that begins, before its
            ``enter``; None for no call.
        on_exited: called with the context after each ``exit``; None for no call. Of exceptions
            of these two the first is raised after the tick; no habit is affected.
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

    SHOWN = ("definition",)

    STATE = HABIT_STATE

    advance_takes: ClassVar[Literal["turn"]] = "turn"  # a scheduler calls advance with its Turn

    __slots__ = ("_next_parts", "_next_root", "_parts_to_end", "_should_stop", "_was_asleep", "values")

    plan: HabitPlan

    def __init__(
        self, root: Habit, *, owner: Any = None, name: str = "", clock: Clock | None = None,
        random: RandomSource | None = None, trace: Trace | None = None, faults: FaultIsolation | None = None,
        blackboard: dict[str, Any] | None = None, values: SavedValues | None = None, parts: Sequence[Any] | None = None,
    ) -> None:
        plan = plan_of(root)
        if random is not None or plan.random_path is not None:
            plan.check_random(random)
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {shown(name)}")
        if clock is not None:
            checked_clock(clock)
        check_kinds(
            trace=(trace, Trace), faults=(faults, FaultIsolation), blackboard=(blackboard, dict),
            values=(values, SavedValues))
        _check_parts(parts, plan)
        super().__init__(plan, owner, name or root.name, clock, random, trace, faults, blackboard, parts)
        self.values = values or PLAIN_VALUES
        self._should_stop = self._was_asleep = False
        self._next_root: Habit | None = None
        self._next_parts: Sequence[Any] | None = None
        self._parts_to_end: list[Any] = []

    @property
    def definition(self) -> Habit:
        """The definition of its habits; a private copy after an edit."""
        return self._next_root or self.plan.root.habit

    @property
    def clock(self) -> Clock | None:
        """Clock of traces and reports, or None."""
        return self._clock

    def stop(self) -> None:
        """End every active habit, children before parents; the next tick begins at the root.

        Holds, messages, kept values, failures and cooldowns are cleared. Inside a habit of
        this tree, this takes effect after the tick.
        """
        self._should_stop = True
        self._apply_changes()

    def end_part(self, part: object) -> None:
        """End the runs of the habit of a part, which is about to be removed, children before parents.

        Inside a habit of this tree, this takes effect after the tick.

        Cost: O(active habits).
        """
        self._parts_to_end.append(part)
        self._apply_changes()

    def change(self, root: Habit, parts: Sequence[Any] | None = None) -> None:
        """Change the definition, or at the end of the tick when called inside a habit.

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
        plan = plan_of(root)
        plan.check_random(self._random)
        _check_parts(parts, plan)
        self._next_root, self._next_parts = root, parts
        self._apply_changes()

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
            self.wake(True)

    def active_paths(self) -> list[str]:
        """Return the path of each active habit without an active child, in the order of the tree."""
        runs = [run for run in self.active_runs() if run.child is None and not run.beside]
        return [run.path for run in sorted(runs, key=lambda run: run.place.index)]

    def kept_at(self, index: int) -> dict[str, Any]:
        """Return the values that a habit keeps between its runs, by its place."""
        return (self._kept or {}).get(index, {})

    def rows(self, refusal: Refusal | None = None) -> list[HabitRow]:
        """Return what each habit does, parents before children; see ``rows_of``."""
        self.catch_up()
        return rows_of(self, refusal)

    def to_text(self, refusal: Refusal | None = None) -> str:
        """Return one line per habit: active or pending, and why; ``refusal`` is as for ``rows_of``."""
        return live_view(self, self.rows(refusal))

    def save_state(self) -> State:
        """Return active habits, holds, messages, memories and the blackboard, as plain data.

        Only the character's own scope of a ``Blackboard`` is included; the parent
        scopes are saved by the program that shares them.

        Raises:
            StateError: if the blackboard or a memory holds a value that is neither
                plain data nor a named object.
            TypeError: if the random generator of random habits cannot be saved.
            RuntimeError: if called from inside a habit of this tree.
        """
        self._check_at_rest()
        self.catch_up()
        return self.STATE.save(self)

    def prepare_state(self, state: object) -> Change:
        """Check a saved state against the present habits; return a function that loads it.

        Habits are identified by their paths. Loading calls no callback; the habits
        active before are dropped without their ``exit``.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
            RuntimeError: if called from inside a habit of this tree.
        """
        self._check_at_rest()
        return self.STATE.prepare(self, state)

    def _apply_changes(self) -> None:
        """Stop or change the definition: now, or after the tick if a habit of this tree calls this."""
        if self.is_busy:
            self.after_tick = self._change_now
            return
        self.catch_up()
        self.wake(False)
        self.is_busy = True
        try:
            self._change_now()
        finally:
            self.is_busy = False
        if self._faults is not None:
            self._faults.raise_kept()

    def _change_now(self) -> None:
        """Stop, end removed parts, and exchange the plan; an exit may request each again."""
        while self._should_stop or self._parts_to_end or self._next_root is not None:
            if self._should_stop:
                self._stop_now()
                continue
            if self._parts_to_end:
                parts_to_end, self._parts_to_end = self._parts_to_end, []
                if self.root_run is not None:
                    self._end_parts(self.root_run, parts_to_end)
                self.wake(True)
                continue
            plan, parts = plan_of(self.definition), self._next_parts
            self._next_root = self._next_parts = None
            self._exchange_plan(plan, parts)
            self.wake(True)
            self.watch(plan.keys)

    def _end_parts(self, run: HabitContext, parts: list[Any]) -> None:
        """End a run, or those below it, whose part is one of ``parts``."""
        if any(run.part is part for part in parts):
            self.end_run(run, "removed")
            return
        for one in run.runs_below():
            self._end_parts(one, parts)

    def _stop_now(self) -> None:
        if self.root_run is not None:
            self.end_run(self.root_run, "stopped")
        self._should_stop = False
        self.holds.clear()
        self._cooldowns = self._asks_at_s = self._noticed = self._messages = None
        self._answered = self._kept = None
        self.wake(True)
        if self._faults is not None:
            self._faults.release()

    def _exchange_plan(self, plan: HabitPlan, parts: Sequence[Any] | None) -> None:
        """Change to a plan: end the runs that are not in it, move the others and all that is kept by place."""
        old = self.plan
        if self.root_run is not None:
            self._end_removed(self.root_run, plan)
        for run in self.active_runs():
            if run.batch is not None:
                run.batch.leave(run)
            if run.child is None and run.number:  # so many children of a sequence are done
                done = [one.path for one in run.place.blocking[: run.number]]
                run.number = sum([one.path in done for one in plan.by_path[run.path].blocking])
            self.move_run(run, plan.by_path[run.path])
        for run in self.active_runs():
            if run.child is not None:
                run.number = run.child.place.number
        if parts is None and self.parts is not None:
            of_paths = {place.path: part for place, part in zip(old.places, self.parts, strict=True)}
            parts = [of_paths.get(place.path) for place in plan.places]
        endings = self._saved_endings
        self.plan, self.parts, self.scores = plan, parts, {}
        moved = {place.index: plan.by_path[place.path].index for place in old.places if place.path in plan.by_path}
        self._saved_endings = {moved[index]: ending for index, ending in endings.items() if index in moved}
        for name in ("holds", "_cooldowns", "_asks_at_s", "_kept", "_answered"):
            before = getattr(self, name) or {}
            setattr(self, name, {moved[index]: value for index, value in before.items() if index in moved})

    def _end_removed(self, run: HabitContext, plan: HabitPlan) -> None:
        """End a run, or those below it, that the plan does not have at the same path."""
        place = plan.by_path.get(run.path)
        if place is None or not place.habit.is_kind_of(run.place.habit):
            self.end_run(run, "removed" if place is None else "replaced")
            return
        for one in run.runs_below():
            self._end_removed(one, plan)

    def _check_at_rest(self) -> None:
        if self.is_busy:
            raise RuntimeError(f"{self.name!r} is in the middle of a tick; save and load between two frames")

    @property
    def _behind_s(self) -> float:
        """Time of the population less its own (s); nan if it has no turns."""
        return math.nan if self.member is None or self.member.is_paused else self.member.offset_s

    @_behind_s.setter
    def _behind_s(self, behind_s: float) -> None:
        if self.member is not None:
            self.member.saved_offset_s = behind_s

    @property
    def _sleeps(self) -> bool:
        return self._now_s < self._wake_at_s

    @_sleeps.setter
    def _sleeps(self, sleeps: bool) -> None:
        self._was_asleep = sleeps

    @property
    def _saved_runs(self) -> list[HabitContext]:
        """Its runs, with memories that are up to date."""
        for run in self.active_runs():
            if run.batch is not None:
                run.batch.remember(run)
        return self.active_runs()

    @_saved_runs.setter
    def _saved_runs(self, saved_runs: list[SimpleNamespace]) -> None:
        self.leave_batches()
        for run in self.active_runs():
            run.status = run.parent = None  # references to it show that it has ended
        self.root_run = None
        runs: dict[str, HabitContext] = {}
        for saved in saved_runs:
            path = saved.path.path
            run = runs[path] = self.new_run(saved.path, runs.get(path.rpartition("/")[0]), saved.reason)
            for name, kind in RUN_FIELDS.items():
                setattr(run, kind.at or name, getattr(saved, name))
            run.has_waited = True
            if saved.is_waiting:
                run.wake_s = saved.wake_s
            run.row = -1 if saved.is_in_batch and saved.path.tick_batch is not None else 0  # joins it again
            self.watch(run.waits_for)

    @property
    def _saved_endings(self) -> dict[int, str]:
        return {index: ending for index, ending in enumerate(self.endings) if ending is not None}

    @_saved_endings.setter
    def _saved_endings(self, endings: dict[int, str]) -> None:
        self.endings = [endings.get(index) for index in range(len(self.plan.places))]

    @property
    def _failing(self) -> dict[str, Failures]:
        return {} if self._faults is None else self._faults.records

    @_failing.setter
    def _failing(self, failing: dict[str, Failures]) -> None:
        if failing or self._faults is not None:
            self._callback_faults().records = failing

    @property
    def _random_in_use(self) -> Any:
        """The generator; None if no habit of the definition draws and it does not save itself."""
        return self._random if self.plan.random_path is not None or is_saveable(self._random) else None

    def _save_blackboard(self) -> object:
        return self.values.plain(dict(self._blackboard) if self._blackboard else None, "blackboard")

    def read_blackboard(self, saved: Any, place: str) -> dict[str, Any] | None:
        """Return the values of a saved blackboard, None if it was empty; their types are not checked.

        Raises:
            StateError: if they cannot be read; the message gives the place and the reason.
        """
        found: dict[str, Any] | None = BOARD.read(saved, place, self)
        return found

    def _prepare_blackboard(self, saved: Any, place: str) -> Change:
        found = self.read_blackboard(saved, place)
        if isinstance(self._blackboard, Blackboard):
            try:
                self._blackboard.checked(found or {})
            except TypeError as error:
                refuse(place, f"cannot be loaded: {error}")
        return lambda: self._load_blackboard(found)

    def _load_blackboard(self, saved: dict[str, Any] | None) -> None:
        """Exchange the values of the blackboard, which others may share, and continue or sleep."""
        noticed, asks_all, notify_watchers = self._noticed, self._asks_all, None
        self._noticed = None
        if saved is not None or self._blackboard:
            board = self.blackboard
            if isinstance(board, Blackboard):
                notify_watchers = board.replace_values(saved or {})
            else:
                board.clear()
                board.update(saved or {})
        self._noticed, self._asks_all = noticed, asks_all
        self._continue_or_sleep()
        if notify_watchers is not None:
            notify_watchers()

    def _continue_or_sleep(self) -> None:
        """Join batches and sleep as when it was saved, if that is still right with the present habits."""
        self.wake(False)
        member = self.member
        if member is not None:
            member.was_loaded()
        for run in self.active_runs():
            if run.row < 0:
                run.row = 0
                if member is not None and not member.is_paused:
                    member.population.join_batch(run)
        if self._was_asleep:
            self.plan_ahead()
        if member is not None:
            member.population.settle(member)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        runs: dict[str, SimpleNamespace] = {}
        launched: dict[str, str] = {}
        for index, run in enumerate(values.active):
            place, where = run.path, f"active[{index}].path"
            path = place.path
            above = path.rpartition("/")[0]
            if path in runs:
                refuse(where, f"occurs twice: {path!r}")
            if above and above not in runs:
                refuse(where, f"must come after its parent {above!r}")
            if run.number > len(place.blocking):
                refuse(f"active[{index}].number", f"must be at most {len(place.blocking)}, got {run.number}")
            runs[path] = run
            if above and not place.is_beside:
                if above in launched:
                    refuse(where, f"must not be active together with {launched[above]!r}, got {path!r}")
                launched[above] = path
        for index in values.holds:
            if (path := self.plan.places[index].path) not in runs:
                refuse(f"holds.{path}", "must be an active habit")

    def _finish_load(self) -> None:
        """Nothing is left to do: the blackboard, the last field, is loaded with all else in place."""
