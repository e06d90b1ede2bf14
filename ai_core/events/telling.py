"""Telling at once: who listens, and what is told to them before the call returns."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ai_core.clock import Clock, checked_clock
from ai_core.errors import shown
from ai_core.events.arguments import checked_log
from ai_core.events.calls import KeeperGoneError
from ai_core.events.dispatcher import Dispatcher, WhenLate
from ai_core.events.event import PLAIN, Audience, Event, Handler, new_event
from ai_core.events.event_log import EventLog, sender_name
from ai_core.events.event_registry import Codes, EventRegistry, Listening, handler_name
from ai_core.events.interest import ANYTHING, Interest, Place, Predicate, interest_of, stand_in
from ai_core.events.once_listeners import OnceListeners
from ai_core.events.sticky_events import StickyEvents
from ai_core.events.terms import terms_of
from ai_core.faults import FaultIsolation, given_faults
from ai_core.trace import Trace, given_trace

__all__ = ["Telling", "no_event"]


class Telling:
    """Listeners, and events that do not wait; what an EventManager is without its queue.

    Args:
        clock, codes, faults, trace, when_late: as ``EventManager`` takes them.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        codes: Iterable[str] | None = None,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
        when_late: WhenLate | None = None,
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

    def is_heard(self, code: str) -> bool:
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
    ) -> Listening:
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
        wants_receipt: bool = False, audience: Audience | None = None,
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

    def clear_sticky(self, code: str, audience: Audience | None = None) -> None:
        """Forget the sticky event of a code; those who listen later are not told.

        One still in the queue sticks when it is told.

        Raises:
            UnknownNameError: if the code is not one of those declared.
        """
        self._registry.check(code)
        self._sticky.clear(code, audience)

    def register(
        self, registry: EventRegistry, codes: Codes, handler: Handler, interest: Interest, *,
        name: str | None = None, priority: int = 0, rank: int | None = None,
    ) -> Listening:
        """Let a handler listen in a registry, with this manager as its dispatcher."""
        if interest is not ANYTHING and name is None:
            name = handler_name(handler)  # whoever stands in has no name of its own
        listening = registry.add(codes, handler, name, priority, rank)
        if interest is not ANYTHING:
            done = self.dispatcher
            use_up: Callable[[Listening], None] = Listening.stop
            if interest.is_once and registry is self._registry:
                use_up = self._once.add(listening)
            listening.handler = listening.call = stand_in(
                listening, interest, done.leave_out, done.note_freed, use_up
            )
            if interest.is_only_weak:
                registry.held_weakly[listening] = interest.held_weakly()
        return listening

    def listen_again(self, listening: Listening) -> bool:
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

    def is_over(self, listening: Listening) -> bool:
        """Return whether it hears nothing more, and neither a save nor ``listen_again`` can change that."""
        return not listening.is_active and not self._once.remembers(listening)

    def tell_sticky(
        self, listening: Listening, registry: EventRegistry, before: EventRegistry | None = None
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

    def _begin(self, event: Event) -> tuple[Listening, ...]:
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


def no_event(event: object) -> TypeError:
    """Return the error for what was handed over as an event made already, and is none."""
    return TypeError(f"event must be an Event, such as send_now returns, got {shown(event)}")
