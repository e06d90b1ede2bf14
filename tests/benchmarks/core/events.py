"""The event manager beside a loop over the listeners."""
from __future__ import annotations

from collections.abc import Sequence

from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from tools.benchmarking.declarations import Case, Contest

CONCERNED = 10


class Listener:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.told = 0

    def hear(self, _event: object) -> None:
        self.told += 1


def listeners_of_one_event(n: int) -> Contest:
    """One event that all n listen to."""
    crowds: list[list[Listener]] = []

    def crowd() -> list[Listener]:
        crowds.append([Listener() for _ in range(n)])
        return crowds[-1]

    return Contest(
        _manager(crowd()), {"loop over listeners": _loop(crowd())},
        peers={"pyee": lambda: _pyee(crowd()), "blinker": lambda: _blinker(crowd())},
        complaint=lambda: _complaint(crowds),
    )


def listeners_among(n: int) -> Contest:
    """One event that 10 of n listen to; the others wait for other events."""
    ours, theirs = [Listener() for _ in range(n)], [Listener() for _ in range(CONCERNED)]
    case = _manager(ours, concerned=CONCERNED)
    return Contest(
        case, {"loop over those 10": _loop(theirs)},
        complaint=lambda: _complaint([ours[:CONCERNED], theirs, ours[CONCERNED:]]),
    )


def _manager(listeners: Sequence[Listener], concerned: int | None = None) -> Case:
    manager = EventManager(ManualClock())
    for number, one in enumerate(listeners):
        manager.listen("alarm" if concerned is None or number < concerned else f"other {number // 10}", one.hear)

    def send() -> int:
        manager.send_now("alarm", 1)
        return 1

    return send


def _loop(listeners: Sequence[Listener]) -> Case:
    calls = [one.hear for one in listeners]
    event = object()

    def send() -> int:
        for call in calls:
            call(event)
        return 1

    return send


def _pyee(listeners: Sequence[Listener]) -> Case:
    from pyee.base import EventEmitter

    emitter = EventEmitter()
    for one in listeners:
        emitter.on("alarm", one.hear)

    def send() -> int:
        emitter.emit("alarm", 1)
        return 1

    return send


def _blinker(listeners: Sequence[Listener]) -> Case:
    from blinker import Signal

    alarm = Signal()
    for one in listeners:
        alarm.connect(one.hear)

    def send() -> int:
        alarm.send(1)
        return 1

    return send


def _complaint(crowds: Sequence[Sequence[Listener]]) -> str:
    """Within a crowd all hear the same events; "" or who does not."""
    uneven = [number for number, crowd in enumerate(crowds) if len({one.told for one in crowd}) > 1]
    return f"in {len(uneven)} of {len(crowds)} crowds some were told more often than others" if uneven else ""
