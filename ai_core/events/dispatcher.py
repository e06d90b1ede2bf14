"""Telling listeners: what goes on where, who failed, who was late, who was left out."""
from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from operator import length_hint
from types import TracebackType
from typing import NamedTuple

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import shown
from ai_core.events.event import Delivery, Event, Handler
from ai_core.events.event_log import EventLog
from ai_core.events.event_registry import CallTable, Subscription
from ai_core.faults import NO_FAILURES, Failures, FaultIsolation

ENTRIES = {"EventManager.tell", "EventManager.tell_sticky", "EventManager.advance"}
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


CALLS_PER_CHECK = 128
"""Most handlers called between two looks at the budget (count).

Looking costs about ten calls. More would let a broadcast run further past a
budget when its handlers suddenly become dear; fewer would slow all of them.
"""
DUE_TOLERANCE_S = 1e-9
"""An event this close to its due time is due, to its deadline in time (s).

Game time is a sum of floats: without it 0.05 + 0.1 s is a frame later than
0.15 s. Far below any frame, so nothing is ever told a frame too early.
"""
WhenLate = Callable[[Event, float], object]
"""Called with an event that was told too late, and by how much (s)."""


class EventCounts(NamedTuple):
    """What one manager has done since it was made."""

    sent: int
    dispatched: int
    """Events whose listeners have all been told."""
    delivered: int
    """Calls of handlers."""
    unheard: int
    """Events that nobody listened to when they were dispatched."""
    failed: int
    """Calls that raised."""
    late: int = 0
    """Events of which the last listener was told after the deadline."""
    freed: int = 0
    """Weak listeners found to be gone, and dropped."""


def _log_freed(name: str) -> None:
    logging.getLogger("ai_core").warning(
        "%s was freed and listens no more; further ones are only counted", name
    )


