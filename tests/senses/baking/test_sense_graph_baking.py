"""Baking cuts a level at its doors, joins what touches, and looks from room to room."""
from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.senses.baking.baking import BakingSettings, SenseGraphBaking
from ai_core.senses.baking.ground import WalkableGrid, WalkablePolygons
from ai_core.senses.graph.graph_file import graph_to_text
from ai_core.senses.graph.parts import Box, Boxes
from ai_core.senses.graph.sense_graph import SenseGraph
from tests.senses.baking.baking_levels import THREE_ROOMS, Level, joins
from tests.senses.graph.graph_worlds import GraphWorld


def test_rooms_are_parted_at_their_doors():
    graph = Level(THREE_ROOMS).bake().result
    assert [one.name for one in graph.regions] == ["Room1", "Room2", "Room3"]
    assert [graph.region_at((x, 0.5, 3.5)) for x in (1.5, 9.5, 17.5)] == [0, 1, 2]
    assert all(one.is_baked for one in (*graph.regions, *graph.portals))


def test_a_and_c_have_a_sight_portal_and_no_sound_portal():
    graph = Level(THREE_ROOMS).bake().result
    there_and_back = [("Room1", "Room2"), ("Room2", "Room1"), ("Room2", "Room3"), ("Room3", "Room2")]
    assert joins(graph, "hearing") == joins(graph, "smell") == there_and_back
    assert joins(graph, "sight") == sorted([*there_and_back, ("Room1", "Room3"), ("Room3", "Room1")])


def test_a_door_has_two_ends_in_its_rooms_a_width_and_a_distance():
    graph = Level(THREE_ROOMS).bake().result
    there, back = graph.portals[:2]
    assert there.name == back.name == "Room1-Room2"
    one = there.passages["smell"]
    assert (graph.region_at(one.start), graph.region_at(one.end)) == (0, 1)
    assert (back.passages["smell"].start, back.passages["smell"].end) == (one.end, one.start)
    assert one.start == pytest.approx((6.0, 1.5, 3.5), abs=0.7)
    assert one.end == pytest.approx((7.0, 1.5, 3.5), abs=0.7)
    assert one.distance_m == 1.25
    assert one.area_m2 == pytest.approx(1.0 * 2.5)


def test_two_doors_between_two_rooms_are_two_portals():
    graph = Level("""
#############
#.....#.....#
#...........#
#.....#.....#
#.....#.....#
#...........#
#.....#.....#
#############
""").bake().result
    assert [one.name for one in graph.portals[::2]] == ["Room1-Room2", "Room1-Room2 2"]


def test_sight_round_a_corner_is_no_sight():
    graph = Level("""
#############
#.....#.....#
#.....#.....#
#...........#
#.....#.....#
#.....#.....#
####.########
#.....#######
#.....#######
#.....#######
#.....#######
#############
""").bake().result
    assert len(graph.regions) == 3
    assert joins(graph, "sight") == joins(graph, "hearing")


def test_corridor_is_its_own_room_and_regions_reach_the_walls():
    level = Level("""
##################
#.......#........#
#.......#........#
#.......#........#
#.......#........#
###.########.#####
#................#
#................#
##################
""")
    graph = level.bake().result
    assert sorted(joins(graph, "hearing")) == [
        ("Room1", "Room3"), ("Room2", "Room3"), ("Room3", "Room1"), ("Room3", "Room2")]
    assert graph.region_at((0.3, 0.5, 4.0)) == 0
    assert graph.region_at((0.3, -1.0, 4.0)) == -1
    assert graph.region_at((0.3, 2.6, 4.0)) == -1


def test_rectangular_room_is_one_box_and_an_angled_one_several():
    lonely = Level("#######\n#.....#\n#.....#\n#######").bake(settings=BakingSettings(reach_m=0.0)).result
    assert lonely.regions[0].shape == Box((1, -0.5, 1), (6, 2.5, 3))
    angled = Level("#######\n#...###\n#...###\n#.....#\n#.....#\n#######").bake(
        settings=BakingSettings(reach_m=0.0)).result
    assert isinstance(angled.regions[0].shape, Boxes)
    assert angled.regions[0].volume_m3 == pytest.approx(16 * 3)


