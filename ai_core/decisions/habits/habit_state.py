"""Saving of a habit tree: the active habits, their times and their memories.

Loading calls no callback. A habit that was active continues with its next tick, a
pending habit stays pending. A habit written as a generator begins its function
again; see ``habit_generators``.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.callback_faults import failing_state
from ai_core.decisions.habits.habit_agenda import TreeMessage
from ai_core.decisions.habits.habit_context import AWAKE, HabitContext
from ai_core.decisions.habits.habit_plan import CompiledHabit, HabitPlan
from ai_core.decisions.habits.habits import Status
from ai_core.errors import UnknownNameError, shown
from ai_core.saving.chance import prepare_random, save_random
from ai_core.saving.fields import LATEST_S, Fields, State
from ai_core.saving.values import SavedValues

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_tree import HabitTree

__all__ = ["PLAIN_VALUES", "SaveableHabits", "active_runs"]

VERSION = 1

ENDINGS = (Status.SUCCEEDED.value, Status.FAILED.value)
"""Final states of a run in a batch."""

PLAIN_VALUES = SavedValues()
"""For blackboards and memories with plain data; shared by all trees."""


class SaveableHabits:
    """Base class of ``HabitTree`` for saving and loading."""

    __slots__ = ()

    values: SavedValues

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
        return _saved(cast("HabitTree", self))

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the present habits; return a function that loads it.

        Habits are identified by their paths. Loading calls no callback; the habits
        active before are dropped without their ``exit``.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
            RuntimeError: if called from inside a habit of this tree.
        """
        return _prepared(cast("HabitTree", self), state)


def active_runs(run: HabitContext | None) -> list[HabitContext]:
    """Return a run and all below it, parents first, those beside in the order begun."""
    if run is None:
        return []
    below = [*([run.child] if run.child is not None else []), *(run.beside or ())]
    return [run, *(one for child in below for one in active_runs(child))]


def _saved(tree: HabitTree) -> State:
    _check_at_rest(tree)
    tree._catch_up()
    values = tree.values

    def by_path(of_places: dict[int, Any] | None) -> State:
        return {tree.plan.places[index].path: value for index, value in sorted((of_places or {}).items())}

    board, member = tree._blackboard, tree._member
    return {
        "version": VERSION,
        "seconds": tree._now_s,
        "frame": tree._frame,
        "tick_number": tree._tick_number,
        "behind_s": None if member is None or member.is_resting else member.offset_s,
        "sleeps": tree._now_s < tree._wake_at_s,
        "asks_all": tree._asks_all,
        "noticed": sorted(tree._noticed or ()),
        "told": {
            name: {"payload": values.plain(told.payload, f"told ({name})"), "tick_number": told.tick_number,
                   "at_s": told.at_s}
            for name, told in (tree._told or {}).items()
        },
        "active": [_saved_run(run, values) for run in active_runs(tree.root_run)],
        "holds": {path: None if held == math.inf else held for path, held in by_path(tree.holds).items()},
        "endings": by_path(tree.endings),
        "cooldowns": by_path(tree._cooldowns),
        "asks_at_s": by_path(tree._asks_at_s),
        "answered": by_path(tree._answered),
        "kept": {path: values.plain(kept, f"kept ({path})") for path, kept in by_path(tree._kept).items()},
        "blackboard": values.plain(dict(board) if board else None, "blackboard"),
        "random": save_random(tree._random) if tree.plan.random_path is not None else None,
        "failing": FAILING.save({} if tree._faults is None else tree._faults.records(), tree),
    }


def _saved_run(run: HabitContext, values: SavedValues) -> State:
    if run.batch is not None:
        run.batch.remember(run)
    return {
        "path": run.path,
        "reason": run.reason,
        "began_s": run.began_s,
        "ticked_s": run.ticked_s,
        "elapsed_s": run.elapsed_s,
        "waits": run.wake_s != AWAKE,
        "wakes_at_s": run.wake_s if math.isfinite(run.wake_s) else None,
        "waits_for": list(run.waits_for),
        "woken_by": run.woken_by,
        "number": run.number if run.child is None else run.child.place.number,
        "successes": run.successes,
        "failures": run.failures,
        "begins_next": run.begins_next,
        "is_faulty": run.is_faulty,
        "is_in_batch": run.batch is not None,
        "batch_status": None if run.batch_status is None else run.batch_status.value,
        "restart_point": run.restart_point,
        "memory": values.plain(run._memory, f"memory ({run.path})"),
    }


