"""What is told: an event, on which terms, to whom, and the receipt of it."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, cast

from ai_core.clock import TimeIndex
from ai_core.saving.fields import State

if TYPE_CHECKING:
    from ai_core.events.event_registry import EventRegistry, Subscription

__all__ = ["PLAIN", "Delivery", "Event", "EventTerms", "Handler", "ListenerGroup", "Receipt", "new_event"]

Position = tuple[float, float, float]


class ListenerGroup(Protocol):
    """A part of all listeners that an event is meant for; hashable, compared by value."""

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return who of it listens to ``code`` now, in order."""
        ...

    def includes(self, registry: EventRegistry) -> bool:
        """Return whether those who register there belong to it."""
        ...

    def plain(self) -> State:
        """Return what a save calls it."""
        ...


class Delivery(NamedTuple):
    """One listener was told."""

    name: str
    delivered_at: TimeIndex
    has_failed: bool


@dataclass(slots=True)
class Receipt:
    """Who was told of one event so far, in order, and whether that is all."""

    deliveries: list[Delivery] = field(default_factory=list)
    is_complete: bool = False


class EventTerms(NamedTuple):
    """What most events do without."""

    priority: int = 0
    deadline_at: float | None = None
    """Game time by which all should have been told (s)."""
    position: Position | None = None
    is_sticky: bool = False
    audience: ListenerGroup | None = None
    receipt: Receipt | None = None


PLAIN = EventTerms()
"""Terms of an event that asked for nothing; dispatch knows it by identity."""


class _Draft:
    """An event while it is being written."""

    __slots__ = ("arguments", "code", "due_at", "sender", "sent_at", "terms")

    code: str
    arguments: tuple[Any, ...]
    sender: object | None
    sent_at: TimeIndex
    due_at: float
    terms: EventTerms


class Event(_Draft):
    """Something that happened; listeners of ``code`` are told. Immutable.

    Attributes:
        code: what happened.
        arguments: what the sender added.
        sender: who says so, or None.
        sent_at: when it was sent.
        due_at: game time from which it may be delivered (s).
        terms: how it is to be told.
    """

    __slots__ = ()

    def __new__(
        cls, code: str, arguments: tuple[Any, ...], sender: object | None, sent_at: TimeIndex,
        due_at: float, terms: EventTerms = PLAIN,
    ) -> Event:
        """Make an event that nobody has sent."""
        return new_event(code, arguments, sender, sent_at, due_at, terms)

    @property
    def position(self) -> Position | None:
        """Where it happened (m); None if nobody said."""
        return self.terms.position

    @property
    def receipt(self) -> Receipt | None:
        """Who has been told, if the sender asked for it."""
        return self.terms.receipt

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an event cannot be changed, so {name!r} cannot be set; send another one")

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.code, self.sent_at, self.due_at))

    def __reduce__(self) -> tuple[type[Event], tuple[object, ...]]:
        return Event, self._fields()

    def __repr__(self) -> str:
        return f"<Event {self.code}{self.arguments!r} of frame {self.sent_at.frame}>"

    def _fields(self) -> tuple[object, ...]:
        return self.code, self.arguments, self.sender, self.sent_at, self.due_at, self.terms


def new_event(
    code: str, arguments: tuple[Any, ...], sender: object | None, sent_at: TimeIndex, due_at: float,
    terms: EventTerms,
) -> Event:
    """Make an event; quicker than any class that cannot be changed is made by itself."""
    event = _Draft()
    event.code = code
    event.arguments = arguments
    event.sender = sender
    event.sent_at = sent_at
    event.due_at = due_at
    event.terms = terms
    event.__class__ = Event  # from here on it cannot be changed
    return cast(Event, event)


Handler = Callable[[Event], object]
"""What a listener is called with; what it returns is ignored."""
