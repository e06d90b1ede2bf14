"""How do I get there?

``AStarSearch``: the cheapest way on a grid or a graph, in slices, to one goal of many;
``SearchMemory``: hand the same to one search after the other. ``JumpTable`` in it: on
grids of one cost, ways to one goal 20 to 100 times faster, on maps of games and mazes.
``FlowField``: from every cell the next one, for many movers to the same goals.
``Reachability``: whether there is a way at all, in O(1).

Rejected: a heap on grids. Buckets hold what is nearly as good, and need no order.
"""
from ai_core.paths.flow_field import FlowField
from ai_core.paths.jump_table import JumpTable
from ai_core.paths.path import Path, PathState
from ai_core.paths.reachability import Reachability
from ai_core.paths.search import AStarSearch, Goals, StepCost
from ai_core.paths.search_memory import SearchMemory

__all__ = [
    "AStarSearch", "FlowField", "Goals", "JumpTable", "Path", "PathState", "Reachability", "SearchMemory", "StepCost",
]
