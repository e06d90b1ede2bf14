"""The units of both sides as rows of arrays: they go where their squads are sent, and fight whom they meet."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.paths.flow_field import FlowField
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ArrayOf
from demo_project.scenarios.skirmish_ground import CELL_M, Ground
from demo_project.scenarios.skirmish_units import ATTACK, COST, HIT_POINTS, IS_AIR, RANGE_M, SIGHT_M, SPEED_M_S

BASE_HIT_POINTS = 4000.0
BASE_REACH_M = 4.0
CHASES_M = 11.0
SQUADS = 64
"""Numbers of squads a side may have."""

Floats = NDArray[np.float32]


def _like(name: str, dtype: type) -> ArrayOf:
    """Return the kind of a column, which has the same shape in every save."""
    return ArrayOf(dtype, shape=lambda battle: getattr(battle, name).shape)


ROWS = ArrayOf(np.int64, shape=lambda battle: battle.side.shape, minimum=0)


class Battle(Saveable):
    """All units.

    Args:
        ground: they walk on it.
        most: units alive at once, of both sides.

    Attributes:
        side, kind, squad, is_alive: (most,) of each row.
        place: (most, 2) (m).
        health: (most,).
        base_health: (2,).
        seen: (most,) bool, whether the other side sees a unit now.
        target: (most,) int, the row each would attack, -1 for none.
        lost: (2,) worth of units that each side lost.
        goals: (2, SQUADS, 2) where squads go (m); ``chases``: whether they go for whom they meet.
        heat: (height, width) damage done in each cell so far.
    """

    STATE = DeclaredState(
        side=ROWS, kind=ROWS, squad=ROWS, is_alive=_like("is_alive", bool), health=_like("health", np.float32),
        place=_like("place", np.float32), base_health=_like("base_health", np.float64),
        lost=_like("lost", np.float64), goals=_like("goals", np.float32), chases=_like("chases", bool),
        seen=_like("seen", bool),
        target=ArrayOf(np.int64, shape=lambda battle: battle.side.shape, minimum=-1,
                       maximum=lambda battle: len(battle.side) - 1),
        fought=_like("fought", np.float32), heat=_like("heat", np.float32))

    def __init__(self, ground: Ground, most: int) -> None:
        self.ground = ground
        self.side, self.kind, self.squad = (np.zeros(most, np.int64) for _ in range(3))
        self.is_alive = np.zeros(most, bool)
        self.place, self.health = np.zeros((most, 2), np.float32), np.zeros(most, np.float32)
        self.base_health = np.full(2, BASE_HIT_POINTS, np.float64)
        self.seen, self.target = np.zeros(most, bool), np.full(most, -1, np.int64)
        self.lost = np.zeros(2)
        self.fought = np.zeros(most, np.float32)
        self.goals = np.repeat(ground.bases[:, None, :], SQUADS, axis=1).copy()
        self.chases = np.ones((2, SQUADS), bool)
        self.heat = np.zeros(ground.area.shape, np.float32)
        angle = np.arange(most) * 2.399963
        spread_m = 0.55 * np.sqrt(np.arange(most) % 32 + 0.5)
        self._offset = (spread_m[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(np.float32)
        self._fields: dict[int, NDArray[np.int32]] = {}
        self._middles = ground.area.centers_of(np.arange(ground.area.size))
        self._memory = SearchMemory(ground.grid.passage())

    def add(self, side: int, kind: int, squad: int, place: Floats) -> int:
        """Add a unit; return its row, -1 if there is no room."""
        free = np.flatnonzero(~self.is_alive)
        if not len(free):
            return -1
        row = int(free[0])
        self.side[row], self.kind[row], self.squad[row] = side, kind, squad
        self.place[row] = place + self._offset[row]
        self.health[row], self.is_alive[row], self.seen[row], self.target[row] = HIT_POINTS[kind], True, False, -1
        return row

    def rows(self, side: int) -> NDArray[np.int64]:
        """Return the rows of a side's living units."""
        return np.flatnonzero(self.is_alive & (self.side == side))

    def send(self, side: int, squad: int, place: tuple[float, float], *, chases: bool) -> None:
        """Send a squad somewhere."""
        self.goals[side, squad], self.chases[side, squad] = place, chases

    def step(self, passed_s: float) -> None:
        """Fight, then move."""
        ours, theirs = self.rows(0), self.rows(1)
        self.target[:], self.seen[:], self.fought[:] = -1, False, 0.0
        damage = np.zeros(len(self.side), np.float32)
        if len(ours) and len(theirs):
            apart = self.place[ours][:, None, :] - self.place[theirs][None, :, :]
            apart_m = np.sqrt((apart * apart).sum(axis=2))
            self._attack(ours, theirs, apart_m, passed_s, damage)
            self._attack(theirs, ours, apart_m.T, passed_s, damage)
        for side in (0, 1):
            self._attack_base(side, passed_s)
        self._suffer(damage)
        self._move(passed_s)

    def _attack(self, own: NDArray[Any], other: NDArray[Any], apart_m: Floats, passed_s: float, damage: Floats) -> None:
        attack = ATTACK[self.kind[own][:, None], self.kind[other][None, :]]
        self.seen[other] |= (apart_m <= SIGHT_M[self.kind[own]][:, None]).any(axis=0)
        wanted = np.where(attack > 0, apart_m, np.inf)
        nearest = wanted.argmin(axis=1)
        rows = np.arange(len(own))
        nearest_m = wanted[rows, nearest]
        hits = nearest_m <= RANGE_M[self.kind[own]]
        self.target[own] = np.where(nearest_m <= CHASES_M, other[nearest], -1)
        done = np.where(hits, attack[rows, nearest] * np.float32(passed_s), np.float32(0)).astype(np.float32)
        np.add.at(damage, other[nearest], done)
        self.fought[own] = done

    def _attack_base(self, side: int, passed_s: float) -> None:
        rows = self.rows(side)
        rows = rows[self.target[rows] < 0]
        away_m = np.linalg.norm(self.place[rows] - self.ground.bases[1 - side], axis=1)
        near = rows[away_m <= RANGE_M[self.kind[rows]] + BASE_REACH_M]
        self.base_health[1 - side] -= float(ATTACK[self.kind[near], 0].sum()) * passed_s

    def _suffer(self, damage: Floats) -> None:
        self.health -= damage
        hurt = np.flatnonzero(damage > 0)
        np.add.at(self.heat.reshape(-1), self._cells(self.place[hurt]), damage[hurt])
        dead = self.is_alive & (self.health <= 0)
        np.add.at(self.lost, self.side[dead], COST[self.kind[dead]])
        self.is_alive[dead] = False

    def _move(self, passed_s: float) -> None:
        rows = np.flatnonzero(self.is_alive)
        side, squad, kind, place = self.side[rows], self.squad[rows], self.kind[rows], self.place[rows]
        goal = self.goals[side, squad] + self._offset[rows]
        offset = goal - place
        left_m = _lengths(offset)
        far = np.flatnonzero((left_m > 1.5 * 3.0) & ~IS_AIR[kind])
        offset[far] = self._next_places(side[far], squad[far], place[far]) - place[far]
        target = self.target[rows]
        hunts = np.flatnonzero((target >= 0) & self.chases[side, squad])
        offset[hunts] = self.place[target[hunts]] - place[hunts]
        length = _lengths(offset)
        stands = np.zeros(len(rows), bool)
        stands[hunts] = length[hunts] <= 0.9 * RANGE_M[kind[hunts]]
        step_m = np.minimum(SPEED_M_S[kind] * np.float32(passed_s), length)
        step_m[stands] = 0
        moved = place + offset * (step_m / np.maximum(length, 1e-6))[:, None]
        self.place[rows] = self._kept_off_walls(place, moved.astype(np.float32), IS_AIR[kind])

    def _kept_off_walls(self, place: Floats, moved: Floats, is_air: NDArray[np.bool_]) -> Floats:
        """Let units that would walk into a wall slide along it."""
        side_m = self.ground.area.shape[0] * self.ground.area.cell_m
        np.clip(moved, 0.01, side_m - 0.01, out=moved)
        for axis in (0, 1):
            bad = np.flatnonzero(self._is_in_wall(moved) & ~is_air)
            if axis == 0:
                slid = moved[bad]
                slid[:, 0] = place[bad, 0]
                moved[bad] = slid
                still = bad[self._is_in_wall(moved[bad])]
                moved[still, 0] = (place + (moved - place))[still, 0]
                moved[still] = np.stack([moved[still, 0], place[still, 1]], axis=1)
            else:
                moved[bad] = place[bad]
        return moved

    def _is_in_wall(self, places: Floats) -> NDArray[np.bool_]:
        return ~self.ground.is_open.reshape(-1)[self._cells(places)]

    def _cells(self, places: Floats) -> NDArray[np.int64]:
        """Return the cells of places that are on the ground."""
        columns, rows = (places / np.float32(CELL_M)).astype(np.int64).T
        return rows * self.ground.area.shape[1] + columns

    def _next_places(self, side: NDArray[Any], squad: NDArray[Any], place: Floats) -> Floats:
        """Return the center of the next cell on the path of each unit to the goal of its squad."""
        area = self.ground.area
        goals = self._cells(np.clip(self.goals[side, squad], 0.01, area.shape[0] * area.cell_m - 0.01))
        cells = self._cells(place)
        following = cells.copy()
        for goal in np.unique(goals).tolist():
            to_it = goals == goal
            following[to_it] = self._field(goal)[cells[to_it]]
        return self._middles[np.where(following < 0, goals, following)]

    def _field(self, goal: int) -> NDArray[np.int32]:
        """Return the next cells to a goal; walls stay, so they are kept."""
        found = self._fields.get(goal)
        if found is None:
            field = FlowField(self.ground.grid.passage(), goal, memory=self._memory)
            field.advance(Budget.unlimited())
            found = self._fields[goal] = field.next_cells.reshape(-1).copy()
        return found


def _lengths(offsets: Floats) -> Floats:
    """Return the length of each row. Not np.hypot, whose last bit differs between C libraries."""
    lengths: Floats = np.sqrt((offsets * offsets).sum(axis=1))
    return lengths
