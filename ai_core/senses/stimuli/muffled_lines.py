"""Signals at sensors that wait until it is asked what stands between: so many lines a turn.

A loud sound that reaches hundreds behind walls would cost hundreds of rays at
once. Lines take turns instead: signals by the order of emission, of one signal
the nearest sensor first. Who waits for its turn hears what it would have heard,
by as many advances later; when that would be much later, not at all.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from ai_core.senses.sensation import Point
from ai_core.senses.stimuli.signal_queue import Arrival, Signal

__all__ = ["MuffledLines", "PendingLine"]

LATEST_S = 2.0
"""How much later than it is due a signal may still be asked about (s).

More lets a flood of signals put off all that come after it, and fills memory; less loses single
ones of which very many hear. What is heard later than this misleads: who made it is elsewhere.
"""


class PendingLine(NamedTuple):
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


Muffle = Callable[["list[PendingLine]"], "list[float]"]
"""Says of many lines what share of each gets through."""


class MuffledLines:
    """A queue of lines.

    Attributes:
        waiting: those that were not asked yet, in their order.
        given_up: how many would have come more than ``LATEST_S`` too late (count).
    """

    def __init__(self) -> None:
        self.waiting: deque[PendingLine] = deque()
        self.given_up = 0

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, lines: Iterable[PendingLine]) -> None:
        """Let the lines of one signal wait."""
        self.waiting.extend(sorted(lines, key=lambda one: (one.arrival.distance_m, one.arrival.sensor_id)))

    def give_up_late(self, now_s: float) -> None:
        """Drop and count those at the front that are too late. Cost: O(dropped)."""
        while self.waiting and self.waiting[0].arrival.due_s < now_s - LATEST_S:
            self.waiting.popleft()
            self.given_up += 1

    def take(self, most: int) -> list[PendingLine]:
        """Take out those whose turn it is; at most so many."""
        taken = list(islice(self.waiting, most))
        for _ in taken:
            self.waiting.popleft()
        return taken
