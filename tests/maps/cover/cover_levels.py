"""Levels for tests of cover: letters as cells of one metre, y up; rows go along z."""
from __future__ import annotations

import numpy as np

from ai_core.budget import Budget
from ai_core.maps import CoverBaking, CoverMap, CoverSearch, Grid, GridLineOfSight, candidates_from_grid

HEIGHTS = {".": 0.0, "#": np.inf, "o": 1.2, "~": 0.0}
"""Floor, wall, crate and water."""


class CoverLevel:
    def __init__(self, text):
        self.rows = text.split()
        letters = np.array([list(row) for row in self.rows])
        self.grid = Grid(letters == ".")
        heights = np.vectorize(HEIGHTS.get)(letters).astype(float)
        self.gives_cover = heights > 0
        self.sight = GridLineOfSight(heights)
        height, width = letters.shape
        self.middles = np.array([(column, 0, row) for row in range(height) for column in range(width)], np.float32)

    def candidates(self):
        return candidates_from_grid(self.grid.passage(), self.middles, gives_cover=self.gives_cover)

    def baking(self):
        return CoverBaking(self.candidates(), self.sight)

    def baked(self):
        baking = self.baking()
        baking.advance(Budget.unlimited())
        return baking.result

    def cover(self, **settings):
        cover = CoverMap(**settings)
        cover.add(self.baked())
        return cover


def best(cover, agent, threats, blocked, **more):
    search = CoverSearch(cover, agent, threats, blocked, **more)
    search.advance(Budget.unlimited())
    return search


def at(spot):
    """Column and row of a spot."""
    return round(float(spot.place[0])), round(float(spot.place[2]))
