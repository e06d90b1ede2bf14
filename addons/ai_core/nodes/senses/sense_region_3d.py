"""SenseRegion3D: a room in which signals travel freely; portals lead out of it."""
from __future__ import annotations

from itertools import product
from typing import Any

from addons.ai_core.bridge.gd import AABB, Basis, Node3D, Vector3, export, gdclass
from addons.ai_core.nodes.senses.drawn_senses import DrawnRegion
from addons.ai_core.nodes.senses.sense_room import Room
from ai_core.senses.sense_graph_shapes import Box, Boxes, Prism, Shape

UNTURNED = Basis.identity

STRAIGHT_M = 1e-3
"""How far edges may be off the axes and still count as along them (m): what float32 makes of a quarter turn."""


@gdclass(icon="res://addons/ai_core/icons/sense_region_3d.svg")
class SenseRegion3D(DrawnRegion, Room, Node3D):
    """A room, corridor or yard of a SenseManager in graph mode: in it signals travel freely.

    It is a box around its position, or the box of a CollisionShape3D that is its child, which may be
    turned about the vertical axis; or several boxes, which a SenseGraphBaker writes. Where regions
    meet, the first in the scene counts. The graph is made of what is in the scene when the first
    sensor or source joins, and stays as it is then.
    """

    size_m = export(
        Vector3, Vector3(10, 3, 10), unit="m", on_set="_set",
        doc="Width, height and depth of the box. Not used if a CollisionShape3D with a BoxShape3D is its child.")
    boxes = export(
        list, (), on_set="_set",
        doc="Several boxes (AABB), relative to its position, in place of size_m: for rooms of any form."
            " A SenseGraphBaker writes them. With them it must not be turned or scaled.")

    dimensions = 3

    def _box(self) -> tuple[Any, Vector3]:
        """Return the node that is the centre of the box, and its size."""
        for child in self.get_children():
            if child.is_class("CollisionShape3D") and child.shape is not None and child.shape.is_class("BoxShape3D"):
                return child, child.shape.size
        return self, self.size_m

    def _shape(self) -> Shape:
        if self.boxes:
            return self._several_boxes()
        centre, size = self._box()
        if not all(side > 0 for side in size):
            raise ValueError(f"has no volume and senses nothing: its size is {size!r}; make every side more than 0")
        corners = [
            tuple(centre.to_global(Vector3(*(side * half for side, half in zip(size, halves, strict=True)))))
            for halves in product((-0.5, 0.5), repeat=3)
        ]
        (x, low, z), (a, high, c) = corners[0], corners[2]      # one edge that should be upright
        if max(abs(x - a), abs(z - c)) > STRAIGHT_M or not low < high:
            raise ValueError("is tilted and senses nothing; turn regions about the vertical axis only")
        floor = [(x, z) for x, _, z in (corners[0], corners[1], corners[5], corners[4])]
        (x, z), (a, c) = floor[:2]
        if min(abs(x - a), abs(z - c)) > STRAIGHT_M:
            return Prism(floor, low, high)
        sides = list(zip(*corners, strict=True))
        return Box(tuple(map(min, sides)), tuple(map(max, sides)))   # type: ignore[arg-type]

    def _several_boxes(self) -> Shape:
        at = self.global_transform
        if max(abs(a - b) for a, b in zip(at[:9], UNTURNED, strict=True)) > STRAIGHT_M:
            raise ValueError("is turned or scaled and senses nothing; a region of several boxes must be neither")
        parts = []
        for number, box in enumerate(self.boxes):
            if not isinstance(box, AABB) or not all(side > 0 for side in box[3:]):
                raise ValueError(
                    f"has no volume and senses nothing: boxes[{number}] must be an AABB with a size, got {box!r}")
            low = [a + b for a, b in zip(at.origin, box, strict=False)]
            parts.append(Box(tuple(low), tuple(a + b for a, b in zip(low, box[3:], strict=True))))  # type: ignore[arg-type]
        return parts[0] if len(parts) == 1 else Boxes(parts)
