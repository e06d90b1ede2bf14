"""SkirmishLife: the skirmish of demo_project/scenarios, as work of an AIScheduler; a node written in Python."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import (
    Node,
    PackedFloat32Array,
    PackedInt32Array,
    PackedStringArray,
    PackedVector2Array,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.scheduling.scheduler_lookup import scheduler_of
from ai_core.scheduling.task import Turn
from demo_project.scenarios import skirmish
from demo_project.scenarios.skirmish_battle import BASE_HIT_POINTS
from demo_project.scenarios.skirmish_side import BASE_ID


@gdclass
class SkirmishLife(Node):
    """Two strategists, their units and the ground they fight for."""

    game_seed = export(int, 0, doc="What ground, units and chance come from.")
    units = export(int, 100, range=(10, 200, 1), doc="Of each side at first.")
    side_cells = export(int, 40, range=(20, 80, 1), doc="Width and height of the ground in cells of 3 m.")
    frames_per_step = export(
        int, 12, range=(1, 60, 1), doc="Frames of the engine to a step of the game, which is a fifth of a second.")

    def __init__(self) -> None:
        self._game: skirmish.Skirmish | None = None
        self._scheduler: Any = None
        self._task: Any = None
        self._frame = 0
        self._before = np.zeros((0, 2), np.float32)

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None and self._task is None:
            self._game = skirmish.build(
                self.game_seed, units=self.units, side_cells=self.side_cells, stopwatch=time.perf_counter_ns)
            self._before = self._game.battle.place.copy()
            self._task = self._scheduler.schedule(self._live, name="skirmish")

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._game = self._scheduler = self._task = None

    @method
    def is_over(self) -> bool:
        """Return whether a base has fallen or time is up."""
        return self._game.is_over

    @method
    def get_side_m(self) -> float:
        """Return how wide and high the ground is (m)."""
        return self._game.ground.area.shape[0] * self._game.ground.area.cell_m

    @method
    def get_cell_m(self) -> float:
        """Return the side of a cell (m)."""
        return self._game.ground.area.cell_m

    @method
    def get_walls(self) -> PackedVector2Array:
        """Return the middles of cells that cannot be walked (m)."""
        return self._game.ground.area.centers_of(np.flatnonzero(~self._game.ground.is_open))

    @method
    def get_bases(self) -> PackedVector2Array:
        """Return where both sides live (m)."""
        return self._game.ground.bases.copy()

    @method
    def get_sites(self) -> PackedVector2Array:
        """Return where something is left to gather (m)."""
        return self._game.ground.sites[self._game.amounts > 0]

    @method
    def get_places(self, side: int) -> PackedVector2Array:
        """Return where a side's units are, between the last step and this one (m)."""
        rows, battle = self._game.battle.rows(side), self._game.battle
        share = np.float32(min(1.0, self._frame / self.frames_per_step))
        before = self._before[rows]
        is_new = np.abs(battle.place[rows] - before).max(axis=1, initial=0.0) > 5.0
        before[is_new] = battle.place[rows][is_new]
        return before + (battle.place[rows] - before) * share

    @method
    def get_kinds(self, side: int) -> PackedInt32Array:
        """Return what a side's units are, by number."""
        return self._game.battle.kind[self._game.battle.rows(side)].astype(np.int32)

    @method
    def get_orders(self, side: int) -> PackedVector2Array:
        """Return for each squad of a side its middle and the place it is sent to, as pairs (m)."""
        battle = self._game.battle
        rows = battle.rows(side)
        squads = np.unique(battle.squad[rows]).tolist()
        middles = [battle.place[rows[battle.squad[rows] == squad]].mean(axis=0) for squad in squads]
        ends = np.stack([np.reshape(middles, (-1, 2)), battle.goals[side, squads]], axis=1)
        return ends.astype(np.float32).reshape(-1, 2)

    @method
    def get_shots(self, side: int) -> PackedVector2Array:
        """Return for each unit of a side that fights its place and the place of its target, as pairs (m)."""
        battle = self._game.battle
        rows = battle.rows(side)
        rows = rows[(battle.fought[rows] > 0) & (battle.target[rows] >= 0)]
        return np.stack([battle.place[rows], battle.place[battle.target[rows]]], axis=1).reshape(-1, 2)

    @method
    def get_layer(self, side: int, layer: str) -> bytes:
        """Return a layer of a side's decision map as an image of format LA8: white, the more opaque the larger.

        The layer "" is the damage done so far by both sides.
        """
        game = self._game
        values = np.maximum(game.sides[side].maps.picture[layer] if layer else game.battle.heat, 0.0).reshape(-1)
        shares = np.sqrt(values / max(1e-6, float(values.max()))) * 255
        return np.stack([np.full(len(values), 255), shares], axis=1).astype(np.uint8).tobytes()

    @method
    def get_worth(self) -> PackedFloat32Array:
        """Return for each side the share of its base that stands, and its units as a share of the most it may have."""
        battle, sides = self._game.battle, self._game.sides
        health = np.maximum(battle.base_health, 0.0) / BASE_HIT_POINTS
        alive = [len(battle.rows(side.number)) / side.most_units for side in sides]
        return np.stack([health, alive], axis=1).reshape(-1).astype(np.float32)

    @method
    def get_reasons(self, side: int) -> PackedStringArray:
        """Return why a side does what it does."""
        plan = self._game.sides[side].plan
        reasons = () if plan is None else plan.reasons
        return PackedStringArray([one.replace(f"objective {BASE_ID}", "base of the enemy") for one in reasons])

    @method
    def get_report(self) -> dict:
        """Return how it stands: seconds, units, bases, postures, stocks, µs of AI; who won and why."""
        game, score, told = self._game, self._game.score(), self._game.observe()
        return {
            "seconds": game.clock.now.seconds, "units": told["alive"], "bases": list(score.base_health),
            "postures": told["postures"], "stock": told["stock"], "ai_us": game.ai_us,
            "winner": -1 if score.winner is None else score.winner, "why": score.why if game.is_over else "",
        }

    def _live(self, turn: Turn) -> None:
        if not self.can_process() or self._game.is_over:
            return
        self._frame += 1
        if self._frame >= self.frames_per_step:
            self._frame = 0
            self._before = self._game.battle.place.copy()
            self._game.step(turn.budget)
