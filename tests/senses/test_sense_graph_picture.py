"""The picture of a sense graph: everything is in it, and what is made by hand shows."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from ai_core.senses.graph.graph_picture import HAND_LINE, graph_to_svg
from ai_core.senses.graph.parts import Box, Passage, Prism, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from tests.senses.baking_levels import THREE_ROOMS, Level
from tests.senses.graph_worlds import room

SVG = "{http://www.w3.org/2000/svg}"


def drawn(graph, **settings):
    return ElementTree.fromstring(graph_to_svg(graph, **settings))


def tips(picture):
    return [one.text for one in picture.iter(SVG + "title")]


def test_every_region_and_every_passage_of_every_portal_is_there():
    graph = Level(THREE_ROOMS).bake().result
    told = tips(drawn(graph))
    for region in graph.regions:
        assert f"{region.name} (baked), {region.volume_m3:.1f} m³" in told
    for portal in graph.portals:
        for sense, one in portal.passages.items():
            assert (f"{portal.name} (baked): {portal.from_region} to {portal.to_region}; {sense}:"
                    f" {one.distance_m:.2f} m, {one.area_m2:.2f} m², keeps 1") in told


def test_handmade_parts_are_marked_and_closed_ones_are_faint():
    first = Level(THREE_ROOMS).bake().result
    glass = SensePortal("Room1", "Room3", {"sight": Passage((6, 1, 2))}, "glass", is_open=False)
    picture = drawn(SenseGraph(first.regions, [*first.portals, glass]))
    marks = [one for one in picture.iter(SVG + "circle") if one.get("stroke") == HAND_LINE]
    assert len(marks) == 2, "one for the glass, one in the legend"
    assert "glass (made by hand): Room1 to Room3, shut" in tips(picture)
    assert len([one for one in picture.iter(SVG + "g") if one.get("opacity")]) == 1


def test_a_flat_world_is_seen_from_the_front():
    flat = Level(THREE_ROOMS, up="z").bake().result
    assert drawn(flat).get("height") == drawn(Level(THREE_ROOMS).bake().result).get("height")


def test_names_with_signs_are_written_as_they_are():
    graph = SenseGraph([room('a <b> & "c"', (0, 0, 0)),
                        SenseRegion("d", Prism([(4, 0), (6, 0), (4, 2)], 0, 2))],
                       [SensePortal('a <b> & "c"', "d", {"warm & dry": Passage((2, 0, 0), (4, 1, 1))})])
    picture = drawn(graph, pixels_per_m=10)
    assert {'a <b> & "c"', "d", "warm & dry", "made by hand"} <= {one.text for one in picture.iter(SVG + "text")}


def test_what_cannot_be_drawn_is_refused():
    shapeless = SenseGraph([SenseRegion("a", volume_m3=1.0)], lookup=lambda places: places[:, 0].astype(int))
    with pytest.raises(ValueError, match="region 'a' has no shape"):
        graph_to_svg(shapeless)
    with pytest.raises(ValueError, match="at least one region"):
        graph_to_svg(SenseGraph([]))
    with pytest.raises(TypeError, match="must be a SenseGraph"):
        graph_to_svg("a.json")
    with pytest.raises(ValueError, match="pixels_per_m must be above 0"):
        graph_to_svg(SenseGraph([SenseRegion("a", Box((0, 0, 0), (1, 1, 1)))]), pixels_per_m=0)
