"""Whose source is whose: two managers, sources that come back, and where a sound comes from."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3


@pytest.fixture
def worlds(node, scheduler):
    """Two managers beside each other, each with a sensor and a source that have the same ids."""

    class World:
        def __init__(self, name):
            self.manager = node("SenseManager", scheduler, name=name)
            self.eye = node("Sensor3D", self.manager)
            self.thing = node("SenseSource3D", self.manager, position=Vector3(0, 0, -5))

    return World("Here"), World("There")


def test_sources_of_two_managers_differ_despite_equal_ids(worlds, physics_frames, expect_errors):
    here, there = worlds
    physics_frames(3)
    assert here.thing.source_id == there.thing.source_id
    assert here.eye.why(here.thing)["awareness"] > 0
    assert here.eye.why(there.thing) == {}
    assert list(here.eye.get_seen_parts(there.thing)) == []
    assert not here.eye.can_sense(there.thing)
    expect_errors("touch() needs a SenseSource3D of the same SenseManager", times=1)
    here.eye.call("touch", there.thing)


def test_its_own_source_is_its_own_again_when_it_comes_back(node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    own = node("SenseSource3D", scheduler, name="Own", position=Vector3(0, 0, -1))
    eye = node("Sensor3D", scheduler, self_source="../Own")
    physics_frames(2)
    scheduler.remove_child(own)
    physics_frames(2)
    scheduler.add_child(own)
    physics_frames(3)
    assert not eye.can_sense(own)
    assert eye.get_known_targets() == []


def test_an_own_source_that_returns_after_a_load_is_still_own(node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    own = node("SenseSource3D", scheduler, name="Own", position=Vector3(0, 0, -1))
    eye = node("Sensor3D", scheduler, self_source="../Own")
    physics_frames(2)
    assert scheduler.load_state(scheduler.save_state())
    scheduler.remove_child(own)
    physics_frames(2)
    scheduler.add_child(own)
    physics_frames(3)
    assert not eye.can_sense(own)


def test_an_own_source_may_join_after_others(node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    own = node("SenseSource3D", scheduler, name="Own", position=Vector3(0, 0, -1))
    eye = node("Sensor3D", scheduler, self_source="../Own")
    physics_frames(2)
    scheduler.remove_child(own)
    other = node("SenseSource3D", scheduler, position=Vector3(0, 0, -2))
    physics_frames(2)
    scheduler.add_child(own)
    physics_frames(3)
    assert eye.can_sense(other)
    assert not eye.can_sense(own)


@pytest.mark.parametrize("act", [False, True])
def test_a_sound_comes_from_where_its_source_is_in_that_moment(node, scheduler, physics_frames, signals, act):
    node("SenseManager", scheduler)
    eye = node("Sensor3D", scheduler)
    emitter = node("SenseSource3D", scheduler, sight_strength=0.0, position=Vector3(40, 0, 0), actions={"bang": 20.0})
    heard = signals(eye, "sensed")
    physics_frames(2)
    emitter.position = Vector3(3, 0, 4)
    if act:
        emitter.act("bang")
    else:
        emitter.emit("hearing", 20.0)
    physics_frames(3)
    [(_, _, strength, position, _)] = heard
    assert position == Vector3(3, 0, 4)
    assert strength == pytest.approx(20 * 0.9**5, rel=1e-3)


def test_rays_may_be_more_or_fewer_while_the_game_runs(node, scheduler, physics_frames):
    manager = node("SenseManager", scheduler)
    node("Sensor3D", scheduler)
    for k in range(5):
        node("SenseSource3D", scheduler, position=Vector3(0.2 * k, 0, -5))
    physics_frames(2)
    assert manager.get_stats()["rays_asked"] == 5
    manager.max_rays = 2
    physics_frames(2)
    assert manager.get_stats()["rays_asked"] == 2


@pytest.mark.parametrize("told", ["target_gained", "sensed", "target_lost", "target_forgotten", "awareness_changed"])
@pytest.mark.parametrize("leaves", ["manager", "scheduler"])
def test_a_listener_may_end_the_scene_and_others_hear_no_more(
    node, scheduler, gdscript, physics_frames, signals, told, leaves,
):
    manager = node("SenseManager", scheduler)
    first, second = (node("Sensor3D", lose_after=0.2, max_age=0.5) for _ in range(2))
    thing = node("SenseSource3D", position=Vector3(0, 0, -5))
    ends = node("Node")
    ends.set_script(gdscript("""
        extends Node
        var leaving: Node
        func end(_a = null, _b = null, _c = null, _d = null, _e = null):
            if leaving.is_inside_tree():
                leaving.get_parent().remove_child(leaving)
    """))
    ends.set("leaving", {"manager": manager, "scheduler": scheduler}[leaves])
    first.connect(told, ends.get("end"))
    heard = signals(second, told)
    for frames, distance_m in ((90, 5), (60, 500)):
        physics_frames(frames)
        if thing.is_valid():
            thing.position = Vector3(0, 0, -distance_m)
    physics_frames(60)
    assert not manager.is_inside_tree()
    assert heard == []
    {"manager": manager, "scheduler": scheduler}[leaves].free()


@pytest.mark.parametrize("leaves", ["manager", "scheduler"])
def test_a_sound_listener_may_end_the_scene_before_sight(
    node, scheduler, gdscript, physics_frames, signals, leaves,
):
    manager = node("SenseManager", scheduler, wall_share=0.5, sees_backgrounds=True, sky_light=0.5)
    first, second = (node("Sensor3D", hearing_threshold=0.1) for _ in range(2))
    caller = node("SenseSource3D", position=Vector3(0, 0, 5), sight_strength=0.0)
    node("SenseSource3D", position=Vector3(0, 0, -5))
    ends = node("Node")
    ends.set_script(gdscript("""
        extends Node
        var leaving: Node
        func end(_source, modality, _strength, _position, _character):
            if modality == "hearing":
                leaving.get_parent().remove_child(leaving)
    """))
    ends.set("leaving", {"manager": manager, "scheduler": scheduler}[leaves])
    first.connect("sensed", ends.get("end"))
    physics_frames(3)
    heard = signals(second, "sensed")
    caller.emit("hearing", 5.0)
    physics_frames(60)
    assert not manager.is_inside_tree()
    assert [modality for _, modality, *_ in heard if modality == "hearing"] == []
    {"manager": manager, "scheduler": scheduler}[leaves].free()


def test_who_hears_that_a_clue_faded_may_end_the_scene(node, scheduler, gdscript, physics_frames):
    manager = node("SenseManager", scheduler)
    node("Sensor3D")
    clue = node("SenseSource3D", position=Vector3(0, 0, -5), lifetime=0.1)
    ends = node("Node")
    ends.set_script(gdscript("""
        extends Node
        var leaving: Node
        func end():
            leaving.free()
    """))
    ends.set("leaving", manager)
    clue.connect("faded", ends.get("end"))
    physics_frames(20)
    assert not manager.is_valid()


@pytest.mark.parametrize("first", [0, 1])
def test_a_world_in_2d_beside_one_in_3d_has_a_manager_of_its_own(node, scheduler, physics_frames, first):
    for dimensions in (first, 1 - first):
        node("SenseManager", scheduler, dimensions=dimensions)
    eye, thing = node("Sensor3D"), node("SenseSource3D", position=Vector3(0, 0, -5))
    flat_eye, flat_thing = node("Sensor2D"), node("SenseSource2D", position=Vector2(100, 0))
    physics_frames(3)
    assert eye.can_sense(thing)
    assert flat_eye.can_sense(flat_thing)


def test_a_sensor_without_a_fitting_manager_joins_a_later_one(
    node, scheduler, frames, physics_frames, expect_errors,
):
    node("SenseManager", scheduler)
    expect_errors("is 2D, but its SenseManager", times=2)
    eye, thing = node("Sensor2D"), node("SenseSource2D", position=Vector2(100, 0))
    frames(2)
    node("SenseManager", scheduler, dimensions=1)
    physics_frames(3)
    assert eye.can_sense(thing)


@pytest.mark.parametrize("kind", ["2D", "3D"])
def test_sensors_and_sources_keep_to_the_world_of_their_manager(node, scheduler, physics_frames, expect_errors, kind):
    def world():
        return node("SubViewport", scheduler, own_world_3d=True)

    def pair(below):
        thing = node(f"SenseSource{kind}", below)
        return node(f"Sensor{kind}", below, near_range=5.0), thing

    here, there, nowhere = world(), world(), world()
    for one in (here, there):
        node("SenseManager", one, dimensions=0 if kind == "3D" else 1)
    (eye, thing), (other_eye, other) = pair(here), pair(there)
    expect_errors(f"in another World{kind} than its SenseManager", times=2)
    lost_eye, lost = pair(nowhere)
    physics_frames(4)
    assert eye.can_sense(thing)
    assert other_eye.can_sense(other)
    assert not eye.can_sense(other)
    assert not eye.can_sense(lost)
    assert lost_eye.get_known_targets() == []


def test_a_member_moved_to_a_level_that_loads_reports_nothing(node, scheduler, physics_frames):
    manager = node("SenseManager", scheduler)
    player = node("Node3D", manager)
    eye = node("Sensor3D", player)
    physics_frames(3)
    manager.remove_child(player)
    manager.free()
    scheduler.add_child(player)
    physics_frames(60)
    manager = node("SenseManager", scheduler)
    physics_frames(2)
    assert eye.sense_manager == manager


def test_members_that_lose_their_manager_report_it_once(node, scheduler, physics_frames, expect_errors):
    manager = node("SenseManager", scheduler)
    node("Sensor3D", scheduler, name="Eye")
    node("SenseSource3D", scheduler)
    physics_frames(3)
    manager.free()
    physics_frames(200)         # as long as a level may load
    expect_errors("Eye': has had no SenseManager for 5 s and senses nothing; add a SenseManager to the scene", times=1)
    physics_frames(600)


def test_members_moved_out_of_their_level_report_it_once(node, scheduler, physics_frames, expect_errors):
    manager = node("SenseManager", scheduler)
    players = [node("Node3D", manager) for _ in range(3)]
    for player in players:
        node("Sensor3D", player)
        node("SenseSource3D", player)
    physics_frames(3)
    for player in players:
        manager.remove_child(player)
    manager.free()
    for player in players:
        scheduler.add_child(player)
    expect_errors("has had no SenseManager for 5 s and", times=1)
    physics_frames(600)


def test_each_loss_of_a_manager_has_its_own_time(node, scheduler, physics_frames, expect_errors):
    node("Sensor3D", scheduler)
    for _ in range(3):              # levels that load for three seconds each
        manager = node("SenseManager", scheduler)
        physics_frames(2)
        manager.free()
        physics_frames(180)
    expect_errors("has had no SenseManager for 5 s and", times=1)
    physics_frames(180)


@pytest.mark.parametrize("frames", [0, 60])
def test_members_that_get_another_manager_report_nothing(node, scheduler, physics_frames, frames):
    manager = node("SenseManager", scheduler)
    eye = node("Sensor3D", scheduler)
    inner = node("SenseSource3D", manager)
    physics_frames(3)
    manager.free()
    if frames:
        physics_frames(frames)
    other = node("SenseManager", scheduler)
    physics_frames(500)
    assert eye.sense_manager == other
    assert not inner.is_valid()


def test_who_loses_its_manager_joins_another_that_is_there(node, scheduler, physics_frames):
    first = node("SenseManager", scheduler, name="First")
    eyes, thing = node("Sensor3D"), node("SenseSource3D", node("Node3D", position=Vector3(0, 0, -5)))
    physics_frames(2)
    second = node("SenseManager", scheduler, name="Second")
    first.free()
    physics_frames(4)
    assert (eyes.has_manager, thing.has_manager) == (True, True)
    assert second.get_stats()["sensors"] == 1
    assert eyes.get_known_targets()
