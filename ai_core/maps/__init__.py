"""What is the ground like?

``Grid``: square or hexagonal cells with costs, for classes of movers and for teams;
its ``passage`` is what searches read. ``Graph``: places and one-way connections, for
waypoints or navigation polygons. ``moving_ai``: maps and scenarios in the files of
the Moving AI benchmark.

Rejected: one class for both. A grid's moves are bits and steps, a graph's are lists;
hiding that costs a search ten times its time.
"""
from ai_core.maps.cell_moves import Corners
from ai_core.maps.graph import Graph
from ai_core.maps.grid import Grid
from ai_core.maps.moving_ai import Scenario, read_map, read_scenarios
from ai_core.maps.passage import Passage

__all__ = ["Corners", "Graph", "Grid", "Passage", "Scenario", "read_map", "read_scenarios"]