def test_same_level_gives_the_same_graph_however_work_is_split():
    whole, cut = Level(THREE_ROOMS).bake(), Level(THREE_ROOMS).bake(budget=Budget.of_steps(0))
    assert graph_to_text(whole.result) == graph_to_text(cut.result)


WIDE = """
############
#....#.....#
#..........#
#....#.....#
##.#######.#
#....#.#...#
#....#.....#
############
"""
"""Rooms of several shapes, one of them with a nook."""


def as_text(ground, earlier=None):
    """The graph of a ground without rays, and the changes, as text."""
    baking = SenseGraphBaking(ground, earlier=earlier)
    baking.advance(Budget.unlimited())
    return baking.result, graph_to_text(baking.result) + repr(baking.report)


@pytest.mark.parametrize("text", [THREE_ROOMS, WIDE])
@pytest.mark.parametrize("rise_m", [0.0, 0.1])
@pytest.mark.parametrize("cells", [1, 7, 1_000_000])
def test_number_of_cells_in_a_step_does_not_change_the_graph(monkeypatch, text, rise_m, cells):
    walkable = Level(text).walkable
    steps_m = rise_m * np.arange(walkable.shape[1])      # a ramp, so that the levels of a room count
    ground = WalkableGrid(np.where(walkable, steps_m, np.nan), 0.25)
    earlier, usual = as_text(ground)
    again = as_text(ground, earlier)
    monkeypatch.setattr("ai_core.senses.baking.ground.BLOCK_CELLS", cells)
    assert as_text(ground)[1] == usual
    assert as_text(ground, earlier)[1] == again[1]


def test_stages_that_handle_every_cell_pause_between_blocks(monkeypatch):
    monkeypatch.setattr("ai_core.senses.baking.ground.BLOCK_CELLS", 16)
    level = Level(THREE_ROOMS)
    baking = SenseGraphBaking(level.ground, earlier=level.bake().result)
    pauses = Counter()
    while not baking.is_done:
        baking.advance(Budget.of_steps(1))
        pauses[baking.stage] += 1
    blocks = level.walkable.sum() // 16
    once = {"matching earlier rooms": 2, "sampling the ground": 6, "dividing rooms": 3, "building boxes": 2,
            "finding doors": 2}
    assert all(pauses[stage] >= times * blocks for stage, times in once.items())
    assert pauses["building the graph"] >= len(baking.result.portals) // 2


def test_progress_goes_up_to_one_within_a_budget():
    baking = SenseGraphBaking(Level(THREE_ROOMS).ground)
    seen, stages = [], set()
    while not baking.is_done:
        budget = Budget.of_steps(1)
        baking.advance(budget)
        assert budget.over == 0
        seen.append(baking.progress)
        stages.add(baking.stage)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 5
    assert stages >= {"dividing rooms", "finding doors", "done"}


def test_a_2d_level_is_baked_the_same():
    flat, deep = Level(THREE_ROOMS, up="z").bake().result, Level(THREE_ROOMS).bake().result
    assert joins(flat, "sight") == joins(deep, "sight")
    assert joins(flat, "hearing") == joins(deep, "hearing")
    assert [flat.region_at((x, 3.5)) for x in (1.5, 9.5, 17.5)] == [0, 1, 2]
    assert flat.portals[0].passages["hearing"].start[2] == 0


def rectangle(x, z, width, depth, height=0.0, rise=0.0):
    far = x + width, height + rise
    return [(x, height, z), (*far, z), (*far, z + depth), (x, height, z + depth)]


def mesh(*rectangles, **settings):
    vertices = [corner for one in rectangles for corner in one]
    polygons = [np.arange(4 * number, 4 * number + 4) for number in range(len(rectangles))]
    return WalkablePolygons(vertices, polygons, **{"cell_m": 0.25, **settings})


