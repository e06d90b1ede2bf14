"""What is handed in is not what it must be: the error says so, and what to do."""
from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.adaptation import SequencePrediction
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_runner_loops import HabitContext, write_changed
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation, MindPopulation
from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition
from ai_core.errors import UnknownNameError
from ai_core.events.checking import CheckingEngine
from ai_core.events.event_log import EventLog
from ai_core.events.squad_radio import SquadRadio
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Normal
from ai_core.level_of_detail.population.population import Population
from ai_core.maps import (
    CoverBody,
    CoverMap,
    CoverObject,
    CoverSearch,
    GridLineOfSight,
    nearest_free,
    read_map,
    read_scenarios,
)
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.grid import Grid
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import standard_layers
from ai_core.paths.bump_and_turn import neighbors_on_grid
from ai_core.paths.explored_map import ExploredMap
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_line import line_is_open
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_progress import PathProgress
from ai_core.paths.path_service import PathService
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.string_pulling import pull_cells
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.statistics import QualityOfService
from ai_core.senses import AwarenessLevel, Modality, RegionalSenseManager, SightCone, VisiblePart
from ai_core.snapshot import take
from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Capabilities, Force, power_ratio
from ai_core.squads.free_cells import GridClearance, NearestFreeCell
from ai_core.squads.situation import Sighting
from ai_core.squads.slot_assignment import RoleNeed
from ai_core.squads.stance import StanceJudge
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategy.strategist import Strategist
from ai_core.squads.tactics import Sacrifice
from ai_core.trace import Trace

KNIGHT = Capabilities()
GRID = Grid(np.ones((4, 4)))
GROUND = GRID.passage()
MACHINE = StateMachineDefinition("machine", [State("calm")])
RULES = RuleSet([Rule("flee", "hurt", lambda mind: None)], facts={"hurt": 0.0})
CONE = SightCone(9, 1, 1)
SENSES = RegionalSenseManager(ManualClock())
EYE = SENSES.add_sensor(position=(0, 0, 0), forward=(0, 0, 1), thresholds={"sight": 0.1}, sight_cones=[CONE])
LINES = GridLineOfSight(np.zeros((3, 3)))
REGIONS = RegionGraph(GROUND)
PEOPLE = Population(5, {"a": Normal(1.0, 1.0)})
TREE = TechnologyTree([Product("worker", 50)])


def flow_field():
    field = FlowField(GROUND, [0])
    field.advance(Budget.unlimited())
    return field


