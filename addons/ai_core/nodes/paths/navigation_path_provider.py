"""Paths over the engine's navigation map, for a path service."""
from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import ABOVE_MAP_M, RID, RefusedValue, Vector2, Vector3, right_on_map, singleton
from ai_core.budget import Budget
from ai_core.paths.path import PathState
from ai_core.saving.kinds import ArrayOf, Number, OneOf, Point, Record, Text


def ends_at(server: Any, map_rid: RID, end: list[float], goal: Any, tolerance_m: float) -> bool:
    """Return whether a path over a map leads to a goal.

    It does if it ends within the tolerance; in 3D also if it ends right above or below the goal, up to
    ``ABOVE_MAP_M``, and no part of the map, such as the ledge on which the goal lies, is nearer. The nearest place to
    a goal over a slope lies up or down that slope.

    Args:
        server, map_rid: the engine's server and map.
        end: last point of the path.
        goal: a Vector3 or Vector2.
        tolerance_m: largest distance of the end from the goal (m; pixels in 2D).

    Cost: up to two small queries if the path ends near the goal but not within the tolerance, else none.
    """
    if math.dist(end, goal) <= tolerance_m:
        return True
    if len(end) == 2 or abs(end[1] - goal.y) > ABOVE_MAP_M:
        return False
    nearest = server.map_get_closest_point(map_rid, goal)
    if math.hypot(end[0] - goal.x, end[2] - goal.z) <= tolerance_m and math.dist(end, nearest) <= tolerance_m:
        return True
    on_map = right_on_map(map_rid, goal)
    return on_map is not None and min(math.dist(end, nearest), math.dist(end, on_map)) <= tolerance_m


COSTS_KEPT = 64
"""Number of recent query costs (count): enough for a 95th percentile, few enough to forget a slow frame."""

BESIDE_M = 0.02
"""Horizontal distance of the end of a path from its goal that is within the accuracy of baked maps (m)."""

MOST_REFUSALS = 3
"""Frames in a row without a query for lack of time, after which a query runs regardless of the budget (count)."""


@dataclass(frozen=True, eq=False, slots=True)
class NavigationPath:
    """A path over the navigation map: its points (n, 2) or (n, 3) float32, and its length as cost."""

    state: PathState
    points: NDArray[np.float32]
    cost: float
    why: str = ""

    @property
    def is_found(self) -> bool:
        """True if the path leads to the goal."""
        return self.state == "found"


