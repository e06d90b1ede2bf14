"""Events that wait: by due time until they are due, then by urgency.

Of those that are due, the highest priority is first; of equal priority, the
earliest deadline (none is the last); then who was due first; then who was sent
first. One that is half told keeps its place and its listeners.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from ai_core.budget import Budget
from ai_core.events.event import Event
from ai_core.events.event_registry import Subscription

__all__ = ["EventQueue", "Queued"]

MOVES_PER_CHECK = 64
"""Events that become due between two looks at the budget (count), about 50 µs."""

Queued = tuple[int, float, float, int, Event]
"""-priority, deadline (s), due time (s), order of sending, event: the least is most urgent."""


class EventQueue:
    """Two heaps, so that neither asking what is due nor what is urgent walks the rest."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Queued]] = []
        self._ready: list[Queued] = []
        self._half_told: dict[int, Iterator[Subscription]] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self._ready)

    @property
    def is_ready(self) -> bool:
        """Whether something is due."""
        return bool(self._ready)

    def push(self, event: Event, order: int, *, is_ready: bool) -> None:
        """Add an event; one that is not ready waits for ``settle``. Cost: O(log events)."""
        entry = queued(event, order)
        if is_ready:
            heappush(self._ready, entry)
        else:
            heappush(self._waiting, (event.due_at, order, entry))

    def settle(self, latest_s: float, budget: Budget) -> bool:
        """Make ready what is due by ``latest_s``; return False if the budget ended before."""
        waiting, ready = self._waiting, self._ready
        moves = 0
        while waiting and waiting[0][0] <= latest_s:
            if moves == MOVES_PER_CHECK:
                if budget.is_spent:
                    return False
                moves = 0
            heappush(ready, heappop(waiting)[2])
            moves += 1
        return True

    def pop(self) -> tuple[Queued, Iterator[Subscription] | None]:
        """Take the most urgent of those that are ready, and who is still to be told of it."""
        entry = heappop(self._ready)
        return entry, self._half_told.pop(entry[3], None)

    def put_back(self, entry: Queued, rest: Iterator[Subscription]) -> None:
        """Keep an event that is half told; it is ready as before."""
        self._half_told[entry[3]] = rest
        heappush(self._ready, entry)

    def entries(self) -> list[tuple[Queued, Iterator[Subscription] | None]]:
        """Return all by order of sending, with who is still to be told where that is known."""
        found = sorted([*self._ready, *(one[2] for one in self._waiting)], key=lambda one: one[3])
        return [(entry, self._half_told.get(entry[3])) for entry in found]

    def replace(self, entries: Iterable[tuple[Queued, Iterator[Subscription] | None]]) -> None:
        """Hold these and no others; those not half told wait for ``settle``."""
        self._ready, self._waiting, self._half_told = [], [], {}
        for entry, rest in entries:
            if rest is None:
                self._waiting.append((entry[2], entry[3], entry))
            else:
                self._half_told[entry[3]] = rest
                self._ready.append(entry)
        heapify(self._ready)
        heapify(self._waiting)


def queued(event: Event, order: int) -> Queued:
    """Return an event with what decides its place."""
    terms = event.terms
    deadline = math.inf if terms.deadline_at is None else terms.deadline_at
    return (-terms.priority, deadline, event.due_at, order, event)
