"""One side of the skirmish: what it knows, its strategist, its squads and its purse."""
from __future__ import annotations

import math
import random
from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_layer import standard_layers
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ArrayOf, ListOf, MapOf, Number, Record, Text, Whole
from ai_core.scheduling.task import Turn
from ai_core.squads.capabilities import Force
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.strategic_situation import (
    EnemyReport,
    Mission,
    Purchase,
    SquadReport,
    SquadRole,
    StrategicPlan,
    StrategicSituation,
)
from ai_core.squads.strategy.strategist import Strategist
from demo_project.scenarios.skirmish_battle import Battle
from demo_project.scenarios.skirmish_ground import CELL_M, SIGHT_OF_BASE_M
from demo_project.scenarios.skirmish_units import (
    FIGHTERS,
    NUMBER,
    OPENING,
    SCOUT,
    SIGHT_M,
    TREE,
    UNITS,
    WORKER,
)

SQUAD_SIZE, GATHERERS_SIZE = 15, 5
FIRST_ARMY, FIRST_GATHERERS, FIRST_SCOUTS = 0, 16, 40
LAYERS = tuple(one for one in standard_layers() if one.name not in ("objectives", "visibility"))
REMEMBERS_S = 90.0
GATHERS_PER_S, GATHERS_WITHIN_M = 1.8, 5.0
MAKES_PER_S = 45.0
"""What a base can make in a second, in its cost."""

ROOM_SHARE = 0.5
"""A strategist can wait: a piece of its thinking begins only while so much of the budget is left."""

BASE_ID = 100_000