class Dispatcher:
    """Calls listeners, keeps their failures to themselves, and counts.

    Args:
        clock: what says when something was told.
        faults: told of handlers that raise.
        when_late: called with an event that ended after its deadline and by
            how much (s).
    """

    def __init__(
        self, clock: Clock, faults: FaultIsolation, when_late: WhenLate | None = None
    ) -> None:
        if when_late is not None and not callable(when_late):
            raise TypeError(f"when_late must be a callable or None, got {shown(when_late)}")
        self.faults = faults
        self.log: EventLog | None = None
        self.dispatched = self.called = self.skipped = 0
        self.unheard = self.failed = self.late = self.freed = 0
        self._clock = clock
        self._when_late = when_late
        self.report_freed: Callable[[str], object] = _log_freed
        self._left_out: Event | None = None

    def counts(self, sent: int) -> EventCounts:
        """Return all counts, given how many events were sent."""
        delivered = self.called - self.skipped
        return EventCounts(
            sent, self.dispatched, delivered, self.unheard, self.failed, self.late, self.freed
        )

    def tell_now(self, event: Event, listeners: tuple[Subscription, ...]) -> None:
        """Tell all of them before returning."""
        rest = iter(listeners)
        try:
            self.tell(event, rest)
        finally:
            left = length_hint(rest)  # none, unless faults are let through
            self.called += len(listeners) - left
            if not left:
                self.finish(event, len(listeners))

    def go_on(self, event: Event, rest: Iterator[Subscription], budget: Budget) -> None:
        """Tell the rest of the listeners, or as many as the budget allows."""
        left = budget.left
        is_timed = budget.stopwatch is not None
        calls = 1 if is_timed else int(min(CALLS_PER_CHECK, left))
        while left > 0 and (waiting := length_hint(rest)):
            try:
                self.tell(event, islice(rest, calls))
            finally:
                told = waiting - length_hint(rest)
                self.called += told
                budget.spend(told)
            left_before, left = left, budget.left
            fitting = left
            if is_timed:  # no more calls than fit if they cost what these did
                used = max(left_before - left, 0.001)
                fitting = min(4 * calls, left * told / used)
            calls = max(1, int(min(CALLS_PER_CHECK, fitting)))

    def tell(self, event: Event, listeners: Iterator[Subscription]) -> None:
        """Call each of them, whoever fails."""
        if event.terms.receipt is not None or self.log is not None:
            self._tell_noting(event, listeners)
            return
        while True:  # entered again only after a fault: trying costs nothing
            try:
                for listening in listeners:
                    listening.call(event)
                return
            except Exception as error:  # whatever it is, the others are told
                self.fail(listening, event, error)

    def tell_instead(self, event: Event, listening: Subscription) -> None:
        """Tell one listener in place of the one being called."""
        self.tell(event, iter((listening,)))
        self._left_out = event  # the other one; it was counted, not told

    def go_on_after(self, place: int, error: Exception | None, event: Event, calls: CallTable) -> None:
        """Tell the rest after a loop over calls ended at a place, and with what that one raised."""
        if error is not None:
            self.fail(calls.listeners[place], event, error)
            place += 1
        self.tell(event, iter(calls.listeners[place:]))

    def finish(self, event: Event, listeners: int) -> None:
        """Note that all who listened have been told."""
        self.dispatched += 1
        terms, now = event.terms, self._clock.now
        if not listeners:
            self.unheard += 1
            self._note("unheard", event.code, "", "")
        if terms.receipt is not None:
            terms.receipt.is_complete = True
        if terms.deadline_at is None or now.seconds <= terms.deadline_at + DUE_TOLERANCE_S:
            return
        late_s = now.seconds - terms.deadline_at
        self.late += 1
        self._note("late", event.code, "", f"by {late_s:.3f} s")
        if self._when_late is not None:
            self._report_late(event, late_s)

    def leave_out(self, event: Event) -> None:
        """Note that whoever was called for an event is not told of it."""
        self.skipped += 1
        self._left_out = event

    def note_freed(self, listening: Subscription) -> None:
        """Stop a weak listener whose object is gone."""
        self.freed += 1
        name = listening.name
        if listening.is_active:
            listening.stop()
        self._note("freed", "", name, "")
        if self.freed == 1:
            self.report_freed(name)

    def fail(self, listening: Subscription, event: Event, error: Exception) -> None:
        """Report a handler that raised, and have it called with care from now on.

        Raises:
            RecursionError: events are told inside each other without end; told
                again until the outermost is reached, or every level would go on
                with its other listeners.
        """
        if isinstance(error, RecursionError):
            if is_told_inside():
                raise error
            error = named(error, event)
        self.failed += 1
        if listening.is_active:
            self._watch(listening)
        name = f"{listening.name} hearing {event.code!r}"
        try:
            self.faults.failed(listening, name, self._clock.now.frame, error)
        finally:
            if not listening.is_active:  # it stopped itself, then raised
                self.faults.forget(listening)

    def put_failures(self, listening: Subscription, failures: Failures) -> None:
        """Set how a listener fails."""
        self.faults.put_failures(listening, failures)
        if failures != NO_FAILURES:
            self._watch(listening)
        elif listening.is_active and listening.call is not listening.handler:
            listening.answer_by(listening.handler)

    def when_stopped(self, listening: Subscription) -> Handler:
        """Forget a listener; return what a broadcast under way calls in its place."""
        self.faults.forget(listening)
        return self.leave_out

    def _watch(self, listening: Subscription) -> None:
        """Let a listener that failed be called with care until it succeeds."""
        listening.answer_by(lambda event: self._retry(listening, event))

    def _retry(self, listening: Subscription, event: Event) -> None:
        """Stand in for a handler that has failed, until it succeeds once."""
        if self.faults.is_quarantined(listening):
            self.leave_out(event)
            return
        listening.handler(event)
        self.faults.succeeded(listening)
        if listening.is_active:
            listening.answer_by(listening.handler)

    def _tell_noting(self, event: Event, listeners: Iterator[Subscription]) -> None:
        """Tell each, and write down who was told: slower, for receipts and logs only."""
        for listening in listeners:
            name, has_failed = listening.name, False
            self._left_out = None  # of an event that was told before, without a log
            try:
                listening.call(event)
            except Exception as error:
                has_failed = True
                self.fail(listening, event, error)
            finally:
                if self._left_out is not event:
                    self._note_delivery(event, name, has_failed)
        self._left_out = None

    def _note_delivery(self, event: Event, name: str, has_failed: bool) -> None:
        receipt = event.terms.receipt
        if receipt is not None:
            receipt.deliveries.append(Delivery(name, self._clock.now, has_failed))
        self._note("failed" if has_failed else "told", event.code, name, "")

    def _note(self, kind: str, code: str, who: str, detail: str) -> None:
        if self.log is not None:
            self.log.note(kind, self._clock.now, code, who, detail)

    def _report_late(self, event: Event, late_s: float) -> None:
        assert self._when_late is not None
        try:
            self._when_late(event, late_s)
        except Exception as error:  # who watches must not stop what is watched
            self.failed += 1
            self.faults.failed("when_late", "when_late", self._clock.now.frame, error)


__all__ = ["DUE_TOLERANCE_S", "Dispatcher", "EndlessEventsError", "EventCounts", "WhenLate", "is_told_inside", "named"]
