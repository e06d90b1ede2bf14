"""What a search on a grid writes into, kept for the next one."""
from __future__ import annotations

import ai_core.paths.bucket_search as bucket_search
from ai_core.errors import shown
from ai_core.maps.passage import Passage

__all__ = ["SearchMemory"]


class SearchMemory:
    """Memory for one search at a time on one passage: 16 bytes a cell (interpreted 13).

    Making it costs as much as a short search. Beginning another search in it is O(1),
    interpreted O(what the last one touched).

    Args:
        passage: where searches will be.

    Raises:
        TypeError: if it is none.

    Attributes:
        passage: where.
        buckets: the search that runs in it, or ran in it last.
        holder: whose search runs in it now, or None.
    """

    __slots__ = ("buckets", "holder", "passage")

    def __init__(self, passage: Passage) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        self.passage = passage
        self.buckets = bucket_search.bucket_search(passage.open_moves, passage.costs, passage.moves)
        self.holder: object = None

    def take(self, passage: object, holder: object) -> None:
        """Have a search run in it.

        Raises:
            ValueError: if it is of another passage, or another search runs in it.
        """
        if passage is not self.passage:
            raise ValueError("memory must be of the passage searched, got one of another; make one for each")
        if self.holder not in (None, holder):
            raise ValueError("memory is in use by a search that is not over; finish or cancel it, or take another")
        self.holder = holder
