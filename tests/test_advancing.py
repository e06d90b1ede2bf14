"""Whatever is advanced: it says at the call what is no budget."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.events.time_of_day import TimeOfDay
from ai_core.maps.cover.cover_search import CoverSearch
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.grid import Grid
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer
from ai_core.paths.explored_map import ExploredMap
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch
from tests.maps.cover.cover_levels import CoverLevel

CROSSED = np.where(np.eye(20) > 0, np.inf, 1).astype(np.float32)


def passage():
    return Grid(CROSSED).passage()


def explored():
    known = ExploredMap()
    known.report(1, (2,))
    return known


def regions(*, are_made=False):
    graph = RegionGraph(passage(), side=8)
    if are_made:
        graph.advance(Budget.unlimited())
    return graph


def cover_search():
    level = CoverLevel(".....\n..#..\n.....")
    return CoverSearch(level.cover(), (0, 0, 0), [(4, 1, 2)], level.sight)


ALL = {
    "search": lambda: AStarSearch(passage(), 1, [399]),
    "anytime search": lambda: AnytimeSearch(passage(), 1, [399]),
    "search over regions": lambda: RegionSearch(regions(are_made=True), 1, 19),
    "regions": regions,
    "jumps": lambda: JumpTable(passage()),
    "reachability": lambda: Reachability(passage()),
    "flow field": lambda: FlowField(passage(), [399]),
    "path service": lambda: PathService(GridPathProvider(passage()), ManualClock()),
    "explored map": explored,
    "decision map": lambda: DecisionMap(MapArea(4, 4), [MapLayer("heat")], ManualClock()),
    "cover search": cover_search,
    "cover baking": lambda: CoverLevel(".....\n..#..\n.....").baking(),
    "events": lambda: EventManager(ManualClock()),
    "time of day": lambda: TimeOfDay(ManualClock(), day_length_s=10),
    "polls": lambda: PollingStation(ManualClock()),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", [None, 100, Budget], ids=["None", "a number", "the class"])
def test_what_is_no_budget_is_refused(name, what):
    with pytest.raises(TypeError, match=r"budget must be a Budget, got .*; use Budget\.unlimited\(\) for no limit"):
        ALL[name]().advance(what)
