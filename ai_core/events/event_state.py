"""The state of an event manager: events that wait, and the one that is half told.

Listeners are not made by loading. They listen already, and are found by code
and name; those of one code and name are told apart by the order of listening.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError
from ai_core.events.event_registry import Event, Listening
from ai_core.saving.fields import Fields, State, StateError, brief

if TYPE_CHECKING:
    from ai_core.events.event_manager import EventManager

__all__ = ["prepared_manager", "saved_manager"]

VERSION = 1

COUNTS = ("dispatched", "called", "skipped", "unheard", "failed")

QueueEntry = tuple[float, int, Event]


class _Reference(NamedTuple):
    """How a save refers to a listener: the how-manieth of its name among a code's."""

    code: str
    name: str
    number: int


def saved_manager(manager: EventManager) -> State:
    """Return the state of an event manager between two frames."""
    _check_between_frames(manager)
    queue = sorted(manager._queue, key=lambda entry: entry[:2])
    return {
        "version": VERSION,
        "now": list(manager.clock.now),
        "sent": manager._order,
        "counts": {name: getattr(manager, f"_{name}") for name in COUNTS},
        "queue": [
            {**_saved_event(manager, event, f"queue[{index}]"), "order": order}
            for index, (_, order, event) in enumerate(queue)
        ],
        "half_told": _saved_half_told(manager),
        "failing": _saved_failing(manager),
    }


def prepared_manager(manager: EventManager, state: object) -> Callable[[], None]:
    """Check a state against the listeners that are here; return what loads it."""
    _check_between_frames(manager)
    fields = Fields.versioned(state, version=VERSION)
    fields.moment("now")
    sent = fields.whole("sent")
    totals = fields.group("counts")
    counts = {name: totals.whole(name) for name in COUNTS}
    totals.end()
    queue = _read_queue(manager, fields, sent)
    here = _listeners_here(manager)
    half_told = _read_half_told(manager, fields, here)
    failing = [_read_failing(one, here) for one in fields.groups("failing")]
    if len({listening for listening, _, _ in failing}) < len(failing):
        fields.refuse("failing", "names a listener twice")
    fields.end()

    def change() -> None:
        manager._order, manager._queue = sent, queue  # sorted, so it is a heap
        for name, count in counts.items():
            setattr(manager, f"_{name}", count)
        manager._under_way = half_told
        for listening in here.values():
            manager.put_failures(listening, 0, is_quarantined=False)
        for listening, failures, is_quarantined in failing:
            manager.put_failures(listening, failures, is_quarantined=is_quarantined)

    return change


def _check_between_frames(manager: EventManager) -> None:
    if manager._is_advancing:
        raise RuntimeError("a handler is being told; save and load between two frames")


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
    }


def _read_event(manager: EventManager, fields: Fields) -> Event:
    code = fields.text("code")
    try:
        manager._registry.check(code)
    except (LookupError, ValueError) as error:
        fields.refuse("code", f"is wrong here: {error}")
    values = manager.values
    arguments = tuple(
        values.value(one, f"{fields.place_of('arguments')}[{index}]")
        for index, one in enumerate(fields.items("arguments"))
    )
    sender = values.value(fields.anything("sender"), fields.place_of("sender"))
    sent_at = TimeIndex(*fields.moment("sent_at"))
    return Event(code, arguments, sender, sent_at, fields.seconds("due_at"))


def _read_queue(manager: EventManager, fields: Fields, sent: int) -> list[QueueEntry]:
    queue: list[QueueEntry] = []
    orders = set()
    for one in fields.groups("queue"):
        event = _read_event(manager, one)
        order = one.whole("order", maximum=sent - 1)
        if order in orders:
            one.refuse("order", f"comes twice: {order}")
        orders.add(order)
        if queue and (event.due_at, order) < queue[-1][:2]:
            one.refuse("due_at", "must not be before the one above: events come as they are due")
        one.end()
        queue.append((event.due_at, order, event))
    return queue


def _saved_half_told(manager: EventManager) -> State | None:
    """Return the event under way and who is still to be told; None for who has stopped."""
    if manager._under_way is None:
        return None
    event, rest = manager._under_way
    references = {one: reference for reference, one in _listeners_here(manager).items()
                  if reference.code == event.code}
    return {
        "event": _saved_event(manager, event, "half_told"),
        "rest": [list(references[one][1:]) if one in references else None for one in copy(rest)],
    }


def _read_half_told(
    manager: EventManager, fields: Fields, here: dict[_Reference, Listening]
) -> tuple[Event, Iterator[Listening]] | None:
    if fields.anything("half_told") is None:
        return None
    half_told = fields.group("half_told")
    event_fields = half_told.group("event")
    event = _read_event(manager, event_fields)
    event_fields.end()
    rest = []
    for index, one in enumerate(half_told.items("rest")):
        place = f"rest[{index}]"
        if one is None:
            rest.append(manager.stopped_listening())
        elif isinstance(one, list) and len(one) == 2:
            named = Fields({"name": one[0], "number": one[1]}, half_told.place_of(place))
            rest.append(_found(named, event.code, here))
        else:
            half_told.refuse(place, "must be [name, number] of a listener, or None")
    half_told.end()
    return event, iter(rest)


def _saved_failing(manager: EventManager) -> list[State]:
    rows = []
    told = set()
    for reference, listening in _listeners_here(manager).items():
        failures, is_quarantined = manager.failures_of(listening)
        if (failures or is_quarantined) and listening not in told:
            told.add(listening)
            rows.append({
                **reference._asdict(), "failures": failures, "is_quarantined": is_quarantined,
            })
    return rows


def _read_failing(
    fields: Fields, here: dict[_Reference, Listening]
) -> tuple[Listening, int, bool]:
    listening = _found(fields, fields.text("code"), here)
    failing = listening, fields.whole("failures"), fields.flag("is_quarantined")
    fields.end()
    return failing


def _found(fields: Fields, code: str, here: dict[_Reference, Listening]) -> Listening:
    reference = _Reference(code, fields.text("name"), fields.whole("number"))
    if reference not in here:
        known = [one.name for one in here if one.code == code]
        unknown = UnknownNameError(f"listener of {brief(code)}", reference.name, known)
        more = f" (number {reference.number} of them)" if reference.number else ""
        raise StateError(f"{fields.place_of('name')!r}: {unknown}{more}; let it listen first")
    return here[reference]


def _listeners_here(manager: EventManager) -> dict[_Reference, Listening]:
    found: dict[_Reference, Listening] = {}
    for code in manager.codes:
        numbers: dict[str, int] = defaultdict(int)
        for listening in manager._registry.listeners(code):
            found[_Reference(code, listening.name, numbers[listening.name])] = listening
            numbers[listening.name] += 1
    return found
