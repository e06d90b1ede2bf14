"""When something happens next to each sensor by time passing alone."""
from __future__ import annotations

import heapq
import math
from collections.abc import Callable

__all__ = ["TimerQueue"]


class TimerQueue:
    """One moment for each sensor, and those that have come, in order.

    Of each sensor one entry of the queue counts, at its moment or before: what is put off costs
    nothing until then.

    Cost: putting O(log sensors) where it is sooner than before, else O(1).
    """

    def __init__(self) -> None:
        self._due_s: dict[int, float] = {}
        self._queued_s: dict[int, float] = {}
        self._queue: list[tuple[float, int]] = []

    def __len__(self) -> int:
        """Entries in the queue."""
        return len(self._queue)

    def clear(self) -> None:
        """Nothing happens to anybody."""
        self._due_s.clear()
        self._queued_s.clear()
        self._queue.clear()

    def forget(self, sensor_id: int) -> None:
        """Nothing happens to a sensor."""
        self._due_s.pop(sensor_id, None)
        self._queued_s.pop(sensor_id, None)

    def put(self, sensor_id: int, due_s: float) -> None:
        """Say when something happens to a sensor (s); ``inf`` for never."""
        if due_s == math.inf:
            self._due_s.pop(sensor_id, None)
        else:
            self._due_s[sensor_id] = due_s
            self._put_into_queue(sensor_id, due_s)

    def of(self, sensor_id: int) -> float:
        """Return when something happens to a sensor (s); ``inf`` if never."""
        return self._due_s.get(sensor_id, math.inf)

    @property
    def soonest_s(self) -> float:
        """When something may happen to somebody at the soonest (s); ``inf`` if never."""
        return self._queue[0][0] if self._queue else math.inf

    def take(self, now_s: float, about_to: Callable[[int], object]) -> list[int]:
        """Return to whom something happens by now; it is not told again.

        Args:
            now_s: game time (s).
            about_to: called with each whose moment may have come; it may put it off.
        """
        found = []
        while self._queue and self._queue[0][0] <= now_s:
            queued_s, sensor_id = heapq.heappop(self._queue)
            if self._queued_s.get(sensor_id) != queued_s:
                continue
            del self._queued_s[sensor_id]
            about_to(sensor_id)
            due_s = self.of(sensor_id)
            if due_s <= now_s:
                del self._due_s[sensor_id]
                found.append(sensor_id)
            elif due_s < math.inf:
                self._put_into_queue(sensor_id, due_s)
        return found

    def _put_into_queue(self, sensor_id: int, due_s: float) -> None:
        if due_s < self._queued_s.get(sensor_id, math.inf):
            self._queued_s[sensor_id] = due_s
            heapq.heappush(self._queue, (due_s, sensor_id))
