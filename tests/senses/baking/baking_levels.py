"""Levels drawn as text for the tests of baking, and rays through them."""
from __future__ import annotations

import numpy as np

from ai_core.budget import Budget
from ai_core.senses.baking.baking import SenseGraphBaking
from ai_core.senses.baking.ground import WalkableGrid

THREE_ROOMS = """
###################
#.....#.....#.....#
#.....#.....#.....#
#.................#
#.....#.....#.....#
#.....#.....#.....#
###################
"""
"""Three rooms of 5 m in a row, with doors of 1 m opposite each other."""


def plan(text, finer=4):
    """A level drawn with # for walls and 1 m a letter, as a grid of bools."""
    rows = [[letter != "#" for letter in line] for line in text.strip().splitlines()]
    return np.kron(np.array(rows), np.ones((finer, finer), bool))


class Level:
    """A drawn level: its ground, and rays that walls block (``glass`` rows of low and high corners too)."""

    def __init__(self, text, *, finer=4, up="y"):
        self.walkable = plan(text, finer)
        self.cell_m, self.up = 1 / finer, up
        self.rays = 0

    @property
    def ground(self):
        return WalkableGrid(self.walkable, self.cell_m, up=self.up)

    def blocked(self, segments):
        self.rays += len(segments)
        axes = [0, 2] if self.up == "y" else [0, 1]
        start, end = segments[:, :3][:, axes], segments[:, 3:][:, axes]
        shares = np.linspace(0, 1, 400)[:, np.newaxis]
        at = ((start[:, np.newaxis] + shares * (end - start)[:, np.newaxis]) / self.cell_m).astype(int)
        return ~self.walkable[at[..., 1], at[..., 0]].all(axis=1)

    def place(self, x, z, height=0.5):
        return (x, height, z) if self.up == "y" else (x, z, 0.0)

    def bake(self, *, earlier=None, settings=None, budget=None):
        """The baking, done."""
        baking = SenseGraphBaking(self.ground, self.blocked, settings=settings, earlier=earlier)
        while not baking.is_done:
            baking.advance(budget or Budget.unlimited())
        return baking


def joins(graph, sense):
    """Pairs of regions between which a sense passes, each direction."""
    return sorted((one.from_region, one.to_region) for one in graph.portals if sense in one.passages)
