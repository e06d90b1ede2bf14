"""Library habits that nodes describe, shared by all nodes with equal settings, and their callbacks.

A callback takes a context. Its ``part`` is the Habit node of the character and its ``owner`` is the
HabitTree, so one definition serves thousands of characters.
"""
from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from random import Random
from typing import Any
from weakref import WeakValueDictionary

from addons.ai_core.bridge.gd import (
    GDObject,
    GodotFreedError,
    KeptHook,
    RefusedValue,
    has_listeners,
    has_script_method,
    is_overridden,
)
from ai_core.decisions.habits.habit_plan import HabitPlan
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habits import Habit
from ai_core.saving.chance import RandomState
from ai_core.saving.declared_state import Change
from ai_core.saving.fields import State, check_names, checked_dict

Callback = Callable[[HabitContext], object]

STATUSES = (Status.RUNNING, Status.SUCCEEDED, Status.FAILED)
NUMBERS = {None: 0, Status.SUCCEEDED: 1, Status.FAILED: 2}

_shared: WeakValueDictionary[tuple[Any, ...], Habit] = WeakValueDictionary()
_trees: WeakValueDictionary[tuple[Any, ...], Habit] = WeakValueDictionary()
_kinds: WeakValueDictionary[tuple[Any, ...], Habit] = WeakValueDictionary()    # for any children


def shared_definition(said: tuple[Any, ...], children: list[Habit], make: Callable[[list[Habit]], Habit]) -> Habit:
    """Return the shared habit with these settings and children; the first request creates it.

    Args:
        said: settings that identify the habit, besides its children; lists are compared by their repr().
        children: shared habits.
        make: creates the habit with its children.

    Cost: O(settings); creation O(1), once for all nodes.
    """
    key = said, *children
    found = _shared.get(key)
    if found is None:
        kind = _kinds.get(said)
        if kind is None or type(kind).children is not Habit.children:
            found = _kinds[said] = make(children)
        else:
            found = kind.with_children(children)
            found.__dict__["_first"] = kind     # keeps the first habit of the kind alive
        _shared[key] = found
    return found


def shared_tree(said: tuple[Any, ...], make: Callable[[], Habit]) -> Habit:
    """Return the shared root habit of all trees that are described alike; the first request creates it.

    Cost: O(habits) to look it up, 1 µs each.
    """
    found = _trees.get(said)
    if found is None:
        found = _trees[said] = make()
    return found


def messages_of(plan: HabitPlan) -> frozenset[str]:
    """Return the names that habits of a plan listen to, collected at the first call and kept with the plan."""
    known: frozenset[str] | None = plan.__dict__.get("messages")
    if known is None:
        known = frozenset(one for place in plan.places for one in place.habit.__dict__.get("messages", ()))
        plan.__dict__["messages"] = known
    return known


class LateRandom:
    """A ``random.Random`` that is seeded when it is first used: most trees never draw.

    Args:
        seed: its seed; 0 derives it from ``path``.
        path: path of the tree.
    """

    __slots__ = ("_made", "_path", "_seed")

    def __init__(self, seed: int, path: str) -> None:
        self._seed, self._path = seed, path
        self._made: Random | None = None

    def save_state(self) -> State:
        """Return its state: nothing while it has not been used."""
        return {"made": None if self._made is None else RandomState(self._made).save_state()}

    def prepare_state(self, state: object) -> Change:
        """Check a saved state; return the function that restores it.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        fields = checked_dict("", state)
        check_names("", fields, ("made",))
        made = None if fields["made"] is None else Random(0)
        change: Change = int if made is None else RandomState(made).prepare_state(fields["made"])

        def load() -> None:
            change()
            self._made = made

        return load

    def random(self) -> float:
        """Return the next number, at least 0 and below 1."""
        return float(self.__getattr__("random")())

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = Random(self._seed or zlib.crc32(self._path.encode()))
        return getattr(self._made, name)


def callback_for(
    node: Any, name: str, actor_method: str, *, takes_time: bool = False, is_asked: bool = False,
) -> Callback | None:
    """Return the callback for a moment: a Callable, a method of the actor, or the override of the hook; else None."""
    if name in node.callables:
        return _python_call(lambda run: run.part.callables[name], takes_time, is_asked)
    if actor_method:
        return _python_call(lambda run: run.owner.actor_method(actor_method), takes_time, is_asked)
    if has_script_method(node, name):
        return script_call(name, takes_time, is_asked)
    if is_overridden(node, name):
        return _python_call(lambda run: _method_of(run.part, name), takes_time, is_asked)
    return None


@functools.cache
def script_call(name: str, takes_time: bool, is_asked: bool) -> Callback:
    """Return the callback that calls a script method; all nodes share it, so that several are called in one batch."""
    return KeptHook(
        name, "part", "elapsed_s" if takes_time else "", None if is_asked else STATUSES, reject_tick_result,
        skips_freed=True, is_of_row=True)


def _method_of(part: Any, name: str) -> Any:
    if not part.is_valid():
        raise GodotFreedError(f"the habit of {name}() was freed")
    return getattr(part, name)


def _python_call(find: Callable[[HabitContext], Any], takes_time: bool, is_asked: bool) -> Callback:
    def call(run: HabitContext) -> object:
        try:
            found = find(run)
        except (KeyError, GodotFreedError):
            if are_valid(run.part, run.owner):
                raise
            return None                  # freed by a habit in the same tick
        answer = found(run.elapsed_s) if takes_time else found()
        if is_asked or answer is None or isinstance(answer, Status):
            return answer
        if isinstance(answer, (bool, float)) or answer not in (0, 1, 2):
            reject_tick_result(run, answer)
        return STATUSES[answer]

    return call


def reject_tick_result(run: HabitContext, answer: object) -> None:
    """Raise RefusedValue for the return value of a tick."""
    if isinstance(answer, GDObject) and answer.has_signal("completed"):      # a GDScript coroutine
        raise RefusedValue(
            f"the tick of '{run.path}' uses await; call wait_s() or wait_for() instead, and return")
    raise RefusedValue(
        f"the tick of '{run.path}' returned {answer!r}; return Habit.STATUS_RUNNING,"
        " STATUS_SUCCEEDED or STATUS_FAILED")


def are_valid(habit: Any, tree: Any) -> bool:
    """Return whether habit and tree are both valid; a habit may free them within a tick."""
    return tree.is_valid() and (habit is None or habit.is_valid())


def emit_entered(run: HabitContext) -> None:
    """Emit the signals of a habit that begins, if they have listeners."""
    habit, tree = run.part, run.owner
    if habit is tree or not are_valid(habit, tree):
        return                           # the root is the tree itself
    if has_listeners(tree, "habit_entered"):
        tree.habit_entered.emit(run.path, run.reason)
    if habit is not None and are_valid(habit, tree) and has_listeners(habit, "entered"):
        habit.entered.emit(run.reason)


def emit_exited(run: HabitContext) -> None:
    """Emit the signals of a habit that has ended, if they have listeners."""
    habit, tree = run.part, run.owner
    if habit is tree or not are_valid(habit, tree):
        return                           # freed while it was active
    status = NUMBERS[run.status]
    if has_listeners(tree, "habit_exited"):
        tree.habit_exited.emit(run.path, status)
    if habit is not None and are_valid(habit, tree) and has_listeners(habit, "exited"):
        habit.note_exited(run)
        habit.exited.emit(status)
