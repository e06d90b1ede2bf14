"""PathService: finds paths by ticket, over the navigation map or a grid, within the AIScheduler's budget."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import (
    RID,
    Node,
    NodePath,
    PackedInt32Array,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    report_warning,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import has_flat_scene, no_points
from addons.ai_core.nodes.debugging.game_picture import DrawnShapes, GamePicture, Points
from addons.ai_core.nodes.paths.fallback_steering import FallbackSteering, GridGround, NavigationGround, WalkableGround
from addons.ai_core.nodes.paths.grid_of_scene import CellPlaces, Places, grid_of_scene
from addons.ai_core.nodes.paths.map_wait import MOST_FRAMES_WITHOUT_MAP, MapWait
from addons.ai_core.nodes.paths.navigation_path_provider import NavigationPathProvider, checked_place
from addons.ai_core.nodes.paths.path_request import PathRequest
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import leave_scheduler, scheduler_of, scheduler_warnings
from ai_core.budget import Budget
from ai_core.maps.cell_moves import Corners
from ai_core.maps.grid import Grid
from ai_core.maps.passage import GridPassage
from ai_core.paths import path_service
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_requests import PathTicket
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.searches.cells_along import is_path
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Same
from ai_core.saving.fields import State, StateError, refuse
from ai_core.saving.kinds import Flag, ListOf, MapOf, Optional, Point, Record, Seconds, Text, Whole
from ai_core.scheduling.task import Task, Turn

FOUND, PARTIAL, WAITING, BLOCKED = (0.35, 0.9, 0.45), (1.0, 0.8, 0.25), (0.6, 0.65, 0.75), (1.0, 0.35, 0.3)
COLORS = {"found": FOUND, "improving": FOUND, "partial": PARTIAL, "waiting": WAITING, "running": WAITING}
MEANINGS = {
    FOUND: "path", PARTIAL: "path to a nearer place", WAITING: "path is searched", BLOCKED: "no path"}
"""Colors of complete and partial paths, of straight lines to goals during the search, and of failed requests."""
ABOVE_GROUND_M = 0.1
"""Height at which paths are drawn above the ground (m); lower lines would flicker."""
MOST_CLOSED = 10_000
"""Finished tickets that are kept (count), about 1 kB each; above, those queried longest ago are released."""
MOST_FLOWS, FLOW_IN_USE_S = 16, 1.0
"""Flow fields above which those without a request for this time (s) are released: a field takes up to 30 bytes per
cell, and a goal that moves gets another one in each cell."""
MOST_REPORTED_WALKS = 20
"""Habits and ends off the ground that are reported (count); more would hide other messages, and are counted."""
MOST_DRAWN = 1000
"""Largest number of tickets that are drawn, the last ones (count); more would be slow and unreadable."""


def _lines(request: PathRequest) -> Points:
    """Return the lines of a path as pairs of points; without a path, the line from the start to the goal."""
    points = request.points
    if not len(points):
        points = request.ends
    lines = np.repeat(points, 2, axis=0)[1:-1].astype(np.float32)
    if lines.shape[1] == 3:
        lines[:, 1] += np.float32(ABOVE_GROUND_M)
    return lines


KEPT_S = 0.5
"""Shortest time for which a character follows a path before another is requested after a change of the ground (s).

