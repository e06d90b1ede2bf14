"""Habits: the definitions of a behaviour tree's tasks, shared by all characters that use them.

The ``tick`` of a habit can be a generator function, which continues after its last ``yield``.
``yield`` waits for the next tick, ``yield 2.5`` for seconds of game time,
``yield "door opened"`` for ``HabitTree.notify`` with this name or a change of this key
on the blackboard, and ``yield ("door opened", 2.5)`` for the first of both. ``return``
ends the habit, as succeeded unless it returns a different Status.

A save does not contain the state of a generator. After loading it begins again at its
first line. With ``context.restart_at("at the door")``, that point is then available as
``context.restart_point``, and its values in ``context.memory``.

A definition is immutable. ``added``, ``removed`` and ``replaced`` make a new definition that
shares all unchanged habits, for one character or many.
"""
from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, TypedDict, TypeVar

from ai_core.decisions.habits.habit_batch import HabitBatch
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import FOR_EVER, Launch, Outcome
from ai_core.errors import UnknownNameError, check_type, finite_number, shown, whole_number

__all__ = ["Callback", "Habit", "HabitOptions", "added", "check_habit", "removed", "replaced"]

Callback = Callable[[HabitContext], object]
"""A callback of a habit, called with the context of the run."""

Kind = TypeVar("Kind", bound=Enum)

BatchCallback = Callable[[HabitBatch], object]
AnyCallback = Callable[[Any], object]

MOMENTS = ("can_activate", "enter", "tick", "exit", "tick_batch", "score")

