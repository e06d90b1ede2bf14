"""An ordered list of sight cones, as resources: the first that contains a target counts."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct


def cone(range, degrees, acuity=1.0, **settings):
    made = construct("SightCone")
    angles = {"horizontal_angle": math.radians(degrees), "vertical_angle": math.radians(min(degrees, 180))}
    for name, value in {"range": range, **angles, "acuity": acuity, **settings}.items():
        made.set(name, value)
    return made


@pytest.fixture
def eyes(node, scheduler):
    """``eyes(cones)``: a sensor at the origin that looks along -z and notices nothing close by but in its cones."""

    def made(*cones, **settings):
        class Eyes:
            manager = node("SenseManager", scheduler)
            sensor = node("Sensor3D", scheduler, sight_cones=list(cones), near_range=0.0, **settings)
            thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))

        return Eyes

    return made


def strength(world):
    return world.sensor.why(world.thing)["senses"]["sight"]["intensity"]


def test_the_first_cone_that_contains_the_target_counts(eyes, physics_frames):
    world = eyes(cone(10.0, 30, 2.0), cone(10.0, 180, 0.5))
    physics_frames(3)
    assert strength(world) == 2.0
    world.thing.position = Vector3(4, 0, -3)
    physics_frames(3)
    assert strength(world) == 0.5
    other = eyes(cone(10.0, 180, 0.5), cone(20.0, 30, 2.0))
    physics_frames(3)
    assert strength(other) == 0.5, "the wide one comes first here"


def test_without_cones_the_sensor_has_one_of_its_own(eyes, physics_frames):
    world = eyes(sight_range=8.0)
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)
    world.sensor.sight_cones = [cone(3.0, 90)]
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing)
    world.sensor.sight_cones = []
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)


def test_changing_a_shared_cone_changes_all_its_sensors(eyes, node, scheduler, physics_frames):
    shared = cone(3.0, 90)
    world = eyes(shared)
    other = node("Sensor3D", scheduler, sight_cones=[shared], position=Vector3(1, 0, 0))
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing)
    shared.range = 9.0
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)
    assert other.can_sense(world.thing)


def test_a_cone_taken_off_the_list_is_not_listened_to(eyes, physics_frames):
    first = cone(9.0, 90)
    world = eyes(first)
    world.sensor.sight_cones = [cone(3.0, 90)]
    first.range = 20.0
    physics_frames(3)
    assert first.get_signal_connection_list("changed") == []
    assert not world.sensor.can_sense(world.thing)


def test_what_is_seen_stays_seen_up_to_the_range_of_its_cone(eyes, physics_frames):
    world = eyes(cone(6.0, 90, lose_sight_range=12.0))
    physics_frames(3)
    world.thing.position = Vector3(0, 0, -11)
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)
    world.thing.position = Vector3(0, 0, -13)
    physics_frames(3)
    world.thing.position = Vector3(0, 0, -11)
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing)


def test_searching_widens_each_cone(eyes, physics_frames):
    world = eyes(cone(3.0, 170), cone(10.0, 60), searching_factor=2.0)
    world.thing.position = Vector3(5, 0, -5)
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing)
    world.sensor.is_searching = True
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)


def test_a_full_circle_as_a_scene_file_writes_it_is_one(eyes, physics_frames):
    world = eyes(cone(10.0, 30), construct("SightCone"))
    world.sensor.sight_cones[1].horizontal_angle = 6.28319
    world.thing.position = Vector3(0, 0, 5)
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)


def test_in_the_plane_a_cone_has_no_height(node, scheduler, physics_frames):
    node("SenseManager", scheduler, dimensions=1, pixels_per_meter=10.0)
    narrow = cone(90.0, 40, vertical_angle=0.01)
    sensor = node("Sensor2D", scheduler, sight_cones=[narrow, cone(40.0, 360, 0.3)], near_range=0.0)
    ahead = node("SenseSource2D", scheduler, position=Vector2(80, 8))
    beside = node("SenseSource2D", scheduler, position=Vector2(0, 30))
    far = node("SenseSource2D", scheduler, position=Vector2(0, 60))
    physics_frames(3)
    assert [sensor.can_sense(one) for one in (ahead, beside, far)] == [True, True, False]


def test_places_without_a_cone_are_named_and_the_others_count(eyes, physics_frames, expect_errors):
    expect_errors("sight_cones[0] is empty, and is ignored; choose a SightCone", times=1)
    world = eyes(None, cone(3.0, 90))
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing)


def test_a_cone_that_never_counts_is_warned_of(node, scheduler):
    warned = "sight_cones[1] has no effect: sight_cones[0], which precedes it, contains all of it"
    sensor = construct("Sensor3D")
    sensor.sight_cones = [cone(10.0, 90), cone(9.0, 30)]
    assert [one for one in sensor._get_configuration_warnings() if one.startswith(warned)]
    sensor.sight_cones = [cone(9.0, 30), cone(10.0, 90)]
    assert not [one for one in sensor._get_configuration_warnings() if "never counts" in one]
    sensor.free()


def test_they_are_drawn_with_a_handle_for_each_range_and_angle(node):
    sensor = construct("Sensor3D")
    sensor.sight_cones = [cone(10.0, 40), cone(4.0, 200)]
    names = [one.name for one in sensor.handles()]
    assert names == [
        "range of sight_cones[0]", "horizontal_angle of sight_cones[0]", "vertical_angle of sight_cones[0]",
        "range of sight_cones[1]", "horizontal_angle of sight_cones[1]", "vertical_angle of sight_cones[1]",
        "near_range"]
    sensor.handles()[3].drag(Vector3(9, 0, -6), Vector3(-1, 0, 0))
    assert sensor.sight_cones[1].range == pytest.approx(6.0)
    reach = abs(sensor.drawing()["sight"][:, 2]).max()
    assert reach == pytest.approx(10.0, abs=0.01)
    sensor.free()


def test_cones_are_saved_and_unchanged_ones_stay_shared(eyes, scheduler, physics_frames):
    first = cone(9.0, 60)
    world = eyes(first)
    physics_frames(2)
    state = scheduler.save_state()
    assert scheduler.load_state(state) is True
    assert world.sensor.sight_cones == [first]
    world.sensor.sight_cones = [cone(2.0, 60)]
    assert scheduler.load_state(state) is True
    assert world.sensor.sight_cones[0].range == 9.0
    physics_frames(3)
    assert world.sensor.can_sense(world.thing)
    world.sensor.sight_cones[0].range = 1.0
    physics_frames(3)
    assert not world.sensor.can_sense(world.thing), "what is loaded is listened to"


def test_a_saved_cone_out_of_range_changes_nothing(eyes, physics_frames, expect_errors):
    expect_errors("'sensors[0][1].sight_cones[0]': range must be at least 0, got -1", times=1)
    world = eyes(cone(9.0, 60))
    physics_frames(2)
    state = world.manager.save_state()
    state["parts"]["node"]["state"]["sensors"][0][1]["sight_cones"][0][0] = -1
    assert world.manager.call("load_state", state) is False
    assert world.sensor.sight_cones[0].range == 9.0


SCENE = """[gd_scene format=3]

