"""PollingStation: questions about the world, answered once per frame."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton


@pytest.fixture
def station(node, scheduler):
    return node("PollingStation", scheduler)


def wall_at(node, place):
    body = node("StaticBody3D", position=place)
    shape = construct("CollisionShape3D")
    box = construct("BoxShape3D")
    box.size = Vector3(4, 4, 0.5)
    shape.shape = box
    body.add_child(shape)
    return body


def test_a_wall_hides_and_an_answer_is_kept_for_the_frame(station, node, physics_frames):
    eye, thing = node("Node3D"), node("Node3D", position=Vector3(0, 0, -6))
    physics_frames(1)
    assert station.can_see(eye, thing)
    wall = wall_at(node, Vector3(0, 0, -3))
    assert station.can_see(eye, thing)
    physics_frames(2)
    assert not station.can_see(eye, thing)
    assert station.can_see(thing, eye) is False
    wall.free()
    physics_frames(2)
    assert station.can_see(eye, thing)


def test_the_targets_own_body_does_not_hide_it(station, node, physics_frames):
    eye, body = node("Node3D"), wall_at(node, Vector3(0, 0, -6))
    physics_frames(2)
    assert station.can_see(eye, body)


def test_a_custom_topic_is_computed_once_per_frame_and_key(station, physics_frames):
    asked = []
    station.add_topic("double", lambda number: asked.append(number) or number * 2)
    assert [station.poll("double", [3]), station.poll("double", [3]), station.poll("double", [4])] == [6, 6, 8]
    assert asked == [3, 4]
    physics_frames(1)
    station.poll("double", [3])
    assert asked == [3, 4, 3]
    row = next(one for one in station.get_stats() if one["code"] == "double")
    assert (row["hits"], row["computations"]) == (1, 3)


def test_invalidating_asks_again(station):
    asked = []
    station.add_topic("time", lambda: asked.append(1))
    station.poll("time")
    station.invalidate("time")
    station.poll("time")
    assert len(asked) == 2


def test_unknown_topics_and_null_nodes_are_clear_errors(station, expect_errors):
    expect_errors("unknown topic 'weather'", times=1)
    assert station.call("poll", "weather") is None
    expect_errors("can_see needs two nodes, got null", times=1)
    assert station.call("can_see", None, None) is False


def test_a_topic_that_needs_its_own_answer_names_the_cycle(station, expect_errors):
    station.add_topic("ouroboros", lambda: station.poll("ouroboros"))
    expect_errors("polling ouroboros() needs its own answer")
    station.call("poll", "ouroboros")


@pytest.fixture
def floor(node, physics_frames):
    """A flat navigation mesh of 20 by 20 m."""
    region = node("NavigationRegion3D")
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(-10, 0, -10), Vector3(10, 0, -10), Vector3(10, 0, 10), Vector3(-10, 0, 10)])
    mesh.add_polygon([0, 1, 2, 3])
    region.navigation_mesh = mesh
    map_rid = region.get_navigation_map()
    for _ in range(200):
        physics_frames(1)
        server = singleton("NavigationServer3D")
        is_synchronised = server.map_get_iteration_id(map_rid) > 0
        if is_synchronised and server.map_get_closest_point(map_rid, Vector3(5, 0, 5)).x > 4:
            return region
    raise AssertionError("the navigation map was not built within 200 frames")


def test_a_way_over_the_navigation_map_has_a_length(station, floor):
    assert station.path_length(Vector3(-5, 0, 0), Vector3(5, 0, 0)) == pytest.approx(10, abs=0.5)
    assert station.is_reachable(Vector3(-5, 0, 0), Vector3(5, 0, 0))


def test_a_place_off_the_map_is_not_reachable(station, floor):
    assert station.path_length(Vector3(-5, 0, 0), Vector3(50, 0, 0)) == -1
    assert not station.is_reachable(Vector3(-5, 0, 0), Vector3(50, 0, 0))


def test_it_answers_without_a_scheduler_too(node, frames):
    station = node("PollingStation")
    asked = []
    station.add_topic("time", lambda: asked.append(1))
    station.poll("time")
    station.poll("time")
    frames(1)
    station.poll("time")
    assert len(asked) == 2


def test_own_topics_survive_a_move(station, node):
    station.add_topic("three", lambda: 3)
    station.reparent(node("Node"))
    assert station.poll("three") == 3


def test_outside_the_tree_it_says_what_it_needs(expect_errors):
    lonely = construct("PollingStation")
    expect_errors("path_length needs a world to look at; add the PollingStation to the scene first", times=1)
    assert lonely.path_length(Vector3(), Vector3(1, 0, 0)) == -1
    lonely.free()


def test_a_topic_needs_something_to_call(station, gdscript, expect_errors):
    empty = gdscript("extends RefCounted\nstatic func it() -> Callable: return Callable()").it()
    expect_errors("add_topic needs a Callable that can be called", times=1)
    station.call("add_topic", "x", empty)
