"""The event manager: a queue, a registry of listeners, and a dispatcher.

Events are dispatched most urgent first, in order of (priority, deadline, due
time, sending); the listeners of an event in order of (priority, registration).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import length_hint
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import finite_number, shown
from ai_core.events.dispatcher import DUE_TOLERANCE_S, Dispatcher, EventCounts, WhenLate
from ai_core.events.event import PLAIN, Event, Handler, ListenerGroup, new_event
from ai_core.events.event_log import EventLog, checked_log, sender_name
from ai_core.events.event_queue import EventQueue, queued
from ai_core.events.event_registry import Codes, EventRegistry, KeeperGoneError, Subscription, handler_name
from ai_core.events.event_state import ListenerSerializer, RegistrySerializer, prepared_manager, saved_manager
from ai_core.events.interest import ANYTHING, ListenerFilter, Place, Predicate, interest_of, stand_in
from ai_core.events.once_listeners import OnceListeners
from ai_core.events.sticky_events import StickyEvents
from ai_core.events.terms import terms_of
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import LATEST_S, State
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace, given_trace


def no_event(event: object) -> TypeError:
    """Return the error for an argument that is not an Event."""
    return TypeError(f"event must be an Event, such as the result of send_now, got {shown(event)}")


class EventManager:
    """Delivers events to listeners, at once or when they are due.

    Handlers may add and stop listeners: a stopped listener is not called any
    more, an added listener receives the next event, and no other listener is
    skipped. Listeners are looked up when an event is dispatched, not when it is
    sent. A handler that raises an exception is reported under its Subscription,
    and delivery continues with the next listener; after several failures in a
    row the listener is quarantined until ``faults.release(subscription)``.

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
        book: ListenerSerializer | None = None,
    ) -> None:
        self._clock = checked_clock(clock)
        self._trace = given_trace(trace)
        self.dispatcher = Dispatcher(clock, given_faults(faults), when_late)
        self._registry = EventRegistry(codes, self.dispatcher.when_stopped)
        self._calls = self._registry.calls
        self._sticky = StickyEvents()
        self._once = OnceListeners(self._registry)
        self._order = 0
        self._trace.watch(self._watchers_changed)
        self.values = values if values is not None else SavedValues()
        self._book = book if book is not None else RegistrySerializer(self._registry, self._once)
        self._queue = EventQueue()
        self._is_advancing = self._is_telling = False

    @property
    def queue_length(self) -> int:
        """Events not dispatched completely, including the event being delivered (count)."""
        return len(self._queue) + self._is_telling

    @property
    def counts(self) -> EventCounts:
        """Totals since the start: events sent, dispatched, delivered and so on."""
        self.count_told()
        return self.dispatcher.counts(self._order)

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

        Raises:
            UnknownNameError: if the code is not declared.
            ValueError: if a number is negative, NaN, or later than the latest time (1e12 s).

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
        """Queue an existing event, like ``send`` does with a new one.

        For events that are sent often with the same terms. Cost: O(log queue).
        """
        try:
            self._registry.check(event.code)
        except AttributeError:
            raise no_event(event) from None
        self._put(event, self._clock.now)

    def inject(self, code: str, *arguments: Any, sender: object | None = None) -> Event:
        """Send an event from a debug key or a console; the log shows it as injected.

        Cost: as ``send``.
        """
        if self.log is not None:
            self._registry.check(code)
            self.log.note("injected", self._clock.now, code, sender_name(sender))
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
        if self._is_advancing:
            raise RuntimeError(
                "advance was called from inside a handler; use send_now to deliver an event at once"
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
        """Return the queue, partly delivered and sticky events, and counts, as plain data.

        Raises:
            StateError: if an argument or a sender is neither plain data nor a named object.
            RuntimeError: if called from inside a handler; ``prepare_state`` raises it, too.
        """
        return saved_manager(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state against the present listeners; return a function that loads it.

        The state names only the remaining listeners of a partly delivered event and
        the listeners that had failed; these must be registered before loading.
        ``once`` listeners stop, or listen again, as they did when it was saved.

        Raises:
            StateError: if the state cannot be loaded; the message gives the place and the reason.
        """
        return prepared_manager(self, state)

    def begin(self, code: str, *arguments: Any) -> Event:
        """Queue an event for the present listeners only, not for listeners added before its delivery."""
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

    @property
    def clock(self) -> Clock:
        """The game clock; decides which events are due."""
        return self._clock

    @property
    def codes(self) -> tuple[str, ...]:
        """The declared codes; if none were declared, the codes that have listeners."""
        return self._registry.codes

    @property
    def log(self) -> EventLog | None:
        """The log of events and deliveries; None for no log."""
        return self.dispatcher.log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        self.dispatcher.log = checked_log(log, EventLog)
        self._watchers_changed()

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
        self, codes: Codes, handler: Handler, *, name: str | None = None,
        where: Predicate | None = None, near: tuple[Place, float] | None = None,
        priority: int = 0, once: bool = False, weak: bool = False,
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
        interest = interest_of(handler, where, near, once, weak)
        main = self._registry
        listening = self.register(main, codes, handler, interest, name=name, priority=priority)
        self.tell_sticky(listening, main)
        return listening

    def send_now(
        self, code: str, *arguments: Any, sender: object | None = None,
        position: Iterable[float] | None = None, is_sticky: bool = False,
        wants_receipt: bool = False, audience: ListenerGroup | None = None,
    ) -> Event:
        """Deliver an event to the listeners before returning, without queue and budget.

        Cost: O(listeners of this code), about a bare loop over them.
        """
        now = self._clock.now
        terms = PLAIN
        if is_sticky or wants_receipt or position is not None or audience is not None:
            terms = terms_of(0, None, position, is_sticky, wants_receipt, audience)
        event = new_event(code, arguments, sender, now, now.seconds, terms)
        self.tell(event)
        return event

    def tell(self, event: Event) -> None:
        """Deliver an existing event to its listeners before returning.

        For events that never change, and for forwarding events of another manager.

        Cost: O(listeners of its code), about a bare loop over them.
        """
        calls: Any  # Calls; or None, which has nothing of what is looked at here
        try:  # each test costs a tenth of a delivery, so there are few
            calls = self._calls[event.code]
            if event.terms is PLAIN:
                function = calls.function
                try:
                    if function is None:
                        calls.times += 1.0
                        for told in calls:
                            told(event)
                    elif calls.functions is None:
                        told = None
                        for told in calls.keepers:
                            function(told, event)
                    else:
                        told = None
                        for function, told in zip(calls.functions, calls.keepers):  # noqa: B905  end together
                            function(told, event)
                    if not calls.is_over:
                        return None
                    problem: Exception | None = None
                except KeeperGoneError:
                    problem = None
                except Exception as error:
                    problem = error
        except (AttributeError, KeyError, TypeError):
            calls = None
        if calls is None or event.terms is not PLAIN:
            return self._tell_with_care(event)
        try:  # outside of the block above: errors of the next listeners are unrelated to this one
            self.dispatcher.go_on_after(calls.place_after(function, told, problem), problem, event, calls)
        finally:
            del problem  # which knows this frame, and this frame it

    def sticky(self, code: str) -> Event | None:
        """Return the sticky event of a code, None if there is none; a new listener receives it at once.

        Raises:
            UnknownNameError: if the code is not declared.
        """
        self._registry.check(code)
        return self._sticky.kept(code, None)

    def clear_sticky(self, code: str, audience: ListenerGroup | None = None) -> None:
        """Remove the sticky event of a code; listeners added later do not receive it.

        A sticky event that is still in the queue is kept when it is dispatched.

        Raises:
            UnknownNameError: if the code is not declared.
        """
        self._registry.check(code)
        self._sticky.clear(code, audience)

    def register(
        self, registry: EventRegistry, codes: Codes, handler: Handler, interest: ListenerFilter, *,
        name: str | None = None, priority: int = 0, rank: int | None = None,
    ) -> Subscription:
        """Register a handler in a registry, with this manager as its dispatcher."""
        if interest is not ANYTHING and name is None:
            name = handler_name(handler)  # the stand-in has no name of its own
        listening = registry.add(codes, handler, name, priority, rank)
        if interest is not ANYTHING:
            done = self.dispatcher
            use_up: Callable[[Subscription], None] = Subscription.stop
            if interest.is_once and registry is self._registry:
                use_up = self._once.add(listening)
            listening.handler = listening.call = stand_in(
                listening, interest, done.leave_out, done.note_freed, use_up
            )
            if interest.is_only_weak:
                registry.held_weakly[listening] = interest.held_weakly()
        return listening

    def listen_again(self, listening: Subscription) -> bool:
        """Register a ``once`` listener again after its delivery.

        Returns:
            False if it still listens, was stopped, or its delivery was too long ago:
            only the latest ``once_listeners.REMEMBERED`` can listen again.

        Cost: O(codes).
        """
        if not self._once.bring_back(listening):
            return False
        self.tell_sticky(listening, self._registry)
        return True

    def is_over(self, listening: Subscription) -> bool:
        """Return whether a listener has ended for good: neither a save nor ``listen_again`` can bring it back."""
        return not listening.is_active and not self._once.remembers(listening)

    def tell_sticky(
        self, listening: Subscription, registry: EventRegistry, before: EventRegistry | None = None
    ) -> None:
        """Deliver the sticky events of a registry to a new listener, except those delivered in ``before``."""
        for event in self._sticky.meant_for(listening, registry, before, self._registry):
            self.dispatcher.called += 1
            self.dispatcher.tell(event, iter((listening,)))

    def count_told(self) -> None:
        """Add the deliveries of the bare loops to the totals."""
        told = self._registry.tallied()
        self._order += told.events
        self.dispatcher.dispatched += told.events
        self.dispatcher.called += told.calls

    def _watchers_changed(self) -> None:
        """Use bare loops for delivery, unless a log or a trace needs each event."""
        is_watched = self.log is not None or self._trace.event_sent
        self._calls = {} if is_watched else self._registry.calls

    def _tell_with_care(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise no_event(event)
        self._registry.check(event.code)
        self._announce(event)
        self._order += 1
        self.dispatcher.tell_now(event, self._begin(event))

    def _begin(self, event: Event) -> tuple[Subscription, ...]:
        """Return the listeners of an event; keep it for later listeners if it is sticky."""
        code, terms = event.code, event.terms
        if terms.is_sticky:
            self._sticky.keep(event)
        audience = self._registry if terms.audience is None else terms.audience
        return audience.listeners(code)

    def _announce(self, event: Event) -> None:
        for hook in self._trace.event_sent:
            hook(event, event.sent_at)
        if self.log is not None:
            self.log.note("sent", event.sent_at, event.code, sender_name(event.sender), shown(event.arguments))


def _moments(now_s: float, delay_s: float, deadline_s: float | None) -> tuple[float, float | None]:
    """Return the due time and the deadline of an event (s)."""
    left_s = max(0.0, LATEST_S - now_s)
    delay_s = finite_number(
        "delay_s", delay_s, minimum=0, maximum=left_s, remedy="use 0 for the next dispatch"
    )
    if deadline_s is None:
        return now_s + delay_s, None
    deadline_s = finite_number(
        "deadline_s", deadline_s, minimum=delay_s, maximum=left_s,
        remedy="the deadline must not be earlier than the delay",
    )
    return now_s + delay_s, now_s + deadline_s


__all__ = ["Event", "EventCounts", "EventManager", "Handler", "Subscription", "no_event"]
