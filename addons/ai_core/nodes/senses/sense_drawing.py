"""The lines that show the ranges of a sense node, and the handles that change them, in the editor and in games.

Lines are pairs of points in the local space of the node, by their meaning. In 2D they lie in the plane of x and y,
and x is the forward axis.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from addons.ai_core.bridge.declarations import PIXELS_PER_METER
from addons.ai_core.bridge.gd import Color, Vector2, Vector3, editor_method
from addons.ai_core.nodes.debugging.game_picture import LINE_OPACITY, DrawnShapes, GamePicture, Points
from addons.ai_core.nodes.senses.sense_place import manager_of

COLORS = {
    "sight": (1.0, 0.85, 0.3), "near": (1.0, 0.6, 0.25), "hearing": (0.35, 0.7, 1.0), "smell": (0.5, 0.9, 0.4),
    "region": (0.75, 0.55, 1.0), "portal": (0.3, 0.95, 0.85)}
"""Color of lines by their meaning."""

SHORTEST_M = 0.3
"""Smallest distance of a handle from its node (m); a nearer handle could not be grabbed."""

ARC_STEP_RAD = math.tau / 48
"""Angle from one point of an arc to the next (rad); larger angles look like corners."""


@dataclass(frozen=True, slots=True)
class LocalAxes:
    """Directions ahead, right and up in the local space of a node."""

    ahead: tuple[float, float, float]
    right: tuple[float, float, float]
    up: tuple[float, float, float]


IN_3D = LocalAxes((0, 0, -1), (1, 0, 0), (0, 1, 0))
IN_2D = LocalAxes((1, 0, 0), (0, 1, 0), (0, 0, 1))


def joined(points: Points) -> Points:
    """Return the lines from each point to the next, as pairs."""
    return np.repeat(points, 2, axis=0)[1:-1]


def arc(radius_m: float, first: Sequence[float], second: Sequence[float], from_rad: float, to_rad: float) -> Points:
    """Return the lines of an arc about the origin, from the direction ``first`` towards ``second``."""
    count = max(2, math.ceil((to_rad - from_rad) / ARC_STEP_RAD) + 1)
    angles = np.linspace(from_rad, to_rad, count)[:, None]
    return joined((radius_m * (np.cos(angles) * first + np.sin(angles) * second)).astype(np.float32))


def ball(radius_m: float, frame: LocalAxes, *, is_flat: bool) -> Points:
    """Return three circles about the origin; in 2D only the circle in the plane."""
    pairs = combinations((frame.ahead, frame.right, frame.up), 2)
    return np.concatenate([arc(radius_m, *pair, 0, math.tau) for pair in list(pairs)[: 1 if is_flat else 3]])


def cone(range_m: float, horizontal_rad: float, vertical_rad: float, frame: LocalAxes, *, is_flat: bool) -> Points:
    """Return the outline of a cone of sight: its edges, its far border and the two arcs through its middle."""
    ahead, right, up = (np.array(one) for one in (frame.ahead, frame.right, frame.up))
    side, top = horizontal_rad / 2, vertical_rad / 2
    lines = [arc(range_m, ahead, right, -side, side)]
    bearings = [ahead * math.cos(one) + right * math.sin(one) for one in (-side, side)]
    if is_flat:
        edges = bearings
    else:
        lines += [arc(range_m, one, up, -top, top) for one in (ahead, *bearings)]
        for height in (-top, top):
            rim = arc(range_m * math.cos(height), ahead, right, -side, side)
            lines.append((rim + range_m * math.sin(height) * up).astype(np.float32))
        edges = [one * math.cos(height) + up * math.sin(height) for one in bearings for height in (-top, top)]
    if horizontal_rad < math.tau:
        lines += [np.array([(0, 0, 0), edge * range_m], np.float32) for edge in edges]
    return np.concatenate(lines)


def box(lowest: Sequence[float], highest: Sequence[float]) -> Points:
    """Return the twelve edges of a box."""
    corners = list(product(*zip(lowest, highest, strict=True)))
    edges = [pair for pair in combinations(corners, 2) if sum(a != b for a, b in zip(*pair, strict=True)) == 1]
    return np.array(edges, np.float32).reshape(-1, 3)


def arrow(start: Sequence[float], end: Sequence[float], *, is_one_way: bool) -> Points:
    """Return a line with a head at its end, and one at its start unless it is one way."""
    begin, finish = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(finish - begin))
    lines = [begin, finish]
    if length > 0:
        along = (finish - begin) / length
        across = np.cross(along, (0, 1, 0) if abs(along[1]) < 0.9 else (1, 0, 0))
        across *= 0.5 / np.linalg.norm(across)
        head = min(0.4, length / 3)
        for tip, back in ((finish, -along), *(() if is_one_way else ((begin, along),))):
            lines += [tip, tip + head * (back + across), tip, tip + head * (back - across)]
    return np.array(lines, np.float32)


def along_axis(axis: Sequence[float], origin: Sequence[float], direction: Sequence[float]) -> float:
    """Return the position along an axis through the origin that is nearest to a ray."""
    unit, ray = np.array(axis, float), np.array(direction, float)
    ray /= np.linalg.norm(ray)
    start = np.array(origin, float)
    share = float(unit @ ray)
    parallel = 1 - share * share
    if parallel < 1e-9:
        return float(unit @ start)
    return float((unit @ start - share * (ray @ start)) / parallel)


def in_plane(
    first: Sequence[float], second: Sequence[float], origin: Sequence[float], direction: Sequence[float],
) -> tuple[float, float] | None:
    """Return the intersection of a ray with the plane of two axes, in their coordinates; None if parallel."""
    normal = np.cross(first, second)
    slope = float(normal @ np.array(direction, float))
    if abs(slope) < 1e-6:
        return None
    start = np.array(origin, float)
    met = start - np.array(direction, float) * (float(normal @ start) / slope)
    return float(met @ np.array(first)), float(met @ np.array(second))


def stepped(declared: Any, value: float, *, is_flat: bool = False) -> float:
    """Return a value clamped to the range of an exported property and rounded to its step, or to pixels in 2D."""
    low, high, *step = declared.range
    size = 1.0 if is_flat and declared.power else step[0] if step else 0.01
    value = round(max(low, value) / size) * size
    return round(max(low, value if declared.or_greater else min(high, value)), 6)


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
        value_at: Callable[[float], float] = float,
    ) -> DragHandle:
        """Return the handle of a distance along an axis, or of a property whose value there ``value_at`` returns.

        ``of`` is its object if not self, ``length`` its place if that is not its value.
        """
        owner = self if of is None else of
        declared = getattr(type(owner), name)

        def drag(origin: Vector3, direction: Vector3) -> None:
            value = value_at(along_axis(axis, origin, direction))
            setattr(owner, name, stepped(declared, value, is_flat=self.is_flat))

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


MEANINGS = {
    "sight": "sight", "near": "sees nearby", "hearing": "reach of sound", "smell": "reach of smell",
    "region": "region of the sense graph", "portal": "portal"}
"""Texts of the legend, by the meaning of lines."""

REGION_OPACITY = 0.5
"""Opacity of regions, which have the most lines and say the least."""


class SensePicture(GamePicture):
    """Draws what sensors see, and the lines of other sense nodes."""

    def show(self, fans: Sequence[DrawnShapes], drawings: Iterable[tuple[Any, dict[str, Points]]]) -> None:
        """Draw fans, and lines of nodes, by their meaning, at the present positions of the nodes.

        Cost: O(points), 20 to 50 µs per node; for debugging, not for players.
        """
        self.draw([*fans, *(
            DrawnShapes(
                self._placed(node, lines), COLORS[name], MEANINGS[name],
                REGION_OPACITY if name == "region" else LINE_OPACITY)
            for node, lines_of in drawings for name, lines in lines_of.items() if len(lines))])

    def _placed(self, node: Any, lines: Points) -> Points:
        place, dimensions = node.global_transform, 2 if self.is_flat else 3
        rows = np.array(place, np.float32).reshape(-1, dimensions)      # the axes, in 3D as columns, and the origin
        points = lines[:, :dimensions] @ (rows[:-1] if self.is_flat else rows[:-1].T) + rows[-1]
        return np.pad(points, ((0, 0), (0, 3 - dimensions))).astype(np.float32)
