"""Habits: what a character can do, defined once and shared by all who do it."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ai_core.errors import finite_number, shown

if TYPE_CHECKING:
    from ai_core.decisions.habit_context import HabitContext

__all__ = ["Callback", "Habit", "Launch", "Status", "check_habit"]


class Launch(Enum):
    """How a habit launches its children."""

    PRIORITIZED = "prioritized"
    """One at a time; the earlier in the list, the more urgent. The habit ends
    only by its own ``tick``: its children come and go."""
    SEQUENTIAL = "sequential"
    """One after the other; the habit ends with the last."""
    RANDOM = "random"
    """One, chosen by weight among those that can run; the habit ends with it."""


class Status(Enum):
    """How a habit stands after a tick."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


Callback = Callable[["HabitContext"], object]
"""What a habit does at one point of its run; is told the context of that run."""

FIXED = frozenset(
    {"name", "launch", "non_blocking", "uninterruptible", "weight", "urgency"}
)


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
            launching, and is interrupted by nothing but the end of its parent.
        uninterruptible: no sibling interrupts it, from beginning to end; for a
            stretch of its run use ``context.hold()`` instead.
        weight: how often it is chosen among random siblings, relative to
            theirs; above 0.
        urgency: breaks holds of a lower priority than this; see ``hold``.
        can_activate: may it begin now? Asked while it is pending. None: always.
        enter: it begins.
        tick: goes on, and returns its Status; None means running.
        exit: it ends; called exactly once for each beginning.
    """

    def __init__(
        self,
        name: str,
        children: Iterable[Habit] = (),
        launch: Launch = Launch.PRIORITIZED,
        *,
        non_blocking: bool = False,
        uninterruptible: bool = False,
        weight: float = 1.0,
        urgency: float = 0.0,
        can_activate: Callback | None = None,
        enter: Callback | None = None,
        tick: Callback | None = None,
        exit: Callback | None = None,
    ) -> None:
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"a habit's name must be a string without '/', got {shown(name)}")
        if not isinstance(launch, Launch):
            raise TypeError(f"habit {name!r}: launch must be a Launch, got {shown(launch)}")
        self._children = tuple(children)
        self._given = {
            "can_activate": can_activate, "enter": enter, "tick": tick, "exit": exit,
        }
        for moment, callback in self._given.items():
            if callback is not None and not callable(callback):
                raise TypeError(
                    f"habit {name!r}: {moment} must be callable, got {shown(callback)}"
                )
        self.launch = launch
        self.non_blocking = bool(non_blocking)
        self.uninterruptible = bool(uninterruptible)
        self.weight = finite_number(f"habit {name!r}: weight", weight, above=0)
        self.urgency = finite_number(f"habit {name!r}: urgency", urgency)
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

    def callback(self, moment: str) -> Callback | None:
        """Return what is to be called at a moment, None if nothing is.

        Args:
            moment: "can_activate", "enter", "tick" or "exit".
        """
        given = self._given[moment]
        if given is not None:
            return given
        if getattr(type(self), moment) is getattr(Habit, moment):
            return None
        overridden: Callback = getattr(self, moment)
        return overridden

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
