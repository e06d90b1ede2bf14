"""SenseRegion3D and SensePortal3D: rooms, doors, one-way glass, cameras and air ducts."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

NOTHING = {"passes_sight": False, "passes_hearing": False, "passes_smell": False}


@pytest.fixture
def level(node, scheduler):
    """Builds rooms along x, ways between them, and who is in them, below the scheduler."""

    class Level:
        manager = node("SenseManager", scheduler, mode=1)

        def room(self, name, x, **settings):
            return node("SenseRegion3D", scheduler, name=name, position=Vector3(x, 0, 0), **{
                "size": Vector3(10, 3, 10), **settings})

        def portal(self, name, x, first, second, **settings):
            return node("SensePortal3D", scheduler, name=name, position=Vector3(x, 0, 0), **{
                "from_region": f"../{first}", "to_region": f"../{second}", **NOTHING, **settings})

        def eye(self, x, towards=-math.pi / 2, **settings):
            return node("Sensor3D", scheduler, position=Vector3(x, 0, 0), rotation=Vector3(0, towards, 0), **{
                "near_range": 0.0, "hearing_threshold": 0.1, **settings})

        def thing(self, x, **settings):
            return node("SenseSource3D", scheduler, position=Vector3(x, 0, 0), **settings)

    return Level()


RIGHT, LEFT = -math.pi / 2, math.pi / 2


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


def test_a_camera_shows_a_far_room_on_its_screen(level, node, scheduler, physics_frames):
    level.room("Vault", 0)
    level.room("Control", 100)
    level.portal("Camera", -4, "Vault", "Control", one_way=True, passes_sight=True, is_camera=True, exit="../Screen")
    node("Node3D", scheduler, name="Screen", position=Vector3(104, 0, 0))
    at_the_screen, turned_away = level.eye(102, RIGHT), level.eye(102, LEFT)
    thief = level.thing(3)
    physics_frames(3)
    assert at_the_screen.can_sense(thief)
    assert not turned_away.can_sense(thief)


def test_a_mirror_shows_what_is_behind_a_sensor(level, physics_frames):
    level.room("Hall", 0)
    mirror = level.portal(
        "Mirror", 5, "Hall", "Hall", passes_sight=True, mirror_radius=0.5, rotation=Vector3(0, LEFT, 0))
    guard, beside = level.eye(0, RIGHT), level.eye(0, RIGHT)
    beside.position = Vector3(0, 0, 4)
    thief = level.thing(-3)
    physics_frames(3)
    assert guard.can_sense(thief)
    assert not beside.can_sense(thief)
    mirror.close()
    physics_frames(3)
    assert not guard.can_sense(thief)


def test_a_gas_grenade_is_smelled_through_the_duct(level, physics_frames, signals):
    level.manager.smell_speed = 5.0
    hall, control = level.room("Hall", 0), level.room("Control", 10)
    level.portal("Duct", 5, "Hall", "Control", passes_smell=True, smell_area=4.0)
    guard, grenade = level.eye(9, LEFT), level.thing(4)
    smelled = signals(guard, "sensed")
    physics_frames(2)
    grenade.emit("hearing", 50.0)
    grenade.emit("smell", 3000.0)
    physics_frames(90)
    assert {(source, modality) for source, modality, *_ in smelled} == {(grenade, "smell")}
    assert 0 < control.get_smell_of(grenade) < hall.get_smell_of(grenade)
    assert control.get_smelliest_neighbor(grenade) == hall
    assert hall.get_smelliest_neighbor(grenade) is None


def test_a_closed_door_muffles_sound_and_blocks_sight(level, physics_frames, signals):
    level.room("Hall", 0)
    level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_hearing=True, passes_sight=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    told = signals(door, "open_changed")
    sensed = signals(guard, "sensed")
    physics_frames(3)
    assert guard.can_sense(thief)
    thief.emit("hearing", 10.0)
    physics_frames(4)
    door.close()
    door.close()
    thief.emit("hearing", 10.0)
    physics_frames(4)
    loud, faint = (strength for _, modality, strength, *_ in sensed if modality == "hearing")
    assert faint == pytest.approx(loud * 0.1, rel=1e-4)
    assert not guard.can_sense(thief)
    door.open()
    assert told == [(False,), (True,)]


def test_a_sound_seems_to_come_from_the_door(level, physics_frames, signals):
    level.room("Hall", 0)
    level.room("Control", 10)
    level.portal("Door", 5, "Hall", "Control", passes_hearing=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    sensed = signals(guard, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(4)
    assert [position for *_, position, _ in sensed] == [Vector3(5, 0, 0)]


def test_the_attenuation_of_a_region_counts(level, physics_frames, signals):
    level.room("Hall", 0, hearing_kept_per_meter=0.5)
    guard, thief = level.eye(-2, RIGHT, sight_threshold=99.0), level.thing(0)
    sensed = signals(guard, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(3)
    assert [strength for _, _, strength, *_ in sensed] == [pytest.approx(10 * 0.5**2, rel=1e-4)]


@pytest.mark.parametrize(("gives_light", "is_seen"), [(False, False), (True, True)])
def test_a_lamp_is_seen_through_two_portals(level, physics_frames, gives_light, is_seen):
    for name, x in (("A", 0), ("B", 10), ("C", 20)):
        level.room(name, x)
    level.portal("First", 5, "A", "B", passes_sight=True)
    level.portal("Second", 15, "B", "C", passes_sight=True)
    eye, lamp = level.eye(18, LEFT, sight_range=60.0), level.thing(2, gives_light=gives_light)
    physics_frames(3)
    assert eye.can_sense(lamp) is is_seen


def test_a_region_takes_the_turned_box_of_its_shape(level, physics_frames):
    room = level.room("Hall", 0, size=Vector3(1, 1, 1))
    shape, box = construct("CollisionShape3D"), construct("BoxShape3D")
    box.size = Vector3(20, 3, 2)
    shape.shape = box
    room.add_child(shape)
    room.rotation = Vector3(0, -math.pi / 4, 0)
    eye = level.eye(0, math.pi / 4 + math.pi)
    inside, outside = level.thing(0), level.thing(4)
    inside.position, outside.position = Vector3(5, 0, 5), Vector3(5, 0, 1)
    eye.rotation = Vector3(0, -3 * math.pi / 4, 0)
    eye.horizontal_angle = math.tau
    physics_frames(3)
    assert eye.can_sense(inside)
    assert not eye.can_sense(outside)


def test_doors_and_smells_are_saved(level, scheduler, physics_frames, signals):
    hall = level.room("Hall", 0)
    level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_sight=True, passes_smell=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    physics_frames(3)
    door.close()
    thief.emit("smell", 300.0)
    physics_frames(3)
    state, smell = scheduler.save_state(), hall.get_smell_of(thief)
    door.open()
    told = signals(door, "open_changed")
    physics_frames(40)
    assert guard.can_sense(thief)
    assert scheduler.load_state(state)
    assert not door.is_open
    assert told == []
    assert hall.get_smell_of(thief) == smell
    physics_frames(3)
    assert not guard.can_sense(thief)
    door.open()
    physics_frames(3)
    assert guard.can_sense(thief)


def test_a_region_without_volume_is_reported_and_left_out(level, expect_errors, physics_frames):
    expect_errors("has no volume and carries no signals", times=1)
    expect_errors("leads nowhere: the region '../Flat' is not in the graph", times=1)
    level.room("Hall", 0)
    level.room("Flat", 10, size=Vector3(10, 0, 10))
    level.portal("Door", 5, "Hall", "Flat", passes_sight=True)
    eye, thing = level.eye(0, RIGHT), level.thing(3)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_a_tilted_region_is_refused(level, expect_errors):
    expect_errors("is tilted, and carries no signals", times=1)
    expect_errors("has mode Graph and no SenseRegion3D", times=1)
    level.room("Hall", 0, rotation=Vector3(0.3, 0, 0))
    level.thing(0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"to_region": "../Nowhere"}, "to_region '../Nowhere' is not a SenseRegion3D, so the portal leads nowhere"),
     ({"to_region": ""}, "to_region is not set, so the portal leads nowhere"),
     ({"to_region": "../Hall"}, "from_region and to_region are the same region"),
     ({"exit": "../Gone"}, "exit '../Gone' is not a Node3D")],
)
def test_a_portal_to_nowhere_says_what_to_choose(level, expect_errors, settings, message):
    expect_errors(message, times=1)
    level.room("Hall", 0)
    level.room("Control", 10)
    level.portal("Door", 5, "Hall", "Control", **settings)
    level.thing(0)


def test_regions_of_a_regional_manager_say_so(node, scheduler, expect_errors, physics_frames):
    expect_errors("has mode Regional; set mode to Graph", times=1)
    node("SenseManager", scheduler)
    node("SenseRegion3D", scheduler)
    physics_frames(2)


def test_what_comes_after_the_graph_was_made_is_named(level, expect_errors, physics_frames):
    expect_errors("the graph is already built", times=1)
    level.room("Hall", 0)
    level.thing(0)
    level.room("Late", 10)
    physics_frames(2)


def test_a_region_without_a_manager_says_what_to_do(node, scheduler, expect_errors, physics_frames):
    expect_errors("there is no SenseManager; add one to the scene", times=1)
    node("SenseRegion3D", scheduler)
    physics_frames(2)


def test_the_graph_cannot_change_once_it_is_made(level, gdscript, expect_errors):
    expect_errors("the graph is already built; set this before the first sensor or source joins", times=1)
    room = level.room("Hall", 0)
    level.thing(0)
    gdscript("extends RefCounted\nstatic func run(room): room.size = Vector3(1, 1, 1)").run(room)
    assert room.size == Vector3(10, 3, 10)


def test_a_scene_in_one_branch_works_and_can_be_rebuilt(scheduler, physics_frames):
    branch = construct("Node3D")
    names = ("Sensor3D", "SenseSource3D", "SensePortal3D", "SenseManager", "SenseRegion3D", "SenseRegion3D")
    eye, thing, door, manager, hall, control = (construct(name) for name in names)
    hall.name, control.name, manager.mode = "Hall", "Control", 1
    thing.position, control.position, door.position = Vector3(0, 0, -8), Vector3(0, 0, -10), Vector3(0, 0, -5)
    door.from_region, door.to_region = "../Hall", "../Control"
    for one in (eye, thing, door, manager, hall, control):
        branch.add_child(one)
    scheduler.add_child(branch)
    physics_frames(3)
    assert eye.can_sense(thing)
    door.close()
    physics_frames(3)
    assert not eye.can_sense(thing)
    scheduler.remove_child(branch)
    physics_frames(2)
    door.open()
    scheduler.add_child(branch)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_the_gas_puzzle(level, node, scheduler, physics_frames, signals):
    """The guard watches the hall through one-way glass and the vault by camera; gas through the duct reaches him."""
    level.manager.smell_speed = 10.0
    level.room("Hall", 0)
    level.room("Control", 10)
    level.room("Vault", 100, size=Vector3(6, 3, 6))
    pane = node("StaticBody3D", scheduler, position=Vector3(5, 0, 0), collision_layer=2)   # not in the sight mask
    shape, box = construct("CollisionShape3D"), construct("BoxShape3D")
    box.size = Vector3(0.1, 3, 10)
    shape.shape = box
    pane.add_child(shape)
    level.portal("Glass", 5, "Hall", "Control", one_way=True, passes_sight=True)
    level.portal("Camera", 97, "Vault", "Control", one_way=True, passes_sight=True, is_camera=True, exit="../Screen")
    node("Node3D", scheduler, name="Screen", position=Vector3(5.5, 0, 0))
    duct = level.portal("Duct", 5, "Hall", "Control", one_way=True, passes_smell=True, smell_area=4.0, is_open=False)
    guard, thief = level.eye(9, LEFT), level.eye(0, RIGHT)
    guard_himself, thief_himself, accomplice = level.thing(9.5), level.thing(0.5), level.thing(99)
    grenade = level.thing(3, sight_strength=0.0)
    sensed = signals(guard, "sensed")
    physics_frames(3)
    assert guard.can_sense(thief_himself)
    assert guard.can_sense(accomplice)
    assert not thief.can_sense(guard_himself)

    thief_himself.emit("hearing", 50.0)
    grenade.emit("smell", 3000.0)
    physics_frames(30)
    assert {modality for _, modality, *_ in sensed} == {"sight"}
    duct.open()
    physics_frames(60)
    assert (grenade, "smell") in {(source, modality) for source, modality, *_ in sensed}
    assert (thief_himself, "hearing") not in {(source, modality) for source, modality, *_ in sensed}


def test_freed_regions_stay_in_the_graph_until_it_is_rebuilt(level, scheduler, physics_frames):
    hall, control = level.room("Hall", 0), level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_sight=True, passes_smell=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    physics_frames(3)
    thief.emit("smell", 100.0)
    state = scheduler.save_state()
    for one in (door, hall):
        one.free()
    physics_frames(60)
    assert guard.can_sense(thief)
    assert control.get_smelliest_neighbor(thief) is None
    assert scheduler.load_state(state)
    physics_frames(3)
    level.manager.free()
    physics_frames(1)
    assert not guard.can_sense(thief)


def test_a_place_that_is_no_number_is_named_and_left_out(level, expect_errors, physics_frames):
    expect_errors("is ignored: its global transform holds a NaN", times=2)
    level.room("Hall", 0)
    level.room("Lost", float("nan"))
    level.room("Control", 10)
    level.portal("Door", float("nan"), "Hall", "Control", passes_sight=True)
    eye, thing = level.eye(0, RIGHT), level.thing(3)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_smell_queries_refuse_non_sources_and_unused_regions(level, expect_errors):
    expect_errors("source must be a SenseSource3D", times=2)
    expect_errors("is in no sense graph; it needs a SenseManager in graph mode", times=1)
    hall = level.room("Hall", 0)
    hall.call("get_smell_of", hall)
    thing = level.thing(0)
    hall.call("get_smell_of", hall)
    hall.call("get_smelliest_neighbor", None)
    assert hall.get_smell_of(thing) == 0.0


@pytest.fixture
def windy(level, physics_frames):
    """``windy(wind)``: gas let loose in the hall, with a wind towards the cellar; how much of it comes there."""

    def made(wind):
        class Windy:
            hall, cellar = level.room("Hall", 0), level.room("Cellar", 10)
            door = level.portal("Door", 5, "Hall", "Cellar", passes_smell=True, wind=wind)
            gas = level.thing(0, smell_strength=1000.0)

            def smelled(self):
                return self.cellar.get_smell_of(self.gas)

        physics_frames(2)
        Windy.gas.emit("smell")
        return Windy()

    return made


def test_a_wind_through_a_portal_carries_smells_one_way(windy, physics_frames):
    against = windy(-3.0)
    physics_frames(400)
    assert against.smelled() == 0
    against.door.wind = 3.0
    physics_frames(400)
    assert against.smelled() > 0


def test_wind_is_saved_and_zero_uses_the_global_wind(windy, scheduler, physics_frames):
    place = windy(0.0)
    state = scheduler.save_state()
    place.door.wind = -3.0
    blown = scheduler.save_state()
    assert scheduler.load_state(state) is True
    assert place.door.wind == 0.0
    assert scheduler.load_state(blown) is True
    assert place.door.wind == -3.0
    physics_frames(400)
    assert place.smelled() == 0
    place.door.wind = 0.0
    place.hall.get_parent().find_children("*", "SenseManager", True, False)[0].set_wind(Vector3(-3, 0, 0))
    physics_frames(400)
    assert place.smelled() == 0, "it blows against the way of the smell"
