"""The event: its code and payload, its terms, its audience and its receipt."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, cast

from ai_core.clock import TimeIndex
from ai_core.saving.declared_state import Flag, ListOf, Moment, Record, Row, Text

if TYPE_CHECKING:
    from ai_core.events.event_registry import EventRegistry, Subscription

__all__ = [
    "PLAIN", "RECEIPT_STATE", "Delivery", "Event", "EventTerms", "Handler", "ListenerGroup", "Receipt", "new_event"]

Position = tuple[float, float, float]


class ListenerGroup(Protocol):
    """The audience of an event: a subset of all listeners; hashable, compared by value."""

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return the present listeners to ``code`` in this audience, in order of delivery."""
        ...

    def includes(self, registry: EventRegistry) -> bool:
        """Return whether the listeners of ``registry`` belong to this audience."""
        ...

    def plain(self) -> Any:
        """Return the reference to this audience in a save, as plain data."""
        ...


class Delivery(NamedTuple):
    """The delivery of an event to one listener."""

    name: str
    delivered_at: TimeIndex
    has_failed: bool


@dataclass(slots=True)
class Receipt:
    """The deliveries of one event so far, in order, and whether all are done."""

    deliveries: list[Delivery] = field(default_factory=list)
    is_complete: bool = False


RECEIPT_STATE = Record(
    Receipt, deliveries=ListOf(Row(Delivery, Text(), Moment(TimeIndex), Flag())), is_complete=Flag())
"""How a receipt is saved."""


class EventTerms(NamedTuple):
    """Optional terms of an event; most events use the defaults."""

    priority: int = 0
    deadline_at: float | None = None
    """Game time by which delivery should be complete (s); None for no deadline."""
    position: Position | None = None
    is_sticky: bool = False
    audience: ListenerGroup | None = None
    receipt: Receipt | None = None


PLAIN = EventTerms()
"""Default terms; dispatch recognizes them by identity."""


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
    """An event, delivered to the listeners of ``code``. Immutable.

    Attributes:
        code: name of the kind of event.
        arguments: the payload, as given by the sender.
        sender: the sender, or None.
        sent_at: frame and game time at which it was sent.
        due_at: game time from which it may be delivered (s).
        terms: priority, deadline, position and other terms of delivery.
    """

    __slots__ = ()

    def __new__(
        cls, code: str, arguments: tuple[Any, ...], sender: object | None, sent_at: TimeIndex,
        due_at: float, terms: EventTerms = PLAIN,
    ) -> Event:
        """Make an event without sending it."""
        return new_event(code, arguments, sender, sent_at, due_at, terms)

    @property
    def position(self) -> Position | None:
        """Position of the event (m); None if it was sent without a position."""
        return self.terms.position

    @property
    def receipt(self) -> Receipt | None:
        """The deliveries so far; None unless it was sent with ``wants_receipt``."""
        return self.terms.receipt

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an event is immutable, so {name!r} cannot be set; send a new event")

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
    """Make an event; faster than the constructor of an immutable class."""
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
"""Signature of an event handler; its return value is ignored."""
