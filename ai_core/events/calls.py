"""What is called to tell the listeners of one code: rows for bare loops.

Looking at a Listening before each call would take as long as the call. So
the calls themselves are kept, as they were when the code was last told, and
become useless all at once when anything changes.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import ai_core.events.living as living
from ai_core.events.event import Event, Handler

if TYPE_CHECKING:
    from ai_core.events.event_registry import Listening

__all__ = ["Calls", "HeldWeakly", "KeeperGoneError", "Tally"]

MANY = 32
"""Listeners for whom their keepers are looked up (count); fewer take as long to begin with as they gain."""

Told = Callable[[Any, Event], object]
"""Called with the keeper of a handler and an event."""


class HeldWeakly(NamedTuple):
    """A handler that somebody else keeps: ``function(keeper(), event)`` calls it."""

    function: Told
    keeper: Callable[[], object | None]
    """Returns what keeps the handler, None once it is gone."""


class KeeperGoneError(Exception):
    """Ends a loop at a listener whose handler is gone; whoever is told with care notes that."""


class Tally:
    """What was told by bare loops, until somebody counts it with the rest."""

    __slots__ = ("calls", "events")

    def __init__(self) -> None:
        self.events = self.calls = 0


class Calls(list[Handler]):
    """What the listeners of one code are called by, for bare loops.

    A list of handlers, or in its place those who keep them: each is handed to
    a function, with the event. So it is where some are held weakly, and where
    all are the same method of many guards: then nobody looks at the objects
    that bind it to them, which lie all over memory.

    Args:
        listeners: in the order they are told.
        held_weakly: those of them who are held so and want nothing else.

    Attributes:
        listeners: whose calls they are.
        are_distinct: whether nobody is called twice, and nobody is gone: then a call says whose it is.
        keepers: who keep the handlers; None if these are in the list.
        function: what is called with each keeper; None if there are none.
        functions: what is called with each, if that is not the same for all.
        times: how often the handlers were called since it was last counted; keepers count by themselves.
            A float, as adding to one makes a new number in half the time.
        is_over: something has changed; a loop under way ends after the present call.
    """

    __slots__ = (
        "_are_weak", "_held", "are_distinct", "function", "functions", "is_over", "keepers", "listeners", "times")

    def __init__(
        self, listeners: tuple[Listening, ...], held_weakly: Mapping[Listening, HeldWeakly]
    ) -> None:
        super().__init__()
        self.listeners = listeners
        self.times = 0.0
        self.is_over = self.are_distinct = False
        self.keepers: living.Living | None = None
        self.function: Told | None = None
        self.functions: list[Told] | None = None
        self._held: list[Any] = []
        self._are_weak: list[bool] = []
        is_weak = bool(held_weakly) and not held_weakly.keys().isdisjoint(listeners)
        if is_weak or (len(listeners) >= MANY and _are_of_one_method(listeners)):
            self._hold([(one.call is one.handler and held_weakly.get(one)) or _row(one.call) for one in listeners])
        if not is_weak and not self.are_distinct:
            self._call([one.call for one in listeners])

    def count_into(self, tally: Tally) -> None:
        """Hand over what was told."""
        times, self.times = int(self.times), 0.0
        if self.keepers is not None:
            times, self.keepers.times = self.keepers.times, 0
        tally.events += times
        tally.calls += times * len(self.listeners)

    def end(self) -> None:
        """Let every loop under way end after the call it is making."""
        self.is_over = True
        self.clear()
        if self.keepers is not None:
            self.keepers.end()

    def place_after(self, function: Told | None, told: object | None, error: Exception | None) -> int:
        """Return the place of the listener with whom a loop that ended early shall go on.

        Args:
            function: what was called last, if there are keepers.
            told: what was called, or whose keeper was handed to the function; None if nobody was told.
            error: what it raised; then the place is its own.
        """
        if told is None:
            return 0
        if self.keepers is None:
            at = next(place for place, one in enumerate(self._held) if one is told)
        else:
            functions = repeat(function) if self.functions is None else self.functions
            rows = enumerate(zip(functions, self._held, self._are_weak, strict=False))
            at = next(
                place for place, (one, held, is_weak) in rows
                if one is function and (held() if is_weak else held) is told
            )
        return at + (error is None)

    def _call(self, calls: list[Handler]) -> None:
        self.keepers = self.function = None
        self._held = calls
        self.extend(calls)
        self.are_distinct = len({*map(id, calls)}) == len(calls)

    def _hold(self, rows: list[HeldWeakly | tuple[Told, Any]]) -> None:
        functions = [row[0] for row in rows]
        self._held = [row[1] for row in rows]
        self._are_weak = [type(row) is HeldWeakly for row in rows]
        self.keepers = living.living(self._held, self._are_weak, KeeperGoneError)
        self.function = functions[0]
        if len({*map(id, functions)}) > 1:
            self.functions = functions
        self.are_distinct = _are_distinct(functions, self.keepers)
        self.keepers.times = 0


def _are_of_one_method(listeners: tuple[Listening, ...]) -> bool:
    """Return whether all are called by the same method of theirs."""
    calls: list[Any] = [one.call for one in listeners]
    return {*map(type, calls)} == {MethodType} and len({id(one.__func__) for one in calls}) == 1


def _are_distinct(functions: list[Told], keepers: living.Living) -> bool:
    try:
        found = [*keepers]
    except KeeperGoneError:
        return False  # told with care, he is noted
    if len({*map(id, found)}) == len(found):
        return True  # as nearly always, and ten times sooner known than what follows
    return len({*zip(map(id, functions), map(id, found), strict=True)}) == len(found)


def _row(call: Handler) -> tuple[Told, Any]:
    """Return how a handler that is held is called where others are not."""
    return (call.__func__, call.__self__) if isinstance(call, MethodType) else (called, call)


def called(handler: Handler, event: Event) -> object:
    """Tell a handler that is its own keeper."""
    return handler(event)
