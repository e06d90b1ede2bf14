"""In the editor sense nodes are drawn with handles; dragging one changes properties, and can be undone."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

LEVEL = """\
    [gd_scene format=3]

    [sub_resource type="SightCone" id="sharp"]
    range = 16.0
    horizontal_angle = 0.5

    [sub_resource type="SightCone" id="blunt"]
    range = 6.0
    horizontal_angle = 3.0

    [node name="Level" type="Node3D"]

    [node name="AIScheduler" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AIScheduler"]
    mode = 1

    [node name="Sensor" type="Sensor3D" parent="."]

    [node name="Eyes" type="Sensor3D" parent="."]
    sight_cones = Array[SightCone]([SubResource("sharp"), SubResource("blunt")])

    [node name="Radio" type="SenseSource3D" parent="."]

    [node name="Hall" type="SenseRegion3D" parent="."]
    size = Vector3(10, 3, 8)

    [node name="Cellar" type="SenseRegion3D" parent="."]
    transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0)
    size = Vector3(6, 3, 8)

    [node name="Screen" type="Node3D" parent="."]
    transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, -3, 0, 2)

    [node name="Camera" type="SensePortal3D" parent="."]
    from_region = NodePath("../Cellar")
    to_region = NodePath("../Hall")
    exit = NodePath("../Screen")
    """
FLAT = """\
    [gd_scene format=3]

    [node name="Level" type="Node2D"]

    [node name="AIScheduler" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AIScheduler"]
    dimensions = 1
    pixels_per_meter = 10.0

    [node name="Sensor" type="Sensor2D" parent="."]
    position = Vector2(100, 50)
    sight_range = 80.0

    [node name="Hall" type="SenseRegion2D" parent="."]
    size = Vector2(400, 300)

    [node name="Attic" type="SenseRegion2D" parent="."]
    visible = false

    [node name="Door" type="SensePortal2D" parent="."]
    from_region = NodePath("../Hall")
    to_region = NodePath("../Attic")
    """
# A camera above that sees 40 m by 40 m, and what drags a handle of a node to a place below it.
DRAG = """\
    var view := SubViewport.new()
    view.size = Vector2i(400, 400)
    EditorInterface.get_base_control().add_child(view)
    var camera := Camera3D.new()
    view.add_child(camera)
    camera.projection = Camera3D.PROJECTION_ORTHOGONAL
    camera.size = 40.0
    camera.look_at_from_position(Vector3(0, 50, 0), Vector3.ZERO, Vector3.FORWARD)
    var drag := func(node: Node3D, id: int, to: Vector3, cancel := false) -> String:
        var selected := EditorInterface.get_selection()
        selected.clear()
        selected.add_node(node)
        var gizmo: EditorNode3DGizmo
        for one in node.get_gizmos():
            if one.get_plugin().has_method("_lines_of"): gizmo = one
        var plugin := gizmo.get_plugin()
        plugin._redraw(gizmo)
        var name: String = plugin._get_handle_name(gizmo, id, false)
        var before: Variant = plugin._get_handle_value(gizmo, id, false)
        plugin._set_handle(gizmo, id, false, camera, camera.unproject_position(to))
        plugin._commit_handle(gizmo, id, false, before, cancel)
        return name
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("drawing")
    make_project(project, prepared, {"level.tscn": LEVEL, "flat.tscn": FLAT})
    return project


def test_handles_of_sense_nodes_change_their_properties(project, prepared):
    said = run_in_editor(project, prepared, "    var level: Node = await opened(\"res://level.tscn\")\n" + DRAG + """
    var sensor: Node3D = level.get_node("Sensor")
    say([drag.call(sensor, 0, Vector3(0, 0, -12)), snappedf(sensor.get("sight_range"), 0.1)])
    say([drag.call(sensor, 1, Vector3(9, 0, -9)), roundi(rad_to_deg(sensor.get("horizontal_angle")))])
    say([drag.call(sensor, 3, Vector3(1, 0, 4)), snappedf(sensor.get("near_range"), 0.1)])
    drag.call(sensor, 0, Vector3(0, 0, -3), true)
    say(snappedf(sensor.get("sight_range"), 0.1))
    var radio: Node3D = level.get_node("Radio")
    say([drag.call(radio, 0, Vector3(10, 0, 0)), snappedf(radio.get("sound_strength"), 0.1)])
    var hall: Node3D = level.get_node("Hall")
    say([drag.call(hall, 0, Vector3(7, 0, 1)), hall.get("size"), hall.global_position])
    await undo()
    say([hall.get("size"), hall.global_position])
    var screen: Node3D = level.get_node("Screen")
    say([drag.call(level.get_node("Camera"), 0, Vector3(5, 0, 6)), screen.global_position.snappedf(0.1)])
    drag = Callable()
    view.free()
    """)
    assert said == [
        '["sight_range", 12.0]', '["horizontal_angle", 90]', '["near_range", 4.0]', "12.0",
        '["sound_strength", 2.9]',
        '["x of size", (12.0, 3.0, 8.0), (1.0, 0.0, 0.0)]', "[(10.0, 3.0, 8.0), (0.0, 0.0, 0.0)]",
        '["exit", (5.0, 0.0, 6.0)]',
    ]


def test_in_two_dimensions_handles_are_dragged_over_the_view(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://flat.tscn")
        EditorInterface.set_main_screen_editor("2D")
        var sensor: Node2D = level.get_node("Sensor")
        var overlay: RefCounted = load("res://addons/ai_core/editor/sense_overlay_2d.gd").new()
        overlay.undo = get_undo_redo()
        overlay.show(sensor)
        var to_screen := sensor.get_viewport_transform() * sensor.get_global_transform()
        var press := InputEventMouseButton.new()
        press.button_index = MOUSE_BUTTON_LEFT
        press.pressed = true
        press.position = to_screen * Vector2(300, 300)
        say(overlay.input(press))
        press.position = to_screen * Vector2(80, 0)
        say(overlay.input(press))
        var move := InputEventMouseMotion.new()
        move.position = to_screen * Vector2(120, 7)
        overlay.input(move)
        press.pressed = false
        say([overlay.input(press), sensor.get("sight_range")])
        await undo()
        say(sensor.get("sight_range"))
    """)
    assert said == ["false", "true", "[true, 120.0]", "80.0"]


def test_in_two_dimensions_regions_and_portals_are_always_drawn(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://flat.tscn")
        EditorInterface.set_main_screen_editor("2D")
        EditorInterface.get_selection().clear()
        var overlay: RefCounted = load("res://addons/ai_core/editor/sense_overlay_2d.gd").new()
        var control := Control.new()
        add_child(control)
        control.draw.connect(func() -> void: overlay.draw_always(control, level))
        control.queue_redraw()
        for i in 2: await get_tree().process_frame
        say(overlay.always_drawn(level).map(func(node: Node) -> String: return node.name))
        say(overlay.always_drawn(null))
        control.free()
    """)
    assert said == ['["Hall", "Door"]', "[]"]


def test_each_cone_has_handles_and_a_drag_can_be_undone(project, prepared):
    said = run_in_editor(project, prepared, "    var level: Node = await opened(\"res://level.tscn\")\n" + DRAG + """
    var eyes: Node3D = level.get_node("Eyes")
    var blunt: Resource = eyes.get("sight_cones")[1]
    say([drag.call(eyes, 3, Vector3(0, 0, -8)), snappedf(blunt.get("range"), 0.1)])
    say([drag.call(eyes, 1, Vector3(9, 0, -9)), roundi(rad_to_deg(eyes.get("sight_cones")[0].get("horizontal_angle")))])
    await undo()
    say(snappedf(eyes.get("sight_cones")[0].get("horizontal_angle"), 0.01))
    var here: Array = await shown(eyes)
    say(["sight_range" in here, "horizontal_angle" in here, "near_range" in here])
    eyes.set("sight_cones", [])
    here = await shown(eyes)
    say(["sight_range" in here, "vertical_angle" in here])
    drag = Callable()
    view.free()
    """)
    assert said == [
        '["range of sight_cones[1]", 8.0]', '["horizontal_angle of sight_cones[0]", 90]', "0.5",
        "[true, false, true]", "[true, true]",
    ]
