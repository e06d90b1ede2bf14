"""Draws lines in a running game: one mesh, or one canvas item in 2D; created on first use."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import construct, singleton

INTERNAL = 1
ARRAY_VERTEX, ARRAY_COLOR, ARRAY_MAX = 0, 3, 13
PRIMITIVE_LINES = 1
ALPHA = 0.7
"""Opacity of lines; the game shows through."""

Points = NDArray[np.float32]


class LinePicture:
    """Lines in world space.

    Args:
        owner: the node that gets the drawing as an internal child.
        is_flat: True in 2D.
    """

    def __init__(self, owner: Any, *, is_flat: bool) -> None:
        self.is_flat = is_flat
        self.mesh: Any = None
        self.node = construct("Node2D" if is_flat else "MeshInstance3D")
        self.node.top_level = True                    # wherever the owner is
        if is_flat:
            self.node.z_index = 4096
        else:
            self._make_mesh()
        owner.add_child(self.node, False, INTERNAL)

    def _make_mesh(self) -> None:
        self.mesh = construct("ArrayMesh")
        material = construct("StandardMaterial3D")
        material.shading_mode = 0                     # unshaded
        material.vertex_color_use_as_albedo = True
        material.transparency = 1                     # alpha
        self.node.mesh = self.mesh
        self.node.material_override = material
        self.node.cast_shadow = 0

    def draw(self, lines: list[tuple[Points, tuple[float, float, float]]]) -> None:
        """Replace all lines: pairs of points (n, 3), or (n, 2), each batch with its color.

        Cost: O(points).
        """
        lots = [(points, color) for points, color in lines if len(points)]
        points = np.concatenate([np.zeros((0, 3), np.float32), *(_solid(one) for one, _ in lots)])
        colors = np.concatenate([
            np.zeros((0, 4), np.float32),
            *(np.tile(np.array([*color, ALPHA], np.float32), (len(one), 1)) for one, color in lots)])
        if self.is_flat:
            self._draw_flat(points, colors)
        else:
            self._draw(points, colors)

    def _draw(self, points: Points, colors: Points) -> None:
        self.mesh.clear_surfaces()
        if len(points):
            arrays: list[Any] = [None] * ARRAY_MAX
            arrays[ARRAY_VERTEX], arrays[ARRAY_COLOR] = points, colors
            self.mesh.add_surface_from_arrays(PRIMITIVE_LINES, arrays)

    def _draw_flat(self, points: Points, colors: Points) -> None:
        item, server = self.node.get_canvas_item(), singleton("RenderingServer")
        server.canvas_item_clear(item)
        if len(points):
            server.canvas_item_add_multiline(item, points[:, :2].copy(), colors[::2].copy(), 2.0)

    def free(self) -> None:
        """Remove the drawing, and release its resources, which the engine would report as leaked."""
        if self.node.is_valid():
            self.node.queue_free()
        self.mesh = None


def _solid(points: Points) -> Points:
    flat = np.asarray(points, np.float32)
    return flat if flat.shape[1] == 3 else np.pad(flat, ((0, 0), (0, 1)))
