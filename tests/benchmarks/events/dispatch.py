"""Delivery to n listeners among 100 times as many: the event manager, bare loops and peers."""
from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ai_core.clock import ManualClock, TimeIndex
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from tools.benchmarking.declarations import Case, Contest

UNINTERESTED = 99
"""Listeners of other events for each listener that is called (count)."""

SQUAD = 8


class Listener:
    """Counts its calls."""

    __slots__ = ("__weakref__", "calls")

    def __init__(self) -> None:
        self.calls = 0

    def notify(self, _event: object) -> None:
        self.calls += 1


class Crowds:
    """The listeners of all contestants."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._crowds: list[list[Listener]] = []

    def crowd(self) -> list[Listener]:
        self._crowds.append([Listener() for _ in range(self._n)])
        return self._crowds[-1]

    def complaint(self) -> str:
        """Return "" if all listeners of a crowd were called equally often, at least once; else the number of crowds."""
        uneven = sum({one.calls for one in crowd} in ({0}, set()) or len({one.calls for one in crowd}) > 1
                     for crowd in self._crowds)
        return f"listeners of {uneven} of {len(self._crowds)} crowds were not called equally often" if uneven else ""


def made_already(n: int) -> Contest:
    """Deliver an event that exists: as a bare loop does."""
    crowds = Crowds(n)
    manager = _manager(crowds.crowd())
    event = manager.send_now("alarm", 1)

    def deliver() -> int:
        manager.deliver(event)
        return 1

    return _settled(Contest(deliver, {"bare loop": _loop(crowds.crowd())}, complaint=crowds.complaint))


def made_new(n: int) -> Contest:
    """Make an event of its arguments and deliver it, as peers do."""
    crowds = Crowds(n)
    manager = _manager(crowds.crowd())

    def send() -> int:
        manager.send_now("alarm", 1)
        return 1

    return _settled(Contest(
        send, {"bare loop": _loop(crowds.crowd()), "loop that makes the event": _making_loop(crowds.crowd())},
        peers={
            "pyee": lambda: _pyee(crowds.crowd),
            "blinker": lambda: _blinker(crowds.crowd),
            "psygnal": lambda: _psygnal(crowds.crowd),
        },
        complaint=crowds.complaint,
    ))


def by_priority(n: int) -> Contest:
    """Listeners with priorities, registered in the worst order."""
    return _with_settings(n, lambda number: {"priority": number % 1000})


def weakly(n: int) -> Contest:
    """Listeners held weakly."""
    return _with_settings(n, lambda number: {"weak": True})


def once(n: int) -> Contest:
    """Listeners are added, called once and removed, as ``once`` listeners or by ``stop``."""
    crowds = Crowds(n)
    listeners, stopped = crowds.crowd(), crowds.crowd()
    manager, other = EventManager(ManualClock()), EventManager(ManualClock())

    def ours() -> int:
        for one in listeners:
            manager.listen("alarm", one.notify, once=True)
        manager.send_now("alarm", 1)
        return manager.has_listeners("alarm")

    def by_hand() -> int:
        listenings = [other.listen("alarm", one.notify) for one in stopped]
        other.send_now("alarm", 1)
        for listening in listenings:
            listening.stop()
        return other.has_listeners("alarm")

    return _settled(Contest(ours, {"stopped by hand": by_hand}, complaint=crowds.complaint))


def to_a_squad(n: int) -> Contest:
    """A squad of 8 in an army of n: own group, through the narrowcast."""
    crowds = Crowds(SQUAD)
    cast = Narrowcast(ManualClock())
    side = cast.add_group("side")
    squads = [cast.add_group(f"squad {number}", under=side) for number in range(n // SQUAD)]
    squad = squads[len(squads) // 2]
    for number, one in enumerate(Listener() for _ in range(n)):
        if squads[number // SQUAD] is not squad:
            cast.add_member(str(number), squads[number // SQUAD]).listen("*", one.notify)
    for number, one in enumerate(crowds.crowd()):
        cast.add_member(f"member {number}", squad).listen("*", one.notify)

    def send() -> int:
        squad.send_now("alarm", 1)
        return 1

    return _settled(Contest(send, {"loop over those 8": _loop(crowds.crowd())}, complaint=crowds.complaint))


def _with_settings(n: int, settings: Callable[[int], dict[str, Any]]) -> Contest:
    crowds = Crowds(n)
    manager = EventManager(ManualClock())
    for number, one in enumerate(crowds.crowd()):
        manager.listen("alarm", one.notify, **settings(number))
    event = manager.send_now("alarm", 1)

    def deliver() -> int:
        manager.deliver(event)
        return 1

    return _settled(Contest(deliver, {"bare loop": _loop(crowds.crowd())}, complaint=crowds.complaint))


def _settled(contest: Contest) -> Contest:
    gc.collect()
    return contest


def _manager(listeners: Sequence[Listener]) -> EventManager:
    manager = EventManager(ManualClock())
    for one in listeners:
        manager.listen("alarm", one.notify)
    other = Listener().notify
    for number in range(UNINTERESTED * len(listeners)):
        manager.listen(f"other {number % 100}", other)
    return manager


def _loop(listeners: Sequence[Listener]) -> Case:
    calls = [one.notify for one in listeners]
    event = object()

    def send() -> int:
        for call in calls:
            call(event)
        return 1

    return send


class PlainEvent(NamedTuple):
    """A plain event with the same data."""

    code: str
    arguments: tuple[Any, ...]
    sender: object | None
    sent_at_s: TimeIndex
    due_at_s: float


def _making_loop(listeners: Sequence[Listener]) -> Case:
    calls = {"alarm": [one.notify for one in listeners]}
    clock = ManualClock()

    def send_event(code: str, *arguments: object, sender: object | None = None) -> None:
        now = clock.now
        event = PlainEvent(code, arguments, sender, now, now.seconds)
        for call in calls[code]:
            call(event)

    def send() -> int:
        send_event("alarm", 1)
        return 1

    return send


# A crowd is made only where the package is installed, so that every crowd is called.
def _pyee(crowd: Callable[[], Sequence[Listener]]) -> Case:
    from pyee.base import EventEmitter

    emitter = EventEmitter()
    for one in crowd():
        emitter.on("alarm", one.notify)

    def send() -> int:
        emitter.emit("alarm", 1)
        return 1

    return send


def _blinker(crowd: Callable[[], Sequence[Listener]]) -> Case:
    from blinker import Signal

    alarm = Signal()
    for one in crowd():
        alarm.connect(one.notify)

    def send() -> int:
        alarm.send(1)
        return 1

    return send


def _psygnal(crowd: Callable[[], Sequence[Listener]]) -> Case:
    from psygnal import Signal

    class Bell:
        alarm = Signal(object)

    bell = Bell()
    for one in crowd():
        bell.alarm.connect(one.notify)

    def send() -> int:
        bell.alarm.emit(1)
        return 1

    return send
