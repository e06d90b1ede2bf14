"""Base class of SenseRegion3D and SenseRegion2D: the shares that signals keep in a region, and its scents."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import (
    AABB,
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
from addons.ai_core.nodes.senses.sense_drawing import DragHandle, DrawnNode, Points, along_axis, box
from addons.ai_core.nodes.senses.sense_place import REGIONS, SensePlace, is_baked
from ai_core.senses.graph.parts import Box, Boxes, Prism, SenseRegion, Shape


def _box_lines(one: Any, dimensions: int) -> Points:
    """Return the edges of an AABB, or a Rect2."""
    low, size = list(one[:dimensions]), one[dimensions:]
    high = [start + side for start, side in zip(low, size, strict=True)]
    return box(low, high) if dimensions == 3 else box([*low, 0.0], [*high, 0.0])


class RegionBase(DrawnNode, SensePlace):
    """Base class of SenseRegion3D and SenseRegion2D, which add shapes."""

    sight_kept_per_meter = export(
        float, 1.0, range=(0, 1, 0.001), group="Senses", on_set="_set",
        doc="Share of the strength in sight that is kept per metre; lower in fog or smoke.")
    hearing_kept_per_meter = export(
        float, -1.0, range=(-1, 1, 0.001), on_set="_set",
        doc="Share of the strength of a sound that is kept per metre; a negative value uses that of the SenseManager.")
    smell_dissipation = export(
        float, 0.0, range=(0, 1, 0.001), on_set="_set",
        doc="Share of a smell, or of a custom modality that is slow, that is lost per second, such as through an open"
            " window.")
    other_kept_per_meter = export(
        dict, (), hint=dictionary_of(str, float), on_set="_set",
        doc="Share kept per metre in custom modalities, by name; other modalities use their own.")

    group_name = REGIONS

    @method
    def get_smell_of(self, source: Node, modality: str = "smell") -> float:
        """Return the strength of the scent of a source in this region; 0 if there is none."""
        core, region = self._place()
        return core.smell_in(region, self._id_of(source), modality)

    @method
    def get_smelliest_neighbor(self, source: Node, modality: str = "smell") -> Node:
        """Return the neighboring region with a stronger scent of a source than this region; null if there is none.

        To find the strongest scent, move there and call this method of that region again.
        """
        core, region = self._place()
        found = core.uphill_from(region, self._id_of(source), modality)
        return None if found is None else self._manager.region_node(core.graph.regions[found.region].name)

    def region(self, name: str, smells: Sequence[str] = ()) -> SenseRegion:
        """Return the library's region, where ``smells`` dissipate; call it only without configuration warnings."""
        kept_per_m = {"sight": self.sight_kept_per_meter, **self.other_kept_per_meter}
        if self.hearing_kept_per_meter >= 0:
            kept_per_m["hearing"] = self.hearing_kept_per_meter
        return SenseRegion(
            name, self._shape(), kept_per_m=kept_per_m, is_baked=is_baked(self),
            dissipation=dict.fromkeys(smells, self.smell_dissipation))

    def senses_named(self) -> list[str]:
        """Return the names of the modalities in its settings."""
        return list(self.other_kept_per_meter)

    def wrong_settings(self) -> list[str]:
        try:
            self.region("checked")
        except (TypeError, ValueError) as error:
            return [str(error)]
        return []

    def _shape(self) -> Shape:
        """Return the shape (m); raise ValueError if it is invalid."""
        if self.boxes:
            return self._several_boxes()
        centre, size = self._box()
        if not all(side > 0 for side in size[: self.dimensions]):
            raise ValueError(
                f"has no volume and carries no signals: its size is {tuple(size[: self.dimensions])}"
                f" {'px' if self.is_flat else 'm'}; make every side more than 0")
        prism = self._prism([
            self.metres_of(centre.to_global(self.point_of([side * half for side, half in zip(size, one, strict=True)])))
            for one in self.corners])
        (x, y), (a, b) = prism.corners[:2]
        return prism if min(abs(x - a), abs(y - b)) > STRAIGHT_M else Box(prism.minimum, prism.maximum)

    def _prism(self, corners: list[tuple[float, float, float]]) -> Prism:
        """Return the region as a prism, from its ``corners`` (m); raise ValueError if it is tilted."""
        raise NotImplementedError

    def _several_boxes(self) -> Shape:
        at, count, kind = self.global_transform, self.dimensions, Rect2 if self.is_flat else AABB
        if np.abs(np.array(at[: count**2]) - np.eye(count).ravel()).max() > STRAIGHT_M:
            raise ValueError("is rotated or scaled, and carries no signals; reset both, or use size instead of boxes")
        parts = []
        for number, part in enumerate(self.boxes):
            if not isinstance(part, kind) or not all(side > 0 for side in part[count:]):
                raise ValueError(
                    f"has no volume and carries no signals: boxes[{number}] must be of class"
                    f" {kind.__name__} and have a size, got {part!r}")
            low = [(a + b) / self.unit for a, b in zip(at.origin, part, strict=False)]
            high = [a + b / self.unit for a, b in zip(low, part[count:], strict=True)]
            parts.append(Box([*low, -self.half_height_m][:3], [*high, self.half_height_m][:3]))  # type: ignore[arg-type]
        return parts[0] if len(parts) == 1 else Boxes(parts)

    def _box(self) -> tuple[Any, Any]:
        """Return the node that is the centre of the box or rectangle, and its size; in 2D with a height of 0."""
        centre, size = self, self.size
        for child in self.get_children():
            shape = child.shape if child.is_class(f"CollisionShape{self.dimensions}D") else None
            if centre is self and shape is not None and shape.is_class(self.shape_class):
                centre, size = child, shape.size
        return centre, [*size, 0.0][:3]

    def _id_of(self, source: Any) -> int:
        """Return the id of a source; -1, which has no scent, if it has left or belongs to another manager."""
        wanted = f"SenseSource{self.dimensions}D"
        if source is None or not source.is_class(wanted):
            raise RefusedValue(f"source must be a {wanted}, got {source!r}")
        return int(source.source_id) if source.belongs_to(self._manager) else -1

    is_always_drawn = True
    boxes: Any = ()
    half_height_m = 0.0
    shape_class = ""
    corners: tuple[tuple[float, float, float], ...] = ()
    """The corners of its floor, as shares of its size; in 3D also the one above the first."""

    def drawing(self) -> dict[str, Points]:
        if self.boxes:
            return {"region": np.concatenate([_box_lines(one, self.dimensions) for one in self.boxes])}
        centre, size = self._box()
        lines = box([-side / 2 for side in size], [side / 2 for side in size])
        if centre is not self:
            places = [self.to_local(centre.to_global(self.point_of(one))) for one in lines.tolist()]
            lines = np.array([self.place_of(one) for one in places], np.float32)
        return {"region": lines}

    def handles(self) -> list[DragHandle]:
        if self.boxes or self._box()[0] is not self:
            return []                      # baked; or the shape has its own handles
        return [self._face(side, sign) for side in range(self.dimensions) for sign in (1, -1)]

    def _face(self, side: int, sign: int) -> DragHandle:
        axis = tuple(float(sign) if one == side else 0.0 for one in range(3))
        half = self.size[side] / 2

        def drag(origin: Vector3, direction: Vector3) -> None:
            length = max(0.1, round(half + along_axis(axis, origin, direction), 0 if self.is_flat else 2))
            size = [length if one == side else part for one, part in enumerate(self.size)]
            shift = length / 2 - half
            self.global_position = self.to_global(self.point_of([shift * part for part in axis]))
            self.size = type(self.size)(*size)

        name = f"{'xyz'[side]} of size"
        return DragHandle(name, tuple(half * part for part in axis), ((self, "size"), (self, "global_position")), drag)


