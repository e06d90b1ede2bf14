"""Sense regions and portals in 3D, and in pixels in 2D: rooms, doors, one-way glass, cameras and air ducts."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from ai_core.senses.modality import Modality

NOTHING = {"passes_sight": False, "passes_hearing": False, "passes_smell": False}


RIGHT, LEFT = 1, -1
PX = 10.0
"""Pixels per metre in 2D."""

LENGTHS = {"sight_distance": PX, "hearing_distance": PX, "smell_distance": PX, "smell_area": 2 * PX * PX}
"""A metre, and two square metres, in pixels."""

in_2d = pytest.mark.parametrize("level", ["2D"], indirect=True)
in_2d_and_3d = pytest.mark.parametrize("level", ["3D", "2D"], indirect=True)


class Level:
    """Builds rooms of 10 m along x, portals between them, sensors and sources, in 3D or seen from above in 2D.

    Args:
        node: the fixture.
        parent: node above all of them.
        dimensions: "3D" or "2D".
    """

    def __init__(self, node, parent, dimensions):
        self.node, self.parent, self.dimensions = node, parent, dimensions
        self.is_flat = dimensions == "2D"
        self.px = PX if self.is_flat else 1.0
        settings = {"dimensions": 1, "pixels_per_meter": PX} if self.is_flat else {}
        self.manager = node("SenseManager", parent, mode=1, **settings)

    def add(self, kind, x, **settings):
        return self.node(kind + self.dimensions, self.parent, position=self.at(x), **settings)

    def at(self, x, across=0):
        """Return a position on the ground, of metres along and across the rooms."""
        return Vector2(x * PX, across * PX) if self.is_flat else Vector3(x, 0, across)

    def towards(self, side):
        """Return the rotation of a node that looks along the rooms."""
        if self.is_flat:
            return 0.0 if side == RIGHT else math.pi
        return Vector3(0, -side * math.pi / 2, 0)

    def room(self, name, x, **settings):
        size = {"size": Vector2(100, 100), "ceiling_height": 30.0} if self.is_flat else {"size": Vector3(10, 3, 10)}
        return self.add("SenseRegion", x, name=name, **{**size, **settings})

    def portal(self, name, x, first, second, **settings):
        lengths = LENGTHS if self.is_flat else {}
        return self.add("SensePortal", x, name=name, **{
            "from_region": f"../{first}", "to_region": f"../{second}", **NOTHING, **lengths, **settings})

    def eye(self, x, towards=RIGHT, **settings):
        return self.add("Sensor", x, rotation=self.towards(towards), **{
            "near_range": 0.0, "hearing_threshold": 0.1, **settings})

    def thing(self, x, **settings):
        return self.add("SenseSource", x, **settings)

    def turn(self, node, angle):
        """Turn a node about the vertical axis, to the right (rad)."""
        node.rotation = angle if self.is_flat else Vector3(0, -angle, 0)


@pytest.fixture
def level(request, node, scheduler):
    return Level(node, scheduler, getattr(request, "param", "3D"))


@in_2d_and_3d
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


@in_2d_and_3d
def test_a_camera_shows_a_far_room_on_its_screen(level, node, scheduler, physics_frames):
    level.room("Vault", 0)
    level.room("Control", 100)
    level.portal("Camera", -4, "Vault", "Control", one_way=True, passes_sight=True, is_camera=True, exit="../Screen")
    node("Node" + level.dimensions, scheduler, name="Screen", position=level.at(104))
    at_the_screen, turned_away = level.eye(102, RIGHT), level.eye(102, LEFT)
    thief = level.thing(3)
    physics_frames(3)
    assert at_the_screen.can_sense(thief)
    assert not turned_away.can_sense(thief)


@in_2d_and_3d
def test_a_mirror_shows_what_is_behind_a_sensor(level, physics_frames):
    level.room("Hall", 0)
    mirror = level.portal(
        "Mirror", 5, "Hall", "Hall", passes_sight=True, mirror_radius=0.5 * level.px,
        rotation=level.towards(LEFT))
    guard, beside = level.eye(0, RIGHT), level.eye(0, RIGHT)
    beside.position = level.at(0, 4)
    thief = level.thing(-3)
    physics_frames(3)
    assert guard.can_sense(thief)
    assert not beside.can_sense(thief)
    mirror.close()
    physics_frames(3)
    assert not guard.can_sense(thief)


@in_2d_and_3d
def test_a_gas_grenade_is_smelled_through_the_duct(level, physics_frames, signals):
    level.manager.smell_speed = 5.0 * level.px
    hall, control = level.room("Hall", 0), level.room("Control", 10)
    level.portal("Duct", 5, "Hall", "Control", passes_smell=True, smell_area=4.0 * level.px**2)
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


@in_2d_and_3d
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


@in_2d_and_3d
def test_a_sound_seems_to_come_from_the_door(level, physics_frames, signals):
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
    assert [position for *_, position, _ in sensed] == [level.at(5)] * 2
    loud, faint = (strength for _, _, strength, *_ in sensed)
    assert loud == pytest.approx(10 * 0.9**6, rel=1e-4)
    assert faint == pytest.approx(loud * 0.1, rel=1e-4)


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


@in_2d_and_3d
def test_a_region_takes_the_turned_box_of_its_shape(level, physics_frames):
    room = level.room("Hall", 0)
    shape, box = construct("CollisionShape" + level.dimensions), construct(
        "RectangleShape2D" if level.is_flat else "BoxShape3D")
    box.size = Vector2(200, 20) if level.is_flat else Vector3(20, 3, 2)
    shape.shape = box
    room.add_child(shape)
    level.turn(room, math.pi / 4)
    eye = level.eye(0)
    eye.horizontal_angle = math.tau
    inside, outside = level.thing(0), level.thing(4)
    inside.position, outside.position = level.at(5, 5), level.at(5, 1)
    physics_frames(3)
    assert eye.can_sense(inside)
    assert not eye.can_sense(outside)


@in_2d_and_3d
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


@in_2d_and_3d
def test_a_region_without_volume_is_reported_and_left_out(level, expect_errors, physics_frames):
    size = "(0.0, 5.0) px" if level.is_flat else ""
    expect_errors(f"has no volume and carries no signals: its size is {size}", times=1)
    expect_errors("leads nowhere: the region '../Flat' is not in the graph", times=1)
    level.room("Hall", 0)
    level.room("Flat", 10, size=Vector2(0, 5) if level.is_flat else Vector3(10, 0, 10))
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
    [({"to_region": "../Nowhere"}, "to_region '../Nowhere' is not a SenseRegion{}, so the portal leads nowhere"),
     ({"to_region": ""}, "to_region is not set, so the portal leads nowhere"),
     ({"to_region": "../Hall"}, "from_region and to_region are the same region; choose another SenseRegion{}"),
     ({"exit": "../Gone"}, "exit '../Gone' is not a Node{}; choose a Node{}, or clear exit")],
)
@in_2d_and_3d
def test_a_portal_to_nowhere_says_what_to_choose(level, expect_errors, settings, message):
    expect_errors(message.replace("{}", level.dimensions), times=1)
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
    expect_errors("found no SenseManager and is not used; add a SenseManager to the scene", times=1)
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


def test_freed_regions_stay_in_the_graph_until_it_is_rebuilt(
    level, scheduler, physics_frames,
):
    hall, control = level.room("Hall", 0), level.room("Control", 10)
    door = level.portal("Door", 5, "Hall", "Control", passes_sight=True, passes_smell=True)
    guard, thief = level.eye(8, LEFT), level.thing(2)
    physics_frames(3)
    thief.emit("smell", 100.0)
    state = scheduler.save_state()
    level.manager.show_in_game = True
    physics_frames(2)
    for one in (door, hall):
        one.free()
    physics_frames(60)
    assert guard.can_sense(thief)
    assert control.get_smelliest_neighbor(thief) is None
    assert scheduler.load_state(state)
    physics_frames(3)
    level.manager.free()
    physics_frames(2)
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


def test_the_wind_of_a_portal_is_its_own_or_the_managers(level, physics_frames):
    level.room("Hall", 0)
    level.room("Control", 10)
    calm = level.portal("Calm", 5, "Hall", "Control", passes_smell=True)
    fan = level.portal("Fan", 5, "Hall", "Control", passes_smell=True, wind=2.0)
    level.eye(0)
    physics_frames(2)
    level.manager.set_wind(Vector3(3, 0, 0))
    table = level.manager.core.graph.table(Modality.smell())

    def winds():
        return table.wind_m_per_s[table.from_region == 0].tolist()

    assert winds() == [3.0, 2.0]
    calm.wind, fan.wind = 2.0, 0.0
    assert winds() == [2.0, 3.0]
    calm.wind, fan.wind = 0.0, 2.0
    assert winds() == [3.0, 2.0]


def test_a_custom_smell_dissipates_and_passes_by_the_area(level, physics_frames):
    gas = construct("SenseModality")
    gas.modality_name, gas.is_slow, gas.speed = "gas", True, 1.0
    level.manager.modalities = [gas]
    hall = level.room("Hall", 0, smell_dissipation=0.5)
    level.room("Control", 10)
    level.portal("Door", 5, "Hall", "Control", smell_area=5.0, other_senses={"gas": 0.0})
    level.eye(0, other_thresholds={"gas": 0.001})
    thing = level.thing(2, other_strengths={"gas": 100.0})
    physics_frames(2)
    assert level.manager.core.graph.portals[0].passages["gas"].area_m2 == 5.0
    thing.emit("gas")
    physics_frames(2)
    first = hall.get_smell_of(thing, "gas")
    physics_frames(120)
    assert hall.get_smell_of(thing, "gas") == pytest.approx(first * 0.25, rel=0.1)


def test_trails_pass_where_smells_pass(level, physics_frames):
    level.manager.keeps_trails = True
    for name, x in (("Hall", 0), ("Control", 10), ("Vault", 20)):
        level.room(name, x)
    door = level.portal("Door", 5, "Hall", "Control", passes_smell=True)
    level.portal("Window", 15, "Control", "Vault", passes_sight=True)
    dog, cat, mouse = level.eye(4.5, smells_trails=True), *(level.thing(x, trail_strength=9.0) for x in (6, 16))
    physics_frames(30)
    assert dog.track(cat)["position"] == level.at(6)
    assert not dog.track(mouse)
    door.close()
    assert not dog.track(cat)


@in_2d_and_3d
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


@in_2d
def test_a_region_of_the_other_dimensions_says_so(level, node, scheduler, expect_errors, physics_frames):
    expect_errors("so it is not used", times=1)
    node("SenseRegion3D", scheduler)
    level.room("Hall", 0)
    level.eye(0)
    physics_frames(2)


@in_2d
def test_regions_are_drawn_and_dragged_in_pixels(level):
    room = level.room("Hall", 2)
    level.room("Control", 12)
    portal = level.portal("Door", 7, "Hall", "Control")
    lines = room.drawing()["region"]
    assert np.abs(lines).max(axis=0).tolist() == [50.0, 50.0, 0.0]
    assert np.allclose(portal.drawing()["region"][0], (-50, 0, 0))
    assert [one.name for one in room.handles()] == ["x of size", "x of size", "y of size", "y of size"]
