"""In the editor the slots of a selected squad are drawn around its first member, in 3D and in 2D."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

LEVEL = """\
    [gd_scene format=3]

    [sub_resource type="Formation" id="line"]
    pattern = 0
    spacing = 3.0

    [node name="Level" type="Node3D"]

    [node name="AI" type="AIScheduler" parent="."]

    [node name="Squad" type="Squad" parent="AI"]
    formation = SubResource("line")
    paths = NodePath("../Nowhere")

    [node name="Bob" type="Node3D" parent="."]
    transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 10, 0, 0)

    [node name="Member" type="SquadMember" parent="Bob"]
    squad_path = NodePath("../../AI/Squad")

    [node name="Ann" type="Node3D" parent="."]

    [node name="Member" type="SquadMember" parent="Ann"]
    squad_path = NodePath("../../AI/Squad")
    attack = { "ground": -1.0 }
    """
FLAT = """\
    [gd_scene format=3]

    [node name="Level" type="Node2D"]

    [node name="AI" type="AIScheduler" parent="."]

    [node name="Squad" type="Squad" parent="AI"]
    dimensions = 1
    pixels_per_meter = 10.0
    """
MIDDLES = """\
    var middles := func(squad: Node) -> Array:
        var found := []
        var drawing: Dictionary = squad.call("_get_slots_drawing")
        for color: Color in drawing:
            var points: PackedVector3Array = drawing[color]
            for first in range(0, points.size(), 24):
                var middle := Vector3.ZERO
                for index in 24: middle += points[first + index] / 24.0
                found.append(middle.snappedf(0.1))
        return found
    var drawn := func(how: Callable) -> int:
        var control := Control.new()
        var times := [0]
        control.draw.connect(func() -> void:
            how.call(control)
            times[0] += 1)
        EditorInterface.get_base_control().add_child(control)
        await frames(3)
        control.queue_free()
        return times[0]
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("squads")
    make_project(project, prepared, {"level.tscn": LEVEL, "flat.tscn": FLAT})
    return project


def test_slots_of_a_squad_are_drawn_in_the_world(project, prepared):
    said = run_in_editor(project, prepared, MIDDLES + """
    var level: Node = await opened("res://level.tscn")
    var squad: Node = level.get_node("AI/Squad")
    say(middles.call(squad))
    level.get_node("Bob").rotate_y(PI / 2)
    say(middles.call(squad))
    squad.get("formation").set("pattern", 5)
    say(middles.call(squad))
    squad.get("formation").set("pattern", 0)
    var overlay: RefCounted = load("res://addons/ai_core/editor/squad_overlay.gd").new()
    say([overlay.is_drawn(squad), overlay.is_drawn(level), overlay.is_drawn(null)])
    overlay.show(squad)
    var view := SubViewport.new()
    EditorInterface.get_base_control().add_child(view)
    var camera := Camera3D.new()
    view.add_child(camera)
    camera.look_at_from_position(Vector3(0, 20, 20), Vector3.ZERO)
    say(await drawn.call(func(control: Control) -> void: overlay.draw_solid(control, camera)) > 0)
    view.free()
    squad.set("paths", NodePath(""))
    level.get_node("Ann/Member").set("attack", {})
    say(middles.call(squad).size())
    middles = Callable()
    drawn = Callable()
    """)
    assert said == [
        "[(10.0, 0.1, 0.0), (13.0, 0.1, 0.0)]", "[(10.0, 0.1, 0.0), (10.0, 0.1, -3.0)]", "[]",
        "[true, false, false]", "true", "2",
    ]


def test_in_the_plane_they_are_drawn_in_pixels(project, prepared):
    said = run_in_editor(project, prepared, MIDDLES + """
    var level: Node = await opened("res://flat.tscn")
    EditorInterface.set_main_screen_editor("2D")
    var squad: Node = level.get_node("AI/Squad")
    say(middles.call(squad))
    var overlay: RefCounted = load("res://addons/ai_core/editor/squad_overlay.gd").new()
    overlay.show(squad)
    say(await drawn.call(func(control: Control) -> void: overlay.draw_flat(control, Transform2D())) > 0)
    middles = Callable()
    drawn = Callable()
    """)
    assert said == [
        "[(0.0, 0.0, 0.0), (-20.0, 20.0, 0.0), (-20.0, -20.0, 0.0), (-40.0, 40.0, 0.0), (-40.0, -40.0, 0.0)]", "true",
    ]


def test_the_dock_warns_of_ways_and_strengths_that_are_none(project, prepared):
    said = run_in_editor(project, prepared, """
    await opened("res://level.tscn")
    say(await warned("AI/Squad"))
    say(await warned("Ann/Member"))
    """)
    assert "paths '../Nowhere' is not in the scene; choose a node of class PathService, or leave it empty" in said[0]
    assert "attack on 'ground' must be at least 0, got -1.0" in said[1]
