"""Ground of squads in a scene: paths from a PathService, and clearance on its grid or the navigation map."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import RID, STANDS_WITHIN_M, RefusedValue, Vector2, Vector3, report_error, singleton
from addons.ai_core.nodes.paths.grid_of_scene import Places
from addons.ai_core.nodes.walking.body_moving import GROUNDED
from ai_core.maps.passage import GridPassage
from ai_core.squads.free_cells import free_distances, moved_to_free
from ai_core.squads.routes import only_to

Floats = NDArray[np.float64]

STEP_M = 0.4
"""Distance between positions queried on the navigation map (m); narrower gaps are missed."""

OUT_OF_WALLS = 3.0
"""Largest distance of a commander in a wall from the walkable cell where its path begins, in spacings; bodies are
pushed there by doors, and members that walk straight to distant slots come there."""

ON_THE_MAP_M = 0.05
"""Distance to the map in the plane within which a position is on the map (m)."""


class SceneRoutes:
    """Routes for a squad: from its PathService, or else straight lines.

    Args:
        squad: the Squad.
    """

    def __init__(self, squad: Any) -> None:
        self._squad = squad
        self._reported = ""

    @property
    def loads(self) -> int:
        """How often a state of the service was loaded (count)."""
        service = self._squad.path_service()
        return 0 if service is None else int(service.loads)

    def request(self, start: Floats, goal: Floats) -> Any:
        """Return a ticket: of the service, or the straight line itself.

        Raises:
            ValueError: if ``paths`` of the squad names no PathService, which is reported once, or the service refuses.
        """
        service, why = self._squad.path_service(), self._squad.why_no_paths()
        if why and why != self._reported:
            report_error(f"finds no paths: {why}", self._squad)
        self._reported = why
        if why:
            raise ValueError(why)
        if service is None:
            return np.stack([start, goal])
        try:
            return [service, self._asked(service, start, goal), start, goal, stands(self._squad.get_commander())]
        except RefusedValue as error:
            raise ValueError(str(error)) from None

    def _asked(self, service: Any, start: Floats, goal: Floats) -> int:
        return int(service.request_path(*self._ends(service, start, goal)))

    def _ends(self, service: Any, start: Floats, goal: Floats) -> tuple[Any, Any]:
        """Return start and goal of the request for a path, out of walls."""
        begin = self._squad.point(start)
        within = OUT_OF_WALLS * self._squad.core.formation.spacing_m * self._squad.unit
        return service.nearest_place(begin, within) or begin, self._squad.point(goal)

    def points(self, ticket: Any) -> Floats | None:
        """Return the path (m): empty if there is none, None during the search."""
        if isinstance(ticket, np.ndarray):
            return ticket
        service, number, start, goal, has_stood = ticket
        if not service.is_valid() or not service.is_inside_tree():
            return np.zeros((0, len(start)))
        try:
            state = service.get_state(number)
        except RefusedValue:        # expired before the squad's next thought: request again, mostly from the cache
            try:
                ticket[1] = number = self._asked(service, start, goal)
                state = service.get_state(number)
            except RefusedValue as error:
                ticket[1] = str(error)
                return np.zeros((0, len(start)))
        if state in ("waiting", "running"):
            return None
        points = np.asarray(service.check_path(number), np.float64) / self._squad.unit
        if not len(points):
            return points.reshape(0, len(start))
        if state == "found":     # paths on a grid join centers of cells: add the exact start and goal
            points = np.concatenate([start[None], points, goal[None]])
        if len(start) == 3:
            # Start and goal get the height of their neighbors: a vertical segment would block the march.
            if state == "found":
                points[[0, -1], 1] = points[[1, -2], 1]
            points[:, 1] += _height_above(float(start[1]), float(points[0, 1])) if has_stood else 0.0
        return points

    def why(self, ticket: Any) -> str:
        """Return why no path leads to the goal, after the search; empty if one does."""
        if isinstance(ticket, np.ndarray):
            return ""
        service, number, _, goal, _ = ticket
        if not service.is_valid() or not service.is_inside_tree():
            return "its PathService was removed"
        if isinstance(number, str):
            return f"the PathService reports: {number}"
        state = service.get_state(number)
        if state == "partial":
            return only_to(goal * self._squad.unit, service.check_path(number)[-1])
        return "" if state == "found" else f"the PathService reports: {service.why_not(number)}"

    def cancel(self, ticket: Any) -> None:
        """Release a request."""
        if self.key(ticket) is not None:
            ticket[0].release(ticket[1])

    def key(self, ticket: Any) -> list[Any] | None:
        """Return the id of the service's ticket, and whether the commander stood; None for a line."""
        if isinstance(ticket, np.ndarray):
            return None
        service, number, _, _, has_stood = ticket
        is_there = service.is_valid() and service.is_inside_tree() and not isinstance(number, str)
        return [number, bool(has_stood)] if is_there else None

    def resumed(self, start: Floats, goal: Floats, key: Any) -> Any:
        """Return the ticket of a saved request; that of a new request if the service did not issue it."""
        service = self._squad.path_service()
        match key:
            case [int() | float() as number, bool(has_stood)] if service is not None and service.state_between(
                    int(number), *self._ends(service, start, goal)) is not None:
                return [service, int(number), start, goal, has_stood]
        return self.request(start, goal)


