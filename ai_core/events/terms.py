"""Checks of the optional terms of an event: priority, deadline, position, audience."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ai_core.errors import finite_number, shown, whole_number
from ai_core.events.event import PLAIN, RECEIPT_STATE, EventTerms, ListenerGroup, Position, Receipt
from ai_core.events.event_registry import MOST_PRIORITY
from ai_core.saving.declared_state import Flag, Kind, ListOf, Number, Optional, Record, Seconds, Whole

__all__ = ["TERMS_STATE", "coordinates", "terms_of"]


def terms_of(
    priority: int, deadline_at: float | None, position: Iterable[float] | None, is_sticky: bool,
    wants_receipt: bool, audience: ListenerGroup | None,
) -> EventTerms:
    """Return checked terms; PLAIN itself if every term has its default."""
    asks = priority or is_sticky or wants_receipt
    if not asks and deadline_at is None and position is None and audience is None:
        return PLAIN
    if audience is not None and not callable(getattr(audience, "listeners", None)):
        raise TypeError(f"audience must be a GroupRecipients, got {shown(audience)}; leave it out to reach all")
    whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
    place = None if position is None else coordinates("position", position)
    receipt = Receipt() if wants_receipt else None
    return EventTerms(priority, deadline_at, place, bool(is_sticky), audience, receipt)


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


TERMS_STATE = _TermsState(
    EventTerms, priority=Whole(-MOST_PRIORITY, MOST_PRIORITY), deadline_at=Optional(Seconds()),
    position=Optional(ListOf(Number(), count=3, make=tuple)), is_sticky=Flag(), audience=Optional(_AudienceState()),
    receipt=Optional(RECEIPT_STATE))
"""How the terms of an event are saved; the object that is saved has a ``book``."""


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
