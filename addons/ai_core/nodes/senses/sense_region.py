"""What SenseRegion3D and SenseRegion2D share: what signals keep in it, and what it smells of."""
from __future__ import annotations

from itertools import product
from typing import Any

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import (
    AABB,
    Basis,
    Node,
    Node2D,
    Node3D,
    Rect2,
    RefusedValue,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
)
from addons.ai_core.nodes.senses.drawn_senses import DrawnRegion
from addons.ai_core.nodes.senses.sense_place import REGIONS, SensePlace, is_baked
from ai_core.senses.graph.sense_graph_parts import SenseRegion
from ai_core.senses.graph.sense_graph_shapes import Box, Boxes, Prism, Shape


class RegionBase(SensePlace):
    """A region, but for its shape; a part of those classes."""

    sight_kept_per_meter = export(
        float, 1.0, range=(0, 1, 0.001), group="Senses", on_set="_set",
        doc="Share of what is seen that is kept per metre: less in fog or smoke.")
    hearing_kept_per_meter = export(
        float, -1.0, range=(-1, 1, 0.001), on_set="_set",
        doc="Share of a sound that is kept per metre; a negative one takes the SenseManager's.")
    smell_dissipation = export(
        float, 0.0, range=(0, 1, 0.001), on_set="_set",
        doc="Share of a smell that is lost per second, as through an open window.")
    other_kept_per_meter = export(
        dict, (), hint=dictionary_of(str, float), on_set="_set",
        doc="Share kept per metre of modalities of your own, by name; else it is the modality's.")

    group_name = REGIONS

    @method
    def get_smell_of(self, source: Node, modality: str = "smell") -> float:
        """Return how strong the scent of a source is in here; 0 where there is none."""
        core, region = self._place()
        return core.smell_in(region, self._id_of(source), modality)

    @method
    def get_smelliest_neighbor(self, source: Node, modality: str = "smell") -> Node:
        """Return the region from where the scent of a source comes stronger than it is here; else null.

        Going there, and asking that one, leads to where it is strongest.
        """
        core, region = self._place()
        found = core.uphill_from(region, self._id_of(source), modality)
        return None if found is None else self._manager.region_node(core.graph.regions[found.region].name)

    def region(self, name: str) -> SenseRegion:
        """Return it as the library's region; its configuration warnings are none."""
        kept_per_m = {"sight": self.sight_kept_per_meter, **self.other_kept_per_meter}
        if self.hearing_kept_per_meter >= 0:
            kept_per_m["hearing"] = self.hearing_kept_per_meter
        return SenseRegion(
            name, self._shape(), kept_per_m=kept_per_m, dissipation={"smell": self.smell_dissipation},
            is_baked=is_baked(self))

    def senses_named(self) -> list[str]:
        """Return the names of modalities in its settings."""
        return list(self.other_kept_per_meter)

    def wrong_settings(self) -> list[str]:
        try:
            self.region("checked")
        except (TypeError, ValueError) as error:
            return [str(error)]
        return []

    def _shape(self) -> Shape:
        """Return its shape (m), or raise ValueError that says what is wrong with it."""
        raise NotImplementedError

    def _id_of(self, source: Any) -> int:
        """Return the id of a source; -1, which smells nowhere, if it has left or is another manager's."""
        wanted = f"SenseSource{self.dimensions}D"
        if source is None or not source.is_class(wanted):
            raise RefusedValue(f"source must be a {wanted}, got {source!r}")
        return int(source.source_id) if source.belongs_to(self._manager) else -1


STRAIGHT_M = 1e-3
"""How far edges may be off the axes and still count as along them (m): what float32 makes of a quarter turn."""