[sub_resource type="SightCone" id="sharp"]
range = 30.0
horizontal_angle = 0.5
vertical_angle = 0.5

[sub_resource type="SightCone" id="all_round"]
range = 4.0
horizontal_angle = 6.28319
vertical_angle = 3.14159
acuity = 0.5

[node name="World" type="AIScheduler"]

[node name="Senses" type="SenseManager" parent="."]

[node name="Eyes" type="Sensor3D" parent="."]
sight_cones = Array[SightCone]([SubResource("sharp"), SubResource("all_round")])

[node name="Far" type="SenseSource3D" parent="."]
position = Vector3(0, 0, -25)

[node name="Behind" type="SenseSource3D" parent="."]
position = Vector3(0, 0, 3)
"""


def test_a_scene_as_the_inspector_writes_it_has_its_cones(scene, physics_frames, tmp_path):
    file = tmp_path / "eyes.tscn"
    file.write_text(SCENE)
    world = scene(str(file))
    physics_frames(3)
    eyes = world.get_node("Eyes")
    assert [eyes.can_sense(world.get_node(name)) for name in ("Far", "Behind")] == [True, True]
    hints = {one["name"]: one["hint_string"] for one in eyes.get_property_list()}
    assert hints["sight_cones"] == "24/17:SightCone"
