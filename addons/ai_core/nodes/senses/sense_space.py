"""The space of a SenseManager, 3D or 2D: positions in metres for the library, rays in the engine's units."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    NodePlaces,
    RefusedValue,
    Vector2,
    Vector3,
    place_of,
    report_error,
    vector3_of,
)
from addons.ai_core.nodes.senses.sight_rays import FlatSightRays, SightRays


class Space3D:
    """3D space in metres, as in the engine; sensors look along -z.

    Args:
        owner: the manager, entering the tree; rays are its children.
        collision_mask: physics layers that block sight.
    """

    up = (0.0, 1.0, 0.0)
    vector: Any = Vector3

    def __init__(self, owner: GDObject, collision_mask: int) -> None:
        self.rays: Any = SightRays(owner, collision_mask)
        self._off_the_map: set[int] = set()       # instance ids of nodes with a NaN or infinity in their position

    def placed(self, nodes: list[Any], rows: list[int] | None = None) -> Any:
        """Return a ``NodePlaces`` of these nodes, which reads their positions (m) into these rows of arrays."""
        return NodePlaces(nodes, 0.0, rows)

    def report_lost(self, placed: Any, lost: list[int]) -> None:
        """Report nodes whose positions could not be read, each once; they keep their last positions."""
        for index in lost:
            node = placed.nodes[index]
            if node.is_valid() and node.instance_id not in self._off_the_map:
                self._off_the_map.add(node.instance_id)
                report_error(
                    "its global transform holds a NaN or infinity; its last position is used", node)

    place: Any = staticmethod(place_of)
    """Function that returns the position of a node (m)."""

    def metres(self, value: Any) -> tuple[float, ...]:
        """Return a position or velocity of the engine for the library."""
        if not isinstance(value, self.vector):
            raise RefusedValue(f"needs a {self.vector.__name__}, got {value!r}")
        return tuple(value)

    of: Any = staticmethod(vector3_of)
    """Function that returns a position or velocity of the library (m) for the engine."""


class Space2D(Space3D):
    """2D space in pixels; sensors look along their x axes.

    Args:
        owner, collision_mask: as in ``Space3D``.
        pixels_per_m: pixels per metre, above 0.
    """

    up = (0.0, 0.0, 1.0)
    vector: Any = Vector2

    def __init__(self, owner: GDObject, collision_mask: int, pixels_per_m: float) -> None:
        self.rays = FlatSightRays(owner, collision_mask, pixels_per_m)
        self._off_the_map = set()
        self._unit_m = 1 / pixels_per_m

    def placed(self, nodes: list[Any], rows: list[int] | None = None) -> Any:
        return NodePlaces(nodes, self._unit_m, rows)

    def place(self, node: Any) -> Any:
        return place_of(node, self._unit_m)

    def metres(self, value: Any) -> tuple[float, ...]:
        return tuple(one * self._unit_m for one in super().metres(value))

    def of(self, place: Sequence[float]) -> Any:
        return Vector2(place[0] / self._unit_m, place[1] / self._unit_m)
