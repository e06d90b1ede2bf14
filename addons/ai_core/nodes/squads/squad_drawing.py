"""A squad's path and slots as lines: in the running game, and in the editor; a part of the Squad node."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Color, RefusedValue, editor_method
from addons.ai_core.nodes.characters.agent_places import place_of
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.debugging.line_picture import LinePicture

Points = NDArray[np.float32]

COMMANDER = (1.0, 0.85, 0.3)
SLOT = (0.35, 0.7, 1.0)
WAY = (0.5, 0.9, 0.4)
TO_SLOT = (0.6, 0.6, 0.65)

SIDES = 12
"""Corners of the circle that stands for a slot."""

LIFTED_M = 0.05
"""How far lines are above the ground (m), so that it does not hide them."""

SHOWN_WITHOUT_MEMBERS = 5
"""Slots that the editor shows of a squad that has no members yet (count)."""


class SquadDrawing:
    """Lines of a squad."""

    core: Any
    unit: float
    has_dimensions: int

    def begin_drawing(self: Any) -> None:
        self._picture: Any = None

    def show_squad(self: Any) -> None:
        """Draw the squad where it is now. Cost: O(members), for looking at, not for players."""
        if self._picture is None:
            self._picture = LinePicture(self, is_flat=self.has_dimensions == 2)
        core, unit = self.core, np.float32(self.unit)
        slots = core.slot_places() * unit
        ways = np.stack([core.positions * unit, core.destinations * unit], axis=1).reshape(-1, self.has_dimensions)
        way = core.path_points * unit
        radius = 0.3 * core.formation.spacing_m * self.unit
        lines = [(ways, TO_SLOT), (_rings(slots[1:], radius), SLOT), (_rings(slots[:1], radius), COMMANDER)]
        if len(way) > 1:
            lines.append((np.repeat(way, 2, axis=0)[1:-1], WAY))
        self._picture.draw([(_lifted(one), color) for one, color in lines])

    def hide_squad(self: Any) -> None:
        """Take the picture away; it is drawn again if it is still wanted."""
        if self._picture is not None:
            self._picture.free()
            self._picture = None

    @editor_method
    def _get_slots_drawing(self: Any) -> dict:
        """Return lines in the world, by color: the slots around its first member, as it looks."""
        members = [one for one in nodes_of(self, "SquadMember") if one._named_squad() == self]
        bodies = [body for one in members if (body := place_of(one)) is not None]
        try:
            pattern = self._pattern()
        except RefusedValue:
            return {}
        offsets = pattern.slots(len(members) or SHOWN_WITHOUT_MEMBERS) * self.unit
        places = _placed(offsets, bodies[0] if bodies else None, self.has_dimensions)
        radius = 0.3 * pattern.spacing_m * self.unit
        return {
            Color(*color, 1.0): _solid(_rings(rows, radius))
            for color, rows in ((COMMANDER, places[:1]), (SLOT, places[1:])) if len(rows)}


def _placed(offsets: NDArray[np.float64], body: Any, dimensions: int) -> Points:
    """Return slots in the world, ahead and to the right of a node; about the origin if there is none."""
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
    if points.shape[1] == 3:
        points = points + np.array([0, LIFTED_M, 0], np.float32)
    return points


def _solid(points: Points) -> Any:
    lifted = _lifted(points)
    return lifted if lifted.shape[1] == 3 else np.pad(lifted, ((0, 0), (0, 1)))


