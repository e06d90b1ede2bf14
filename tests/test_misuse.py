"""What is handed in is not what it must be: the error says so, and what to do."""
from __future__ import annotations

import random

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.habit_population import HabitPopulation
from ai_core.decisions.mind_population import MindPopulation
from ai_core.events.event_log import EventLog
from ai_core.events.polling_log import PollingLog
from ai_core.events.squad_radio import SquadRadio
from ai_core.maps.grid import Grid
from ai_core.paths.anytime_search import AnytimeSearch
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_ways import GridWays
from ai_core.paths.path_service import PathService
from ai_core.squads.build_order import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategist import Strategist

GROUND = Grid(np.ones((4, 4))).passage()
TREE = TechnologyTree([Product("worker", 50)])


def flow_field():
    field = FlowField(GROUND, [0])
    field.advance(Budget.unlimited())
    return field


WRONG = {
    "no ticket": (
        lambda: PathService(GridWays(GROUND), ManualClock()).cancel(None), TypeError,
        "ticket must be a PathTicket, got None"),
    "no situation": (
        lambda: Strategist(TREE, random.Random(1)).think(None), TypeError,
        "situation must be a StrategicSituation, got None"),
    "no member": (lambda: SquadRadio("Ann"), TypeError, "member must be a Member of a Narrowcast, got 'Ann'"),
    "no way": (lambda: AnytimeSearch(GROUND, 0, [5]).learn([0, 5]), TypeError, r"path must be a Path, got \[0, 5\]"),
    "no tree": (lambda: BuildOrder([("worker", 2)], {}), TypeError, r"tree must be a TechnologyTree, got \{\}"),
    "an endless log": (lambda: EventLog(10**40), ValueError, "capacity must be at most 2147483647"),
    "an endless log of polls": (lambda: PollingLog(10**40), ValueError, "maximum_entries must be at most 2147483647"),
    "a cell below the grid": (lambda: flow_field().way_from(-1), ValueError, "cell must be at least 0, got -1"),
    "a mover below the grid": (lambda: flow_field().next_of([-1]), ValueError, r"cells must be 0 to 15, got \[-1\]"),
    "a mover beyond the grid": (lambda: flow_field().costs_of([16]), ValueError, r"cells must be 0 to 15, got \[16\]"),
    "a cell beyond the grid": (lambda: flow_field().way_from(16), ValueError, "cell must be at most 15, got 16"),
    "no budget of trees": (lambda: HabitPopulation().tick(0.1, 5), TypeError, "budget must be a Budget, got 5"),
    "no budget of minds": (lambda: MindPopulation().tick(0.1, 5), TypeError, "budget must be a Budget, got 5"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_what_is_wanted(name):
    misuse, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        misuse()
