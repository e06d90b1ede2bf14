"""Sense graphs as text: what is written is read again, and every mistake is told with its place."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.saving.fields import StateError
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.parts import Box, Boxes, Passage, Prism, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from tests.senses.graph.graph_worlds import door, graphs, room

LEVEL = SenseGraph(
    [room("hall", (0, 0, 0), kept_per_m={"hearing": 0.9}),
     SenseRegion("yard", Boxes([Box((4, 0, 0), (6, 1, 1)), Box((4, 0, 1), (5, 1, 3))]), is_baked=True),
     SenseRegion("shed", Prism([(1, 0), (3, 0), (2, 2)], -1, 1))],
    [*door("hall", "shed", (1, 0, 0), "sight", "hearing", name="gate", kept_per_m=0.5),
     SensePortal("hall", "hall", {"sight": Passage.mirror((1, 0, 0), (-1, 0, 0), 0.5)}, "mirror")])
TEXT = graph_to_text(LEVEL)


@settings(max_examples=30, deadline=None)
@given(graph=graphs())
def test_a_graph_comes_back_as_it_was_doors_included(graph):
    for number in range(0, len(graph.portals), 2):
        graph.set_open(number, not graph.is_open(number))
    again = graph_from_text(graph_to_text(graph))
    assert again.regions == graph.regions
    assert [one.passages for one in again.portals] == [one.passages for one in graph.portals]
    assert again.save_state() == graph.save_state()
    assert graph_to_text(again) == graph_to_text(graph)


def test_handwritten_graph_may_omit_what_has_a_default():
    graph = graph_from_text("""{
        "format": "ai_core sense graph", "version": 1,
        "regions": [{"name": "a", "shape": {"kind": "box", "minimum": [0, 0, 0], "maximum": [1, 1, 1]}},
                    {"name": "b", "shape": {"kind": "box", "minimum": [1, 0, 0], "maximum": [3, 1, 1]}}],
        "portals": [{"from": "a", "to": "b", "passages": {"sight": {"start": [1, 0, 0]}}}]
    }""")
    assert graph.region_at((2, 0, 0)) == 1
    assert graph.portals[0] == SensePortal("a", "b", graph.portals[0].passages)
    assert graph.portals[0].passages["sight"].end == (1.0, 0.0, 0.0)


@settings(max_examples=60, deadline=None)
@given(length=st.integers(0, len(TEXT) - 3))
def test_a_file_cut_short_anywhere_is_refused(length):
    with pytest.raises(StateError, match="truncated"):
        graph_from_text(TEXT[:length])


def changed(path, value):
    state = json.loads(TEXT)
    place = state
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(state)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "tiles", "'format' must be 'ai_core sense graph'"),
        (["version"], 3, "'version' is 3, and this ai_core reads up to 1"),
        (["regions"], None, "'regions' is missing"),
        (["more"], 1, "'more' is an unknown field"),
        (["regions", 0, "name"], 5, r"'regions\[0\].name' must be a string"),
        (["regions", 1, "name"], "hall", "'regions': regions must have unique names, got 'hall' twice"),
        (["regions", 0, "shape"], {"kind": "ball"}, r"'regions\[0\].shape.kind' must be 'box' or 'boxes' or 'prism'"),
        (["regions", 0, "shape", "maximum"], [-1, 1, 1], r"'regions\[0\].shape': maximum .*needs a volume"),
        (["regions", 2, "shape", "corners", 1], [5], r"regions\[2\].shape.corners\[1\]"),
        (["regions", 2, "shape", "corners"], [[0, 0], [1, 1]], r"'regions\[2\].shape': .*enclose an area"),
        (["regions", 1, "shape", "parts", 1, "minimum"], [0, 0], r"parts\[1\].minimum' must be a list of 3"),
        (["regions", 1, "shape", "parts", 0, "maximum", 0], 4, r"regions\[1\].shape.parts\[0\]': .*needs a volume"),
        (["regions", 1, "shape", "parts"], [], r"regions\[1\].shape': .*needs a volume"),
        (["regions", 1, "is_baked"], "yes", r"'regions\[1\].is_baked' must be true or false"),
        (["portals", 0, "is_baked"], 0, r"'portals\[0\].is_baked' must be true or false"),
        (["regions", 0, "volume_m3"], 0, r"'regions\[0\]': volume_m3 must be above 0"),
        (["regions", 0, "kept_per_m", "hearing"], 1.2, r"'regions\[0\].kept_per_m.hearing' must be at most 1"),
        (["regions", 0, "dissipation"], {"smell": "much"}, r"'regions\[0\].dissipation.smell' must be a finite number"),
        (["portals", 1, "to"], "holl", r"'portals\[1\].to': unknown region 'holl'; did you mean 'hall'"),
        (["portals", 0, "to"], "hall", r"'portals\[0\]': a portal must lead to another region"),
        (["portals", 0, "is_open"], 1, r"'portals\[0\].is_open' must be true or false"),
        (["portals", 0, "passages", "sight", "start"], [0, 0], r"\[0\].passages.sight.start' must be a list of 3"),
        (["portals", 0, "passages", "sight", "kept_per_m"], -0.1, "kept_per_m' must be at least 0"),
        (["portals", 0, "passages", "sight", "area_m2"], 0, r"sight': area_m2 must be above 0"),
        (["portals", 0, "passages", "sight", "wide"], 1, r"'portals\[0\].passages.sight.wide' is an unknown field"),
    ],
)
def test_mistakes_are_told_with_their_place(path, value, message):
    with pytest.raises(StateError, match=message):
        graph_from_text(changed(path, value))


def test_what_is_baked_and_regions_of_several_boxes_come_back():
    again = graph_from_text(TEXT)
    assert (again.regions, again.portals) == (LEVEL.regions, LEVEL.portals)
    assert [region.is_baked for region in again.regions] == [False, True, False]
    assert [again.region_at(place) for place in ((5.5, 0.5, 0.5), (4.5, 0.5, 2), (5.5, 0.5, 2))] == [1, 1, -1]


def test_numbers_that_are_none_and_what_is_no_graph_are_refused():
    for text in (TEXT.replace("0.9", "NaN"), TEXT.replace("0.9", "Infinity"), "[]", "5", "[" * 100_000):
        with pytest.raises(StateError):
            graph_from_text(text)
    with pytest.raises(TypeError, match="text must be a string"):
        graph_from_text(b"{}")
