"""A wrong value of a property in a scene file is reported with the path of its node."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct, singleton

SCENE = """[gd_scene format=3]

[node name="Bob" type="Node3D"]

[node name="Go" type="HabitMoveTo" parent="."]
speed = -2.0
turn_speed = 1000.0

[node name="Look" type="HabitLookAt" parent="."]
turn_speed = "far"
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "bad.tscn"
    path.write_text(SCENE)
    return singleton("ResourceLoader").load(str(path))


def test_wrong_values_of_a_scene_are_reported_with_paths(node, scene, expect_errors):
    bob = scene.instantiate()
    expect_errors("/Bob/Go': speed must be at least 0.01, got -2.0", times=1)
    expect_errors("/Bob/Look': turn_speed needs float", times=1)
    node("Node").add_child(bob)
    assert bob.get_node("Go").speed == 3.0


def test_a_scene_that_never_enters_is_reported_when_it_is_freed(scene, expect_errors):
    bob = scene.instantiate()
    expect_errors("HabitMoveTo 'Go' (outside the tree): speed must be", times=1)
    expect_errors("HabitLookAt 'Look' (outside the tree): turn_speed needs", times=1)
    bob.free()


def test_a_node_with_a_name_is_reported_at_once(expect_errors):
    go = construct("HabitMoveTo")
    go.set("name", "Go")
    expect_errors("HabitMoveTo 'Go' (outside the tree): speed must be", times=1)
    go.set("speed", -1.0)
    go.free()
