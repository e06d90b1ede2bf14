"""How do I get there?

``AStarSearch``: the cheapest way on a grid or a graph, in slices, to one goal of many.

Rejected: a heap on grids. Buckets hold what is nearly as good, and need no order.
"""
from ai_core.paths.path import Path, PathState
from ai_core.paths.search import AStarSearch, Goals, StepCost
from ai_core.paths.search_memory import SearchMemory

__all__ = ["AStarSearch", "Goals", "Path", "PathState", "SearchMemory", "StepCost"]
