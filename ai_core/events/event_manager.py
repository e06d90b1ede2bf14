"""The event manager: a queue, a registry of listeners, and their calls."""
from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import heapify, heappop, heappush
from operator import attrgetter, length_hint
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import UnknownNameError, check_callables, check_kind, finite_number, shown, whole_number
from ai_core.events.event import (
    ANYTHING,
    EVENT_STATE,
    EVERY_CODE,
    PLAIN,
    Codes,
    Delivery,
    Event,
    EventRegistry,
    EventTerms,
    Handler,
    ListenerFilter,
    ListenerGroup,
    OnceListeners,
    Place,
    Predicate,
    Subscription,
    handler_name,
    kind_count_state,
)
from ai_core.events.event_log import EventLog, sender_name
from ai_core.faults import FAILURES_STATE, NO_FAILURES, Failures, FaultIsolation, given_faults
from ai_core.saving.declared_state import ClockNow, DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LATEST_S, brief, refuse
from ai_core.saving.kinds import Kind, ListOf, MapOf, Optional, Row, Whole
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace, given_trace

__all__ = [
    "Broadcast", "EndlessEventsError", "Event", "EventCounts", "EventManager", "EventQueue", "Handler", "ListenerBook",
    "ListenerReference", "Refusal", "Subscription", "WhenLate", "no_event"]


Refusal = Literal["full", "endless"]
"""Why an event was refused."""
MOST_NESTED = 64
"""Most deliveries inside each other (count).

Each takes about six of the interpreter's 1000 calls; about ten more overflow the stack of the engine.
"""
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
            " answer with send, which waits for the next advance, instead of send_now, and do not listen again to a"
            f" sticky event in its handler; until {codes[0]!r} is finished, nothing more is delivered inside it")


CALLS_PER_CHECK = 128
"""Largest number of handlers called between two checks of the budget (count).

A check costs about ten calls. A larger number increases the overrun of a budget
when handlers suddenly become costly; a smaller number slows down all of them.
"""
MAX_QUEUED = 100_000
"""Default of the largest number of queued events (count), each about 0.5 kB: a burst of 10 events from each of 10,000
characters fits. A smaller number refuses bursts; with a larger one, events that are never paid for fill more memory."""
FREED_AT_FIRST = 64
"""Weak listeners at which freed ones are looked for first, and then whenever their number has doubled (count)."""
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
    refused: int = 0
    """Events that were not queued, because too many were, or not delivered after an ``EndlessEventsError``."""


def no_event(event: object) -> TypeError:
    """Return the error for an argument that is not an Event."""
    return TypeError(f"event must be an Event, such as the result of send_now, got {shown(event)}")


ListenerReference = tuple[Any, ...]
"""How saves refer to a listener: strings, tuples of strings, and a number."""


class ListenerBook:
    """How saves refer to listeners: by code, name and number among equal ones; to ``once`` listeners by all codes.

    A narrowcast overrides each method: it refers to members, and to groups as audiences.
    """

    def __init__(self, registry: EventRegistry, once: OnceListeners) -> None:
        self._registry, self._once = registry, once

    def references(self) -> dict[Subscription, ListenerReference]:
        """Return the reference of each active listener."""
        found: dict[Subscription, ListenerReference] = {}
        for reference, listening in self._registered().items():
            found.setdefault(listening, reference)
        return {**found, **self._once.references()}

    def known(self, values: SimpleNamespace | None = None) -> Mapping[ListenerReference, Any]:
        """Return the owners of the listeners that are active, or can listen again after loading, by reference.

        Before a load, ``values`` has the fields to load: it finds the listeners by their references in the save, too.
        """
        return self._registered() | {**self._once.known(() if values is None else values.once)}

    def listener(self, owner: Any, *, is_under_way: bool) -> Subscription:
        """Return the listener of an owner, or its stand-in in a running broadcast."""
        found: Subscription = owner
        return found

    def audience(self, plain: object, place: str) -> ListenerGroup:
        """Return the audience of a reference; raise StateError if there is none."""
        refuse(place, "refers to a group of a narrowcast, but this is an EventManager")

    def _registered(self) -> dict[ListenerReference, Subscription]:
        found: dict[ListenerReference, Subscription] = {}
        once = self._once.references()
        for code, members in self._registry.members().items():
            numbers: dict[str, int] = defaultdict(int)
            for listening in members:
                if listening not in once:
                    found[code, listening.name, numbers[listening.name]] = listening
                    numbers[listening.name] += 1
        return found