def baked(ground, blocked=None, **settings):
    baking = SenseGraphBaking(ground, blocked, settings=BakingSettings(**settings))
    baking.advance(Budget.unlimited())
    return baking.result


def test_a_navigation_mesh_gives_what_a_grid_gives():
    from_mesh = baked(mesh(rectangle(1, 1, 5, 5), rectangle(6, 3, 1, 1), rectangle(7, 1, 5, 5)))
    wall, room, door = "#############", "#.....#.....#", "#...........#"
    level = Level("\n".join([wall, room, room, door, room, room, wall]))
    assert graph_to_text(from_mesh) == graph_to_text(baked(level.ground))


def test_the_order_and_winding_of_polygons_do_not_count():
    parts = [rectangle(1, 1, 5, 5), rectangle(6, 3, 1, 1), rectangle(7, 1, 5, 5)]
    turned = [part[::-1] for part in parts[::-1]]
    assert graph_to_text(baked(mesh(*parts))) == graph_to_text(baked(mesh(*turned)))


def test_door_narrower_than_a_cell_joins_within_the_mesh_radius():
    parts = rectangle(1, 1, 5, 5), rectangle(6, 3.3, 1, 0.05), rectangle(7, 1, 5, 5)
    assert not baked(mesh(*parts, radius_m=0.0)).portals
    assert joins(baked(mesh(*parts, radius_m=0.4)), "hearing") == [("Room1", "Room2"), ("Room2", "Room1")]


def test_storeys_are_regions_of_their_own_and_stairs_join_them():
    below = [rectangle(0, 0, 10, 6), rectangle(10, 2, 4, 1, 0.0, rise=3.0)]
    above = [rectangle(14, 0, 6, 6, 3.0), rectangle(0, 6.0, 20, 1, 3.0), rectangle(0, 0, 10, 6, 3.0)]
    graph = baked(mesh(*below, *above), least_area_m2=1.5)
    low, high = graph.region_at((5, 0.5, 3)), graph.region_at((5, 3.5, 3))
    assert -1 not in (low, high)
    assert low != high
    assert graph.region_at((5, 2.6, 3)) == high, "the lower region ends below the upper floor"
    reached, waiting = {low}, [low]
    while waiting:
        here = graph.regions[waiting.pop()].name
        for portal in graph.portals:
            there = graph.region_id(portal.to_region)
            if portal.from_region == here and there not in reached:
                reached.add(there)
                waiting.append(there)
    assert high in reached


def test_sound_is_heard_through_the_baked_door():
    graph = Level(THREE_ROOMS).bake().result
    world = GraphWorld(graph)
    ear, other = world.ear((9, 1.5, 3.5)), world.ear((17, 1.5, 3.5))
    thief = world.source((3, 1.5, 3.5), hearing=1.0)
    world.tick()
    world.manager.emit(thief, "hearing")
    world.tick()
    assert [(one.sensor_id, tuple(one.position)) for one in world.heard] == [
        (ear, graph.portals[0].passages["hearing"].end), (other, graph.portals[2].passages["hearing"].end)]


def test_rooms_smaller_than_asked_become_part_of_a_neighbour():
    closet = Level("###########\n#.....#...#\n#.........#\n#.....#...#\n#.....#####\n###########")
    assert len(closet.bake().result.regions) == 2
    assert len(closet.bake(settings=BakingSettings(least_area_m2=12.0)).result.regions) == 1


def test_what_is_small_and_opens_nowhere_is_no_region():
    level = Level("########\n#....#.#\n#....###\n#....###\n########")
    assert len(level.bake(settings=BakingSettings(least_area_m2=1.5)).result.regions) == 1


