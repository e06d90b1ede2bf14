"""Draws lines and filled shapes in a running game, with one legend: a mesh, or a canvas item in 2D."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Color, construct, singleton

INTERNAL = 1
ARRAY_VERTEX, ARRAY_COLOR, ARRAY_MAX = 0, 3, 13
PRIMITIVE_LINES, PRIMITIVE_TRIANGLES = 1, 3
LINE_OPACITY = 0.7
"""Opacity of lines; the game shows through."""

LINE_PX = 2.0
LEGEND = "res://addons/ai_core/debugging/legend.gd"
LEGENDS = "_ai_core_legend"
"""Group of the legend, which all pictures of a scene tree share."""

Points = NDArray[np.float32]


class DrawnShapes(NamedTuple):
    """Lines or triangles of one meaning.

    Attributes:
        points: shape (n, 3), or (n, 2); two points for each line, three for each triangle.
        color: red, green, blue.
        meaning: text in the legend; "" for none.
        opacity: of all points, or shape (n,).
        is_filled: whether these are triangles.
    """

    points: Points
    color: tuple[float, float, float]
    meaning: str = ""
    opacity: float | NDArray[np.float32] = LINE_OPACITY
    is_filled: bool = False


class LegendPart:
    """The meanings of the colors of one drawing, in the legend of all drawings.

    Args:
        node: the drawing.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._legend: Any = None
        self._meanings: dict[str, Color] = {}

    def put(self, meanings: dict[str, Color]) -> None:
        """Replace the meanings: texts and their colors."""
        has_legend = self._legend is not None and self._legend.is_valid()
        if (has_legend and meanings == self._meanings) or not self._node.is_inside_tree():
            return
        self._meanings = meanings
        if not has_legend:
            self._legend = self._node.get_tree().get_first_node_in_group(LEGENDS)
        if self._legend is None:
            self._legend = singleton("ResourceLoader").load(LEGEND).new()
            self._legend.add_to_group(LEGENDS)
            self._node.add_child(self._legend)
        self._legend.put(self._node.instance_id, meanings)

    def free(self) -> None:
        """Remove the meanings."""
        if self._legend is not None and self._legend.is_valid():
            self._legend.put(self._node.instance_id, {})
        self._legend = None


class GamePicture:
    """Lines and filled shapes in world space.

    Args:
        owner: the node that gets the drawing as an internal child.
        is_flat: True in 2D.
    """

    def __init__(self, owner: Any, *, is_flat: bool) -> None:
        self.is_flat = is_flat
        self.mesh: Any = None
        self.node = construct("Node2D" if is_flat else "MeshInstance3D")
        self.node.top_level = True                    # wherever the owner is
        self._legend = LegendPart(self.node)
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
        material.cull_mode = 2                        # both sides
        self.node.mesh = self.mesh
        self.node.material_override = material
        self.node.cast_shadow = 0

    def draw(self, shapes: Sequence[DrawnShapes]) -> None:
        """Replace the drawing, filled shapes below lines, and show its meanings in the legend.

        Cost: O(points).
        """
        shown = [one for one in shapes if len(one.points)]
        fills, lines = ([one for one in shown if one.is_filled is filled] for filled in (True, False))
        if self.is_flat:
            self._draw_flat(*_joined(fills), *_joined(lines))
        else:
            self.mesh.clear_surfaces()
            self._add_surface(PRIMITIVE_TRIANGLES, *_joined(fills))
            self._add_surface(PRIMITIVE_LINES, *_joined(lines))
        self._legend.put({one.meaning: Color(*one.color, 1.0) for one in shown if one.meaning})

    def _add_surface(self, primitive: int, points: Points, colors: Points) -> None:
        if len(points):
            arrays: list[Any] = [None] * ARRAY_MAX
            arrays[ARRAY_VERTEX], arrays[ARRAY_COLOR] = points, colors
            self.mesh.add_surface_from_arrays(primitive, arrays)

    def _draw_flat(self, corners: Points, fill_colors: Points, ends: Points, line_colors: Points) -> None:
        item, server = self.node.get_canvas_item(), singleton("RenderingServer")
        server.canvas_item_clear(item)
        if len(corners):
            server.canvas_item_add_triangle_array(
                item, np.arange(len(corners), dtype=np.int32), corners[:, :2].copy(), fill_colors)
        if len(ends):
            server.canvas_item_add_multiline(item, ends[:, :2].copy(), line_colors[::2].copy(), LINE_PX)

    def free(self) -> None:
        """Remove the drawing, and release its resources, which the engine would report as leaked."""
        self._legend.free()
        if self.node.is_valid():
            self.node.queue_free()
        self.mesh = None


def _joined(shapes: list[DrawnShapes]) -> tuple[Points, Points]:
    """Return the points of shapes in 3D, and the color of each."""
    points, colors = [np.zeros((0, 3), np.float32)], [np.zeros((0, 4), np.float32)]
    for one in shapes:
        solid = np.asarray(one.points, np.float32)
        points.append(solid if solid.shape[1] == 3 else np.pad(solid, ((0, 0), (0, 1))))
        rows = np.empty((len(solid), 4), np.float32)
        rows[:, :3], rows[:, 3] = one.color, one.opacity
        colors.append(rows)
    return np.concatenate(points), np.concatenate(colors)
