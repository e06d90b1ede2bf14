"""Who walks by ticket walks on along the same way in a scene that is built anew."""
from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import NodePath, Rect2i, Vector2, Vector2i, Vector3, construct


@pytest.fixture
def build(node):
    """Builds a scene: a walker, and ways over 9 by 7 points of 10 px with a wall down to the last row."""

    def built():
        grid = construct("AStarGrid2D")
        grid.region = Rect2i(0, 0, 9, 7)
        grid.cell_size = Vector2(10, 10)
        grid.update()
        for row in range(6):
            grid.set_point_solid(Vector2i(4, row))
        scheduler = node("AIScheduler", budget=0.0, name="AI")
        ways = node("PathService", scheduler, name="Paths")
        ways.set_grid_from(grid)
        actor = node("Node2D", scheduler, name="Walker")
        actor.add_to_group("ai_saved")
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        tree.name, go.name, go.speed, go.arrival_distance = "Day", "go", 200.0, 1.0
        go.target_point, go.paths = Vector3(80, 0, 0), NodePath("../../../Paths")
        tree.add_child(go)
        actor.add_child(tree)
        return SimpleNamespace(scheduler=scheduler, ways=ways, actor=actor)

    return built


def places(scene, physics_frames, count):
    gone = []
    for _ in range(count):
        physics_frames(1)
        gone.append(tuple(scene.actor.position))
    return gone


def test_in_a_rebuilt_scene_a_body_walks_on_unchanged(build, physics_frames):
    scene = build()
    places(scene, physics_frames, 25)
    state = json.loads(json.dumps(scene.scheduler.save_state()))
    expected = places(scene, physics_frames, 20)
    searches = scene.ways.get_stats()["searches"]
    scene.scheduler.free()
    scene = build()
    assert scene.scheduler.load_state(state)
    assert places(scene, physics_frames, 20) == expected
    assert scene.ways.get_stats()["searches"] == searches
    assert scene.ways.get_stats()["tickets"] == 1
