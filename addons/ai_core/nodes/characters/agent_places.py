"""NodePositions: positions of agents and viewers, read in one batch per update."""
from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Node, NodePlaces, RefusedValue, Vector2, Vector3, is_in_editor, report_error
from ai_core.saving.fields import LARGEST_FLOAT32

Floats = NDArray[np.float32]

NEW = -1
"""Old row of a node that is new."""

SHORTEST_LOOK_S = 1e-6
"""Time between two readings below which velocities are kept (s), as it is a divisor."""


class Dimensions(IntEnum):
    """Dimensions of the scene that a node works in."""

    THREE = 0
    TWO = 1


def place_of(node: Node) -> Any:
    """Return the nearest Node3D or Node2D at or above a node; None if there is none."""
    while node is not None and node.is_class("Node"):
        if node.is_class("Node3D") or node.is_class("Node2D"):
            return node
        node = node.get_parent()
    return None


def dimensions_of(place: Any) -> int:
    """Return 3 for a Node3D, 2 for a Node2D."""
    return 3 if place.is_class("Node3D") else 2


def shares_world(node: Any, other: Any, dimensions: int) -> bool:
    """Return whether two nodes are in one World3D or World2D: in another, nothing is seen of them."""
    viewport, another = node.get_viewport(), other.get_viewport()
    find = f"find_world_{dimensions}d"
    return bool(viewport == another or viewport.call(find) == another.call(find))


def is_in_2d(node: Any) -> bool:
    """Return whether a node belongs to a 2D scene: by the nearest Node2D or Node3D above it, else by those of its
    scene.

    Cost: O(depth); O(nodes of the scene) where none is above it.
    """
    place = place_of(node)
    if place is None and node is not None and node.is_class("Node") and node.is_inside_tree():
        scene = node.get_owner() or node
        while scene.get_parent() is not None and scene.get_parent() != node.get_tree().get_root():
            scene = scene.get_parent()
        places = [scene.find_children("*", kind, True, False) for kind in ("Node3D", "Node2D")]
        return bool(places[1]) and not places[0]
    return place is not None and dimensions_of(place) == 2


def has_flat_scene(node: Any) -> bool:
    """Return ``is_in_2d`` of a node that stays in its scene: in a game it is looked up once. For ``is_flat``."""
    known: bool | None = node.__dict__.get("_has_flat_scene")
    if known is None:
        known = is_in_2d(node)
        if node.is_inside_tree() and not is_in_editor():
            node.__dict__["_has_flat_scene"] = known
    return known


def no_points(dimensions: int) -> NDArray[np.float32]:
    """Return an empty packed array of positions, of shape (0, dimensions)."""
    return np.zeros((0, dimensions), np.float32)


def packed(places: Any, dimensions: int, name: str) -> NDArray[Any]:
    """Return a packed array of positions, or a list of vectors, as an array of shape (n, dimensions).

    Raises:
        RefusedValue: if the value is of another type or of other dimensions.
    """
    vector = Vector3 if dimensions == 3 else Vector2
    if isinstance(places, list) and all(isinstance(one, vector) for one in places):
        places = np.array([tuple(one) for one in places], np.float32)
    if isinstance(places, np.ndarray) and not len(places):
        return no_points(dimensions)
    if not isinstance(places, np.ndarray) or places.ndim != 2 or places.shape[1] != dimensions:
        raise RefusedValue(f"{name} must be a PackedVector{dimensions}Array, got {places!r}")
    return places


