"""A formation as its members have taken their slots, and what follows from these: made once, and not at each step."""
from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["MarchingShape"]

Floats = NDArray[np.float64]

ELBOW_ROOM = 1.1
"""Least distance of neighbors that walk abreast, in their widths: less and they push each other."""


class MarchingShape:
    """Slots of members as they are now.

    Args:
        slots: (n,) of each member; one that is not there counts as the nearest that is.
        places: (m, 2) where slots are, ahead and to the right (m); read only.
        radii: (n,) half the widths of members (m).
        spacing_m: of the formation.

    Attributes:
        offsets: (n, 2) of everybody's slot (m).
        is_whole: whether all have a slot that is there.
        body_m: half the width of the widest.
        aside_m: how far lanes reach to each side (m).
        reach_m: how far the path must go beyond its ends (m).
        ahead_m: how far the foremost is ahead of the commander's slot (m), 0 or more.
        behind_m: the offset of the hindmost (m).
    """

    def __init__(self, slots: NDArray[np.int32], places: Floats, radii: Floats, spacing_m: float) -> None:
        self._slots, self.spacing_m = slots.copy(), spacing_m
        self.is_whole = bool(((slots >= 0) & (slots < len(places))).all())
        self.offsets = np.ascontiguousarray(places[np.clip(slots, 0, max(0, len(places) - 1))])
        ahead, right = self.offsets.T
        self.body_m = float(radii.max())
        self.aside_m = float(np.abs(right).max()) + spacing_m
        self.reach_m = max(float(np.abs(ahead).max()), spacing_m * (len(radii) - 1)) + spacing_m
        self.ahead_m, self.behind_m = float(ahead.max(initial=0)), float(ahead.min())

    @cached_property
    def needed_m(self) -> float:
        """How wide the ground must be for those who walk abreast (m), for middles; 0 for a column."""
        elbow_m = 2 * self.body_m * ELBOW_ROOM
        ahead = np.sort(self.offsets[:, 0])
        abreast = np.searchsorted(ahead, ahead + 0.99 * elbow_m) - np.arange(len(ahead))
        return float(abreast.max(initial=1) - 1) * elbow_m

    @cached_property
    def column(self) -> Floats:
        """Offsets in one file: who is ahead goes ahead, of one rank the middle first; the first slot stays."""
        slots, offsets = self._slots, self.offsets
        order = np.lexsort((slots, np.abs(offsets[:, 1]), -np.round(offsets[:, 0], 3)))
        place = np.empty(len(order), np.float64)
        place[order] = np.arange(len(order))
        commander = np.flatnonzero(slots == 0)
        own = place[commander[0]] if len(commander) else 0.0
        return np.stack([(own - place) * self.spacing_m, np.zeros(len(place))], axis=1)