@settings(max_examples=40, deadline=None)
@given(data=st.data(), rows=st.integers(1, 14), columns=st.integers(1, 14))
def test_who_can_walk_to_another_hears_him_and_nobody_else(data, rows, columns):
    grid = np.array(data.draw(st.lists(
        st.lists(st.booleans(), min_size=columns, max_size=columns), min_size=rows, max_size=rows)))
    if not grid.any():
        return
    graph = baked(WalkableGrid(grid, 0.5), least_area_m2=0.0, narrowness=0.99)
    islands = flooded(grid)
    joined = {name: {name} for name in (one.name for one in graph.regions)}
    for portal in graph.portals:
        both = joined[portal.from_region] | joined[portal.to_region]
        for name in both:
            joined[name] = both
    region = {}
    for row, column in np.argwhere(grid).tolist():
        found = graph.region_at(((column + 0.5) / 2, 0.1, (row + 0.5) / 2))
        assert found != -1
        region[row, column] = graph.regions[found].name
    for one, island in islands.items():
        for other, other_island in islands.items():
            assert (island == other_island) == (region[other] in joined[region[one]])
    for portal in graph.portals:
        for passage in portal.passages.values():
            ends = graph.region_at(passage.start), graph.region_at(passage.end)
            assert ends == (graph.region_id(portal.from_region), graph.region_id(portal.to_region))


def flooded(grid):
    """The island of every cell, by plain search."""
    islands = {}
    for cell in map(tuple, np.argwhere(grid).tolist()):
        waiting = [] if cell in islands else [cell]
        while waiting:
            row, column = waiting.pop()
            if (row, column) not in islands:
                islands[row, column] = cell
                waiting += [
                    (r, c) for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
                    if 0 <= r < grid.shape[0] and 0 <= c < grid.shape[1] and grid[r, c]]
    return islands


def test_a_level_that_is_too_large_says_which_cells_would_do():
    with pytest.raises(ValueError, match=r"need more than 250000 cells; use a cell_m of 2"):
        SenseGraphBaking(mesh(rectangle(0, 0, 1000, 1000)))
    sliver = WalkablePolygons([(0, 0, 0), (10_000, 0, 9_999), (10_000, 0, 10_000)], [[0, 1, 2]], 0.25)
    with pytest.raises(ValueError, match="too large"):
        SenseGraphBaking(sliver)


def test_level_of_too_many_regions_is_refused_completely(monkeypatch):
    monkeypatch.setattr("ai_core.senses.baking.baking.MOST_REGIONS", 2)
    baking = SenseGraphBaking(Level(THREE_ROOMS).ground)
    with pytest.raises(ValueError, match="has 3 regions, more than 2; lower narrowness or raise least_area_m2"):
        baking.advance(Budget.unlimited())
    assert baking.is_cancelled
    with pytest.raises(RuntimeError, match="was cancelled; create another"):
        baking.advance(Budget.unlimited())
    with pytest.raises(RuntimeError, match="has no result"):
        _ = baking.result


def test_cancelled_bake_has_no_result_and_a_done_one_keeps_it():
    baking = SenseGraphBaking(Level(THREE_ROOMS).ground)
    baking.advance(Budget.of_steps(1))
    baking.cancel()
    assert baking.is_cancelled
    assert not baking.is_done
    done = Level(THREE_ROOMS).bake()
    done.cancel()
    done.advance(Budget.of_steps(1))
    assert done.is_done
    assert not done.is_cancelled


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mesh(), ValueError, "no walkable area"),
        (lambda: WalkableGrid(np.zeros((3, 3), bool), 0.5), ValueError, "no walkable area"),
        (lambda: WalkableGrid(np.zeros(3), 0.5), ValueError, "must have shape"),
        (lambda: WalkableGrid([[np.inf]], 0.5), ValueError, "got inf"),
        (lambda: WalkableGrid([[0.0]], 0.0), ValueError, "cell_m must be above 0"),
        (lambda: mesh(rectangle(0, 0, 1, float("nan"))), ValueError, "vertices must be finite"),
        (lambda: WalkablePolygons([(0, 0, 0)] * 3, [[0, 1, 3]], 0.5), ValueError, "vertex indices from 0 to 2"),
        (lambda: WalkablePolygons([(0, 0, 0)] * 3, [[0, 1]], 0.5), ValueError, "at least three indices"),
        (lambda: WalkablePolygons([(0, 0, 0)] * 3, [], 0.5, up="x"), ValueError, "up must be 'y' or 'z'"),
        (lambda: BakingSettings(narrowness=1.5), ValueError, "narrowness must be at most 0.99"),
        (lambda: BakingSettings(passing={"hearing": 2}), ValueError, "passing"),
        (lambda: BakingSettings(passing=5), TypeError, "passing must map"),
        (lambda: BakingSettings(sight=5), TypeError, "sight must be a string or None"),
        (lambda: SenseGraphBaking("level"), TypeError, "ground must be a WalkableGrid"),
        (lambda: SenseGraphBaking(Level(THREE_ROOMS).ground, 5), TypeError, "blocked must be a callable"),
        (lambda: SenseGraphBaking(Level(THREE_ROOMS).ground, settings=5), TypeError, "settings must be BakingSettings"),
        (lambda: SenseGraphBaking(Level(THREE_ROOMS).ground, earlier=5), TypeError, "earlier must be a SenseGraph"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [(lambda segments: np.zeros(len(segments)), TypeError, "blocked must return bool"),
     (lambda segments: np.zeros(3, bool), ValueError, "must return a bool for each")],
)
def test_rays_that_do_not_answer_are_named(answers, error, message):
    baking = SenseGraphBaking(Level(THREE_ROOMS).ground, answers)
    with pytest.raises(error, match=message):
        baking.advance(Budget.unlimited())


