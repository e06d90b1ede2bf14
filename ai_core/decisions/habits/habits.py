"""Habits: what a character can do, defined once and shared by all who do it."""
from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from ai_core.errors import finite_number, shown, whole_number

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_batch import HabitBatch
    from ai_core.decisions.habits.habit_context import HabitContext

__all__ = ["FOR_EVER", "Callback", "Habit", "Launch", "Outcome", "Status", "check_habit"]

FOR_EVER = math.inf
"""As ``repeats`` or ``retries``: again and again, until the habit is interrupted."""


class Launch(Enum):
    """How a habit launches its children."""

    PRIORITIZED = "prioritized"
    """One at a time; the earlier in the list, the more urgent. The habit ends
    only by its own ``tick``: its children come and go."""
    SEQUENTIAL = "sequential"
    """One after the other; the habit ends with the last, or with one that fails."""
    RANDOM = "random"
    """One, chosen by weight among those that can run; the habit ends with it."""
    FALLBACK = "fallback"
    """One after the other, leaving out those that cannot run, until one
    succeeds; the habit ends with it, and fails if none does."""


class Status(Enum):
    """How a habit stands after a tick."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Outcome(Enum):
    """What a habit's parent is told when it has ended."""

    UNCHANGED = "as it ended"
    INVERTED = "inverted"
    ALWAYS_SUCCEEDED = "always succeeded"
    ALWAYS_FAILED = "always failed"


Callback = Callable[["HabitContext"], object]
"""What a habit does at one point of its run; is told the context of that run."""

Kind = TypeVar("Kind", bound=Enum)

BatchCallback = Callable[["HabitBatch"], object]
AnyCallback = Callable[[Any], object]

MOMENTS = ("can_activate", "enter", "tick", "exit", "tick_batch")

FIXED = frozenset({
    "name", "launch", "non_blocking", "uninterruptible", "weight", "urgency", "timeout_s", "cooldown_s",
    "repeats", "retries", "outcome", "wakes_on", "asks_every_s", "begins_on", "remembers_s",
    "columns",
})


