"""Sense graphs: what may be in one, which region a position is in, doors."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError
from ai_core.senses.graph.parts import Box, Passage, Prism, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from tests.senses.graph.graph_worlds import door, graphs, hearing, room

NAN, INF = math.nan, math.inf
CELL = Box((0, 0, 0), (1, 1, 1))
ROOMS = [room("a", (0, 0, 0)), room("b", (2, 0, 0))]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SenseRegion("cell", CELL, volume_m3=0), ValueError, "volume_m3 must be above 0"),
        (lambda: SenseRegion("cell", CELL, volume_m3=NAN), ValueError, "volume_m3 must be a finite number"),
        (lambda: SenseRegion("", CELL), ValueError, "must be a non-empty string"),
        (lambda: SenseRegion(5, CELL), TypeError, "name of a region must be a string"),
        (lambda: SenseRegion("cell", shape="box"), TypeError, "shape must be a Box, a Prism or Boxes"),
        (lambda: SenseRegion("cell", CELL, volume_m3=1, kept_per_m={"sight": 1.1}), ValueError,
         r"kept_per_m\['sight'\] must be at most 1, got 1.1; it is the share kept per metre"),
        (lambda: SenseRegion("cell", CELL, dissipation={"smell": -0.1}), ValueError, "share lost per second"),
        (lambda: SenseRegion("cell", CELL, volume_m3=1, dissipation=0.5), TypeError, "must map names to shares"),
        (lambda: SenseRegion("cell", CELL, volume_m3=1, dissipation={"smell": NAN}), ValueError, "finite"),
        (lambda: Box((0, 0, 0), (1, 0, 1)), ValueError, "a region needs a volume"),
        (lambda: Box((0, 0, NAN), (1, 1, 1)), ValueError, "minimum must be finite"),
        (lambda: Box((0, 0), (1, -1)), ValueError, "needs a volume"),
        (lambda: Prism([]), ValueError, "must enclose an area"),
        (lambda: Prism([(0, 0), (1, 0)]), ValueError, "must enclose an area"),
        (lambda: Prism([(0, 0), (1, 0), (2, 0)]), ValueError, "must enclose an area"),
        (lambda: Prism([(0, 0), (4, 0), (1, 1), (0, 4)]), ValueError, "convex"),
        (lambda: Prism([(math.cos(a), math.sin(a)) for a in (0, 2.513, 5.027, 7.54, 10.05)]), ValueError, "convex"),
        (lambda: Prism([(0, 0), (1, 0), (0, 1)], 2, 1), ValueError, "high_m must be above low_m"),
        (lambda: Prism([(0, 0), (1, 0), (0, 1)], up="x"), ValueError, "up must be 'y' or 'z'"),
        (lambda: Passage((0, NAN, 0)), ValueError, "start must be finite"),
        (lambda: Passage((0, 0, 0), kept_per_m=1.5), ValueError, "kept_per_m must be at most 1"),
        (lambda: Passage((0, 0, 0), kept_per_m=True), TypeError, "kept_per_m must be a number"),
        (lambda: Passage((0, 0, 0), closed_kept_per_m=-1), ValueError, "closed_kept_per_m must be at least 0"),
        (lambda: Passage((0, 0, 0), distance_m=INF), ValueError, "distance_m must be a finite number"),
        (lambda: Passage((0, 0, 0), distance_m=-1), ValueError, "distance_m must be at least 0"),
        (lambda: Passage((0, 0, 0), area_m2=0), ValueError, "area_m2 must be above 0"),
        (lambda: Passage((0, 0, 0), is_relayed=1), TypeError, "is_relayed must be True or False"),
        (lambda: Passage.mirror((0, 0, 0), (0, 0, 0), 1.0), ValueError, "mirror_normal must not be the zero vector"),
        (lambda: Passage.mirror((0, 0, 0), (1, 0, 0), 0.0), ValueError, "radius_m must be above 0"),
        (lambda: Passage((0, 0, 0), (1, 0, 0), mirror_normal=(1, 0, 0)), ValueError, "must not have another end"),
        (lambda: SensePortal("a", "a", {}), ValueError, "must lead to another region"),
        (lambda: SensePortal("a", None, {}), TypeError, "to_region must be a string"),
        (lambda: SensePortal("a", "b", []), TypeError, "passages must be a mapping"),
        (lambda: SensePortal("a", "b", {"sight": 0.9}), TypeError, r"passages\['sight'\] must be a Passage"),
        (lambda: SensePortal("a", "b", {}, is_open=1), TypeError, "is_open"),
        (lambda: SenseGraph([*ROOMS, ROOMS[0]]), ValueError, "must have unique names, got 'a' twice"),
        (lambda: SenseGraph(["a"]), TypeError, r"regions must hold SenseRegion"),
        (lambda: SenseGraph(ROOMS, ["door"]), TypeError, r"portals must hold SensePortal"),
        (lambda: SenseGraph(ROOMS, [SensePortal("a", "bb", {})]), UnknownNameError, "unknown region 'bb'; did you"),
        (lambda: SenseRegion("fog", None, 1.0), TypeError, "shape must be a Box, a Prism or Boxes, got None"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_regions_and_portals_are_found_by_name_or_id_only():
    graph = SenseGraph(ROOMS, door("a", "b", (1, 0, 0), "hearing", name="gate"))
    assert graph.region_id("b") == graph.region_id(1) == 1
    for wrong, error in (("c", UnknownNameError), (2, UnknownNameError), (-1, ValueError), (True, TypeError)):
        with pytest.raises(error):
            graph.region_id(wrong)
        with pytest.raises(error):
            graph.set_open(wrong, True)
    with pytest.raises(TypeError, match="is_open must be"):
        graph.set_open("gate", 1)


def test_a_door_is_two_portals_that_open_and_shut_together():
    kind = hearing()
    graph = SenseGraph(ROOMS, [*door("a", "b", (1, 0, 0), "hearing", name="gate", kept_per_m=0.5, distance_m=2.0),
                               *door("a", "b", (1, 0, 1), "hearing")])
    table = graph.table(kind)
    assert table.kept.tolist() == [0.25, 1.0, 0.25, 1.0]
    graph.set_open("gate", False)
    assert table.kept.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert not graph.is_open("gate")
    graph.set_open(0, True)
    assert table.kept.tolist() == [0.25, 1.0, 0.0, 1.0]
    assert graph.table(kind) is table


def test_doors_are_saved_and_loaded_into_the_same_level_only():
    graph = SenseGraph(ROOMS, door("a", "b", (1, 0, 0), "hearing", name="gate"))
    table = graph.table(hearing())
    graph.set_open("gate", False)
    state = graph.save_state()
    graph.set_open("gate", True)
    graph.prepare_state(state)()
    assert table.kept.tolist() == [0.0, 0.0]
    for wrong in ({**state, "portals": {"gate: a to b": 1}}, {**state, "wind": None}, {**state, "more": 1}):
        with pytest.raises(StateError):
            graph.prepare_state(wrong)


def test_the_volume_of_shapes_is_exact_and_either_way_round():
    corners = [(0, 0), (4, 0), (4, 2), (0, 2)]
    assert Box((0, 0, 0), (4, 3, 2)).volume_m3 == 24
    assert Box((0, 0), (4, 2)).volume_m3 == 8
    for order in (corners, corners[::-1]):
        assert Prism(order, 1.0, 4.0).volume_m3 == 24
        assert SenseRegion("hall", Prism(order, 1.0, 4.0)).volume_m3 == 24


def test_l_shaped_hall_is_two_regions_borders_go_to_smaller_id():
    graph = SenseGraph([
        SenseRegion("slope", Prism([(0, 0), (4, 0), (0, 4)], 0, 3)),
        SenseRegion("hall", Box((0, 0, 0), (4, 3, 4))),
    ])
    for place, expected in (((1, 1, 1), 0), ((2, 0, 2), 0), ((3, 1, 3), 1), ((3, 4, 3), -1), ((-1, 1, 0), -1)):
        assert graph.region_at(place) == expected
        assert graph.lookup(np.array([place], np.float32)).tolist() == [expected]


SIDE = st.integers(-20, 20)


@settings(max_examples=60, deadline=None)
@given(corners=st.lists(st.tuples(SIDE, SIDE, SIDE, st.integers(1, 9), st.booleans()), min_size=1, max_size=12),
       places=st.lists(st.tuples(SIDE, SIDE, SIDE), min_size=1, max_size=30))
def test_regions_are_found_as_by_trying_them_all(corners, places):
    shapes = [
        Prism([(x, z), (x + size, z), (x, z + size)], y, y + size) if is_prism
        else Box((x, y, z), (x + size, y + size, z + size)) for x, y, z, size, is_prism in corners
    ]
    graph = SenseGraph([SenseRegion(str(k), shape) for k, shape in enumerate(shapes)])

    def holds(shape, place):
        return all(a <= b <= c for a, b, c in zip(shape.minimum, place, shape.maximum, strict=True)) and all(
            sum(p * q for p, q in zip(place, edge[:3], strict=True)) <= edge[3] for edge in shape.edges)

    expected = [next((k for k, shape in enumerate(shapes) if holds(shape, place)), -1) for place in places]
    assert graph.lookup(np.array(places, np.float32)).tolist() == expected
    assert [graph.region_at(place) for place in places] == expected


@settings(max_examples=30, deadline=None)
@given(graph=graphs(), data=st.data())
def test_after_any_doors_the_ways_are_those_of_a_graph_made_so(graph, data):
    kind = hearing()
    table = graph.table(kind)
    legs = [table.legs(row) for row in range(len(table))]
    assert len(legs) == len(graph.portals)
    for _ in range(4 if graph.portals else 0):
        graph.set_open(data.draw(st.integers(0, len(graph.portals) - 1)), data.draw(st.booleans()))
    anew = SenseGraph(graph.regions, graph.portals)
    anew.prepare_state(graph.save_state())()
    other = anew.table(kind)
    for name, mine in vars(table).items():
        if isinstance(mine, np.ndarray):
            assert mine.tobytes() == getattr(other, name).tobytes(), name
    assert table.kept_of == other.kept_of == table.kept.tolist()
    assert legs == [other.legs(row) for row in range(len(table))]
