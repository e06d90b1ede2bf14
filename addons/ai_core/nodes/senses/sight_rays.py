"""Lines of sight through the physics space: one RayCast3D or RayCast2D node, cast many times."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, cast_rays, cast_through, construct


class SightRays:
    """A disabled ray node below ``owner`` that is moved and cast on demand.

    Create it in the owner's on_enter_tree; later the owner's children may be locked.

    Args:
        owner: a node entering the tree; it frees the ray.
        collision_mask: physics layers that block sight.

    Attributes:
        node: the ray.
    """

    node_class = "RayCast3D"

    def __init__(self, owner: GDObject, collision_mask: int) -> None:
        self.node = construct(self.node_class)
        self.node.enabled = False
        self.node.top_level = True  # its transform is global, wherever the owner is
        self.node.collision_mask = collision_mask
        owner.add_child(self.node, False, 1)  # INTERNAL_MODE_FRONT: hidden from the user
        self._free = np.zeros(0, np.uint8)
        self._answers: NDArray[np.bool_] = self._free.view(np.bool_)      # the same memory

    @property
    def collision_mask(self) -> int:
        """Physics layers that block sight."""
        return int(self.node.collision_mask)

    @collision_mask.setter
    def collision_mask(self, mask: int) -> None:
        self.node.collision_mask = mask

    def free(self) -> None:
        """Free the ray before its owner."""
        if self.node.is_valid():
            self.node.free()

    def blocked(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32], allowed: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Return for n rays whether a body blocks them, except ``allowed`` bodies.

        Args:
            origins: shape (n, 3) (m).
            targets: shape (n, 3) (m).
            allowed: shape (n,), instance id of the target's own body, 0 for none.

        Cost: one physics query per ray, in one crossing.
        """
        return ~self.are_free(origins, targets, allowed)

    def are_free(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32], allowed: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Return for n rays whether no body blocks them; valid until the next call. Arguments as ``blocked``."""
        if len(origins) != len(self._free):
            self._free = np.zeros(len(origins), np.uint8)
            self._answers = self._free.view(np.bool_)
        if self.node.is_valid():
            cast_rays(self.node, self._rows(origins), self._rows(targets), self._free, allowed)
        else:                         # a callback has ended the scene
            self._free[:] = 1
        return self._answers

    def behind(
        self, eyes: NDArray[np.float32], targets: NDArray[np.float32], own: NDArray[np.int64], reach_m: float
    ) -> NDArray[np.int64]:
        """Return for n lines the instance id of the first body beyond the target, 0 for none.

        Args:
            eyes, targets: shape (n, 3) (m).
            own: shape (n,), instance id of the target's own body, which is not behind it; 0 for none.
            reach_m: distance searched beyond the target (m).

        Cost: one physics query per line, and one more where the target's own body is on the line; in one crossing.
        """
        ways = targets - eyes
        lengths = np.sqrt((ways * ways).sum(axis=1, keepdims=True))
        np.divide(ways * np.float32(reach_m), lengths, out=ways, where=lengths > 0)
        return self._met(targets, targets + ways, own[:, np.newaxis], 1)[:, 0]

    def through(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32], own: NDArray[np.int64], most: int, mask: int
    ) -> NDArray[np.int64]:
        """Return for n lines the instance ids of the bodies on them: shape (n, most), padded with 0.

        A body occurs as often as the line enters it.

        Args:
            origins, targets: shape (n, 3) (m).
            own: shape (n, m), instance ids of bodies that do not count; 0 for none.
            most: largest number of bodies per line (count).
            mask: physics layers that count.

        Cost: one physics query per body, and one more; in one crossing.
        """
        sight_mask, self.collision_mask = self.collision_mask, mask
        self._meet_back_faces(False)
        try:
            return self._met(origins, targets, own, most)
        finally:
            self._meet_back_faces(True)
            self.collision_mask = sight_mask

    def _met(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32], own: NDArray[np.int64], most: int
    ) -> NDArray[np.int64]:
        met = np.zeros((len(origins), most), np.int64)
        if self.node.is_valid():      # a callback may have ended the scene
            cast_through(self.node, self._rows(origins), self._rows(targets), met, np.ascontiguousarray(own))
        return met

    def _meet_back_faces(self, is_met: bool) -> None:
        self.node.hit_back_faces = is_met

    def _rows(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(places)


class FlatSightRays(SightRays):
    """Rays in the plane; only the first two coordinates of positions count.

    Args:
        owner, collision_mask: as in ``SightRays``.
        pixels_per_m: pixels per metre.
    """

    node_class = "RayCast2D"

    def __init__(self, owner: GDObject, collision_mask: int, pixels_per_m: float = 1.0) -> None:
        super().__init__(owner, collision_mask)
        self._pixels_per_m = np.float32(pixels_per_m)

    def _rows(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.multiply(places[:, :2], self._pixels_per_m, dtype=np.float32, order="C")

    def _meet_back_faces(self, is_met: bool) -> None:
        """Do nothing; shapes have no back faces in 2D."""


def body_id(node: GDObject) -> int:
    """Return the instance id of the nearest physics body at or above a node, 0 if there is none."""
    while node is not None:
        if node.is_class("CollisionObject3D") or node.is_class("CollisionObject2D"):
            return node.instance_id
        node = node.get_parent() if node.is_class("Node") else None
    return 0
