"""Ground of squads on a grid: clearance, and positions where a member can stand."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.paths.grid_of_scene import Places
from ai_core.maps.passage import GridPassage

Floats = NDArray[np.float64]

STEPS_A_CELL = 4
"""Positions checked per cell length (count); fewer would step over corners."""

NEAREST_CELLS = 32
"""Search radius for a free cell around a position in a wall (cells)."""


class SquadGrid:
    """Ground of a squad with paths on a grid; the ``clearance`` and ``standing`` of the library's squad.

    Args:
        passage: the walkable cells.
        places: positions of the cells.
        unit: length of a metre in the scene.
    """

    def __init__(self, passage: GridPassage, places: Places, unit: float) -> None:
        self._passage, self._places, self._unit = passage, places, unit

    def clearance(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return free distances from points in directions (m), up to walls and the border of the grid.

        Cost: O(points * most_m / cell).
        """
        step_m = self._places.cell_size / self._unit / STEPS_A_CELL
        steps = np.arange(0.0, most_m, step_m)
        samples = points[:, None] + directions[:, None] * steps[None, :, None]
        is_free = self._is_free(samples.reshape(-1, points.shape[1])).reshape(len(points), len(steps))
        reached = np.maximum(is_free.argmin(axis=1) - 1, 0) * step_m      # the last step that was still free
        free: Floats = np.where(is_free.all(axis=1), most_m, reached)
        return free

    def standing(self, places: Floats) -> Floats:
        """Return positions where a member can stand: those in walls become the center of the nearest free cell."""
        found = places.astype(np.float64)
        for number in np.flatnonzero(~self._is_free(found)):
            asked = (found[number] * self._unit).tolist()
            cell = self._places.nearest_free(self._passage, asked, NEAREST_CELLS * self._places.cell_size)
            if cell is not None:
                middle = self._places.points(np.array([cell], np.int32))[0] / self._unit
                found[number, [0, -1]] = middle[[0, -1]]         # the height in 3D is unchanged
        return found

    def _is_free(self, places: Floats) -> NDArray[np.bool_]:
        cells = self._places.cells_at(places * self._unit)
        free: NDArray[np.bool_] = (cells >= 0) & np.isfinite(self._passage.costs.ravel()[cells])
        return free
