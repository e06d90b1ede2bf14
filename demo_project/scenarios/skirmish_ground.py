"""The ground of the skirmish: alike from both sides, other for every seed."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.grid import Grid
from ai_core.maps.map_area import MapArea

CELL_M = 3.0
SIGHT_OF_BASE_M = 15.0
NEAR_CELLS = 5
"""Around a base nothing stands, and near it the first resources lie."""


class Ground:
    """Walls, bases and resources, turned by half a turn from one side to the other.

    Args:
        chance: draws them.
        side_cells: how wide and high it is (cells).

    Attributes:
        area: for maps.
        is_open: (height, width) bool.
        grid: for ways.
        bases: (2, 2) where both live (m).
        sites: (n, 2) where resources lie (m).
        amounts: (n,) what each holds at first.
    """

    def __init__(self, chance: np.random.Generator, side_cells: int) -> None:
        self.area = MapArea(side_cells, side_cells, cell_m=CELL_M)
        self.bases = self._placed_bases(chance, side_cells)
        self.is_open = self._drawn_walls(chance, side_cells)
        self.grid = Grid(self.is_open)
        self.sites, self.amounts = self._drawn_sites(chance, side_cells)

    def turned(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return places as they are seen from the other side."""
        return (self.area.shape[0] * CELL_M - places).astype(np.float32)

    def _placed_bases(self, chance: np.random.Generator, side_cells: int) -> NDArray[np.float32]:
        # In a corner, or in the middle of an edge: who does not look does not know.
        low, middle = NEAR_CELLS, side_cells // 2
        high = side_cells - low - 1
        corners = [(low, low), (low, high), (high, low), (high, high), (low, middle), (middle, low)]
        column, row = corners[int(chance.integers(len(corners)))]
        first = np.array([(column + 0.5) * CELL_M, (row + 0.5) * CELL_M], np.float32)
        return np.stack([first, self.turned(first)])

    def _drawn_walls(self, chance: np.random.Generator, side_cells: int) -> NDArray[np.bool_]:
        is_open = np.ones((side_cells, side_cells), bool)
        for _ in range(side_cells // 3):
            row, column = chance.integers(2, side_cells - 6, 2)
            height, width = ((2, 6), (6, 2), (3, 3))[int(chance.integers(3))]
            is_open[row:row + height, column:column + width] = False
        rows, columns = np.indices(is_open.shape)
        for base in self.bases:
            middles = np.stack([columns + 0.5, rows + 0.5], axis=-1) * CELL_M
            near = np.linalg.norm(middles - base, axis=-1) <= NEAR_CELLS * CELL_M
            is_open[near] = True
        return is_open & is_open[::-1, ::-1]

    def _drawn_sites(
        self, chance: np.random.Generator, side_cells: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        angle = chance.random() * 2 * np.pi
        first = self.bases[0] + 2.5 * CELL_M * np.array([np.cos(angle), np.sin(angle)], np.float32)
        places, amounts = [first], [700.0]
        while len(places) < 2 + side_cells // 8:
            row, column = chance.integers(1, side_cells - 1, 2)
            place = np.array([(column + 0.5) * CELL_M, (row + 0.5) * CELL_M], np.float32)
            is_far = all(math.dist(place, base) > 9 * CELL_M for base in self.bases)
            if self.is_open[row, column] and is_far:
                places.append(place)
                amounts.append(float(chance.integers(8, 16)) * 100)
        half = np.array(places, np.float32)
        return np.concatenate([half, self.turned(half)]), np.array(amounts * 2, np.float32)
