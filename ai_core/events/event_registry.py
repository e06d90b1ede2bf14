"""Who listens to what: the registry behind an event manager."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from ai_core.errors import UnknownNameError, shown, whole_number
from ai_core.events.calls import Calls, HeldWeakly, Tally
from ai_core.events.event import Event, Handler

__all__ = [
    "EVERY_CODE",
    "MOST_PRIORITY",
    "Codes",
    "Event",
    "EventRegistry",
    "Handler",
    "Listening",
]

EVERY_CODE = "*"
"""Listen to this code to hear all; it cannot be sent."""

MOST_PRIORITY = 1_000_000
"""Largest priority, either way; within it, ranks of priorities never meet."""

PLACES_PER_PRIORITY = 1 << 40
"""Registrations that fit between two priorities (count); a lifetime of one per microsecond."""

Codes = str | int | Iterable[str]
"""One code, several, or a bit mask of declared ones."""

BY_RANK = attrgetter("rank")


class Listening:
    """The handle of one registration: ``stop()`` ends it.

    Attributes:
        handler: what is called with each event.
        name: what reports and saves call it; need not be unique.
        call: what dispatch calls: the handler, or a stand-in for one that has
            stopped or failed. Swapped here, so that every broadcast under way
            sees it at once and a healthy listener costs no check.
        rank: the lower, the earlier it is told.
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
        """What reports and saves call it: the name given, or that of the handler."""
        return handler_name(self.handler) if self._given_name is None else self._given_name

    def rename(self, name: str) -> None:
        """Be called otherwise from now on, in reports and saves."""
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
        """Hear nothing more, at once, even of a broadcast under way.

        Everybody else in that broadcast is still told. Stopping twice is
        harmless. Cost: O(codes).
        """
        self._registry.remove(self, self._channels)
        self._channels = ()

    def hear_again(self, channels: tuple[Channel, ...]) -> None:
        """Be called as before; for ``EventRegistry.put_back``."""
        self._channels = channels
        self.call = self.handler

    def answer_by(self, call: Handler) -> None:
        """Let dispatch call this from now on, also where a broadcast is under way."""
        self.call = call
        self._registry.calls_changed(self._channels)

    def __repr__(self) -> str:
        return f"<Listening of {self.name} to {', '.join(self.codes) or 'nothing any more'}>"


class Channel:
    """The listeners of one code, by rank.

    Attributes:
        in_order: the listeners as they are told, None until that is asked for.
    """

    __slots__ = ("_highest", "_registry", "alone", "code", "in_order", "is_in_order", "members")

    def __init__(self, code: str, registry: EventRegistry) -> None:
        self.code = code
        self._registry = registry
        self.members: dict[Listening, None] = {}
        self.alone = (self,)
        self.in_order: tuple[Listening, ...] | None = None
        self.is_in_order = True
        self._highest = -PLACES_PER_PRIORITY * MOST_PRIORITY

    def add(self, listening: Listening) -> None:
        """Let it hear from the next event on."""
        if listening.rank < self._highest:
            self.is_in_order = False
        else:
            self._highest = listening.rank
        self.members[listening] = None
        self.changed()

    def discard(self, listening: Listening) -> None:
        """Leave it out from the next event on."""
        self.members.pop(listening, None)
        self.changed()

    def changed(self) -> None:
        """Look up anew who is told. Cost: O(1), or O(listeners) once after it was looked up."""
        self.in_order = None
        self.calls_changed()

    def calls_changed(self) -> None:
        """Look up anew how each is called."""
        calls = self._registry.calls.pop(self.code, None)
        if calls is not None:
            calls.count_into(self._registry.tally)
            calls.end()

    def sorted_members(self) -> list[Listening]:
        """Return the listeners by rank."""
        return list(self.members) if self.is_in_order else sorted(self.members, key=BY_RANK)


