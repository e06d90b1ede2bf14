"""Sticky events: the last one of each code and audience, for listeners added later."""
from __future__ import annotations

from collections.abc import Iterable

from ai_core.events.event import Event, ListenerGroup
from ai_core.events.event_registry import EVERY_CODE, EventRegistry, Subscription

__all__ = ["StickyEvents"]


class StickyEvents:
    """One event for each code and audience, in order of dispatch."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ListenerGroup | None], Event] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, event: Event) -> None:
        """Keep an event in place of the previous one."""
        self.clear(event.code, event.terms.audience)  # so that the latest comes last
        self._kept[event.code, event.terms.audience] = event

    def kept(self, code: str, audience: ListenerGroup | None) -> Event | None:
        """Return the event kept for a code, None if there is none."""
        return self._kept.get((code, audience))

    def clear(self, code: str, audience: ListenerGroup | None) -> None:
        """Remove the event of a code; does nothing if there is none."""
        self._kept.pop((code, audience), None)

    def meant_for(
        self, listening: Subscription, registry: EventRegistry, before: EventRegistry | None,
        main: EventRegistry,
    ) -> list[Event]:
        """Return the events for a new listener in ``registry``, without those delivered in ``before``.

        Cost: O(events kept).
        """
        codes = listening.codes

        def is_for(there: EventRegistry, audience: ListenerGroup | None) -> bool:
            return there is main if audience is None else audience.includes(there)

        return [
            event for event in self._kept.values()
            if (event.code in codes or codes == (EVERY_CODE,))
            and is_for(registry, event.terms.audience)
            and not (before is not None and is_for(before, event.terms.audience))
        ]

    @property
    def events(self) -> list[Event]:
        """All events, in order of dispatch."""
        return list(self._kept.values())

    @events.setter
    def events(self, events: Iterable[Event]) -> None:
        self._kept = {(event.code, event.terms.audience): event for event in events}
