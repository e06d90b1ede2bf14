"""SenseGraphBaker in the plane: a flat navigation mesh becomes SenseRegion2D and SensePortal2D."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, construct
from ai_core.senses.graph.graph_file import graph_from_text


def children(baker, class_name):
    return {str(one.name): one for one in baker.get_children() if one.is_class(class_name)}


class FlatLevel:
    """Two rooms of 160 by 160 px with a corridor of 64 px between, and a SenseManager in graph mode and 2D."""

    def __init__(self, node, scheduler, physics_frames, signals):
        self.node, self.scheduler, self.physics_frames, self.signals = node, scheduler, physics_frames, signals
        self.navigation = node("NavigationRegion2D", scheduler, name="Level")
        self.walk()

    def walk(self, door=(64, 96)):
        polygon, (above, below) = construct("NavigationPolygon"), door
        corners = [(0, 0), (160, 0), (160, 160), (0, 160), (160, above), (224, above), (224, below), (160, below),
                   (224, 0), (384, 0), (384, 160), (224, 160)]
        polygon.set_vertices([Vector2(*one) for one in corners])
        for one in ((0, 1, 4, 7, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11, 6, 5)):
            polygon.add_polygon(list(one))
        polygon.agent_radius = 0.0
        self.navigation.navigation_polygon = polygon

    def manager(self, **settings):
        return self.node("SenseManager", self.scheduler, mode=1, dimensions=1, **settings)

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
def flat(node, scheduler, physics_frames, signals):
    return FlatLevel(node, scheduler, physics_frames, signals)


def test_a_flat_level_is_baked_into_a_file(flat, tmp_path):
    file = tmp_path / "flat.json"
    baker = flat.baker(file=str(file))
    assert flat.bake(baker) == (2, 1)
    graph = graph_from_text(file.read_text(encoding="utf-8"))
    assert [graph.region_at(at) for at in ((2, 2), (10, 2))] == [0, 1]
    assert children(baker, "SenseRegion2D") == {}


def test_a_flat_level_is_baked_into_regions_and_portals(flat):
    flat.manager()
    baker = flat.baker()
    assert flat.bake(baker) == (2, 1)
    regions, (door,) = children(baker, "SenseRegion2D"), children(baker, "SensePortal2D").values()
    assert list(regions) == ["Room1", "Room2"]
    assert str(door.name) == "Room1-Room2"
    assert door.get_node(door.from_region) == regions["Room1"]
    assert door.get_node(door.exit).get_class() == "Marker2D"
    assert 100 < door.global_position.x < 284
    assert door.global_position.y == pytest.approx(80, abs=9)
    assert door.smell_area == pytest.approx(32 * 96, abs=800), "as wide as the corridor, as high as the rooms"
    lines = regions["Room1"].drawing()["region"]
    assert lines[:, 0].max() - lines[:, 0].min() > 144
    assert regions["Room1"].handles() == []


def test_in_a_baked_flat_level_a_sound_comes_through_the_door(flat, node, scheduler, physics_frames, signals):
    flat.manager()
    baker = flat.baker()
    flat.bake(baker)
    ear = node("Sensor2D", scheduler, position=Vector2(300, 40), hearing_threshold=0.001)
    thief = node("SenseSource2D", scheduler, position=Vector2(40, 40))
    heard = signals(ear, "sensed")
    physics_frames(2)
    thief.emit("hearing", 10.0)
    physics_frames(10)
    (_, _, strength, position, _), = [one for one in heard if one[1] == "hearing"]
    door = baker.get_node("Room1-Room2")
    assert tuple(position) == pytest.approx(tuple(door.get_node("Exit").global_position), abs=0.01)
    door.close()
    thief.emit("hearing", 10.0)
    physics_frames(10)
    assert [one[2] for one in heard if one[1] == "hearing"][-1] < strength / 5


def test_baking_a_flat_level_again_keeps_what_the_designer_made(flat, node, scheduler):
    flat.manager()
    baker = flat.baker()
    flat.bake(baker)
    baker.get_node("Room1").name = "Hall"
    door = baker.get_node("Room1-Room2")
    door.from_region = "../Hall"
    door.hearing_kept_per_meter_closed = 0.02
    duct = node("SensePortal2D", scheduler, name="Duct", position=Vector2(190, 10), passes_sight=False,
                passes_hearing=False, from_region="../Baker/Hall", to_region="../Baker/Room2")
    before = {one.instance_id for one in baker.get_children() if not one.is_class("RayCast2D")}
    area_m2 = door.smell_area
    assert flat.bake(baker) == (2, 1)
    assert {one.instance_id for one in baker.get_children() if not one.is_class("RayCast2D")} == before
    assert list(children(baker, "SenseRegion2D")) == ["Hall", "Room2"]
    assert door.hearing_kept_per_meter_closed == pytest.approx(0.02)
    assert door.smell_area == area_m2, "and does not grow each time"
    assert duct.is_valid()
    flat.walk(door=(32, 64))
    flat.bake(baker)
    assert 32 < door.global_position.y < 64, "it is where the corridor is now"


def test_metres_of_two_lengths_are_refused(flat, expect_errors):
    expect_errors("pixels_per_meter is 32, but 10 in the SenseManager", times=1)
    flat.manager(pixels_per_meter=10.0)
    assert not flat.baker().call("bake")


def test_rectangles_without_size_and_turned_regions_are_named(node, scheduler, expect_errors, gdscript):
    expect_errors("boxes[0] must be of class Rect2 and have a size", times=1)
    expect_errors("is rotated or scaled, and carries no signals", times=1)
    expect_errors("has mode Graph and no SenseRegion2D", times=1)
    node("SenseManager", scheduler, mode=1, dimensions=1)
    script = gdscript("extends RefCounted\nstatic func boxes(size): return [Rect2(Vector2.ZERO, Vector2.ONE * size)]")
    node("SenseRegion2D", scheduler, boxes=script.boxes(0))
    node("SenseRegion2D", scheduler, boxes=script.boxes(1), rotation=0.5)
    node("SenseSource2D", scheduler)