class Habit:
    """The definition of one habit and of those below it. It does not change.

    Everything that belongs to one character lives in its ``HabitTree``, so one
    definition serves thousands, and may stand in several trees and places.
    What a habit does is given by the callables, or by a subclass that
    overrides the methods of the same names.

    Args:
        name: unlike those of its siblings; it is part of the path
            "root/fight/attack", so without "/".
        children: habits it may run, most urgent first.
        launch: how they launch.
        non_blocking: runs beside its siblings, whatever the parent's way of
            launching, and is interrupted by nothing but the end of its parent,
            which takes no notice of how it ends; it begins again in the next tick.
        uninterruptible: no sibling interrupts it, from beginning to end; for a
            stretch of its run use ``context.hold()`` instead.
        weight: how often it is chosen among random siblings, relative to
            theirs; above 0.
        urgency: breaks holds of a lower priority than this; see ``hold``.
        can_activate: may it begin now? Asked while it is pending. None: always.
        enter: it begins.
        tick: goes on, and returns its Status; None means running. Or a
            generator function; see ``habit_generators``.
        exit: it ends; called exactly once for each beginning.
        timeout_s: longest time a run may take before it fails (s), above 0.
        cooldown_s: time after its end in which it cannot begin (s), 0 or more.
        repeats: how often in a row it succeeds before it has; 1 or more.
        retries: how often it begins again after it failed; 0 or more. Both may
            be ``FOR_EVER``. It begins again in the next tick, unasked.
        outcome: what its parent is told of its end.
        wakes_on: what ``can_activate`` depends on: keys of the blackboard and
            names given to ``HabitTree.tell``. While something less urgent runs
            it is asked only after one of them. Without, it is asked every tick.
        asks_every_s: while something less urgent runs, ask so rarely (s).
        begins_on: it begins only after ``HabitTree.tell`` told one of these.
        tick_batch: ticks all who are in it at once, where they live in one
            ``HabitPopulation``; is told a ``HabitBatch``, and returns None if
            all go on, or for each 0 running, 1 succeeded, 2 failed.
        columns: names of what each run of a batch remembers as a number.
        remembers_s: for how long it may still begin on that (s), 0 or more; 0:
            in the next tick only.

    Raises:
        TypeError, ValueError: if something is not what it must be.
    """

    name: str
    launch: Launch
    non_blocking: bool
    uninterruptible: bool
    weight: float
    urgency: float
    timeout_s: float
    cooldown_s: float
    repeats: float
    retries: float
    outcome: Outcome
    wakes_on: tuple[str, ...]
    asks_every_s: float
    begins_on: tuple[str, ...]
    remembers_s: float
    columns: tuple[str, ...]

    def __init__(
        self,
        name: str,
        children: Iterable[Habit] = (),
        launch: Launch = Launch.PRIORITIZED,
        *,
        non_blocking: bool = False, uninterruptible: bool = False,
        weight: float = 1.0, urgency: float = 0.0,
        can_activate: Callback | None = None, enter: Callback | None = None,
        tick: Callback | None = None,
        exit: Callback | None = None,
        timeout_s: float = math.inf, cooldown_s: float = 0.0,
        repeats: float = 1, retries: float = 0,
        outcome: Outcome = Outcome.UNCHANGED,
        wakes_on: Iterable[str] = (), asks_every_s: float = 0.0,
        begins_on: Iterable[str] = (), remembers_s: float = 0.0,
        tick_batch: BatchCallback | None = None, columns: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"a habit's name must be a string without '/', got {shown(name)}")
        self._kind = object()  # kept by copies that differ in their children alone
        self._children = tuple(children)
        self._given = _callables(name, (can_activate, enter, tick, exit, tick_batch))
        self.launch, self.outcome = _one_of(name, "launch", launch, Launch), _one_of(name, "outcome", outcome, Outcome)
        self.non_blocking, self.uninterruptible = bool(non_blocking), bool(uninterruptible)
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
        """The habits it may run, most urgent first."""
        return self._children

    def can_activate(self, context: HabitContext) -> object:
        """Return whether it may begin now; override or hand in."""
        return True

    def enter(self, context: HabitContext) -> object:
        """Begin; override or hand in."""

    def tick(self, context: HabitContext) -> object:
        """Go on and return a Status, None for running; override or hand in."""

    def exit(self, context: HabitContext) -> object:
        """End; override or hand in."""

    def tick_batch(self, batch: HabitBatch) -> object:
        """Go on with all who are in it at once; override or hand in."""

    @property
    def draws(self) -> bool:
        """True if it draws from ``context.random``; then a tree must have a generator of chance."""
        return False

    def callback(self, moment: str) -> Callable[[Any], object] | None:
        """Return what is to be called at a moment, None if nothing is.

        Args:
            moment: "can_activate", "enter", "tick", "exit" or "tick_batch".
        """
        given = self._given[moment]
        if given is not None:
            return given
        if getattr(type(self), moment) is getattr(Habit, moment):
            return None
        overridden: Callable[[Any], object] = getattr(self, moment)
        return overridden

    def is_kind_of(self, other: Habit) -> bool:
        """Return True if the two differ in their children at most, as an edit leaves them."""
        return self._kind is other._kind

    def with_children(self, children: Iterable[Habit], *, path: str = "") -> Habit:
        """Return this habit with other children.

        Args:
            children: all it is to have.
            path: where it stands, for errors; else its name.

        Raises:
            TypeError: if its class makes the children itself.
            ValueError: if it cannot launch these.
        """
        if type(self).children is not Habit.children:
            raise TypeError(f"habit {self.name!r} makes its children itself, so they cannot be exchanged")
        other = copy.copy(self)
        below = tuple(children)
        check_habit(other, below, path or self.name)
        other.__dict__.update(_children=below)
        other.__dict__.pop("_plan", None)
        return other

    def __setattr__(self, name: str, value: object) -> None:
        if name in FIXED and "name" in self.__dict__:
            raise AttributeError(
                f"habit {self.name!r} is shared by all who use it and does not change;"
                f" make another one to change its {name}"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<Habit {self.name!r}, {len(self._children)} children>"


def check_habit(habit: Habit, children: tuple[Habit, ...], path: str) -> None:
    """Raise unless the habit can launch its children.

    Args:
        habit: what is checked.
        children: its children.
        path: where it stands, for the message.

    Raises:
        TypeError: if a child is no habit.
        ValueError: if two share a name, or there is nothing to launch one of.
    """
    names = set()
    for child in children:
        if not isinstance(child, Habit):
            raise TypeError(f"habit {path!r}: every child must be a Habit, got {shown(child)}")
        if child.name in names:
            raise ValueError(
                f"habit {path!r}: two children are named {child.name!r}; rename one"
            )
        names.add(child.name)
    if habit.launch is not Launch.PRIORITIZED and all(c.non_blocking for c in children):
        raise ValueError(
            f"habit {path!r}: a {habit.launch.value} habit needs a child to launch"
            " (non-blocking ones run beside); add one or make it PRIORITIZED"
        )


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
            f"habit {name!r}: {option} must be several names, got {shown(value)}; write ({shown(value)},)")
    names = tuple(value)
    for one in names:
        if not isinstance(one, str) or not one:
            raise TypeError(f"habit {name!r}: {option} must hold names, got {shown(one)}")
    return names