FAILING = failing_state(
    lambda tree: [key for path in tree.plan.by_path for key in (path, f"can_activate of {path}")])
"""How the records of failing callbacks are saved."""


def _prepared(tree: HabitTree, state: object) -> Callable[[], None]:
    _check_at_rest(tree)
    fields = Fields.versioned(state, version=VERSION)
    batched: list[HabitContext] = []
    changes = _read_changes(tree, fields, batched)
    behind_s, sleeps = fields.number_or("behind_s", math.nan), fields.flag("sleeps")
    board = _read_dict(tree, fields, "blackboard")
    _check_types(tree, fields, board)
    put_random = _read_random(tree, fields)
    failing = FAILING.read(fields.anything("failing"), fields.place_of("failing"), tree)
    fields.end()

    def change() -> None:
        tree._leave_batches()
        for run in active_runs(tree.root_run):
            run.status = run.parent = None  # whoever kept it sees that it is over
        tell_watchers = _exchanged(tree, board)
        for name, value in changes.items():
            setattr(tree, name, value)
        for run in active_runs(tree.root_run):
            tree._watch(run.waits_for)
        _go_on(tree, behind_s, batched, sleeps=sleeps)
        put_random()
        if tree._faults is not None or failing:
            tree._callback_faults().put(failing)
        tell_watchers()

    return change


def _go_on(tree: HabitTree, behind_s: float, batched: list[HabitContext], *, sleeps: bool) -> None:
    """Let a tree that has its saved state be in batches and sleep as it did, if by the habits here it still would."""
    tree._wake()
    member = tree._member
    if member is not None:
        member.saved_offset_s = behind_s
        member.was_loaded()
        for run in batched if not member.is_resting else ():
            member.population.join_batch(run)
    if sleeps:
        tree._plan_ahead()
    if member is not None:
        member.population.settle(member)


def _exchanged(tree: HabitTree, board: dict[str, Any] | None) -> Callable[[], None]:
    """Let the blackboard, which others may share, hold what was saved; return what tells who watches it."""
    if board is None and not tree._blackboard:
        return lambda: None
    known = tree.blackboard
    if isinstance(known, Blackboard):
        return known.replace_values(board or {})
    known.clear()
    known.update(board or {})
    return lambda: None


def _check_types(tree: HabitTree, fields: Fields, board: dict[str, Any] | None) -> None:
    if isinstance(tree._blackboard, Blackboard):
        try:
            tree._blackboard.checked(board or {})
        except TypeError as error:
            fields.refuse("blackboard", str(error))


def _read_changes(tree: HabitTree, fields: Fields, batched: list[HabitContext]) -> dict[str, Any]:
    """Return what the tree's attributes are to be; append the runs that are to be in batches."""
    plan = tree.plan
    changes: dict[str, Any] = {
        "_now_s": fields.seconds("seconds"),
        "_frame": fields.whole("frame"),
        "_tick_number": fields.whole("tick_number"),
        "_asks_all": fields.flag("asks_all"),
        "_noticed": {_text(fields, "noticed", one) for one in fields.items("noticed")} or None,
        "_told": _read_told(tree, fields.group("told")) or None,
        "root_run": _read_active(tree, fields, plan, batched),
    }
    active = {run.path for run in active_runs(changes["root_run"])}
    changes["holds"] = _by_place(fields, "holds", plan, lambda group, path: group.number_or(path, math.inf), active)
    changes["endings"] = _by_place(fields, "endings", plan, Fields.text)
    for name in ("cooldowns", "asks_at_s"):
        changes[f"_{name}"] = _by_place(fields, name, plan, Fields.seconds) or None
    changes["_answered"] = _by_place(fields, "answered", plan, Fields.whole) or None
    changes["_kept"] = _by_place(
        fields, "kept", plan, lambda group, path: _read_dict(tree, group, path) or {}) or None
    return changes


def _check_at_rest(tree: HabitTree) -> None:
    if tree._is_busy:
        raise RuntimeError(
            f"{tree.name!r} is in the middle of a tick; save and load between two frames"
        )


