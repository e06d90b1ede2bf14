"""The queue of events: ordered by due time until they are due, then by urgency.

Due events are ordered by highest priority, then earliest deadline (events without a
deadline last), then due time, then order of sending. A partly delivered event keeps
its place and its remaining listeners.
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
"""Events that become due between two checks of the budget (count), about 50 µs."""

Queued = tuple[int, float, float, int, Event]
"""-priority, deadline (s), due time (s), order of sending, event: the smallest is most urgent."""


class EventQueue:
    """Two heaps, by due time and by urgency, so that no query walks the other events."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Queued]] = []
        self._ready: list[Queued] = []
        self._half_told: dict[int, Iterator[Subscription]] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self._ready)

    @property
    def is_ready(self) -> bool:
        """True if an event is due."""
        return bool(self._ready)

    def push(self, event: Event, order: int, *, is_ready: bool) -> None:
        """Add an event; an event that is not ready waits for ``settle``. Cost: O(log events)."""
        entry = queued(event, order)
        if is_ready:
            heappush(self._ready, entry)
        else:
            heappush(self._waiting, (event.due_at, order, entry))

    def settle(self, latest_s: float, budget: Budget) -> bool:
        """Make the events due by ``latest_s`` ready; return False if the budget was spent before."""
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
        """Remove and return the most urgent ready event, with its remaining listeners if partly delivered."""
        entry = heappop(self._ready)
        return entry, self._half_told.pop(entry[3], None)

    def put_back(self, entry: Queued, rest: Iterator[Subscription]) -> None:
        """Put a partly delivered event back; it stays ready."""
        self._half_told[entry[3]] = rest
        heappush(self._ready, entry)

    def entries(self) -> list[tuple[Queued, Iterator[Subscription] | None]]:
        """Return all events by order of sending, with the remaining listeners of partly delivered ones."""
        found = sorted([*self._ready, *(one[2] for one in self._waiting)], key=lambda one: one[3])
        return [(entry, self._half_told.get(entry[3])) for entry in found]

    def replace(self, entries: Iterable[tuple[Queued, Iterator[Subscription] | None]]) -> None:
        """Replace all events; those not partly delivered wait for ``settle``."""
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
    """Return an event with its sort key."""
    terms = event.terms
    deadline = math.inf if terms.deadline_at is None else terms.deadline_at
    return (-terms.priority, deadline, event.due_at, order, event)
