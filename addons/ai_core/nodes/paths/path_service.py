"""PathService: ways by ticket, over the navigation map or a grid, within the AIScheduler's budget."""
from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    RID,
    Node,
    NodePath,
    PackedInt32Array,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.paths.grid_of_scene import Places, grid_of_scene
from addons.ai_core.nodes.paths.navigation_ways import NavigationWays
from addons.ai_core.nodes.paths.path_asking import PathAsking
from addons.ai_core.nodes.paths.path_drawing import DrawnPaths
from addons.ai_core.nodes.paths.path_flow import FlowPaths
from addons.ai_core.nodes.paths.path_meanwhile import MeanwhilePaths
from addons.ai_core.nodes.paths.path_ticket_saving import PathTicketSaving
from addons.ai_core.nodes.scheduling.scheduled import leave_scheduler, scheduler_of, scheduler_warnings
from ai_core.maps.cell_moves import Corners
from ai_core.maps.grid import Grid
from ai_core.maps.passage import Passage
from ai_core.paths import path_service
from ai_core.paths.grid_ways import GridWays
from ai_core.paths.region_graph import RegionGraph
from ai_core.scheduling.task import Task, Turn

HINT_LAYERS_3D_NAVIGATION = 12

MOST_FRAMES_WITHOUT_MAP = 120
LEAST_S_WITHOUT_MAP = 0.5
"""How long requests wait for a navigation map, which is built on a thread: frames, and real time (s), for
frames may be short. Then they fail."""

DIAGONALS: tuple[tuple[int, Corners], ...] = ((4, "closed"), (8, "closed"), (8, "half_open"), (8, "open"))


