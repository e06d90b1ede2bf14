"""Bakes the cover of a scene or an area of it, and packs spots into numbers that a scene stores."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.baking.level_baking import LevelBaking
from addons.ai_core.nodes.saving.node_settings import core_settings
from ai_core.budget import Budget
from ai_core.maps.cover.cover_baking import CoverBaking, CoverBakingSettings
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, CoverSpots

NUMBERS_A_SPOT = 9


class CoverSceneBaking(LevelBaking):
    """Bakes the cover of a CoverMap: create it, advance it, then read ``spots``.

    Args:
        node: the CoverMap.
        box: lowest and highest corner of the area to bake (m), None for the whole level.

    Attributes:
        stage: present work, as text.

    Raises:
        ValueError: if there is nothing to bake.
    """

    stage = "searching for cover along walls"

    def __init__(self, node: Any, box: tuple[list[float], list[float]] | None) -> None:
        self.box = box
        body, scene, settings = node.body, node.scene, core_settings(node, node.unit)
        if node.source == node.Source.GRID:
            grid = node.get_node_or_null(node.grid_node)
            if grid is None:
                raise ValueError("grid_node is not a node; choose the TileMapLayer or GridMap")
            candidates = scene.of_grid(grid, node.cost_data, node.floor_level, node.wall_items)
        else:
            level = node.get_node_or_null(node.level)
            if level is None:
                raise ValueError(f"level '{node.level}' is not a node; choose the root of the level")
            candidates = scene.along_navigation(level, body, **settings["spots"])
        if box is not None:
            candidates = candidates.within(*box)
        scene.without(node.object_nodes())                 # movable objects are not part of the level
        self._node = node
        self._core = CoverBaking(
            candidates, scene.blocked, body=body, ground=scene.on_floor if scene.dimensions == 3 else None,
            settings=CoverBakingSettings(**settings["baking"]))

    @property
    def spots(self) -> CoverSpots:
        """The spots found; RuntimeError before baking is done."""
        return self._core.result

    def advance(self, budget: Budget) -> None:
        """Continue until baking is done or the budget is spent."""
        self._node.scene.without(self._node.object_nodes())
        self._core.advance(budget)


def packed_spots(spots: CoverSpots) -> NDArray[np.float32]:
    """Return spots as numbers, ``NUMBERS_A_SPOT`` each."""
    rows = np.concatenate((
        spots.places, spots.towards, spots.is_low[:, None], spots.exposures[:, None], spots.peeks[:, None]), axis=1)
    return rows.astype(np.float32).reshape(-1)


def spots_of_packed(numbers: NDArray[np.float32]) -> CoverSpots:
    """Return spots from the numbers of ``packed_spots``.

    Raises:
        ValueError: if the numbers are not spots.
    """
    if len(numbers) % NUMBERS_A_SPOT or not np.isfinite(numbers).all():
        raise ValueError(f"baked must have {NUMBERS_A_SPOT} finite numbers per spot, got {len(numbers)}; bake again")
    rows = np.asarray(numbers, np.float32).reshape(-1, NUMBERS_A_SPOT)
    peeks = rows[:, 8].astype(np.uint8)
    if ((peeks & ~np.uint8(LEFT | RIGHT | OVER)) != 0).any() or ((rows[:, 7] < 0) | (rows[:, 7] > 1)).any():
        raise ValueError("baked has invalid numbers; bake again")
    return CoverSpots(rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6] != 0, rows[:, 7].copy(), peeks)
