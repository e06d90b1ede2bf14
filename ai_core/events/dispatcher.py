"""The dispatcher: calls listeners, isolates failures, and counts deliveries, delays and skips."""
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
from ai_core.saving.declared_state import DeclaredState, Saveable, Whole

ENTRIES = {"EventManager.tell", "EventManager.tell_sticky", "EventManager.advance"}
"""Functions in which a delivery begins."""
CODES_SHOWN = 8
"""Codes named in the error (count); an endless chain repeats itself."""
LEAST_EVENTS = 10
"""Nested events that prove endless nesting (count); with fewer, another recursion is the cause."""


class EndlessEventsError(RecursionError):
    """Handlers answered each other's events immediately and without end.

    Args:
        codes: codes of the nested events, the outermost first.
    """

    def __init__(self, codes: list[str]) -> None:
        self.codes = codes
        chain = " -> ".join(repr(code) for code in self.codes[:CODES_SHOWN])
        super().__init__(
            f"{len(self.codes)} events were delivered inside each other without end: {chain} -> …;"
            " answer with send, which waits for the next advance, instead of send_now"
        )


def named(error: RecursionError, event: Event) -> RecursionError:
    """Return an error that names the nested events, if they caused the recursion."""
    told = _told_in(error.__traceback__)
    if not told or told[0] is not event:
        told.insert(0, event)
    return EndlessEventsError([one.code for one in told]) if len(told) >= LEAST_EVENTS else error


def is_told_inside() -> bool:
    """Return whether the present delivery is inside another delivery. Cost: O(stack)."""
    entries, frame = 0, sys._getframe(1)
    while frame is not None and entries < 2:
        entries += frame.f_code.co_qualname in ENTRIES
        frame = frame.f_back  # type: ignore[assignment]
    return entries > 1


def _told_in(traceback: TracebackType | None) -> list[Event]:
    """Return the nested events, the outermost first."""
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
"""Largest number of handlers called between two checks of the budget (count).

A check costs about ten calls. A larger number increases the overrun of a budget
when handlers suddenly become costly; a smaller number slows down all of them.
"""
DUE_TOLERANCE_S = 1e-9
"""Tolerance of due times and deadlines (s).

Game time is a sum of floats: without the tolerance 0.05 + 0.1 s is a frame later
than 0.15 s. It is far below a frame, so no event is delivered a frame too early.
"""
WhenLate = Callable[[Event, float], object]
"""Called with an event that was delivered late, and the delay (s)."""


class EventCounts(NamedTuple):
    """Totals of a manager since it was made."""

    sent: int
    dispatched: int
    """Events delivered to all their listeners."""
    delivered: int
    """Calls of handlers."""
    unheard: int
    """Events that had no listener when they were dispatched."""
    failed: int
    """Calls that raised an exception."""
    late: int = 0
    """Events whose last delivery was after the deadline."""
    freed: int = 0
    """Weak listeners that were freed, and removed."""


def _log_freed(name: str) -> None:
    logging.getLogger("ai_core").warning(
        "%s was freed and no longer listens; further freed listeners are counted without a warning", name
    )


class Dispatcher(Saveable):
    """Calls listeners, isolates their failures, and counts.

    Args:
        clock: time of the deliveries.
        faults: receives the exceptions of handlers.
        when_late: called with an event whose delivery ended after its deadline,
            and the delay (s).
    """

    STATE = DeclaredState(
        dispatched=Whole(), called=Whole(), skipped=Whole(), unheard=Whole(), failed=Whole(), late=Whole(),
        freed=Whole())

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
        """Return all totals; ``sent`` is the number of events sent."""
        delivered = self.called - self.skipped
        return EventCounts(
            sent, self.dispatched, delivered, self.unheard, self.failed, self.late, self.freed
        )

    def tell_now(self, event: Event, listeners: tuple[Subscription, ...]) -> None:
        """Deliver an event to all listeners before returning."""
        rest = iter(listeners)
        try:
            self.tell(event, rest)
        finally:
            left = length_hint(rest)  # none, unless faults are let through
            self.called += len(listeners) - left
            if not left:
                self.finish(event, len(listeners))

    def go_on(self, event: Event, rest: Iterator[Subscription], budget: Budget) -> None:
        """Deliver an event to the remaining listeners, or as many as the budget allows."""
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
        """Call each listener; a failure does not stop the others."""
        if event.terms.receipt is not None or self.log is not None:
            self._tell_noting(event, listeners)
            return
        while True:  # entered again only after a fault: trying costs nothing
            try:
                for listening in listeners:
                    listening.call(event)
                return
            except Exception as error:  # whatever it is, the other listeners are called
                self.fail(listening, event, error)

    def tell_instead(self, event: Event, listening: Subscription) -> None:
        """Deliver an event to one listener in place of the one being called."""
        self.tell(event, iter((listening,)))
        self._left_out = event  # for the replaced listener, which was counted but not called

    def go_on_after(self, place: int, error: Exception | None, event: Event, calls: CallTable) -> None:
        """Continue delivery after a bare loop ended at an index, with the exception raised there or None."""
        if error is not None:
            self.fail(calls.listeners[place], event, error)
            place += 1
        self.tell(event, iter(calls.listeners[place:]))

    def finish(self, event: Event, listeners: int) -> None:
        """Record that an event was delivered to all its listeners."""
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
        """Record that the listener being called does not receive the event."""
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
        """Report a handler that raised an exception; from now on it is called through ``_retry``.

        Raises:
            RecursionError: if events are nested without end; it is raised again up to
                the outermost event, or every level would continue with its other
                listeners.
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
        """Set the failure record of a listener."""
        self.faults.put_failures(listening, failures)
        if failures != NO_FAILURES:
            self._watch(listening)
        elif listening.is_active and listening.call is not listening.handler:
            listening.answer_by(listening.handler)

    def when_stopped(self, listening: Subscription) -> Handler:
        """Forget a listener; return the function that a broadcast under way calls in its place."""
        self.faults.forget(listening)
        return self.leave_out

    def _watch(self, listening: Subscription) -> None:
        """Call a failed listener through ``_retry`` until it succeeds."""
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
        """Call each listener and record the delivery; slower, for receipts and logs only."""
        for listening in listeners:
            name, has_failed = listening.name, False
            self._left_out = None  # left over from an earlier event without a log
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
        except Exception as error:  # an observer must not stop the dispatch
            self.failed += 1
            self.faults.failed("when_late", "when_late", self._clock.now.frame, error)


__all__ = ["DUE_TOLERANCE_S", "Dispatcher", "EndlessEventsError", "EventCounts", "WhenLate", "is_told_inside", "named"]
