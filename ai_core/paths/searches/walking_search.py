"""What a search that goes from cell to cell can do, whichever way it does it."""
from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOWHERE", "WalkingSearch"]

NOWHERE = -1
"""A cell that is none."""


class WalkingSearch(Protocol):
    """The memory of searches on one passage, used again by each."""

    def begin(self, start: int, goals: NDArray[np.int32], least_cost: float, most_cost: float) -> None:
        """Forget the last search and begin one.

        Args:
            start: a cell.
            goals: (n,), at least one, ascending.
            least_cost: no cell that can be entered costs less; 0 looks everywhere alike.
            most_cost: none costs more.
        """

    def advance(self, most: int, /) -> int:
        """Expand up to ``most`` cells; return how many: fewer when nothing is left to do."""

    @property
    def is_done(self) -> bool:
        """True if nothing is left to do: the goal is reached at the least cost, or never will be."""

    @property
    def reached(self) -> int:
        """The goal reached at the least cost so far, or ``NOWHERE``."""

    def cost_to(self, cell: int, /) -> float:
        """Return what the way found to a cell costs, ``inf`` if there is none."""

    def way_to(self, cell: int, /) -> bytes:
        """Return the cells of the way found to a cell, from the start, as int32."""

    def nearest(self) -> int:
        """Return the cell expanded that is nearest to the goals; ties go to the cheaper, then the smaller."""
