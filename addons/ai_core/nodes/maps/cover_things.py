"""Boxes of things in a scene that may hide somebody, wherever they are and however they lie."""
from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cover_objects import CoverObject

Numbers = NDArray[np.float64]


class ThingBox:
    """The bounds of a node in its own space: of its collision shapes, or else of what is seen of it.

    Args:
        node: a Node3D or Node2D.

    Raises:
        ValueError: if it has no bounds; says what to do.

    Cost: a few engine calls for each shape; later reads of its place take one.
    """

    def __init__(self, node: Any) -> None:
        self.node = node
        self._is_flat = bool(node.is_class("Node2D"))
        parts = self._shapes() or self._seen()
        if not parts:
            kind = "CollisionShape2D or Sprite2D" if self._is_flat else "CollisionShape3D or MeshInstance3D"
            raise ValueError(f"'{node.get_name()}' has no bounds; give it a {kind}")
        corners = np.concatenate(parts)
        self._middle, self._half = (corners.max(0) + corners.min(0)) / 2, (corners.max(0) - corners.min(0)) / 2

    def thing(self, pixels_per_m: float) -> CoverObject:
        """Return where it is now (m). A tilted thing is the upright box around it."""
        axes, origin = _placed(self.node)
        turn = float(np.arctan2(axes[1, 0], axes[0, 0]) if self._is_flat else np.arctan2(-axes[2, 0], axes[0, 0]))
        cos, sin = np.cos(turn), np.sin(turn)
        level = np.array([[cos, sin], [-sin, cos]] if self._is_flat else [[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
        half = np.abs(level @ axes) @ self._half / pixels_per_m
        middle = (axes @ self._middle + origin) / pixels_per_m
        if self._is_flat:
            return CoverObject((*middle.tolist(), 0.0), (*half.tolist(), 0.0), -turn)
        return CoverObject(tuple(middle.tolist()), tuple(half.tolist()), turn)

    def _shapes(self) -> list[Numbers]:
        kind = f"CollisionShape{2 if self._is_flat else 3}D"
        return [
            self._corners(one, one.shape.get_rect() if self._is_flat else one.shape.get_debug_mesh().get_aabb())
            for one in self.node.find_children("*", kind, True, False) if one.shape is not None and not one.disabled]

    def _seen(self) -> list[Numbers]:
        kind = "Sprite2D" if self._is_flat else "VisualInstance3D"
        below = list(self.node.find_children("*", kind, True, False))
        return [self._corners(one, one.get_rect() if self._is_flat else one.get_aabb())
                for one in ([self.node] if self.node.is_class(kind) else []) + below]

    def _corners(self, part: Any, box: Any) -> Numbers:
        """Return the corners of a box of a part, in the space of the node."""
        numbers = np.array(tuple(box), np.float64).reshape(2, -1)
        corners = np.array([numbers[0] + numbers[1] * share for share in product((0, 1), repeat=numbers.shape[1])])
        axes, origin = _placed(part)
        own_axes, own_origin = _placed(self.node)
        return (corners @ axes.T + origin - own_origin) @ np.linalg.inv(own_axes).T


def _placed(node: Any) -> tuple[Numbers, Numbers]:
    """Return axes, as columns, and origin of a node in the world."""
    numbers = np.array(tuple(node.global_transform), np.float64)
    if len(numbers) == 6:
        return numbers[:4].reshape(2, 2).T, numbers[4:]
    return numbers[:9].reshape(3, 3), numbers[9:]
