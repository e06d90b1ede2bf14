"""Base classes of sense nodes that provide lines and handles to the editor."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import PIXELS_PER_METER
from addons.ai_core.bridge.gd import Color, Vector2, Vector3, editor_method
from addons.ai_core.nodes.senses.sense_drawing import (
    COLORS,
    IN_2D,
    IN_3D,
    LocalAxes,
    Points,
    along_axis,
    arrow,
    ball,
    box,
    cone,
    in_plane,
    stepped,
)
from addons.ai_core.nodes.senses.sense_place import manager_of

SHORTEST_M = 0.3
"""Smallest distance of a handle from its node (m); a nearer handle could not be grabbed."""

HEARD_FROM = {"hearing": 1.0, "smell": 0.1}
"""Default thresholds of a sensor; circles of sources show where it just senses them."""


@dataclass(frozen=True, slots=True)
class DragHandle:
    """A handle: ``drag(origin, direction)`` of a ray sets the properties in ``targets``, as (object, property)."""

    name: str
    place: tuple[float, ...]
    targets: tuple[tuple[Any, str], ...]
    drag: Callable[[Vector3, Vector3], None]


class DrawnNode:
    """A node with lines and handles, for the editor plugin and for drawing in a game."""

    is_always_drawn = False
    dimensions = 3
    is_flat = False

    @property
    def frame(self) -> LocalAxes:
        """Axes of the node: ahead, right and up."""
        return IN_2D if self.is_flat else IN_3D

    @property
    def unit(self) -> float:
        """Length of a metre in the space of the node."""
        if not self.is_flat:
            return 1.0
        manager = manager_of(self)
        return PIXELS_PER_METER if manager is None else manager.pixels_per_meter

    def drawing(self) -> dict[str, Points]:
        """Return lines in the space of the node, by their meaning."""
        raise NotImplementedError

    def handles(self) -> list[DragHandle]:
        """Return the handles."""
        return []

    @editor_method
    def _is_always_drawn(self) -> bool:
        return self.is_always_drawn

    @editor_method
    def _get_drawing(self) -> dict:
        return {Color(*COLORS[name], 1.0): lines for name, lines in self.drawing().items() if len(lines)}

    @editor_method
    def _get_handles(self) -> list:
        return [[one.name, Vector3(*one.place), [list(pair) for pair in one.targets]] for one in self.handles()]

    @editor_method
    def _drag_handle(self, index: int, origin: Vector3, direction: Vector3) -> None:
        self.handles()[index].drag(origin, direction)

    def point_of(self, place: Sequence[float]) -> Any:
        """Return a position in the space of the node as an engine vector."""
        x, y, z = place
        return Vector2(x, y) if self.is_flat else Vector3(x, y, z)

    def place_of(self, point: Any) -> tuple[float, float, float]:
        """Return an engine vector as a position, with z = 0 in 2D."""
        return (point.x, point.y, 0.0) if self.is_flat else (point.x, point.y, point.z)

    def metres_of(self, point: Any) -> tuple[float, float, float]:
        """Return an engine vector in metres."""
        x, y, z = self.place_of(point)
        unit = self.unit
        return x / unit, y / unit, z / unit

    def _reaching(
        self, name: str, axis: tuple[float, ...], of: Any = None, label: str = "", length: float | None = None,
    ) -> DragHandle:
        """Return the handle of a distance along an axis; ``of`` is its object if not self, ``length`` its place."""
        owner = self if of is None else of
        declared = getattr(type(owner), name)

        def drag(origin: Vector3, direction: Vector3) -> None:
            setattr(owner, name, stepped(declared, along_axis(axis, origin, direction), is_flat=self.is_flat))

        reach = max(SHORTEST_M * self.unit, getattr(owner, name) if length is None else length)
        return DragHandle(name + label, tuple(reach * part for part in axis), ((owner, name),), drag)

    def _turning(
        self, name: str, reach: float, second: tuple[float, ...], of: Any = None, label: str = "") -> DragHandle:
        """Return the handle of a full angle from the axis ahead towards a second axis."""
        owner, ahead = self if of is None else of, self.frame.ahead
        declared = getattr(type(owner), name)

        def drag(origin: Vector3, direction: Vector3) -> None:
            met = in_plane(ahead, second, origin, direction)
            if met is not None:
                setattr(owner, name, stepped(declared, 2 * math.atan2(abs(met[1]), met[0])))

        half = getattr(owner, name) / 2
        place = tuple(
            reach * (math.cos(half) * one + math.sin(half) * other)
            for one, other in zip(ahead, second, strict=True))
        return DragHandle(name + label, place, ((owner, name),), drag)


class DrawnSensor(DrawnNode):
    """Draws the sight cones and the near range of a sensor."""

    near_range: float
    sight_range: float
    sight_cones: Any
    chosen_cones: Callable[[], list[Any]]

    def drawing(self) -> dict[str, Points]:
        near = ball(self.near_range, self.frame, is_flat=self.is_flat) if self.near_range > 0 else ()
        cones = [
            cone(self._length(one), one.horizontal_angle, one.vertical_angle, self.frame, is_flat=self.is_flat)
            for one, _, _ in self._drawn_cones()]
        return {"near": near, "sight": np.concatenate(cones)}  # type: ignore[dict-item]

    def handles(self) -> list[DragHandle]:
        found = []
        for one, reach, label in self._drawn_cones():
            length = self._length(one)
            found.append(self._reaching(reach, self.frame.ahead, one, label, length))
            found.append(self._turning("horizontal_angle", length, self.frame.right, one, label))
            if not self.is_flat:
                found.append(self._turning("vertical_angle", length, self.frame.up, one, label))
        return [*found, self._reaching("near_range", tuple(-part for part in self.frame.ahead))]

    def _length(self, one: Any) -> float:
        """Return the range of an item of ``_drawn_cones``."""
        return self.sight_range if one is self else one.range_of(self)

    def _drawn_cones(self) -> list[tuple[Any, str, str]]:
        """Return for each cone the object with its angles, its range property, and its label."""
        chosen = self.chosen_cones()
        if not chosen:
            return [(self, "sight_range", "")]
        places = {id(one): place for place, one in enumerate(self.sight_cones)}
        return [(one, "range", f" of sight_cones[{places[id(one)]}]") for one in chosen]


class DrawnSource(DrawnNode):
    """Draws the distances at which a sensor with default thresholds senses sounds and smells over open ground."""

    sound_strength: float
    smell_strength: float

    def drawing(self) -> dict[str, Points]:
        return {
            name: ball(reach, self.frame, is_flat=self.is_flat)
            for name in HEARD_FROM if (reach := self._reach(name)) > 0
        }

    def handles(self) -> list[DragHandle]:
        axes = {"hearing": self.frame.right, "smell": tuple(-part for part in self.frame.right)}
        return [
            self._carrying(name, axes[name]) for name in HEARD_FROM if 0 < self._kept_per_m(name) < 1]

    def _kept_per_m(self, name: str) -> float:
        manager = manager_of(self)
        return 0.9 if manager is None else getattr(manager, f"{name}_kept_per_meter")

    def _reach(self, name: str) -> float:
        strength, kept = getattr(self, STRENGTHS[name]), self._kept_per_m(name)
        if strength <= HEARD_FROM[name] or kept <= 0:
            return 0.0
        manager = manager_of(self)
        unit = self.unit
        most = 60.0 * unit if manager is None else getattr(manager, f"{name}_range")
        return most if kept >= 1 else min(most, unit * math.log(HEARD_FROM[name] / strength) / math.log(kept))

    def _carrying(self, name: str, axis: tuple[float, ...]) -> DragHandle:
        declared, kept = getattr(type(self), STRENGTHS[name]), self._kept_per_m(name)

        def drag(origin: Vector3, direction: Vector3) -> None:
            reach_m = max(0.0, along_axis(axis, origin, direction)) / self.unit
            setattr(self, declared.name, stepped(declared, HEARD_FROM[name] * kept ** -reach_m))

        reach = max(SHORTEST_M * self.unit, self._reach(name))
        return DragHandle(declared.name, tuple(reach * part for part in axis), ((self, declared.name),), drag)


STRENGTHS = {"hearing": "sound_strength", "smell": "smell_strength"}
"""Property of a source with the strength of a sense."""


class DrawnRegion(DrawnNode):
    """Draws the box of a region; its faces can be dragged, and the opposite face keeps its place."""

    is_always_drawn = True
    size: Any
    boxes: Any = ()
    global_position: Any
    to_global: Any
    to_local: Any
    _box: Any

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
        return DragHandle(name, tuple(half * part for part in axis), ((self, "size"), (self, "global_position")),
            drag)


def _box_lines(one: Any, dimensions: int) -> Points:
    """Return the edges of an AABB, or a Rect2."""
    low, size = list(one[:dimensions]), one[dimensions:]
    high = [start + side for start, side in zip(low, size, strict=True)]
    return box(low, high) if dimensions == 3 else box([*low, 0.0], [*high, 0.0])


class DrawnPortal(DrawnNode):
    """Draws an arrow from the entrance of signals to their exit, and lines to the connected regions."""

    is_always_drawn = True
    one_way: bool
    exit: Any
    from_region: Any
    to_region: Any
    end: Any
    to_local: Any
    to_global: Any

    def drawing(self) -> dict[str, Points]:
        ends = [self.end(path) for path in (self.from_region, self.to_region)]
        begin, finish = (np.array(self._place_here(one) if one else (0, 0, 0)) for one in ends)
        out = self._way_out()
        lines = [arrow((0, 0, 0), out, is_one_way=self.one_way)] if out is not None else []
        way = finish - begin
        if out is None and np.linalg.norm(way) > 0:
            half = way / np.linalg.norm(way) * 0.75 * self.unit
            lines.append(arrow(-half, half, is_one_way=self.one_way))
        regions = [np.array([begin, (0, 0, 0), finish if out is None else out, finish], np.float32)]
        return {"portal": np.concatenate(lines) if lines else (), "region": np.concatenate(regions)}  # type: ignore[dict-item]

    def handles(self) -> list[DragHandle]:
        out = self._way_out()
        if out is None:
            return []
        node = self.end(self.exit)

        def drag(origin: Vector3, direction: Vector3) -> None:
            start, ray = np.array(tuple(origin)), np.array(tuple(direction))
            ray = ray / np.linalg.norm(ray)
            met = start + ray * float((np.array(out) - start) @ ray)      # keeps its distance from the camera
            node.global_position = self.to_global(self.point_of(met.tolist()))

        return [DragHandle("exit", out, ((node, "global_position"),), drag)]

    def _way_out(self) -> tuple[float, ...] | None:
        node = self.end(self.exit)
        return None if node is None or not node.is_class(f"Node{self.dimensions}D") else self._place_here(node)

    def _place_here(self, node: Any) -> tuple[float, float, float]:
        return self.place_of(self.to_local(node.global_position))
