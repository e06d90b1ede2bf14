"""Base class of sense nodes: provides lines and handles to the editor."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from addons.ai_core.bridge.declarations import PIXELS_PER_METER
from addons.ai_core.bridge.gd import Color, Vector2, Vector3, editor_method
from addons.ai_core.nodes.senses.sense_drawing import (
    COLORS,
    IN_2D,
    IN_3D,
    LocalAxes,
    Points,
    along_axis,
    in_plane,
    stepped,
)
from addons.ai_core.nodes.senses.sense_place import manager_of

SHORTEST_M = 0.3
"""Smallest distance of a handle from its node (m); a nearer handle could not be grabbed."""


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


