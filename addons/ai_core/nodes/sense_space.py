"""The space in which a SenseManager senses, 3D or 2D: places in metres for the library, rays in the engine's units."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, RefusedValue, Vector2, Vector3, construct, read_transforms
from addons.ai_core.nodes.sight_rays import SightRays

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

    def read(self, nodes: list[Any], rows: Rows, forwards: Rows | None = None) -> None:
        """Write where nodes are (m), and where they look, into rows of 3."""
        read_transforms(nodes, rows, forwards)

    def metres(self, value: Any) -> tuple[float, ...]:
        """Return a place or velocity of the engine for the library."""
        if not isinstance(value, self.vector):
            raise RefusedValue(f"needs a {self.vector.__name__}, got {value!r}")
        return tuple(value)

    def of(self, place: Sequence[float]) -> Any:
        """Return a place or velocity of the library (m) for the engine."""
        return Vector3(*place)


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
        self._unit_m = 1 / pixels_per_m

    def read(self, nodes: list[Any], rows: Rows, forwards: Rows | None = None) -> None:
        for row, node in enumerate(nodes):
            rows[row, :2] = node.get("global_position")
            if forwards is not None:
                turn = node.get("global_rotation")
                forwards[row] = np.cos(turn), np.sin(turn), 0
        np.multiply(rows, self._unit_m, out=rows)

    def metres(self, value: Any) -> tuple[float, ...]:
        return tuple(one * self._unit_m for one in super().metres(value))

    def of(self, place: Sequence[float]) -> Any:
        return Vector2(place[0] / self._unit_m, place[1] / self._unit_m)


class FlatSightRays:
    """Lines of sight in 2D, as ``SightRays``: one disabled RayCast2D, cast many times.

    Args:
        owner, collision_mask: as there.
        pixels_per_m: how long a metre is.
    """

    def __init__(self, owner: GDObject, collision_mask: int, pixels_per_m: float) -> None:
        self._ray = construct("RayCast2D")
        self._ray.enabled = False
        self._ray.top_level = True
        self._pixels_per_m = pixels_per_m
        self.collision_mask = collision_mask
        owner.add_child(self._ray, False, 1)

    @property
    def collision_mask(self) -> int:
        """Physics layers that block sight."""
        return int(self._ray.collision_mask)

    @collision_mask.setter
    def collision_mask(self, mask: int) -> None:
        self._ray.collision_mask = mask

    def blocked(self, origins: Rows, targets: Rows, allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for n rays whether something stands between; ``allowed`` bodies do not count.

        Cost: one physics query and five engine calls a ray.
        """
        hits = np.zeros(len(origins), np.bool_)
        starts = (origins[:, :2] * self._pixels_per_m).tolist()
        ways = ((targets - origins)[:, :2] * self._pixels_per_m).tolist()
        ray = self._ray
        for row, (start, way, own) in enumerate(zip(starts, ways, allowed.tolist(), strict=True)):
            ray.position = Vector2(*start)
            ray.target_position = Vector2(*way)
            ray.force_raycast_update()
            hits[row] = ray.is_colliding() and not (own and ray.get_collider().instance_id == own)
        return hits
