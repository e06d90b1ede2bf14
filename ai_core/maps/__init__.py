"""Maps: grids, graphs, decision maps, conflicts and cover.

``Grid`` holds square or hexagonal cells with costs, per class of movers and per team; searches
read its ``passage``, and ``nearest_free`` snaps a position to it. ``Graph`` holds places and one-way
connections. ``DecisionMap`` holds layers (``MapLayer``: resources, threat, ...) for strategic
decisions; ``best_cells``, ``frontier``, ``choke_points`` and ``danger_costs`` evaluate them.
``ConflictLog`` records fights. ``moving_ai`` reads maps and scenarios of the Moving AI benchmark.
``CoverMap`` holds cover spots; ``CoverBaking`` finds them, ``CoverSearch`` selects the best.

Rejected: one class for grid and graph. A grid stores moves as bits and offsets, a graph as
lists; an interface over both makes a search ten times slower.
"""
from ai_core.maps.cell_moves import Corners
from ai_core.maps.choke_points import ChokePoint, choke_points
from ai_core.maps.conflict_log import Conflict, ConflictLog
from ai_core.maps.cover.cover_baking import (
    CoverBaking,
    CoverBakingSettings,
    candidates_along_edges,
    candidates_from_grid,
    wall_edges,
)
from ai_core.maps.cover.cover_map import CoverMap, CoverSpot
from ai_core.maps.cover.cover_objects import CoverObject
from ai_core.maps.cover.cover_search import CoverQuery, CoverSearch
from ai_core.maps.cover.cover_spots import CoverBody, CoverCandidates, CoverSpots
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.graph import Graph
from ai_core.maps.grid import Grid
from ai_core.maps.grid_line_of_sight import GridLineOfSight
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import MapLayer, standard_layers
from ai_core.maps.map_queries import best_cells, danger_costs, frontier
from ai_core.maps.map_snapshot import MapSnapshot
from ai_core.maps.moving_ai import Scenario, read_map, read_scenarios
from ai_core.maps.passage import GridPassage, nearest_free

__all__ = [
    "OUTSIDE", "ChokePoint", "Conflict", "ConflictLog", "Corners", "CoverBaking", "CoverBakingSettings", "CoverBody",
    "CoverCandidates", "CoverMap", "CoverObject", "CoverQuery", "CoverSearch", "CoverSpot", "CoverSpots", "DecisionMap",
    "Graph", "Grid", "GridLineOfSight", "GridPassage", "MapArea", "MapLayer", "MapSnapshot", "Scenario", "best_cells",
    "candidates_along_edges", "candidates_from_grid", "choke_points", "danger_costs", "frontier",
    "nearest_free", "read_map", "read_scenarios", "standard_layers", "wall_edges",
]