def _place(fields: Fields, field: str, path: str, plan: HabitPlan) -> CompiledHabit:
    if path not in plan.by_path:
        fields.refuse(field, f"is not valid: {UnknownNameError('habit', path, plan.by_path)}")
    return plan.by_path[path]


def _text(fields: Fields, name: str, value: object) -> str:
    if not isinstance(value, str):
        fields.refuse(name, "must hold only strings")
    return value


def _by_place(
    fields: Fields, name: str, plan: HabitPlan, read: Callable[[Fields, str], Any], active: set[str] | None = None
) -> dict[int, Any]:
    """Return a field that says something by path; only for active habits if these are given."""
    group = fields.group(name)
    found = {}
    for path in group.names():
        place = _place(group, path, path, plan)
        if active is not None and path not in active:
            group.refuse(path, "must be an active habit")
        found[place.index] = read(group, path)
    return found


def _read_told(tree: HabitTree, group: Fields) -> dict[str, TreeMessage]:
    found: dict[str, TreeMessage] = {}
    for name in group.names():
        one = group.group(name)
        told = found[name] = TreeMessage(tree.values.value(one.anything("payload"), one.place_of("payload")))
        told.tick_number, told.at_s = one.whole("tick_number"), one.seconds("at_s")
        one.end()
    return found


def _read_active(
    tree: HabitTree, fields: Fields, plan: HabitPlan, batched: list[HabitContext],
) -> HabitContext | None:
    """Return the run of the root, with all below it; append those that are to be in batches."""
    runs: dict[str, HabitContext] = {}
    for one in fields.groups("active"):
        path = one.text("path")
        place = _place(one, "path", path, plan)
        above = path.rpartition("/")[0]
        parent = runs.get(above)
        if path in runs:
            one.refuse("path", f"occurs twice: {path!r}")
        if above and parent is None:
            one.refuse("path", f"must come after its parent {above!r}")
        run = runs[path] = _read_run(tree, one, place, parent, batched)
        if parent is None:
            continue
        if place.is_beside:
            parent.beside = [*(parent.beside or ()), run]
        elif parent.child is None:
            parent.child, parent.number = run, place.number
        else:
            one.refuse("path", f"must not be active together with {parent.child.path!r}, got {shown(path)}")
    return runs.get(plan.root.path)


def _read_run(
    tree: HabitTree, one: Fields, place: CompiledHabit, parent: HabitContext | None, batched: list[HabitContext],
) -> HabitContext:
    run = HabitContext(tree, place, parent, one.text("reason"))
    run.began_s, run.ticked_s = one.seconds("began_s"), one.seconds("ticked_s")
    run.elapsed_s = one.number("elapsed_s", minimum=0, maximum=LATEST_S)
    wakes_at_s = one.number_or("wakes_at_s", math.inf)
    run.wake_s = wakes_at_s if one.flag("waits") else AWAKE
    run.waits_for = tuple(_text(one, "waits_for", name) for name in one.items("waits_for"))
    run.woken_by = one.text("woken_by")
    run.number = one.whole("number", maximum=len(place.blocking))
    run.successes, run.failures = one.whole("successes"), one.whole("failures")
    run.begins_next, run.is_faulty = one.flag("begins_next"), one.flag("is_faulty")
    run.restart_point = one.text("restart_point")
    run._memory = _read_dict(tree, one, "memory")
    if one.flag("is_in_batch") and place.tick_batch is not None:
        batched.append(run)
    status = one.anything("batch_status")
    if status is not None:
        run.batch_status = Status(one.one_of("batch_status", ENDINGS))
    one.end()
    return run


def _read_dict(tree: HabitTree, fields: Fields, name: str) -> dict[str, Any] | None:
    value = tree.values.value(fields.anything(name), fields.place_of(name))
    if value is not None and not isinstance(value, dict):
        fields.refuse(name, "must be a dict")
    return value


def _read_random(tree: HabitTree, fields: Fields) -> Callable[[], object]:
    saved = fields.anything("random")
    if saved is None:
        return int
    if tree._random is None:
        fields.refuse("random", "requires a random generator; pass random to the tree")
    return prepare_random(tree._random, saved, fields.place_of("random"))
