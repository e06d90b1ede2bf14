"""What searches on a grid write into, kept for the next one."""
from __future__ import annotations

import ai_core.paths.searches.bucket_search as bucket_search
import ai_core.paths.searches.canonical_field as canonical_field
import ai_core.paths.searches.canonical_moves as canonical_moves
import ai_core.paths.searches.canonical_search as canonical_search
import ai_core.paths.searches.repairing_search as repairing_search
from ai_core.errors import shown
from ai_core.maps.passage import Passage
from ai_core.paths.searches.bucket_search import BucketSearch
from ai_core.paths.searches.canonical_field import CanonicalField
from ai_core.paths.searches.jump_search import JumpSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.repairing_search import RepairingSearch
from ai_core.paths.searches.walking_search import WalkingSearch

__all__ = ["SearchMemory"]


class SearchMemory:
    """Memory for one search at a time on one passage: 16 bytes a cell, 8 where
    ``canonical_moves`` suit it; 24 more with jumps, 16 for anytime searches.

    Making it costs as much as a short search. Beginning another search in it is O(1),
    interpreted O(what the last one touched).

    Args:
        passage: where searches will be.
        jumps: of the same passage; searches use them while they are done and worthwhile.

    Raises:
        TypeError: if they are none.
        ValueError: if the jumps are of another passage.

    Attributes:
        passage: where.
        holder: whose search runs in it now, or None.
    """

    __slots__ = ("_buckets", "_canonical", "_field", "_jumping", "_jumps", "_repairing", "holder", "passage")

    def __init__(self, passage: Passage, jumps: JumpTable | None = None) -> None:
        if not isinstance(passage, Passage):
            raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
        self.passage = passage
        self.holder: object = None
        self._canonical: WalkingSearch | None = None
        self._field: CanonicalField | None = None
        self._buckets: BucketSearch | None = None
        self._jumping: JumpSearch | None = None
        self._repairing: RepairingSearch | None = None
        self.jumps = jumps

    @property
    def jumps(self) -> JumpTable | None:
        """What tells searches how far they may jump; None lets them walk."""
        return self._jumps

    @jumps.setter
    def jumps(self, jumps: JumpTable | None) -> None:
        if jumps is not None and not isinstance(jumps, JumpTable):
            raise TypeError(f"jumps must be a JumpTable or None, got {shown(jumps)}")
        if jumps is not None and jumps.passage is not self.passage:
            raise ValueError("jumps must be of the passage of the memory, got those of another")
        self._jumps, self._jumping = jumps, None

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

    def walking(self) -> WalkingSearch:
        """Return the search that goes from cell to cell, and suits the passage as it is now."""
        if not canonical_moves.suits(self.passage):
            return self.spreading()
        if self._canonical is None:
            self._canonical = canonical_search.canonical_search(self.passage.open_moves)
        return self._canonical

    def even_field(self) -> CanonicalField:
        """Return what makes fields while ``canonical_moves`` suit the passage."""
        if self._field is None:
            self._field = canonical_field.canonical_field(self.passage.open_moves)
        return self._field

    def spreading(self) -> BucketSearch:
        """Return the search that goes from cell to cell on any passage, also from goals to all cells."""
        if self._buckets is None:
            self._buckets = bucket_search.bucket_search(
                self.passage.open_moves, self.passage.costs, self.passage.moves
            )
        return self._buckets

    def repairing(self) -> RepairingSearch:
        """Return the search that makes its way better and better."""
        if self._repairing is None:
            self._repairing = repairing_search.repairing_search(
                self.passage.open_moves, self.passage.costs, self.passage.moves
            )
        return self._repairing

    def jumping(self) -> JumpSearch | None:
        """Return the search that jumps; None if it may not, or should not."""
        if self._jumps is None or not self._jumps.is_worthwhile:
            return None
        if self._jumping is None:
            self._jumping = self._jumps.search()
        return self._jumping