class Habit:
    """The definition of a task in a behaviour tree, with its children. Immutable.

    The state of a character is in its ``HabitTree``, so a definition can be shared by
    thousands of characters, and can occur in several trees and places. The behaviour
    is defined by callables, or by a subclass that overrides the methods of the same
    names.

    Args:
        name: unique among its siblings; part of the path "root/fight/attack", so it
            must not contain "/".
        children: the habits it can run, most urgent first.
        launch: launch mode of the children.
        non_blocking: runs in parallel to its siblings, whatever the launch mode of the
            parent. Only the end of the parent interrupts it, its result does not
            matter, and after its end it begins again in the next tick.
        uninterruptible: no sibling can interrupt it; for a part of a run use
            ``context.hold()`` instead.
        weight: relative probability among random siblings; above 0.
        urgency: breaks holds of a lower priority than this; see ``hold``.
        can_activate: returns whether the habit can begin now; called while it is
            pending. None for always.
        enter: called when a run begins.
        tick: called at each tick; returns a Status, None for running. Or a generator
            function, as described above.
        exit: called when a run ends, exactly once for each ``enter``.
        timeout_s: maximum duration of a run before it fails (s), above 0.
        cooldown_s: time after its end in which it cannot begin (s), 0 or more.
        repeats: number of successful runs in a row before the habit succeeds, 1 or more.
        retries: number of new runs after a failure, 0 or more. Both can be
            ``FOR_EVER``. A new run begins in the next tick, without ``can_activate``.
        outcome: result reported to the parent.
        wakes_on: names on which ``can_activate`` depends: keys of the blackboard and
            names of ``HabitTree.notify``. While a less urgent habit runs, ``can_activate``
            is called only after a change of one of them. Without names it is called
            at every tick.
        asks_every_s: minimum time between two calls of ``can_activate`` while a less
            urgent habit runs (s).
        begins_on: the habit begins only after ``HabitTree.notify`` with one of these names.
        tick_batch: ticks all runs of a ``HabitPopulation`` at once; called with a
            ``HabitBatch``, returns None if all continue, or a code for each run:
            0 running, 1 succeeded, 2 failed.
        columns: names of the numbers that each run of a batch keeps.
        remembers_s: how long the habit can still begin after ``begins_on`` (s), 0 or
            more; 0 for the next tick only. Without ``wakes_on`` and ``asks_every_s`` it
            is asked in every tick of this time.
        score: returns how much a child of a utility habit is wanted, a number; called when
            it is asked whether it can begin, and while it is active. See ``utility``.
        inertia: for a utility habit: by how much the score of another child must exceed
            that of the active one, 0 or more.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if an argument is out of range, or the children cannot be launched.
    """

    def __init__(
        self, name: str, children: Iterable[Habit] = (), launch: Launch = Launch.PRIORITIZED, *,
        non_blocking: bool = False, uninterruptible: bool = False, weight: float = 1.0, urgency: float = 0.0,
        can_activate: Callback | None = None, enter: Callback | None = None, tick: Callback | None = None,
        exit: Callback | None = None, timeout_s: float = math.inf, cooldown_s: float = 0.0, repeats: float = 1,
        retries: float = 0, outcome: Outcome = Outcome.UNCHANGED, wakes_on: Iterable[str] = (),
        asks_every_s: float = 0.0, begins_on: Iterable[str] = (), remembers_s: float = 0.0,
        tick_batch: BatchCallback | None = None, columns: Iterable[str] = (), score: Callback | None = None,
        inertia: float = 0.0,
    ) -> None:
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"the name of a habit must be a non-empty string without '/', got {shown(name)}")
        self._kind = object()  # kept by copies that differ in their children alone
        if not isinstance(children, Iterable):
            raise TypeError(
                f"habit {name!r}: children must be a sequence of Habit, got {shown(children)};"
                " put a single one in a tuple")
        self._children = tuple(children)
        self._given = _callables(name, (can_activate, enter, tick, exit, tick_batch, score))
        self.launch, self.outcome = _one_of(name, "launch", launch, Launch), _one_of(name, "outcome", outcome, Outcome)
        for option, value in (("non_blocking", non_blocking), ("uninterruptible", uninterruptible)):
            check_type(f"habit {name!r}: {option}", value, bool)
        self.non_blocking, self.uninterruptible = non_blocking, uninterruptible
        self.inertia = finite_number(f"habit {name!r}: inertia", inertia, minimum=0)
        self.weight = finite_number(f"habit {name!r}: weight", weight, above=0)
        self.urgency = finite_number(f"habit {name!r}: urgency", urgency)
        self.timeout_s = timeout_s if timeout_s == math.inf else finite_number(
            f"habit {name!r}: timeout_s", timeout_s, above=0)
        self.cooldown_s = _time(name, "cooldown_s", cooldown_s)
        self.asks_every_s = _time(name, "asks_every_s", asks_every_s)
        self.remembers_s = _time(name, "remembers_s", remembers_s)
        self.repeats, self.retries = _times(name, "repeats", repeats, 1), _times(name, "retries", retries, 0)
        self.wakes_on = _names(name, "wakes_on", wakes_on or getattr(can_activate, "wakes_on", ()))
        self.begins_on, self.columns = _names(name, "begins_on", begins_on), _names(name, "columns", columns)
        self.name = name
        check_habit(self, self._children, name)

    @property
    def children(self) -> tuple[Habit, ...]:
        """The habits it can run, most urgent first."""
        return self._children

    def can_activate(self, context: HabitContext) -> object:
        """Return whether the habit can begin now; override it, or pass a callable."""
        return True

    def enter(self, context: HabitContext) -> object:
        """Begin a run; override it, or pass a callable."""

    def tick(self, context: HabitContext) -> object:
        """Tick a run and return a Status, None for running; override it, or pass a callable."""

    def exit(self, context: HabitContext) -> object:
        """End a run; override it, or pass a callable."""

    def tick_batch(self, batch: HabitBatch) -> object:
        """Tick all runs of a batch at once; override it, or pass a callable."""

    def score(self, context: HabitContext) -> object:
        """Return how much the habit is wanted; override it, or pass a callable."""

    @property
    def draws(self) -> bool:
        """True if it draws from ``context.random``; its tree then requires a random generator."""
        return False

    def callback(self, moment: str) -> Callable[[Any], object] | None:
        """Return the callback of a given kind, None if there is none.

        Args:
            moment: "can_activate", "enter", "tick", "exit", "tick_batch" or "score".
        """
        given = self._given[moment]
        if given is not None:
            return given
        if getattr(type(self), moment) is getattr(Habit, moment):
            return None
        overridden: Callable[[Any], object] = getattr(self, moment)
        return overridden

    def is_kind_of(self, other: Habit) -> bool:
        """Return True if both habits differ at most in their children, as after an edit."""
        return self._kind is other._kind

    def with_children(self, children: Iterable[Habit], *, path: str = "") -> Habit:
        """Return this habit with other children.

        Args:
            children: all children of the new habit.
            path: its path, for messages; the default is its name.

        Raises:
            TypeError: if its class defines the children itself.
            ValueError: if it cannot launch these children.
        """
        if type(self).children is not Habit.children:
            raise TypeError(
                f"the children of habit {self.name!r} are defined by its class, {type(self).__name__}, and cannot be"
                f" replaced; replace the habit itself")
        other = copy.copy(self)
        below = tuple(children)
        check_habit(other, below, path or self.name)
        other.__dict__.update(_children=below)
        other.__dict__.pop("_plan", None)
        return other

    def __setattr__(self, name: str, value: object) -> None:
        if name in FIXED and "name" in self.__dict__:
            raise AttributeError(
                f"habit {self.name!r} is shared and immutable;"
                f" make a new habit to change its {name}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<Habit {self.name!r}, {len(self._children)} children>"


class HabitOptions(TypedDict, total=False):
    """The options of ``Habit``, described there, without ``tick``, which built-in habits define themselves."""

    children: Iterable[Habit]
    launch: Launch
    non_blocking: bool
    uninterruptible: bool
    weight: float
    urgency: float
    can_activate: Callback | None
    enter: Callback | None
    exit: Callback | None
    timeout_s: float
    cooldown_s: float
    repeats: float
    retries: float
    outcome: Outcome
    wakes_on: Iterable[str]
    asks_every_s: float
    begins_on: Iterable[str]
    remembers_s: float
    score: Callback | None
    inertia: float


FIXED = frozenset({"name", "columns"} | HabitOptions.__annotations__.keys()) - {*MOMENTS, "children"}
"""Attributes of a habit that are not set again."""


def check_habit(habit: Habit, children: tuple[Habit, ...], path: str) -> None:
    """Raise an error, which names the path, unless the habit can launch its children."""
    names = set()
    for child in children:
        check_type(f"habit {path!r}: every child", child, Habit)
        if child.name in names:
            raise ValueError(
                f"habit {path!r}: two children are named {child.name!r}; rename one")
        names.add(child.name)
    if habit.launch is not Launch.PRIORITIZED and all(c.non_blocking for c in children):
        raise ValueError(
            f"habit {path!r}: a {habit.launch.value} habit must have a blocking child"
            " (non-blocking children are not launched); add a child, or set launch to PRIORITIZED")
    if habit.launch is Launch.UTILITY:
        for child in children:
            if not child.non_blocking and child.callback("score") is None:
                raise ValueError(
                    f"habit {path!r}: the child {child.name!r} of a utility habit has no score; give it one")


def _one_of(name: str, option: str, value: Kind, kind: type[Kind]) -> Kind:
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"habit {name!r}: {option} must be {article} {kind.__name__}, got {shown(value)}")
    return value


