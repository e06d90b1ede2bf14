"""Heat maps of a skirmish: the damage in each cell, and which side held it."""
from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ai_core.plots import Drawing, heat_map
from demo_project.scenarios.skirmish import Skirmish


def write_pictures(game: Skirmish, influence: NDArray[np.float64], out: Path) -> None:
    """Write conflict.svg, the damage done in each cell, and influence.svg, the average influence of both sides."""
    title = f"seed {game.seed}, {game.clock.now.seconds:.0f} s"
    for name, values, unit in (
        ("conflict", np.sqrt(game.battle.heat), "square root of damage"),
        ("influence", np.sign(influence) * np.sqrt(np.abs(influence)), "square root of influence; negative: orange"),
    ):
        (out / f"{name}.svg").write_text(battle_map(game, values, f"{name}: {title}", unit).svg(), encoding="utf-8")


def battle_map(game: Skirmish, values: NDArray[np.float64], title: str, unit: str, cell_px: int = 12) -> Drawing:
    """Return a heat map over the ground of a skirmish, with walls and the two bases."""
    cell_m = game.ground.area.cell_m
    bases = {
        f"{side} base": (base[1] / cell_m - 0.5, base[0] / cell_m - 0.5)
        for side, base in zip(("blue", "orange"), game.ground.bases.tolist(), strict=True)}
    walls = ~np.asarray(game.ground.is_open)
    return heat_map(values, title=title, unit=unit, cell_px=cell_px, closed=walls, marks=bases)
