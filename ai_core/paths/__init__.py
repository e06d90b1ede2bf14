"""Path finding and path following.

``find_path`` finds a path over an array in one call. ``PathService`` over ``GridPathProvider`` answers the
path requests of many movers: by ticket, with shared searches, within a budget. ``AStarSearch`` is a single
search in slices on a grid or a graph, to one or several goals; ``SearchMemory`` is reused from search to
search, and a ``JumpTable`` in it speeds up searches on grids with a single cost where jumps are long.
``AnytimeSearch`` finds a path quickly and then cheaper ones while the mover walks. ``RegionSearch`` on a
``RegionGraph`` finds long paths in a few hundred steps. ``FlowField`` holds the next cell for every cell.
``Reachability`` answers in O(1) whether a path exists. ``BumpAndTurn`` moves without a path, for example
while one is searched; several movers share what they explored in an ``ExploredMap``. ``pull_cells``
and ``PathProgress`` are for following paths; ``LocalAvoidance`` lets movers walk around each other.

Rejected: a heap for searches on grids. Buckets of nearly equal costs need no ordering.
"""
from ai_core.paths.avoidance_loops import AvoidanceGroup, LocalAvoidance
from ai_core.paths.bump_and_turn import BumpAndTurn, distance_on_grid, neighbors_on_grid
from ai_core.paths.explored_map import ExploredMap, ExploredMapQuery
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_line import line_is_open
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path import Path, PathState
from ai_core.paths.path_progress import PathProgress
from ai_core.paths.path_requests import PathTicket, TicketState
from ai_core.paths.path_service import PathProvider, PathService
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch, Goals, StepCost, find_path
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.string_pulling import pull_cells

__all__ = [
    "AStarSearch", "AnytimeSearch", "AvoidanceGroup", "BumpAndTurn", "ExploredMap", "ExploredMapQuery",
    "FlowField", "Goals", "GridPathProvider", "JumpTable", "LocalAvoidance", "Path", "PathProgress", "PathProvider",
    "PathService", "PathState", "PathTicket", "Reachability", "RegionGraph", "RegionSearch", "SearchMemory", "StepCost",
    "TicketState", "distance_on_grid", "find_path", "line_is_open", "neighbors_on_grid", "pull_cells",
]