class _ReferenceState(Kind):
    """How the reference of a listener is saved."""

    def save(self, value: Any, owner: Any) -> Any:
        return [list(one) if isinstance(one, tuple) else one for one in value]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if not isinstance(plain, list) or len(plain) > 4 or any(isinstance(one, dict) for one in plain):
            refuse(place, f"must be a list of up to 4 values that refers to a listener, got {brief(plain)}")
        return tuple(tuple(map(str, one)) if isinstance(one, list) else one for one in plain)


MOVES_PER_CHECK = 64
"""Events that become due between two checks of the budget (count), about 50 µs."""

Queued = tuple[int, float, float, int, Event]
"""-priority, deadline (s), due time (s), order of sending, event: the smallest is most urgent."""


class Broadcast:
    """The delivery of an event: its listeners, in order, and the number of those that were called."""

    __slots__ = ("called", "listeners")

    def __init__(self, listeners: tuple[Subscription, ...]) -> None:
        self.listeners = listeners
        self.called = 0


class EventQueue:
    """The queue of events: ordered by due time until they are due, then by urgency.

    Due events are ordered by highest priority, then earliest deadline (events without a
    deadline last), then due time, then order of sending. A partly delivered event keeps
    its place and its broadcast, in ``partly_delivered``. Due events are in ``ready``.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Queued]] = []
        self.ready: list[Queued] = []
        self.partly_delivered: dict[int, Broadcast] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self.ready)

    def push(self, event: Event, order: int, *, is_ready: bool, broadcast: Broadcast | None = None) -> None:
        """Add an event, with its broadcast if that has begun; one that is not ready waits for ``settle``.

        Cost: O(log events).
        """
        entry = queued(event, order)
        if broadcast is not None:
            self.partly_delivered[order] = broadcast
        if is_ready:
            heappush(self.ready, entry)
        else:
            heappush(self._waiting, (event.due_at_s, order, entry))

    def settle(self, latest_s: float, budget: Budget) -> bool:
        """Make the events due by ``latest_s`` ready; return False if the budget was spent before."""
        waiting, ready = self._waiting, self.ready
        moves = 0
        while waiting and waiting[0][0] <= latest_s:
            if moves == MOVES_PER_CHECK:
                if budget.is_spent:
                    return False
                moves = 0
            heappush(ready, heappop(waiting)[2])
            moves += 1
        return True

    def pop(self) -> tuple[Queued, Broadcast | None]:
        """Remove and return the most urgent ready event, with its broadcast if it is partly delivered."""
        entry = heappop(self.ready)
        return entry, self.partly_delivered.pop(entry[3], None)

    def put_back(self, entry: Queued, broadcast: Broadcast) -> None:
        """Put a partly delivered event back; it stays ready."""
        self.partly_delivered[entry[3]] = broadcast
        heappush(self.ready, entry)

    def entries(self) -> list[tuple[Queued, Broadcast | None]]:
        """Return all events by order of sending, with the broadcasts of partly delivered ones."""
        found = sorted([*self.ready, *(one[2] for one in self._waiting)], key=lambda one: one[3])
        return [(entry, self.partly_delivered.get(entry[3])) for entry in found]

    def replace(self, entries: Iterable[tuple[Queued, Broadcast | None]]) -> None:
        """Replace all events; those not partly delivered wait for ``settle``."""
        self.ready, self._waiting, self.partly_delivered = [], [], {}
        for entry, broadcast in entries:
            if broadcast is None:
                self._waiting.append((entry[2], entry[3], entry))
            else:
                self.partly_delivered[entry[3]] = broadcast
                self.ready.append(entry)
        heapify(self.ready)
        heapify(self._waiting)


def queued(event: Event, order: int) -> Queued:
    """Return an event with its sort key."""
    terms = event.terms
    deadline = math.inf if terms.deadline_at_s is None else terms.deadline_at_s
    return (-terms.priority, deadline, event.due_at_s, order, event)


QueuedEvent = tuple[int, Event, list[ListenerReference | None] | None]
"""An event of the queue in a save: the number of events sent before it (count), the event, and the remaining
listeners if it is partly delivered, None for each that has stopped."""


def _are_one(one: Event, other: Event) -> bool:
    """Return whether two saved events are the same one, also if their arguments cannot be compared, as arrays."""
    try:
        return bool(one == other)
    except Exception:
        return one.sent_at_s == other.sent_at_s


class EventManager(Saveable):
    """Delivers events to listeners, at once or when they are due.

    Handlers may add and stop listeners: a stopped listener is not called any
    more, an added listener receives the next event, and no other listener is
    skipped. Listeners are looked up when an event is dispatched, not when it is
    sent. Events sent faster than the budget dispatches them are refused above ``max_queued``, the
    first with a warning. A handler that raises an exception is reported under its Subscription,
    and delivery continues with the next listener; after several failures in a
    row the listener is quarantined until ``faults.release(subscription)``.

    A save holds the queue with partly delivered events, sticky events and counts. It
    refers only to the remaining listeners of partly delivered events, to failing and to
    ``once`` listeners; these must be registered before loading. ``once`` listeners stop,
    or listen again, as they did when it was saved. Saving and loading inside a handler
    raises RuntimeError.

    Args:
        clock: the game clock; decides which events are due.
        codes: the declared codes, so that a misspelt code is an error; None
            allows any code.
        faults: receives the exceptions of handlers; None makes one that logs.
        trace: its ``event_sent`` hook is called for each event as it is sent.
        values: writes arguments and senders into saves; None supports plain data only.
        when_late: called with each event whose delivery ended after its
            deadline, and the delay (s).
        book: defines how saves refer to listeners; a narrowcast has its own.
        max_queued: largest number of events in the queue (count), 1 or more; further ones are refused. For those of
            a priority above 0 it is twice the number, so that a flood of others does not suppress them.

    Attributes:
        faults: receives the exceptions of handlers.
        report_refused: called with the first event that was refused for each reason, and the reason: "full" for the
            queue, "endless" inside an event whose handlers have answered each other without end.
        report_freed: called with the name of the first weak listener that was freed.
    """

    SHOWN = ("codes", "queue_length")

    STATE = DeclaredState(
        now=ClockNow(at="clock.now"),
        sent=Whole(at="_sent"), dispatched=Whole(at="_dispatched"), called=Whole(at="_called"),
        skipped=Whole(at="_skipped"), unheard=Whole(at="_unheard"), failed=Whole(at="_failed"), late=Whole(at="_late"),
        freed=Whole(at="_freed"), refused=Whole(at="_refused"),
        once=ListOf(kind_count_state(ListOf(Whole())), unique=attrgetter("kind"), at="_once.counts"),
        queue=ListOf(
            Row(lambda *event: event, Whole(), EVENT_STATE, Optional(ListOf(Optional(_ReferenceState())))),
            at="_queued"),
        sticky=ListOf(EVENT_STATE, unique=lambda event: (event.code, event.terms.audience), at="_sticky_events"),
        failing=MapOf(FAILURES_STATE, key=_ReferenceState(), at="_failing"))

    def __init__(
        self, clock: Clock, *, codes: Iterable[str] | None = None, faults: FaultIsolation | None = None,
        trace: Trace | None = None, values: SavedValues | None = None, when_late: WhenLate | None = None,
        book: ListenerBook | None = None, max_queued: int = MAX_QUEUED,
    ) -> None:
        self.clock = checked_clock(clock)
        check_callables(when_late=when_late)
        check_kind("values", values, SavedValues)
        self._trace = given_trace(trace)
        self.faults = given_faults(faults)
        self.report_freed: Callable[[str], object] = partial(
            logging.getLogger("ai_core").warning,
            "%s was freed and no longer listens; further freed listeners are counted without a warning")
        self._max_queued = whole_number("max_queued", max_queued, minimum=1)
        self.report_refused: Callable[[Event, Refusal], object] = self._warn_refused
        self._when_late = when_late
        self._log: EventLog | None = None
        self._dispatched = self._called = self._skipped = self._unheard = self._failed = self._late = self._freed = 0
        self._refused = 0
        self._reported: set[Refusal] = set()
        self._skipped_event: Event | None = None
        self._nested: list[str] = []     # codes of the events being delivered, the outermost first
        self._is_unwinding = False
        self._registry = EventRegistry(codes, self._when_stopped)
        self._sticky: dict[tuple[str, ListenerGroup | None], Event] = {}  # the latest is the last
        self._once = OnceListeners(self._registry)
        self._weak: dict[Subscription, Callable[[], object | None]] = {}     # returns None once the object was freed
        self._look_at = FREED_AT_FIRST
        self._sent = 0
        self.values = values if values is not None else SavedValues()
        self.book = book if book is not None else ListenerBook(self._registry, self._once)
        self._queue = EventQueue()
        self._is_advancing = self._is_delivering = False

    @property
    def queue_length(self) -> int:
        """Events not dispatched completely, including the event being delivered (count)."""
        return len(self._queue) + self._is_delivering

    @property
    def queued_events(self) -> dict[int, Event]:
        """The events of the queue by number: 1 is the first that was sent. Cost: O(queue)."""
        return {entry[3] + 1: entry[4] for entry, _ in self._queue.entries()}

    @property
    def is_broadcasting(self) -> bool:
        """True if an event was delivered to some of its listeners and not to all."""
        return bool(self._nested) or bool(self._queue.partly_delivered)

    @property
    def counts(self) -> EventCounts:
        """Totals since the start: events sent, dispatched, delivered and so on."""
        return EventCounts(
            self._sent, self._dispatched, self._called - self._skipped, self._unheard, self._failed, self._late,
            self._freed, self._refused)

    def send(
        self, code: str, *arguments: Any, sender: object | None = None, delay_s: float = 0.0,
        deadline_s: float | None = None, priority: int = 0, position: Iterable[float] | None = None,
        is_sticky: bool = False, wants_receipt: bool = False, audience: ListenerGroup | None = None,
    ) -> Event:
        """Queue an event for the first ``advance`` at which it is due.

        An event sent by a handler waits for the next ``advance``: events that
        answer each other take a frame each and never freeze a frame.

        Args:
            code: name of the kind of event.
            arguments: the payload; listeners read ``event.arguments``.
            sender: the sender, if listeners need it.
            delay_s: game time to wait (s), 0 or more.
            deadline_s: game time from now by which delivery should be complete (s),
                at least the delay; at equal priority the earliest deadline is first.
            priority: events of higher priority are dispatched first, whatever the deadlines.
            position: position of the event, two or three coordinates (m).
            is_sticky: keep the event after delivery for listeners added later, until
                another sticky event of this code or ``clear_sticky``.
            wants_receipt: record each delivery in ``event.receipt``.
            audience: deliver to these listeners only; a narrowcast sets it.

        Returns:
            the event. If the queue is full, it is counted as refused and never delivered.

        Raises:
            UnknownNameError: if the code is not declared.
            ValueError: if a number is negative, NaN, or later than the latest time (1e12 s).

        Cost: O(log queue).
        """
        self._registry.check(code)
        now, deadline_at_s = self.clock.now, None
        due_at_s = now.seconds
        if delay_s != 0 or deadline_s is not None:
            due_at_s, deadline_at_s = _moments(due_at_s, delay_s, deadline_s)
        terms = EventTerms.checked(priority, deadline_at_s, position, is_sticky, wants_receipt, audience)
        event = Event(code, arguments, sender, now, due_at_s, terms)
        self._put(event, now)
        return event

    def put(self, event: Event) -> None:
        """Queue an existing event, like ``send`` does with a new one.

        For events that are sent often with the same terms. Cost: O(log queue).
        """
        if not isinstance(event, Event):
            raise no_event(event)
        self._registry.check(event.code)
        self._put(event, self.clock.now)

    def inject(self, code: str, *arguments: Any, sender: object | None = None) -> Event:
        """Send an event from a debug key or a console; the log shows it as injected.

        Cost: as ``send``.
        """
        if self._log is not None:
            self._registry.check(code)
            self._log.note("injected", self.clock.now, code, sender_name(sender))
        return self.send(code, *arguments, sender=sender)

    def advance(self, budget: Budget) -> None:
        """Dispatch the due events until none is left or the budget is spent.

        Each call of a handler is a step, and so is an event without listeners. An
        event whose delivery is interrupted continues with its next listener at the
        next call, after more urgent events; no listener receives it twice.

        Raises:
            RuntimeError: if called from inside a handler.
        """
        check_budget(budget)
        if self._is_advancing or self._nested:
            raise RuntimeError(
                "advance was called from inside a handler; use send_now to deliver an event at once")
        queue = self._queue
        self._is_advancing = True
        try:
            latest_s = self.clock.now.seconds + DUE_TOLERANCE_S
            is_limited = not budget.is_unlimited
            if (is_limited and budget.is_spent) or not queue.settle(latest_s, budget):
                return
            while queue.ready and not (is_limited and budget.is_spent):
                self._dispatch_first(budget)
        finally:
            self._is_advancing = False

    def begin(self, code: str, *arguments: Any) -> Event:
        """Queue an event, as ``send`` does, for the present listeners only: not for those added before its delivery."""
        now = self.clock.now
        event = Event(code, arguments, None, now, now.seconds, PLAIN)
        self._put(event, now, Broadcast(self._registry.listeners(code)))
        return event

    def _dispatch_first(self, budget: Budget) -> None:
        entry, broadcast = self._queue.pop()
        event = entry[4]
        if broadcast is None:
            broadcast = Broadcast(self._begin(event))
        count = len(broadcast.listeners)
        if broadcast.called == count:
            self._finish(event, 0)
            budget.spend()
            return
        is_timed, is_limited = budget.stopwatch is not None, not budget.is_unlimited
        left = budget.left if is_limited else math.inf
        most = count if not is_limited else 1 if is_timed else int(min(CALLS_PER_CHECK, left))
        self._is_delivering = True
        self._nested.append(event.code)
        try:
            while broadcast.called < count and left > 0:
                before = broadcast.called
                try:
                    self.call_listeners(event, broadcast, most)
                finally:
                    calls = broadcast.called - before
                    self._called += calls
                    budget.spend(calls)
                if is_limited:
                    left_before, left = left, budget.left
                    fitting = left
                    if is_timed:  # no more calls than fit if they cost what these did
                        used = max(left_before - left, 0.001)
                        fitting = min(4 * most, left * calls / used)
                    most = max(1, int(min(CALLS_PER_CHECK, fitting)))
        finally:
            self._is_delivering = False
            self._end_nested()
            if broadcast.called < count:
                self._queue.put_back(entry, broadcast)
            else:
                self._finish(event, 1)

    def call_listeners(self, event: Event, broadcast: Broadcast, most: int) -> None:
        """Call the next listeners, at most so many; a failure does not stop the others.

        AIEventManager replaces it by calls in a row.
        """
        listeners = broadcast.listeners[broadcast.called : broadcast.called + most]
        rest = iter(listeners)
        try:
            if event.terms.receipt is not None or self._log is not None:
                self._deliver_noting(event, rest)
            while True:  # entered again only after a fault: trying costs nothing
                try:
                    for listening in rest:
                        listening.call(event)
                    return
                except Exception as error:  # the other listeners are called
                    self.fail(listening, event, error)
        finally:
            broadcast.called += len(listeners) - length_hint(rest)

    def _finish(self, event: Event, listeners: int) -> None:
        self._dispatched += 1
        if not listeners:
            self._unheard += 1
            self._note("unheard", event.code, "", "")
        terms = event.terms
        if terms.receipt is not None:
            terms.receipt.is_complete = True
        if terms.deadline_at_s is None:
            return
        late_s = self.clock.now.seconds - terms.deadline_at_s
        if late_s <= DUE_TOLERANCE_S:
            return
        self._late += 1
        self._note("late", event.code, "", f"by {late_s:.3f} s")
        if self._when_late is not None:
            try:
                self._when_late(event, late_s)
            except Exception as error:  # an observer must not stop the dispatch
                self._failed += 1
                self.faults.failed("when_late", "when_late", self.clock.now.frame, error)

    def skip(self, event: Event) -> None:
        """Record that the listener being called does not receive the event."""
        self._skipped += 1
        self._skipped_event = event

    def _was_skipped(self, event: Event) -> bool:
        return self._skipped_event is event

    def _stop_all_freed(self) -> None:
        """Stop the weak listeners whose objects were freed, also of codes that are never sent; O(1) on average."""
        for listening in [one for one, keeper in self._weak.items() if keeper() is None]:
            self.stop_freed(listening)
        self._look_at = max(FREED_AT_FIRST, 2 * len(self._weak))

    def stop_freed(self, listening: Subscription) -> None:
        """Stop a weak listener whose object was freed."""
        self._freed += 1
        name = listening.name
        listening.stop()
        self._note("freed", "", name, "")
        if self._freed == 1:
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
            self._is_unwinding = False       # the other listeners of the outermost event are called as before
            if isinstance(error, EndlessEventsError):
                error = EndlessEventsError(error.codes)  # without the traceback of all levels
        self._failed += 1
        if listening.is_active:
            self._retry_until_success(listening)
        name = f"{listening.name} hearing {event.code!r}"
        try:
            self.faults.failed(listening, name, self.clock.now.frame, error)
        finally:
            if not listening.is_active:  # it stopped itself, then raised
                self.faults.forget(listening)

    def _put_failures(self, listening: Subscription, failures: Failures) -> None:
        self.faults.put_failures(listening, failures)
        if failures != NO_FAILURES:
            self._retry_until_success(listening)
        elif listening.is_active:
            listening.call = listening.handler

    def _when_stopped(self, listening: Subscription) -> Handler:
        """Forget a listener; return the function that a running broadcast calls in its place."""
        self.faults.forget(listening)
        self._weak.pop(listening, None)
        return self.skip

    def _retry_until_success(self, listening: Subscription) -> None:
        listening.call = lambda event: self._retry(listening, event)

    def _retry(self, listening: Subscription, event: Event) -> None:
        """Stand in for a handler that has failed, until it succeeds once."""
        if self.faults.is_quarantined(listening):
            self.skip(event)
            return
        self._skipped_event = None
        listening.handler(event)
        if self._was_skipped(event):  # by its filters: the handler was not called
            return
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
                if not self._was_skipped(event):
                    receipt = event.terms.receipt
                    if receipt is not None and not receipt.is_complete:  # a sticky event may go on for ever
                        receipt.deliveries.append(Delivery(name, self.clock.now, has_failed))
                    self._note("failed" if has_failed else "delivered", event.code, name, "")
        self._skipped_event = None

    def _note(self, kind: str, code: str, name: str, detail: str) -> None:
        if self._log is not None:
            self._log.note(kind, self.clock.now, code, name, detail)

    def _put(self, event: Event, now: TimeIndex, broadcast: Broadcast | None = None) -> None:
        queued_now = len(self._queue)
        if queued_now >= self._max_queued and queued_now >= self._max_queued * (1 + (event.terms.priority > 0)):
            self._refuse(event, "full")
            return
        self._announce(event)
        is_ready = not self._is_advancing and event.due_at_s <= now.seconds
        self._queue.push(event, self._sent, is_ready=is_ready, broadcast=broadcast)
        self._sent += 1

    def _refuse(self, event: Event, why: Refusal) -> None:
        self._refused += 1
        self._note("refused", event.code, sender_name(event.sender), "")
        if why not in self._reported:
            self._reported.add(why)
            self.report_refused(event, why)

    def _warn_refused(self, event: Event, why: Refusal) -> None:
        logging.getLogger("ai_core").warning(
            "event %r was refused, as %s; further refused events are counted without a warning", event.code,
            f"{len(self._queue)} events are queued; send fewer, raise the budget of advance or max_queued"
            if why == "full" else self.why_endless)

    @property
    def why_endless(self) -> str:
        """Why an event is refused as "endless", and the remedy."""
        return (
            f"the handlers of {self._nested[0]!r} have answered each other without end, and nothing more is delivered"
            " inside it; answer with send instead of send_now")

    @property
    def codes(self) -> tuple[str, ...]:
        """The declared codes; if none were declared, the codes that have listeners."""
        return self._registry.codes

    @property
    def log(self) -> EventLog | None:
        """The log of events and deliveries; None for no log."""
        return self._log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        check_kind("log", log, EventLog)
        self._log = log

    def has_listeners(self, code: str) -> bool:
        """Return whether a code has a listener now.

        Raises:
            UnknownNameError: if the code is not declared.
        """
        self._registry.check(code)
        return bool(self._registry.listeners(code))

    def mask_of(self, *codes: str) -> int:
        """Return the bit mask of some codes, for ``listen``; the first declared code is bit 0.

        Raises:
            ValueError: if no codes were declared.
        """
        return self._registry.mask_of(codes)

    def listen(
        self, codes: Codes, handler: Handler, *, name: str | None = None, where: Predicate | None = None,
        near: tuple[Place, float] | None = None, priority: int = 0, once: bool = False, weak: bool = False,
    ) -> Subscription:
        """Call ``handler(event)`` for every event of one or more codes.

        A handler may be registered more than once; it is then called once for each
        registration. A sticky event of these codes is delivered before this returns.

        Args:
            codes: a code, several codes, EVERY_CODE, or a mask made by ``mask_of``.
            handler: called with each event.
            name: name in reports and saves; None takes the name of the handler.
            where: called with each event; only events for which it returns True are delivered.
            near: a place, or a callable that returns a place, and a range (m): only
                events sent with a position within the range are delivered.
            priority: listeners of higher priority are called first; equal ones in order
                of registration.
            once: stop listening before the first delivery.
            weak: hold the handler, or the object of a method, weakly: the registration
                ends when the object is freed.

        Raises:
            UnknownNameError: if a code is not declared.
            TypeError: if the handler is not callable, or cannot be referenced weakly.
            ValueError: if a number is out of range.

        Cost: O(codes); the next event of each code sorts its listeners again, O(listeners).
        """
        if where is None and near is None and not (once or weak or self._sticky):
            return self._registry.add(codes, handler, name, priority)
        wanted = ListenerFilter.of(handler, where, near, once, weak)
        listening = self.register(self._registry, codes, handler, wanted, name=name, priority=priority)
        self.deliver_sticky(listening, self._registry)
        return listening

    def send_now(
        self, code: str, *arguments: Any, sender: object | None = None, position: Iterable[float] | None = None,
        is_sticky: bool = False, wants_receipt: bool = False, audience: ListenerGroup | None = None,
    ) -> Event:
        """Deliver an event to the listeners before returning, without queue and budget.

        Cost: O(listeners of this code), about a bare loop over them.
        """
        now = self.clock.now
        terms = PLAIN
        if is_sticky or wants_receipt or position is not None or audience is not None:
            terms = EventTerms.checked(0, None, position, is_sticky, wants_receipt, audience)
        event = Event(code, arguments, sender, now, now.seconds, terms)
        self.deliver(event)
        return event

    def deliver(self, event: Event) -> None:
        """Deliver an existing event to its listeners before returning.

        For events that never change, and for forwarding events of another manager.

        Cost: O(listeners of its code), about 1.5 times a bare loop over them.
        """
        if not isinstance(event, Event):
            raise no_event(event)
        self._registry.check(event.code)
        if self._is_endless(event):
            return
        self._announce(event)
        self._sent += 1
        broadcast = Broadcast(self._begin(event))
        count = len(broadcast.listeners)
        self._nested.append(event.code)
        try:
            self.call_listeners(event, broadcast, count)
        finally:
            self._end_nested()
            self._called += broadcast.called
            if broadcast.called == count:  # fewer only if faults are raised
                self._finish(event, count)

    def _is_endless(self, event: Event) -> bool:
        """Raise EndlessEventsError at ``MOST_NESTED``; then refuse all events until the outermost one is finished.

        Otherwise each level would continue with its other listeners, which would take exponentially long.
        """
        if self._is_unwinding:
            self._refuse(event, "endless")
        elif len(self._nested) >= MOST_NESTED:
            self._is_unwinding = True
            raise EndlessEventsError([*self._nested])
        return self._is_unwinding

    def _end_nested(self) -> None:
        self._nested.pop()
        self._is_unwinding = self._is_unwinding and bool(self._nested)

    def sticky(self, code: str) -> Event | None:
        """Return the sticky event of a code, None if there is none; a new listener receives it at once.

        Raises:
            UnknownNameError: if the code is not declared.
        """
        self._registry.check(code)
        return self._sticky.get((code, None))

    def clear_sticky(self, code: str, audience: ListenerGroup | None = None) -> None:
        """Remove the sticky event of a code; listeners added later do not receive it.

        A sticky event that is still in the queue is kept when it is dispatched.

        Raises:
            UnknownNameError: if the code is not declared.
        """
        self._registry.check(code)
        self._sticky.pop((code, audience), None)

    def forget_removed(self) -> None:
        """Remove the sticky events of audiences that were removed. Cost: O(sticky events)."""
        for key in [key for key in self._sticky if key[1] is not None and key[1].is_removed]:
            del self._sticky[key]

    def register(
        self, registry: EventRegistry, codes: Codes, handler: Handler, wanted: ListenerFilter, *,
        name: str | None = None, priority: int = 0, rank: int | None = None,
    ) -> Subscription:
        """Register a handler with its filters in a registry, with this manager as its dispatcher."""
        if wanted is ANYTHING:
            return registry.add(codes, handler, name, priority, rank)
        # The stand-in has no name of its own.
        listening = registry.add(codes, handler, handler_name(handler) if name is None else name, priority, rank)
        use_up: Callable[[Subscription], None] = Subscription.stop
        if wanted.is_once and registry is self._registry:
            use_up = self._once.add(listening)
        listening.handler = listening.call = wanted.stand_in(
            listening, self.skip, self.stop_freed, use_up)
        if wanted.weak is not None:
            self._weak[listening] = wanted.weak.keeper
            if len(self._weak) >= self._look_at:
                self._stop_all_freed()
        return listening

    def listen_again(self, listening: Subscription) -> bool:
        """Register a ``once`` listener again after its delivery.

        Returns:
            False if it still listens, was stopped, or its delivery was too long ago:
            only the latest ``event.REMEMBERED`` can listen again.

        Cost: O(codes).
        """
        if not self._once.bring_back(listening):
            return False
        self.deliver_sticky(listening, self._registry)
        return True

    def has_ended(self, listening: Subscription) -> bool:
        """Return whether a listener has ended for good: neither a save nor ``listen_again`` can bring it back."""
        return not listening.is_active and not self._once.remembers(listening)

    def deliver_sticky(
        self, listening: Subscription, registry: EventRegistry, before: EventRegistry | None = None
    ) -> None:
        """Deliver the sticky events of a registry to a new listener, except those delivered in ``before``.

        Cost: O(sticky events).
        """
        codes = listening.codes

        def is_for(there: EventRegistry, audience: ListenerGroup | None) -> bool:
            return there is self._registry if audience is None else audience.includes(there)

        events = [
            event for event in self._sticky.values()
            if (event.code in codes or codes == (EVERY_CODE,))
            and is_for(registry, event.terms.audience)
            and not (before is not None and is_for(before, event.terms.audience))]
        for event in events:
            # If its handler has moved it, it receives there what is sticky there.
            if listening.registry is not registry or self._is_endless(event):
                return
            broadcast = Broadcast((listening,))
            self._nested.append(event.code)
            try:
                self.call_listeners(event, broadcast, 1)
            finally:
                self._end_nested()
                self._called += broadcast.called

    def _begin(self, event: Event) -> tuple[Subscription, ...]:
        """Return the listeners of an event; keep it for later listeners if it is sticky."""
        code, terms = event.code, event.terms
        if terms.is_sticky and (terms.audience is None or not terms.audience.is_removed):
            self._sticky.pop((code, terms.audience), None)  # so that the latest comes last
            self._sticky[code, terms.audience] = event
        audience = self._registry if terms.audience is None else terms.audience
        return audience.listeners(code)

    def _check_at_rest(self) -> None:
        if self._is_advancing or self._nested:
            raise RuntimeError("a handler is running; save and load between two frames")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        wanted = {f"failing[{index}][0]": reference for index, reference in enumerate(values.failing)}
        before = -1
        for index, (order, _, rest) in enumerate(values.queue):
            if not before < order < values.sent:
                refuse(f"queue[{index}][0]", "must be above that of the previous event and below 'sent', because"
                       f" events are in order of sending, got {order}")
            before = order
            for number, reference in enumerate(rest or ()):
                if reference is not None:
                    wanted[f"queue[{index}][2][{number}]"] = reference
        for index, event in enumerate(values.sticky):
            if not event.terms.is_sticky:
                refuse(f"sticky[{index}].terms", "must be the terms of a sticky event")
        known = self.book.known(values) if wanted else {}
        for place, reference in wanted.items():
            if reference not in known:
                name, *others = (
                    ", ".join("|".join(part) if isinstance(part, tuple) else str(part) for part in one)
                    for one in (reference, *known))
                refuse(place, f"is of an {UnknownNameError('listener', name, others)}; call listen before loading")

    def _finish_load(self) -> None:
        """Let a sticky event that is partly delivered be one event again, with one receipt."""
        for entry, broadcast in self._queue.entries():
            event = entry[4]
            key = event.code, event.terms.audience
            sticky = self._sticky.get(key)
            if broadcast is not None and sticky is not None and _are_one(sticky, event):
                self._sticky[key] = event

    @property
    def _sticky_events(self) -> list[Event]:
        return list(self._sticky.values())

    @_sticky_events.setter
    def _sticky_events(self, events: list[Event]) -> None:
        self._sticky = {(event.code, event.terms.audience): event for event in events}

    @property
    def _queued(self) -> list[QueuedEvent]:
        entries = self._queue.entries()
        references = self.book.references() if self._queue.partly_delivered else {}
        return [
            (entry[3], entry[4], None if one is None else [*map(references.get, one.listeners[one.called:])])
            for entry, one in entries]

    @_queued.setter
    def _queued(self, events: list[QueuedEvent]) -> None:
        known = self.book.known() if any(rest for _, _, rest in events) else {}
        stopped = Subscription(self._registry, (), self.skip, "stopped")
        self._queue.replace(
            (queued(event, order), None if rest is None else Broadcast(tuple(
                self.book.listener(known[one], is_under_way=True) if one is not None and one in known else stopped
                for one in rest)))
            for order, event, rest in events)

    @property
    def _failing(self) -> dict[ListenerReference, Failures]:
        faults = self.faults
        if not (faults.has_failing or faults.has_quarantined):
            return {}
        failing: dict[ListenerReference, Failures] = {}
        for listening, one in self.book.references().items():
            failures = faults.failures_of(listening)
            if failures != NO_FAILURES:     # a listener and its stand-in in a broadcast have one reference
                failing[one] = max(failures, failing.get(one, failures))
        # Sorted, as the order of moves of members is not saved.
        return {one: failing[one] for one in sorted(failing, key=lambda one: [*map(str, one)])}

    @_failing.setter
    def _failing(self, failing: dict[ListenerReference, Failures]) -> None:
        for listening in self.book.references():
            self._put_failures(listening, NO_FAILURES)
        known = self.book.known() if failing else {}
        for one, failures in failing.items():
            if one in known:
                self._put_failures(self.book.listener(known[one], is_under_way=False), failures)

    def _announce(self, event: Event) -> None:
        for hook in self._trace.event_sent:
            hook(event, event.sent_at_s)
        if self._log is not None:
            self._log.note("sent", event.sent_at_s, event.code, sender_name(event.sender), shown(event.arguments))


def _moments(now_s: float, delay_s: float, deadline_s: float | None) -> tuple[float, float | None]:
    """Return the due time and the deadline of an event (s)."""
    left_s = max(0.0, LATEST_S - now_s)
    delay_s = finite_number(
        "delay_s", delay_s, minimum=0, maximum=left_s, remedy="use 0 for the next dispatch")
    if deadline_s is None:
        return now_s + delay_s, None
    deadline_s = finite_number(
        "deadline_s", deadline_s, minimum=delay_s, maximum=left_s,
        remedy="the deadline must not be earlier than the delay")
    return now_s + delay_s, now_s + deadline_s

