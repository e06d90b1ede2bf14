"""Telling n listeners among 100 times as many: the event manager, bare loops and peers."""
from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ai_core.clock import ManualClock, TimeIndex
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import Narrowcast
from tools.benchmarking.declarations import Case, Contest

UNINTERESTED = 99
"""Listeners of other events for each one who is told (count)."""

SQUAD = 8


class Listener:
    """Counts what it is told."""

    __slots__ = ("__weakref__", "told")

    def __init__(self) -> None:
        self.told = 0

    def hear(self, _event: object) -> None:
        self.told += 1


class Deaf(Listener):
    """Counts by a method of its own."""

    __slots__ = ()

    def hear(self, _event: object) -> None:
        self.told += 1


class Crowds:
    """The listeners of all who compete; every second is of another kind, if one is given."""

    def __init__(self, n: int, other: type[Listener] = Listener) -> None:
        self._n = n
        self._kinds = (Listener, other)
        self._crowds: list[list[Listener]] = []

    def crowd(self) -> list[Listener]:
        self._crowds.append([self._kinds[number % 2]() for number in range(self._n)])
        return self._crowds[-1]

    def complaint(self) -> str:
        """Within a crowd all hear the same events, at least one; "" or who does not."""
        uneven = sum({one.told for one in crowd} in ({0}, set()) or len({one.told for one in crowd}) > 1
                     for crowd in self._crowds)
        return f"in {uneven} of {len(self._crowds)} crowds some were told more often than others" if uneven else ""


def made_already(n: int) -> Contest:
    """An event that exists, told at once: what a bare loop does too."""
    crowds = Crowds(n)
    manager = _manager(crowds.crowd())
    event = manager.send_now("alarm", 1)

    def tell() -> int:
        manager.tell(event)
        return 1

    return _settled(Contest(tell, {"bare loop": _loop(crowds.crowd())}, complaint=crowds.complaint))


def made_anew(n: int) -> Contest:
    """An event that is made of its arguments and told at once, as peers do it."""
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


def weakly_of_two_kinds(n: int) -> Contest:
    """Listeners held weakly, each of another kind than the one before."""
    return _with_settings(n, lambda number: {"weak": True}, Deaf)


def once(n: int) -> Contest:
    """Listeners come, are told once and are gone, by themselves or stopped by hand."""
    crowds = Crowds(n)
    ears, stopped = crowds.crowd(), crowds.crowd()
    manager, other = EventManager(ManualClock()), EventManager(ManualClock())

    def ours() -> int:
        for one in ears:
            manager.listen("alarm", one.hear, once=True)
        manager.send_now("alarm", 1)
        return manager.has_listeners("alarm")

    def by_hand() -> int:
        listenings = [other.listen("alarm", one.hear) for one in stopped]
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
            cast.add_member(str(number), squads[number // SQUAD]).listen("*", one.hear)
    for number, one in enumerate(crowds.crowd()):
        cast.add_member(f"told {number}", squad).listen("*", one.hear)

    def send() -> int:
        squad.send_now("alarm", 1)
        return 1

    return _settled(Contest(send, {"loop over those 8": _loop(crowds.crowd())}, complaint=crowds.complaint))


def _with_settings(
    n: int, settings: Callable[[int], dict[str, Any]], other: type[Listener] = Listener
) -> Contest:
    crowds = Crowds(n, other)
    manager = EventManager(ManualClock())
    for number, one in enumerate(crowds.crowd()):
        manager.listen("alarm", one.hear, **settings(number))
    event = manager.send_now("alarm", 1)

    def tell() -> int:
        manager.tell(event)
        return 1

    return _settled(Contest(tell, {"bare loop": _loop(crowds.crowd())}, complaint=crowds.complaint))


def _settled(contest: Contest) -> Contest:
    gc.collect()
    return contest


def _manager(listeners: Sequence[Listener]) -> EventManager:
    manager = EventManager(ManualClock())
    for one in listeners:
        manager.listen("alarm", one.hear)
    other = Listener().hear
    for number in range(UNINTERESTED * len(listeners)):
        manager.listen(f"other {number % 100}", other)
    return manager


def _loop(listeners: Sequence[Listener]) -> Case:
    calls = [one.hear for one in listeners]
    event = object()

    def send() -> int:
        for call in calls:
            call(event)
        return 1

    return send


class PlainEvent(NamedTuple):
    """What somebody would write who needs what an Event tells."""

    code: str
    arguments: tuple[Any, ...]
    sender: object | None
    sent_at: TimeIndex
    due_at: float


def _making_loop(listeners: Sequence[Listener]) -> Case:
    calls = {"alarm": [one.hear for one in listeners]}
    clock = ManualClock()

    def tell(code: str, *arguments: object, sender: object | None = None) -> None:
        now = clock.now
        event = PlainEvent(code, arguments, sender, now, now.seconds)
        for call in calls[code]:
            call(event)

    def send() -> int:
        tell("alarm", 1)
        return 1

    return send


# A crowd is made only where the package is there: or else it would never be told.
def _pyee(crowd: Callable[[], Sequence[Listener]]) -> Case:
    from pyee.base import EventEmitter

    emitter = EventEmitter()
    for one in crowd():
        emitter.on("alarm", one.hear)

    def send() -> int:
        emitter.emit("alarm", 1)
        return 1

    return send


def _blinker(crowd: Callable[[], Sequence[Listener]]) -> Case:
    from blinker import Signal

    alarm = Signal()
    for one in crowd():
        alarm.connect(one.hear)

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
        bell.alarm.connect(one.hear)

    def send() -> int:
        bell.alarm.emit(1)
        return 1

    return send
