"""Heat maps of a skirmish: where was fought, and who held what."""
from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demo_project.scenarios.skirmish import Skirmish
from tools.timeline import WHITE, Box, Colour, Drawing, Words
from tools.timeline_png import png_of

CELL_PX, TOP_PX, EDGE_PX = 16, 40, 10
WALL, GROUND, HOT = (70, 70, 70), (246, 244, 238), (214, 39, 40)
OURS, THEIRS, RESOURCE = (52, 110, 170), (214, 110, 40), (66, 140, 84)


def write_pictures(game: Skirmish, influence: NDArray[np.float64], out: Path) -> None:
    """Write conflict.png, the damage done in each cell, and influence.png, who was where on the average."""
    heat = np.sqrt(game.battle.heat / max(1.0, float(game.battle.heat.max())))
    conflict = [[_mixed(GROUND, HOT, share) for share in row] for row in heat.tolist()]
    largest = max(1e-9, float(np.abs(influence).max()))
    held = [
        [_mixed(GROUND, OURS if one > 0 else THEIRS, (abs(one) / largest) ** 0.5) for one in row]
        for row in influence.tolist()
    ]
    title = f"seed {game.seed}, {game.clock.now.seconds:.0f} s"
    (out / "conflict.png").write_bytes(png_of(_drawn(game, conflict, f"conflict: {title}")))
    (out / "influence.png").write_bytes(png_of(_drawn(game, held, f"influence: {title}")))


def _drawn(game: Skirmish, colours: list[list[Colour]], title: str) -> Drawing:
    height, width = game.ground.area.shape
    drawing = Drawing(width * CELL_PX + 2 * EDGE_PX, height * CELL_PX + TOP_PX + EDGE_PX, title)
    drawing.boxes.append(Box(0, 0, drawing.width, drawing.height, WHITE))
    drawing.texts.append(Words(EDGE_PX, TOP_PX / 2, title))
    for row in range(height):
        for column in range(width):
            colour = colours[row][column] if game.ground.is_open[row, column] else WALL
            drawing.boxes.append(Box(EDGE_PX + column * CELL_PX, TOP_PX + row * CELL_PX, CELL_PX, CELL_PX, colour))
    for place, amount in zip(game.ground.sites.tolist(), game.amounts.tolist(), strict=True):
        drawing.boxes.append(_mark(game, place, 6 if amount > 0 else 2, RESOURCE))
    for base, colour in zip(game.ground.bases.tolist(), (OURS, THEIRS), strict=True):
        drawing.boxes.append(_mark(game, base, 14, colour))
    return drawing


def _mark(game: Skirmish, place: list[float], side_px: int, colour: Colour) -> Box:
    x, y = (one / game.ground.area.cell_m * CELL_PX for one in place)
    return Box(EDGE_PX + x - side_px / 2, TOP_PX + y - side_px / 2, side_px, side_px, colour)


def _mixed(low: Colour, high: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return (red, green, blue)
