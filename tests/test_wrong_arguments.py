"""Arguments of constructors: what is no collection or of a wrong kind is refused by its name."""
from __future__ import annotations

import math

import numpy as np
import pytest

from ai_core.clock import ManualClock
from ai_core.decisions.adaptation import SequencePrediction, SuccessMemory
from ai_core.decisions.habits.built_in_habits import CheckValue, SetValue
from ai_core.decisions.rules import Rule, RuleSet
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition
from ai_core.errors import UnknownNameError
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.level_of_detail.behavior_ranges import BehaviorRanges
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD
from ai_core.level_of_detail.level_limits import LevelLimits
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.population import Population
from ai_core.maps.conflict_log import ConflictLog
from ai_core.maps.cover.cover_spots import CoverBody
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.grid import Grid
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer
from ai_core.paths.avoidance_loops import LocalAvoidance
from ai_core.recording.recorder import Recorder
from ai_core.senses.graph.parts import Boxes, Prism
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.squads.free_cells import GridClearance
from ai_core.squads.situation import Sighting
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.trace import Trace

CLOCK = ManualClock()
TREE = TechnologyTree([Product("hall", 1.0)])
FREE = np.ones((3, 3), bool)


def recorder(**more):
    return Recorder([].append, clock=CLOCK, trace=Trace(), parts={}, **more)


COLLECTIONS = {
    "rules": lambda wrong: RuleSet(wrong, facts={}),
    "states": lambda wrong: State("s", wrong),
    "state machine 'd': states": lambda wrong: StateMachineDefinition("d", wrong),
    "transitions": lambda wrong: StateMachineDefinition("d", [State("a")], wrong),
    "symbols": SequencePrediction,
    "choices": SuccessMemory,
    "behaviors": BehavioralLOD,
    "ranges": BehaviorRanges,
    "levels": LevelLimits,
    "layers": lambda wrong: DecisionMap(MapArea(6, 6, cell_m=1.0), wrong, CLOCK),
    "parts": Boxes,
    "corners": Prism,
    "regions": SenseGraph,
    "portals": lambda wrong: SenseGraph([], wrong),
    "steps": lambda wrong: BuildOrder(wrong, TREE),
    "products": TechnologyTree,
    "kinds": ConflictLog,
    "origin": lambda wrong: GridClearance(FREE, origin=wrong)}


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("wrong", [None, 5, math.nan, np.array(1.0)], ids=repr)
def test_argument_that_is_no_sequence_is_refused_by_name(name, wrong):
    with pytest.raises(TypeError, match=rf"{name} must be a sequence.*, got .*; put a single"):
        COLLECTIONS[name](wrong)


MAPPINGS = {
    "facts": lambda wrong: RuleSet([], facts=wrong),
    "parameters": lambda wrong: RuleSet([], facts={}, parameters=wrong),
    "features": lambda wrong: SuccessMemory(["a"], wrong),
    "defaults": lambda wrong: SuccessMemory(["a"], defaults=wrong),
    "counts": Categorical,
    "properties": lambda wrong: Population(0, wrong),
    "dependences": lambda wrong: Population(0, {}, dependences=wrong)}


@pytest.mark.parametrize("name", MAPPINGS)
@pytest.mark.parametrize("wrong", [5.0, 0, [], "x"], ids=repr)
def test_argument_that_is_no_mapping_is_refused_by_name(name, wrong):
    with pytest.raises(TypeError, match=f"^{name} must be a mapping.*, got "):
        MAPPINGS[name](wrong)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: EventManager(CLOCK, values="x"), TypeError, "values must be SavedValues or None, got 'x'"),
        (lambda: PollingStation(CLOCK, values=5), TypeError, "values must be SavedValues or None, got 5"),
        (lambda: SetValue("s", "k", 1, scope=5), TypeError, "scope must be a string or None, got 5"),
        (lambda: CheckValue("s", "k", []), UnknownNameError, r"unknown comparison \[\]"),
        (lambda: Rule("r", "", print, repeats="no"), TypeError, "rule 'r': repeats must be True or False, got 'no'"),
        (lambda: Product("p", 1.0, gathers="no"), TypeError, "gathers of 'p' must be True or False, got 'no'"),
        (lambda: Product("p", 1.0, defends=()), TypeError, r"defends of 'p' must be True or False, got \(\)"),
        (lambda: MapLayer("l", blur_stops_at_walls="no"), TypeError,
         "layer 'l': blur_stops_at_walls must be True or False, got 'no'"),
        (lambda: GridClearance(FREE, origin=""), ValueError, r"origin must be \(x, y\), got ''"),
        (lambda: Sighting(1, (0, 0), capabilities=5), TypeError, "capabilities must be Capabilities or None, got 5"),
        (lambda: LocalAvoidance(True), TypeError, "look_ahead_s must be a number, got True"),
        (lambda: RegionalSenseManager(CLOCK, scent_trails=5), TypeError,
         "scent_trails must be ScentTrails or None, got 5"),
        (lambda: recorder(exact=None), TypeError, "exact must be True or False, got None"),
        (lambda: recorder(is_timed=1), TypeError, "is_timed must be True or False, got 1"),
        (lambda: recorder(name=5), TypeError, "name must be a string, got 5"),
        (lambda: Grid(FREE, neighbors=[]), ValueError, r"neighbors must be 4, 6 \(hexagonal\) or 8, got \[\]"),
        (lambda: CoverBody(up=[]), ValueError, r"up must be one of y, z, -z, got \[\]"),
        (lambda: BehavioralLOD([], fallback=5), TypeError, "fallback must be a LODBehavior or None, got 5"),
        (lambda: BehaviorRanges([(0, 1)], names="a"), TypeError, "names must be a sequence of names, got 'a'"),
        (lambda: BuildOrder([5], TREE), TypeError, r"steps must hold pairs \(name, target number\), got 5")])
def test_argument_of_a_wrong_kind_is_refused_at_once(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_an_error_of_a_generator_is_its_own():
    with pytest.raises(TypeError, match="repeats must be True or False"):
        RuleSet((Rule(name, "", print, repeats="no") for name in "ab"), facts={})
