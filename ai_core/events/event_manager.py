"""The event manager: a queue, a registry of listeners, and a dispatcher.

Most urgent first: the order of delivery is that of (priority, deadline, due
time, sending), and within one event that of (priority, listening).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import length_hint
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex
from ai_core.errors import finite_number
from ai_core.events.dispatcher import DUE_TOLERANCE_S, EventCounts, WhenLate
from ai_core.events.event import PLAIN, Audience, Event, Handler, new_event
from ai_core.events.event_log import sender_name
from ai_core.events.event_queue import EventQueue, queued
from ai_core.events.event_registry import Listening
from ai_core.events.event_state import ListenerBook, RegistryBook, prepared_manager, saved_manager
from ai_core.events.telling import Telling, no_event
from ai_core.events.terms import terms_of
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import LATEST_S, State
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

__all__ = ["Event", "EventCounts", "EventManager", "Handler", "Listening"]


class EventManager(Telling):
    """Tells listeners what happened, at once or when it is due.

    Listeners may be added and stopped from inside handlers: one that is
    stopped is not called any more, one that is added hears from the next event
    on, and nobody else is skipped. Who listens is looked up when an event is
    dispatched, not when it is sent. A handler that raises is reported under
    its Listening and the others are told; after several failures in a row it
    is left out until ``faults.release(listening)``.

    Args:
        clock: decides what is due.
        codes: the only codes there are, so that a misspelt one is an error;
            None allows any.
        faults: told of handlers that raise; None makes one that logs.
        trace: ``event_sent`` is called for each event as it is sent.
        values: writes arguments and senders into saves; None knows plain data.
        when_late: called with each event that ended after its deadline, and
            by how much (s).
        book: how saves refer to listeners; a narrowcast has its own.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        codes: Iterable[str] | None = None,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
        values: SavedValues | None = None,
        when_late: WhenLate | None = None,
        book: ListenerBook | None = None,
    ) -> None:
        super().__init__(clock, codes=codes, faults=faults, trace=trace, when_late=when_late)
        self.values = values if values is not None else SavedValues()
        self._book = book if book is not None else RegistryBook(self._registry, self._once)
        self._queue = EventQueue()
        self._is_advancing = self._is_telling = False

    @property
    def queue_length(self) -> int:
        """Events still to be dispatched, those half told included."""
        return len(self._queue) + self._is_telling

    @property
    def counts(self) -> EventCounts:
        """What was sent, dispatched, delivered and so on so far."""
        self.count_told()
        return self.dispatcher.counts(self._order)

    def send(
        self, code: str, *arguments: Any, sender: object | None = None, delay_s: float = 0.0,
        deadline_s: float | None = None, priority: int = 0, position: Iterable[float] | None = None,
        is_sticky: bool = False, wants_receipt: bool = False, audience: Audience | None = None,
    ) -> Event:
        """Queue an event for the first ``advance`` at which it is due.

        What a handler sends is queued behind, for the next ``advance``: events
        that answer each other take a frame each and never freeze one.

        Args:
            code: what happened.
            arguments: handed to listeners as ``event.arguments``.
            sender: who says so, if that matters.
            delay_s: game time to wait (s), 0 or more.
            deadline_s: game time from now by which all should be told (s), at
                least the delay; of equal priority, earlier ones go first.
            priority: higher is told first, whatever the deadlines.
            position: where it happened, two or three coordinates (m).
            is_sticky: once told, keep it for those who listen later, until
                another sticky one of this code or ``clear_sticky``.
            wants_receipt: write down in ``event.receipt`` who was told.
            audience: told to these only; a narrowcast fills it in.

        Raises:
            UnknownNameError: if the code is not one of those declared.
            ValueError: if a number is negative, NaN, or beyond the end of time (1e12 s).

        Cost: O(log queue).
        """
        self._registry.check(code)
        now, deadline_at = self._clock.now, None
        due_at = now.seconds
        if delay_s != 0 or deadline_s is not None:
            due_at, deadline_at = _moments(due_at, delay_s, deadline_s)
        terms = terms_of(priority, deadline_at, position, is_sticky, wants_receipt, audience)
        event = new_event(code, arguments, sender, now, due_at, terms)
        self._put(event, now)
        return event

    def put(self, event: Event) -> None:
        """Queue an event that is made already, as ``send`` does with one it makes.

        For what is sent often on the same terms. Cost: O(log queue).
        """
        try:
            self._registry.check(event.code)
        except AttributeError:
            raise no_event(event) from None
        self._put(event, self._clock.now)

    def inject(self, code: str, *arguments: Any, sender: object | None = None) -> Event:
        """Send by hand, as from a debug key or a console; the log shows it as injected.

        Cost: as ``send``.
        """
        if self.log is not None:
            self._registry.check(code)
            self.log.note("injected", self._clock.now, code, sender_name(sender))
        return self.send(code, *arguments, sender=sender)

    def advance(self, budget: Budget) -> None:
        """Dispatch what is due until nothing is left or the budget is spent.

        One handler called is one step; so is an event nobody hears. One whose
        listeners could not all be told goes on with the next listener at the
        next call, after what is more urgent by then; none is told twice.

        Raises:
            RuntimeError: if called from inside a handler.
        """
        check_budget(budget)
        if self._is_advancing:
            raise RuntimeError(
                "advance was called from inside a handler; use send_now to tell at once"
            )
        queue = self._queue
        self._is_advancing = True
        try:
            latest_s = self._clock.now.seconds + DUE_TOLERANCE_S
            if budget.is_spent or not queue.settle(latest_s, budget):
                return
            while queue.is_ready and not budget.is_spent:
                self._dispatch_first(budget)
        finally:
            self._is_advancing = False

    def save_state(self) -> State:
        """Return the queue, events half told, sticky ones and counts, as plain data.

        Raises:
            StateError: if an argument or a sender is neither plain nor named.
            RuntimeError: if called from inside a handler; so does ``prepare_state``.
        """
        return saved_manager(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the listeners that are here; return what loads it.

        Only listeners that were still to be told of a half-told event, or that
        had failed, are named in it; they must listen here. Those who listened
        once and were told stop, or listen again, as they did when it was saved.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_manager(self, state)

    def begin(self, code: str, *arguments: Any) -> Event:
        """Queue an event for those who listen now, and for none who come before it is told."""
        now = self._clock.now
        event = new_event(code, arguments, None, now, now.seconds, PLAIN)
        self._announce(event)
        self._queue.put_back(queued(event, self._order), iter(self._registry.listeners(code)))
        self._order += 1
        return event

    def _dispatch_first(self, budget: Budget) -> None:
        entry, rest = self._queue.pop()
        event = entry[4]
        if rest is None:
            rest = iter(self._begin(event))
        if not length_hint(rest):
            self.dispatcher.finish(event, 0)
            budget.spend()
            return
        self._is_telling = True
        try:
            self.dispatcher.go_on(event, rest, budget)
        finally:
            self._is_telling = False
            if length_hint(rest):
                self._queue.put_back(entry, rest)
            else:
                self.dispatcher.finish(event, 1)

    def _put(self, event: Event, now: TimeIndex) -> None:
        self._announce(event)
        is_ready = not self._is_advancing and event.due_at <= now.seconds
        self._queue.push(event, self._order, is_ready=is_ready)
        self._order += 1


def _moments(now_s: float, delay_s: float, deadline_s: float | None) -> tuple[float, float | None]:
    """Return when an event is due, and by when it should be told (s)."""
    left_s = max(0.0, LATEST_S - now_s)
    delay_s = finite_number(
        "delay_s", delay_s, minimum=0, maximum=left_s, remedy="use 0 for the next dispatch"
    )
    if deadline_s is None:
        return now_s + delay_s, None
    deadline_s = finite_number(
        "deadline_s", deadline_s, minimum=delay_s, maximum=left_s,
        remedy="it cannot be told before its delay",
    )
    return now_s + delay_s, now_s + deadline_s