class Places:
    """A table with a row per node: position, forward direction and velocity.

    Args:
        dimensions: 2 or 3.
        unit_m: length of a unit of the scene (m); in 2D the length of a pixel.
    """

    def __init__(self, dimensions: int, unit_m: float = 1.0) -> None:
        self._unit_m = unit_m
        self._nodes: list[Any] = []
        self._ids = np.zeros(0, np.int64)       # of nodes, in their order
        self._there = NodePlaces([], 0.0 if dimensions == 3 else unit_m)
        self.positions = np.zeros((0, dimensions), np.float32)
        self.forwards = np.zeros((0, dimensions), np.float32)
        self.velocities = np.zeros((0, dimensions), np.float32)
        self._is_seen = np.zeros(0, np.bool_)
        self._off_the_map: set[int] = set()

    def keep(self, nodes: Sequence[Any]) -> None:
        """Set the nodes of the table, in this order; the data of nodes that were in it are kept.

        Cost: O(nodes).
        """
        ids = _ids_of(nodes)
        if not np.array_equal(ids, self._ids):
            rows = {one: row for row, one in enumerate(self._ids.tolist())}
            self._have(np.array([rows.get(one, NEW) for one in ids.tolist()], np.intp), ids, list(nodes))

    def renew(self, kept: NDArray[np.bool_], come: Sequence[Any]) -> None:
        """Remove some rows, so that later rows move up, and append rows for new nodes.

        The data of a node that was removed and is appended again are kept.

        Args:
            kept: (n,) whether to keep each row.
            come: nodes to append.

        Cost: O(nodes) in NumPy and one engine call per node; more only for removed and appended nodes.
        """
        come_ids, nodes = _ids_of(come), self._nodes
        back = [(self._ids == one).nonzero()[0] for one in come_ids]
        for row in np.flatnonzero(~kept)[::-1].tolist():
            del nodes[row]
        nodes.extend(come)
        stay = np.flatnonzero(kept)
        rows = np.concatenate((stay, np.array([one[-1] if len(one) else NEW for one in back], np.intp)))
        self._have(rows, np.concatenate((self._ids[stay], come_ids)), nodes)

    def reorder(self, order: Sequence[int]) -> None:
        """Reorder the rows; ``order`` has their present numbers."""
        rows = np.array(order, np.intp)
        self._have(rows, self._ids[rows], [self._nodes[row] for row in order])

    def _have(self, rows: NDArray[np.intp], ids: NDArray[np.int64], nodes: list[Any]) -> None:
        """Replace the rows; each row keeps the data of its old row."""
        new = np.flatnonzero(rows == NEW)
        for name in ("positions", "forwards", "velocities", "_is_seen"):
            before = getattr(self, name)
            found = np.zeros((len(rows), *before.shape[1:]), before.dtype)
            if len(before):
                before.take(rows, axis=0, out=found, mode="clip")
                found[new] = 0
            setattr(self, name, found)
        self._ids, self._nodes = ids, nodes
        self._there = NodePlaces(nodes, 0.0 if self.positions.shape[1] == 3 else self._unit_m)

    def look(self, elapsed_s: float) -> None:
        """Read the positions of all nodes, and compute velocities from the last reading.

        A node whose position is not finite keeps its last position and is reported once.

        Cost: one engine call per node.
        """
        before = self.positions.copy()
        lost = self._read()
        if lost:
            self.positions[lost] = before[lost]
            self._name(lost)
        if elapsed_s < SHORTEST_LOOK_S:
            return
        with np.errstate(over="ignore"):         # a move across the range of float32 in a frame is clipped
            np.subtract(self.positions, before, out=self.velocities)
            np.divide(self.velocities, elapsed_s, out=self.velocities)
        np.clip(self.velocities, -LARGEST_FLOAT32, LARGEST_FLOAT32, out=self.velocities)
        self.velocities[~self._is_seen] = 0
        self._is_seen[:] = True

    def seen(self, row: int) -> list[float] | None:
        """Return the last position of a node for a save, None before the first reading."""
        found: list[float] | None = self.positions[row].tolist() if self._is_seen[row] else None
        return found

    def restore_seen(self, row: int, position: Sequence[float] | None) -> None:
        """Restore a saved position."""
        self._is_seen[row] = position is not None
        self.positions[row] = 0 if position is None else position

    def _read(self) -> list[int]:
        """Read all positions; return the rows with positions that are not finite."""
        in_space = self.positions.shape[1] == 3
        lost: list[int] = self._there.read(self.positions, self.forwards if in_space else None)
        return lost

    def _name(self, rows: list[int]) -> None:
        for node in (self._nodes[row] for row in rows):
            if node.is_valid() and node.instance_id not in self._off_the_map:
                self._off_the_map.add(node.instance_id)
                report_error(
                    "its global transform holds a NaN or infinity; its last position is used", node)


def _ids_of(nodes: Sequence[Any]) -> NDArray[np.int64]:
    return np.array([node.instance_id for node in nodes], np.int64)


def nearest_points_of_extent(positions: Floats, radii: Floats, viewers: Floats) -> Floats:
    """Return for each agent the point of its circle or sphere that is nearest to the nearest viewer.

    Args:
        positions: (n, d) centres (m).
        radii: (n,) (m), 0 or more.
        viewers: (v, d) (m).

    Cost: O(n * viewers) for agents with a radius above 0; otherwise none.
    """
    wide = np.flatnonzero(radii)
    if not len(wide) or not len(viewers):
        return positions
    with np.errstate(over="ignore"):             # distances beyond 1e19 m are all equal
        offsets = (viewers[None, :, :] - positions[wide, None, :]).clip(-LARGEST_FLOAT32, LARGEST_FLOAT32)
        distances = np.sqrt((offsets * offsets).sum(axis=2))
    nearest = distances.argmin(axis=1)
    rows = np.arange(len(wide))
    distance = np.maximum(distances[rows, nearest], 1e-6)
    shares = np.minimum(radii[wide] / distance, 1)
    moved = positions.copy()
    moved[wide] += offsets[rows, nearest] * shares[:, None]
    return moved
