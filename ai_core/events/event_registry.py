"""Who listens to what: the registry behind an event manager."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError, shown

__all__ = ["Event", "EventRegistry", "Handler", "Listening"]


class Event(NamedTuple):
    """Something that happened; listeners of ``code`` are told. Immutable."""

    code: str
    arguments: tuple[Any, ...]
    sender: object | None
    sent_at: TimeIndex
    due_at: float
    """Game time from which it may be delivered (s)."""


Handler = Callable[[Event], object]
"""What a listener is called with; what it returns is ignored."""


class Listening:
    """The handle of one registration: ``stop()`` ends it.

    Attributes:
        handler: what is called with each event.
        name: what reports and saves call it; need not be unique.
        call: what dispatch calls: the handler, or a stand-in for one that has
            stopped or failed. Swapped here, so that every broadcast under way
            sees it at once and a healthy listener costs no check.
    """

    __slots__ = ("__weakref__", "_channels", "_given_name", "_registry", "call", "handler")

    def __init__(
        self,
        registry: EventRegistry,
        channels: tuple[Channel, ...],
        handler: Handler,
        name: str | None = None,
    ) -> None:
        self._registry = registry
        self._channels = channels
        self._given_name = name
        self.handler = handler
        self.call: Handler = handler

    @property
    def name(self) -> str:
        """What reports and saves call it: the name given, or that of the handler."""
        if self._given_name is not None:
            return self._given_name
        name: str = getattr(self.handler, "__qualname__", type(self.handler).__name__)
        return name

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

    def __repr__(self) -> str:
        return f"<Listening of {self.name} to {', '.join(self.codes) or 'nothing any more'}>"


class Channel:
    """The listeners of one code, in the order they came."""

    __slots__ = ("_in_order", "alone", "code", "members")

    def __init__(self, code: str) -> None:
        self.code = code
        self.members: dict[Listening, None] = {}
        self.alone = (self,)
        self._in_order: tuple[Listening, ...] | None = ()

    def listeners(self) -> tuple[Listening, ...]:
        """Return them as they are now; a broadcast keeps what it was given."""
        if self._in_order is None:
            self._in_order = tuple(self.members)
        return self._in_order

    def add(self, listening: Listening) -> None:
        """Let it hear from the next event on."""
        self.members[listening] = None
        self._in_order = None

    def discard(self, listening: Listening) -> None:
        """Leave it out from the next event on."""
        self.members.pop(listening, None)
        self._in_order = None


class EventRegistry:
    """Listeners by code.

    Args:
        codes: the only codes there are; None allows any.
        stopped: called with the Listening after it has stopped; returns what
            a broadcast under way calls in its place.
    """

    def __init__(
        self, codes: Iterable[str] | None, stopped: Callable[[Listening], Handler]
    ) -> None:
        self._are_declared = codes is not None
        self._channels: dict[str, Channel] = {}
        self._stopped = stopped
        for code in code_tuple(codes) if codes is not None else ():
            self._channels[code] = Channel(code)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes that are declared, or that somebody listens to."""
        return tuple(self._channels)

    def add(
        self, codes: str | Iterable[str], handler: Handler, name: str | None = None
    ) -> Listening:
        """Register ``handler`` for each code. Cost: O(codes)."""
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        if not callable(handler):
            raise TypeError(f"handler must be callable with an event, got {shown(handler)}")
        wanted = (codes,) if type(codes) is str else code_tuple(codes)
        if not wanted:
            raise ValueError("codes must name at least one event code, got none")
        for code in wanted:  # all are checked before any is changed
            self.check(code)
        channels = tuple(self._channel(code) for code in wanted)
        if len(channels) == 1:
            channels = channels[0].alone  # shared: a registration stays small
        listening = Listening(self, channels, handler, name)
        for channel in channels:
            channel.add(listening)
        return listening

    def remove(self, listening: Listening, channels: tuple[Channel, ...]) -> None:
        """Take it out of every channel; forget channels nobody needs."""
        if not channels:
            return
        for channel in channels:
            channel.discard(listening)
            if not channel.members and not self._are_declared:
                self._channels.pop(channel.code, None)
        listening.call = self._stopped(listening)

    def listeners(self, code: str) -> tuple[Listening, ...]:
        """Return who listens to ``code`` now, in the order they came."""
        channel = self._channels.get(code)
        return channel.listeners() if channel is not None else ()

    def check(self, code: object) -> None:
        """Raise unless ``code`` may be sent and listened to."""
        if not isinstance(code, str):
            raise TypeError(f"an event code must be a string, got {shown(code)}")
        if code in self._channels:
            return
        if self._are_declared:
            raise UnknownNameError("event code", code, self._channels)
        if not code:
            raise ValueError("an event code must not be empty")

    def _channel(self, code: str) -> Channel:
        channel = self._channels.get(code)
        if channel is None:
            channel = self._channels[code] = Channel(code)
        return channel


def code_tuple(codes: Iterable[str]) -> tuple[str, ...]:
    """Return the codes once each, in order; one string is one code."""
    if isinstance(codes, str):
        return (codes,)
    try:
        names = tuple(dict.fromkeys(codes))
    except TypeError:
        raise TypeError(
            f"codes must be an event code or several, got {shown(codes)}"
        ) from None
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"an event code must be a non-empty string, got {shown(name)}")
    return names
