"""The button of a SenseGraphBaker bakes in the editor, and can be undone."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

LEVEL = """\
    [gd_scene format=3]

    [node name="Level" type="Node3D"]

    [node name="AIScheduler" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AIScheduler"]
    mode = 1

    [node name="Ground" type="NavigationRegion3D" parent="."]

    [node name="Baker" type="SenseGraphBaker" parent="."]
    """
# Three rooms of 6 by 6 m along x, with doors between.
BODY = """
    var level: Node = await opened("res://level.tscn")
    var ground: NavigationRegion3D = level.get_node("Ground")
    var wall := func(x: float, z: float, width: float, depth: float, height := 3.0, y := 1.5) -> void:
        var body := StaticBody3D.new()
        var shape := CollisionShape3D.new()
        shape.shape = BoxShape3D.new()
        shape.shape.size = Vector3(width, height, depth)
        body.add_child(shape)
        ground.add_child(body)
        body.position = Vector3(x, y, z)
    wall.call(9.0, 3.0, 19.0, 7.0, 0.2, -0.1)
    for x in [-0.1, 18.1]: wall.call(x, 3.0, 0.2, 6.4)
    for z in [-0.1, 6.1]: wall.call(9.0, z, 18.4, 0.2)
    for x in [6.0, 12.0]:
        wall.call(x, 1.0, 0.2, 2.0)
        wall.call(x, 5.0, 0.2, 2.0)
    ground.navigation_mesh = NavigationMesh.new()
    ground.navigation_mesh.geometry_parsed_geometry_type = NavigationMesh.PARSED_GEOMETRY_STATIC_COLLIDERS
    ground.bake_navigation_mesh(false)
    await frames(20)
    var baker: Node = level.get_node("Baker")
    EditorInterface.edit_node(baker)
    await frames(3)
    for one in EditorInterface.get_inspector().find_children("*", "Button", true, false):
        if one.text == "Bake sense graph": one.pressed.emit()
    for i in 400:
        await frames(5)
        if baker.get_child_count() > 0: break
    await frames(5)
    var names := func() -> Array: return baker.get_children().map(func(one: Node) -> String: return one.name)
    say(names.call())
    say([baker.get_child(0).owner == level, baker.get_child(0).get_class()])
    for one in EditorInterface.get_inspector().find_children("*", "Label", true, false):
        if " new" in one.text: say(one.text)
    await undo()
    say(names.call())
    get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(level)).redo()
    await frames(3)
    say(names.call())
    wall = Callable()
    names = Callable()
"""
PRESS = BODY[BODY.index('    var baker: Node'):].replace("    wall = Callable()\n", "")

FLAT = """\
    [gd_scene format=3]

    [node name="Level" type="Node2D"]

    [node name="AIScheduler" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AIScheduler"]
    mode = 1
    dimensions = 1

    [node name="Ground" type="NavigationRegion2D" parent="."]

    [node name="Baker" type="SenseGraphBaker" parent="."]
    """
# Two rooms of 5 by 5 m with a corridor between.
FLAT_GROUND = """
    var level: Node = await opened("res://flat.tscn")
    var mesh := NavigationPolygon.new()
    mesh.vertices = PackedVector2Array([
        Vector2(0, 0), Vector2(160, 0), Vector2(160, 160), Vector2(0, 160),
        Vector2(160, 64), Vector2(224, 64), Vector2(224, 96), Vector2(160, 96),
        Vector2(224, 0), Vector2(384, 0), Vector2(384, 160), Vector2(224, 160)])
    for one in [[0, 1, 4, 7, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11, 6, 5]]: mesh.add_polygon(PackedInt32Array(one))
    mesh.agent_radius = 0.0
    level.get_node("Ground").navigation_polygon = mesh
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("baking")
    make_project(project, prepared, {"level.tscn": LEVEL, "flat.tscn": FLAT})
    return project


def test_the_button_bakes_and_what_was_baked_can_be_undone(project, prepared):
    said = run_in_editor(project, prepared, BODY)
    names = '["Room1", "Room2", "Room3", "Room1-Room2", "Room2-Room3", "Room1 sees Room3"]'
    assert said[0] == names
    assert said[1] == '[true, "SenseRegion3D"]'
    assert "6 new" in said[2]
    assert said[3:] == ["[]", names]


def test_a_flat_level_is_baked_into_nodes_of_the_plane(project, prepared):
    said = run_in_editor(project, prepared, FLAT_GROUND + PRESS)
    names = '["Room1", "Room2", "Room1-Room2"]'
    assert said[:2] == [names, '[true, "SenseRegion2D"]']
    assert "3 new" in said[2]
    assert said[3:] == ["[]", names]
