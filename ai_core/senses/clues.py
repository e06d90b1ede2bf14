"""Clues: temporary sources that characters leave, sensed like any other source until they expire."""
from __future__ import annotations

from heapq import heapify, heappop, heappush

from ai_core.errors import whole_number
from ai_core.senses.source_table import SourceTable

__all__ = ["MOST_CLUES", "Clues"]

MOST_CLUES = 1024
"""Default of the most clues at a time (count). More show a longer past, and make every look more expensive."""


class Clues:
    """Clues among the sources, and when each expires.

    Args:
        maximum: most clues at a time; a further one replaces the one that expires first.

    Attributes:
        gone: a heap of (time of expiry (s), id of the source).
    """

    def __init__(self, maximum: int = MOST_CLUES) -> None:
        self._maximum = whole_number("max_clues", maximum, minimum=1)
        self.gone: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.gone)

    def add(self, source_id: int, until_s: float) -> None:
        """Add a source that expires at a time (s)."""
        heappush(self.gone, (until_s, source_id))

    def make_room(self, sources: SourceTable) -> None:
        """Remove the clues that expire first if there is no room for another."""
        self._drop_removed(sources)
        while len(self.gone) >= self._maximum:
            sources.remove(heappop(self.gone)[1])

    def expire(self, sources: SourceTable, now_s: float) -> None:
        """Remove the clues that have expired.

        Cost: O(1) while none has.
        """
        while self.gone and self.gone[0][0] <= now_s:
            _, source_id = heappop(self.gone)
            if sources.ids.knows(source_id):
                sources.remove(source_id)

    def collect(self, sources: SourceTable) -> None:
        """Find the clues among the sources, after loading."""
        self.gone = [
            (one.clue.until_s, source_id)
            for source_id, one in sources.details.items() if one.clue is not None
        ]
        heapify(self.gone)

    def _drop_removed(self, sources: SourceTable) -> None:
        if not all(sources.ids.knows(one) for _, one in self.gone):
            self.gone = [one for one in self.gone if sources.ids.knows(one[1])]
            heapify(self.gone)
