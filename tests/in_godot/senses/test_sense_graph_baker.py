"""SenseGraphBaker: a real level with walls, doors and a navigation mesh becomes regions and portals."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import AABB, Vector2, Vector3, construct
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from tests.senses.baking.baking_levels import Level


class WalledLevel:
    """Three rooms of 6 by 6 m along x, walls between with doors in the middle, and a SenseManager in graph mode."""

    def __init__(self, node, scheduler, physics_frames, signals):
        self.node, self.scheduler, self.physics_frames, self.signals = node, scheduler, physics_frames, signals
        self.manager = node("SenseManager", scheduler, mode=1)
        self.navigation = node("NavigationRegion3D", scheduler, name="Level")

    def wall(self, x, z, width, depth, height=3.0, y=1.5):
        body, shape, box = construct("StaticBody3D"), construct("CollisionShape3D"), construct("BoxShape3D")
        box.size = Vector3(width, height, depth)
        shape.shape = box
        body.add_child(shape)
        body.position = Vector3(x, y, z)
        self.navigation.add_child(body)

    def build(self):
        self.wall(9, 3, 19, 7, height=0.2, y=-0.1)
        for x in (-0.1, 18.1):
            self.wall(x, 3, 0.2, 6.4)
        for z in (-0.1, 6.1):
            self.wall(9, z, 18.4, 0.2)
        for x in (6, 12):
            self.wall(x, 1.0, 0.2, 2.0)
            self.wall(x, 5.0, 0.2, 2.0)
        mesh = construct("NavigationMesh")
        mesh.geometry_parsed_geometry_type = 1      # static colliders
        mesh.agent_radius = 0.5
        self.navigation.navigation_mesh = mesh
        self.walk()
        return self

    def walk(self):
        """Bake the navigation mesh of what stands there now."""
        self.navigation.bake_navigation_mesh(False)
        self.physics_frames(2)

    def baker(self, **settings):
        return self.node("SenseGraphBaker", self.scheduler, name="Baker", **settings)

    def bake(self, baker):
        """What the baker tells at the end."""
        finished, failed = self.signals(baker, "bake_finished"), self.signals(baker, "bake_failed")
        assert baker.call("bake")
        for _ in range(2000):
            self.physics_frames(1)
            if finished or failed:
                return [*finished, *failed][-1]
        raise AssertionError("baking never ended")


@pytest.fixture
def level(node, scheduler, physics_frames, signals):
    return WalledLevel(node, scheduler, physics_frames, signals)


def children(baker, class_name):
    return {str(one.name): one for one in baker.get_children() if one.is_class(class_name)}


def region_at(baker, x):
    """The name of the baked region at x, in the middle of the rooms."""
    return next(name for name, one in children(baker, "SenseRegion3D").items()
                if any(low <= x <= high for low, high in spans(one)))


def spans(region):
    at = region.global_position
    return [(at.x + box[0], at.x + box[0] + box[3]) for box in region.boxes
            if at.z + box[2] <= 3.0 <= at.z + box[2] + box[5]]


def test_a_level_becomes_regions_and_portals_below_the_baker(level, scheduler):
    baker = level.build().baker()
    assert level.bake(baker) == (3, 3)
    assert list(children(baker, "SenseRegion3D")) == ["Room1", "Room2", "Room3"]
    portals = children(baker, "SensePortal3D")
    assert list(portals) == ["Room1-Room2", "Room2-Room3", "Room1 sees Room3"]
    door = portals["Room1-Room2"]
    assert door.get_node(door.from_region) == baker.get_node("Room1")
    assert door.get_node(door.to_region) == baker.get_node("Room2")
    assert tuple(door.global_position) == pytest.approx((5.5, 1.7, 3), abs=0.7)
    assert math.dist(door.get_node("Exit").global_position, door.global_position) == pytest.approx(1.25)
    assert door.smell_area == pytest.approx(2.0 * 2.5, abs=1.3)
    seen = portals["Room1 sees Room3"]
    assert (seen.passes_sight, seen.passes_hearing, seen.passes_smell) == (True, False, False)
    assert [one.get_meta("ai_core_baked") for one in (*portals.values(), baker.get_node("Room1"))] == [True] * 4


def test_a_baked_door_passes_sound_and_muffles_it_when_closed(
        level, node, scheduler, physics_frames, signals):
    baker = level.build().baker()
    level.bake(baker)
    guard = node("Sensor3D", scheduler, position=Vector3(9, 1.6, 3), hearing_threshold=0.001)
    thief = node("SenseSource3D", scheduler, position=Vector3(2, 1, 3))
    heard = signals(guard, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(10)
    (_, _, strength, position, _), = [one for one in heard if one[1] == "hearing"]
    door = baker.get_node("Room1-Room2")
    assert math.dist(position, door.get_node("Exit").global_position) < 1e-3
    door.close()
    thief.emit("hearing", 10.0)
    physics_frames(10)
    shut = [one[2] for one in heard if one[1] == "hearing"][-1]
    assert shut == pytest.approx(strength * 0.1**1.25, rel=0.01)


def test_who_stands_by_the_wall_or_in_the_doorway_is_in_a_region(level, node, scheduler, physics_frames):
    baker = level.build().baker()
    level.bake(baker)
    eye = node("Sensor3D", scheduler, position=Vector3(0.1, 1.6, 0.1), rotation=Vector3(0, -3 * math.pi / 4, 0))
    things = [node("SenseSource3D", scheduler, position=Vector3(*at)) for at in ((5.8, 1, 5.8), (6, 1, 3))]
    physics_frames(4)
    assert [eye.can_sense(one) for one in things] == [True, True]


def test_hand_made_one_way_glass_survives_a_new_bake(
        level, node, scheduler, physics_frames):
    baker = level.build().baker()
    level.bake(baker)
    baker.get_node("Room1").name = "Hall"
    glass = node("SensePortal3D", scheduler, name="Glass", position=Vector3(6, 1.5, 1), one_way=True,
                 from_region="../Baker/Hall", to_region="../Baker/Room3", passes_hearing=False, passes_smell=False)
    door = baker.get_node("Room1-Room2")
    door.from_region = "../Hall"
    door.hearing_kept_per_meter_closed = 0.02
    door.is_open = False
    baker.get_node("Room1 sees Room3").free()
    before = {one.instance_id for one in baker.get_children() if not one.is_class("RayCast3D")}
    assert level.bake(baker) == (3, 2), "between regions joined for sight by hand no sight is baked"
    after = {one.instance_id for one in baker.get_children()}
    assert after == before
    assert str(glass.from_region) == "../Baker/Hall"
    assert (door.hearing_kept_per_meter_closed, door.is_open) == (pytest.approx(0.02), False)
    assert list(children(baker, "SenseRegion3D")) == ["Hall", "Room2", "Room3"]


def test_walling_up_a_door_removes_only_its_portal(level, physics_frames):
    baker = level.build().baker()
    level.bake(baker)
    kept = baker.get_node("Room2-Room3")
    level.wall(6, 3, 0.2, 2.0)
    level.walk()
    assert level.bake(baker) == (3, 1)
    physics_frames(1)
    assert list(children(baker, "SensePortal3D")) == ["Room2-Room3"]
    assert kept.is_valid()


def test_baking_is_spread_over_frames_within_the_budget_and_told(level, scheduler, signals, physics_frames):
    baker = level.build().baker(sight_places=20)
    shares = signals(baker, "progress_changed")
    scheduler.budget = 300.0
    baker.call("bake")
    assert baker.is_baking()
    stages = set()
    count = 0
    while baker.is_baking() and count < 5000:
        stages.add(baker.get_stage())
        physics_frames(1)
        count += 1
    assert count > 10
    assert [share for share, in shares] == sorted(share for share, in shares)
    assert shares[-1] == (1.0,)
    assert "dividing rooms" in stages
    assert list(children(baker, "SenseRegion3D")) == ["Room1", "Room2", "Room3"]


def test_a_file_is_written_and_read_again(level, tmp_path):
    file = tmp_path / "level.json"
    baker = level.build().baker(file=str(file))
    assert level.bake(baker) == (3, 3)
    assert children(baker, "SenseRegion3D") == {}
    first = file.read_text(encoding="utf-8")
    graph = graph_from_text(first)
    assert [one.name for one in graph.regions] == ["Room1", "Room2", "Room3"]
    level.bake(baker)
    assert file.read_text(encoding="utf-8") == first


def test_a_file_that_is_something_else_is_not_overwritten(level, tmp_path, expect_errors):
    expect_errors("is not a sense graph, so it is not overwritten", times=1)
    file = tmp_path / "notes.json"
    file.write_text("{}", encoding="utf-8")
    assert not level.build().baker(file=str(file)).call("bake")
    assert file.read_text(encoding="utf-8") == "{}"


def test_a_level_without_a_navigation_mesh_says_what_to_do(level, node, scheduler, expect_errors, signals):
    expect_errors("the navigation mesh of 'Level' is empty; bake it first", times=1)
    expect_errors("there is no NavigationRegion3D or NavigationRegion2D below 'Bare'", times=1)
    baker = level.baker()
    failed = signals(baker, "bake_failed")
    assert not baker.call("bake")
    node("Node3D", scheduler, name="Bare")
    baker.level = "../Bare"
    assert not baker.call("bake")
    assert len(failed) == 2
    assert "there is no walkable ground" in baker.get_stage()
    assert "there is no walkable ground" in baker._get_configuration_warnings()[0]
    baker.level = "../Gone"
    assert "level '../Gone' is not a node" in baker._get_configuration_warnings()[0]


def test_a_level_that_is_too_large_says_which_cells_would_do(level, expect_errors):
    expect_errors("need more than 250000 cells; use a cell_size of", times=1)
    baker = level.baker()
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(0, 0, 0), Vector3(900, 0, 0), Vector3(900, 0, 900), Vector3(0, 0, 900)])
    mesh.add_polygon([0, 1, 2, 3])
    level.navigation.navigation_mesh = mesh
    assert not baker.call("bake")


def test_the_graph_in_use_is_not_baked_over(level, node, scheduler, signals, physics_frames, expect_errors):
    expect_errors("cannot bake into the scene: the graph is already built", times=2)
    expect_errors("has mode Graph and no SenseRegion3D", times=1)
    baker = level.build().baker()
    failed = signals(baker, "bake_failed")
    assert baker.call("bake")
    node("SenseSource3D", scheduler, position=Vector3(2, 1, 3))     # during the bake
    for _ in range(2000):
        if failed:
            break
        physics_frames(1)
    assert not baker.call("bake")
    assert ["graph is already built" in one for one, in failed] == [True, True]


def test_a_baked_door_that_closes_hides_the_room_after_the_next(level, node, scheduler, signals, physics_frames):
    baker = level.build().baker()
    level.bake(baker)
    guard = node("Sensor3D", scheduler, position=Vector3(2, 1.6, 3), rotation=Vector3(0, -math.pi / 2, 0))
    thief = node("SenseSource3D", scheduler, position=Vector3(16, 1.6, 3))
    gained, lost = signals(guard, "target_gained"), signals(guard, "target_lost")

    def verdict():
        physics_frames(180)
        return guard.why(thief)["senses"]["sight"]["verdict"]

    assert verdict() == "sensed"
    baker.get_node("Room2-Room3").close()
    assert verdict() != "sensed"
    assert (len(gained), len(lost)) == (1, 1)
    baker.get_node("Room2-Room3").open()
    assert verdict() == "sensed"


def test_a_2d_graph_file_works_and_its_door_can_be_closed(
        node, scheduler, physics_frames, signals, tmp_path, expect_errors):
    expect_errors("unknown portal 'Rom1-Room2'; did you mean 'Room1-Room2'?", times=1)
    level = Level("#############\n#.....#.....#\n#...........#\n#.....#.....#\n#############", up="z")
    file = tmp_path / "flat.json"
    file.write_text(graph_to_text(level.bake().result), encoding="utf-8")
    manager = node("SenseManager", scheduler, mode=1, dimensions=1, pixels_per_meter=10.0, graph_file=str(file))
    ear = node("Sensor2D", scheduler, position=Vector2(95, 25), hearing_threshold=0.001)
    thief = node("SenseSource2D", scheduler, position=Vector2(30, 25))
    heard = signals(ear, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(10)
    assert [one[1] for one in heard] == ["hearing"]
    assert tuple(heard[0][3]) == pytest.approx((70, 25), abs=8)
    manager.set_portal_open("Room1-Room2", False)
    assert not manager.is_portal_open("Room1-Room2")
    thief.emit("hearing", 10.0)
    physics_frames(10)
    assert heard[1][2] < 0.2 * heard[0][2]
    manager.call("set_portal_open", "Rom1-Room2", True)


@pytest.mark.parametrize(("text", "why"), [(None, "the file does not exist"), ("{", "not JSON, or truncated")])
def test_a_graph_file_that_cannot_be_used_is_named(node, scheduler, tmp_path, expect_errors, text, why):
    expect_errors(why, times=1)
    expect_errors("has mode Graph and no SenseRegion3D", times=1)
    file = tmp_path / "level.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    node("SenseManager", scheduler, mode=1, graph_file=str(file))
    node("SenseSource3D", scheduler)


def test_a_baker_that_leaves_while_it_works_changes_nothing(level, scheduler, physics_frames):
    baker = level.build().baker()
    scheduler.budget = 50.0
    baker.call("bake")
    physics_frames(1)
    baker.cancel()
    assert not baker.is_baking()
    baker.call("bake")
    physics_frames(1)
    scheduler.remove_child(baker)
    physics_frames(3)
    assert not baker.is_baking()
    assert children(baker, "SenseRegion3D") == {}
    scheduler.add_child(baker)


def test_boxes_without_size_and_turned_regions_are_named(node, scheduler, expect_errors, gdscript):
    expect_errors("boxes[0] must be of class AABB and have a size", times=1)
    expect_errors("is rotated or scaled, and carries no signals", times=1)
    expect_errors("has mode Graph and no SenseRegion3D", times=1)
    node("SenseManager", scheduler, mode=1)
    script = gdscript("extends RefCounted\nstatic func boxes(size): return [AABB(Vector3.ZERO, Vector3.ONE * size)]")
    node("SenseRegion3D", scheduler, boxes=script.boxes(0))
    node("SenseRegion3D", scheduler, boxes=script.boxes(1), rotation=Vector3(0, 0.5, 0))
    node("SenseSource3D", scheduler)


def test_the_drawing_of_a_region_has_all_its_boxes(node, scheduler):
    node("SenseManager", scheduler, mode=1)
    region = node("SenseRegion3D", scheduler)
    one = len(region.drawing()["region"])
    region.boxes = [AABB(0, 0, 0, 1, 1, 1), AABB(1, 0, 0, 2, 1, 1)]
    lines = region.drawing()["region"]
    assert len(lines) == 2 * one
    assert (lines.min(axis=0).tolist(), lines.max(axis=0).tolist()) == ([0, 0, 0], [3, 1, 1])
    assert region.handles() == []
