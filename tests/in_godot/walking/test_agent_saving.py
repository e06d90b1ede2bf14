"""Walks along the path of a NavigationAgent that are saved, and loaded in a new scene."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton


@pytest.fixture
def level(node):
    """``level(period)``: a new level with a map around a corner and a walker; the one before is gone."""
    worlds = []

    def build(period):
        for one in worlds:
            one.free()
        worlds[:] = [node("SubViewport", own_world_3d=True)]
        mesh = construct("NavigationMesh")
        mesh.set_vertices([Vector3(x, 0, z) for x, z in ((0, 0), (6, 0), (6, 3), (3, 3), (3, 6), (0, 6))])
        mesh.add_polygon([0, 1, 2, 3])
        mesh.add_polygon([0, 3, 4, 5])
        node("NavigationRegion3D", worlds[0], navigation_mesh=mesh)
        ai = node("AIScheduler", worlds[0], name="AI", budget=0.0, update=1)
        actor = node("Node3D", ai, name="Bob", position=Vector3(5.5, 0, 1))
        actor.add_to_group("ai_saved")
        node("NavigationAgent3D", actor)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        tree.set("name", "Tree")
        tree.period, go.speed, go.target_point = period, 3.0, Vector3(1, 0, 5.5)
        go.set("name", "Go")
        go.arrival_distance = 0.25
        tree.add_child(go)
        actor.add_child(tree)
        return ai, actor

    return build


def wait_for_map(server, map_rid, physics_frames, place):
    """Frames take microseconds here; maps are built in real time."""
    for _ in range(100_000):
        physics_frames(1)
        if server.map_get_iteration_id(map_rid) and int(server.map_get_closest_point_owner(map_rid, place)):
            return


@pytest.mark.parametrize("period", [1, 5])
def test_a_walk_loaded_with_its_map_continues_exactly(level, physics_frames, period):
    def places(frames):
        found = []
        for _ in range(frames):
            physics_frames(1)
            found.append(tuple(actor.position))
        return found

    ai, actor = level(period)
    begin = actor.position
    for _ in range(100_000):     # frames take microseconds here; maps are built in real time
        physics_frames(1)
        if actor.position != begin:
            break
    places(20)
    state = ai.save_state()
    future = places(40)
    ai, actor = level(period)
    server, map_rid = singleton("NavigationServer3D"), actor.get_world_3d().get_navigation_map()
    wait_for_map(server, map_rid, physics_frames, Vector3())
    assert ai.load_state(state)
    assert places(40) == future
    assert actor.get_child(0).target_desired_distance == pytest.approx(0.25)


def test_a_load_undoes_what_the_walk_before_had_set(level, physics_frames):
    ai, actor = level(1)
    agent, tree = actor.get_child(0), actor.get_child(1)
    before = agent.target_desired_distance
    tree.enabled = False
    state = ai.save_state()
    tree.enabled = True
    begin = actor.position
    for _ in range(100_000):
        physics_frames(1)
        if actor.position != begin:
            break
    assert agent.target_desired_distance != before
    agent.set_path_height_offset(-0.25)         # as the walk does above a map
    assert ai.load_state(state)
    assert agent.get_path_height_offset() == 0


def test_who_stands_near_a_slow_target_stands_after_a_load(node, physics_frames):
    def build():
        world = node("SubViewport", world_2d=construct("World2D"))
        mesh = construct("NavigationPolygon")
        mesh.set_vertices([Vector2(x, y) for x, y in ((-500, -500), (500, -500), (500, 500), (-500, 500))])
        mesh.add_polygon([0, 1, 2, 3])
        node("NavigationRegion2D", world, navigation_polygon=mesh)
        ai = node("AIScheduler", world, name="AI", budget=0.0, update=1)
        target = node("Node2D", ai, name="Target", position=Vector2(45, 0))
        actor = node("CharacterBody2D", ai, name="Bob", motion_mode=1)
        node("NavigationAgent2D", actor)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        tree.set("name", "Tree")
        go.set("name", "Go")
        go.target_node, go.speed, go.keeps_following = "../../../Target", 100.0, True
        go.arrival_distance, go.follow_distance = 36.0, 60.0
        for one in (target, actor):
            one.add_to_group("ai_saved")
        tree.add_child(go)
        wait_for_map(
            singleton("NavigationServer2D"), actor.get_world_2d().get_navigation_map(), physics_frames, Vector2())
        actor.add_child(tree)
        return world, ai, target, actor

    def places(frames):
        found = []
        for _ in range(frames):
            target.position = target.position + Vector2(0.2, 0)
            physics_frames(1)
            found.append(actor.position.x)
        return found

    world, ai, target, actor = build()
    places(30)
    while target.position.x - actor.position.x < 45:
        places(1)
    state = ai.save_state()
    future = places(40)
    world.free()
    world, ai, target, actor = build()
    assert ai.load_state(state)
    assert places(40) == future == [future[0]] * 40
