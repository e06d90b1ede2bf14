"""Signals under way, told in the order in which they arrive.

Each signal keeps the sensors it will reach sorted by arrival, and only the
next of them waits in the heap: sending costs one sort, not one push a sensor.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import NamedTuple

from ai_core.senses.sensation import Point

__all__ = ["Arrival", "Channel", "Signal", "SignalQueue", "is_replaced"]

Channel = tuple[int, int, str, int]
"""Source, modality, channel and sensor."""


class Signal(NamedTuple):
    """Something that was emitted.

    Attributes:
        order: how many were emitted before it.
        source_id: by what; it may have been removed since.
        modality: number of its modality.
        strength: at its origin, no unit.
        position: its origin (m).
        sent_at_s: game time when it was emitted (s).
        affiliation: of its source, as bits.
        tag: what it is called, for listeners.
        channel: repeated signals of one source on one channel replace each
            other at a sensor; "" for none.
    """

    order: int
    source_id: int
    modality: int
    strength: float
    position: Point
    sent_at_s: float
    affiliation: int = 1
    tag: str = ""
    channel: str = ""


class Arrival(NamedTuple):
    """One signal at one sensor, as far as it could be told when it was sent.

    Attributes:
        due_s: game time when it is to be told (s).
        sensor_id: whom.
        distance_m: how far the sensor was (m).
        intensity: there.
        kept: share of the intensity that what stands between lets through.
        is_final: True if it is told so, wherever the sensor has gone since.
    """

    due_s: float
    sensor_id: int
    distance_m: float
    intensity: float
    kept: float = 1.0
    is_final: bool = False


def is_replaced(signal: Signal, arrival: Arrival, newest: Mapping[Channel, int]) -> bool:
    """Return whether a later signal of the same channel has arrived at the same sensor, by the newest of each."""
    key = (signal.source_id, signal.modality, signal.channel, arrival.sensor_id)
    return bool(newest) and newest.get(key, signal.order) > signal.order


class SignalQueue:
    """Arrivals to come, by due time, then sensor id, then order of sending.

    Cost: sending O(n log n) for n sensors reached; taking one O(log signals).
    """

    def __init__(self) -> None:
        # Each entry holds a signal and its arrivals, the next of them last. The
        # first three parts decide, and no two entries share all three.
        self._next: list[tuple[float, int, int, Signal, list[Arrival]]] = []
        self._count = 0

    def __len__(self) -> int:
        """Number of arrivals to come."""
        return self._count

    @property
    def next_due_s(self) -> float:
        """When the next arrival is due (s); ``inf`` if there is none."""
        return self._next[0][0] if self._next else inf

    def send(self, signal: Signal, arrivals: Iterable[Arrival]) -> None:
        """Let a signal travel to sensors, given in any order, each once."""
        self._push(signal, sorted(arrivals, reverse=True))

    def send_again(self, signal: Signal, arrival: Arrival) -> None:
        """Let a signal reach one sensor later than was thought."""
        self._push(signal, [arrival])

    def pop_due(self, now_s: float) -> list[tuple[Signal, Arrival]]:
        """Take out all arrivals that are due at ``now_s`` or before, in order."""
        due, waiting = [], self._next
        while waiting and waiting[0][0] <= now_s:
            _, _, order, signal, arrivals = waiting[0]
            due.append((signal, arrivals.pop()))
            if arrivals:
                following = arrivals[-1]
                entry = (following.due_s, following.sensor_id, order, signal, arrivals)
                heapreplace(waiting, entry)
            else:
                heappop(waiting)
        self._count -= len(due)
        return due

    def _push(self, signal: Signal, arrivals: list[Arrival]) -> None:
        if arrivals:
            first = arrivals[-1]
            entry = (first.due_s, first.sensor_id, signal.order, signal, arrivals)
            heappush(self._next, entry)
            self._count += len(arrivals)
