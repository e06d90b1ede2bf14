"""Which lines of sight are asked for next."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LineQuery"]


class LineQuery(NamedTuple):
    """Pairs whose turn it is: for each the modality, its row among the pairs, and the line between (m)."""

    modality: NDArray[np.intp]
    row: NDArray[np.int64]
    sensor_ids: NDArray[np.int32]
    source_ids: NDArray[np.int32]
    eyes: NDArray[np.float32]
    targets: NDArray[np.float32]

    def part(self, first: int, end: int) -> LineQuery:
        """Return those from one to another."""
        if first == 0 and end >= len(self.row):
            return self
        rows = slice(first, end)
        return LineQuery(
            self.modality[rows], self.row[rows], self.sensor_ids[rows], self.source_ids[rows],
            self.eyes[rows], self.targets[rows])
