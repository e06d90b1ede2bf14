"""What the senses of a running game reach, drawn into it; made when it is asked for."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import construct, singleton
from addons.ai_core.nodes.sense_drawing import COLORS, Points

INTERNAL = 1
ARRAY_VERTEX, ARRAY_COLOR, ARRAY_MAX = 0, 3, 13
PRIMITIVE_LINES = 1
ALPHA = 0.7
"""Lines let the game shine through."""


class SensePicture:
    """Lines of sense nodes as one mesh, or as one canvas item in 2D.

    Args:
        manager: the SenseManager, whose internal child the picture is.
        is_flat: 2D.
    """

    def __init__(self, manager: Any, *, is_flat: bool) -> None:
        self.is_flat = is_flat
        self.mesh: Any = None
        self.node = construct("Node2D" if is_flat else "MeshInstance3D")
        if is_flat:
            self.node.top_level, self.node.z_index = True, 4096
        else:
            self._make_mesh()
        manager.add_child(self.node, False, INTERNAL)

    def _make_mesh(self) -> None:
        self.mesh = construct("ArrayMesh")
        material = construct("StandardMaterial3D")
        material.shading_mode = 0                     # unshaded
        material.vertex_color_use_as_albedo = True
        material.transparency = 1                     # alpha
        self.node.mesh = self.mesh
        self.node.material_override = material
        self.node.cast_shadow = 0

    def show(self, nodes: Iterable[Any]) -> None:
        """Draw nodes where they are now.

        Cost: O(points), 20 to 50 µs a node: for looking at, not for players.
        """
        points, colors = [np.zeros((0, 3), np.float32)], [np.zeros((0, 4), np.float32)]
        for node in nodes:
            placed = _placed_flat if self.is_flat else _placed
            for name, lines in node.drawing().items():
                if len(lines):
                    points.append(placed(node, lines))
                    colors.append(np.tile(np.array([*COLORS[name], ALPHA], np.float32), (len(lines), 1)))
        draw = self._draw_flat if self.is_flat else self._draw
        draw(np.concatenate(points), np.concatenate(colors))

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
        """Take the picture away, and let go of what the engine counts at its end."""
        if self.node.is_valid():
            self.node.queue_free()
        self.mesh = None


def _placed(node: Any, lines: Points) -> Points:
    place = node.global_transform
    axes = np.array([tuple(place.basis.x), tuple(place.basis.y), tuple(place.basis.z)], np.float32)
    return (lines @ axes + np.array(tuple(place.origin), np.float32)).astype(np.float32)


def _placed_flat(node: Any, lines: Points) -> Points:
    place = node.global_transform
    axes = np.array([tuple(place.x), tuple(place.y)], np.float32)
    flat = lines[:, :2] * np.float32(node.unit) @ axes + np.array(tuple(place.origin), np.float32)
    return np.pad(flat, ((0, 0), (0, 1))).astype(np.float32)
