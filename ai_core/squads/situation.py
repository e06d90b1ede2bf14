"""What a commander knows when he chooses a tactic: his own, whom they meet, and who is at risk."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import LARGEST, finite_number, numbers, shown, whole_number
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.commander import SquadMember
from ai_core.squads.march_path import plane_axes
from ai_core.squads.standing import Standing

__all__ = ["Sighting", "TacticalSituation"]

Floats = NDArray[np.float64]

RISK_REACH_M = 10.0
"""Distance at which a threat is half as dangerous as beside it (m)."""


@dataclass(frozen=True)
class Sighting:
    """An enemy that is met, as far as the squad knows.

    Attributes:
        enemy_id: of the game.
        position: where it was seen last (m).
        capabilities: what it is and can do; None if that is not known.
        threat: how dangerous it is beside others, 0 or more.
    """

    enemy_id: int
    position: tuple[float, ...]
    capabilities: Capabilities | None = None
    threat: float = 1.0

    def __post_init__(self) -> None:
        whole_number("enemy_id", self.enemy_id, minimum=0)
        finite_number("threat", self.threat, minimum=0, maximum=1e6)
        array = numbers("position", self.position)
        place = tuple(array.ravel().tolist())
        if array.shape not in ((2,), (3,)) or not all(-LARGEST <= one <= LARGEST for one in place):
            raise ValueError(f"position must be 2 or 3 finite coordinates, got {shown(self.position)}")
        object.__setattr__(self, "position", place)


class TacticalSituation:
    """All that a tactic plans by; arrays have one row each member, by ascending id, or each enemy.

    Attributes:
        now_s: game time (s).
        members: by id.
        ids: (n,) of members.
        positions: (n, d) of members (m).
        enemies: as they were sighted.
        enemy_positions: (m, d) (m).
        risks: (n,) how much each member is threatened: the sum of threats, less with distance.
        goal: of the squad's order, (d,) m, or None.
        heading: (2,) where the squad looks.
        standing: where one can stand nearest to places; None for open ground.
    """

    def __init__(
        self, members: Mapping[int, SquadMember], positions: Floats, enemies: Sequence[Sighting],
        *, now_s: float = 0.0, goal: Floats | None = None, heading: Floats | None = None,
        standing: Standing | None = None,
    ) -> None:
        self.now_s, self.members, self.positions, self.enemies = now_s, members, positions, tuple(enemies)
        self.ids = np.array(list(members), np.int32)
        self._rows = {one: row for row, one in enumerate(members)}
        dimensions = positions.shape[1]
        self.enemy_positions = np.array([one.position for one in self.enemies], np.float64).reshape(-1, dimensions)
        self.goal = goal
        self.heading = np.array([1.0, 0.0]) if heading is None else heading
        threats = np.array([one.threat for one in self.enemies])
        ways = positions[:, None] - self.enemy_positions[None]
        self.risks: Floats = (threats / (1 + (ways ** 2).sum(axis=2) / RISK_REACH_M ** 2)).sum(axis=1)
        self._axes = plane_axes(dimensions)
        self._standing = standing

    def posts(self, wanted: Sequence[Floats]) -> list[Floats]:
        """Return places for members to go to, each where one can stand, as near as can be.

        Raises:
            ValueError: if what was handed in returns something else than as many finite places.
        """
        if self._standing is None or not len(wanted):
            return list(wanted)
        asked = np.array(wanted)
        found = np.asarray(self._standing(asked.copy()), np.float64)
        if found.shape != asked.shape or not np.isfinite(found).all():
            raise ValueError(f"standing must return {asked.shape} finite places, got {shown(found)}")
        return list(found)

    @property
    def met(self) -> Force:
        """The enemies whose capabilities are known."""
        return Force.of_members(one.capabilities for one in self.enemies if one.capabilities is not None)

    def place(self, member_id: int) -> Floats:
        """Return where a member is (m)."""
        place: Floats = self.positions[self._rows[member_id]]
        return place

    def risk(self, member_id: int) -> float:
        """Return how much a member is threatened."""
        return float(self.risks[self._rows[member_id]])

    def nearest_enemy(self, place: Floats) -> int | None:
        """Return the index of the enemy nearest to a place, None if nobody is met."""
        if not self.enemies:
            return None
        return int(((self.enemy_positions - place) ** 2).sum(axis=1).argmin())

    def away_from_enemies(self, place: Floats) -> Floats:
        """Return the direction from the middle of the enemies to a place, (d,) of length 1."""
        if self.enemies:
            return self.direction(self.enemy_positions.mean(axis=0), place)
        return -self.in_plane(self.heading)

    def direction(self, start: Floats, end: Floats) -> Floats:
        """Return the direction from one place to another, (d,) of length 1; where the squad looks if they are one."""
        way = end - start
        length = math.sqrt(float((way ** 2).sum()))
        return way / length if length > 1e-9 else self.in_plane(self.heading)

    def right_of(self, direction: Floats) -> Floats:
        """Return the direction to the right of another, in the plane, (d,) of length 1."""
        flat = direction[list(self._axes)]
        length = math.sqrt(float((flat ** 2).sum()))
        flat = flat / length if length > 1e-9 else self.heading
        return self.in_plane(np.array([-flat[1], flat[0]]))

    def in_plane(self, flat: Floats) -> Floats:
        """Return a direction of the plane with all coordinates, (d,)."""
        full = np.zeros(self.positions.shape[1])
        full[list(self._axes)] = flat
        return full
