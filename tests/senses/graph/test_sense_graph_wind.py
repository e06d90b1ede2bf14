"""Wind through portals: a windy corridor carries smell one way."""
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.parts import Passage, SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.smell import Scent, SmellModel
from tests.senses.graph.graph_worlds import GraphWorld, door, graphs, room, smell

ROW = [room(str(k), (2.0 * k, 0, 0)) for k in range(3)]


def corridor(wind=0.0):
    return SenseGraph(ROW, [one for k in range(2) for one in door(
        str(k), str(k + 1), (2.0 * k + 1, 0, 0), "smell", name=f"door {k}", wind_m_per_s=wind)])


def smelled(graph, at=(2, 0, 0), seconds=20, do=lambda world: None):
    """How strong it smells in the three rooms some time after something smelled in the middle one."""
    world = GraphWorld(graph, smells=["smell"])
    thing = world.source(at)
    do(world)
    world.manager.emit(thing, "smell", 80.0)
    world.tick(frames=8 * seconds)
    return [world.manager.smell_in(str(k), thing) for k in range(3)]


def test_a_windy_corridor_carries_smell_one_way():
    before, middle, after = smelled(corridor(1.5))
    assert before == 0
    assert after > middle > 0
    assert smelled(corridor())[0] == pytest.approx(smelled(corridor())[2])


@pytest.mark.parametrize(
    "start",
    [lambda graph: [graph.set_portal_wind(f"door {k}", 1.5) for k in range(2)],
     lambda graph: graph.set_wind((1.5, 0, 0))])
def test_fan_and_draft_equal_a_wind_that_was_always_there(start):
    graph = corridor()
    start(graph)
    assert smelled(graph) == smelled(corridor(1.5))
    later = corridor()
    assert smelled(later, do=lambda world: start(world.graph)) == smelled(corridor(1.5))


def test_manager_wind_blows_through_graph_and_manual_wind_stays():
    graph = corridor()
    assert smelled(graph, do=lambda world: world.manager.set_wind((-1.5, 7, 0)))[2] == 0
    graph.set_portal_wind("door 1", 1.5)
    assert smelled(graph)[2] > 0
    graph.set_portal_wind("door 1", 0)
    assert smelled(graph)[2] == 0
    fan = corridor(1.5)
    assert smelled(fan, do=lambda world: world.manager.set_wind((-3, 0, 0))) == smelled(corridor(1.5))
    fan.set_portal_wind("door 0", 0)
    assert smelled(fan)[0] > 0
    fan.set_portal_wind("door 0", None)
    assert smelled(fan)[0] == 0


def test_smell_comes_sooner_with_the_wind_and_later_against_it():
    arrived = []
    for wind in (0.0, 1.0, -0.5):
        way = SensePortal("0", "1", {"smell": Passage((1, 0, 0), distance_m=10.0, wind_m_per_s=wind)})
        world = GraphWorld(SenseGraph(ROW[:2], [way]), smells=["smell"])
        world.nose((2, 0, 0), threshold=1e-6)
        world.manager.emit(world.source((0, 0, 0)), "smell", 1000.0)
        world.tick(frames=8 * 30)
        arrived.append(world.heard[0].at_s)
    assert arrived == pytest.approx([1 + 10, 1 + 5, 1 + 20], abs=0.51)


def test_a_storm_takes_half_of_a_room_in_a_step_and_no_more():
    graph = SenseGraph(ROW[:2], door("0", "1", (1, 0, 0), "smell", wind_m_per_s=1e9))
    scent = Scent(SmellModel(graph, smell(), 1e-6, 0.25), 1)
    scent.add(0, 64.0, (1, 0, 0), -1e9)
    scent.step(0.0)
    assert scent.mass.tolist() == pytest.approx([32.0, 32.0])


@settings(max_examples=25, deadline=None)
@given(graph=graphs("smell"), winds=st.lists(st.floats(-50, 50), min_size=14, max_size=14),
       step_s=st.sampled_from([0.01, 0.25, 1e4]))
def test_in_any_wind_mass_never_rises_and_none_is_negative(graph, winds, step_s):
    scent = Scent(SmellModel(graph, smell(), 1e-9, step_s), 1)
    scent.add(0, 64.0, (0.0, 0.0, 0.0), 0.0)
    mass = 64.0
    for step in range(10):
        for number in range(len(graph.portals)):
            graph.set_portal_wind(number, winds[(number + step) % len(winds)])
        scent.step(step * step_s)
        assert (scent.mass >= 0).all()
        assert scent.mass.sum() <= mass * (1 + 1e-12)
        mass = scent.mass.sum()


def test_wind_is_saved_with_the_graph_and_in_its_file():
    first, second = corridor(0.25), corridor(0.25)
    first.set_wind((0.5, 0, 0))
    first.set_portal_wind("door 1", -2.0)
    old = second.save_state()
    second.prepare_state(first.save_state())()
    assert second.save_state() == first.save_state() != old
    assert smelled(second) == smelled(first)
    assert graph_from_text(graph_to_text(first)).portals == first.portals


@pytest.mark.parametrize(
    ("call", "error"),
    [(lambda graph: graph.set_portal_wind("door 9", 1.0), UnknownNameError),
     (lambda graph: graph.set_portal_wind("door 1", math.nan), ValueError),
     (lambda graph: graph.set_portal_wind("door 1", "fast"), TypeError),
     (lambda graph: graph.set_wind((math.inf, 0, 0)), ValueError),
     (lambda graph: Passage((0, 0, 0), wind_m_per_s=math.inf), ValueError)],
)
def test_impossible_winds_are_refused_and_change_nothing(call, error):
    graph = corridor()
    before = graph.save_state()
    with pytest.raises(error):
        call(graph)
    assert graph.save_state() == before
