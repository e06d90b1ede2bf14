"""Squads that march in tests, and what is seen of them."""
from __future__ import annotations

import numpy as np

from ai_core.squads.squad import Squad

FRAME_S = 1 / 15
THINKS_EVERY = 3


def squad_of(count, clock, *, name="alpha", at=(0, 0), dimensions=2, **settings):
    """A squad of so many, side by side a metre apart."""
    squad = Squad(name, clock, dimensions=dimensions, **settings)
    for number in range(count):
        place = np.zeros(dimensions)
        place[[0, -1]] = at[0] + number, at[1]
        squad.add(number, place)
    return squad


def march(squad, clock, *, seconds, until=lambda: False, seen=lambda: None):
    """Let members go as they are told, frame by frame."""
    for frame in range(round(seconds / FRAME_S)):
        if frame % THINKS_EVERY == 0:
            squad.think()
        squad.move_slots(FRAME_S)
        squad.set_positions(squad.positions + squad.velocities() * np.float32(FRAME_S))
        clock.advance()
        seen()
        if until():
            return


def marched(squad, clock, *, seconds=120, **more):
    """Let them go until there is nothing left to do."""
    march(squad, clock, seconds=seconds, until=lambda: squad.is_idle, **more)
