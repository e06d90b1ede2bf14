"""Drawing of a squad: its path, slots and members in the game, and its slots in the editor."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Color
from addons.ai_core.nodes.debugging.game_picture import DrawnShapes, GamePicture, Points
from ai_core.squads.formation import Formation

COMMANDER = (1.0, 0.85, 0.3)
SLOT = (0.35, 0.7, 1.0)
PATH = (0.5, 0.9, 0.4)
TO_SLOT = (1.0, 0.5, 0.2)
SIDES = 12
"""Corners of the circle drawn for a slot."""
RADIUS_SHARE = 0.3
"""Radius of that circle as a share of the spacing."""
LIFTED_M = 0.05
"""Height of lines above the ground (m), so that the ground does not hide them."""


class SquadDrawing:
    """Draws a squad in the game.

    Args:
        squad: the Squad.
    """

    def __init__(self, squad: Any) -> None:
        self._squad = squad
        self._picture: GamePicture | None = None

    def show(self) -> None:
        """Draw the squad at its present position. Cost: O(members); for debugging, not for players."""
        squad, core, unit = self._squad, self._squad.core, np.float32(self._squad.unit)
        if self._picture is None:
            self._picture = GamePicture(squad, is_flat=squad.is_flat)
        slots, path = core.slot_positions() * unit, core.path_points * unit
        to_slots = np.stack([core.positions, core.destinations], axis=1).reshape(-1, squad.has_dimensions) * unit
        radius = RADIUS_SHARE * core.formation.spacing_m * squad.unit
        lines = [
            (to_slots, TO_SLOT, "member to its slot"), (_rings(slots[1:], radius), SLOT, "slot"),
            (_rings(slots[:1], radius), COMMANDER, "commander")]
        if len(path) > 1:
            lines.append((np.repeat(path, 2, axis=0)[1:-1], PATH, "path of the squad"))
        self._picture.draw([DrawnShapes(_lifted(one), color, meaning) for one, color, meaning in lines])

    def hide(self) -> None:
        """Remove the drawing; ``show`` draws it again."""
        if self._picture is not None:
            self._picture.free()
            self._picture = None


def slots_drawing(formation: Formation, count: int, body: Any, dimensions: int, unit: float) -> dict[Color, Points]:
    """Return lines in the world by color: the slots of a formation around a node, in its orientation.

    Args:
        formation: the library's formation.
        count: number of slots.
        body: node of the commander, None for the origin.
        dimensions: 2 or 3.
        unit: length of a metre in the scene.
    """
    places = _placed(formation.slots(count) * unit, body, dimensions)
    radius = RADIUS_SHARE * formation.spacing_m * unit
    return {
        Color(*color, 1.0): _solid(_rings(rows, radius))
        for color, rows in ((COMMANDER, places[:1]), (SLOT, places[1:])) if len(rows)}


def _placed(offsets: NDArray[np.float64], body: Any, dimensions: int) -> Points:
    """Return slots in the world, ahead and to the right of a node; around the origin if it is None."""
    if dimensions == 2:
        angle = 0.0 if body is None else body.get_global_rotation()
        origin = (0.0, 0.0) if body is None else tuple(body.get_global_position())
        ahead, right = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
    else:
        angle = 0.0 if body is None else body.get_global_rotation().y
        origin = (0.0, 0.0, 0.0) if body is None else tuple(body.get_global_position())
        ahead = (-math.sin(angle), 0.0, -math.cos(angle))
        right = (math.cos(angle), 0.0, -math.sin(angle))
    return (np.array(origin) + offsets[:, :1] * ahead + offsets[:, 1:] * right).astype(np.float32)


def _rings(places: Points, radius: float) -> Points:
    """Return circles around places, as pairs of points."""
    dimensions = places.shape[1]
    angles = np.linspace(0, math.tau, SIDES + 1)
    ring = np.zeros((SIDES + 1, dimensions))
    ring[:, 0], ring[:, -1] = radius * np.cos(angles), radius * np.sin(angles)
    pairs = np.repeat(ring, 2, axis=0)[1:-1]
    return (places[:, None] + pairs[None]).reshape(-1, dimensions).astype(np.float32)


def _lifted(points: Points) -> Points:
    return points + np.array([0, LIFTED_M, 0], np.float32) if points.shape[1] == 3 else points


def _solid(points: Points) -> Points:
    lifted = _lifted(points)
    return lifted if lifted.shape[1] == 3 else np.pad(lifted, ((0, 0), (0, 1)))
