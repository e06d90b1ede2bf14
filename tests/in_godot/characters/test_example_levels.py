"""The example levels of the addon, played as they are."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import singleton

pytestmark = pytest.mark.in_its_own_world


@pytest.fixture
def played(world):
    """``played("squad_3d")``: the scene in the tree; freed at the end."""
    def opened(name):
        scene = singleton("ResourceLoader").load(f"res://addons/ai_core/examples/{name}.tscn").instantiate()
        world.add_child(scene)
        scenes.append(scene)
        return scene

    scenes: list = []
    yield opened
    for scene in scenes:
        scene.free()


def test_the_guard_of_the_level_patrols_chases_and_searches(played, physics_frames):
    level = played("guard_level_3d")
    begun = []
    level.get_node("Guard/Habits").connect("habit_entered", lambda path, _reason: begun.append(path.split("/")[1]))
    for _ in range(20):
        physics_frames(60)
        if {"Patrol", "Chase", "Search"} <= set(begun):
            break
    assert {"Patrol", "Chase", "Search"} <= set(begun)


def test_the_squad_of_the_level_goes_through_the_door(played, physics_frames):
    level = played("squad_3d")
    narrowed = []
    level.get_node("AI/Patrol").connect("narrowed", lambda: narrowed.append(1))
    for _ in range(30):
        physics_frames(60)
        if level.get_node("Ann").position.x > 8:
            break
    assert level.get_node("Ann").position.x > 8
    assert narrowed


def test_near_villagers_think_more_often_than_far_ones(played, physics_frames):
    level = played("villagers_3d")
    physics_frames(180)
    rows = level.get_node("AI").call("get_stats")["behaviors"]
    runs = sorted(row["runs"] for row in rows if row["runs"] > 0)
    assert len(runs) > 900
    assert runs[-1] > 5 * runs[0]
    assert "AI of a frame" in level.get_node("Text").text