def _callables(name: str, callbacks: Iterable[AnyCallback | None]) -> dict[str, AnyCallback | None]:
    given = dict(zip(MOMENTS, callbacks, strict=True))
    for moment, callback in given.items():
        if callback is not None and not callable(callback):
            raise TypeError(f"habit {name!r}: {moment} must be callable, got {shown(callback)}")
    return given


def _time(name: str, option: str, value: float) -> float:
    return finite_number(f"habit {name!r}: {option}", value, minimum=0)


def _times(name: str, option: str, value: Any, minimum: int) -> float:
    if isinstance(value, float) and value == FOR_EVER:
        return value
    return whole_number(f"habit {name!r}: {option}", value, minimum=minimum, remedy="or use FOR_EVER")


def _names(name: str, option: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(
            f"habit {name!r}: {option} must be a sequence of names, got {shown(value)}; write ({shown(value)},)")
    names = tuple(value)
    for one in names:
        if not isinstance(one, str) or not one:
            raise TypeError(f"habit {name!r}: {option} must hold non-empty strings, got {shown(one)}")
    return names


def added(root: Habit, path: str, habit: Habit, before: str | None = None) -> Habit:
    """Return the definition with a habit added below the one at ``path``.

    Args:
        root: the definition.
        path: path of the parent: "guard/fight".
        habit: the habit to add.
        before: name of the sibling that follows it; None to add it as the last.

    Raises:
        UnknownNameError: if the path or the sibling does not exist.
        ValueError: if two siblings would have the same name.
    """

    def edit(parent: Habit) -> Habit:
        children = list(parent.children)
        names = [child.name for child in children]
        if before is not None and before not in names:
            raise UnknownNameError(f"habit below {path!r}", before, names)
        children.insert(len(children) if before is None else names.index(before), habit)
        return parent.with_children(children, path=path)

    return _edited(root, path, edit)


def removed(root: Habit, path: str) -> Habit:
    """Return the definition without the habit at ``path`` and all habits below it.

    Raises:
        UnknownNameError: if the path does not exist.
        ValueError: if it is the root, or its parent requires it.
    """
    _edited(root, path, lambda habit: habit)  # it is there
    above, _, name = path.rpartition("/")
    if not above:
        raise ValueError(f"{path!r} is the root and cannot be removed; call stop to end the tree")
    return _edited(root, above, lambda parent: parent.with_children(
        (one for one in parent.children if one.name != name), path=above))


def replaced(root: Habit, path: str, habit: Habit) -> Habit:
    """Return the definition with the habit at ``path`` replaced.

    Raises:
        UnknownNameError: if the path does not exist.
        TypeError: if ``habit`` is not a Habit.
        ValueError: if two siblings would have the same name.
    """
    check_type("habit", habit, Habit)
    return _edited(root, path, lambda _: habit)


def _edited(root: Habit, path: str, edit: Callable[[Habit], Habit]) -> Habit:
    if not isinstance(path, str):
        raise TypeError(f"path must be a string like 'root/fight', got {shown(path)}")
    first, *names = path.split("/")
    if first != root.name:
        raise UnknownNameError("habit", path, [root.name])
    return _edited_below(root, root.name, names, edit)


def _edited_below(habit: Habit, path: str, names: list[str], edit: Callable[[Habit], Habit]) -> Habit:
    if not names:
        return edit(habit)
    name, *rest = names
    known = {child.name: child for child in habit.children}
    if name not in known:
        raise UnknownNameError("habit", f"{path}/{name}", [f"{path}/{one}" for one in known])
    new = _edited_below(known[name], f"{path}/{name}", rest, edit)
    if new is known[name]:
        return habit
    return habit.with_children((new if child.name == name else child for child in habit.children), path=path)