class EventRegistry:
    """Listeners by code.

    Args:
        codes: the only codes there are; None allows any.
        stopped: called with the Listening after it has stopped; returns what
            a broadcast under way calls in its place.

    Attributes:
        channels: by code, who listens to it.
        everyone: who listens to every code.
        calls: by code, what to call, for codes sent since anything changed; None
            where somebody listens twice.
        tally: what bare loops told, where it is no longer in ``calls``.
        held_weakly: listeners whose handlers somebody else keeps, and how these are called.
    """

    def __init__(
        self, codes: Iterable[str] | None, stopped: Callable[[Listening], Handler]
    ) -> None:
        self.are_declared = codes is not None
        self.channels: dict[str, Channel] = {}
        self.tally = Tally()
        self.calls: dict[str, Calls | None] = {}
        self.held_weakly: dict[Listening, HeldWeakly] = {}
        self.everyone = Channel(EVERY_CODE, self)
        self._stopped = stopped
        self._registrations = 0
        for code in code_tuple(codes) if codes is not None else ():
            if code == EVERY_CODE:
                raise ValueError(f"{EVERY_CODE!r} stands for every code and cannot be declared")
            self.channels[code] = Channel(code, self)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes that are declared, or that somebody listens to."""
        return tuple(self.channels)

    def wanted(self, codes: Codes) -> tuple[str, ...]:
        """Return the codes to listen to, all of them checked."""
        if isinstance(codes, int) and not isinstance(codes, bool) and self.are_declared:
            return self._of_mask(codes)
        names = (codes,) if isinstance(codes, str) else code_tuple(codes)
        if not names:
            raise ValueError("codes must name at least one event code, got none")
        for code in names:
            if code != EVERY_CODE:
                self.check(code)
        if EVERY_CODE in names and len(names) > 1:
            raise ValueError(f"{EVERY_CODE!r} covers every other code; listen to it alone")
        return names

    def mask_of(self, codes: Iterable[str]) -> int:
        """Return the bit mask of declared codes: the first declared one is bit 0."""
        if not self.are_declared:
            raise ValueError("a mask needs declared codes; declare them, or listen by names")
        places = {code: place for place, code in enumerate(self.channels)}
        names = code_tuple(codes)
        for code in names:
            self.check(code)
        return sum(1 << places[code] for code in names)

    def add(
        self, codes: Codes, handler: Handler, name: str | None = None, priority: int = 0,
        rank: int | None = None,
    ) -> Listening:
        """Register ``handler`` for each code. Cost: O(codes)."""
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        if not callable(handler):
            raise TypeError(f"handler must be callable with an event, got {shown(handler)}")
        names = self.wanted(codes)
        if rank is None:
            rank = rank_of(priority, self._registrations)
            self._registrations += 1
        channels = tuple([self._channel(code) for code in names])
        if len(channels) == 1:
            channels = channels[0].alone  # shared: a registration stays small
        listening = Listening(self, channels, handler, name, rank)
        for channel in channels:
            channel.add(listening)
        if names[0] == EVERY_CODE:
            self._everyone_changed()
        return listening

    def remove(self, listening: Listening, channels: tuple[Channel, ...]) -> None:
        """Take it out of every channel; forget channels nobody needs."""
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

    def put_back(self, listening: Listening, codes: Iterable[str]) -> None:
        """Let one that has stopped hear these codes again, as it did. Cost: O(codes)."""
        channels = tuple([self._channel(code) for code in codes])
        listening.hear_again(channels[0].alone if len(channels) == 1 else channels)
        for channel in channels:
            channel.add(listening)
        if channels[0] is self.everyone:
            self._everyone_changed()

    def listeners(self, code: str) -> tuple[Listening, ...]:
        """Return who listens to ``code`` now, by rank; a broadcast keeps what it was given."""
        channel = self.channels.get(code, self.everyone)
        if channel.in_order is None:
            found = channel.sorted_members()
            if self.everyone.members and channel is not self.everyone:
                found = sorted([*found, *self.everyone.members], key=BY_RANK)
            channel.in_order = tuple(found)
        if channel.in_order and code in self.channels and code not in self.calls:
            calls = Calls(channel.in_order, self.held_weakly)
            self.calls[code] = calls if calls.are_distinct else None
        return channel.in_order

    def tallied(self) -> Tally:
        """Return what bare loops told since this was last called. Cost: O(codes)."""
        for calls in self.calls.values():
            if calls is not None:
                calls.count_into(self.tally)
        told, self.tally = self.tally, Tally()
        return told

    def check(self, code: object) -> None:
        """Raise unless ``code`` may be sent."""
        if not isinstance(code, str):
            raise TypeError(f"an event code must be a string, got {shown(code)}")
        if code in self.channels:
            return
        if self.are_declared:
            raise UnknownNameError("event code", code, self.channels)
        if not code:
            raise ValueError("an event code must not be empty")
        if code == EVERY_CODE:
            raise ValueError(f"{EVERY_CODE!r} stands for every code; send one that has a name")

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
        """Look up anew how the listeners of these channels are called."""
        for channel in channels if channels != self.everyone.alone else (*self.channels.values(), self.everyone):
            channel.calls_changed()

    def _of_mask(self, mask: int) -> tuple[str, ...]:
        whole_number("codes", mask, minimum=1, maximum=(1 << len(self.channels)) - 1,
                     remedy="use mask_of to make a mask")
        return tuple(code for place, code in enumerate(self.channels) if mask >> place & 1)


def rank_of(priority: int, place: int) -> int:
    """Return the rank of a listener of a priority that came after ``place`` others.

    Raises:
        TypeError: if the priority is no whole number.
        ValueError: if it is beyond MOST_PRIORITY.
    """
    if priority == 0:
        return place
    whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
    return place - PLACES_PER_PRIORITY * priority


def handler_name(handler: object) -> str:
    """Return what a handler is called where nobody named it."""
    name: str = getattr(handler, "__qualname__", type(handler).__name__)
    return name


def code_tuple(codes: object) -> tuple[str, ...]:
    """Return the codes once each, in order; one string is one code."""
    if isinstance(codes, str):
        return (codes,)
    try:
        names = tuple(dict.fromkeys(codes))  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(
            f"codes must be an event code or several, got {shown(codes)}"
        ) from None
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"an event code must be a non-empty string, got {shown(name)}")
    return names
