"""The event manager: a queue, a registry of listeners, and a dispatcher.

Most urgent first: the order of delivery is that of (priority, deadline, due
time, sending), and within one event that of (priority, listening).
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
    """Return the error for what was handed over as an event made already, and is none."""
    return TypeError(f"event must be an Event, such as send_now returns, got {shown(event)}")


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
        is_sticky: bool = False, wants_receipt: bool = False, audience: ListenerGroup | None = None,
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

    @property
    def clock(self) -> Clock:
        """What decides what is due."""
        return self._clock

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that were declared, or else those somebody listens to."""
        return self._registry.codes

    @property
    def log(self) -> EventLog | None:
        """Where events and deliveries are written down; None for nowhere."""
        return self.dispatcher.log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        self.dispatcher.log = checked_log(log, EventLog)
        self._watchers_changed()

    def has_listeners(self, code: str) -> bool:
        """Return whether anybody listens to a code now.

        Raises:
            UnknownNameError: if the code is not one of those declared.
        """
        self._registry.check(code)
        return bool(self._registry.listeners(code))

    def mask_of(self, *codes: str) -> int:
        """Return the bit mask that ``listen`` takes for these; the first declared code is bit 0.

        Raises:
            ValueError: if no codes were declared.
        """
        return self._registry.mask_of(codes)

    def listen(
        self, codes: Codes, handler: Handler, *, name: str | None = None,
        where: Predicate | None = None, near: tuple[Place, float] | None = None,
        priority: int = 0, once: bool = False, weak: bool = False,
    ) -> Subscription:
        """Call ``handler(event)`` for every event of one code, or of several.

        The same handler may listen more than once; it is then called as often.
        One that comes after a sticky event is told of it before this returns.

        Args:
            codes: one code, several, EVERY_CODE, or a mask made by ``mask_of``.
            handler: called with each event.
            name: for reports and saves; None takes the name of the handler.
            where: is asked about each event; only those it returns True for are told.
            near: a place, or a callable that returns it, and a range (m): only
                what was sent with a position in range is told.
            priority: higher is told earlier; equal ones by order of listening.
            once: stop before the first event that is told.
            weak: drop it when nobody else keeps the handler, or its object.

        Raises:
            UnknownNameError: if a code is not one of those declared.
            TypeError: if the handler cannot be called, or not be held weakly.
            ValueError: if a number is out of range.

        Cost: O(codes); the next event of each sorts its listeners anew, O(listeners).
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
        """Tell the listeners before returning, past the queue and any budget.

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
        """Tell the listeners of an event that is made already, before returning.

        For what is always the same, and for passing on what was heard elsewhere.

        Cost: O(listeners of its code), about a bare loop over them.
        """
        calls: Any  # Calls; or None, which has nothing of what is looked at here
        try:  # each look costs a tenth of what it costs to tell one listener, so there are few
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
        try:  # outside of it: errors of those who come now have nothing to do with this one
            self.dispatcher.go_on_after(calls.place_after(function, told, problem), problem, event, calls)
        finally:
            del problem  # which knows this frame, and this frame it

    def sticky(self, code: str) -> Event | None:
        """Return what one who begins to listen to a code now is told at once.

        Raises:
            UnknownNameError: if the code is not one of those declared.
        """
        self._registry.check(code)
        return self._sticky.kept(code, None)

    def clear_sticky(self, code: str, audience: ListenerGroup | None = None) -> None:
        """Forget the sticky event of a code; those who listen later are not told.

        One still in the queue sticks when it is told.

        Raises:
            UnknownNameError: if the code is not one of those declared.
        """
        self._registry.check(code)
        self._sticky.clear(code, audience)

    def register(
        self, registry: EventRegistry, codes: Codes, handler: Handler, interest: ListenerFilter, *,
        name: str | None = None, priority: int = 0, rank: int | None = None,
    ) -> Subscription:
        """Let a handler listen in a registry, with this manager as its dispatcher."""
        if interest is not ANYTHING and name is None:
            name = handler_name(handler)  # whoever stands in has no name of its own
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
        """Let one that listened once, and was told, listen once more.

        Returns:
            False if it still listens, has stopped itself, or was told too long
            ago: the latest ``once_listeners.REMEMBERED`` are known.

        Cost: O(codes).
        """
        if not self._once.bring_back(listening):
            return False
        self.tell_sticky(listening, self._registry)
        return True

    def is_over(self, listening: Subscription) -> bool:
        """Return whether it hears nothing more, and neither a save nor ``listen_again`` can change that."""
        return not listening.is_active and not self._once.remembers(listening)

    def tell_sticky(
        self, listening: Subscription, registry: EventRegistry, before: EventRegistry | None = None
    ) -> None:
        """Tell what is sticky in a registry to one who came, unless it was told ``before``."""
        for event in self._sticky.meant_for(listening, registry, before, self._registry):
            self.dispatcher.called += 1
            self.dispatcher.tell(event, iter((listening,)))

    def count_told(self) -> None:
        """Count what bare loops told with the rest."""
        told = self._registry.tallied()
        self._order += told.events
        self.dispatcher.dispatched += told.events
        self.dispatcher.called += told.calls

    def _watchers_changed(self) -> None:
        """Let bare loops tell, unless somebody wants to know of each event."""
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
        """Return who is to be told; from now on a sticky event waits for those who come."""
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


__all__ = ["Event", "EventCounts", "EventManager", "Handler", "Subscription", "no_event"]
