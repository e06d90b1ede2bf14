"""PathFollower: walking along the points of a path, on its floors."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import nearest_piece
from addons.ai_core.nodes.walking.path_height import BLOCKED_M, STANDS_WITHIN_M, HeightAbovePath, Point, apart

Floats = NDArray[np.float32]

CORNER = 0.5
"""Largest distance before an inner point of a path at which the mover turns to the next (m, in 2D pixels), whatever
the arrival distance: turning much earlier leads into obstacles."""


class PathFollower:
    """A walk along one path.

    Args:
        memory: plain values that the caller keeps between calls; call ``forget_progress`` before another path. "climbs"
            is whether the segment to the next point needs climbing, "has_more" whether further points follow.
        falls: whether floors carry the mover, as in ``HeightAbovePath``.
    """

    def __init__(self, memory: dict[str, Any], *, falls: bool) -> None:
        self._memory, self._falls = memory, falls

    def next(
        self, points: Floats, here: Any, arrival: float, *, stands: bool = True, is_blocked: bool = False,
        began: Any = None,
    ) -> tuple[Any, str]:
        """Return the next position to go to, and "going", "arrived", or "off_path" on another floor than the path.

        Args:
            points: points of the path, (n, 2) or (n, 3); n at least 1.
            here: present position.
            arrival: horizontal distance at which a point is reached, on its floor (m); inner points are reached when
                passed, or within ``CORNER``.
            stands: whether the mover is on the ground; in the air it does not arrive. The state is "off_path" if it
                stood on a floor of the path before, and now stands on another.
            is_blocked: whether an obstacle such as a step blocks the mover; points where the path rises are then
                reached from ``BLOCKED_M`` away.
            began: position at the start of the path, if the mover has moved meanwhile.

        Cost: O(points) at first, then O(1).
        """
        memory, place = self._memory, tuple(here)
        climbed = memory.get("climbs", False) and not stands
        memory["climbs"] = memory["has_more"] = False
        height = HeightAbovePath(memory, falls=self._falls) if points.shape[1] == 3 else None
        if "step" not in memory:
            memory["step"], memory["join"] = joined(points, place)
            if height is not None:
                first = points[0].tolist()
                height.note(first, first, tuple(began or here))
        while memory["step"] < len(points):
            number, join = memory["step"], memory.get("join")
            is_last = number == len(points) - 1 and not join
            before, after = (join, join) if join else (points[max(0, number - 1)].tolist(), points[number].tolist())
            reach = arrival if is_last or is_past(before, after, place) else min(arrival, CORNER)
            if height is None:
                if apart(after, place) > reach:
                    memory["has_more"] = not is_last
                    return type(here)(*after), "going"
            else:
                off_m = height.note(before, after, place)
                if stands and "from_m" not in memory:       # a body knows that it stands only after it moved
                    memory["from_m"] = height.above_m
                is_under = is_blocked and number + 1 < len(points) and points[number + 1][1] > points[number][1]
                has_arrived = height.has_reached(after, place, BLOCKED_M if is_under else reach)
                if not has_arrived or (is_last and not stands):
                    memory["has_more"] = not is_last
                    memory["climbs"] = height.climbs(before, after, place, climbed=climbed)
                    stop = type(here)(after[0], after[1] + height.kept_m, after[2])
                    return (stop, "going") if self._is_on_it(off_m, stands) else (here, "off_path")
            climbed = False
            if stands:
                memory["from_m"] = memory.get("above_m", 0.0)
            memory["join"], memory["step"] = None, number if join else number + 1
        return here, "arrived"

    def _is_on_it(self, off_m: float, stands: bool) -> bool:
        if abs(off_m) <= STANDS_WITHIN_M:
            self._memory["stood"] = stands or self._memory.get("stood", False)
            return True
        return not (stands and self._memory.get("stood", False))


def forget_progress(memory: dict[str, Any]) -> None:
    """Forget the progress along a path, but not the height above it."""
    for key in ("step", "join", "stood", "from_m", "climbs", "has_more"):
        memory.pop(key, None)


def point_ahead(memory: dict[str, Any]) -> tuple[Any, Any]:
    """Return an identifier of the point that the mover goes to, which changes when the point is reached."""
    return memory.get("step"), memory.get("join")


def is_past(before: Point, after: Point, place: Point) -> bool:
    """Return whether a position is horizontally past the end of a segment."""
    return (place[0] - after[0]) * (after[0] - before[0]) + (place[-1] - after[-1]) * (after[-1] - before[-1]) >= 0


def joined(points: Floats, here: Point) -> tuple[int, list[float] | None]:
    """Return the number of the point to go to, and the nearest position on the path on the same floor.

    Args:
        points: points of the path, (n, 2) or (n, 3).
        here: present position.

    Cost: O(n).
    """
    piece, nearest = nearest_piece(points, here, STANDS_WITHIN_M)
    return piece + 1, nearest
