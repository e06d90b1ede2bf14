"""Walks along the path of a NavigationAgent that are saved, and loaded in a new scene."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton


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
        tree.add_child(go)
        actor.add_child(tree)
        return ai, actor

    return build


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
    for _ in range(100_000):
        physics_frames(1)
        if server.map_get_iteration_id(map_rid) and int(server.map_get_closest_point_owner(map_rid, Vector3())):
            break
    assert ai.load_state(state)
    assert places(40) == future
