"""Memory of searches on a grid, reused from search to search."""
from __future__ import annotations

import ai_core.paths.searches.canonical_moves as canonical_moves
from ai_core.described import Described
from ai_core.errors import check_kind, check_type
from ai_core.maps.passage import GridPassage
from ai_core.paths.searches.grid_search_loops import RepairingSearch, UniformField, UniformSearch, WeightedSearch
from ai_core.paths.searches.jump_loops import JumpSearch
from ai_core.paths.searches.jump_table import JumpTable

__all__ = ["SearchMemory"]


class SearchMemory(Described):
    """Memory for one search at a time on one passage.

    It takes 16 bytes per cell, or 8 on passages that suit ``canonical_moves``; 20 more with jumps, and
    16 more for anytime searches. Creating it costs as much as a short search. Starting another search
    in it is O(1).

    Args:
        passage: passage of the searches.
        jumps: jump table of the same passage, used by searches while it is done and worthwhile; None for none.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the jumps belong to another passage.

    Attributes:
        passage: passage of the searches.
        holder: the search that uses the memory now, or None.
    """

    SHOWN = ("passage",)

    __slots__ = ("_buckets", "_canonical", "_field", "_jumping", "_jumps", "_repairing", "holder", "passage")

    def __init__(self, passage: GridPassage, jumps: JumpTable | None = None) -> None:
        check_type("passage", passage, GridPassage)
        self.passage = passage
        self.holder: object = None
        self._canonical: UniformSearch | None = None
        self._field: UniformField | None = None
        self._buckets: WeightedSearch | None = None
        self._jumping: JumpSearch | None = None
        self._repairing: RepairingSearch | None = None
        self.jumps = jumps

    @property
    def jumps(self) -> JumpTable | None:
        """Jump table for the searches; None for searches cell by cell."""
        return self._jumps

    @jumps.setter
    def jumps(self, jumps: JumpTable | None) -> None:
        check_kind("jumps", jumps, JumpTable)
        if jumps is not None and jumps.passage is not self.passage:
            raise ValueError("jumps must belong to the passage of the memory, got those of another")
        self._jumps, self._jumping = jumps, None

    def take(self, passage: object, holder: object) -> None:
        """Reserve the memory for a search.

        Raises:
            ValueError: if the search is on another passage, or another search uses the memory.
        """
        if passage is not self.passage:
            raise ValueError(
                "memory must belong to the passage searched, got one of another; create another")
        if self.holder not in (None, holder):
            raise ValueError("memory is in use by an unfinished search; finish or cancel it, or use another memory")
        self.holder = holder

    def walking(self) -> UniformSearch | WeightedSearch:
        """Return the cell-by-cell search that suits the current passage."""
        if not canonical_moves.suits(self.passage):
            return self.spreading()
        if self._canonical is None:
            self._canonical = UniformSearch(self.passage.open_moves)
        return self._canonical

    def uniform_field(self) -> UniformField:
        """Return the search for flow fields on a passage that suits ``canonical_moves``."""
        if self._field is None:
            self._field = UniformField(self.passage.open_moves)
        return self._field

    def spreading(self) -> WeightedSearch:
        """Return the cell-by-cell search for any passage; it can also spread from goals to all cells."""
        if self._buckets is None:
            self._buckets = WeightedSearch(self.passage.open_moves, self.passage.costs, self.passage.moves)
        return self._buckets

    def repairing(self) -> RepairingSearch:
        """Return the search that improves its path repeatedly."""
        if self._repairing is None:
            self._repairing = RepairingSearch(self.passage.open_moves, self.passage.costs, self.passage.moves)
        return self._repairing

    def jumping(self) -> JumpSearch | None:
        """Return the search with jumps; None if jumps are not available or not worthwhile."""
        if self._jumps is None or not self._jumps.is_worthwhile:
            return None
        if self._jumping is None:
            self._jumping = self._jumps.search()
        return self._jumping
