"""Baking again keeps what was made by hand, and the names and doors of what is still there."""
from __future__ import annotations

from dataclasses import replace

from ai_core.budget import Budget
from ai_core.senses.baking.baking import SenseGraphBaking
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.parts import Box, Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from tests.senses.baking.baking_levels import THREE_ROOMS, Level, joins

TWO_WINGS = """
#############
#.....#.....#
#.....#.....#
#.....#.....#
#.....#.....#
#############
"""
FOUR_ROOMS = THREE_ROOMS.rstrip().removesuffix("###################") + """\
###.###############
#.....#############
#.....#############
#.....#############
#.....#############
###################
"""


def changed(graph, *, regions=(), portals=()):
    """A graph with other regions and portals, by their ids, and new ones at the end."""
    all_regions, all_portals = list(graph.regions), list(graph.portals)
    for into, new in ((all_regions, regions), (all_portals, portals)):
        for number, one in new:
            if number is None:
                into.append(one)
            else:
                into[number] = one
    return SenseGraph(all_regions, all_portals)


def glass(one, other, x=6.5, z=2.0):
    """One-way glass from one region to another."""
    return SensePortal(one, other, {"sight": Passage((x, 1.5, z))}, "glass")


def test_unchanged_level_gives_same_graph_also_through_a_file():
    level = Level(THREE_ROOMS)
    text = graph_to_text(level.bake().result)
    again = level.bake(earlier=graph_from_text(text))
    assert graph_to_text(again.result) == text
    assert again.report.new == again.report.gone == again.report.dropped == []


def test_one_way_glass_made_by_hand_stays_one_way():
    level = Level(TWO_WINGS)
    first = level.bake().result
    pane = glass("Room1", "Room2")
    # Rays pass through glass: the wall is no wall any more, and without the pane both would see each other.
    baking = SenseGraphBaking(
        level.ground, lambda segments: [False] * len(segments), earlier=changed(first, portals=[(None, pane)]))
    baking.advance(Budget.unlimited())
    assert baking.result.portals == (pane,)
    assert baking.report.kept == ["Room1", "Room2", "glass"]


def test_ids_names_doors_and_settings_of_remaining_parts_stay():
    first = Level(THREE_ROOMS).bake().result
    hall = replace(first.regions[0], name="hall", kept_per_m={"hearing": 0.5})
    renamed = SenseGraph([hall, *first.regions[1:]], [
        replace(one, from_region=one.from_region.replace("Room1", "hall"),
                to_region=one.to_region.replace("Room1", "hall")) for one in first.portals])
    renamed.set_open("Room1-Room2", False)
    again = Level(FOUR_ROOMS).bake(earlier=renamed)
    graph = again.result
    assert [one.name for one in graph.regions] == ["hall", "Room2", "Room3", "Room1"]
    assert graph.regions[0].kept_per_m == {"hearing": 0.5}
    assert [one.name for one in graph.portals[: len(first.portals)]] == [one.name for one in first.portals]
    assert not graph.is_open("Room1-Room2")
    assert set(again.report.new) == {"Room1", "hall-Room1"}
    assert set(again.report.kept) == {"hall", "Room2", "Room3", *(one.name for one in first.portals)}


def test_a_tuned_door_is_measured_anew_and_stays_tuned():
    first = Level(THREE_ROOMS).bake().result
    there = first.portals[0]
    tuned = replace(there, passages={
        "hearing": replace(there.passages["hearing"], closed_kept_per_m=0.01, area_m2=77.0)})
    again = Level(THREE_ROOMS).bake(earlier=changed(first, portals=[(0, tuned)])).result
    assert again.portals[0].passages == {"hearing": replace(there.passages["hearing"], closed_kept_per_m=0.01)}


def test_a_door_made_one_way_stays_one_way():
    first = Level(THREE_ROOMS).bake().result
    one_way = SenseGraph(first.regions, [first.portals[0], *first.portals[2:]])
    assert Level(THREE_ROOMS).bake(earlier=one_way).result.portals == one_way.portals


def test_what_the_level_has_no_longer_goes():
    first = Level(FOUR_ROOMS).bake().result
    again = Level(THREE_ROOMS).bake(earlier=first)
    assert [one.name for one in again.result.regions] == ["Room1", "Room2", "Room3"]
    assert again.report.gone == ["Room4", "Room1-Room4"]


def test_walled_up_door_and_a_new_opening_are_different_doors():
    other_place = THREE_ROOMS.replace("#.................#", "#.....#...........#", 1).replace(
        "#.....#.....#.....#", "#...........#.....#", 1)
    first = Level(THREE_ROOMS).bake().result
    first.set_open("Room1-Room2", False)
    again = Level(other_place).bake(earlier=first)
    assert "Room1-Room2" in again.report.gone
    assert "Room1-Room2 2" in again.report.new
    assert again.result.is_open("Room1-Room2 2")


def test_room_cut_in_two_keeps_its_name_for_the_larger_half():
    whole = "#############\n#...........#\n#...........#\n#...........#\n#...........#\n#############"
    cut = "#############\n#...#.......#\n#...........#\n#...#.......#\n#...#.......#\n#############"
    again = Level(cut).bake(earlier=Level(whole).bake().result)
    assert again.result.region_at((9, 0.5, 3)) == 0
    assert [one.name for one in again.result.regions] == ["Room1", "Room2"]


def test_handmade_region_stays_and_is_joined_to_baked_ones():
    stage = SenseRegion("stage", Box((1, -0.5, 1), (3, 3, 6)), kept_per_m={"hearing": 0.2})
    again = Level(THREE_ROOMS).bake(earlier=SenseGraph([stage]))
    assert again.result.regions[0] == stage
    assert again.result.region_at((2, 0.5, 3)) == 0
    assert ("stage", "Room1") in joins(again.result, "hearing")


def test_a_door_made_by_hand_takes_the_place_of_the_baked_one():
    first = Level(THREE_ROOMS).bake().result
    door = replace(first.portals[0], name="secret door", is_baked=False)
    again = Level(THREE_ROOMS).bake(earlier=SenseGraph(first.regions, [door])).result
    assert [one for one in again.portals if {one.from_region, one.to_region} == {"Room1", "Room2"}] == [door]


def test_glass_of_a_removed_room_is_relinked_or_dropped():
    first = Level(TWO_WINGS).bake().result
    pane = SensePortal("old hall", "Room2", {"sight": Passage((5, 0.5, 2), (8, 0.5, 2))}, "pane")
    lost = SensePortal("old hall", "attic", {"smell": Passage((5, 0.5, 2), (99, 0.5, 2))}, "duct")
    gone = [SenseRegion(name, Box((50, 0, 0), (51, 1, 1)), is_baked=True) for name in ("old hall", "attic")]
    again = Level(TWO_WINGS).bake(earlier=SenseGraph([*gone, *first.regions], [pane, lost]))
    assert again.result.portals == (replace(pane, from_region="Room1"),)
    assert again.report.dropped == ["duct"]
    assert again.report.gone == ["old hall", "attic"]
