"""The registry of listeners behind an event manager."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from operator import attrgetter
from types import MethodType
from typing import Any, NamedTuple

import ai_core.events.living as living
from ai_core.errors import UnknownNameError, shown, whole_number
from ai_core.events.event import Event, Handler

MANY = 32
"""Listeners from which calls by keeper pay (count); with fewer the set-up costs as much as it saves."""
Told = Callable[[Any, Event], object]
"""Called with the keeper of a handler and an event."""


class WeakHandler(NamedTuple):
    """A weakly held handler: ``function(keeper(), event)`` calls it."""

    function: Told
    keeper: Callable[[], object | None]
    """Returns the object that keeps the handler, None once it is gone."""


class KeeperGoneError(Exception):
    """Ends a bare loop at a listener whose handler is gone; the careful loop then records that."""


class PendingCounts:
    """Deliveries by bare loops that are not yet added to the totals."""

    __slots__ = ("calls", "events")

    def __init__(self) -> None:
        self.events = self.calls = 0


class CallTable(list[Handler]):
    """The calls of the listeners of a code, for bare loops.

    The table is a list of handlers, or a list of keepers, the objects that hold the
    handlers: a function is then called with each keeper and the event. Keepers are
    used where some handlers are held weakly, and where all handlers are the same
    method of many objects: this avoids access to the bound methods, which are
    scattered in memory.

    Args:
        listeners: in order of delivery.
        held_weakly: the weakly held listeners without other filters.

    Attributes:
        listeners: the listeners, in order of delivery.
        are_distinct: True if no call occurs twice and no handler is gone; a call then
            identifies its listener.
        keepers: the objects that hold the handlers; None if the list holds handlers.
        function: the function called with each keeper; None without keepers.
        functions: the function for each keeper, if not all are the same.
        times: runs of the loop since the last count; keepers count their own. It is a
            float because adding to a float takes half the time.
        is_over: True after a change; a loop under way ends after the present call.
    """

    __slots__ = (
        "_are_weak", "_held", "are_distinct", "function", "functions", "is_over", "keepers", "listeners", "times")

    def __init__(
        self, listeners: tuple[Subscription, ...], held_weakly: Mapping[Subscription, WeakHandler]
    ) -> None:
        super().__init__()
        self.listeners = listeners
        self.times = 0.0
        self.is_over = self.are_distinct = False
        self.keepers: living.WeakList | None = None
        self.function: Told | None = None
        self.functions: list[Told] | None = None
        self._held: list[Any] = []
        self._are_weak: list[bool] = []
        is_weak = bool(held_weakly) and not held_weakly.keys().isdisjoint(listeners)
        if is_weak or (len(listeners) >= MANY and _are_of_one_method(listeners)):
            self._hold([(one.call is one.handler and held_weakly.get(one)) or _row(one.call) for one in listeners])
        if not is_weak and not self.are_distinct:
            self._call([one.call for one in listeners])

    def count_into(self, tally: PendingCounts) -> None:
        """Add the deliveries to ``tally`` and start counting again."""
        times, self.times = int(self.times), 0.0
        if self.keepers is not None:
            times, self.keepers.times = self.keepers.times, 0
        tally.events += times
        tally.calls += times * len(self.listeners)

    def end(self) -> None:
        """End every loop under way after its present call."""
        self.is_over = True
        self.clear()
        if self.keepers is not None:
            self.keepers.end()

    def place_after(self, function: Told | None, told: object | None, error: Exception | None) -> int:
        """Return the index of the listener at which a loop that ended early continues.

        Args:
            function: the function called last, if there are keepers.
            told: the handler or keeper called last; None if none was called.
            error: the exception of that call; the index is then that of this listener.
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

    def _hold(self, rows: list[WeakHandler | tuple[Told, Any]]) -> None:
        functions = [row[0] for row in rows]
        self._held = [row[1] for row in rows]
        self._are_weak = [type(row) is WeakHandler for row in rows]
        self.keepers = living.living(self._held, self._are_weak, KeeperGoneError)
        self.function = functions[0]
        if len({*map(id, functions)}) > 1:
            self.functions = functions
        self.are_distinct = _are_distinct(functions, self.keepers)
        self.keepers.times = 0


