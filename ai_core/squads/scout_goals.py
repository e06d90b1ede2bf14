"""Where scouts look next: what was not seen for longest, near, and not in the enemy's fire."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number
from ai_core.maps.map_area import MapArea

__all__ = ["scout_goals"]

THREAT_WEIGHT_S = 20.0
"""Age a cell must have more for each unit of threat there (s)."""

APART_SHARE = 0.2
"""Two scouts are not sent nearer to each other than this share of the map's longer side."""


def scout_goals(
    area: MapArea, ages_s: NDArray[np.float32], threat: NDArray[np.float32],
    scouts: Mapping[int, tuple[float, float]], *, stale_after_s: float, seconds_per_m: float = 0.5,
    is_open: NDArray[np.bool_] | None = None,
) -> dict[int, tuple[float, float]]:
    """Return for each scout where to go; who has nothing to look at is left out.

    Each goes where the age of what is known, less the time to get there and the danger, is
    largest; in the order of their ids, and apart from each other. Of equal cells the smallest number.

    Args:
        area: where the map lies.
        ages_s: (height, width), how long ago each cell was seen (s).
        threat: (height, width), 0 or more.
        scouts: by id, where each is (m).
        stale_after_s: younger cells are known well enough (s), 0 or more.
        seconds_per_m: what a metre of way counts (s).
        is_open: (height, width), cells one can go to; None for all.

    Raises:
        TypeError, ValueError: if a number is out of range.

    Cost: O(cells × scouts).
    """
    finite_number("stale_after_s", stale_after_s, minimum=0)
    height, width = area.shape
    middles = area.centers_of(np.arange(area.size)).reshape(height, width, 2)
    worth = ages_s - np.float32(THREAT_WEIGHT_S) * threat
    is_stale = ages_s >= np.float32(stale_after_s)
    if is_open is not None:
        is_stale = is_stale & is_open
    apart_m = APART_SHARE * max(height, width) * area.cell_m
    goals: dict[int, tuple[float, float]] = {}
    for scout in sorted(scouts):
        if not is_stale.any():
            break
        way_m = np.hypot(*np.moveaxis(middles - np.asarray(scouts[scout], np.float32), 2, 0))
        wanted = np.where(is_stale, worth - np.float32(seconds_per_m) * way_m, -np.inf)
        cell = int(wanted.argmax())
        goals[scout] = area.center_of(cell)
        is_stale = is_stale & (np.hypot(*np.moveaxis(middles - np.asarray(goals[scout], np.float32), 2, 0)) >= apart_m)
    return goals