@gdclass(icon="res://addons/ai_core/icons/sense_region_2d.svg")
class SenseRegion2D(DrawnRegion, RegionBase, Node2D):
    """A room, corridor or yard of a SenseManager in graph mode and 2D: in it signals travel freely.

    It is a rectangle around its position, or that of a CollisionShape2D that is its child, which may be
    turned; or several rectangles, which a SenseGraphBaker writes. Where regions meet, the first in the
    scene counts. The graph is made of what is in the scene when the first sensor or source joins, and
    stays as it is then.
    """

    size = export(
        Vector2, Vector2(10, 10), unit="m", on_set="_set",
        doc="Width and height of the rectangle. Not used if a CollisionShape2D with a RectangleShape2D is its child.")
    boxes = export(
        list, (), on_set="_set",
        doc="Several rectangles (Rect2), relative to its position, in place of size: for rooms of any form."
            " A SenseGraphBaker writes them. With them it must not be turned or scaled.")
    ceiling_height = export(
        float, 3.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m", on_set="_set",
        doc="How high the room is that the picture shows from above or from the side; smells thin out in its volume.")

    dimensions, is_flat = 2, True

    def _box(self) -> tuple[Any, tuple[float, float, float]]:
        """Return the node that is the centre of the rectangle, and its size."""
        for child in self.get_children():
            shape = child.shape if child.is_class("CollisionShape2D") else None
            if shape is not None and shape.is_class("RectangleShape2D"):
                return child, (shape.size.x, shape.size.y, 0.0)
        return self, (self.size.x, self.size.y, 0.0)

    def _shape(self) -> Shape:
        if self.boxes:
            return self._several_boxes()
        centre, (width, height, _) = self._box()
        if not (width > 0 and height > 0):
            raise ValueError(
                f"has no volume and senses nothing: its size is {(width, height)} px; make every side more than 0")
        corners = []
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
            corner = centre.to_global(self.point_of((x * width, y * height, 0.0)))
            corners.append(self.metres_of(corner)[:2])
        (x, y), (a, b) = corners[:2]
        high = self.ceiling_height / self.unit / 2
        if min(abs(x - a), abs(y - b)) > STRAIGHT_M:
            return Prism(corners, -high, high, "z")
        across, along = zip(*corners, strict=True)
        return Box((min(across), min(along), -high), (max(across), max(along), high))

    def _several_boxes(self) -> Shape:
        at = self.global_transform
        if max(abs(a - b) for a, b in zip((*at.x, *at.y), (1, 0, 0, 1), strict=True)) > STRAIGHT_M:
            raise ValueError("is turned or scaled and senses nothing; a region of several boxes must be neither")
        unit = self.unit
        x, y, _ = self.metres_of(self.global_position)
        high = self.ceiling_height / unit / 2
        parts = []
        for number, box in enumerate(self.boxes):
            if not isinstance(box, Rect2) or not all(side > 0 for side in box[2:]):
                raise ValueError(
                    f"has no volume and senses nothing: boxes[{number}] must be a Rect2 with a size, got {box!r}")
            left, top, width, height = (one / unit for one in box)
            parts.append(Box((x + left, y + top, -high), (x + left + width, y + top + height, high)))
        return parts[0] if len(parts) == 1 else Boxes(parts)


UNTURNED = Basis.identity
"""How far edges may be off the axes and still count as along them (m): what float32 makes of a quarter turn."""


@gdclass(icon="res://addons/ai_core/icons/sense_region_3d.svg")
class SenseRegion3D(DrawnRegion, RegionBase, Node3D):
    """A room, corridor or yard of a SenseManager in graph mode: in it signals travel freely.

    It is a box around its position, or the box of a CollisionShape3D that is its child, which may be
    turned about the vertical axis; or several boxes, which a SenseGraphBaker writes. Where regions
    meet, the first in the scene counts. The graph is made of what is in the scene when the first
    sensor or source joins, and stays as it is then.
    """

    size = export(
        Vector3, Vector3(10, 3, 10), unit="m", on_set="_set",
        doc="Width, height and depth of the box. Not used if a CollisionShape3D with a BoxShape3D is its child.")
    boxes = export(
        list, (), on_set="_set",
        doc="Several boxes (AABB), relative to its position, in place of size: for rooms of any form."
            " A SenseGraphBaker writes them. With them it must not be turned or scaled.")

    dimensions = 3

    def _box(self) -> tuple[Any, Vector3]:
        """Return the node that is the centre of the box, and its size."""
        for child in self.get_children():
            if child.is_class("CollisionShape3D") and child.shape is not None and child.shape.is_class("BoxShape3D"):
                return child, child.shape.size
        return self, self.size

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
