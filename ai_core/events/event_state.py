"""Saving of an event manager: waiting, partly delivered and sticky events.

Loading creates no listeners. Listeners must be registered before, and are identified
by code, name and, among equal ones, order of registration.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError
from ai_core.events.event import PLAIN, Delivery, Event, EventTerms, ListenerGroup, Receipt
from ai_core.events.event_queue import queued
from ai_core.events.event_registry import MOST_PRIORITY, EventRegistry, Subscription
from ai_core.events.once_listeners import OnceListeners
from ai_core.faults import NO_FAILURES, Failures
from ai_core.saving.fields import Fields, State, StateError, brief

if TYPE_CHECKING:
    from ai_core.events.event_manager import EventManager

__all__ = ["ListenerSerializer", "RegistrySerializer", "prepared_manager", "saved_manager"]

VERSION = 1

COUNTS = ("dispatched", "called", "skipped", "unheard", "failed", "late", "freed")

Finder = Callable[[], Subscription]
"""Returns a listener after the whole state is loaded."""


class ListenerSerializer(Protocol):
    """Interface that defines how saves refer to listeners and audiences."""

    def references(self) -> dict[Subscription, list[Any]]:
        """Return the reference of each listener, as plain data."""
        ...

    def finder(self, reference: list[Any], place: str, *, is_under_way: bool) -> Finder:
        """Return a function that finds the listener of a reference, or its stand-in in a
        broadcast under way; raise StateError if there is none."""
        ...

    def audience(self, plain: object, place: str) -> ListenerGroup:
        """Return the audience of a reference; raise StateError if there is none."""
        ...


class RegistrySerializer:
    """Refers to listeners by code, name and number among equal ones; to ``once`` listeners by all codes."""

    def __init__(self, registry: EventRegistry, once: OnceListeners) -> None:
        self._registry = registry
        self._once = once

    def references(self) -> dict[Subscription, list[Any]]:
        """Return code, name and number of each listener."""
        found: dict[Subscription, list[Any]] = {}
        for reference, listening in self._by_reference().items():
            found.setdefault(listening, list(reference))
        for listening, known in self._once.references().items():
            found[listening] = [list(known.codes), known.name, known.number]
        return found

    def finder(self, reference: list[Any], place: str, *, is_under_way: bool) -> Finder:
        """Find the listener immediately, because loading changes no listener."""
        keys = dict(zip(("code", "name", "number"), reference, strict=False))
        fields = Fields(keys, place)
        if isinstance(reference[0], list):
            return self._once_finder(fields)
        wanted = fields.text("code"), fields.text("name"), fields.whole("number")
        here = self._by_reference()
        if wanted not in here:
            code, name, number = wanted
            known = [one[1] for one in here if one[0] == code]
            unknown = UnknownNameError(f"listener of {brief(code)}", name, known)
            more = f" (number {number} of them)" if number else ""
            raise StateError(f"{place!r}: {unknown}{more}; call listen before loading")
        listening = here[wanted]
        return lambda: listening

    def _once_finder(self, fields: Fields) -> Finder:
        codes = tuple(map(str, fields.items("code")))
        name, number = fields.text("name"), fields.whole("number")
        listening = self._once.find(codes, name, number)
        if listening is None:
            fields.refuse("name", f"is {brief(name)}, which is not registered as a once listener to"
                                  f" {brief(', '.join(codes))}; call listen before loading")
        return lambda: listening

    def audience(self, plain: object, place: str) -> NoReturn:
        """Raise StateError: an event manager has no audiences."""
        raise StateError(f"{place!r} refers to a group of a narrowcast, but this is an EventManager")

    def _by_reference(self) -> dict[tuple[str, str, int], Subscription]:
        found: dict[tuple[str, str, int], Subscription] = {}
        once = self._once.references()
        for channel in (*self._registry.channels.values(), self._registry.everyone):
            numbers: dict[str, int] = defaultdict(int)
            for listening in channel.sorted_members():
                if listening in once:
                    continue
                name = listening.name
                found[channel.code, name, numbers[name]] = listening
                numbers[name] += 1
        return found


def saved_manager(manager: EventManager) -> State:
    """Return the state of an event manager between two frames."""
    _check_between_frames(manager)
    manager.count_told()
    references = manager._book.references()
    done = manager.dispatcher
    return {
        "version": VERSION,
        "now": list(manager.clock.now),
        "sent": manager._order,
        "counts": {name: getattr(done, name) for name in COUNTS},
        "queue": [
            {**_saved_event(manager, entry[4], f"queue[{index}]"),
             "order": entry[3], "rest": _saved_rest(rest, references)}
            for index, (entry, rest) in enumerate(manager._queue.entries())
        ],
        "sticky": [
            _saved_event(manager, event, f"sticky[{index}]")
            for index, event in enumerate(manager._sticky.events())
        ],
        "failing": _saved_failing(manager, references),
        "once": manager._once.save_state(),
    }


def prepared_manager(manager: EventManager, state: object) -> Callable[[], None]:
    """Check a state against the present listeners; return a function that loads it."""
    _check_between_frames(manager)
    fields = Fields.versioned(state, version=VERSION)
    fields.moment("now")
    sent = fields.whole("sent")
    totals = fields.group("counts")
    counts = {name: totals.whole(name) for name in COUNTS}
    totals.end()
    queue = _read_queue(manager, fields, sent)
    sticky = _read_sticky(manager, fields)
    failing = _read_failing(manager._book, fields)
    load_once = manager._once.prepare_state(fields)
    fields.end()

    def change() -> None:
        done = manager.dispatcher
        manager.count_told()  # deliveries before the load must not be counted after it
        manager._order = sent
        load_once()
        for name, count in counts.items():
            setattr(done, name, count)
        manager._queue.replace(
            (queued(event, order), None if rest is None else iter([find() for find in rest]))
            for event, order, rest in queue
        )
        manager._sticky.replace(sticky)
        for listening in manager._book.references():
            done.put_failures(listening, NO_FAILURES)
        for find, failures in failing:
            done.put_failures(find(), failures)

    return change


def _check_between_frames(manager: EventManager) -> None:
    if manager._is_advancing:
        raise RuntimeError("a handler is running; save and load between two frames")


def _saved_event(manager: EventManager, event: Event, place: str) -> State:
    values = manager.values
    return {
        "code": event.code,
        "arguments": [
            values.plain(one, f"{place}.arguments[{index}] ({event.code})")
            for index, one in enumerate(event.arguments)
        ],
        "sender": values.plain(event.sender, f"{place}.sender ({event.code})"),
        "sent_at": list(event.sent_at),
        "due_at": event.due_at,
        "terms": None if event.terms is PLAIN else _saved_terms(event.terms),
    }


def _saved_terms(terms: EventTerms) -> State:
    receipt = terms.receipt
    return {
        "priority": terms.priority,
        "deadline_at": terms.deadline_at,
        "position": None if terms.position is None else list(terms.position),
        "is_sticky": terms.is_sticky,
        "audience": None if terms.audience is None else terms.audience.plain(),
        "receipt": None if receipt is None else {
            "is_complete": receipt.is_complete,
            "deliveries": [
                {"name": one.name, "delivered_at": list(one.delivered_at), "has_failed": one.has_failed}
                for one in receipt.deliveries
            ],
        },
    }


def _read_event(manager: EventManager, fields: Fields) -> Event:
    code = fields.text("code")
    try:
        manager._registry.check(code)
    except (LookupError, ValueError) as error:
        fields.refuse("code", f"is not valid: {error}")
    values = manager.values
    arguments = tuple(
        values.value(one, f"{fields.place_of('arguments')}[{index}]")
        for index, one in enumerate(fields.items("arguments"))
    )
    sender = values.value(fields.anything("sender"), fields.place_of("sender"))
    sent_at = TimeIndex(*fields.moment("sent_at"))
    terms = PLAIN
    if fields.anything("terms") is not None:
        terms = _read_terms(manager._book, fields.group("terms"))
    return Event(code, arguments, sender, sent_at, fields.seconds("due_at"), terms)


def _read_terms(book: ListenerSerializer, fields: Fields) -> EventTerms:
    audience, receipt = fields.anything("audience"), fields.anything("receipt")
    terms = EventTerms(
        fields.whole("priority", minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY),
        None if fields.anything("deadline_at") is None else fields.seconds("deadline_at"),
        None if fields.anything("position") is None else _position(fields),
        fields.flag("is_sticky"),
        None if audience is None else book.audience(audience, fields.place_of("audience")),
        None if receipt is None else _read_receipt(fields.group("receipt")),
    )
    fields.end()
    return terms


def _position(fields: Fields) -> tuple[float, float, float]:
    x, y, z = fields.numbers("position", count=3)
    return (x, y, z)


def _read_receipt(fields: Fields) -> Receipt:
    receipt = Receipt([], fields.flag("is_complete"))
    for one in fields.groups("deliveries"):
        delivered_at = TimeIndex(*one.moment("delivered_at"))
        receipt.deliveries.append(Delivery(one.text("name"), delivered_at, one.flag("has_failed")))
        one.end()
    fields.end()
    return receipt


def _read_queue(
    manager: EventManager, fields: Fields, sent: int
) -> list[tuple[Event, int, list[Finder] | None]]:
    queue: list[tuple[Event, int, list[Finder] | None]] = []
    for one in fields.groups("queue"):
        order = one.whole("order", maximum=sent - 1)
        if queue and order <= queue[-1][1]:
            one.refuse("order", f"must be above the previous order, got {order}: events are in order of sending")
        rest = None if one.anything("rest") is None else _read_rest(manager, one)
        queue.append((_read_event(manager, one), order, rest))
        one.end()
    return queue


def _read_sticky(manager: EventManager, fields: Fields) -> list[Event]:
    events: list[Event] = []
    by_code: dict[str, list[Event]] = {}
    for one in fields.groups("sticky"):
        event = _read_event(manager, one)
        if not event.terms.is_sticky:
            one.refuse("terms", "must be the terms of a sticky event")
        of_code = by_code.setdefault(event.code, [])
        if any(event.terms.audience == other.terms.audience for other in of_code):
            one.refuse("code", f"occurs twice: {brief(event.code)}")
        one.end()
        of_code.append(event)
        events.append(event)
    return events


def _saved_rest(
    rest: Iterator[Subscription] | None, references: dict[Subscription, list[Any]]
) -> list[list[Any] | None] | None:
    """Return the references of the remaining listeners; None for each stopped listener."""
    return None if rest is None else [references.get(one) for one in copy(rest)]


def _read_rest(manager: EventManager, fields: Fields) -> list[Finder]:
    stopped = Subscription(manager._registry, (), manager.dispatcher.leave_out, "stopped")
    rest: list[Finder] = []
    for index, one in enumerate(fields.items("rest")):
        find = _finder(manager._book, fields, f"rest[{index}]", one, True) if one is not None else None
        rest.append(find if find is not None else lambda: stopped)
    return rest


def _saved_failing(manager: EventManager, references: dict[Subscription, list[Any]]) -> list[State]:
    rows = []
    for listening, reference in references.items():
        failures = manager.dispatcher.faults.failures_of(listening)
        if failures != NO_FAILURES:
            rows.append({"listener": reference, **failures.saved()})
    return rows


def _read_failing(book: ListenerSerializer, fields: Fields) -> list[tuple[Finder, Failures]]:
    failing: list[tuple[Finder, Failures]] = []
    told: list[object] = []
    for one in fields.groups("failing"):
        reference = one.anything("listener")
        if reference in told:
            one.refuse("listener", "occurs twice")
        told.append(reference)
        find = _finder(book, one, "listener", reference, False)
        failing.append((find, Failures.read(one)))
        one.end()
    return failing


def _finder(
    book: ListenerSerializer, fields: Fields, name: str, reference: object, is_under_way: bool
) -> Finder:
    if not isinstance(reference, list) or len(reference) != 3:
        fields.refuse(name, f"must be a list of 3 values that identifies a listener, got {brief(reference)}")
    return book.finder(reference, fields.place_of(name), is_under_way=is_under_way)