STRAIGHT_M = 1e-3
"""Largest deviation of an edge that counts as parallel to an axis (m): the float32 error of a quarter turn."""


@gdclass(icon="res://addons/ai_core/icons/sense_region_2d.svg")
class SenseRegion2D(RegionBase, Node2D):
    """A room, corridor or yard of a 2D SenseManager in graph mode, in which signals travel freely.

    The region is a rectangle around its position; or the rectangle of a child CollisionShape2D, which may be
    rotated; or several rectangles, as a SenseGraphBaker writes them. Where regions overlap, the first in the scene
    counts. The graph is built when the first sensor or source enters the scene, and does not change afterwards.
    """

    size = export(
        Vector2, Vector2(10, 10), unit="m", on_set="_set",
        doc="Width and height of the rectangle. Ignored if the region has a child CollisionShape2D with a"
            " RectangleShape2D.")
    boxes = export(
        list, (), on_set="_set",
        doc="Rectangles (Rect2) relative to the position, in place of size, for rooms of any form. A SenseGraphBaker"
            " writes them. A region with boxes must not be rotated or scaled.")
    ceiling_height = export(
        float, 3.0, range=(0.1, 1000, 0.1), or_greater=True, unit="m", on_set="_set",
        doc="Height of the room, perpendicular to the plane; smells are diluted in the volume.")

    dimensions, is_flat = 2, True

    shape_class = "RectangleShape2D"
    corners = ((-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0))

    @property
    def half_height_m(self) -> float:
        """Half of ceiling_height (m)."""
        return self.ceiling_height / self.unit / 2

    def _prism(self, corners: list[tuple[float, float, float]]) -> Prism:
        return Prism([one[:2] for one in corners], -self.half_height_m, self.half_height_m, "z")


@gdclass(icon="res://addons/ai_core/icons/sense_region_3d.svg")
class SenseRegion3D(RegionBase, Node3D):
    """A room, corridor or yard of a SenseManager in graph mode, in which signals travel freely.

    The region is a box around its position; or the box of a child CollisionShape3D, which may be rotated about
    the vertical axis; or several boxes, as a SenseGraphBaker writes them. Where regions overlap, the first in the
    scene counts. The graph is built when the first sensor or source enters the scene, and does not change afterwards.
    """

    size = export(
        Vector3, Vector3(10, 3, 10), unit="m", on_set="_set",
        doc="Width, height and depth of the box. Ignored if the region has a child CollisionShape3D with a BoxShape3D.")
    boxes = export(
        list, (), on_set="_set",
        doc="Boxes (AABB) relative to the position, in place of size, for rooms of any form. A SenseGraphBaker writes"
            " them. A region with boxes must not be rotated or scaled.")

    dimensions = 3

    shape_class = "BoxShape3D"
    corners = ((-0.5, -0.5, -0.5), (-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, -0.5, -0.5), (-0.5, 0.5, -0.5))

    def _prism(self, corners: list[tuple[float, float, float]]) -> Prism:
        *floor, (a, high, c) = corners
        x, low, z = floor[0]
        if max(abs(x - a), abs(z - c)) > STRAIGHT_M or not low < high:
            raise ValueError("is tilted, and carries no signals; rotate regions about the vertical axis only")
        return Prism([(x, z) for x, _, z in floor], low, high)
