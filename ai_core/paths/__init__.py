"""How do I get there?

``PathService`` over ``GridWays``: for many who ask, by ticket, shared and within a budget.
``AStarSearch``: one search in slices, on a grid or a graph, to one goal of many;
``SearchMemory`` is handed from one to the next, with a ``JumpTable`` in it ways on grids of
one cost are found faster where jumps are long. ``AnytimeSearch``: a way at once, then cheaper
ones, while the mover walks. ``RegionSearch`` on a ``RegionGraph``: long ways in some hundred
steps. ``FlowField``: from every cell the next one. ``Reachability``: whether there is a way,
in O(1). ``BumpAndTurn``: trying, while a way is searched; ``ExploredMap``: what many remember.
To walk a way: ``Corridor``, ``pull_cells``, ``pull_through``, ``smooth``, ``PathProgress``.

Rejected: a heap on grids. Buckets hold what is nearly as good, and need no order.
"""
from ai_core.paths.bump_and_turn import BumpAndTurn, cells_apart, cells_around
from ai_core.paths.corridor import Corridor
from ai_core.paths.explored_map import ExploredMap, ExploredQuestion
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_line import line_is_open
from ai_core.paths.grid_ways import GridWays
from ai_core.paths.path import Path, PathState
from ai_core.paths.path_progress import PathProgress, StuckDetection
from ai_core.paths.path_requests import PathTicket, TicketState
from ai_core.paths.path_service import PathService, Ways
from ai_core.paths.path_smoothing import smooth
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch, Goals, StepCost
from ai_core.paths.searches.search_memory import SearchMemory
from ai_core.paths.string_pulling import pull_cells, pull_through

__all__ = [
    "AStarSearch", "AnytimeSearch", "BumpAndTurn", "Corridor", "ExploredMap", "ExploredQuestion", "FlowField",
    "Goals", "GridWays", "JumpTable", "Path", "PathProgress", "PathService", "PathState", "PathTicket",
    "Reachability", "RegionGraph", "RegionSearch", "SearchMemory", "StepCost", "StuckDetection", "TicketState",
    "Ways", "cells_apart", "cells_around", "line_is_open", "pull_cells", "pull_through", "smooth",
]
