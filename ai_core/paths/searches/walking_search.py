"""Interface of cell-by-cell searches on grids."""
from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOWHERE", "WalkingSearch"]

NOWHERE = -1
"""Cell number that stands for no cell."""


class WalkingSearch(Protocol):
    """Memory for consecutive searches on one passage."""

    def begin(self, start: int, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        """Discard the last search and start a new one.

        Args:
            start: start cell.
            goals: (n,) int32, at least one goal cell, ascending.
            least_cost: lowest cost of a cell that can be entered; 0 disables estimates.
            most_cost: highest cost of a cell that can be entered.
        """

    def advance(self, most: int, /) -> int:
        """Expand up to ``most`` cells; return their number: less than ``most`` when the search ends."""

    @property
    def is_done(self) -> bool:
        """True when a goal is reached at the lowest cost, or no goal can be reached."""

    @property
    def reached(self) -> int:
        """Goal reached at the lowest cost so far, or ``NOWHERE``."""

    def cost_to(self, cell: int, /) -> float:
        """Return the cost of the path found to a cell, ``inf`` without a path."""

    def path_to(self, cell: int, /) -> NDArray[np.int32]:
        """Return the cells of the path from the start to a cell, (n,) int32."""

    def nearest(self) -> int:
        """Return the expanded cell nearest to the goals; ties go to the lower cost, then the smaller number."""
