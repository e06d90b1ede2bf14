"""A batch of lines of sight to ask."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LineQuery"]


class LineQuery(NamedTuple):
    """Pairs to ask: for each the modality, its row among the pairs of the modality, and its line (m)."""

    modality: NDArray[np.intp]
    row: NDArray[np.int64]
    sensor_ids: NDArray[np.int32]
    source_ids: NDArray[np.int32]
    eyes: NDArray[np.float32]
    targets: NDArray[np.float32]

    def part(self, first: int, end: int) -> LineQuery:
        """Return the pairs from an index to another."""
        if first == 0 and end >= len(self.row):
            return self
        rows = slice(first, end)
        return LineQuery(
            self.modality[rows], self.row[rows], self.sensor_ids[rows], self.source_ids[rows],
            self.eyes[rows], self.targets[rows])