def _are_of_one_method(listeners: tuple[Subscription, ...]) -> bool:
    """Return whether all listeners are called through the same method of their classes."""
    calls: list[Any] = [one.call for one in listeners]
    return {*map(type, calls)} == {MethodType} and len({id(one.__func__) for one in calls}) == 1


def _are_distinct(functions: list[Told], keepers: living.WeakList) -> bool:
    try:
        found = [*keepers]
    except KeeperGoneError:
        return False  # the careful loop records it
    if len({*map(id, found)}) == len(found):
        return True  # the usual case, ten times faster than the test below
    return len({*zip(map(id, functions), map(id, found), strict=True)}) == len(found)


def _row(call: Handler) -> tuple[Told, Any]:
    """Return the function and keeper of a strongly held handler, for a table of keepers."""
    return (call.__func__, call.__self__) if isinstance(call, MethodType) else (called, call)


def called(handler: Handler, event: Event) -> object:
    """Call a handler that is its own keeper."""
    return handler(event)


EVERY_CODE = "*"
"""Code to receive all events; it cannot be sent."""
MOST_PRIORITY = 1_000_000
"""Largest magnitude of a priority; within it, the ranks of two priorities never overlap."""
PLACES_PER_PRIORITY = 1 << 40
"""Registrations that fit between two priorities (count); one per microsecond for twelve days."""
Codes = str | int | Iterable[str]
"""A code, several codes, or a bit mask of declared codes."""
BY_RANK = attrgetter("rank")


