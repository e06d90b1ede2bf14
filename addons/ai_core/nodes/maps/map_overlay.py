"""Draws a layer of a DecisionMap over the ground of a running game; created on first use."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Vector2, Vector3, construct

INTERNAL = 1
RGBA8 = 5
COLD, WARM, HOT = (0.1, 0.25, 0.9), (0.95, 0.8, 0.2), (0.95, 0.1, 0.1)
LEAST_ALPHA, MOST_ALPHA = 0.12, 0.75
"""Opacity of the lowest and the highest values: cells of value 0 stay visible, and the game shows through all."""

ABOVE_GROUND_M = 0.1


def heat_colors(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return colors from cold to hot, (height, width, 4), by share of the largest value."""
    largest = float(values.max())
    share = (values / largest if largest > 0 else np.zeros_like(values))[..., None]
    stops = np.array([COLD, WARM, HOT])
    low, high = np.where(share < 0.5, stops[0], stops[1]), np.where(share < 0.5, stops[1], stops[2])
    mixed = low + (high - low) * (2 * share % 1.0 + (share == 1.0))
    alpha = np.where(share > 0, LEAST_ALPHA + (MOST_ALPHA - LEAST_ALPHA) * share, LEAST_ALPHA / 2)
    return np.ascontiguousarray(np.concatenate((mixed, alpha), axis=2) * 255, np.uint8)


class MapOverlay:
    """A texture of cells on a plane over the map, or on a sprite in 2D.

    Args:
        node: the DecisionMap, which gets it as an internal child.
    """

    def __init__(self, node: Any) -> None:
        self._texture: Any = None
        self._image = construct("Image")
        size, corner = node.size, node.corner
        if node.is_flat:
            self.node = construct("Sprite2D")
            self.node.top_level, self.node.centered, self.node.z_index = True, False, 4095
            self.node.position = corner
            self.node.scale = Vector2(node.cell_size, node.cell_size)
            self.node.texture_filter = 1            # nearest: cells stay visible
        else:
            self.node, plane = construct("MeshInstance3D"), construct("PlaneMesh")
            plane.size = size
            self.node.mesh, self.node.top_level, self.node.cast_shadow = plane, True, 0
            self.node.position = Vector3(
                corner.x + size.x / 2, node.shown_height + ABOVE_GROUND_M, corner.y + size.y / 2)
        node.add_child(self.node, False, INTERNAL)

    def show(self, values: NDArray[np.float32]) -> None:
        """Draw a layer. Cost: O(cells); for debugging, not for players."""
        height, width = values.shape
        self._image.set_data(width, height, False, RGBA8, heat_colors(values).tobytes())
        if self._texture is not None:
            self._texture.update(self._image)
            return
        self._texture = construct("ImageTexture")
        self._texture.set_image(self._image)
        if self.node.is_class("Sprite2D"):
            self.node.texture = self._texture
            return
        material = construct("StandardMaterial3D")
        material.shading_mode, material.transparency, material.cull_mode = 0, 1, 2
        material.texture_filter = 0
        material.albedo_texture = self._texture
        self.node.material_override = material

    def free(self) -> None:
        """Remove the drawing, and release its resources, which the engine would report as leaked."""
        if self.node.is_valid():
            self.node.queue_free()
        self._texture = self._image = None
