"""How high a mover goes above its way: as high as it stands, for maps lie above or below the floor."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

STANDS_WITHIN_M = 2.0
"""A mover is on its way if it is no higher above it, or deeper below it, than this (m).

Ways over grids begin in the middle of a cell, and origins of characters may be in their middles. Less than a floor.
"""

STEEP = 2.0
"""What rises so many times as far as it leads is no slope but a lift, a ladder or a drop: 63 degrees."""

BESIDE_M = 0.5
"""Who is farther beside his way than this was pushed off it, and falls (m)."""

BARRED_M = 0.6
"""What bars somebody this near before the place where his way rises is what it rises over, as a step (m): bodies are
so far before that place as they are thick."""

LEVEL_M = 0.75
"""At the end of what is steep one is this near to its height (m): a baked map lies up to 0.5 m above the floor."""

GROUNDED = 0
"""The motion mode of bodies that stand on floors."""

Point = Sequence[float]


def apart(one: Any, other: Any) -> float:
    """Return how far two places are apart; in 3D seen from above, for a character's middle is above the ground."""
    first, second = tuple(one), tuple(other)
    return math.hypot(first[0] - second[0], first[-1] - second[-1])


def is_elsewhere(one: Any, other: Any, reach: float) -> bool:
    """Return whether two places are farther apart than ``reach``, or on different floors."""
    first, second = tuple(one), tuple(other)
    return apart(first, second) > reach or (len(first) == 3 and abs(first[1] - second[1]) > STANDS_WITHIN_M)


class HeightAbovePath:
    """How high somebody is above a way in 3D, from call to call.

    On slopes it goes along with the way from wherever it is, so that floors, gravity and jumps may lift and lower it;
    on lifts, ladders and drops it is as high above as it was before.

    Args:
        memory: kept between calls, plain values.
        falls: whether floors carry it; else it keeps the height at which it set out, if that was near the way.
    """

    def __init__(self, memory: dict[str, Any], *, falls: bool) -> None:
        self._memory, self._falls = memory, falls
        self._at: float | None = None                    # of the piece it is on, None if that is steep

    @property
    def above_m(self) -> float:
        """How high above the way it goes (m)."""
        return float(self._memory.get("above_m", 0.0))

    def note(self, before: Point, after: Point, here: Any) -> float:
        """Note where it is on a piece of its way; return how far it is off the height it should be at (m)."""
        at = self._at = height_at(before, after, here)
        if at is None:
            return 0.0
        if self._falls or "above_m" not in self._memory:
            above = here.y - at
            self._memory["above_m"] = above if abs(above) <= STANDS_WITHIN_M else self.above_m
        return float(here.y - at - self.above_m)

    @property
    def kept_m(self) -> float:
        """How high above the end of a piece it is to come: as at its beginning where it climbs."""
        from_m = self._memory.get("from_m", self.above_m)
        return float(from_m) if self._memory.get("climbs") else self.above_m

    def climbs(self, before: Point, after: Point, here: Any, *, climbed: bool) -> bool:
        """Return whether floors do not lead along the piece noted: it is steep, or leads over them, as links do.

        Args:
            before, after, here: as noted.
            climbed: whether it climbed there before, and is in the air still: it would fall again and again.
        """
        if self._at is None:
            return True
        sunk_m = self._memory.get("from_m", self.above_m) - self.above_m
        return self._falls and (climbed or sunk_m > LEVEL_M) and beside(before, after, here) <= BESIDE_M

    def has_reached(self, after: Point, here: Any, reach: float) -> bool:
        """Return whether it is at the end of the piece noted: so near seen from above, and on its floor."""
        if self._at is not None:
            most_m, above_m = STANDS_WITHIN_M, self.above_m
        else:
            most_m, above_m = LEVEL_M if self._falls else reach, float(self._memory.get("from_m", self.above_m))
        return apart(after, here) <= reach and abs(here.y - above_m - after[1]) <= most_m


def height_at(before: Point, after: Point, here: Any) -> float | None:
    """Return the height of a piece of a way where that is nearest to a place, seen from above; None if it is steep."""
    length, rise = apart(before, after), after[1] - before[1]
    if abs(rise) > STEEP * length:
        return None
    return float(before[1] + _share(before, after, here) * rise)


def beside(before: Point, after: Point, here: Any) -> float:
    """Return how far beside a piece of a way a place is, seen from above (m)."""
    share = _share(before, after, here)
    return apart([one + share * (other - one) for one, other in zip(before, after, strict=True)], here)


def _share(before: Point, after: Point, here: Any) -> float:
    across, along = after[0] - before[0], after[2] - before[2]
    length = math.hypot(across, along)
    if not length:
        return 1.0
    return min(1.0, max(0.0, ((here.x - before[0]) * across + (here.z - before[2]) * along) / length**2))
