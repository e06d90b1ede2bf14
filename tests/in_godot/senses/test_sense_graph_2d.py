"""SenseRegion2D and SensePortal2D: the sense graph of a level seen from above, in pixels."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, construct

NOTHING = {"passes_sight": False, "passes_hearing": False, "passes_smell": False}
PX = 10.0
"""Pixels per metre in these tests."""

LENGTHS = {"sight_distance": PX, "hearing_distance": PX, "smell_distance": PX, "smell_area": 2 * PX * PX}
"""A metre, and two square metres, in pixels."""

RIGHT, LEFT = 0.0, math.pi


@pytest.fixture
def level(node, scheduler):
    """Builds rooms of 10 m along x, ways between them, and who is in them; places in metres."""

    class Level:
        manager = node("SenseManager", scheduler, mode=1, dimensions=1, pixels_per_meter=PX)

        def room(self, name, x, **settings):
            return node("SenseRegion2D", scheduler, name=name, position=Vector2(x * PX, 0), **{
                "size": Vector2(10 * PX, 10 * PX), "ceiling_height": 3 * PX, **settings})

        def portal(self, name, x, first, second, **settings):
            return node("SensePortal2D", scheduler, name=name, position=Vector2(x * PX, 0), **{
                "from_region": f"../{first}", "to_region": f"../{second}", **NOTHING, **LENGTHS, **settings})

        def eye(self, x, towards=RIGHT, **settings):
            return node("Sensor2D", scheduler, position=Vector2(x * PX, 0), rotation=towards, **{
                "near_range": 0.0, "hearing_threshold": 0.1, **settings})

        def thing(self, x, **settings):
            return node("SenseSource2D", scheduler, position=Vector2(x * PX, 0), **settings)

    return Level()


def test_one_way_glass_passes_sight_one_way_and_no_sound(level, physics_frames, signals):
    level.room("Hall", 0)
    level.room("Control", 10)
    level.portal("Glass", 5, "Hall", "Control", one_way=True, passes_sight=True)
    guard, thief = level.eye(8, LEFT), level.eye(0, RIGHT)
    loud, watched = level.thing(8.5), level.thing(1)
    heard = signals(guard, "sensed")
    physics_frames(2)
    watched.emit("hearing", 50.0)
    watched.emit("smell", 500.0)
    physics_frames(60)
    assert guard.can_sense(watched)
    assert not thief.can_sense(loud)
    assert {modality for _, modality, *_ in heard} == {"sight"}


def test_a_mirror_shows_what_is_behind_a_sensor(level, physics_frames):
    level.room("Hall", 0)
    level.portal("Mirror", 5, "Hall", "Hall", passes_sight=True, mirror_radius=0.5 * PX, rotation=LEFT)
    guard, other = level.eye(0, RIGHT), level.eye(0, RIGHT)
    other.position = Vector2(0, 4 * PX)
    thief = level.thing(-3)
    physics_frames(3)
    assert guard.can_sense(thief)
    assert not other.can_sense(thief)


def test_a_sound_seems_to_come_from_the_door_it_passes(level, physics_frames, signals):
    level.room("Hall", 0)
    level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_hearing=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    sensed = signals(guard, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(4)
    door.close()
    thief.emit("hearing", 10.0)
    physics_frames(4)
    assert [position for *_, position, _ in sensed] == [Vector2(50, 0)] * 2
    loud, faint = (strength for _, _, strength, *_ in sensed)
    assert loud == pytest.approx(10 * 0.9**6, rel=1e-4)
    assert faint == pytest.approx(loud * 0.1, rel=1e-4)


def test_a_camera_shows_a_far_room_on_its_screen(level, node, scheduler, physics_frames):
    level.room("Vault", 0)
    level.room("Control", 100)
    level.portal("Camera", -4, "Vault", "Control", one_way=True, passes_sight=True, is_camera=True, exit="../Screen")
    node("Node2D", scheduler, name="Screen", position=Vector2(104 * PX, 0))
    at_the_screen, turned_away = level.eye(102, RIGHT), level.eye(102, LEFT)
    thief = level.thing(3)
    physics_frames(3)
    assert at_the_screen.can_sense(thief)
    assert not turned_away.can_sense(thief)


def test_a_gas_through_a_duct_is_smelled_and_found_again(level, physics_frames, signals):
    level.manager.smell_speed = 50.0
    hall, control = level.room("Hall", 0), level.room("Control", 10)
    level.portal("Duct", 5, "Hall", "Control", passes_smell=True, smell_area=400.0)
    guard, grenade = level.eye(9, LEFT), level.thing(4)
    smelled = signals(guard, "sensed")
    physics_frames(2)
    grenade.emit("smell", 3000.0)
    physics_frames(90)
    assert {(source, modality) for source, modality, *_ in smelled} == {(grenade, "smell")}
    assert 0 < control.get_smell_of(grenade) < hall.get_smell_of(grenade)
    assert control.get_smelliest_neighbor(grenade) == hall


def test_rooms_may_be_turned_and_take_a_collision_shape(level, physics_frames):
    room = level.room("Hall", 0)
    shape, box = construct("CollisionShape2D"), construct("RectangleShape2D")
    box.size = Vector2(200, 20)
    shape.shape = box
    room.add_child(shape)
    room.rotation = math.pi / 4
    eye = level.eye(0, math.pi / 4)
    inside, outside = level.thing(5), level.thing(5)
    inside.position, outside.position = Vector2(50, 50), Vector2(50, 20)
    physics_frames(3)
    assert eye.can_sense(inside)
    assert not eye.can_sense(outside)


def test_an_invented_sense_passes_where_it_is_named(level, physics_frames, signals):
    fear = construct("SenseModality")
    fear.modality_name = "fear"
    level.manager.modalities = [fear]
    level.room("Hall", 0, other_kept_per_meter={"fear": 0.5})
    level.room("Control", 10)
    level.portal("Wall", 5, "Hall", "Control", other_senses={"fear": 0.25})
    guard, ghost = level.eye(8, LEFT, other_thresholds={"fear": 0.01}), level.thing(4, other_strengths={"fear": 4.0})
    sensed = signals(guard, "sensed")
    physics_frames(2)
    ghost.emit("fear")
    physics_frames(3)
    assert [(modality, strength) for _, modality, strength, *_ in sensed] == [
        ("fear", pytest.approx(4.0 * 0.5 * 0.25, rel=1e-4))]


def test_an_unknown_sense_of_a_region_or_portal_is_reported(level, physics_frames, expect_errors):
    expect_errors("unknown modality 'faer'", times=2)
    level.room("Hall", 0)
    level.room("Cursed", 10, other_kept_per_meter={"faer": 0.5})
    level.room("Control", 20)
    level.portal("Wall", 5, "Hall", "Control", other_senses={"faer": 0.25})
    eye, thing = level.eye(0, RIGHT), level.thing(3)
    physics_frames(3)
    assert eye.can_sense(thing)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"to_region": "../Hall"}, "are the same region; choose another SenseRegion2D for to_region"),
     ({"to_region": "../Nowhere"}, "to_region '../Nowhere' is not a SenseRegion2D, so the portal leads nowhere"),
     ({"exit": "../Nowhere"}, "exit '../Nowhere' is not a Node2D; choose a Node2D, or clear exit")],
)
def test_a_portal_that_leads_nowhere_is_named(level, physics_frames, expect_errors, settings, message):
    expect_errors(message, times=1)
    level.room("Hall", 0)
    level.room("Control", 10)
    level.portal("Door", 5, "Hall", "Control", **settings)
    level.eye(0)


def test_a_region_without_area_is_named(level, expect_errors):
    expect_errors("has no volume and carries no signals: its size is (0.0, 5.0) px", times=1)
    level.room("Hall", 0)
    level.room("Crack", 10, size=Vector2(0, 5))
    level.eye(0)


def test_a_region_of_the_other_dimensions_says_so(level, node, scheduler, expect_errors, physics_frames):
    expect_errors("is not used: its SenseManager", times=1)
    node("SenseRegion3D", scheduler)
    level.room("Hall", 0)
    level.eye(0)
    physics_frames(2)


def test_doors_are_saved(level, scheduler, physics_frames):
    level.room("Hall", 0)
    level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_sight=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    door.close()
    physics_frames(3)
    state = scheduler.save_state()
    door.open()
    physics_frames(3)
    assert guard.can_sense(thief)
    assert scheduler.load_state(state)
    physics_frames(3)
    assert not door.is_open
    assert not guard.can_sense(thief)


def test_they_are_drawn_in_pixels_and_dragged(level):
    room = level.room("Hall", 2)
    level.room("Control", 12)
    portal = level.portal("Door", 7, "Hall", "Control")
    lines = room.drawing()["region"]
    assert np.abs(lines).max(axis=0).tolist() == [50.0, 50.0, 0.0]
    assert np.allclose(portal.drawing()["region"][0], (-50, 0, 0))
    assert [one.name for one in room.handles()] == ["x of size", "x of size", "y of size", "y of size"]