@gdclass(icon="res://addons/ai_core/icons/path_service.svg")
class PathService(PathAsking, FlowPaths, MeanwhilePaths, DrawnPaths, PathTicketSaving, Node):
    """Finds ways for all who ask, within the AIScheduler's budget: request_path() gives a ticket at once.

    Requests for the same way are one search, and its result is kept until the ground changes. Look
    with check_path(), or wait for path_ready. The source of ways is the navigation map, or a grid.
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

    class Meanwhile(IntEnum):
        NOTHING = 0
        PLAIN = 1
        MEMORY = 2
        SHARED_MEMORY = 3

    source = export(
        Source, Source.NAVIGATION_3D, on_set="_begin_anew",
        doc="What ways lead over: the navigation map of the world in 3D or 2D; or a grid.")
    partial_ways = export(
        bool, True, on_set="_begin_anew",
        doc="A request whose goal cannot be reached gets the way to the nearest place. Off: it fails,"
            " on a grid at once.")
    navigation_layers = export(
        int, 1, hint=(HINT_LAYERS_3D_NAVIGATION, ""), on_set="_begin_anew",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D), doc="Navigation layers that may be walked.")
    reach_tolerance_m = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, unit="m", on_set="_begin_anew",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D),
        doc="A way leads to its goal if it ends this near to it, else it is partial; in 2D in pixels. In 3D also if it"
            " ends right above or below, up to 2 m, and the map has nothing nearer to the goal.")
    snap_within_m = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, unit="m", on_set="_snap_set",
        doc="How far off a start or goal may lie; in 2D in pixels. Over a grid the nearest cell that can be walked is"
            " taken for a place in a wall or beside the grid; 0: it has no way, or is refused. Over a navigation map"
            " the nearest place is taken, and a start that is farther off has no way; 0: however far.")
    grid_node = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), on_set="_begin_anew", group="Grid",
        shown_when=("source", Source.GRID),
        doc="The TileMapLayer or GridMap that is read when the first way is asked for, and by set_grid_from().")
    diagonals = export(
        Diagonals, Diagonals.NO_CORNERS, on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Whether steps may be diagonal: never; without cutting corners; past one corner; always. An AStarGrid2D"
            " brings its own.")
    cost_data = export(
        str, "", on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Custom data layer of the TileSet: false or 0 is a wall, a number what entering costs. Empty: tiles"
            " without collision shapes can be walked.")
    floor_level = export(
        int, 0, on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Height (y) of a GridMap's cells that are the floor; it can be walked where nothing stands above.")
    wall_items = export(
        PackedInt32Array, (), on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Items of a GridMap's mesh library that cannot be walked.")
    straight_ways = export(
        bool, False, shown_when=("source", Source.GRID),
        doc="Ways asked for from now on go straight wherever nothing is in the way, on grids of squares; off: from"
            " cell to cell.")
    long_ways_by_regions = export(
        bool, False, on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Ways over some hundred cells are found in a hundredth of the steps where cells differ in cost, and are"
            " some hundredths dearer than the cheapest. Not where diagonals are always open.")
    meanwhile = export(
        Meanwhile, Meanwhile.MEMORY, group="Meanwhile", on_set="begin_meanwhile",
        doc="How get_place_meanwhile() finds its way by trying: not at all; turning where a wall is met; going back"
            " from dead ends; so, with what others have found out.")
    meanwhile_step_m = export(
        float, 1.0, range=(0.05, 1000, 0.05), or_greater=True, unit="m", on_set="begin_meanwhile",
        shown_when=("source", Source.NAVIGATION_3D, Source.NAVIGATION_2D),
        doc="Length of its steps over a navigation map; in 2D in pixels.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), group="Optimizations", on_set="_reschedule",
        doc="Weight of its share of the budget.")
    threads = export(
        int, 0, range=(0, 16, 1), or_greater=True, on_set="_begin_anew", shown_when=("source", Source.GRID),
        doc="Threads that help where several searches outlast their first turn; 0 for none. Ways are the same. One"
            " less than the processor has cores is the most that gains; ways in a recording may come in other frames.")
    maximum_waiting = export(
        int, 10_000, range=(1, 1_000_000, 1), or_greater=True, on_set="_begin_anew",
        doc="Different ways that may wait; requests beyond fail at once, and say so.")
    release_after_s = export(
        float, 60.0, range=(0, 3600, 0.1), or_greater=True, unit="s",
        doc="Game time after which tickets that are over are released by themselves; 0 is never.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="Draw the ways of all tickets that are kept: found ones green, partial ones yellow; lines to the goal"
            " while they are searched, grey, and where no way leads, red.")

    path_ready = signal(
        ("ticket", int), ("path", Variant),
        doc="A way is there, in the frame after it was found or asked for; get_state() says whether it is partial.")
    path_improved = signal(
        ("ticket", int), ("path", Variant),
        doc="A ticket of request_improving_path() has a way, or a cheaper one, from where its mover was last.")
    path_failed = signal(("ticket", int), ("why", str), doc="There will be no way: none leads there, or why else.")

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._service: path_service.PathService | None = None
        self._ways: Any = None
        self._grid: Grid | None = None
        self._places: Places | None = None
        self._given: Any = None                      # what set_grid_from() was given
        self._map: RID | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._frames_without_map, self._without_map_since_s, self._has_no_map = 0, 0.0, False
        self.begin_asking()
        self.begin_meanwhile()
        self.begin_flowing()
        self.begin_drawing()
        self.begin_saving()

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None and self._task is None:
            self._task = self._scheduler.serve(self, self._frame, "paths", priority=self.priority)

    def on_exit_tree(self) -> None:
        leave_scheduler(self, self._scheduler, self._task)
        self._task = self._scheduler = None
        self.end_asking()
        self._begin_anew()
        self.hide_paths()

    def on_predelete(self) -> None:
        self._given = None

    @property
    def service(self) -> path_service.PathService:
        """The path service of the library, for behaviors written in Python; made when it is first needed."""
        if self._service is None:
            if self._scheduler is None:
                raise RefusedValue("PathService needs an AIScheduler; add it to a scene that has one before using it")
            if self.source == self.Source.GRID:
                if self._grid is None:
                    self._grid, self._places = self._read_grid(self._given)
                passage = self._grid.passage()
                by_regions = self.long_ways_by_regions and RegionGraph.suits(passage)
                self._ways = GridWays(passage, partial=self.partial_ways, regions=by_regions)
                if self.threads:
                    self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="paths")
            else:
                self._ways = NavigationWays(
                    3 if self.source == self.Source.NAVIGATION_3D else 2, self._map or self._world_map(),
                    self.navigation_layers, self.reach_tolerance_m, self.snap_within_m)
            self._service = path_service.PathService(
                self._ways, self._scheduler.clock, trace=self._scheduler.trace, faults=self._scheduler.faults,
                most_waiting=self.maximum_waiting, on_over=self._over.append, on_improved=self.note_improved,
                executor=self._executor, helpers=max(1, self.threads))
        return self._service

    @property
    def grid_ground(self) -> tuple[Passage, Places] | None:
        """The grid that ways lead over, and where its cells lie; None until the first is asked for, or without one."""
        return None if self._grid is None or self._places is None else (self._grid.passage(), self._places)

    @method
    def set_grid_from(self, source: Variant = None) -> None:
        """Find ways over a TileMapLayer, a GridMap or an AStarGrid2D as it is now; null reads grid_node again.

        Requests that wait fail, and are told.
        """
        grid, places = self._read_grid(source)      # a mistake is told before anything is changed
        self.source = self.Source.GRID
        self._begin_anew()
        self._given, self._grid, self._places = source, grid, places

    @method
    def set_walls(self, cells: list, walkable: bool) -> None:
        """Shut or open cells, given as in the source: Vector2i, or a GridMap's Vector3i. The source stays as it is."""
        if self.source != self.Source.GRID:
            raise RefusedValue("set_walls is for grids; a navigation map changes by its regions")
        self.service  # noqa: B018
        numbers = [self._places.number(cell) for cell in cells]
        if numbers:
            self.note_walls(numbers)
            self._grid.set_cells(numbers, bool(walkable))
            self.forget_explored(numbers)

    def _snap_set(self) -> None:
        if isinstance(self._ways, NavigationWays):
            self._ways.snap_within_m = self.snap_within_m

    @method
    def set_navigation_map(self, map: RID) -> None:
        """Use another navigation map than the world's, such as one for large agents."""
        self._begin_anew()
        self._map = map

    @method
    def get_stats(self) -> dict:
        """Return counts of requests, of searches and of what came of them; how many wait and are kept now;
        of flow fields that get_next_places() keeps.

        "query_us" is what queries of a navigation map lately cost, in all but 5 % of cases.
        """
        counts = {} if self._service is None else self._service.statistics
        own = {"tickets": len(self._asked), "flow_fields": len(self._flows)}
        return {**counts, **own, "query_us": getattr(self._ways, "query_us", 0.0)}

    def _frame(self, turn: Turn) -> None:
        if self._service is not None and (self._service.is_idle or self._has_map()):
            self._service.advance(turn.budget)
        self.tell()
        if self.is_valid():
            self.advance_meanwhile(turn.budget)
            self.advance_flows(turn.budget)
            if self.show_in_game and self._scheduler is not None:
                self.draw_paths()

    def _has_map(self) -> bool:
        """Return whether ways can be looked for; also when waiting for a map is over."""
        if not isinstance(self._ways, NavigationWays) or self._ways.is_ready:
            self._frames_without_map, self._has_no_map = 0, False
            return True
        if self._frames_without_map == 0:
            self._without_map_since_s = time.perf_counter()
        self._frames_without_map += 1
        if self._frames_without_map < MOST_FRAMES_WITHOUT_MAP or self._has_no_map:
            return self._has_no_map
        self._has_no_map = time.perf_counter() - self._without_map_since_s >= LEAST_S_WITHOUT_MAP
        if self._has_no_map:
            report_error(
                f"found no navigation map for {MOST_FRAMES_WITHOUT_MAP} frames; add a NavigationRegion"
                f"{self._ways.dimensions}D with a baked navigation mesh, or choose another source", self)
        return self._has_no_map

    @property
    def _dimensions(self) -> int:
        if self.source == self.Source.GRID and self._places is not None:
            return self._places.dimensions
        return 2 if self.source == self.Source.NAVIGATION_2D else 3

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

    def _begin_anew(self) -> None:
        """Another ground: what waits fails, and is told; ways that were found stay with their tickets."""
        for ticket in self._open:
            if self._service is not None and not ticket.is_over:
                self._service.cancel(ticket)
                ticket.state, ticket.why = "failed", "the ground was replaced; ask again"
                self._over.append(ticket)
        if self._executor is not None:
            self._executor.shutdown()       # nothing runs on it between frames
        self._service = self._ways = self._grid = self._places = self._executor = None
        self._frames_without_map, self._has_no_map = 0, False
        self.begin_meanwhile()
        self.begin_flowing()
        self.begin_saving()

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, period_frames=1, phase_frames=0, priority=self.priority)

    def _get_configuration_warnings(self) -> list[str]:
        return scheduler_warnings(self)
