"""Two strategists with 100 units each on one map: they scout, gather and attack.

Five frames a second. Both sides see the same ground, turned by half a turn, and begin with the same
units. It ends when a base falls, or after some minutes by what is left.

    python -m demo_project.scenarios.skirmish [SEED]       a line for every ten seconds
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ai_core.budget import Budget, Stopwatch
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Saveable
from ai_core.saving.kinds import ArrayOf
from demo_project.scenarios.scenario import Scenario
from demo_project.scenarios.skirmish_battle import BASE_HIT_POINTS, Battle
from demo_project.scenarios.skirmish_ground import Ground
from demo_project.scenarios.skirmish_side import Side
from demo_project.scenarios.skirmish_units import COST, FIGHTERS, NUMBER, SCOUT, WORKER

FRAMES_PER_S = 5
LIMIT_S = 300.0
BUDGET_STEPS = 400
LOOK_FRAMES, THINK_FRAMES = 3, 5
WORKERS_SHARE, SCOUTS_SHARE, CROWD = 0.2, 0.04, 1.8
"""Of the units at first: how many gather, how many scout; and how many there may be later."""


class Score(NamedTuple):
    """How it ended.

    Attributes:
        winner: 0 or 1, None for a draw.
        why: in words.
        seconds: of game time.
        base_health: of both, 0 or more.
        army: worth of the fighters of both.
        lost: worth of what both lost.
    """

    winner: int | None
    why: str
    seconds: float
    base_health: tuple[float, float]
    army: tuple[float, float]
    lost: tuple[float, float]


AMOUNTS = ArrayOf(np.float32, shape=lambda skirmish: skirmish.amounts.shape)


class Skirmish(Saveable, Scenario):
    """The game.

    Args:
        seed: what ground, units and chance come from.
        units: how many each side begins with, and may have.
        side_cells: width and height of the ground (cells of 3 m).
        scouting: whether each side's scouts scout.
        limit_s: game time after which it is over (s).
        stopwatch: for budgets of time.

    Attributes:
        ai_us: what the AI of both sides took in the last frame (µs), if there is a stopwatch.
    """

    STATE = DeclaredState(amounts=Hook())

    def __init__(
        self, seed: int = 0, *, units: int = 100, side_cells: int = 40, scouting: tuple[bool, bool] = (True, True),
        limit_s: float = LIMIT_S, stopwatch: Stopwatch | None = None,
    ) -> None:
        super().__init__(
            "skirmish", seed, budget_steps=BUDGET_STEPS, stopwatch=stopwatch, seconds_per_frame=1 / FRAMES_PER_S)
        chance = np.random.default_rng(seed)
        self.limit_s = limit_s
        self._stopwatch, self._began_ns, self.ai_us = stopwatch, 0, 0.0
        self.ground = Ground(chance, side_cells)
        self.battle = Battle(self.ground, 2 * round(CROWD * units))
        self.amounts = self.ground.amounts.copy()
        self.sides = [
            Side(number, self.battle, self.amounts, self.clock, scouts=scouting[number],
                 seed=2 * seed + number, most_units=round(CROWD * units))
            for number in (0, 1)
        ]
        self._muster(chance, units)
        for side in self.sides:
            name = f"side {side.number}"
            self.scheduler.add(side.look, name=f"{name} looks", period_frames=LOOK_FRAMES)
            self.scheduler.add(side.maps, name=f"{name} maps")
            self.scheduler.add(side.think, name=f"{name} thinks", period_frames=THINK_FRAMES)
            self.parts |= {f"{name} maps": side.maps, f"{name} strategist": side.strategist, name: side}
        self.parts |= {"battle": self.battle, "skirmish": self, "scheduler": self.scheduler}
        self.observed = {"skirmish": self}

    @property
    def is_over(self) -> bool:
        """True when a base has fallen, or time is up."""
        return bool((self.battle.base_health <= 0).any()) or self.clock.now.seconds >= self.limit_s

    def next_inputs(self) -> dict[str, Any]:
        """Return no inputs: only the strategists act."""
        return {}

    def take_in(self, inputs: dict[str, Any]) -> None:
        """Nothing comes from outside."""

    def step(self, budget: Budget | None = None, inputs: Any = None) -> None:
        """Run one frame; measure its AI if there is a stopwatch."""
        self._began_ns = self._stopwatch() if self._stopwatch else 0
        super().step(budget, inputs)

    def move(self, passed_s: float) -> None:
        if self._stopwatch:
            self.ai_us = (self._stopwatch() - self._began_ns) / 1000
        if self.is_over:
            return
        self.battle.step(passed_s)
        for side in self.sides:
            side.live(passed_s)

    def play(self) -> Score:
        """Play to the end."""
        while not self.is_over:
            self.step()
        return self.score()

    def score(self) -> Score:
        """Return the side that is ahead, or has won: by the base that stands, its health, then the army."""
        health = np.maximum(self.battle.base_health, 0.0)
        army = np.array([
            float(COST[kinds[np.isin(kinds, FIGHTERS)]].sum())
            for kinds in (self.battle.kind[self.battle.rows(number)] for number in (0, 1))
        ])
        worth = health / BASE_HIT_POINTS * 2000 + army
        fallen = np.flatnonzero(health <= 0)
        if len(fallen) == 1:
            winner, why = int(1 - fallen[0]), "the other base fell"
        elif abs(worth[0] - worth[1]) < 1:
            winner, why = None, "both are left with as much"
        else:
            winner, why = int(worth.argmax()), "more is left of base and army"
        pairs = [(float(one[0]), float(one[1])) for one in (health, army, self.battle.lost)]
        return Score(winner, why, self.clock.now.seconds, *pairs)

    def observe(self) -> dict[str, Any]:
        """Return where all stand in short, postures, stocks, and what squads are sent to do."""
        return {
            "alive": [len(self.battle.rows(number)) for number in (0, 1)],
            "places": float(self.battle.place[self.battle.is_alive].sum(dtype=np.float64)),
            "base_health": self.battle.base_health.tolist(),
            "postures": [side.strategist.posture for side in self.sides],
            "stock": [side.stock for side in self.sides],
            "missions": [
                [] if side.plan is None else [[one.squad_id, one.kind, *one.place] for one in side.plan.missions]
                for side in self.sides],
        }

    def _save_amounts(self) -> list[float]:
        return AMOUNTS.save(self.amounts, self)

    def _prepare_amounts(self, plain: Any, place: str) -> Change:
        amounts = AMOUNTS.read(plain, place, self)

        def change() -> None:
            self.amounts[:] = amounts       # an array that the sides share

        return change

    def _muster(self, chance: np.random.Generator, units: int) -> None:
        """Both sides begin with the same: gatherers, scouts, and fighters of a mix of this seed's."""
        mix = chance.dirichlet(np.full(len(FIGHTERS), 0.8))
        workers, scouts = round(WORKERS_SHARE * units), max(1, round(SCOUTS_SHARE * units))
        kinds = [WORKER] * workers + [SCOUT] * scouts
        kinds += sorted(chance.choice(FIGHTERS, units - len(kinds), p=mix).tolist())
        for side in self.sides:
            for kind in kinds:
                self.battle.add(side.number, kind, side.squad_for(kind), self.ground.bases[side.number])
            for building, kind in (("foundry", NUMBER["ram"]), ("aerie", NUMBER["flyer"])):
                if kind in kinds:
                    side.buildings[building] = 1


def build(seed: int = 0, **settings: Any) -> Skirmish:
    """Return the game; so many ``units`` on each side if given."""
    return Skirmish(seed, **settings)


if __name__ == "__main__":
    import sys
    import time

    game = build(int(sys.argv[1]) if len(sys.argv) > 1 else 0, stopwatch=time.perf_counter_ns)
    while not game.is_over:
        game.step()
        if game.clock.now.frame % (10 * FRAMES_PER_S) == 0:
            told = game.observe()
            print(f"{game.clock.now.seconds:4.0f} s  {told['alive']} alive  {told['postures']}"
                  f"  bases {[round(one) for one in told['base_health']]}")
    print(game.score())
