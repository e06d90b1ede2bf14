"""SenseRegion2D: a room in which signals travel freely; portals lead out of it."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node2D, Rect2, Vector2, export, gdclass
from addons.ai_core.nodes.senses.drawn_senses import DrawnRegion
from addons.ai_core.nodes.senses.sense_room import Room
from ai_core.senses.sense_graph_shapes import Box, Boxes, Prism, Shape

STRAIGHT_M = 1e-3
"""How far edges may be off the axes and still count as along them (m): what float32 makes of a quarter turn."""


@gdclass(icon="res://addons/ai_core/icons/sense_region_2d.svg")
class SenseRegion2D(DrawnRegion, Room, Node2D):
    """A room, corridor or yard of a SenseManager in graph mode and 2D: in it signals travel freely.

    It is a rectangle around its position, or that of a CollisionShape2D that is its child, which may be
    turned; or several rectangles, which a SenseGraphBaker writes. Where regions meet, the first in the
    scene counts. The graph is made of what is in the scene when the first sensor or source joins, and
    stays as it is then.
    """

    size_m = export(
        Vector2, Vector2(10, 10), unit="m", on_set="_set",
        doc="Width and height of the rectangle in metres, which are pixels_per_m of the SenseManager long. Not used if"
            " a CollisionShape2D with a RectangleShape2D is its child.")
    boxes = export(
        list, (), on_set="_set",
        doc="Several rectangles (Rect2) in metres, relative to its position, in place of size_m: for rooms of any form."
            " A SenseGraphBaker writes them. With them it must not be turned or scaled.")
    ceiling_m = export(
        float, 3.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m", on_set="_set",
        doc="How high the room is that the picture shows from above or from the side; smells thin out in its volume.")

    dimensions = 2

    def _box(self) -> tuple[Any, tuple[float, float, float]]:
        """Return the node that is the centre of the rectangle, and its size (m)."""
        for child in self.get_children():
            shape = child.shape if child.is_class("CollisionShape2D") else None
            if shape is not None and shape.is_class("RectangleShape2D"):
                return child, (shape.size.x / self.unit, shape.size.y / self.unit, 0.0)
        return self, (self.size_m.x, self.size_m.y, 0.0)

    def _shape(self) -> Shape:
        if self.boxes:
            return self._several_boxes()
        centre, (width, height, _) = self._box()
        if not (width > 0 and height > 0):
            raise ValueError(
                f"has no volume and senses nothing: its size is {(width, height)} m; make every side more than 0")
        corners = []
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
            corner = centre.to_global(self.point_of((x * width, y * height, 0.0)))
            corners.append(self.metres_of(corner)[:2])
        (x, y), (a, b) = corners[:2]
        if min(abs(x - a), abs(y - b)) > STRAIGHT_M:
            return Prism(corners, -self.ceiling_m / 2, self.ceiling_m / 2, "z")
        across, along = zip(*corners, strict=True)
        return Box(
            (min(across), min(along), -self.ceiling_m / 2), (max(across), max(along), self.ceiling_m / 2))

    def _several_boxes(self) -> Shape:
        at = self.global_transform
        if max(abs(a - b) for a, b in zip((*at.x, *at.y), (1, 0, 0, 1), strict=True)) > STRAIGHT_M:
            raise ValueError("is turned or scaled and senses nothing; a region of several boxes must be neither")
        x, y, _ = self.metres_of(self.global_position)
        high = self.ceiling_m / 2
        parts = []
        for number, box in enumerate(self.boxes):
            if not isinstance(box, Rect2) or not all(side > 0 for side in box[2:]):
                raise ValueError(
                    f"has no volume and senses nothing: boxes[{number}] must be a Rect2 with a size, got {box!r}")
            left, top, width, height = box
            parts.append(Box((x + left, y + top, -high), (x + left + width, y + top + height, high)))
        return parts[0] if len(parts) == 1 else Boxes(parts)
