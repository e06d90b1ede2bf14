"""Who runs into a source, or is run into, feels it: no line of code."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct

KINDS = ("Area3D", "CharacterBody3D", "RigidBody3D")


@pytest.fixture
def body(node, scheduler):
    """``body(kind, x)``: a ball of 1 m, or in 2D of 1 m of 10 pixels."""

    def made(kind, x, **settings):
        flat = kind.endswith("2D")
        settings.setdefault("position", Vector2(10 * x, 0) if flat else Vector3(x, 0, 0))
        if kind.startswith("RigidBody"):
            settings.setdefault("gravity_scale", 0.0)
        one = node(kind, scheduler, **settings)
        shape = construct("CollisionShape2D" if flat else "CollisionShape3D")
        shape.shape = construct("CircleShape2D" if flat else "SphereShape3D")
        shape.shape.radius = 5.0 if flat else 0.5
        one.add_child(shape)
        return one

    return made


@pytest.fixture
def place(node, scheduler, signals):
    """``place(of_sensor, of_source)``: a blind sensor and a source, children of these bodies."""

    def made(of_sensor, of_source, dimensions=3, **settings):
        class Place:
            manager = node("SenseManager", scheduler, dimensions=3 - dimensions, pixels_per_meter=10.0, **settings)
            sensor = node(f"Sensor{dimensions}D", of_sensor, sight_threshold=99.0)
            source = node(f"SenseSource{dimensions}D", of_source, touch_strength=0.7)

        Place.sensed = signals(Place.sensor, "sensed")
        return Place

    return made


def touches(world):
    return [(who, strength) for who, what, strength, *_ in world.sensed if what == "touch"]


@pytest.fixture
def bump(physics_frames):
    """Let a body come along the x axis, 2 m in a second, as its kind does."""

    def go(one, frames=60):
        flat = one.get_class().endswith("2D")
        way = Vector2(-20, 0) if flat else Vector3(-2, 0, 0)
        for _ in range(frames):
            if one.is_class("CharacterBody3D") or one.is_class("CharacterBody2D"):
                one.velocity = way
                one.move_and_slide()
            elif one.get_class().startswith("RigidBody"):
                one.linear_velocity = way
            else:
                one.position = one.position + way * (1 / 60)
            physics_frames(1)

    return go


@pytest.mark.parametrize("mover", KINDS)
@pytest.mark.parametrize("stander", KINDS)
def test_a_source_that_comes_is_felt_once(body, place, bump, mover, stander):
    world = place(body(stander, 0), comes := body(mover, 1.6))
    bump(comes, 10)
    assert touches(world) == []
    bump(comes, 25)
    assert touches(world)[:1] == [(world.source, pytest.approx(0.7))]
    assert world.sensor.get_last_sensation()["tag"] == "collision"
    assert len(touches(world)) <= 3, "not every frame"
    assert world.sensor.get_known_targets()[0]["target"] == world.source


@pytest.mark.parametrize("mover", KINDS)
def test_who_runs_into_a_source_feels_it(body, place, bump, mover):
    world = place(comes := body(mover, 1.6), body("StaticBody3D", 0))
    bump(comes, 35)
    assert touches(world)[:1] == [(world.source, pytest.approx(0.7))]


@pytest.mark.parametrize("mover", ["Area2D", "CharacterBody2D", "RigidBody2D"])
@pytest.mark.parametrize("stander", ["Area2D", "CharacterBody2D", "RigidBody2D"])
def test_in_the_plane_the_same(body, place, bump, mover, stander):
    world = place(body(stander, 0), comes := body(mover, 1.6), dimensions=2)
    bump(comes, 35)
    assert touches(world)[:1] == [(world.source, pytest.approx(0.7))]


def test_who_is_touched_again_later_feels_it_again(body, place, physics_frames):
    world = place(body("Area3D", 0), comes := body("Area3D", 5))
    for x in (0.5, 5, 0.5):
        comes.position = Vector3(x, 0, 0)
        physics_frames(20)
    assert len(touches(world)) == 2


def test_floors_and_walls_that_are_no_sources_are_not_felt(body, place, bump):
    world = place(comes := body("CharacterBody3D", 1.6), body("StaticBody3D", 9))
    body("StaticBody3D", 0)
    bump(comes, 35)
    assert touches(world) == []


@pytest.mark.parametrize("settings", [{"feels_collisions": False}, {}])
def test_it_can_be_switched_off_for_all_or_for_one_source(body, place, bump, settings):
    world = place(body("CharacterBody3D", 0), comes := body("CharacterBody3D", 1.6), **settings)
    if not settings:
        world.source.touch_strength = 0.0
    bump(comes, 35)
    assert touches(world) == []


def test_nobody_feels_what_it_is_itself(body, node, place, bump):
    one = body("CharacterBody3D", 1.6)
    world = place(one, one)
    body("StaticBody3D", 0)
    bump(one, 35)
    assert touches(world) == []


def test_a_body_or_source_that_is_freed_is_not_felt_any_more(body, place, bump, physics_frames):
    world = place(body("CharacterBody3D", 0), comes := body("CharacterBody3D", 1.6))
    other = body("Area3D", 0)
    other.queue_free()
    bump(comes, 10)
    comes.queue_free()
    physics_frames(3)
    assert touches(world) == []
    assert not comes.is_valid()


def test_a_removed_sensor_stops_listening_until_it_returns(body, place, scheduler, bump):
    area = body("Area3D", 0)
    world = place(area, comes := body("Area3D", 1.6))
    area.remove_child(world.sensor)
    assert area.get_signal_connection_list("area_entered") == []
    bump(comes, 35)
    area.add_child(world.sensor)
    assert len(area.get_signal_connection_list("area_entered")) == 1
    assert touches(world) == []


@pytest.mark.parametrize("mover", KINDS)
def test_a_body_feels_as_long_as_a_sensor_is_in_it(body, place, node, bump, signals, mover):
    world = place(comes := body(mover, 1.6), body("StaticBody3D", 0))
    other = node("Sensor3D", comes, sight_threshold=99.0)
    own = node("SenseSource3D", comes)
    bump(comes, 2)
    for one in (other, own):
        one.free()
    late = signals(node("Sensor3D", comes, sight_threshold=99.0), "sensed")      # in the row of the one that left
    bump(comes, 33)
    assert touches(world)[:1] == [(world.source, pytest.approx(0.7))]
    assert [who for who, what, *_ in late if what == "touch"][:1] == [world.source]


def test_a_load_after_others_have_left_leaves_nobody_numb(body, place, node, scheduler, bump, physics_frames):
    early = [node("Sensor3D", scheduler), node("SenseSource3D", scheduler, sight_strength=0.0)]
    world = place(comes := body("CharacterBody3D", 1.6), body("CharacterBody3D", 0))
    physics_frames(2)
    for one in early:
        one.free()
    physics_frames(2)
    assert scheduler.load_state(scheduler.save_state())
    bump(comes, 35)
    assert touches(world)[:1] == [(world.source, pytest.approx(0.7))]
    assert world.sensor.get_known_targets()[0]["target"] == world.source


def test_a_load_of_an_earlier_save_leaves_nobody_numb(body, place, scheduler, physics_frames):
    world = place(body("Area3D", 0), comes := body("Area3D", 5))
    physics_frames(2)
    state = scheduler.save_state()
    physics_frames(60)
    comes.position = Vector3(0.5, 0, 0)
    physics_frames(5)
    assert len(touches(world)) == 1
    comes.position = Vector3(5, 0, 0)
    physics_frames(5)
    assert scheduler.load_state(state)
    comes.position = Vector3(0.5, 0, 0)
    physics_frames(5)
    assert len(touches(world)) == 2


@pytest.mark.parametrize("stander", ["Area3D", "CharacterBody3D"])
def test_a_recent_contact_is_not_felt_again_after_loading(
    body, place, bump, scheduler, stander
):
    world = place(body(stander, 0), comes := body("CharacterBody3D", 1.6))
    while not touches(world):
        bump(comes, 1)
    felt = len(touches(world))
    state = scheduler.save_state()
    assert scheduler.load_state(state)
    bump(comes, 5)
    assert len(touches(world)) == felt


def test_a_contact_since_the_last_ai_frame_survives_loading(body, place, scheduler, physics_frames):
    world = place(body("Area3D", 0), comes := body("Area3D", 5))
    physics_frames(2)
    scheduler.update = scheduler.Update.MANUAL
    comes.position = Vector3(0.5, 0, 0)
    physics_frames(5)
    state = scheduler.save_state()
    assert touches(world) == []
    scheduler.step(1 / 60)
    assert touches(world) == [(world.source, pytest.approx(0.7))]
    assert scheduler.load_state(state)
    scheduler.step(1 / 60)
    assert len(touches(world)) == 2


def test_malformed_saved_touches_are_refused(body, place, bump, scheduler):
    world = place(body("CharacterBody3D", 0), comes := body("CharacterBody3D", 1.6))
    while not touches(world):
        bump(comes, 1)
    snapshot = world.manager.save_state()
    state = snapshot["parts"]["node"]["state"]
    felt = state["felt"]

    def load(changed):
        part = {**snapshot["parts"]["node"], "state": changed}
        return world.manager.load_state({**snapshot, "parts": {**snapshot["parts"], "node": part}})

    assert len(felt["delivered"]) == 1
    assert load({**state, "felt": {"version": 1, "delivered": []}})
    for wrong in ({**felt, "delivered": [[1, 2]]}, {**felt, "delivered": [["a", 0.0]]}, {**felt, "more": 1}):
        with pytest.raises(Exception, match="felt"):
            load({**state, "felt": wrong})
