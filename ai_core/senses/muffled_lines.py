"""Signals at sensors that wait until it is asked what stands between: so many lines a turn.

A loud sound that reaches hundreds behind walls would cost hundreds of rays at
once. Lines take turns instead: signals by the order of emission, of one signal
the nearest sensor first. Who waits for its turn hears what it would have heard,
by as many advances later.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from ai_core.senses.sensation import Point
from ai_core.senses.signal_queue import Arrival, Signal

__all__ = ["Line", "MuffledLines"]


class Line(NamedTuple):
    """One signal on its way to one sensor.

    Attributes:
        signal: what was emitted.
        arrival: at whom, as if nothing stood between.
        start: where it comes from (m).
        end: where the sensor was when it was offered to it (m).
    """

    signal: Signal
    arrival: Arrival
    start: Point
    end: Point


Muffle = Callable[["list[Line]"], "list[float]"]
"""Says of many lines what share of each gets through."""


class MuffledLines:
    """A queue of lines.

    Attributes:
        waiting: those that were not asked yet, in their order.
    """

    def __init__(self) -> None:
        self.waiting: deque[Line] = deque()

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, lines: Iterable[Line]) -> None:
        """Let the lines of one signal wait."""
        self.waiting.extend(sorted(lines, key=lambda one: (one.arrival.distance_m, one.arrival.sensor_id)))

    def take(self, most: int) -> list[Line]:
        """Take out those whose turn it is; at most so many."""
        taken = list(islice(self.waiting, most))
        for _ in taken:
            self.waiting.popleft()
        return taken
