"""The event manager: a queue, a registry of listeners, and a dispatcher.

The order of delivery is the order of (due time, sending), and within one event
the order of listening.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from operator import length_hint
from typing import Any, NamedTuple

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import finite_number
from ai_core.events.event_registry import Event, EventRegistry, Handler, Listening
from ai_core.events.event_state import prepared_manager, saved_manager
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

__all__ = ["Event", "EventCounts", "EventManager", "Handler", "Listening"]

CALLS_PER_CHECK = 128
"""Most handlers called between two looks at the budget (count).

Looking costs about ten calls. More would let a broadcast run further past a
budget when its handlers suddenly become dear; fewer would slow all of them.
"""

DUE_TOLERANCE_S = 1e-9
"""An event this close to its due time is due (s).

Game time is a sum of floats: without it 0.05 + 0.1 s is a frame later than
0.15 s. Far below any frame, so nothing is ever told a frame too early.
"""


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


class EventManager:
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
    """

    def __init__(
        self,
        clock: Clock,
        *,
        codes: Iterable[str] | None = None,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
        values: SavedValues | None = None,
    ) -> None:
        self.values = values if values is not None else SavedValues()
        self._clock = clock
        self._faults = faults if faults is not None else FaultIsolation()
        self._trace = trace if trace is not None else Trace()
        self._registry = EventRegistry(codes, self._when_stopped)
        self._queue: list[tuple[float, int, Event]] = []
        self._under_way: tuple[Event, Iterator[Listening]] | None = None
        self._is_advancing = False
        self._order = 0
        self._dispatched = self._called = self._skipped = self._unheard = self._failed = 0

    @property
    def clock(self) -> Clock:
        """What decides what is due."""
        return self._clock

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that were declared, or else those somebody listens to."""
        return self._registry.codes

    @property
    def queue_length(self) -> int:
        """Events still to be dispatched, one that is half told included."""
        return len(self._queue) + (self._under_way is not None)

    @property
    def counts(self) -> EventCounts:
        """What was sent, dispatched, delivered, unheard and failed so far."""
        delivered = self._called - self._skipped
        return EventCounts(
            self._order, self._dispatched, delivered, self._unheard, self._failed
        )

    def listen(
        self, codes: str | Iterable[str], handler: Handler, *, name: str | None = None
    ) -> Listening:
        """Call ``handler(event)`` for every event of one code, or of several.

        The same handler may listen more than once; it is then called as often.

        Args:
            codes: one code, or several.
            handler: called with each event.
            name: for reports and saves; None takes the name of the handler.

        Raises:
            UnknownNameError: if a code is not one of those declared.
            TypeError: if the handler cannot be called.

        Cost: O(codes); the next event of each sorts its listeners anew, O(listeners).
        """
        return self._registry.add(codes, handler, name)

    def send(
        self, code: str, *arguments: Any, sender: object | None = None, delay_s: float = 0.0
    ) -> Event:
        """Queue an event for the first ``advance`` at which it is due.

        What a handler sends is queued behind, for the next ``advance``: events
        that answer each other take a frame each and never freeze one.

        Args:
            code: what happened.
            arguments: handed to listeners as ``event.arguments``.
            sender: who says so, if that matters.
            delay_s: game time to wait (s), 0 or more.

        Raises:
            UnknownNameError: if the code is not one of those declared.
            ValueError: if the delay is negative, NaN or infinite.

        Cost: O(log queue), O(1) without a delay.
        """
        self._registry.check(code)
        now = self._clock.now
        due_at = now.seconds
        if delay_s != 0:
            due_at += finite_number(
                "delay_s", delay_s, minimum=0, remedy="use 0 for the next dispatch"
            )
        event = Event(code, arguments, sender, now, due_at)
        heappush(self._queue, (due_at, self._order, event))
        self._order += 1
        for hook in self._trace.event_sent:
            hook(event, now)
        return event

    def send_now(self, code: str, *arguments: Any, sender: object | None = None) -> Event:
        """Tell the listeners before returning, past the queue and any budget.

        Cost: O(listeners of this code), about a bare loop over them.
        """
        self._registry.check(code)
        now = self._clock.now
        event = Event(code, arguments, sender, now, now.seconds)
        self._order += 1
        for hook in self._trace.event_sent:
            hook(event, now)
        listeners = self._registry.listeners(code)
        self._count_dispatched(len(listeners))
        self._called += len(listeners)
        if listeners:
            self._tell(event, iter(listeners))
        return event

    def advance(self, budget: Budget) -> None:
        """Dispatch what is due until nothing is left or the budget is spent.

        One step of the budget is one handler called (an event nobody hears
        counts as one). An event whose listeners could not all be told goes on
        with the next one at the next call; nothing is lost or told twice.

        Raises:
            RuntimeError: if called from inside a handler.
        """
        if self._is_advancing:
            raise RuntimeError(
                "advance was called from inside a handler; use send_now to tell at once"
            )
        self._is_advancing = True
        try:
            self._dispatch_due(budget)
        finally:
            self._is_advancing = False

    def save_state(self) -> State:
        """Return the queue, an event that is half told, and counts, as plain data.

        Raises:
            StateError: if an argument or a sender is neither plain nor named.
            RuntimeError: if called from inside a handler.
        """
        return saved_manager(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the listeners that are here; return what loads it.

        Only listeners that were still to be told of a half-told event, or that
        had failed, are named in it; they must listen here.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a handler.
        """
        return prepared_manager(self, state)

    def failures_of(self, listening: Listening) -> tuple[int, bool]:
        """Return how often a listener failed in a row, and whether it is quarantined."""
        return self._faults.failures_of(listening)

    def put_failures(self, listening: Listening, in_a_row: int, *, is_quarantined: bool) -> None:
        """Set what ``failures_of`` returns."""
        self._faults.put_failures(listening, in_a_row, is_quarantined=is_quarantined)
        if in_a_row or is_quarantined:
            self._watch(listening)
        elif listening.is_active:
            listening.call = listening.handler

    def stopped_listening(self) -> Listening:
        """Return a listener that has stopped, for a broadcast under way."""
        listening = Listening(self._registry, (), self._not_told)
        listening.call = self._not_told
        return listening

    def _dispatch_due(self, budget: Budget) -> None:
        queue = self._queue
        latest = self._clock.now.seconds + DUE_TOLERANCE_S
        sent_before = self._order
        while not budget.is_spent:
            if self._under_way is not None:
                self._go_on(*self._under_way, budget)
            elif queue and queue[0][0] <= latest and queue[0][1] < sent_before:
                self._begin(heappop(queue)[2], budget)
            else:
                return

    def _begin(self, event: Event, budget: Budget) -> None:
        listeners = self._registry.listeners(event.code)
        if listeners:
            self._under_way = (event, iter(listeners))
        else:
            self._count_dispatched(0)
            budget.spend()

    def _go_on(self, event: Event, rest: Iterator[Listening], budget: Budget) -> None:
        """Tell the rest of the listeners, or as many as the budget allows."""
        left = budget.left
        is_timed = budget.stopwatch is not None
        calls = 1 if is_timed else int(min(CALLS_PER_CHECK, left))
        while left > 0 and (waiting := length_hint(rest)):
            try:
                self._tell(event, islice(rest, calls))
            finally:
                told = waiting - length_hint(rest)
                self._called += told
                budget.spend(told)
            left_before, left = left, budget.left
            fitting = left
            if is_timed:  # no more calls than fit if they cost what these did
                used = max(left_before - left, 0.001)
                fitting = min(4 * calls, left * told / used)
            calls = max(1, int(min(CALLS_PER_CHECK, fitting)))
        if not length_hint(rest):
            self._under_way = None
            self._count_dispatched(1)

    def _tell(self, event: Event, listeners: Iterator[Listening]) -> None:
        while True:  # entered again only after a fault: trying costs nothing
            try:
                for listening in listeners:
                    call = listening.call
                    call(event)
                return
            except Exception as error:  # whatever it is, the others are told
                self._fail(listening, event, error)

    def _fail(self, listening: Listening, event: Event, error: Exception) -> None:
        self._failed += 1
        if listening.is_active:
            self._watch(listening)
        name = f"{listening.name} hearing {event.code!r}"
        try:
            self._faults.failed(listening, name, self._clock.now.frame, error)
        finally:
            if not listening.is_active:  # it stopped itself, then raised
                self._faults.forget(listening)

    def _watch(self, listening: Listening) -> None:
        """Let a listener that failed be called with care until it succeeds."""
        listening.call = lambda event: self._retry(listening, event)

    def _retry(self, listening: Listening, event: Event) -> None:
        """Stand in for a handler that has failed, until it succeeds once."""
        if self._faults.is_quarantined(listening):
            self._skipped += 1
            return
        listening.handler(event)
        self._faults.succeeded(listening)
        if listening.is_active:
            listening.call = listening.handler

    def _when_stopped(self, listening: Listening) -> Handler:
        self._faults.forget(listening)
        return self._not_told

    def _not_told(self, _event: Event) -> None:
        self._skipped += 1

    def _count_dispatched(self, listeners: int) -> None:
        self._dispatched += 1
        self._unheard += not listeners
