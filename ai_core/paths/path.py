"""Result of a search: the cells of a path, its cost, and whether it leads to a goal."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Path", "PathState"]

PathState = Literal["found", "partial", "none"]
"""The path leads to a goal ("found"), to the nearest reachable cell ("partial"), or does not exist ("none")."""


@dataclass(frozen=True, eq=False, slots=True)
class Path:
    """Path from a start.

    Attributes:
        state: "found", "partial" or "none".
        cells: (n,) int32, cells from the start to the end; empty if there is no path. Read-only.
        cost: total cost of all moves; ``inf`` if there is no path.
        expanded: number of cells that the search expanded.
        bound: upper limit of the ratio of ``cost`` to the cost of the cheapest path, 1 or more.
    """

    state: PathState
    cells: NDArray[np.int32]
    cost: float
    expanded: int
    bound: float = 1.0

    @property
    def is_found(self) -> bool:
        """True if the path leads to a goal."""
        return self.state == "found"

    @property
    def end(self) -> int | None:
        """Last cell of the path; None if the path is empty."""
        return int(self.cells[-1]) if len(self.cells) else None

    def places(self, width: int) -> NDArray[np.int32]:
        """Return rows and columns of the cells, (n, 2) int32, on a grid with ``width`` columns."""
        return np.stack(np.divmod(self.cells, np.int32(width)), axis=1)
