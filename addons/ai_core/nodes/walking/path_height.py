"""HeightAbovePath: height of a mover above its path, as navigation maps lie above or below the floor."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

STANDS_WITHIN_M = 2.0
"""Largest height of a mover above or below its path at which it is on the path (m).

Paths over grids begin at the center of a cell, and origins of characters may be at their centers. Less than a storey.
"""

STEEP = 2.0
"""Ratio of rise to length above which a segment is a lift, a ladder or a drop, not a slope: 63 degrees."""

BESIDE_M = 0.5
"""Distance beside its path beyond which a mover was pushed off it, and falls (m)."""

BLOCKED_M = 0.6
"""Distance before a rise of the path within which an obstacle is the step that the path climbs (m): a body stops
before the step by its own radius."""

LEVEL_M = 0.75
"""Largest difference in height at the end of a steep segment (m): a baked map lies up to 0.5 m above the floor."""

GROUNDED = 0
"""The motion mode of bodies that stand on floors."""

Point = Sequence[float]


def apart(one: Point, other: Point) -> float:
    """Return the distance between two positions; in 3D the horizontal one, as a character's center is above ground."""
    return math.hypot(one[0] - other[0], one[-1] - other[-1])


def is_elsewhere(one: Any, other: Any, reach: float) -> bool:
    """Return whether two positions are farther apart than ``reach``, or on different floors."""
    first, second = tuple(one), tuple(other)
    return apart(first, second) > reach or (len(first) == 3 and abs(first[1] - second[1]) > STANDS_WITHIN_M)


class HeightAbovePath:
    """Height of a mover above a path in 3D.

    On slopes it follows the mover, so that floors, gravity and jumps may lift and lower it; on lifts, ladders and
    drops it keeps its last value.

    Args:
        memory: plain values that the caller keeps between calls.
        falls: whether floors carry the mover; otherwise it keeps its initial height, if that was near the path.
    """

    def __init__(self, memory: dict[str, Any], *, falls: bool) -> None:
        self._memory, self._falls = memory, falls
        self._at: float | None = None                    # height of the present segment, None if it is steep

    @property
    def above_m(self) -> float:
        """Height above the path (m)."""
        return float(self._memory.get("above_m", 0.0))

    def note(self, before: Point, after: Point, here: Point) -> float:
        """Note the position on a segment of the path; return the deviation from the wanted height (m)."""
        at = self._at = height_at(before, after, here)
        if at is None:
            return 0.0
        if self._falls or "above_m" not in self._memory:
            above = here[1] - at
            self._memory["above_m"] = above if abs(above) <= STANDS_WITHIN_M else self.above_m
        return float(here[1] - at - self.above_m)

    @property
    def kept_m(self) -> float:
        """Wanted height above the end of a segment (m): as at its start while climbing."""
        from_m = self._memory.get("from_m", self.above_m)
        return float(from_m) if self._memory.get("climbs") else self.above_m

    def climbs(self, before: Point, after: Point, here: Point, *, climbed: bool) -> bool:
        """Return whether the noted segment needs climbing: it is steep, or not on a floor, such as a link.

        Args:
            before, after, here: as passed to ``note``.
            climbed: whether the mover climbed before and is still in the air; it would fall repeatedly otherwise.
        """
        if self._at is None:
            return True
        sunk_m = self._memory.get("from_m", self.above_m) - self.above_m
        return self._falls and (climbed or sunk_m > LEVEL_M) and beside(before, after, here) <= BESIDE_M

    def has_reached(self, after: Point, here: Point, reach: float) -> bool:
        """Return whether the mover is at the end of the noted segment: within ``reach`` horizontally, on its floor."""
        if self._at is not None:
            most_m, above_m = STANDS_WITHIN_M, self.above_m
        else:
            most_m, above_m = LEVEL_M if self._falls else reach, float(self._memory.get("from_m", self.above_m))
        return apart(after, here) <= reach and abs(here[1] - above_m - after[1]) <= most_m


def height_at(before: Point, after: Point, here: Point) -> float | None:
    """Return the height of a segment at its horizontally nearest point to a position; None if it is steep."""
    length, rise = apart(before, after), after[1] - before[1]
    if abs(rise) > STEEP * length:
        return None
    return float(before[1] + _share(before, after, here) * rise)


def beside(before: Point, after: Point, here: Point) -> float:
    """Return the horizontal distance of a position from a segment (m)."""
    share = _share(before, after, here)
    return apart([one + share * (other - one) for one, other in zip(before, after, strict=True)], here)


def _share(before: Point, after: Point, here: Point) -> float:
    across, along = after[0] - before[0], after[2] - before[2]
    length = math.hypot(across, along)
    if not length:
        return 1.0
    return min(1.0, max(0.0, ((here[0] - before[0]) * across + (here[2] - before[2]) * along) / length**2))
