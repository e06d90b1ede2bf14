"""The ways of a PathService, drawn into a running game; a part of that class."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.nodes.debugging.line_picture import LinePicture, Points
from addons.ai_core.nodes.paths.asked_path import AskedPath

FOUND, PARTIAL, WAITING, BLOCKED = (0.35, 0.9, 0.45), (1.0, 0.8, 0.25), (0.6, 0.65, 0.75), (1.0, 0.35, 0.3)
COLORS = {"found": FOUND, "improving": FOUND, "partial": PARTIAL, "waiting": WAITING, "running": WAITING}
"""Ways that lead there, and partial ones; straight lines to goals whose ways are searched; red where none leads."""

ABOVE_GROUND_M = 0.1
"""Ways are drawn so far above the ground, or they would flicker in it (m)."""

MOST_DRAWN = 1000
"""Tickets that are drawn (count): the last ones. More would be a carpet, and slow."""


class DrawnPaths:
    """How a PathService shows its ways; a part of that class."""

    show_in_game: Any
    _asked: dict[int, AskedPath]

    def begin_drawing(self) -> None:
        """Nothing is drawn yet."""
        self._picture: LinePicture | None = None
        self._drawn: tuple[Any, ...] = ()

    def draw_paths(self) -> None:
        """Draw the ways of all tickets that are kept, if something has changed."""
        shown = list(self._asked.values())[-MOST_DRAWN:]
        now = tuple((one.number, one.state, one.ticket.path) for one in shown)
        is_flat = bool(shown) and shown[-1].dimensions == 2
        if self._picture is not None and now and self._picture.is_flat != is_flat:
            self.hide_paths()
        if self._picture is None:
            if not shown:
                return
            self._picture = LinePicture(self, is_flat=is_flat)
        elif now == self._drawn:
            return
        self._drawn = now
        self._picture.draw([
            (_lines(one), COLORS.get(one.state, BLOCKED)) for one in shown
            if one.dimensions == shown[-1].dimensions and one.state != "cancelled"])

    def hide_paths(self) -> None:
        """Draw no more."""
        if self._picture is not None:
            self._picture.free()
        self.begin_drawing()

    def _show_set(self) -> None:
        if not self.show_in_game:
            self.hide_paths()


def _lines(asked: AskedPath) -> Points:
    """Return the lines of a way as pairs of points; of one that is not there, from its start to its goal."""
    points = asked.points
    if not len(points):
        points = asked.ends
    lines = np.repeat(points, 2, axis=0)[1:-1].astype(np.float32)
    if lines.shape[1] == 3:
        lines[:, 1] += np.float32(ABOVE_GROUND_M)
    return lines