WRONG = {
    "a context without a tree": (
        HabitContext, TypeError, "a HabitContext cannot be made; a HabitTree makes one for the callbacks of its"),
    "blackboards without a value each": (
        lambda: write_changed([Blackboard()], ("a",), []), ValueError,
        "values must be one for each of the 1 blackboards, got 0"),
    "no ticket": (
        lambda: PathService(GridPathProvider(GROUND), ManualClock()).cancel(None), TypeError,
        "ticket must be a PathTicket, got None"),
    "no situation": (
        lambda: Strategist(TREE, random.Random(1)).think(None), TypeError,
        "situation must be a StrategicSituation, got None"),
    "no member": (lambda: SquadRadio("Ann"), TypeError, "member must be a GroupMembership, got"),
    "several goals over regions": (
        lambda: AnytimeSearch(GROUND, 0, [5, 6], regions=REGIONS), ValueError,
        "regions must be of the passage, and the goal a single cell; leave out regions"),
    "no tree": (lambda: BuildOrder([("worker", 2)], {}), TypeError, r"tree must be a TechnologyTree, got \{\}"),
    "an endless log": (lambda: EventLog(10**40), ValueError, "capacity must be at most 2147483647"),
    "a mover below the grid": (lambda: flow_field().next_of([-1]), ValueError, r"cells must be 0 to 15, got \[-1\]"),
    "a mover beyond the grid": (lambda: flow_field().costs_of([16]), ValueError, r"cells must be 0 to 15, got \[16\]"),
    "no budget of trees": (lambda: HabitPopulation().tick(0.1, 5), TypeError, "budget must be a Budget, got 5"),
    "a class of traces": (
        lambda: HabitTree(Habit("x"), trace=Trace), TypeError, "trace must be a Trace or None, got <class"),
    "a class of faults": (
        lambda: HabitTree(Habit("x"), faults=FaultIsolation), TypeError, "faults must be a FaultIsolation or None"),
    "a class of clocks": (lambda: RegionalSenseManager(ManualClock), TypeError, "clock must have a 'now', got <class"),
    "no period of a group": (
        lambda: GroupLOD("x", ManualClock(), importance=float, closed_period_frames=0), ValueError,
        "closed_period_frames must be at least 1, got 0"),
    "nothing to group by": (
        lambda: GroupLOD("x", ManualClock(), importance=float, expand=list, member=3), TypeError,
        "member must be a callable or None, got 3"),
    "a place beyond the grid": (
        lambda: neighbors_on_grid(GROUND)(16), ValueError, "a place must be a cell of the grid, 0 to 15, got 16"),
    "a way that is no place": (
        lambda: ExploredMap().report(1, [1.5]), TypeError, "neighbors must be an integer, got 1.5"),
    "rows of many lengths": (
        lambda: PathProgress([(0, 0), (1,)]), ValueError,
        r"points must have rows of equal length, got \[\(0, 0\), \(1,\)\]"),
    "text for numbers": (lambda: PathProgress("here"), TypeError, "points must hold numbers, got 'here'"),
    "no goals": (lambda: AnytimeSearch(GROUND, 0, None), TypeError, "goals must be integers of shape"),
    "a body that is none": (
        lambda: CoverSearch(CoverMap(), (0, 0, 0), [(1, 0, 0)], len, body=CoverBody), TypeError,
        "body must be a CoverBody or None, got <class"),
    "letters for names": (
        lambda: RoleNeed("healer", only="medic"), TypeError,
        "only must be a sequence of names, got 'medic'; put a single name in a tuple"),
    "letters for roles": (lambda: Sacrifice(roles="vip"), TypeError, "roles must be a sequence of names, got 'vip'"),
    "a number that no save holds": (
        lambda: SequencePrediction(["a", "b"], half_life=1e300), ValueError,
        r"half_life must be between -1e\+100 and 1e\+100"),
    "a count that no save holds": (
        lambda: CoverMap().put_object(10**40, CoverObject((0, 0, 0), (1, 1, 1))), ValueError,
        "number must be at most 9007199254740991"),
    "a time that no save holds": (
        lambda: ManualClock().advance(seconds=1e13), ValueError, r"seconds must be at most 1e\+12"),
    "frames that no save holds": (lambda: ManualClock().advance(10**20), ValueError, "frames must be at most"),
    "a letter each": (
        lambda: TechnologyTree([Product("hall", 5, requires="yard")]), TypeError,
        "requires of 'hall' must be a sequence of names, got 'yard'"),
    "no generator": (
        lambda: Normal(1.0, 1.0).values(3, None), TypeError, r"generator must be a random\.Random or a numpy\.random"),
    "fewer than nobody": (
        lambda: Normal(1.0, 1.0).values(-1, random.Random(1)), ValueError, "count must be at least 0, got -1"),
    "no end of a line": (
        lambda: line_is_open(GROUND, (0, 0), ()), ValueError, "start and end must have rows of equal length"),
    "no force": (lambda: forecast([KNIGHT], Force([(KNIGHT, 1)])), TypeError, "own must be a Force, got "),
    "no force that is met": (
        lambda: StanceJudge().judge(Force(), None, 0.0), TypeError, "met must be a Force, got None"),
    "no force to compare": (lambda: power_ratio(Force(), 3), TypeError, "other must be a Force, got 3"),
    "nobody who hears": (
        lambda: CheckingEngine(None, Scheduler(ManualClock(), policy=Policy.FREQUENCY), ManualClock()), TypeError,
        "events must be an EventManager or a Narrowcast, got None"),
    "nothing a frame used": (
        lambda: QualityOfService(target_hz=60.0, ai_share=0.1).note(float("nan"), 0.0), ValueError,
        "used_us must be a finite number, got nan"),
    "no clock of a map": (
        lambda: DecisionMap(MapArea(2, 2), standard_layers(), None), TypeError, "clock must have a 'now', got None"),
    "a name that is a number": (lambda: HabitTree(Habit("x"), name=7), TypeError, "name must be a string, got 7"),
    "an enemy on a line": (lambda: Sighting(1, 3.0), ValueError, "position must be 2 or 3 finite coordinates, got 3.0"),
    "a grid for a passage": (
        lambda: nearest_free(GRID, (0, 0), 2), TypeError, "passage must be a GridPassage, got .*; use grid.passage"),
    "a grid to pull over": (lambda: pull_cells(GRID, [0]), TypeError, "passage must be a GridPassage, got .*; use gr"),
    "one step": (
        lambda: nearest_free(GROUND, (0, 0), 2, steps=5), ValueError, "steps must be two vectors of finite numbers"),
    "no memory of a search": (
        lambda: AStarSearch(GROUND, 0, 1, memory=5), TypeError, "memory must be a SearchMemory or None, got 5"),
    "no memory of a field": (
        lambda: FlowField(GROUND, 0, memory=5), TypeError, "memory must be a SearchMemory or None, got 5"),
    "no memory that improves": (
        lambda: AnytimeSearch(GROUND, 0, 1, memory=5), TypeError, "memory must be a SearchMemory or None, got 5"),
    "a file for a map": (lambda: read_map(Path("a.map")), TypeError, "text must be a string, got .*; use the text"),
    "a file for scenarios": (
        lambda: read_scenarios(Path("a.scen")), TypeError, "text must be a string, got .*; use the text of the file"),
    "a line from nowhere": (
        lambda: LINES([(float("nan"), 0, 0, 1, 0, 1)]), ValueError, r"segments must be finite, got \[nan, .* in row 0"),
    "a line to nowhere": (
        lambda: LINES([(0, 0, 0, 1, 0, float("inf"))]), ValueError, r"segments must be finite, got \[.*inf\] in row 0"),
    "a line alone": (
        lambda: LINES(np.zeros(6)), ValueError, r"segments must have shape \(n, 6\), got \(6,\)"),
    "a number for a blackboard": (
        lambda: HabitTree(Habit("x"), blackboard=5), TypeError, "blackboard must be a dict or None, got 5"),
    "a number for values": (
        lambda: HabitTree(Habit("x"), values=5), TypeError, "values must be SavedValues or None, got 5"),
    "a number for parts": (
        lambda: HabitTree(Habit("x"), parts=5), TypeError, "parts must be a sequence or None, got 5"),
    "parts of fewer places": (
        lambda: HabitTree(Habit("x", [Habit("y")]), parts=[1]), ValueError,
        "parts must have an object for each of the 2 places of the plan, got 1"),
    "a word for a flag": (
        lambda: Habit("x", non_blocking="no"), TypeError, "habit 'x': non_blocking must be True or False, got 'no'"),
    "a list for the name of a machine": (
        lambda: StateMachine(MACHINE, name=[1]), TypeError, r"name must be a string, got \[1\]"),
    "a word for an error raised again": (
        lambda: FaultIsolation(reraise="no"), TypeError, "reraise must be True or False, got 'no'"),
    "a list of types": (lambda: Blackboard(types=["x"]), TypeError, r"types must be a mapping or None, got \['x'\]"),
    "a list of parameters": (
        lambda: RuleMind(RULES, parameters=["x"]), TypeError, r"parameters must be a mapping or None, got \['x'\]"),
    "a tick that no save holds": (
        lambda: HabitTree(Habit("x")).tick(1e13), ValueError, r"elapsed_s must be at most 1e\+12, got 1000"),
    "ticks that no save holds": (
        lambda: [tree.tick(9e11) for tree in 2 * [HabitTree(Habit("x"))]], ValueError,
        r"elapsed_s must be at most 1e\+11, got 9"),
    "a tick of trees that no save holds": (
        lambda: HabitPopulation().tick(1e13), ValueError, r"elapsed_s must be at most 1e\+12"),
    "a delay that no save holds": (
        lambda: HabitPopulation().add(HabitTree(Habit("x")), late_s=1e13), ValueError, "late_s must be at most"),
    "a time of a machine that no save holds": (
        lambda: StateMachine(MACHINE).update(1e13), ValueError, r"elapsed_s must be at most 1e\+12"),
    "a time of rules that no save holds": (
        lambda: RuleMind(RULES).update(1e13), ValueError, r"elapsed_s must be at most 1e\+12"),
    "a cone alone": (
        lambda: SENSES.add_sensor(position=(0, 0, 0), forward=(0, 0, 1), thresholds={"sight": 0.1}, sight_cones=CONE),
        TypeError, "sight_cones must be a sequence of SightCone, got .*; put a single one in a tuple"),
    "a modality alone": (
        lambda: RegionalSenseManager(ManualClock(), modalities=Modality.sight()), TypeError,
        "modalities must be a sequence of Modality, got .*; put a single one in a tuple"),
    "a part alone": (
        lambda: SENSES.add_source(position=(0, 0, 0), strengths={"sight": 1}, parts=VisiblePart("head", (0, 1, 0))),
        TypeError, "parts must be a sequence of VisiblePart, got .*; put a single one in a tuple"),
    "a function for an audience": (
        lambda: RegionalSenseManager(ManualClock(), audience=print), TypeError,
        "audience must have a method receive, got <built-in function print>; see SensationReceiver"),
    "the target of no sensor": (lambda: SENSES.first_target(99), UnknownNameError, "unknown sensor id 99"),
    "a share above all": (
        lambda: SENSES.first_target(EYE, nearer=2), ValueError, "nearer must be at most 1, got 2"),
    "nowhere to be near": (
        lambda: SENSES.first_target(EYE, here=(0.0, float("nan"), 0.0)), ValueError, "here must be finite, got"),
    "a present target that is no id": (
        lambda: SENSES.first_target(EYE, present=2.5), TypeError, "present must be an integer, got 2.5"),
    "a level without a name": (
        lambda: AwarenessLevel(float("nan"), 0.5, 0.1), TypeError, "name must be a non-empty string, got nan"),
    "a row and a column for a goal": (
        lambda: AStarSearch(GROUND, 0, (3, 1)), TypeError,
        r"goals must be a place, or a list of several, got \(3, 1\); use grid.cell\(row, column\) for a cell"),
    "a row and a column for a start": (
        lambda: AStarSearch(GROUND, (0, 1), 3), TypeError,
        r"start must be an integer, got \(0, 1\); grid.cell\(row, column\) is the number of a cell"),
    "a row and a column for a request": (
        lambda: PathService(GridPathProvider(GROUND), ManualClock()).request_path(0, (3, 1)), TypeError,
        r"goal must be an integer, got \(3, 1\); grid.cell\(row, column\) is the number of a cell"),
    "0 for blocked": (lambda: Grid([[1, 0]]), ValueError, "or inf for a wall, got 0; pass bool for open and blocked"),
    "a child alone": (
        lambda: Habit("a", Habit("b")), TypeError,
        "habit 'a': children must be a sequence of Habit, got .*; put a single one in a tuple"),
    "a number for the name of a part": (
        lambda: take({1: ManualClock()}), TypeError, "a name in parts must be a string, got 1"),
    "the tick of a tree as work": (
        lambda: Scheduler(ManualClock()).add(HabitTree(Habit("x")).tick), TypeError,
        "work is called with its Turn, but .* takes 'elapsed_s'; add the object itself instead of its method"),
    "the advance of senses as work": (
        lambda: Scheduler(ManualClock()).add(SENSES.advance), TypeError,
        "work is called with its Turn, but .* takes 'budget'; add the object itself instead of its method"),
    "a row of a force alone": (
        lambda: Force((KNIGHT, 3)), TypeError, r"rows of a force must be pairs \(capabilities, count\), got"),
    "nowhere to stand near": (
        lambda: NearestFreeCell([[True]])(np.array([[np.nan, 0.0]])), ValueError, "places must be finite, got"),
    "free from nowhere": (
        lambda: GridClearance([[True]])(np.array([[np.nan, 0.0]]), np.array([[1.0, 0.0]]), 3.0), ValueError,
        "points and directions must be finite, got"),
    "a cell before the first": (lambda: GROUND.is_free(-1), ValueError, "cell must be at least 0, got -1; grid.cell"),
    "a cell after the last": (lambda: GROUND.is_free(16), ValueError, "cell must be at most 15, got 16; grid.cell"),
    "half a cell": (lambda: GROUND.is_free(1.7), TypeError, "cell must be an integer, got 1.7; grid.cell"),
    "a row and a column for a cell": (
        lambda: GROUND.is_free((0, 0)), TypeError, r"cell must be an integer, got \(0, 0\); grid.cell"),
    "the region of no cell": (lambda: REGIONS.region_of(-5), ValueError, "cell must be at least 0, got -5"),
    "the region of nothing": (lambda: REGIONS.region_of(float("nan")), TypeError, "cell must be an integer, got nan"),
    "the extent of no region": (
        lambda: REGIONS.extent(77), ValueError, r"region must be at most 0, got 77; region_of\(cell\) is the region"),
    "the fields of no region": (lambda: REGIONS.fields(77), ValueError, "region must be at most 0, got 77"),
    "the portals of no region": (lambda: REGIONS.portal_cells(-1), ValueError, "region must be at least 0, got -1"),
    "no occlusion": (
        lambda: setattr(SENSES, "occlusion", 5), TypeError, "occlusion must be a callable or None, got 5"),
    "no spot": (lambda: CoverMap().spot(None), TypeError, "spot_id must be an integer, got None"),
    "no spot to reserve": (
        lambda: CoverMap().reserve(None, "a"), TypeError, "spot_id must be an integer, got None"),
    "places of unequal length": (
        lambda: SENSES.move_sensors([EYE], [[1, 2], [3]]), ValueError,
        r"positions must have rows of equal length, got \[\[1, 2\], \[3\]\]"),
    "directions of two numbers": (
        lambda: SENSES.move_sensors([EYE], [[1, 2, 3]], [[1, 2]]), ValueError,
        r"forwards must have shape \(n, 3\), got 2 columns"),
    "places of sources of unequal length": (
        lambda: SENSES.move_sources([0], [[1, 2], [3]]), ValueError, "positions must have rows of equal length"),
    "ids of unequal length": (
        lambda: SENSES.light_sources([[1, 2], [3]], [1]), ValueError, "ids must have rows of equal length"),
    "no weights": (
        lambda: DecisionMap(MapArea(2, 2), standard_layers(), ManualClock()).picture.combined(None), TypeError,
        "weights must be a mapping, got None"),
    "a number for a parent": (
        lambda: setattr(Blackboard(), "parent", 3), TypeError, "parent must be a Blackboard or None, got 3"),
    "no types": (lambda: Blackboard().declare(None), TypeError, "types must be a mapping, got None"),
    "no characters": (
        lambda: LevelLimits([Level(0.0, 1.0)]).apply(None), TypeError, "characters must be a mapping, got None"),
    "characters without ids": (
        lambda: LevelLimits([Level(0.0, 1.0)]).update([0], [0.5], characters=[1]), TypeError,
        r"characters must be a mapping or None, got \[1\]"),
    "no other population": (lambda: PEOPLE.merged(None), TypeError, "other must be a Population, got None"),
    "letters for communities": (
        lambda: Community.merged("x"), TypeError, "parts must hold Community, got 'x'"),
    "one community": (
        lambda: Community.merged(Community(PEOPLE)), TypeError, "parts must be a sequence of Community, got .*; put a"),
    "the dependence of one": (
        lambda: PEOPLE.with_dependences({"a": 0.5}), TypeError,
        "a pair in dependences must be a sequence of names, got 'a'"),
    "the dependence of three": (
        lambda: Population(5, {"a": Normal(1.0, 1.0)}, dependences={("a", "b", "c"): 0.5}), ValueError,
        r"a pair in dependences must be two names of properties, got \('a', 'b', 'c'\)"),
    "no dependences": (
        lambda: PEOPLE.with_dependences(None), TypeError, "dependences must be a mapping, got None"),
    "the importance of nobody": (
        lambda: Importance().explain([]), TypeError, r"agent_id must be an integer, got \[\]"),
    "no time that a frame used": (
        lambda: QualityOfService(target_hz=60.0, ai_share=0.1).note(None, 0.0), TypeError,
        "used_us must be a number, got None"),
    "no overrun of a frame": (
        lambda: QualityOfService(target_hz=60.0, ai_share=0.1).note(1.0, float("nan")), ValueError,
        "over_us must be a finite number, got nan"),
    "a number for kinds": (
        lambda: EventLog().entries(kinds=5), TypeError, "kinds must be a sequence of names, got 5"),
    "letters for entries": (
        lambda: EventLog().table("x"), TypeError, "entries must hold EventLogEntry, got 'x'"),
    "no budget of minds": (lambda: MindPopulation().tick(0.1, 5), TypeError, "budget must be a Budget, got 5"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_what_is_wanted(name):
    misuse, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        misuse()