def is_built(dimensions: int, map_rid: RID) -> bool:
    """Return whether a navigation map has ground."""
    server, vector = _of_navigation(dimensions)
    return bool(server.map_get_iteration_id(map_rid)) and int(
        server.map_get_closest_point_owner(map_rid, vector())) != 0


def comes_later(dimensions: int, map_rid: RID) -> bool:
    """Return whether a navigation map has regions, but no ground yet: the engine builds maps on a thread."""
    server, _ = _of_navigation(dimensions)
    return not is_built(dimensions, map_rid) and len(server.map_get_regions(map_rid)) > 0


def _of_navigation(dimensions: int) -> tuple[Any, Any]:
    return singleton(f"NavigationServer{dimensions}D"), Vector3 if dimensions == 3 else Vector2


class SquadNavigation:
    """Ground of a squad on the navigation map; the ``clearance`` and ``standing`` of the library's squad.

    While the map has no region, which every world's map lacks at first, everything counts as free.

    Args:
        dimensions: 3 or 2.
        map_rid: the map.
        unit: length of a metre in the scene.
        margin_m: distance from the edge of the map to the walls (m): a map baked for bodies of this
            radius is smaller than the ground.
        theirs: positions of standing members (m); the first is used.
    """

    def __init__(self, dimensions: int, map_rid: RID, unit: float, margin_m: float, theirs: Floats) -> None:
        self._map, self._unit, self._margin_m, self._theirs = map_rid, unit, margin_m, theirs
        self._server, self._vector = _of_navigation(dimensions)
        self._is_built = is_built(dimensions, map_rid)

    def clearance(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return free distances from points in directions (m). Cost: one query per ``STEP_M`` of free ground."""
        free, rays = np.full(len(points), most_m), zip(points.tolist(), directions.tolist(), strict=True)
        for row, (point, direction) in enumerate(rays if self._is_built else ()):
            reached = STEP_M
            while reached < most_m and self._is_on([
                    one + ahead * reached for one, ahead in zip(point, direction, strict=True)]):
                reached += STEP_M
            if reached < most_m:
                free[row] = min(most_m, reached - STEP_M + self._margin_m)
        return free

    def standing(self, places: Floats) -> Floats:
        """Return the nearest positions on the map, as high above it as a standing member (m).

        Cost: one query of the map per position, and one more.
        """
        if not len(places) or not self._is_built:
            return places
        nearest = self._nearest(places)
        if nearest.shape[1] == 3 and len(self._theirs):
            on_map = self._nearest(self._theirs[:1])
            nearest[:, 1] += _height_above(float(self._theirs[0, 1]), float(on_map[0, 1]))
        return nearest

    def _nearest(self, places: Floats) -> Floats:
        asked = (self._vector(*place) for place in (places * self._unit).tolist())
        return np.array([tuple(self._server.map_get_closest_point(self._map, one)) for one in asked]) / self._unit

    def _is_on(self, place: list[float]) -> bool:
        asked = self._vector(*(one * self._unit for one in place))
        nearest = tuple(self._server.map_get_closest_point(self._map, asked))
        return math.hypot(nearest[0] / self._unit - place[0], nearest[-1] / self._unit - place[-1]) <= ON_THE_MAP_M


def _height_above(stands_at_m: float, start_m: float) -> float:
    """Return the height of a squad above its path (m), which it keeps; 0 if it stands on another floor."""
    above = stands_at_m - start_m
    return above if abs(above) <= STANDS_WITHIN_M else 0.0


def stands(member: Any) -> bool:
    """Return whether a SquadMember's character is on the ground, neither falling nor jumping."""
    body = member.body
    return not (body.is_class("CharacterBody3D") and member.gravity and body.get_motion_mode() == GROUNDED
                and not body.is_on_floor())


NEAREST_CELLS = 32
"""Search radius for a free cell around a position in a wall (cells)."""


class SquadGrid:
    """Ground of a squad with paths on a grid; the ``clearance`` and ``standing`` of the library's squad.

    Args:
        passage: the walkable cells.
        places: positions of the cells.
        unit: length of a metre in the scene.
    """

    def __init__(self, passage: GridPassage, places: Places, unit: float) -> None:
        self._passage, self._places, self._unit = passage, places, unit

    def clearance(self, points: Floats, directions: Floats, most_m: float) -> Floats:
        """Return free distances from points in directions (m), up to walls and the border of the grid."""
        return free_distances(points, directions, most_m, self._places.cell_size / self._unit, self._is_free)

    def standing(self, places: Floats) -> Floats:
        """Return positions where a member can stand: those in walls become the center of the nearest free cell."""
        return moved_to_free(places, self._is_free, self._nearest)

    def _nearest(self, place: Floats) -> Floats | None:
        asked = (place * self._unit).tolist()
        cell = self._places.nearest_free(self._passage, asked, NEAREST_CELLS * self._places.cell_size)
        return None if cell is None else self._places.points(np.array([cell], np.int32))[0] / self._unit

    def _is_free(self, places: Floats) -> NDArray[np.bool_]:
        cells = self._places.cells_at(places * self._unit)
        free: NDArray[np.bool_] = (cells >= 0) & np.isfinite(self._passage.costs.ravel()[cells])
        return free
