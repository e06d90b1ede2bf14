"""What is the ground like?

``Grid``: square or hexagonal cells with costs, for classes of movers and for teams;
its ``passage`` is what searches read, ``nearest_free`` snaps to it. ``Graph``: places and one-way connections.
``DecisionMap``: what units know of the ground (``MapLayer``: resources, threat, ...), for who
decides at large; ``best_cells``, ``frontier``, ``choke_points``, ``careful_costs`` ask it.
``ConflictLog``: who fought where. ``moving_ai``: maps and scenarios in its file format.
``CoverMap``: where to hide, filled by ``CoverBaking``, asked by ``CoverSearch``.

Rejected: one class for grid and graph. A grid's moves are bits and steps, a graph's are
lists; hiding that costs a search ten times its time.
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
