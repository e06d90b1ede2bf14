"""A simulated player that walks to random places."""
from __future__ import annotations

import random
from typing import Any

from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Flag, Whole

DIAGONAL = 0.7071067811865476
HEADINGS = [
    (1.0, 0.0), (DIAGONAL, DIAGONAL), (0.0, 1.0), (-DIAGONAL, DIAGONAL),
    (-1.0, 0.0), (-DIAGONAL, -DIAGONAL), (0.0, -1.0), (DIAGONAL, -DIAGONAL),
]
DECIDES_EVERY_FRAMES = 45
RUNS_WITH_CHANCE = 0.3


class Player(Saveable):
    """Chooses a heading, and whether to run, every so many frames."""

    STATE = DeclaredState(
        frames=Whole(at="_frames"), heading=Whole(maximum=len(HEADINGS) - 1, at="_heading"),
        is_running=Flag(at="_is_running"), chance=RandomGenerator(at="_chance"))

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._frames = 0
        self._heading = 0
        self._is_running = False

    def next_inputs(self) -> dict[str, Any]:
        """Return {"move": [x, z] of length 1, "run": bool} for the next frame."""
        if self._frames % DECIDES_EVERY_FRAMES == 0:
            self._heading = int(self._chance.random() * len(HEADINGS))
            self._is_running = self._chance.random() < RUNS_WITH_CHANCE
        self._frames += 1
        return {"move": list(HEADINGS[self._heading]), "run": self._is_running}
