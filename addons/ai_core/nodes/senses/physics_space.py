"""The physics space of a scene, 3D or 2D: positions in metres for the library, and rays in the engine's units."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import (
    GDObject,
    NodePlaces,
    RayBatch,
    RefusedValue,
    Vector2,
    Vector3,
    cast_through,
    construct,
    place_of,
    pose_of,
    report_error,
    vector3_of,
)

Rows = NDArray[np.float32]


class PhysicsSpace3D:
    """3D space in metres, as in the engine; sensors look along -z.

    Rays are cast by a disabled ray node below ``owner`` that is moved. Create the space in the owner's on_enter_tree;
    later the owner's children may be locked.

    Args:
        owner: a node entering the tree; it frees the ray, which is ``node``.
        collision_mask: physics layers that block rays.
    """

    up = (0.0, 1.0, 0.0)
    vector: Any = Vector3
    node_class = "RayCast3D"

    def __init__(self, owner: GDObject, collision_mask: int) -> None:
        self.node = construct(self.node_class)
        self.node.enabled = False
        self.node.top_level = True  # its transform is global, wherever the owner is
        self.node.collision_mask = collision_mask
        owner.add_child(self.node, False, 1)  # INTERNAL_MODE_FRONT: hidden from the user
        self._rays = RayBatch(self.node)
        self._free = np.zeros(0, np.uint8)
        self._answers: NDArray[np.bool_] = self._free.view(np.bool_)      # the same memory
        self._off_the_map: set[int] = set()       # instance ids of nodes with a NaN or infinity in their position

    def places(self) -> Any:
        """Return a ``NodePlaces`` without nodes, which reads positions (m)."""
        return NodePlaces()

    def report_lost(self, places: Any, lost: list[int]) -> None:
        """Report nodes whose positions could not be read, each once; they keep their last positions."""
        for row in lost:
            node = places.nodes[row]
            if node.is_valid() and node.instance_id not in self._off_the_map:
                self._off_the_map.add(node.instance_id)
                report_error("its global transform holds a NaN or infinity; its last position is used", node)

    place: Any = staticmethod(place_of)
    """Function that returns the position of a node (m)."""

    pose: Any = staticmethod(pose_of)
    """Function that returns the position of a node (m) and where it looks."""

    def metres(self, value: Any) -> tuple[float, ...]:
        """Return a position or velocity of the engine for the library."""
        if not isinstance(value, self.vector):
            raise RefusedValue(f"needs a {self.vector.__name__}, got {value!r}")
        return tuple(value)

    of: Any = staticmethod(vector3_of)
    """Function that returns a position or velocity of the library (m) for the engine."""

    def free(self) -> None:
        """Free the ray before its owner."""
        if self.node.is_valid():
            self.node.free()

    def are_free(self, origins: Rows, targets: Rows, allowed: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Return for n rays (n, 3) (m) whether no body blocks them; valid until the next call.

        The body of a target, whose instance id is ``allowed`` (n,), 0 for none, does not block the ray to it.

        Cost: one physics query per ray, in one crossing.
        """
        if len(origins) != len(self._free):
            self._free = np.zeros(len(origins), np.uint8)
            self._answers = self._free.view(np.bool_)
        if self.node.is_valid():
            self._rays.cast(self._rows(origins), self._rows(targets), self._free, allowed)
        else:                         # a callback has ended the scene
            self._free[:] = 1
        return self._answers

    def behind(self, eyes: Rows, targets: Rows, own: NDArray[np.int64], reach_m: float) -> NDArray[np.int64]:
        """Return for n lines the instance id of the first body beyond the target, 0 for none.

        Args:
            own: shape (n,), instance id of the target's own body, which is not behind it; 0 for none.
            reach_m: distance searched beyond the target (m).

        Cost: one physics query per line, and one more where the target's own body is on the line; in one crossing.
        """
        offsets = targets - eyes
        lengths = np.sqrt((offsets * offsets).sum(axis=1, keepdims=True))
        np.divide(offsets * np.float32(reach_m), lengths, out=offsets, where=lengths > 0)
        return self._met(targets, targets + offsets, own[:, np.newaxis], 1)[:, 0]

    def through(self, origins: Rows, targets: Rows, own: NDArray[np.int64], most: int, mask: int) -> NDArray[np.int64]:
        """Return for n lines the instance ids of the bodies on them: shape (n, most), padded with 0.

        A body occurs as often as the line enters it.

        Args:
            own: shape (n, m), instance ids of bodies that do not count; 0 for none.
            most: largest number of bodies per line (count).
            mask: physics layers that count.

        Cost: one physics query per body, and one more; in one crossing.
        """
        sight_mask, self.node.collision_mask = self.node.collision_mask, mask
        self._meet_back_faces(False)
        try:
            return self._met(origins, targets, own, most)
        finally:
            self._meet_back_faces(True)
            self.node.collision_mask = sight_mask

    def _met(self, origins: Rows, targets: Rows, own: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        met = np.zeros((len(origins), most), np.int64)
        if self.node.is_valid():      # a callback may have ended the scene
            cast_through(self.node, self._rows(origins), self._rows(targets), met, np.ascontiguousarray(own))
        return met

    def _meet_back_faces(self, is_met: bool) -> None:
        self.node.hit_back_faces = is_met

    _rows: Any = staticmethod(np.ascontiguousarray)
    """Function that returns positions of the library (m) in the units and dimensions of the ray."""


class PhysicsSpace2D(PhysicsSpace3D):
    """2D space in pixels; sensors look along their x axes. Rays lie in the plane: z does not count."""

    up = (0.0, 0.0, 1.0)
    vector: Any = Vector2
    node_class = "RayCast2D"

    def __init__(self, owner: GDObject, collision_mask: int, pixels_per_m: float = 1.0) -> None:
        super().__init__(owner, collision_mask)
        self._pixels_per_m, self._unit_m = np.float32(pixels_per_m), 1 / pixels_per_m

    def places(self) -> Any:
        return NodePlaces((), self._unit_m)

    def place(self, node: Any) -> Any:
        return place_of(node, self._unit_m)

    def pose(self, node: Any) -> Any:
        return pose_of(node, self._unit_m)

    def metres(self, value: Any) -> tuple[float, ...]:
        return tuple(one * self._unit_m for one in super().metres(value))

    def of(self, place: Sequence[float]) -> Any:
        return Vector2(place[0] / self._unit_m, place[1] / self._unit_m)

    def _rows(self, places: Rows) -> Rows:
        return np.multiply(places[:, :2], self._pixels_per_m, dtype=np.float32, order="C")

    def _meet_back_faces(self, is_met: bool) -> None:
        """Do nothing; shapes have no back faces in 2D."""