A map with a moving part, such as a platform, changes in every frame, and would cause requests in every frame.
"""


HINT_LAYERS_2D_NAVIGATION, HINT_LAYERS_3D_NAVIGATION = 9, 12
DIAGONALS: tuple[tuple[int, Corners], ...] = ((4, "closed"), (8, "closed"), (8, "half_open"), (8, "open"))

REPLACED = "the ground was replaced; request again"
REQUESTS = ListOf(
    Record(
        SimpleNamespace, number=Whole(1), ticket=Optional(Whole()), between=ListOf(Point()), why=Text(),
        is_closed=Flag()),
    unique=lambda row: row.number)
"""Saved requests; without a ticket, those of a replaced ground whose signal waits: they fail."""
SIGNALS = Record(
    SimpleNamespace, improved=ListOf(Whole(1), unique=lambda number: number),
    over=ListOf(Whole(1), unique=lambda number: number))
"""Ids of requests whose path_improved waits, and of those whose path_ready or path_failed waits, in their order."""


@gdclass(icon="res://addons/ai_core/icons/path_service.svg", keywords="pathfinding, navigation, a star, path request")
class PathService(SavedState, Node):
    """Finds paths for all characters within the budget of the AIScheduler, over a navigation map or a grid.

    request_path() returns a ticket at once. Query it with check_path(), or wait for path_ready. Identical requests
    share one search, and its result is kept until the ground changes.
    """

    class Source(IntEnum):
        NAVIGATION_3D = 0
        NAVIGATION_2D = 1
        GRID = 2

    class Diagonals(IntEnum):
        NEVER = 0
        NO_CORNERS = 1
        ONE_CORNER = 2
        ALWAYS = 3

    class Fallback(IntEnum):
        NOTHING = 0
        PLAIN = 1
        MEMORY = 2
        SHARED_MEMORY = 3

    @property
    def is_flat(self) -> bool:
        """Whether paths are in 2D; over a grid, whether the scene is in 2D."""
        if self.source == self.Source.GRID:
            return has_flat_scene(self)
        return bool(self.source == self.Source.NAVIGATION_2D)

    source = export(
        Source, Source.NAVIGATION_3D, on_set="_reset_source",
        doc="Ground of the paths: the navigation map of the world in 3D or 2D, or a grid.")
    partial_paths = export(
        bool, True, on_set="_reset_source",
        doc="If true, a request whose goal cannot be reached gets a path to the nearest reachable position and the"
            " state partial. If false, it fails with the state none.")
    navigation_layers = export(
        int, 1, hint=(HINT_LAYERS_3D_NAVIGATION, ""), hint_2d=HINT_LAYERS_2D_NAVIGATION, on_set="_reset_source",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D),
        doc="Navigation layers that paths may use.")
    reach_tolerance = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", on_set="_reset_source",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D),
        doc="Distance from the goal within which the end of a path counts as complete; otherwise the path is partial."
            " In 3D, a path that ends right above or below the goal, up to 2 m, is also complete if no part of the map"
            " is nearer.")
    snap_distance = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, unit="m", on_set="_snap_set",
        doc="Largest distance by which a start or goal may lie off the ground. Over a grid, a position in a wall or"
            " outside the grid is moved to the nearest walkable cell; with 0 it has no path, or is refused. Over a"
            " navigation map, positions are moved to the map, and a start farther away has no path; 0 means unlimited.")
    grid_node = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), on_set="_reset_source", group="Grid",
        shown_when=("source", Source.GRID),
        doc="TileMapLayer or GridMap with the grid, which is read at the first request and by set_grid_from().")
    diagonals = export(
        Diagonals, Diagonals.NO_CORNERS, on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="Diagonal steps. Never: not allowed. No corners: allowed if both adjacent cells are free. One corner:"
            " allowed if one of them is free. Always: always allowed. An AStarGrid2D uses its own diagonal mode.")
    cost_data = export(
        str, "", on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="Custom data layer of the TileSet with the cost of entering a tile; false or 0 is a wall. If empty, tiles"
            " without collision shapes are walkable at equal cost.")
    floor_level = export(
        int, 0, on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="Height (y coordinate) of the floor cells of a GridMap; a cell is walkable if the cell above is empty.")
    wall_items = export(
        PackedInt32Array, (), on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="Items of the GridMap's mesh library that are not walkable.")
    straight_paths = export(
        bool, False, shown_when=("source", Source.GRID),
        doc="If true, new paths on grids of squares run straight where no wall is between; otherwise they lead from"
            " cell to cell.")
    long_paths_by_regions = export(
        bool, False, on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="If true, paths over some hundred cells of different costs are found in about a hundredth of the steps, and"
            " cost a few percent more than the cheapest. Ignored if diagonals are always allowed.")
    fallback = export(
        Fallback, Fallback.MEMORY, group="Fallback", on_set="_reset_fallback",
        doc="Method of get_fallback_position(). Nothing: none. Plain: bump and turn. Memory: bump and turn, with return"
            " from dead ends. Shared memory: the same, with one memory for all characters.")
    fallback_step = export(
        float, 1.0, range=(0.05, 1000, 0.05), or_greater=True, unit="m", on_set="_reset_fallback",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D),
        doc="Length of a fallback step over a navigation map.")

    save_state, load_state = saving(
        "tickets, paths, fallback movers and the walls of set_walls()",
        when_loading='Searches over a grid continue where they were, others restart. The ground must be as it was: call'
            ' set_grid_from() before loading.')
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), group="Optimizations", on_set="_reschedule",
        doc="Weight of the service's share of the budget.")
    threads = export(
        int, 0, range=(0, 16, 1), or_greater=True, on_set="_reset_source", shown_when=("source", Source.GRID),
        doc="Number of helper threads for searches that outlast their first turn; 0 uses none. Paths are the same, but"
            " may arrive in other frames than in a recording. More threads than processor cores minus 1 gain nothing.")
    max_waiting = export(
        int, 10_000, range=(1, 1_000_000, 1), or_greater=True, on_set="_reset_source",
        doc="Largest number of requests that may wait for a path or for its signal; further requests get the ticket 0."
            " The first is reported, the others are counted.")
    release_after = export(
        float, 60.0, range=(0, 3600, 0.1), or_greater=True, unit="s",
        doc="Game time after which finished tickets are released automatically, from the last query with the ticket;"
            " of more than 10,000 the oldest are released before. 0 never releases them.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="If true, draws the paths of all tickets: complete paths green, partial paths yellow, and lines to the"
            " goal, grey during the search and red without a path.")

    path_ready = signal(
        ("ticket", int), ("path", Variant),
        doc="Emitted in the frame after a path was found, or a known path was requested; get_state() returns whether"
            " it is partial.")
    path_improved = signal(
        ("ticket", int), ("path", Variant),
        doc="Emitted when a ticket of request_improving_path() has a first or cheaper path from the last known position"
            " of its mover.")
    path_failed = signal(("ticket", int), ("why", str),
        doc="Emitted when a request ends without a path, with the reason.")

    STATE = DeclaredState(
        source=Same(at="source_number"), walls=MapOf(Flag(), key=Whole(0, lambda self: self._last_cell)),
        last_id=Whole(at="_last_id"), service=Part(), requests=Hook(), signals=Hook(),
        closed=MapOf(Seconds(), key=Whole(), at="_closed"), fallback=Hook())

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._service: path_service.PathService | None = None
        self._provider: Any = None
        self._grid: Grid | None = None
        self._places: Places | None = None
        self._given: Any = None                      # argument of set_grid_from()
        self._map: RID | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._map_wait = MapWait()
        self._last_id = 0
        self._requests: dict[int, PathRequest] = {}
        self._open: dict[PathTicket, PathRequest] = {}      # not reported yet
        self._improved: dict[PathTicket, None] = {}       # in order of improvement
        self._over: deque[PathTicket] = deque()
        self._closed: dict[int, float] = {}               # by id, when it ended or was last queried; oldest first
        self._flooded, self._has_reported_flood = 0, False       # requests refused as too many signals wait
        self._invalid = 0                                        # requests with an invalid end
        self._reported_walks: set[tuple[int, str]] = set()       # walker, and which end is not on the grid
        self._flows: dict[int, tuple[FlowField, float]] = {}     # by goal, with the time of the last request (s)
        self._before_walls: dict[int, float] = {}                # costs of cells before set_walls()
        self._picture: GamePicture | None = None
        self._drawn: tuple[Any, ...] = ()
        self._reset_fallback()

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None and self._task is None:
            self._task = self._scheduler.schedule_service(self, self._frame, "paths", priority=self.priority)

    def on_exit_tree(self) -> None:
        leave_scheduler(self, self._scheduler, self._task)
        self._task = self._scheduler = None
        self.end_requests()
        self._reset_source()
        self.hide_paths()

    def on_predelete(self) -> None:
        self._given = None

    @property
    def service(self) -> path_service.PathService:
        """The library's path service, for behaviors written in Python; created on first use."""
        if self._service is None:
            if self._scheduler is None:
                raise RefusedValue("needs an AIScheduler; add the PathService to a scene that has one before using it")
            if self.source == self.Source.GRID:
                if self._grid is None:
                    self._grid, self._places = self._read_grid(self._given)
                passage = self._grid.passage()
                by_regions = self.long_paths_by_regions and RegionGraph.suits(passage)
                self._provider = GridPathProvider(passage, partial=self.partial_paths, regions=by_regions)
                if self.threads:
                    self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="paths")
            else:
                self._provider = NavigationPathProvider(
                    3 if self.source == self.Source.NAVIGATION_3D else 2, self._map or self._world_map(),
                    self.navigation_layers, self.reach_tolerance, self.snap_distance, partial=self.partial_paths)
            self._service = path_service.PathService(
                self._provider, self._scheduler.clock, trace=self._scheduler.trace, faults=self._scheduler.faults,
                max_waiting=self.max_waiting, on_over=self._over.append, on_improved=self.note_improved,
                executor=self._executor, helpers=max(1, self.threads))
        return self._service

    @property
    def grid_ground(self) -> tuple[GridPassage, Places] | None:
        """The grid and the positions of its cells; None before the first request, or without a grid."""
        return None if self._grid is None or self._places is None else (self._grid.passage(), self._places)

    @method
    def set_grid_from(self, source: Variant = None) -> None:
        """Use a TileMapLayer, a GridMap or an AStarGrid2D as it is now; null reads grid_node again.

        Waiting requests fail and emit path_failed. Found paths stay those of the former ground, and are not saved: a
        path_ready that waits for time in a save is a path_failed after loading.
        """
        grid, places = self._read_grid(source)      # raises before anything is changed
        self.source = self.Source.GRID
        self._reset_source()
        self._given, self._grid, self._places = source, grid, places

    @method
    def set_walls(self, cells: list, walkable: bool) -> None:
        """Close or open cells, given as Vector2i, or as Vector3i of a GridMap. The source node does not change."""
        if self.source != self.Source.GRID:
            raise RefusedValue("set_walls needs a grid; change a navigation map by its regions")
        self.service  # noqa: B018
        numbers = [self._places.number(cell) for cell in cells]
        if numbers:
            self.note_walls(numbers)
            self._grid.set_cells(numbers, bool(walkable))
            self._fallback.forget_cells(numbers)

    def _snap_set(self) -> None:
        if isinstance(self._provider, NavigationPathProvider):
            self._provider.snap_within_m = self.snap_distance

    @method
    def set_navigation_map(self, map: RID) -> None:
        """Use a navigation map other than the world's, such as a map for large agents."""
        self._reset_source()
        self._map = map

    @method
    def get_stats(self) -> dict:
        """Return counts as a Dictionary.

        Counted are requests, searches and results ("found", "partial", "no_path", "failed"), waiting and refused
        requests, tickets, and flow fields of get_next_places(). "invalid" are requests with a start or goal that cannot
        be used, such as a position off the grid.

        "query_us" is the 95th percentile of the recent costs of navigation map queries (µs).
        """
        counts = {} if self._service is None else self._service.statistics()
        own = {"tickets": len(self._requests), "flow_fields": len(self._flows), "invalid": self._invalid}
        refused = counts.get("refused", 0) + self._flooded
        return {**counts, **own, "refused": refused, "query_us": getattr(self._provider, "query_us", 0.0)}

    def _frame(self, turn: Turn) -> None:
        self._release_old()     # first: a flood of results must not put it off
        is_emitting = bool(self._over or self._improved)
        if is_emitting:         # of an earlier frame: no more is found than can be emitted
            self.emit_results(turn.budget)
            is_emitting = bool(self._over or self._improved) or turn.budget.is_spent
        if not is_emitting and self._service is not None and (self._service.is_idle or self._has_map()):
            self._service.advance(turn.budget)
            if not turn.budget.is_spent:
                self.emit_results(turn.budget)
        if self.is_valid():
            self._fallback.advance(turn.budget, self._requests)
            self.advance_flows(turn.budget)
            if self.show_in_game and self._scheduler is not None:
                self._scheduler.draw_later(self, self.draw_paths)

    def _has_map(self) -> bool:
        """Return whether searches can run; True as well when the time to wait for a map has passed."""
        if not isinstance(self._provider, NavigationPathProvider) or self._provider.is_ready:
            self._map_wait.end()
            return True
        was_over = self._map_wait.is_over
        if self._map_wait.goes_on():
            return False
        if not was_over:
            report_error(
                f"found no navigation map for {MOST_FRAMES_WITHOUT_MAP} frames; add a NavigationRegion"
                f"{self._provider.dimensions}D with a baked navigation mesh, or choose another source", self)
        return True

    @property
    def _dimensions(self) -> int:
        if self.source == self.Source.GRID and self._places is not None:
            return self._places.dimensions
        return 2 if self.source == self.Source.NAVIGATION_2D else 3

    @property
    def _no_points(self) -> NDArray[np.float32]:
        return no_points(self._dimensions if self._places is not None else 2 if self.is_flat else 3)

    def _world_map(self) -> RID:
        viewport = self.get_viewport()
        world = viewport.find_world_3d() if self.source == self.Source.NAVIGATION_3D else viewport.find_world_2d()
        return world.get_navigation_map()

    def _read_grid(self, source: Any) -> tuple[Grid, Places]:
        if source is None:
            source = self.get_node_or_null(self.grid_node) if str(self.grid_node) else None
        if source is None:
            raise RefusedValue("source GRID needs a grid; set grid_node to a TileMapLayer or GridMap, or call"
                               " set_grid_from()")
        neighbors, corners = DIAGONALS[self.diagonals]
        return grid_of_scene(source, neighbors, corners, self.cost_data, self.floor_level, self.wall_items)

    def _reset_source(self) -> None:
        """Reset the ground: waiting requests fail and are reported; tickets keep the paths they have."""
        for ticket in self._open:
            if self._service is not None and not ticket.is_done:
                self._service.cancel(ticket)
                ticket.state, ticket.why = "failed", REPLACED
                self._over.append(ticket)
        if self._executor is not None:
            self._executor.shutdown()       # nothing runs on it between frames
        self._service = self._provider = self._grid = self._places = self._executor = None
        self._map_wait.end()
        self._flows, self._before_walls = {}, {}
        self._reset_fallback()

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, period_frames=1, phase_frames=0, priority=self.priority)

    def _get_configuration_warnings(self) -> list[str]:
        return scheduler_warnings(self)

    @property
    def loads(self) -> int:
        """How often a state of the library's service was loaded (count)."""
        return 0 if self._service is None else self._service.loads

    def end_requests(self) -> None:
        """Forget all tickets; their ids are not used again."""
        self._requests, self._open, self._improved = {}, {}, {}
        self._over.clear()
        self._closed.clear()

    @method
    def request_path(self, start: Variant, goal: Variant, priority: float = 1.0, tolerance: float = 0.0) -> int:
        """Request a path, and return the id of its ticket, or 0 with an error.

        Positions are Vector3, or Vector2 in 2D. A request of priority 2 gets twice the turns. With a tolerance, an
        earlier request or path is reused if both its ends are within that distance, in 2D in pixels.
        """
        request, reach = self.service.request_path, tolerance / (self._places.cell_size if self._places else 1)
        return self._request(lambda: request(
            self._on_ground("start", start), self._on_ground("goal", goal), priority=priority, tolerance=reach),
            (start, goal))

    def request_for_walk(self, start: Any, goal: Any, walker: Any) -> int:
        """Request a path for a habit; return 0 if an end is not on the ground.

        That is reported once for each habit and end, for ``MOST_REPORTED_WALKS`` of them, and always counted.
        """
        try:
            return int(self.request_path(start, goal))
        except RefusedValue as error:
            kind = walker.instance_id, str(error).partition(" ")[0]
            if kind not in self._reported_walks and len(self._reported_walks) < MOST_REPORTED_WALKS:
                self._reported_walks.add(kind)
                is_last = len(self._reported_walks) == MOST_REPORTED_WALKS
                rest = "; further habits are only counted, by \"invalid\" of get_stats()" if is_last else ""
                report_warning(f"fails, as '{self.get_name()}' cannot find a path: {error}{rest}", walker)
            return 0

    @method
    def request_improving_path(self, start: Variant, goal: Variant, priority: float = 1.0) -> int:
        """Request a quick path over a grid that improves later; return the id of its ticket, or 0 with an error.

        path_improved is emitted for each cheaper path, path_ready for the cheapest, which ends the request. If the
        mover walks meanwhile, report its position with move_start(), so that the next path begins there.
        """
        request = self.service.request_improving_path
        return self._request(lambda: request(
            self._on_ground("start", start), self._on_ground("goal", goal), priority=priority), (start, goal))

    @method
    def move_start(self, ticket: int, position: Variant) -> None:
        """Report the position of the mover of an improving path, where its next paths begin.

        Does nothing when the request has ended.
        """
        request = self._of("move_start", ticket)
        if not request.ticket.improves:
            raise RefusedValue(
                f"move_start needs a ticket of request_improving_path(), but {ticket} is of request_path()")
        if not request.ticket.is_done:
            self.service.move_start(request.ticket, self._on_ground("position", position))

    @method(after_error="_no_points")
    def check_path(self, ticket: int) -> Variant:
        """Return the path of a ticket, a PackedVector3Array or PackedVector2Array; empty while there is none.

        Over a grid, the points are the centers of cells. An unknown ticket is an error with an empty result.
        """
        return self._of("check_path", ticket).points

    def why_not(self, ticket: int) -> str:
        """Return why a request ended without a path, as in path_failed."""
        return self._of("why_not", ticket).why_not

    def is_over_grid(self, ticket: int) -> bool:
        """Return whether the path of a ticket is over a grid; then check_path() computes its points at each call."""
        return self._of("is_over_grid", ticket).places is not None

    def is_in_goal_of(self, ticket: int, place: Any) -> bool:
        """Return whether a position is in the goal cell of a ticket over a grid, at whose center the path ends."""
        request = self._of("is_in_goal_of", ticket)
        try:
            return request.places is not None and request.places.cell_at("place", tuple(place)) == request.ticket.goal
        except RefusedValue:
            return False

    def is_outdated(self, ticket: int) -> bool:
        """Return whether the ground has changed since the path was found, so that it may be blocked.

        A path from cell to cell is outdated as soon as one of its moves is closed, and not before. Other paths cannot
        be checked without another search, so a change makes them outdated only ``KEPT_S`` after they were found.

        Cost: O(1), over a grid O(cells of the path) after each change.
        """
        request, provider, now_s = self._of("is_outdated", ticket), self._provider, self._scheduler.clock.now.seconds
        version = 0 if provider is None else provider.version
        if request.ground is None:
            request.ground = (provider, version, now_s)
        known, known_version, since_s = request.ground
        if known is provider and known_version == version:
            return False
        if known is not provider or request.places is None or request.straight_on is not None \
                or request.state != "found":
            return now_s - since_s >= KEPT_S
        cells = request.ticket.path.cells
        if not is_path(provider.passage, cells, int(cells[0]), cells[-1:]):
            return True
        request.ground = (provider, version, now_s)
        return False

    @method
    def get_state(self, ticket: int) -> str:
        """Return the state of a request.

        States are waiting, running, improving (there is a path, and a cheaper path may follow), found, cancelled,
        failed and refused. If the goal cannot be reached, the state is partial, with a path to the nearest position,
        if partial paths are on; otherwise it is none.
        """
        return self._of("get_state", ticket).state

    def state_between(self, ticket: int, start: Any, goal: Any) -> str | None:
        """Return the state of a ticket that was requested between these positions; None if there is no such ticket.

        The ids of another service, or of a save, may be those of other tickets here. Where start and goal are the same,
        so is the path, and another walk that had the ticket requests it again.
        """
        request = self._requests.get(ticket)
        return self.get_state(ticket) if request is not None and request.between == (start, goal) else None

    @method
    def cancel(self, ticket: int) -> None:
        """Cancel a request; other requests for the same path continue. Does nothing when the request has ended."""
        request = self._of("cancel", ticket)
        if not request.ticket.is_done:
            self._service.cancel(request.ticket)
            self._close(request)

    @method
    def release(self, ticket: int) -> None:
        """Forget a ticket, and cancel its request if it has not ended. Does nothing if the ticket was released."""
        if 0 < ticket <= self._last_id and ticket not in self._requests:
            return
        request = self._of("release", ticket)
        if not request.ticket.is_done:
            self._service.cancel(request.ticket)
        del self._requests[ticket]
        self._open.pop(request.ticket, None)
        self._closed.pop(ticket, None)

    @property
    def requests(self) -> list[PathRequest]:
        """Requests of all tickets, the oldest first."""
        return list(self._requests.values())

    def emit_results(self, budget: Budget) -> None:
        """Emit signals for tickets that improved or ended, until the budget is spent, but one.

        Callbacks may do anything. Tickets that the budget does not reach come first in the next frame.
        """
        emitted = 0
        while self._improved:
            if emitted and budget.is_spent:
                return
            emitted += 1
            ticket = next(iter(self._improved))
            del self._improved[ticket]
            request = self._open.get(ticket)
            if request is not None and request.has_path and not ticket.is_done:
                self.path_improved.emit(request.number, request.points)
                if not self.is_valid() or self._scheduler is None:
                    return
        while self._over:
            if emitted and budget.is_spent:
                return
            emitted += 1
            request = self._open.get(self._over.popleft())
            if request is None:
                continue
            self._close(request)
            if request.has_path:
                self.path_ready.emit(request.number, request.points)
            else:
                self.path_failed.emit(request.number, request.why_not)
            if not self.is_valid() or self._scheduler is None:
                return

    def _release_old(self) -> None:
        """Release the finished tickets that were not queried for ``release_after``, and those above ``MOST_CLOSED``."""
        if not self.release_after > 0:
            return
        before_s = self._scheduler.clock.now.seconds - self.release_after
        while self._closed and (
                self._closed[first := next(iter(self._closed))] < before_s or len(self._closed) > MOST_CLOSED):
            del self._closed[first]
            self._requests.pop(first, None)

    def _close(self, request: PathRequest) -> None:
        del self._open[request.ticket]
        self._closed[request.number] = self._scheduler.clock.now.seconds

    def _of(self, question: str, number: int) -> PathRequest:
        request = self._requests.get(number)
        if request is None:
            raise RefusedValue(f"{question}: unknown ticket id {number}; it was never issued, or it was released"
                               f" (release_after is {self.release_after:g})")
        if self._closed.pop(number, None) is not None:       # queried: it becomes the youngest
            self._closed[number] = self._scheduler.clock.now.seconds
        return request

    def note_improved(self, ticket: PathTicket) -> None:
        """Note that the path of a ticket changed, or was lost."""
        self._improved[ticket] = None

    def _request(self, make_ticket: Callable[[], PathTicket], between: tuple[Any, Any]) -> int:
        if len(self._open) >= self.max_waiting:
            if not self._has_reported_flood:
                self._has_reported_flood = True
                report_error(
                    f"has {len(self._open)} requests that wait for their path or its signal, and refuses further ones,"
                    " counted in get_stats(): request fewer, keep the ticket of a waiting request, or raise the budget"
                    " or max_waiting", self)
            self._flooded += 1
            return 0
        try:
            ticket = make_ticket()
        except (TypeError, ValueError) as error:
            self._invalid += 1
            raise RefusedValue(str(error)) from None
        self._last_id += 1
        request = PathRequest(
            self._last_id, ticket, self._service, self._dimensions, between, self._places, self.pulled_on)
        self._requests[request.number] = self._open[ticket] = request
        return request.number

    def _on_ground(self, name: str, place: Any) -> Any:
        """Return a position in the form of the ground: over a grid, its cell."""
        if self._places is None:
            return place
        numbers, within, cell = checked_place(name, place, self._places.dimensions), self.snap_distance, None
        try:
            cell = self._places.cell_at(name, numbers)
        except RefusedValue:
            if not within:
                raise
        passage = self._provider.passage
        if within and (cell is None or not passage.is_free(cell)):
            nearest = self._places.nearest_free(passage, numbers, within)
            if nearest is None and cell is None:
                raise RefusedValue(
                    f"{name} is not on the grid, got {numbers}, and no walkable cell is within snap_distance,"
                    f" {within:g}")
            cell = cell if nearest is None else nearest
        return cell

    def nearest_place(self, place: Any, within: float, *, is_goal: bool = False) -> Any:
        """Return a position if its cell is free, else the free cell nearest to it within a distance, None without one.

        Over a navigation map: of a goal the nearest position on the map; of a start, whose distance to the map
        ``snap_distance`` limits, the position itself.
        """
        self.service  # noqa: B018
        if self._places is None:
            provider = self._provider
            provider.check("place", place)
            return provider.nearest(place) if is_goal and provider.is_ready else place
        numbers, passage = checked_place("place", place, self._places.dimensions), self._provider.passage
        cell = int(self._places.cells_at(np.array([numbers]))[0])
        if cell >= 0 and passage.is_free(cell):
            return place
        nearest = self._places.nearest_free(passage, numbers, within)
        if nearest is None:
            return None
        found = self._places.points(np.array([nearest], np.int32))[0].tolist()
        return type(place)(found[0], place.y, found[2]) if len(found) == 3 else type(place)(*found)

    @method
    def get_fallback_position(self, ticket: int, position: Variant) -> Variant:
        """Return the next position to walk to during the search for a path, by bump and turn.

        Walk there, then call it again. Returns the goal if it is near, and position itself if the ticket has ended or
        has a path, if there is nothing left to try, if fallback is NOTHING, or after an error. The path that is found
        later begins at the start of the request; request a new path after walking far.
        """
        try:
            request = self._of("get_fallback_position", ticket)
            here = checked_place("position", position, request.dimensions)
        except RefusedValue as refused:
            report_error(str(refused), self)
            return position
        if request.ticket.is_done or request.has_path or self.fallback == self.Fallback.NOTHING:
            self._fallback.forget(ticket)
            return position
        if isinstance(self._provider, NavigationPathProvider) and not self._provider.is_ready:
            return position
        return self._fallback.position(request, position, here)

    def _reset_fallback(self) -> None:
        self._fallback = FallbackSteering(
            self._new_ground, remembers=self.fallback == self.Fallback.MEMORY,
            is_shared=self.fallback == self.Fallback.SHARED_MEMORY,
            kind=int(self.fallback), step=float(self.fallback_step))

    def _new_ground(self) -> WalkableGround:
        if self._places is not None:
            return GridGround(self._places, self._provider.passage)
        return NavigationGround(self._provider, self.fallback_step)

    @method(after_error="_no_points")
    def get_next_places(self, goal: Variant, positions: Variant) -> Variant:
        """Return the next position of each of many characters on the cheapest path to one goal, over a grid.

        Positions and result are a PackedVector2Array, or over a GridMap a PackedVector3Array: the center of the next
        cell, or of the goal's cell. One search serves all characters with the same goal, and is repeated when walls
        change. Before it has finished, outside the grid and without a path, the result is the character's own
        position; after an error it is empty.
        """
        if self.source != self.Source.GRID:
            raise RefusedValue("get_next_places needs a grid; over a navigation map, use request_path()")
        self.service  # noqa: B018
        places = self._checked_positions(positions)
        cell, now_s = self._on_ground("goal", goal), self._scheduler.clock.now.seconds
        field = self._flows[cell][0] if cell in self._flows else FlowField(self._provider.passage, cell)
        self._flows[cell] = (field, now_s)
        found = places.copy()
        if field.is_done and len(places):
            cells = self._places.cells_at(places)
            here = np.flatnonzero(cells >= 0)
            following = field.next_of(cells[here])
            goes = (following != cells[here]) | (cells[here] == cell)
            found[here[goes]] = self._places.points(following[goes])
        return found

    def advance_flows(self, budget: Budget) -> None:
        """Forget the flow fields that are no longer requested, and compute those requested last, the oldest first.

        A goal that moves leaves a field behind in each cell; none of those may delay or outnumber the fields in use.
        """
        if not self._flows:
            return
        now_s = self._scheduler.clock.now.seconds
        for goal, (_, asked_s) in sorted(self._flows.items(), key=lambda one: one[1][1]):
            unused_s = now_s - asked_s
            if 0 < self.release_after < unused_s or (len(self._flows) > MOST_FLOWS and unused_s > FLOW_IN_USE_S):
                del self._flows[goal]
        for field, _ in sorted(self._flows.values(), key=lambda one: (-one[1], one[0].version)):
            if budget.is_spent:
                return
            if not field.is_current:
                field.advance(budget)

    def _checked_positions(self, positions: Any) -> NDArray[np.float32]:
        dimensions = self._places.dimensions
        found = np.asarray(positions) if isinstance(positions, np.ndarray) else np.zeros(0)
        if found.ndim != 2 or found.shape[1] != dimensions or found.dtype.kind != "f":
            raise RefusedValue(f"positions must be a PackedVector{dimensions}Array, got {type(positions).__name__}")
        if not np.isfinite(found).all():
            raise RefusedValue(f"positions[{int(np.argwhere(~np.isfinite(found))[0, 0])}] must be finite")
        return found.astype(np.float32)

    def draw_paths(self) -> None:
        """Draw the paths of all tickets, if one has changed."""
        shown = list(self._requests.values())[-MOST_DRAWN:]
        now = tuple((one.number, one.state, one.ticket.path) for one in shown)
        is_flat = bool(shown) and shown[-1].dimensions == 2
        if self._picture is not None and now and self._picture.is_flat != is_flat:
            self.hide_paths()
        if self._picture is None:
            if not shown:
                return
            self._picture = GamePicture(self, is_flat=is_flat)
        elif now == self._drawn:
            return
        self._drawn = now
        self._picture.draw([
            DrawnShapes(_lines(one), color, MEANINGS[color]) for one in shown
            for color in [COLORS.get(one.state, BLOCKED)]
            if one.dimensions == shown[-1].dimensions and one.state != "cancelled"])

    def hide_paths(self) -> None:
        """Remove the drawing."""
        if self._picture is not None:
            self._picture.free()
        self._picture, self._drawn = None, ()

    def _show_set(self) -> None:
        if not self.show_in_game:
            self.hide_paths()

    @property
    def pulled_on(self) -> GridPassage | None:
        """Ground on which paths are straightened; None if they lead from cell to cell."""
        is_pulled = self.straight_paths and self._grid is not None and isinstance(self._places, CellPlaces)
        return self._grid.passage() if is_pulled and self._grid is not None else None

    def note_walls(self, numbers: list[int]) -> None:
        """Remember the costs of cells before their first change."""
        assert self._grid is not None
        costs = self._grid.passage().costs.reshape(-1)
        for number in numbers:
            self._before_walls.setdefault(number, float(costs[number]))

    @property
    def source_number(self) -> int:
        """The source as a number."""
        return int(self.source)

    @property
    def walls(self) -> dict[int, bool]:
        """Cells of set_walls(), and whether they are walkable; setting them restores the other cells."""
        if self._grid is None:
            return {}
        costs = self._grid.passage().costs.reshape(-1)
        return {number: math.isfinite(costs[number]) for number in sorted(self._before_walls)}

    @walls.setter
    def walls(self, walls: dict[int, bool]) -> None:
        if self._grid is None:
            return
        for number, cost in self._before_walls.items():
            if number not in walls:
                self._grid.set_cells([number], cost)
        self._before_walls = {number: self._before_walls[number] for number in walls if number in self._before_walls}
        self.note_walls(list(walls))
        for is_open in (False, True):
            cells = [number for number, walkable in walls.items() if walkable == is_open]
            if cells:
                self._grid.set_cells(cells, is_open)

    @property
    def _last_cell(self) -> int:
        return -1 if self._grid is None else self._grid.passage().costs.size - 1

    def is_in_use(self) -> bool:
        if self._service is None and self._last_id:     # of a replaced ground: signals may wait, ids are not used again
            with suppress(RefusedValue):
                self.service  # noqa: B018
        return self._service is not None

    def prepared(self, state: Any) -> Change:
        try:
            self.service  # noqa: B018
        except RefusedValue as error:
            raise StateError(str(error)) from None
        change = super().prepared(state)
        saved = state["service"]["requests"]
        waiting = [one for job in (*saved["searches"], *saved["improving"]) for one in job["tickets"]]
        ended = {one["number"] for one in saved["over"]}
        tickets = {None, *ended, *(one["number"] for one in waiting)}
        improved, over = set(), set()
        for one in state["requests"]:
            if one["ticket"] not in tickets:
                refuse("requests", f"has {one['ticket']}, which is not a ticket of the service")
            if one["number"] > state["last_id"]:
                refuse("requests", f"must have ids up to last_id, {state['last_id']}, got {one['number']}")
            if not one["is_closed"]:
                (over if one["ticket"] is None or one["ticket"] in ended else improved).add(one["number"])
        signals = state["signals"]
        if not over.issuperset(signals["over"]) or not improved.issuperset(signals["improved"]):
            refuse("signals", f"must be of open requests, over of {sorted(over)}, improved of {sorted(improved)}")
        return change

    def _save_fallback(self) -> State | None:
        return self._fallback.saved()

    def _prepare_fallback(self, plain: object, place: str) -> Change:
        remembered = None if plain is None else self._fallback.read(plain, place)

        def change() -> None:
            self._reset_fallback()
            if remembered is not None:
                self._fallback.take(remembered)

        return change

    def _save_requests(self) -> list[Any]:
        """Return the requests, but those of a replaced ground that have ended: their paths are of its cells."""
        return REQUESTS.save([self._saved_request(one) for one in self._requests.values()
                              if one.service is self._service or one.ticket in self._open], self)

    def _saved_request(self, one: PathRequest) -> SimpleNamespace:
        is_here = one.service is self._service
        return SimpleNamespace(
            number=one.number, ticket=one.ticket.number if is_here else None, between=one.between,
            why="" if is_here else one.ticket.why or REPLACED, is_closed=one.ticket not in self._open)

    def _prepare_requests(self, plain: object, place: str) -> Change:
        """Check saved requests; return a function that loads them, after the service has its tickets."""
        rows = REQUESTS.read(plain, place, self)
        for row in rows:
            if [len(one) for one in row.between] != [self._dimensions] * 2:
                refuse(place, f"must be between two positions in {self._dimensions}D, got {row.between}")

        def change() -> None:
            self._requests, self._open = {}, {}
            for row in rows:
                self._requests[row.number] = one = self._loaded_request(row)
                if not row.is_closed:
                    self._open[one.ticket] = one

        return change

    def _loaded_request(self, row: SimpleNamespace) -> PathRequest:
        vector = Vector2 if self._dimensions == 2 else Vector3
        between = vector(*row.between[0]), vector(*row.between[1])
        if row.ticket is None:
            ticket = PathTicket(0, *row.between, 1.0, 0, state="failed", why=row.why)
            return PathRequest(row.number, ticket, None, self._dimensions, between, None)
        return PathRequest(
            row.number, self.service.ticket(row.ticket), self._service, self._dimensions, between, self._places,
            self.pulled_on)

    def _save_signals(self) -> State:
        open_ones = self._open
        improved, over = (
            [open_ones[one].number for one in tickets if one in open_ones] for tickets in (self._improved, self._over))
        return SIGNALS.save(SimpleNamespace(improved=[one for one in improved if one not in over], over=over), self)

    def _prepare_signals(self, plain: object, place: str) -> Change:
        """Check which signals wait; return a function that lets them wait, after the requests are loaded."""
        saved = SIGNALS.read(plain, place, self)

        def change() -> None:
            self._improved = dict.fromkeys(self._requests[one].ticket for one in saved.improved)
            self._over.clear()      # the service appends to it
            self._over.extend(self._requests[one].ticket for one in saved.over)

        return change
