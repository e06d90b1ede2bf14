"""Events told inside each other without end, and how that is ended.

A handler that answers at once is told inside the event it answers. Two that
answer each other so never come to an end by themselves: the interpreter ends
them. Counting how deep would cost every event; so what it raised is looked at
instead. It goes up through all that was told inside, past the other listeners,
and becomes one failure of the handler with whom it began.
"""
from __future__ import annotations

import sys
from types import TracebackType

from ai_core.events.event import Event

__all__ = ["EndlessEventsError", "is_told_inside", "named"]

ENTRIES = {"Telling.tell", "Telling.tell_sticky", "EventManager.advance"}
"""Functions in which telling begins."""

CODES_SHOWN = 8
"""Codes named in the error (count); what answers each other without end repeats."""


LEAST_EVENTS = 10
"""Events told inside each other that are no accident (count); with fewer, something else has no end."""


class EndlessEventsError(RecursionError):
    """Handlers answered each other at once, without end.

    Args:
        codes: of the events, the outermost first.
    """

    def __init__(self, codes: list[str]) -> None:
        self.codes = codes
        chain = " -> ".join(repr(code) for code in self.codes[:CODES_SHOWN])
        super().__init__(
            f"{len(self.codes)} events were told inside each other and there was no end: {chain} -> …;"
            " answer with send, which waits for the next advance, instead of send_now"
        )


def named(error: RecursionError, event: Event) -> RecursionError:
    """Return an error that names the events, if it is they that have no end."""
    told = _told_in(error.__traceback__)
    if not told or told[0] is not event:
        told.insert(0, event)
    return EndlessEventsError([one.code for one in told]) if len(told) >= LEAST_EVENTS else error


def is_told_inside() -> bool:
    """Return whether what is told now is told inside something else. Cost: O(stack)."""
    entries, frame = 0, sys._getframe(1)
    while frame is not None and entries < 2:
        entries += frame.f_code.co_qualname in ENTRIES
        frame = frame.f_back  # type: ignore[assignment]
    return entries > 1


def _told_in(traceback: TracebackType | None) -> list[Event]:
    """Return what was told inside each other, the outermost first."""
    told: list[Event] = []
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_qualname in ENTRIES:
            event = frame.f_locals.get("event")
            if isinstance(event, Event):
                told.append(event)
        traceback = traceback.tb_next
    return told
