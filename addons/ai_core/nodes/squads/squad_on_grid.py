"""What squads know of a grid: how much of it is free, and where one can stand."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.paths.grid_of_scene import Places
from ai_core.maps.passage import GridPassage

Floats = NDArray[np.float64]

STEPS_A_CELL = 4
"""Places that are looked at along a cell (count); fewer would step over corners."""

NEAREST_CELLS = 32
"""How far a free cell is looked for around a place in a wall (cells)."""


class SquadGrid:
    """The ground of a squad whose ways lead over a grid; what a core squad takes as clearance and as standing.

    Args:
        passage: what can be walked.
        places: where its cells lie.
        unit: length of a metre in the scene.
    """

    def __init__(self, passage: GridPassage, places: Places, unit: float) -> None:
        self._passage, self._places, self._unit = passage, places, unit

    def clearance(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return free metres from points in directions, up to walls and to where the grid ends.

        Cost: O(points * most_m / cell).
        """
        step_m = self._places.cell_size / self._unit / STEPS_A_CELL
        steps = np.arange(0.0, most_m, step_m)
        ways = points[:, None] + directions[:, None] * steps[None, :, None]
        is_free = self._is_free(ways.reshape(-1, points.shape[1])).reshape(len(points), len(steps))
        reached = np.maximum(is_free.argmin(axis=1) - 1, 0) * step_m      # the last step that was still free
        free: Floats = np.where(is_free.all(axis=1), most_m, reached)
        return free

    def standing(self, places: Floats) -> Floats:
        """Return where one can stand: places in walls become the middle of the nearest free cell."""
        found = places.astype(np.float64)
        for number in np.flatnonzero(~self._is_free(found)):
            asked = (found[number] * self._unit).tolist()
            cell = self._places.nearest_free(self._passage, asked, NEAREST_CELLS * self._places.cell_size)
            if cell is not None:
                middle = self._places.points(np.array([cell], np.int32))[0] / self._unit
                found[number, [0, -1]] = middle[[0, -1]]         # in 3D as high as it was
        return found

    def _is_free(self, places: Floats) -> NDArray[np.bool_]:
        cells = self._places.cells_at(places * self._unit)
        free: NDArray[np.bool_] = (cells >= 0) & np.isfinite(self._passage.costs.ravel()[cells])
        return free
