"""A simulated player that walks to random places."""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ai_core.saving.chance import prepare_random, save_random
from ai_core.saving.fields import Fields

DIAGONAL = 0.7071067811865476
HEADINGS = [
    (1.0, 0.0), (DIAGONAL, DIAGONAL), (0.0, 1.0), (-DIAGONAL, DIAGONAL),
    (-1.0, 0.0), (-DIAGONAL, -DIAGONAL), (0.0, -1.0), (DIAGONAL, -DIAGONAL),
]
DECIDES_EVERY_FRAMES = 45
RUNS_WITH_CHANCE = 0.3


class Player:
    """Chooses a heading, and whether to run, every so many frames."""

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

    def save_state(self) -> dict[str, Any]:
        """Return what lives across frames, as plain data."""
        return {
            "version": 1, "frames": self._frames, "heading": self._heading,
            "is_running": self._is_running, "chance": save_random(self._chance),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what puts it in place."""
        fields = Fields.versioned(state, version=1)
        frames = fields.whole("frames")
        heading = fields.whole("heading", maximum=len(HEADINGS) - 1)
        is_running = fields.flag("is_running")
        put_chance = prepare_random(self._chance, fields.anything("chance"), "chance")
        fields.end()

        def put() -> None:
            self._frames, self._heading, self._is_running = frames, heading, is_running
            put_chance()

        return put
