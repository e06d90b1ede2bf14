"""Maps: grids, graphs, decision maps, conflicts and cover.

``Grid`` holds square or hexagonal cells with costs, per class of movers and per team; searches
read its ``passage``, and ``nearest_free`` snaps a position to it. ``Graph`` holds places and one-way
connections. ``DecisionMap`` holds layers (``MapLayer``: resources, threat, ...) for strategic
decisions; ``best_cells``, ``frontier``, ``choke_points`` and ``careful_costs`` evaluate them.
``ConflictLog`` records fights. ``moving_ai`` reads maps and scenarios of the Moving AI benchmark.
``CoverMap`` holds cover spots; ``CoverBaking`` finds them, ``CoverSearch`` selects the best.

Rejected: one class for grid and graph. A grid stores moves as bits and offsets, a graph as
lists; an interface over both makes a search ten times slower.
"""
from ai_core.maps.cell_moves import Corners
from ai_core.maps.cell_sight import CellSight
from ai_core.maps.choke_points import ChokePoint, choke_points
from ai_core.maps.conflict_log import Conflict, ConflictLog
from ai_core.maps.cover.cover_baking import (
    CoverBaking,
    CoverBakingSettings,
    candidates_along_edges,
    candidates_of_grid,
    wall_edges,
)
from ai_core.maps.cover.cover_map import CoverMap, CoverSpot
from ai_core.maps.cover.cover_objects import CoverObject
from ai_core.maps.cover.cover_search import CoverSearch, CoverWish
from ai_core.maps.cover.cover_spots import CoverBody, CoverCandidates, CoverSpots
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.graph import Graph
from ai_core.maps.grid import Grid
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import MapLayer, standard_layers
from ai_core.maps.map_picture import MapPicture
from ai_core.maps.map_questions import best_cells, careful_costs, careful_step_cost, frontier
from ai_core.maps.moving_ai import Scenario, read_map, read_scenarios
from ai_core.maps.passage import Passage, nearest_free

__all__ = [
    "OUTSIDE",
    "CellSight",
    "ChokePoint",
    "Conflict",
    "ConflictLog",
    "Corners",
    "CoverBaking",
    "CoverBakingSettings",
    "CoverBody",
    "CoverCandidates",
    "CoverMap",
    "CoverObject",
    "CoverSearch",
    "CoverSpot",
    "CoverSpots",
    "CoverWish",
    "DecisionMap",
    "Graph",
    "Grid",
    "MapArea",
    "MapLayer",
    "MapPicture",
    "Passage",
    "Scenario",
    "best_cells",
    "candidates_along_edges",
    "candidates_of_grid",
    "careful_costs",
    "careful_step_cost",
    "choke_points",
    "frontier",
    "nearest_free",
    "read_map",
    "read_scenarios",
    "standard_layers",
    "wall_edges",
]
