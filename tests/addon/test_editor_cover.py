"""The button of a CoverMap bakes in the editor, into the scene, and can be undone."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

LEVEL = """\
    [gd_scene format=3]

    [node name="Level" type="Node3D"]

    [node name="AIScheduler" type="AIScheduler" parent="."]

    [node name="Ground" type="NavigationRegion3D" parent="."]

    [node name="Cover" type="CoverMap" parent="."]
    """
# A floor of 12 by 12 m, and a wall of 4 m in its middle.
BODY = """
    var level: Node = await opened("res://level.tscn")
    var ground: NavigationRegion3D = level.get_node("Ground")
    var wall := func(width: float, depth: float, height: float, y: float) -> void:
        var body := StaticBody3D.new()
        var shape := CollisionShape3D.new()
        shape.shape = BoxShape3D.new()
        shape.shape.size = Vector3(width, height, depth)
        body.add_child(shape)
        ground.add_child(body)
        body.position = Vector3(0, y, 0)
    wall.call(12.0, 12.0, 0.2, -0.1)
    wall.call(4.0, 0.4, 3.0, 1.5)
    ground.navigation_mesh = NavigationMesh.new()
    ground.navigation_mesh.geometry_parsed_geometry_type = NavigationMesh.PARSED_GEOMETRY_STATIC_COLLIDERS
    ground.bake_navigation_mesh(false)
    await frames(20)
    var cover: Node = level.get_node("Cover")
    EditorInterface.edit_node(cover)
    await frames(3)
    for one in EditorInterface.get_inspector().find_children("*", "Button", true, false):
        if one.text == "Bake cover": one.pressed.emit()
    for i in 400:
        await frames(5)
        if cover.baked.size() > 0: break
    await frames(5)
    say(cover.baked.size() >= 72 and cover.baked.size() % 9 == 0)
    for one in EditorInterface.get_inspector().find_children("*", "Label", true, false):
        if one.text.ends_with(" spots"): say(one.text == "%d spots" % (cover.baked.size() / 9))
    await undo()
    say(cover.baked.size())
    wall = Callable()
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("cover")
    make_project(project, prepared, {"level.tscn": LEVEL})
    return project


def test_the_button_bakes_and_what_was_baked_can_be_undone(project, prepared):
    assert run_in_editor(project, prepared, BODY) == ["true", "true", "0"]