class Side(Saveable):
    """A player that is a strategist.

    Args:
        number: 0 or 1.
        battle: its units are in it.
        amounts: what is left at each site, shared by both sides.
        clock: of the game.
        scouts: whether its scouts scout; else they go with the army.
        seed: of its strategist's chance.
        most_units: units it may have.
    """

    STATE = DeclaredState(
        stock=Number(), buildings=MapOf(Whole()), making=Text(), left_to_make=Number(),
        purchases=ListOf(Record(Purchase, name=Text(), why=Text()), make=tuple),
        seen_at_s=ArrayOf(shape=lambda side: side.seen_at_s.shape),
        seen_place=ArrayOf(np.float32, shape=lambda side: side.seen_place.shape), saw_base_s=Number(),
        resource_known=ArrayOf(bool, shape=lambda side: side.resource_known.shape), chance=RandomGenerator())

    def __init__(
        self, number: int, battle: Battle, amounts: NDArray[np.float32], clock: Clock, *,
        scouts: bool, seed: int, most_units: int,
    ) -> None:
        self.number, self.battle, self.amounts, self.clock = number, battle, amounts, clock
        self.scouts, self.most_units = scouts, most_units
        ground = battle.ground
        self.base = (float(ground.bases[number, 0]), float(ground.bases[number, 1]))
        # Without walls: flyers threaten across them.
        self.maps = DecisionMap(ground.area, LAYERS, clock, period_s=1.0)
        self._circles: dict[tuple[int, float], NDArray[np.int32]] = {}
        self.chance = random.Random(seed)
        self.strategist = Strategist(
            TREE, self.chance, build_order=OPENING,
            personality=Personality(curiosity=0.75 if scouts else 0.0, aggression=0.6),
            army_cost=40.0 * most_units, home_radius_m=24.0, search_after_s=45.0, overdue_after_s=150.0)
        self.stock = 300.0
        self.buildings: dict[str, int] = {}
        self.making, self.left_to_make = "", 0.0
        self.purchases: tuple[Purchase, ...] = ()
        self.plan: StrategicPlan | None = None
        size = len(battle.side)
        self.seen_at_s, self.seen_place = np.full(size, -1e9), np.zeros((size, 2), np.float32)
        self.saw_base_s = -1e9
        self.resource_known = np.zeros(len(amounts), bool)

    def squad_for(self, kind: int) -> int:
        """Return the squad a new unit joins: the emptiest of its role that has room."""
        rows = self.battle.rows(self.number)
        squads = np.bincount(self.battle.squad[rows], minlength=64)
        if kind == SCOUT and self.scouts:
            return FIRST_SCOUTS + int(squads[FIRST_SCOUTS:FIRST_SCOUTS + 8].argmin())
        first, size = (FIRST_GATHERERS, GATHERERS_SIZE) if kind == WORKER else (FIRST_ARMY, SQUAD_SIZE)
        room = np.flatnonzero(squads[first:first + 16] < size)
        return first + int(room[0]) if len(room) else first

    def look(self, turn: Turn) -> Generator[None, Turn, None]:
        """Write into the maps what is seen now, and remember whom, piece by piece."""
        battle, maps, now_s = self.battle, self.maps, self.clock.now.seconds
        area, own = battle.ground.area, battle.rows(self.number)
        foes = battle.rows(1 - self.number)
        visible = foes[battle.seen[foes]]
        self.seen_at_s[visible], self.seen_place[visible] = now_s, battle.place[visible]
        self.seen_at_s[~battle.is_alive] = -1e9
        yield from _with_room((yield))
        eyes = np.concatenate([battle.place[own], [self.base]]).astype(np.float32)
        sights = np.append(SIGHT_M[battle.kind[own]], SIGHT_OF_BASE_M)
        seen = self._cells_seen(eyes, sights)
        yield
        maps.write("exploration", seen, 0.0)
        self._see_what_lies_there(seen)
        yield
        recent = foes[now_s - self.seen_at_s[foes] < REMEMBERS_S]
        faded = np.float_power(0.97, now_s - self.seen_at_s[recent])
        fighters = np.isin(battle.kind[recent], FIGHTERS)
        maps.write_at("threat", self.seen_place[recent], np.where(fighters, faded, 0.0))
        yield
        maps.write_at("friends", battle.place[own], 1.0)
        fights = own[battle.fought[own] > 0]
        maps.write_at("conflict", battle.place[fights], battle.fought[fights])
        site_cells = area.cells_of(battle.ground.sites)
        known = np.flatnonzero(self.resource_known)
        maps.write("resources", site_cells[known], np.maximum(self.amounts[known], 0.0))

    def think(self, turn: Turn) -> Generator[None, Turn, None]:
        """Let the strategist decide, piece by piece, and carry it out."""
        turn = yield from _with_room(turn)
        sightings = self._sightings()
        turn = yield from _with_room((yield))
        squads = self._squads()
        thinking = self.strategist.think_in_steps(self._situation(squads, sightings))
        while True:
            turn = yield from _with_room((yield))
            try:
                next(thinking)
            except StopIteration as end:
                plan: StrategicPlan = end.value
                break
        for mission in plan.missions:
            self._send(mission)
        self.purchases, self.plan = plan.purchases, plan

    def _situation(self, squads: list[SquadReport], sightings: list[EnemyReport]) -> StrategicSituation:
        battle, now_s = self.battle, self.clock.now.seconds
        return StrategicSituation(
            now_s, self.maps.picture, self.base, tuple(squads), tuple(sightings), self.stock, self.owned(),
            battle.ground.is_open, float(battle.lost[self.number]), float(battle.lost[1 - self.number]))

    def _sightings(self) -> list[EnemyReport]:
        """Return what this side knows of the other."""
        battle, now_s = self.battle, self.clock.now.seconds
        foes = battle.rows(1 - self.number)
        known = foes[now_s - self.seen_at_s[foes] < REMEMBERS_S]
        sightings = [
            EnemyReport(row, (x, y), seen_s, UNITS[kind].product.capabilities)
            for row, (x, y), seen_s, kind in zip(
                known.tolist(), self.seen_place[known].tolist(), self.seen_at_s[known].tolist(),
                battle.kind[known].tolist(), strict=True)
        ]
        if self.saw_base_s >= 0:
            x, y = battle.ground.bases[1 - self.number].tolist()
            sightings.append(EnemyReport(BASE_ID, (x, y), self.saw_base_s, None, True))
        return sightings

    def owned(self) -> dict[str, int]:
        """Return how many there are of each product."""
        kinds = np.bincount(self.battle.kind[self.battle.rows(self.number)], minlength=len(UNITS))
        return {**{one.product.name: int(kinds[number]) for number, one in enumerate(UNITS)}, **self.buildings}

    def live(self, passed_s: float) -> None:
        """Gather, and make what was bought."""
        self._gather(passed_s)
        if not self.making:
            self._buy()
        elif self.left_to_make > 0:
            self.left_to_make -= passed_s * MAKES_PER_S
        if self.making and self.left_to_make <= 0:
            kind = NUMBER.get(self.making)
            if kind is None:
                self.buildings[self.making] = self.buildings.get(self.making, 0) + 1
            else:
                self.battle.add(self.number, kind, self.squad_for(kind), np.array(self.base, np.float32))
            self.making = ""

    def _gather(self, passed_s: float) -> None:
        battle = self.battle
        rows = battle.rows(self.number)
        workers = rows[battle.kind[rows] == WORKER]
        if not len(workers):
            return
        apart = battle.place[workers][:, None, :] - battle.ground.sites[None, :, :]
        away_m = np.sqrt((apart * apart).sum(axis=2))
        away_m[:, self.amounts <= 0] = np.inf
        nearest = away_m.argmin(axis=1)
        at_work = nearest[away_m[np.arange(len(workers)), nearest] <= GATHERS_WITHIN_M]
        # Carrying home takes its time: half the rate at 60 m.
        far_m = np.linalg.norm(battle.ground.sites - np.array(self.base), axis=1)
        rate = np.bincount(at_work, minlength=len(self.amounts)) * GATHERS_PER_S * passed_s / (1 + far_m / 60)
        taken = np.minimum(rate, np.maximum(self.amounts, 0))
        self.amounts -= taken.astype(np.float32)
        self.stock += float(taken.sum())

    def _buy(self) -> None:
        count = len(self.battle.rows(self.number))
        for purchase in self.purchases:
            product = TREE.product(purchase.name)
            is_unit = purchase.name in NUMBER
            if product.cost <= self.stock and (count < self.most_units or not is_unit):
                self.stock -= product.cost
                self.making, self.left_to_make = product.name, product.cost
                return

    def _send(self, mission: Mission) -> None:
        self.battle.send(self.number, mission.squad_id, mission.place,
                         chases=mission.kind in ("attack", "defend", "search", "regroup"))

    def _squads(self) -> list[SquadReport]:
        battle = self.battle
        rows = battle.rows(self.number)
        reports = []
        for squad in np.unique(battle.squad[rows]).tolist():
            members = rows[battle.squad[rows] == squad]
            role: SquadRole = "army" if squad < FIRST_GATHERERS else "gatherers" if squad < FIRST_SCOUTS else "scouts"
            x, y = battle.place[members].mean(axis=0, dtype=np.float64).tolist()
            kinds = np.bincount(battle.kind[members], minlength=len(UNITS))
            force = Force([
                (capabilities, int(kinds[number])) for number, one in enumerate(UNITS)
                if kinds[number] and (capabilities := one.product.capabilities) is not None
            ])
            goal = battle.goals[self.number, squad]
            is_idle = math.dist((x, y), goal) < 2 * CELL_M
            reports.append(SquadReport(squad, role, (x, y), force, is_idle))
        return reports

    def _cells_seen(self, eyes: NDArray[np.float32], sights: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the cells that anybody sees, ascending."""
        area = self.battle.ground.area
        cells = area.cells_of(eyes)
        seen = np.zeros(area.size, bool)
        # Units in one cell, of which there are many, see the same.
        for cell, sight in sorted({*zip(cells.tolist(), sights.tolist(), strict=True)}):
            seen[self._circle(cell, sight)] = True
        return np.flatnonzero(seen).astype(np.int32)

    def _circle(self, cell: int, sight_m: float) -> NDArray[np.int32]:
        found = self._circles.get((cell, sight_m))
        if found is None:
            area = self.battle.ground.area
            found = self._circles[cell, sight_m] = area.cells_within(area.center_of(cell), sight_m)
        return found

    def _see_what_lies_there(self, seen: NDArray[np.int32]) -> None:
        ground = self.battle.ground
        self.resource_known |= np.isin(ground.area.cells_of(ground.sites), seen)
        if ground.area.cell_at(ground.bases[1 - self.number].tolist()) in seen:
            self.saw_base_s = self.clock.now.seconds


def _with_room(turn: Turn) -> Generator[None, Turn, Turn]:
    """Wait for a turn with time for a piece of a millisecond; on budgets of steps, which have no time, go on."""
    while not _has_room(turn.budget):
        turn = yield
    return turn


def _has_room(budget: Budget) -> bool:
    """Return whether much is left, as an answer that a recording keeps: all or nothing is asked for."""
    is_roomy = budget.stopwatch is None or budget.peek() >= ROOM_SHARE * (budget.peek() + budget.used)
    return not budget.part(math.inf if is_roomy else 0).is_spent
