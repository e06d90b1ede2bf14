"""Draws the ranges of sense nodes in a running game."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from addons.ai_core.nodes.debugging.line_picture import LinePicture
from addons.ai_core.nodes.senses.sense_drawing import COLORS, Points


class SensePicture(LinePicture):
    """Draws the lines of sense nodes."""

    def show(self, nodes: Iterable[Any]) -> None:
        """Draw nodes at their present positions.

        Cost: O(points), 20 to 50 µs per node; for debugging, not for players.
        """
        placed = _placed_flat if self.is_flat else _placed
        self.draw([
            (placed(node, lines), COLORS[name])
            for node in nodes for name, lines in node.drawing().items() if len(lines)])


def _placed(node: Any, lines: Points) -> Points:
    place = node.global_transform
    axes = np.array([tuple(place.basis.x), tuple(place.basis.y), tuple(place.basis.z)], np.float32)
    return (lines @ axes + np.array(tuple(place.origin), np.float32)).astype(np.float32)


def _placed_flat(node: Any, lines: Points) -> Points:
    place = node.global_transform
    axes = np.array([tuple(place.x), tuple(place.y)], np.float32)
    flat = lines[:, :2] @ axes + np.array(tuple(place.origin), np.float32)
    return np.pad(flat, ((0, 0), (0, 1))).astype(np.float32)
