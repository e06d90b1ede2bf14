"""Narrow passages: a formation that does not fit through goes in a column, and opens again behind."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ai_core.squads.march_path import MarchPath
from ai_core.squads.marchers import Marchers

__all__ = ["NarrowPassage"]

Floats = NDArray[np.float64]

ELBOW_ROOM = 1.1
"""Least distance of neighbors that walk abreast, in their widths: less and they push each other."""

OPENS_AT = 1.2
"""How much wider than it must be the ground has to be for a column to open again."""

LOOKS_AHEAD = 3.0
"""How far before a narrow part a column forms, in spacings; sooner looks timid, later they queue."""


class NarrowPassage:
    """Tells when a formation must go in a column.

    Attributes:
        is_in_column: whether it does now.
    """

    def __init__(self) -> None:
        self.is_in_column = False

    def looks_to(self, anchor_m: float, spacing_m: float, offsets: Floats) -> float:
        """Return up to which arc the width must be known (m)."""
        return anchor_m + float(offsets[:, 0].max(initial=0)) + (LOOKS_AHEAD + 1) * spacing_m

    def offsets(
        self, anchor_m: float, path: MarchPath, marchers: Marchers, offsets: Floats, spacing_m: float
    ) -> Floats:
        """Return the offsets to march with: those of the formation, or of a column.

        Cost: O(n log n).
        """
        # Who is still inside when it opens comes out in file all the same: lanes are narrow there.
        behind_m, ahead_m = float(offsets[:, 0].min()), self.looks_to(anchor_m, spacing_m, offsets) - spacing_m
        width = path.narrowest(anchor_m + behind_m, ahead_m) if path.has_walls else np.inf
        needed = 0.0 if width == np.inf else _needed_width(offsets, 2 * float(marchers.radii.max()) * ELBOW_ROOM)
        if needed == 0:
            self.is_in_column = False
            return offsets
        self.is_in_column = width < needed * (OPENS_AT if self.is_in_column else 1.0)
        return _as_column(marchers.slots, offsets, spacing_m) if self.is_in_column else offsets


def _needed_width(offsets: Floats, elbow_m: float) -> float:
    """Return how wide the ground must be for those who walk abreast (m), for middles; 0 for a column."""
    ahead = np.sort(offsets[:, 0])
    abreast = np.searchsorted(ahead, ahead + 0.99 * elbow_m) - np.arange(len(ahead))
    return float(abreast.max(initial=1) - 1) * elbow_m


def _as_column(slots: NDArray[np.int32], offsets: Floats, spacing_m: float) -> Floats:
    """Return one file: who is ahead goes ahead, of one rank the middle first; the first slot stays."""
    order = np.lexsort((slots, np.abs(offsets[:, 1]), -np.round(offsets[:, 0], 3)))
    place = np.empty(len(order), np.float64)
    place[order] = np.arange(len(order))
    leader = np.flatnonzero(slots == 0)
    own = place[leader[0]] if len(leader) else 0.0
    return np.stack([(own - place) * spacing_m, np.zeros(len(place))], axis=1)