class NavigationPathProvider:
    """Finds paths over a navigation map for a ``PathService``: one query each, which cannot be interrupted.

    Under a time budget a query starts only if the remaining time is at least the 95th percentile of the last 64
    query costs; after ``MOST_REFUSALS`` frames without enough time, a query starts regardless.

    Args:
        dimensions: 3 or 2.
        map_rid: the map.
        layers: navigation layers that paths may use.
        reach_tolerance_m: largest distance of the end of a path from its goal, see ``ends_at`` (m; pixels in 2D).
        snap_within_m: largest distance of a start from the map (m; pixels in 2D); 0 means unlimited.
        partial: whether an unreachable goal gets a path to the nearest reachable position, or none.
    """

    is_prepared = True

    def __init__(
        self, dimensions: int, map_rid: RID, layers: int, reach_tolerance_m: float, snap_within_m: float = 0.0,
        *, partial: bool = True,
    ) -> None:
        self.dimensions, self.map_rid = dimensions, map_rid
        self.layers, self.reach_tolerance_m, self.snap_within_m = layers, reach_tolerance_m, snap_within_m
        self.partial = bool(partial)
        self._server = singleton(f"NavigationServer{dimensions}D")
        self._vector: Any = Vector3 if dimensions == 3 else Vector2
        self._costs_us: deque[float] = deque(maxlen=COSTS_KEPT)
        self._ready_version = 0
        self._refusals = 0
        self.place_kind = Point(dimensions)
        self.path_kind = Record(
            _loaded_path, state=OneOf(get_args(PathState)), points=ArrayOf(np.float32, shape=(None, dimensions)),
            cost=Number(0, absent=math.inf), why=Text())

    @property
    def version(self) -> int:
        """Version of the map, which increases when the map is rebuilt."""
        return int(self._server.map_get_iteration_id(self.map_rid))

    @property
    def is_ready(self) -> bool:
        """True if the map has a region; maps are built on a thread, and are empty until then.

        Cost: a small query after each change of the map, else one engine call.
        """
        version = self.version
        if version and version != self._ready_version:
            if int(self._server.map_get_closest_point_owner(self.map_rid, self._vector())) == 0:
                return False
            self._ready_version = version
        return version > 0

    @property
    def query_us(self) -> float:
        """95th percentile of recent query costs (µs); 0 before the first query under a time budget.

        It is never the highest of several costs, because the first query of a game is slow.
        """
        costs = sorted(self._costs_us)
        rank = min(math.ceil(0.95 * len(costs)), max(1, len(costs) - 1))
        return costs[rank - 1] if costs else 0.0

    def check(self, name: str, place: object) -> tuple[float, ...]:
        """Return a position as numbers; raise RefusedValue if it is not a finite vector of these dimensions."""
        other = 5 - self.dimensions
        if isinstance(place, Vector2 if other == 2 else Vector3):
            raise RefusedValue(
                f"{name} must be a Vector{self.dimensions}, got {place!r}; set source of the PathService to Navigation"
                f" {other}D, or pass a Vector{self.dimensions}")
        return checked_place(name, place, self.dimensions)

    def distance(self, one: tuple[float, ...], other: tuple[float, ...]) -> float:
        """Return the straight distance between two positions."""
        return math.dist(one, other)

    def known_answer(self, start: object, goal: object) -> None:
        """Return None: only a query finds out."""

    def begin(self, start: tuple[float, ...], goal: tuple[float, ...]) -> NavigationQuery:
        """Return a query for a path."""
        return NavigationQuery(self, start, goal)

    def answer(self, start: object, path: NavigationPath) -> NavigationPath:
        """Return the path of a request for the result of a query."""
        return self._none("no path leads to the goal") if path.state == "partial" and not self.partial else path

    def prepare(self, budget: Budget) -> None:
        """Do nothing: the engine prepares maps on its own thread."""

    def fits(self, budget: Budget) -> bool:
        """Return whether a query may start."""
        if budget.stopwatch is None or budget.left >= self.query_us or self._refusals >= MOST_REFUSALS:
            return True
        self._refusals += 1
        return False

    def find(self, start: tuple[float, ...], goal: tuple[float, ...]) -> NavigationPath:
        """Query the engine for a path."""
        points = self._points(self._vector(*start), self._vector(*goal))
        if len(points) == 0:
            return self._none("no path leads from the start" if self.is_ready else "there is no navigation map")
        off_m = math.dist(points[0].tolist(), start)
        if 0 < self.snap_within_m < off_m:
            return self._none(f"the start is {off_m:.3g} from the map, but snap_distance is {self.snap_within_m:g}")
        is_found = ends_at(self._server, self.map_rid, points[-1].tolist(), self._vector(*goal), self.reach_tolerance_m)
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        return NavigationPath("found" if is_found else "partial", points, length)

    def _points(self, start: Any, goal: Any) -> Any:
        """Return the points of a path; over a slope, to the position right below or above the goal.

        The nearest position of a slope to the goal, where the engine's paths end, lies up or down the slope.
        """
        points = self._server.map_get_path(self.map_rid, start, goal, True, self.layers)
        if self.dimensions == 2 or len(points) == 0:
            return points
        end = points[-1].tolist()
        if math.hypot(end[0] - goal.x, end[2] - goal.z) < BESIDE_M or abs(end[1] - goal.y) > ABOVE_MAP_M:
            return points
        on_map = right_on_map(self.map_rid, goal)
        return points if on_map is None else self._server.map_get_path(self.map_rid, start, on_map, True, self.layers)

    def _none(self, why: str) -> NavigationPath:
        return NavigationPath("none", np.zeros((0, self.dimensions), np.float32), math.inf, why)

    def nearest(self, place: Any) -> Any:
        """Return the nearest position on the map."""
        return self._server.map_get_closest_point(self.map_rid, place)

    def note_cost(self, us: float) -> None:
        """Remember the cost of a query (µs)."""
        self._costs_us.append(us)
        self._refusals = 0


def _loaded_path(state: PathState, points: NDArray[np.float32], cost: float, why: str) -> NavigationPath:
    if (state == "none") != (len(points) == 0):
        raise ValueError(f"points must be empty for 'none' and only then, got {len(points)} points with {state!r}")
    return NavigationPath(state, points, cost, why)


class NavigationQuery:
    """One query, as interruptible work."""

    def __init__(self, provider: NavigationPathProvider, start: tuple[float, ...], goal: tuple[float, ...]) -> None:
        self._provider, self._start, self._goal = provider, start, goal
        self.result: NavigationPath | None = None

    @property
    def is_done(self) -> bool:
        return self.result is not None

    def cancel(self) -> None:
        """Do nothing: there is no unfinished work."""

    def advance(self, budget: Budget) -> None:
        watch = budget.stopwatch
        begun_ns = 0 if watch is None else watch()
        self.result = self._provider.find(self._start, self._goal)
        budget.spend()
        if watch is not None:
            self._provider.note_cost((watch() - begun_ns) / 1000)


def checked_place(name: str, place: object, dimensions: int) -> tuple[float, ...]:
    """Return a Vector3 or Vector2 as numbers.

    Raises:
        RefusedValue: if it is not a vector of these dimensions, or not finite.
    """
    if not isinstance(place, Vector3 if dimensions == 3 else Vector2):
        raise RefusedValue(f"{name} must be a Vector{dimensions}, got {place!r}")
    numbers = tuple(place)
    if not all(map(math.isfinite, numbers)):
        raise RefusedValue(f"{name} must be finite, got {place!r}")
    return numbers
