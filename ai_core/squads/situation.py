"""The tactical situation of a squad: members, enemies and risks, the input of tactics."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.errors import LARGEST, check_kind, finite_number, numbers, shown, whole_number
from ai_core.saving.kinds import Number, Point, Record, Whole
from ai_core.squads.capabilities import CAPABILITIES_STATE, Capabilities, Force
from ai_core.squads.commander import SquadMember
from ai_core.squads.formation_march import plane_axes
from ai_core.squads.free_cells import NearestFree

__all__ = ["SIGHTING_STATE", "Sighting", "TacticalSituation"]

Floats = NDArray[np.float64]

RISK_REACH_M = 10.0
"""Distance at which a threat counts half (m)."""


@dataclass(frozen=True)
class Sighting:
    """An enemy that the squad meets.

    Attributes:
        enemy_id: id given by the game, 0 or more.
        position: last seen position, 2 or 3 coordinates (m).
        capabilities: kind, attack, toughness and healing; None if unknown.
        threat: danger relative to other enemies, 0 or more.

    Raises:
        TypeError, ValueError: if an attribute has a wrong type or is out of range.
    """

    enemy_id: int
    position: tuple[float, ...]
    capabilities: Capabilities | None = None
    threat: float = 1.0

    def __post_init__(self) -> None:
        whole_number("enemy_id", self.enemy_id, minimum=0)
        finite_number("threat", self.threat, minimum=0, maximum=1e6)
        check_kind("capabilities", self.capabilities, Capabilities)
        array = numbers("position", self.position)
        place = tuple(array.ravel().tolist())
        if array.shape not in ((2,), (3,)) or not all(-LARGEST <= one <= LARGEST for one in place):
            raise ValueError(f"position must be 2 or 3 finite coordinates, got {shown(self.position)}")
        object.__setattr__(self, "position", place)


SIGHTING_STATE = Record(
    Sighting, enemy_id=Whole(), position=Point(lambda squad: squad.dimensions), capabilities=CAPABILITIES_STATE,
    threat=Number(0, 1e6))
"""How a sighting of a squad is saved."""


class TacticalSituation(Described):
    """The input of a tactic; arrays have one row per member, by ascending id, or one per enemy.

    Attributes:
        now_s: game time without pauses of the squad alone (s).
        members: members by id.
        ids: ids of members, shape (n,).
        positions: positions of members, shape (n, d) (m).
        enemies: sightings of enemies.
        enemy_positions: positions of enemies, shape (m, d) (m).
        risks: risk of each member, shape (n,): the sum of threats, falling with distance.
        goal: goal of the squad's order, shape (d,) (m), or None.
        heading: direction the squad faces, shape (2,).

    Args:
        standing: returns the nearest positions where a member can stand; None for open ground.
    """

    SHOWN = ("now_s", "ids")

    def __init__(
        self, members: Mapping[int, SquadMember], positions: Floats, enemies: Sequence[Sighting],
        *, now_s: float = 0.0, goal: Floats | None = None, heading: Floats | None = None,
        standing: NearestFree | None = None,
    ) -> None:
        self.now_s, self.members, self.positions, self.enemies = now_s, members, positions, tuple(enemies)
        self.ids = np.array(list(members), np.int32)
        self._rows = {one: row for row, one in enumerate(members)}
        dimensions = positions.shape[1]
        self.enemy_positions = np.array([one.position for one in self.enemies], np.float64).reshape(-1, dimensions)
        self.goal = goal
        self.heading = np.array([1.0, 0.0]) if heading is None else heading
        threats = np.array([one.threat for one in self.enemies])
        offsets = positions[:, None] - self.enemy_positions[None]
        self.risks: Floats = (threats / (1 + (offsets ** 2).sum(axis=2) / RISK_REACH_M ** 2)).sum(axis=1)
        self._axes = plane_axes(dimensions)
        self._standing = standing

    def move_to_free(self, wanted: Sequence[Floats]) -> list[Floats]:
        """Return each position, moved to the nearest one where a member can stand.

        Raises:
            ValueError: if ``standing`` does not return finite positions of the same shape.
        """
        if self._standing is None or not len(wanted):
            return list(wanted)
        asked = np.array(wanted)
        found = np.asarray(self._standing(asked.copy()), np.float64)
        if found.shape != asked.shape or not np.isfinite(found).all():
            raise ValueError(f"standing must return finite positions of shape {asked.shape}, got {shown(found)}")
        return list(found)

    @property
    def enemy_force(self) -> Force:
        """Force of the enemies whose capabilities are known."""
        return Force.of_members(one.capabilities for one in self.enemies if one.capabilities is not None)

    def position_of(self, member_id: int) -> Floats:
        """Return the position of a member, shape (d,) (m)."""
        place: Floats = self.positions[self._rows[member_id]]
        return place

    def risk(self, member_id: int) -> float:
        """Return the risk of a member, 0 or more."""
        return float(self.risks[self._rows[member_id]])

    def nearest_enemy(self, place: Floats) -> int | None:
        """Return the index of the enemy nearest to a position, None without enemies."""
        if not self.enemies:
            return None
        return int(((self.enemy_positions - place) ** 2).sum(axis=1).argmin())

    def away_from_enemies(self, place: Floats) -> Floats:
        """Return the direction from the enemies' mean position to a position, shape (d,), of length 1."""
        if self.enemies:
            return self.direction(self.enemy_positions.mean(axis=0), place)
        return -self.in_plane(self.heading)

    def direction(self, start: Floats, end: Floats) -> Floats:
        """Return the direction between two positions, shape (d,), of length 1; the heading if they are equal."""
        offset = end - start
        length = math.sqrt(float((offset ** 2).sum()))
        return offset / length if length > 1e-9 else self.in_plane(self.heading)

    def right_of(self, direction: Floats) -> Floats:
        """Return the direction to the right of another, in the plane, shape (d,), of length 1."""
        flat = direction[list(self._axes)]
        length = math.sqrt(float((flat ** 2).sum()))
        flat = flat / length if length > 1e-9 else self.heading
        return self.in_plane(np.array([-flat[1], flat[0]]))

    def in_plane(self, flat: Floats) -> Floats:
        """Return a direction of the plane with all coordinates, shape (d,)."""
        full = np.zeros(self.positions.shape[1])
        full[list(self._axes)] = flat
        return full
