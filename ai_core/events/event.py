"""The event: its code and payload, the terms of its delivery, its audience and its receipt."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from ai_core.clock import TimeIndex
from ai_core.errors import finite_number, shown, whole_number
from ai_core.saving.declared_state import (
    Flag,
    GameValue,
    GameValues,
    Kind,
    ListOf,
    Moment,
    Number,
    Optional,
    Record,
    Row,
    Seconds,
    Text,
    Whole,
    refuse,
)
from ai_core.saving.fields import StateError

__all__ = [
    "EVENT_STATE", "MOST_PRIORITY", "PLAIN", "Delivery", "Event", "EventTerms", "Handler", "ListenerGroup", "Position",
    "Receipt", "coordinates"]

MOST_PRIORITY = 1_000_000
"""Largest magnitude of a priority; within it, the ranks of listeners of two priorities never overlap."""

Position = tuple[float, float, float]
"""Three coordinates (m)."""


class ListenerGroup(Protocol):
    """The audience of an event: a subset of all listeners; hashable, compared by value."""

    def listeners(self, code: str) -> tuple[Any, ...]:
        """Return the present subscriptions to ``code`` in this audience, in order of delivery."""
        ...

    def includes(self, registry: Any) -> bool:
        """Return whether the listeners of an EventRegistry belong to this audience."""
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


class EventTerms(NamedTuple):
    """Optional terms of an event; most events use the defaults."""

    priority: int = 0
    deadline_at: float | None = None
    """Game time by which delivery should be complete (s); None for no deadline."""
    position: Position | None = None
    is_sticky: bool = False
    audience: ListenerGroup | None = None
    receipt: Receipt | None = None

    @classmethod
    def checked(
        cls, priority: int, deadline_at: float | None, position: Iterable[float] | None, is_sticky: bool,
        wants_receipt: bool, audience: ListenerGroup | None,
    ) -> EventTerms:
        """Return checked terms; PLAIN itself if every term has its default."""
        is_plain = deadline_at is None and position is None and audience is None
        if is_plain and not (priority or is_sticky or wants_receipt):
            return PLAIN
        if audience is not None and not callable(getattr(audience, "listeners", None)):
            raise TypeError(f"audience must be a GroupRecipients, got {shown(audience)}; leave it out to reach all")
        if priority != 0:
            whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
        place = None if position is None else coordinates("position", position)
        receipt = Receipt() if wants_receipt else None
        return cls(priority, deadline_at, place, bool(is_sticky), audience, receipt)


PLAIN = EventTerms()
"""The default terms."""


class Event(NamedTuple):
    """An event, delivered to the listeners of ``code``. Immutable."""

    code: str
    """Name of the kind of event."""
    arguments: tuple[Any, ...]
    """The payload, as given by the sender."""
    sender: object | None
    sent_at: TimeIndex
    """Frame and game time at which it was sent."""
    due_at: float
    """Game time from which it may be delivered (s)."""
    terms: EventTerms = PLAIN
    """Priority, deadline, position and other terms of delivery."""

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

    def __hash__(self) -> int:
        return hash((self.code, self.sent_at, self.due_at))  # the arguments may not be hashable

    def __repr__(self) -> str:
        return f"<Event {self.code}{self.arguments!r} of frame {self.sent_at.frame}>"


Handler = Callable[[Event], object]
"""Signature of an event handler; its return value is ignored."""


def coordinates(name: str, value: object) -> Position:
    """Return two or three finite coordinates as three floats (m).

    Raises:
        TypeError: if they are not numbers.
        ValueError: if there are not two or three coordinates, or a coordinate is not finite.
    """
    try:
        numbers = [*cast("Iterable[object]", value)]
    except TypeError:
        raise _no_position(name, value) from None
    if not 2 <= len(numbers) <= 3 or isinstance(value, str):
        raise _no_position(name, value)
    x, y, z = (finite_number(name, one) for one in [*numbers, 0.0][:3])
    return (x, y, z)


def _no_position(name: str, value: object) -> Exception:
    kind = ValueError if isinstance(value, tuple | list) else TypeError
    return kind(f"{name} must be two or three coordinates in metres, got {shown(value)}")


class _AudienceState(Kind):
    """How an audience is saved: by the listener book of the event manager."""

    def save(self, value: Any, owner: Any) -> Any:
        return value.plain()

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return owner.book.audience(plain, place)


class _TermsState(Record):
    """How terms are saved; the default terms as None."""

    def save(self, value: Any, owner: Any) -> Any:
        return None if value is PLAIN else super().save(value, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return PLAIN if plain is None else super().read(plain, place, owner)


class _CodeState(Text):
    """How the code of an event is saved."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        code = super().read(plain, place, owner)
        try:
            owner.check_code(code)
        except (LookupError, ValueError) as error:
            refuse(place, f"is not valid: {error}")
        return code


class _EventState(Record):
    """How an event is saved; an error names the event."""

    def save(self, value: Any, owner: Any) -> Any:
        try:
            return super().save(value, owner)
        except StateError as error:
            raise StateError(f"event {value.code!r} of frame {value.sent_at.frame}: {error}") from None


_RECEIPT_STATE = Record(
    Receipt, deliveries=ListOf(Row(Delivery, Text(), Moment(TimeIndex), Flag())), is_complete=Flag())
_TERMS_STATE = _TermsState(
    EventTerms, priority=Whole(-MOST_PRIORITY, MOST_PRIORITY), deadline_at=Optional(Seconds()),
    position=Optional(ListOf(Number(), count=3, make=tuple)), is_sticky=Flag(), audience=Optional(_AudienceState()),
    receipt=Optional(_RECEIPT_STATE))
EVENT_STATE = _EventState(
    Event, code=_CodeState(), arguments=GameValues(at="arguments"), sender=GameValue(at="sender"),
    sent_at=Moment(TimeIndex), due_at=Seconds(), terms=_TERMS_STATE)
"""How an event of an event manager is saved."""
