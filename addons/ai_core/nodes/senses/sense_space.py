"""The space in which a SenseManager senses, 3D or 2D: places in metres for the library, rays in the engine's units."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Rows = NDArray[np.float32]


class Space3D:
    """Metres as the engine has them; who senses looks along -z.

    Args:
        owner: the manager, entering the tree; rays are below it.
        collision_mask: physics layers that block sight.
    """

    up = (0.0, 1.0, 0.0)
    vector: Any = Vector3

    def __init__(self, owner: GDObject, collision_mask: int) -> None:
        self.rays: Any = SightRays(owner, collision_mask)
        self._off_the_map: set[int] = set()       # instance ids of nodes whose place is no number

    def placed(self, nodes: list[Any]) -> Any:
        """Return what has ``nodes``, and reads with ``read`` where they are (m), as ``NodePlaces`` does."""
        return NodePlaces(nodes)

    def look_up(self, placed: Any, rows: Rows, forwards: Rows | None = None) -> None:
        """Read where nodes are; one whose place is no number stays where it was, and is named once."""
        for row in placed.read(rows, forwards):
            node = placed.nodes[row]
            if node.is_valid() and node.instance_id not in self._off_the_map:
                self._off_the_map.add(node.instance_id)
                report_error(
                    "its global transform holds a NaN or infinity; it is taken to be where it was before", node)

    place: Any = staticmethod(place_of)
    """Returns where a node is now (m)."""

    def metres(self, value: Any) -> tuple[float, ...]:
        """Return a place or velocity of the engine for the library."""
        if not isinstance(value, self.vector):
            raise RefusedValue(f"needs a {self.vector.__name__}, got {value!r}")
        return tuple(value)

    of: Any = staticmethod(vector3_of)
    """Returns a place or velocity of the library (m) for the engine."""


class Space2D(Space3D):
    """Pixels, of which so many make a metre; who senses looks along its x axis.

    Args:
        owner, collision_mask: as ``Space3D``.
        pixels_per_m: above 0.
    """

    up = (0.0, 0.0, 1.0)
    vector: Any = Vector2

    def __init__(self, owner: GDObject, collision_mask: int, pixels_per_m: float) -> None:
        self.rays = FlatSightRays(owner, collision_mask, pixels_per_m)
        self._off_the_map = set()
        self._unit_m = 1 / pixels_per_m

    def placed(self, nodes: list[Any]) -> Any:
        return NodePlaces(nodes, self._unit_m)

    def place(self, node: Any) -> Any:
        return place_of(node, self._unit_m)

    def metres(self, value: Any) -> tuple[float, ...]:
        return tuple(one * self._unit_m for one in super().metres(value))

    def of(self, place: Sequence[float]) -> Any:
        return Vector2(place[0] / self._unit_m, place[1] / self._unit_m)
