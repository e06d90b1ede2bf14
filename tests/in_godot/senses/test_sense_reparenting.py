"""Sensors and sources that are moved to another parent, as into a vehicle: memories of them, and their own, stay."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

SIGNALS = ("target_gained", "target_lost", "target_forgotten", "awareness_changed")


@pytest.fixture
def world(node, scheduler, signals, physics_frames):
    """A guard who is alert because of a thief, each below a node of its own, and a vehicle."""

    class World:
        manager = node("SenseManager", scheduler)
        guard, thief, vehicle = (node("Node3D", scheduler, name=name) for name in ("Guard", "Thief", "Vehicle"))
        skin = node("SenseSource3D", guard, name="Skin")
        eye = node("Sensor3D", guard, name="Eye", self_source="../Skin", awareness_gain=10.0, lose_after=0.5)
        thing = node("SenseSource3D", thief, name="Thing", position=Vector3(0, 0, -5))

    World.told = {name: signals(World.eye, name) for name in SIGNALS}
    physics_frames(30)
    assert World.eye.why(World.thing)["level_name"] == "alert"
    for told in World.told.values():
        told.clear()
    return World


@pytest.mark.parametrize("who", ["thief", "guard"])
def test_a_source_moved_into_a_vehicle_stays_known(world, physics_frames, who):
    known = world.eye.recall(world.thing)["first_sensed_age_s"]
    getattr(world, who).reparent(world.vehicle)
    physics_frames(6)
    assert world.eye.can_sense(world.thing)
    assert world.eye.recall(world.thing)["first_sensed_age_s"] == pytest.approx(known + 0.1)
    assert world.eye.why(world.thing)["level_name"] == "alert"
    assert not world.eye.can_sense(world.skin)
    assert list(world.told.values()) == [[], [], [], []]
    stats = world.manager.get_stats()
    assert (stats["sensors"], stats["sources"]) == (1, 2)


def test_a_source_moved_out_of_its_body_is_hidden_by_it(world, physics_frames):
    body, shape = construct("StaticBody3D"), construct("CollisionShape3D")
    shape.shape = construct("BoxShape3D")
    body.add_child(shape)
    body.position = Vector3(0, 0, -5)
    world.vehicle.add_child(body)
    world.thing.reparent(body)
    physics_frames(6)
    assert world.eye.can_sense(world.thing)
    world.thing.reparent(world.thief)
    physics_frames(6)
    assert not world.eye.can_sense(world.thing)


def test_a_returning_sensor_has_new_settings_and_a_new_path(world, scheduler, physics_frames):
    parent = world.thief.get_parent()
    parent.remove_child(world.thief)
    world.thing.affiliation = 4
    world.thing.name = "Other"
    parent.add_child(world.thief)
    world.eye.detection_mask = 3
    physics_frames(40)
    assert world.told["target_lost"] == [(world.thing, Vector3(0, 0, -5), world.thing.get_parent())]
    state = scheduler.save_state()
    world.eye.detection_mask = 7
    physics_frames(10)
    assert world.told["target_gained"] == [(world.thing, world.thing.get_parent())]
    assert scheduler.load_state(state)
    assert not world.eye.can_sense(world.thing)


@pytest.mark.parametrize("later", [1, 60])
def test_who_comes_back_after_a_frame_of_ai_is_another_one(world, physics_frames, later):
    parent = world.thief.get_parent()
    parent.remove_child(world.thief)
    physics_frames(later)
    parent.add_child(world.thief)
    physics_frames(60)
    assert world.told["target_gained"] == [(world.thing, world.thing.get_parent())]
    assert world.told["target_lost"][0][0] is None


def test_a_freed_sensor_is_not_counted_and_hears_nothing(world, physics_frames):
    world.thing.free()
    assert world.manager.get_stats()["sources"] == 1
    world.eye.free()
    assert world.manager.get_stats()["sensors"] == 0
    physics_frames(60)
    assert list(world.told.values()) == [[], [], [], []]


def test_a_grenade_that_is_freed_as_it_bursts_is_heard_as_null(world, node, scheduler, signals, physics_frames):
    grenade = node("SenseSource3D", scheduler, position=Vector3(0, 0, 9))
    physics_frames(2)
    heard = signals(world.eye, "sensed")
    grenade.emit("hearing", 50.0)
    grenade.free()
    physics_frames(10)
    assert [(source, place) for source, modality, _, place, _ in heard if modality == "hearing"] == [
        (None, Vector3(0, 0, 9))]
    assert world.told["target_gained"] == [(None, None)]


def test_reparenting_inside_a_signal_keeps_what_is_known(world, physics_frames):
    moved = []

    def move(*_):
        if not moved:
            moved.append(True)
            world.guard.reparent(world.vehicle)
            world.thing.sight_strength = 0.0

    known = world.eye.recall(world.thing)["first_sensed_age_s"]
    world.eye.connect("sensed", move)
    physics_frames(90)
    assert moved
    assert world.eye.recall(world.thing)["first_sensed_age_s"] == pytest.approx(known + 1.5)
    assert world.told["target_gained"] == []
    assert not world.eye.can_sense(world.skin)


@pytest.mark.parametrize("who", ["other", "thing"])
@pytest.mark.parametrize("told", ["sensed", "target_gained"])
def test_a_listener_may_free_the_next_sensor_or_the_source(
    node, scheduler, world, physics_frames, signals, told, who,
):
    other = node("Sensor3D", scheduler)
    world.thing.sight_strength = 0.0
    physics_frames(40)
    leaving, heard = {"other": other, "thing": world.thing}[who], signals(other, told)
    world.eye.connect(told, lambda *_: leaving.free() if leaving.is_valid() else None)
    heard.clear()
    world.thing.sight_strength = 1.0
    physics_frames(30)
    assert not leaving.is_valid()
    assert {source for source, *_ in heard if source != world.skin} <= {None}      # of what is gone
    stats = world.manager.get_stats()
    assert (stats["sensors"], stats["sources"]) == {"other": (1, 2), "thing": (2, 1)}[who]
