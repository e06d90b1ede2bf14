"""Checks of the optional terms of an event: priority, deadline, position, audience."""
from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from ai_core.errors import finite_number, shown, whole_number
from ai_core.events.event import PLAIN, EventTerms, ListenerGroup, Position, Receipt
from ai_core.events.event_registry import MOST_PRIORITY

__all__ = ["coordinates", "terms_of"]


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
