"""The dispatcher: calls listeners, isolates failures, and counts deliveries, delays and skips."""
from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import islice
from operator import length_hint
from typing import NamedTuple

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import shown
from ai_core.events.event import Delivery, Event, Handler
from ai_core.events.event_log import EventLog
from ai_core.events.listeners import Subscription
from ai_core.faults import NO_FAILURES, Failures, FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Saveable, Whole

__all__ = ["DUE_TOLERANCE_S", "Dispatcher", "EndlessEventsError", "EventCounts", "WhenLate"]

MOST_NESTED = 64
"""Most deliveries inside each other (count); each takes about six of the interpreter's 1000 calls."""
CODES_SHOWN = 8
"""Codes named in the error (count); an endless chain repeats itself."""


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
        self._skipped_event: Event | None = None
        self._nested: list[str] = []

    @property
    def is_delivering(self) -> bool:
        """True inside a delivery."""
        return bool(self._nested)

    def counts(self, sent: int) -> EventCounts:
        """Return all totals; ``sent`` is the number of events sent."""
        delivered = self.called - self.skipped
        return EventCounts(
            sent, self.dispatched, delivered, self.unheard, self.failed, self.late, self.freed
        )

    def deliver_now(self, event: Event, listeners: tuple[Subscription, ...]) -> None:
        """Deliver an event to all listeners before returning.

        Raises:
            EndlessEventsError: if too many deliveries are inside each other.
        """
        nested = self._nested
        if len(nested) >= MOST_NESTED:
            raise EndlessEventsError([*nested])
        nested.append(event.code)
        rest = iter(listeners)
        try:
            self.deliver(event, rest)
        finally:
            nested.pop()
            left = length_hint(rest)  # none, unless faults are let through
            self.called += len(listeners) - left
            if not left:
                self.finish(event, len(listeners))

    def deliver_within(self, event: Event, rest: Iterator[Subscription], budget: Budget) -> None:
        """Deliver an event to the remaining listeners, or as many as the budget allows."""
        left = budget.left
        is_timed = budget.stopwatch is not None
        calls = 1 if is_timed else int(min(CALLS_PER_CHECK, left))
        self._nested.append(event.code)
        try:
            while left > 0 and (waiting := length_hint(rest)):
                try:
                    self.deliver(event, islice(rest, calls))
                finally:
                    delivered = waiting - length_hint(rest)
                    self.called += delivered
                    budget.spend(delivered)
                left_before, left = left, budget.left
                fitting = left
                if is_timed:  # no more calls than fit if they cost what these did
                    used = max(left_before - left, 0.001)
                    fitting = min(4 * calls, left * delivered / used)
                calls = max(1, int(min(CALLS_PER_CHECK, fitting)))
        finally:
            self._nested.pop()

    def deliver(self, event: Event, listeners: Iterator[Subscription]) -> None:
        """Call each listener; a failure does not stop the others."""
        if event.terms.receipt is not None or self.log is not None:
            self._deliver_noting(event, listeners)
            return
        while True:  # entered again only after a fault: trying costs nothing
            try:
                for listening in listeners:
                    listening.call(event)
                return
            except Exception as error:  # whatever it is, the other listeners are called
                self.fail(listening, event, error)

    def finish(self, event: Event, listeners: int) -> None:
        """Record that an event was delivered to all its listeners."""
        self.dispatched += 1
        if not listeners:
            self.unheard += 1
            self._note("unheard", event.code, "", "")
        terms = event.terms
        if terms.receipt is not None:
            terms.receipt.is_complete = True
        if terms.deadline_at is None:
            return
        late_s = self._clock.now.seconds - terms.deadline_at
        if late_s <= DUE_TOLERANCE_S:
            return
        self.late += 1
        self._note("late", event.code, "", f"by {late_s:.3f} s")
        if self._when_late is not None:
            try:
                self._when_late(event, late_s)
            except Exception as error:  # an observer must not stop the dispatch
                self.failed += 1
                self.faults.failed("when_late", "when_late", self._clock.now.frame, error)

    def skip(self, event: Event) -> None:
        """Record that the listener being called does not receive the event."""
        self.skipped += 1
        self._skipped_event = event

    def note_freed(self, listening: Subscription) -> None:
        """Stop a weak listener whose object is gone."""
        self.freed += 1
        name = listening.name
        listening.stop()
        self._note("freed", "", name, "")
        if self.freed == 1:
            self.report_freed(name)

    def fail(self, listening: Subscription, event: Event, error: Exception) -> None:
        """Report a handler that raised an exception; from now on it is called through ``_retry``.

        Raises:
            RecursionError: inside another delivery; it is raised again up to the outermost
                event, or every level would continue with its other listeners.
        """
        if isinstance(error, RecursionError):
            if len(self._nested) > 1:
                raise error
            if isinstance(error, EndlessEventsError):
                error = EndlessEventsError(error.codes)  # without the traceback of all levels
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
        elif listening.is_active:
            listening.call = listening.handler

    def when_stopped(self, listening: Subscription) -> Handler:
        """Forget a listener; return the function that a broadcast under way calls in its place."""
        self.faults.forget(listening)
        return self.skip

    def _watch(self, listening: Subscription) -> None:
        """Call a failed listener through ``_retry`` until it succeeds."""
        listening.call = lambda event: self._retry(listening, event)

    def _retry(self, listening: Subscription, event: Event) -> None:
        """Stand in for a handler that has failed, until it succeeds once."""
        if self.faults.is_quarantined(listening):
            self.skip(event)
            return
        listening.handler(event)
        self.faults.succeeded(listening)
        if listening.is_active:
            listening.call = listening.handler

    def _deliver_noting(self, event: Event, listeners: Iterator[Subscription]) -> None:
        """Deliver, and record each delivery in the receipt and the log."""
        for listening in listeners:
            self._skipped_event = None
            has_failed = False
            name = listening.name  # before the call: a handler that is freed has none
            try:
                listening.call(event)
            except Exception as error:
                has_failed = True
                self.fail(listening, event, error)
            finally:
                if self._skipped_event is not event:
                    self._note_delivery(event, name, has_failed)
        self._skipped_event = None

    def _note_delivery(self, event: Event, name: str, has_failed: bool) -> None:
        receipt = event.terms.receipt
        if receipt is not None:
            receipt.deliveries.append(Delivery(name, self._clock.now, has_failed))
        self._note("failed" if has_failed else "delivered", event.code, name, "")

    def _note(self, kind: str, code: str, name: str, detail: str) -> None:
        if self.log is not None:
            self.log.note(kind, self._clock.now, code, name, detail)
