"""How do I get there?

``PathService`` over ``GridWays``: for many who ask, by ticket, shared and within a budget.
``AStarSearch``: one search in slices, on a grid or a graph, to one goal of many;
``SearchMemory`` is handed from one to the next, with a ``JumpTable`` in it ways on grids of
one cost are found 8 to 100 times faster. ``FlowField``: from every cell the next one, for
many movers to the same goals. ``Reachability``: whether there is a way at all, in O(1).

Rejected: a heap on grids. Buckets hold what is nearly as good, and need no order.
"""
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_ways import GridWays
from ai_core.paths.jump_table import JumpTable
from ai_core.paths.path import Path, PathState
from ai_core.paths.path_service import PathService, Ways
from ai_core.paths.path_ticket import PathTicket, TicketState
from ai_core.paths.reachability import Reachability
from ai_core.paths.search import AStarSearch, Goals, StepCost
from ai_core.paths.search_memory import SearchMemory

__all__ = [
    "AStarSearch", "FlowField", "Goals", "GridWays", "JumpTable", "Path", "PathService", "PathState", "PathTicket",
    "Reachability", "SearchMemory", "StepCost", "TicketState", "Ways",
]