FOUR_ROOMS = """
#########################
#.....#.....#.....#.....#
#.....#.....#.....#.....#
#.......................#
#.....#.....#.....#.....#
#.....#.....#.....#.....#
#########################
"""


def sees(world, eye, source):
    world.tick()
    return world.manager.why(eye, source).by_modality["sight"].verdict == "sensed"


@pytest.mark.parametrize("closed", ["Room1-Room2", "Room2-Room3", "Room3-Room4"])
def test_a_closed_door_hides_the_rooms_behind_it(closed):
    graph = Level(FOUR_ROOMS).bake().result
    world = GraphWorld(graph)
    eye = world.eye((1.5, 1.5, 3.5))
    rooms = {world.source((x, 1.5, 3.5), sight=1.0): name
             for name, x in (("Room2", 9.5), ("Room3", 15.5), ("Room4", 21.5))}

    def seen():
        return {rooms[source] for source in rooms if sees(world, eye, source)}

    assert seen() == {"Room2", "Room3", "Room4"}
    graph.set_open(closed, False)
    assert seen() == {name for name in rooms.values() if name <= closed[:5]}
    graph.set_open(closed, True)
    assert seen() == {"Room2", "Room3", "Room4"}


def test_glass_in_a_door_shows_the_rooms_behind_it():
    graph = Level(FOUR_ROOMS).bake().result
    clear = [replace(one, passages={sense: replace(passage, closed_kept_per_m=1.0) for sense, passage in
                                    one.passages.items()}) if one.name == "Room1-Room2" else one
             for one in graph.portals]
    world = GraphWorld(SenseGraph(graph.regions, clear))
    world.graph.set_open("Room1-Room2", False)
    eye, source = world.eye((1.5, 1.5, 3.5)), world.source((21.5, 1.5, 3.5), sight=1.0)
    assert sees(world, eye, source)
    world.graph.set_open("Room2-Room3", False)
    assert not sees(world, eye, source)


def test_one_of_two_doors_that_is_open_shows_the_room_behind():
    graph = Level("""
###################
#.....#.....#.....#
#.................#
#.....#.....#.....#
#...........#.....#
#.....#.....#.....#
###################
""").bake().result
    world = GraphWorld(graph)
    eye, source = world.eye((1.5, 1.5, 2.5)), world.source((17.5, 1.5, 2.5), sight=1.0)
    doors = sorted({one.name for one in graph.portals if one.name.startswith("Room1-Room2")})
    assert len(doors) == 2
    for closed, is_seen in ((doors[:1], True), (doors, False), (doors[1:], True)):
        for name in doors:
            graph.set_open(name, name not in closed)
        assert sees(world, eye, source) == is_seen
