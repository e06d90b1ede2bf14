"""Sight in a graph: through one portal, by camera, two portals for light, the same both ways."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.graph.parts import Box, Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.modality import Modality
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import VisiblePart
from tests.senses.graph.graph_worlds import SIGHT, GraphWorld, door, graphs, room
from tests.senses.worlds import Rays

ROW = [room(name, (2.0 * k, 0, 0)) for k, name in enumerate("abcd")]


def row_of_doors(senses="sight", **more):
    return [one for k, (a, b) in enumerate(("ab", "bc", "cd"))
            for one in door(a, b, (2.0 * k + 1, 0, 0), senses, **more)]


def test_sight_follows_one_portal_and_light_two():
    world = GraphWorld(SenseGraph(ROW, row_of_doors()))
    lamp = world.source((0, 0, 0), sight=1.0)
    eyes = [world.eye((2.0 * k, 0, 0)) for k in range(4)]
    world.tick()
    assert sorted(world.told()) == [(eye, lamp) for eye in eyes[:2]]
    world.manager.change_source(lamp, gives_light=True)
    world.tick(frames=3)
    assert set(world.told()) == {(eye, lamp) for eye in eyes[:3]}
    world.manager.change_source(lamp, gives_light=False)
    world.tick(frames=3)
    assert set(world.told()) == {(eye, lamp) for eye in eyes[:2]}


def test_new_ones_in_the_rows_of_removed_ones_see_and_are_seen():
    world = GraphWorld(SenseGraph(ROW[:2], row_of_doors()[:2]))
    eyes = [world.eye((0, 0, 0)) for _ in range(3)]
    things = [world.source((2, 0, 0), sight=1.0) for _ in range(3)]
    world.tick()
    world.manager.remove_source(things.pop(0))
    world.manager.remove_sensor(eyes.pop(0))
    eyes, things = [*eyes, world.eye((0, 0, 0))], [*things, world.source((0, 0, 0), sight=1.0)]
    world.tick()
    assert [world.manager.sensed_by(eye) for eye in eyes] == [things] * 3


def test_intensity_is_lost_in_both_rooms_and_in_the_window():
    rooms = [room("a", (0, 0, 0), kept_per_m={"sight": 0.5}), room("b", (2, 0, 0), kept_per_m={"sight": 0.25})]
    glass = SensePortal("a", "b", {"sight": Passage((1, 0, 0), kept_per_m=0.9, distance_m=2.0)})
    world = GraphWorld(SenseGraph(rooms, [glass]))
    world.source((0.5, 0, 0), sight=100.0)
    world.eye((2, 0, 0))
    world.tick()
    assert world.heard[0].intensity == pytest.approx(100 * 0.5**0.5 * 0.9**2 * 0.25)


def test_the_best_of_two_windows_counts():
    windows = [SensePortal("a", "b", {"sight": Passage((1, 0, 0), kept_per_m=share)}) for share in (0.2, 0.7, 0.5)]
    world = GraphWorld(SenseGraph(ROW[:2], windows))
    world.source((0, 0, 0), sight=1.0)
    world.eye((2, 0, 0), threshold=0.6)
    world.tick()
    assert world.heard[0].intensity == pytest.approx(0.7)


PLACE = st.tuples(st.integers(0, 5), st.integers(-8, 8), st.integers(-8, 8))
CAMERA = SensePortal("hall", "control", {"sight": Passage((2, 1, 0), (101, 0, 0), is_relayed=True)}, "camera")
LEVEL = [room("hall", (0, 0, 0), size=4), room("control", (100, 0, 0), size=4)]


@pytest.mark.parametrize(("thief_at", "elsewhere"), [
    ((1, 0, 0), SensePortal("a", "b", {"sight": Passage((1, 1, 0), (2, 0, 1), is_relayed=True)})),
    ((1.5, 0, 0.5), SensePortal("b", "b", {"sight": Passage.mirror((3, 0, 0), (-1, 0, 0), 2.0)}))])
def test_cameras_and_mirrors_show_what_the_straight_line_hides(thief_at, elsewhere):
    free = {"elsewhere"}

    def line_of_sight(eyes, targets, *_):
        return (eyes[:, 0] == 2) == ("straight" in free)

    world = GraphWorld(SenseGraph(ROW[:2], [*row_of_doors()[:2], elsewhere]), line_of_sight=line_of_sight)
    guard, thief = world.eye((2, 0, 0)), world.source(thief_at, sight=1.0)
    for now_free in ("elsewhere", "straight", "elsewhere"):
        free.clear()
        free.add(now_free)
        world.tick(2)
        world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))()
        for _ in range(5):
            world.tick()
            assert world.manager.sensed_by(guard) == [thief]


@pytest.mark.parametrize(("faces", "sees"), [((1, 0, 0), True), ((-1, 0, 0), False), ((0, 0, 1), False)])
def test_who_looks_at_the_screen_sees_what_the_camera_sees(faces, sees):
    rays = Rays()
    asked = []

    def line_of_sight(eyes, targets, sensors, sources):
        asked.append((eyes.tolist(), targets.tolist()))
        return rays(eyes, targets, sensors, sources)

    world = GraphWorld(SenseGraph(LEVEL, [CAMERA]), line_of_sight=line_of_sight)
    thief = world.source((-1, 0, 0), sight=1.0)
    guard = world.sensor((100, 0, 0), {"sight": 0}, forward=faces,
                         sight_cones=[SightCone(5.0, math.radians(60), math.pi)])
    world.tick()
    assert world.told() == ([(guard, thief)] if sees else [])
    assert asked == ([([[2, 1, 0]], [[-1, 0, 0]])] if sees else [])


def test_camera_that_is_off_or_blocked_shows_nothing():
    graph, rays = SenseGraph(LEVEL, [CAMERA]), Rays()
    world = GraphWorld(graph, line_of_sight=rays)
    thief, guard = world.source((-1, 0, 0), sight=1.0), world.eye((100, 0, 0))
    rays.blocked.add((guard, thief))
    world.tick(frames=3)
    assert world.told() == []
    rays.blocked.clear()
    graph.set_open("camera", False)
    world.tick(frames=3)
    assert world.told() == []
    graph.set_open("camera", True)
    world.tick(frames=2)
    assert set(world.told()) == {(guard, thief)}


def test_only_pairs_with_a_way_cost_a_ray():
    rays = Rays()
    world = GraphWorld(SenseGraph(ROW, row_of_doors()), line_of_sight=rays)
    things = [world.source((2.0 * k, 0, 0), sight=1.0) for k in range(4)]
    eyes = [world.eye((2.0 * k, 0, 0)) for k in range(4)]
    world.tick()
    assert sorted(rays.batches[0]) == [(eyes[a], things[b]) for a in range(4) for b in range(4) if abs(a - b) <= 1]


def test_cones_on_a_screen_are_judged_by_it_even_for_lost_sight():
    rooms = [room("yard", (0, 0, 0)), room("control", (20, 0, 0))]
    # The screen is near the guard; what it shows is farther from the camera than his sight reaches.
    camera = SensePortal("yard", "control", {"sight": Passage((0, 0, 0.9), (20, 0, -0.4), is_relayed=True)}, "camera")
    lines = []

    def rays(eyes, targets, sensor_ids, source_ids):
        lines.extend(zip(eyes.tolist(), targets.tolist(), strict=True))
        return np.ones(len(eyes), np.bool_)

    world = GraphWorld(SenseGraph(rooms, [camera]), line_of_sight=rays)
    parts = [VisiblePart("head", (0, 0.25, 0), 0.25), VisiblePart("feet", (0, -0.25, 0), 0.75)]
    thief = world.manager.add_source(position=(0, 0, -0.75), strengths={"sight": 1.0}, parts=parts)
    guard, other = (
        world.sensor((20, 0, 0), {"sight": 0.1}, forward=(0, 0, ahead), sight_cones=[
            SightCone(0.5, 1.0, 1.0, lose_range_m=5.0)]) for ahead in (-1, 1))
    world.tick()
    assert world.manager.sensed_by(guard) == [thief]
    assert world.manager.sensed_by(other) == []
    camera_at = pytest.approx([0, 0, 0.9])
    assert lines == [(camera_at, [0, 0.25, -0.75]), (camera_at, [0, -0.25, -0.75])]
    assert world.manager.seen_parts(guard, thief) == ("head", "feet")


HALL = SenseRegion("hall", Box((0, 0, 0), (10, 3, 10)), kept_per_m={"sight": 0.9})
MIRROR = SensePortal("hall", "hall", {"sight": Passage.mirror((10, 1, 5), (-2, 0, 0), 0.5)}, "mirror")


def mirror_world(thief_at, line_of_sight=None, graph=None):
    world = GraphWorld(graph or SenseGraph([HALL], [MIRROR]), line_of_sight=line_of_sight)
    world.source(thief_at, sight=100.0)
    world.sensor((5, 1, 5), {"sight": 0}, forward=(1, 0, 0), sight_cones=[SightCone(50.0, math.radians(60), math.pi)])
    return world


@pytest.mark.parametrize(("thief_at", "sees"), [((2, 1, 5.5), True), ((2, 1, 9), False), ((2, 2.9, 5), False)])
def test_mirror_shows_what_is_behind_a_sensor_that_faces_it(thief_at, sees):
    world = mirror_world(thief_at)
    world.tick()
    assert bool(world.heard) == sees
    if sees:
        assert world.heard[0].intensity == pytest.approx(100 * 0.9 ** math.dist((5, 1, 5), (18, 1, 5.5)))


def test_line_of_a_mirror_begins_at_its_surface():
    asked = []

    def line_of_sight(eyes, targets, sensor_ids, source_ids):
        asked.extend(zip(eyes.tolist(), targets.tolist(), strict=True))
        return np.ones(len(eyes), np.bool_)

    graph = SenseGraph([HALL], [MIRROR])
    world = mirror_world((2, 1, 5.5), line_of_sight, graph)
    world.tick()
    assert asked == [(pytest.approx([9.99, 1, 5 + 0.5 * 5 / 13], abs=1e-5), [2, 1, 5.5])]
    graph.set_open("mirror", False)
    world.told()
    world.tick(frames=3)
    assert world.told() == []


@settings(max_examples=60, deadline=None)
@given(normal=st.tuples(*[st.integers(-4, 4)] * 3).filter(any), eye=PLACE, target=PLACE)
def test_mirror_reflects_by_the_shortest_path_in_any_direction(normal, eye, target):
    asked = []

    def line_of_sight(eyes, targets, sensor_ids, source_ids):
        asked.extend(eyes.tolist())
        return np.ones(len(eyes), np.bool_)

    cell = SenseRegion("cell", Box((-9, -9, -9), (9, 9, 9)))
    other = SenseRegion("other", Box((20, -9, -9), (29, 9, 9)))
    place = np.array([9.0, 0, 0])
    eye, target = np.array(eye, float), np.add(target, (20.0, 0, 0))
    mirror = SensePortal("other", "cell", {"sight": Passage.mirror(place, normal, 30.0)})
    world = GraphWorld(SenseGraph([cell, other], [mirror]), line_of_sight=line_of_sight)
    world.source(target, sight=1.0)
    world.eye(eye)
    world.tick()
    unit = np.array(normal) / np.linalg.norm(normal)
    heights = (eye - place) @ unit, (target - place) @ unit
    if min(heights) < -1e-5:
        assert not asked
    if not asked or min(heights) < 1e-5:        # in the plane of the mirror rounding decides, on each platform its own
        return
    at = np.array(asked[0]) - 0.01 * unit
    length = math.dist(eye, at) + math.dist(at, target)
    for step in np.eye(3):
        beside = at + 0.1 * (step - step @ unit * unit)
        assert length <= math.dist(eye, beside) + math.dist(beside, target) + 1e-5


def test_range_is_measured_along_the_way():
    far = SensePortal("a", "b", {"sight": Passage((1, 0, 0), distance_m=9.0)})
    for range_m, sees in ((10.9, False), (11.0, True)):
        kind = Modality("sight", range_m, is_continuous=True)
        world = GraphWorld(SenseGraph(ROW[:2], [far]), modalities=[kind])
        world.source((0, 0, 0), sight=1.0)
        world.sensor((2, 0, 0), {"sight": 0})
        world.tick()
        assert bool(world.heard) == sees


def turned(graph, turn):
    """The same level, mirrored or turned by quarters."""
    regions = []
    for one in graph.regions:
        a, b = turn(one.shape.minimum), turn(one.shape.maximum)
        regions.append(SenseRegion(
            one.name, Box([min(p) for p in zip(a, b, strict=True)], [max(p) for p in zip(a, b, strict=True)]),
            kept_per_m=one.kept_per_m))
    portals = [
        SensePortal(one.from_region, one.to_region,
                    {name: Passage(turn(p.start), turn(p.end), p.kept_per_m, p.distance_m, p.closed_kept_per_m)
                     for name, p in one.passages.items()}, one.name, one.is_open)
        for one in graph.portals
    ]
    return SenseGraph(regions, portals)


TURNS = [lambda p: p, lambda p: (-p[2], p[1], p[0]), lambda p: (-p[0], p[1], p[2]), lambda p: (p[2], p[1], -p[0])]


@settings(max_examples=25, deadline=None)
@given(graph=graphs("sight"), places=st.lists(PLACE, min_size=2, max_size=5), threshold=st.sampled_from([0.1, 0.5]))
def test_a_sees_b_exactly_when_b_sees_a_however_the_level_lies(graph, places, threshold):
    both_ways = SenseGraph(graph.regions, [one for portal in graph.portals for one in (portal, portal.back())])
    kind = Modality("sight", 6.0, is_continuous=True)
    seen = []
    for turn in TURNS:
        world = GraphWorld(turned(both_ways, turn), modalities=[kind])
        for region, x, y in places:
            at = turn((4.0 * min(region, len(graph.regions) - 1) + x / 8, y / 8, 0.0))
            own = world.source(at, sight=1.0)
            assert own == world.sensor(at, {"sight": threshold}, self_source=own)
            world.manager.change_source(own, gives_light=True)
        world.tick()
        strengths = {(one.sensor_id, one.source_id): one.intensity for one in world.heard}
        assert {(b, a): intensity for (a, b), intensity in strengths.items()} == strengths
        seen.append(set(strengths))
    assert all(one == seen[0] for one in seen)


@settings(max_examples=25, deadline=None)
@given(graph=graphs("sight"), places=st.lists(PLACE, min_size=1, max_size=5), lights=st.booleans())
def test_what_is_seen_is_what_a_plain_loop_over_portals_says(graph, places, lights):
    kind = Modality("sight", 100.0, is_continuous=True)
    world = GraphWorld(graph, modalities=[kind])
    at = [(4.0 * min(region, len(graph.regions) - 1) + x / 8, y / 8, 0.0) for region, x, y in places]
    expected = {}
    for number, place in enumerate(at):
        world.sensor(place, {"sight": 1e-3})
        world.source(place, sight=1.0)
        world.manager.change_source(number, gives_light=lights)
    for source, start in enumerate(at):
        for sensor, end in enumerate(at):
            best = plainly_seen(graph, start, end, 2 if lights else 1)
            if best >= 1e-3:
                expected[sensor, source] = pytest.approx(best, rel=1e-12)
    world.tick()
    assert {(one.sensor_id, one.source_id): one.intensity for one in world.heard} == expected


def plainly_seen(graph, start, end, most_portals):
    def kept(region, a, b):
        return graph.regions[region].kept_per_m["sight"] ** math.dist(a, b)

    last = graph.region_at(end)

    best = kept(last, start, end) if graph.region_at(start) == last else 0.0
    first = graph.region_at(start)
    for k, one in enumerate(graph.portals):
        if graph.region_id(one.from_region) != first:
            continue
        way = one.passages["sight"]
        share = kept(first, start, way.start) * loss(graph, k)
        there = graph.region_id(one.to_region)
        if there == last:
            best = max(best, share * kept(last, way.end, end))
        for j, other in enumerate(graph.portals if most_portals == 2 else ()):
            on = other.passages["sight"]
            if graph.region_id(other.from_region) == there and graph.region_id(other.to_region) == last != first:
                best = max(best, share * kept(there, way.end, on.start) * loss(graph, j) * kept(last, on.end, end))
    return best


def loss(graph, number):
    passage = graph.portals[number].passages["sight"]
    share = passage.kept_per_m if graph.is_open(number) else passage.closed_kept_per_m
    return share**passage.distance_m if share else 0.0


def test_positions_are_looked_up_again_only_for_who_moved():
    counts = []
    graph = SenseGraph([room("a", (0, 0, 0)), room("b", (2, 0, 0))])
    find = graph.lookup

    def lookup(places):
        counts.append(len(places))
        return find(places)

    graph.lookup = lookup
    world = GraphWorld(graph, modalities=[SIGHT])
    eye, other = world.eye((0, 0, 0)), world.eye((2, 0, 0))
    thing = world.source((2, 0, 0), sight=1.0)
    world.tick()
    assert world.told() == [(other, thing)]
    counts.clear()
    world.tick()
    assert counts == []
    world.manager.move_sensors([eye], [(3, 0, 0)])
    world.tick()
    assert counts == [1]
    assert (eye, thing) in world.told()
