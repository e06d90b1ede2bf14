"""What a search found: the cells of a way, its cost, and whether it gets there."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Path", "PathState"]

PathState = Literal["found", "partial", "none"]
"""It leads to a goal; to the nearest cell that can be reached; or there is no way at all."""


@dataclass(frozen=True, eq=False, slots=True)
class Path:
    """A way from a start.

    Attributes:
        state: whether it leads to a goal.
        cells: (n,) int32, from the start to the last; empty if there is none. Read-only.
        cost: of all its moves; ``inf`` if there is no way at all.
        expanded: cells that were expanded to find it, which is what it took.
        bound: it costs at most so many times what the cheapest way does.
    """

    state: PathState
    cells: NDArray[np.int32]
    cost: float
    expanded: int
    bound: float = 1.0

    @property
    def is_found(self) -> bool:
        """True if it leads to a goal."""
        return self.state == "found"

    @property
    def end(self) -> int | None:
        """Its last cell; None if there is none."""
        return int(self.cells[-1]) if len(self.cells) else None

    def places(self, width: int) -> NDArray[np.int32]:
        """Return rows and columns of its cells, (n, 2), on a grid of that width."""
        return np.stack(np.divmod(self.cells, np.int32(width)), axis=1)
