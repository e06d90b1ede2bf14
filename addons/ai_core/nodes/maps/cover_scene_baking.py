"""Baking the cover of a scene, whole or a part of it; and baked spots as the numbers that a scene keeps."""
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
    """Bakes the cover of a CoverMap; make it, advance it, then take ``spots``.

    Args:
        node: the CoverMap.
        box: lowest and highest corner of what is to be baked (m), None for everything.

    Attributes:
        stage: what it is doing, in words.

    Raises:
        ValueError: if there is nothing to bake; says what to do.
    """

    _core: CoverBaking
    stage = "looks for cover along the walls"

    def __init__(self, node: Any, box: tuple[list[float], list[float]] | None) -> None:
        self.box = box
        body, scene, settings = node.body, node.scene, core_settings(node, node.unit)
        if node.source == node.Source.GRID:
            grid = node.get_node_or_null(node.grid_node)
            if grid is None:
                raise ValueError("grid_node names no node; set it to the TileMapLayer or GridMap")
            candidates = scene.of_grid(grid, node.cost_data, node.floor_level, node.wall_items)
        else:
            level = node.get_node_or_null(node.level)
            if level is None:
                raise ValueError(f"level '{node.level}' is no node; choose the node above the level")
            candidates = scene.along_navigation(level, body, **settings["spots"])
        if box is not None:
            candidates = candidates.within(*box)
        scene.without(node.things())                       # what moves is no part of the level
        self._node = node
        self._core = CoverBaking(
            candidates, scene.blocked, body=body, ground=scene.on_floor if scene.dimensions == 3 else None,
            settings=CoverBakingSettings(**settings["baking"]))

    @property
    def spots(self) -> CoverSpots:
        """What was found; RuntimeError before it is done."""
        return self._core.result

    def advance(self, budget: Budget) -> None:
        """Go on until done or the budget is spent."""
        self._node.scene.without(self._node.things())
        self._core.advance(budget)


def packed_spots(spots: CoverSpots) -> NDArray[np.float32]:
    """Return spots as numbers, ``NUMBERS_A_SPOT`` each."""
    rows = np.concatenate((
        spots.places, spots.towards, spots.is_low[:, None], spots.exposures[:, None], spots.peeks[:, None]), axis=1)
    return rows.astype(np.float32).reshape(-1)


def spots_of_packed(numbers: NDArray[np.float32]) -> CoverSpots:
    """Return what ``packed_spots`` wrote.

    Raises:
        ValueError: if they are something else.
    """
    if len(numbers) % NUMBERS_A_SPOT or not np.isfinite(numbers).all():
        raise ValueError(f"baked must be finite numbers, {NUMBERS_A_SPOT} a spot, got {len(numbers)}; bake again")
    rows = np.asarray(numbers, np.float32).reshape(-1, NUMBERS_A_SPOT)
    peeks = rows[:, 8].astype(np.uint8)
    if ((peeks & ~np.uint8(LEFT | RIGHT | OVER)) != 0).any() or ((rows[:, 7] < 0) | (rows[:, 7] > 1)).any():
        raise ValueError("baked holds other numbers than cover; bake again")
    return CoverSpots(rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6] != 0, rows[:, 7].copy(), peeks)
