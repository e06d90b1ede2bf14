"""HabitMoveTo by a navigation agent, over a map that lies above the floor, as meshes are baked."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton

MAP_M = 0.5


@pytest.fixture
def world(node, physics_frames):
    """A world of its own, with 6 by 6 m to walk on."""
    world, mesh = node("SubViewport", own_world_3d=True), construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, MAP_M, z) for x, z in ((0, 0), (6, 0), (6, 6), (0, 6))])
    mesh.add_polygon([0, 1, 2, 3])
    region = node("NavigationRegion3D", world, navigation_mesh=mesh)
    server, map_rid = singleton("NavigationServer3D"), region.get_navigation_map()
    for _ in range(100_000):     # frames take microseconds here; maps are built in real time
        physics_frames(1)
        if server.map_get_iteration_id(map_rid) and int(server.map_get_closest_point_owner(map_rid, Vector3())):
            return world
    raise AssertionError("the navigation map was not built")


@pytest.fixture
def walk(node, world, physics_frames, signals):
    """Lets somebody walk; returns how it ended, and where."""

    def walked(goal, arrival_m):
        actor = node("Node3D", node("AIScheduler", world, budget=0.0), position=Vector3(5, MAP_M, 1))
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        go.target_point, go.speed, go.arrival_distance, go.cooldown = goal, 6.0, arrival_m, 1e6
        actor.add_child(construct("NavigationAgent3D"))
        ends = signals(go, "exited")
        tree.add_child(go)
        actor.add_child(tree)
        for _ in range(300):
            physics_frames(1)
            if ends:
                break
        return ends, actor.position

    return walked


@pytest.mark.parametrize("arrival_m", [0.6, 0.3, 0.1])
def test_it_arrives_right_above_a_goal_on_the_floor(walk, arrival_m):
    ends, place = walk(Vector3(1, 0, 5), arrival_m)
    assert ends == [(1,)]
    assert math.dist((place.x, place.z), (1, 5)) <= arrival_m


def test_a_goal_beside_the_map_is_not_reached(walk):
    ends, place = walk(Vector3(1, 0, 8), 0.3)
    assert ends == [(2,)]
    assert place.z > 4.9


@pytest.mark.parametrize("start", [Vector3(), Vector3(0.2, MAP_M, 0.1)])
def test_near_the_worlds_origin_it_waits_for_its_way_too(node, physics_frames, signals, start):
    world, mesh = node("SubViewport", own_world_3d=True), construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, MAP_M, z) for x, z in ((0, 0), (6, 0), (6, 6), (0, 6))])
    mesh.add_polygon([0, 1, 2, 3])
    actor = node("Node3D", node("AIScheduler", world, budget=0.0), position=start)
    tree, go = construct("HabitTree"), construct("HabitMoveTo")
    go.target_point, go.speed, go.arrival_distance, go.cooldown = Vector3(5, 0, 5), 6.0, 0.6, 1e6
    actor.add_child(construct("NavigationAgent3D"))
    ends = signals(go, "exited")
    tree.add_child(go)
    actor.add_child(tree)
    physics_frames(3)
    node("NavigationRegion3D", world, navigation_mesh=mesh)
    for _ in range(100_000):     # frames take microseconds here; maps are built in real time
        physics_frames(1)
        if ends:
            break
    assert ends == [(1,)]
    assert math.dist((actor.position.x, actor.position.z), (5, 5)) <= 0.6
