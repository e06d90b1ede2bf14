"""The ground the guards walk on: a yard with walls, and bodies that move on it."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, Number

Place = tuple[float, float]
"""A place on the ground (m): x, z. The senses get it as (x, 0, z)."""

SIZE: Place = (40.0, 30.0)
WALLS = np.array([  # x, z of one corner, x, z of the opposite one (m)
    [8.0, 6.0, 9.0, 16.0], [16.0, 14.0, 24.0, 15.0], [30.0, 4.0, 31.0, 14.0], [14.0, 22.0, 26.0, 23.0],
])


def line_of_sight(eyes, targets, _sensor_ids, _source_ids):
    """Return which of many lines cross no wall; shapes (n, 3), (n, 3) to (n,)."""
    start = eyes[:, None, ::2].astype(np.float64)
    offset = targets[:, None, ::2].astype(np.float64) - start
    # A line along a wall never meets its ends: a tiny slope stands in for none.
    offset = np.where(np.abs(offset) < 1e-9, 1e-9, offset)
    one, other = (WALLS[None, :, :2] - start) / offset, (WALLS[None, :, 2:] - start) / offset
    enters = np.minimum(one, other).max(axis=2)
    leaves = np.maximum(one, other).min(axis=2)
    return ~((enters <= leaves) & (leaves >= 0) & (enters <= 1)).any(axis=1)


def is_free(place: Place) -> bool:
    """Return True if one can stand there."""
    x, z = place
    if not (0 <= x <= SIZE[0] and 0 <= z <= SIZE[1]):
        return False
    return not any(a <= x <= c and b <= z <= d for a, b, c, d in WALLS.tolist())


def distance_m(one: Place, other: Place) -> float:
    """Return how far two places are from each other (m)."""
    return math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2)


PLACE = ListOf(Number(), count=2, make=tuple)


class Body(Saveable):
    """A character with a position and a direction that walks to a goal."""

    STATE = DeclaredState(
        place=PLACE, facing=PLACE, goal=PLACE, speed_m_s=Number(0))

    def __init__(self, place: Place, *, speed_m_s: float) -> None:
        self.place = place
        self.facing: Place = (1.0, 0.0)
        self.goal = place
        self.speed_m_s = speed_m_s

    def walk(self, passed_s: float) -> None:
        """Go towards the goal; stop at a wall."""
        away_m = distance_m(self.place, self.goal)
        if away_m > 0:
            x, z = ((there - here) / away_m for here, there in zip(self.place, self.goal, strict=True))
            self.facing = (x, z)
            self.go(self.facing, min(away_m, self.speed_m_s * passed_s))

    def go(self, heading: Place, distance: float) -> None:
        """Go straight, or along one axis where a wall blocks the step."""
        x, z = self.place
        by_x, by_z = heading[0] * distance, heading[1] * distance
        for there in ((x + by_x, z + by_z), (x + by_x, z), (x, z + by_z)):
            if is_free(there):
                self.place = there
                return

    def observe(self) -> dict[str, Any]:
        """Return where it is and where it goes."""
        return {"place": self.place, "facing": self.facing, "goal": self.goal, "speed": self.speed_m_s}