class Subscription:
    """The handle of a registered listener: ``stop()`` ends the registration.

    Attributes:
        handler: called with each event.
        name: name in reports and saves; need not be unique.
        call: the function that dispatch calls: the handler, or a stand-in after it
            stopped or failed. It is replaced here, so that every broadcast under
            way sees it at once and a healthy listener needs no check.
        rank: order of delivery; lower is earlier.
    """

    __slots__ = ("__weakref__", "_channels", "_given_name", "_registry", "call", "handler", "rank")

    def __init__(
        self,
        registry: EventRegistry,
        channels: tuple[Channel, ...],
        handler: Handler,
        name: str | None = None,
        rank: int = 0,
    ) -> None:
        self._registry = registry
        self._channels = channels
        self._given_name = name
        self.rank = rank
        self.handler = handler
        self.call: Handler = handler

    @property
    def name(self) -> str:
        """Name in reports and saves: the given name, or that of the handler."""
        return handler_name(self.handler) if self._given_name is None else self._given_name

    def rename(self, name: str) -> None:
        """Change the name in reports and saves."""
        self._given_name = name

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes listened to, in the order they were given."""
        return tuple(channel.code for channel in self._channels)

    @property
    def is_active(self) -> bool:
        """True until ``stop``."""
        return bool(self._channels)

    def stop(self) -> None:
        """Stop listening at once, even in a broadcast under way.

        That broadcast continues with the other listeners. Stopping twice is
        harmless. Cost: O(codes).
        """
        self._registry.remove(self, self._channels)
        self._channels = ()

    def hear_again(self, channels: tuple[Channel, ...]) -> None:
        """Listen again after ``stop``; called by ``EventRegistry.put_back``."""
        self._channels = channels
        self.call = self.handler

    def answer_by(self, call: Handler) -> None:
        """Replace the function that dispatch calls, also in a broadcast under way."""
        self.call = call
        self._registry.calls_changed(self._channels)

    def __repr__(self) -> str:
        return f"<Subscription of {self.name} to {', '.join(self.codes) or 'nothing (stopped)'}>"


class Channel:
    """The listeners of one code, by rank.

    Attributes:
        in_order: the listeners in order of delivery, None until it is requested.
    """

    __slots__ = ("_highest", "_registry", "alone", "code", "in_order", "is_in_order", "members")

    def __init__(self, code: str, registry: EventRegistry) -> None:
        self.code = code
        self._registry = registry
        self.members: dict[Subscription, None] = {}
        self.alone = (self,)
        self.in_order: tuple[Subscription, ...] | None = None
        self.is_in_order = True
        self._highest = -PLACES_PER_PRIORITY * MOST_PRIORITY

    def add(self, listening: Subscription) -> None:
        """Add a listener, from the next event on."""
        if listening.rank < self._highest:
            self.is_in_order = False
        else:
            self._highest = listening.rank
        self.members[listening] = None
        self.changed()

    def discard(self, listening: Subscription) -> None:
        """Remove a listener, from the next event on."""
        self.members.pop(listening, None)
        self.changed()

    def changed(self) -> None:
        """Rebuild the order of delivery at the next event. Cost: O(1), or O(listeners) once after it was built."""
        self.in_order = None
        self.calls_changed()

    def calls_changed(self) -> None:
        """Rebuild the calls of the listeners at the next event."""
        calls = self._registry.calls.pop(self.code, None)
        if calls is not None:
            calls.count_into(self._registry.tally)
            calls.end()

    def sorted_members(self) -> list[Subscription]:
        """Return the listeners by rank."""
        return list(self.members) if self.is_in_order else sorted(self.members, key=BY_RANK)


class EventRegistry:
    """Listeners by code.

    Args:
        codes: the declared codes; None allows any code.
        stopped: called with the Subscription after it has stopped; returns the
            function that a broadcast under way calls in its place.

    Attributes:
        channels: the listeners by code.
        everyone: the listeners to every code.
        calls: call table by code, for codes sent since the last change; None
            where a listener occurs twice.
        tally: deliveries by bare loops that are no longer counted in ``calls``.
        held_weakly: the weakly held listeners, and their calls.
    """

    def __init__(
        self, codes: Iterable[str] | None, stopped: Callable[[Subscription], Handler]
    ) -> None:
        self.are_declared = codes is not None
        self.channels: dict[str, Channel] = {}
        self.tally = PendingCounts()
        self.calls: dict[str, CallTable | None] = {}
        self.held_weakly: dict[Subscription, WeakHandler] = {}
        self.everyone = Channel(EVERY_CODE, self)
        self._stopped = stopped
        self._registrations = 0
        for code in code_tuple(codes) if codes is not None else ():
            if code == EVERY_CODE:
                raise ValueError(f"{EVERY_CODE!r} stands for every code and cannot be declared; leave it out")
            self.channels[code] = Channel(code, self)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes that are declared, or that have listeners."""
        return tuple(self.channels)

    def wanted(self, codes: Codes) -> tuple[str, ...]:
        """Return the checked codes to listen to."""
        if isinstance(codes, int) and not isinstance(codes, bool) and self.are_declared:
            return self._of_mask(codes)
        names = (codes,) if isinstance(codes, str) else code_tuple(codes)
        if not names:
            raise ValueError("codes must name at least one event code, got none")
        for code in names:
            if code != EVERY_CODE:
                self.check(code)
        if EVERY_CODE in names and len(names) > 1:
            raise ValueError(f"{EVERY_CODE!r} includes every other code; listen to it alone")
        return names

    def mask_of(self, codes: Iterable[str]) -> int:
        """Return the bit mask of declared codes: the first declared one is bit 0."""
        if not self.are_declared:
            raise ValueError("a mask requires declared codes; declare the codes, or listen by names")
        places = {code: place for place, code in enumerate(self.channels)}
        names = code_tuple(codes)
        for code in names:
            self.check(code)
        return sum(1 << places[code] for code in names)

    def add(
        self, codes: Codes, handler: Handler, name: str | None = None, priority: int = 0,
        rank: int | None = None,
    ) -> Subscription:
        """Register ``handler`` for each code. Cost: O(codes)."""
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"name must be a non-empty string, got {shown(name)}")
        if not callable(handler):
            raise TypeError(f"handler must be callable with an event, got {shown(handler)}")
        names = self.wanted(codes)
        if rank is None:
            rank = rank_of(priority, self._registrations)
            self._registrations += 1
        channels = tuple([self._channel(code) for code in names])
        if len(channels) == 1:
            channels = channels[0].alone  # shared, to keep a registration small
        listening = Subscription(self, channels, handler, name, rank)
        for channel in channels:
            channel.add(listening)
        if names[0] == EVERY_CODE:
            self._everyone_changed()
        return listening

    def remove(self, listening: Subscription, channels: tuple[Channel, ...]) -> None:
        """Remove a listener from its channels; drop channels without listeners."""
        if not channels:
            return
        for channel in channels:
            channel.discard(listening)
            if channel is self.everyone:
                self._everyone_changed()
            elif not channel.members and not self.are_declared:
                self.channels.pop(channel.code, None)
        self.held_weakly.pop(listening, None)
        listening.call = self._stopped(listening)

    def put_back(self, listening: Subscription, codes: Iterable[str]) -> None:
        """Register a stopped listener for these codes again. Cost: O(codes)."""
        channels = tuple([self._channel(code) for code in codes])
        listening.hear_again(channels[0].alone if len(channels) == 1 else channels)
        for channel in channels:
            channel.add(listening)
        if channels[0] is self.everyone:
            self._everyone_changed()

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return the present listeners to ``code``, by rank; a broadcast under way keeps its tuple."""
        channel = self.channels.get(code, self.everyone)
        if channel.in_order is None:
            found = channel.sorted_members()
            if self.everyone.members and channel is not self.everyone:
                found = sorted([*found, *self.everyone.members], key=BY_RANK)
            channel.in_order = tuple(found)
        if channel.in_order and code in self.channels and code not in self.calls:
            calls = CallTable(channel.in_order, self.held_weakly)
            self.calls[code] = calls if calls.are_distinct else None
        return channel.in_order

    def tallied(self) -> PendingCounts:
        """Return the deliveries by bare loops since the last call. Cost: O(codes)."""
        for calls in self.calls.values():
            if calls is not None:
                calls.count_into(self.tally)
        told, self.tally = self.tally, PendingCounts()
        return told

    def check(self, code: object) -> None:
        """Raise an error unless ``code`` can be sent."""
        if not isinstance(code, str):
            raise TypeError(f"an event code must be a string, got {shown(code)}")
        if code in self.channels:
            return
        if self.are_declared:
            raise UnknownNameError("event code", code, self.channels)
        if not code:
            raise ValueError("an event code must not be empty")
        if code == EVERY_CODE:
            raise ValueError(f"{EVERY_CODE!r} stands for every code and cannot be sent; send a single code")

    def _channel(self, code: str) -> Channel:
        if code == EVERY_CODE:
            return self.everyone
        channel = self.channels.get(code)
        if channel is None:
            channel = self.channels[code] = Channel(code, self)
        return channel

    def _everyone_changed(self) -> None:
        for channel in self.channels.values():
            channel.changed()

    def calls_changed(self, channels: tuple[Channel, ...]) -> None:
        """Rebuild the calls of the listeners of these channels at the next event."""
        for channel in channels if channels != self.everyone.alone else (*self.channels.values(), self.everyone):
            channel.calls_changed()

    def _of_mask(self, mask: int) -> tuple[str, ...]:
        whole_number("codes", mask, minimum=1, maximum=(1 << len(self.channels)) - 1,
                     remedy="use mask_of to make a mask")
        return tuple(code for place, code in enumerate(self.channels) if mask >> place & 1)


def rank_of(priority: int, place: int) -> int:
    """Return the rank of a listener with a priority, registered after ``place`` other listeners.

    Raises:
        TypeError: if the priority is not an integer.
        ValueError: if its magnitude exceeds MOST_PRIORITY.
    """
    if priority == 0:
        return place
    whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
    return place - PLACES_PER_PRIORITY * priority


def handler_name(handler: object) -> str:
    """Return the default name of a handler."""
    name: str = getattr(handler, "__qualname__", type(handler).__name__)
    return name


def code_tuple(codes: object) -> tuple[str, ...]:
    """Return the codes in order without duplicates; a string is a single code."""
    if isinstance(codes, str):
        return (codes,)
    try:
        names = tuple(dict.fromkeys(codes))  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(
            f"codes must be an event code or a sequence of event codes, got {shown(codes)}"
        ) from None
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"an event code must be a non-empty string, got {shown(name)}")
    return names


__all__ = [
    "EVERY_CODE",
    "MOST_PRIORITY",
    "CallTable",
    "Codes",
    "Event",
    "EventRegistry",
    "Handler",
    "KeeperGoneError",
    "PendingCounts",
    "Subscription",
    "WeakHandler",
]
