"""In the editor a node hides what does not apply and warns of what is wrong; it runs nothing."""
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

    [node name="Guard" type="Node3D" parent="."]

    [node name="Sensor" type="Sensor3D" parent="Guard"]

    [node name="Habits" type="HabitTree" parent="Guard"]

    [node name="Patrol" type="Habit" parent="Guard/Habits"]

    [node name="Room" type="SenseRegion3D" parent="."]

    [node name="Door" type="SensePortal3D" parent="."]
    from_region = NodePath("../Room")
    """
GUARD = """\
    [gd_scene format=3]

    [node name="Guard" type="Node3D"]

    [node name="Sensor" type="Sensor3D" parent="."]

    [node name="Habits" type="HabitTree" parent="."]
    """

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("inspector")
    make_project(project, prepared, {"level.tscn": LEVEL, "guard.tscn": GUARD}, main_scene="level.tscn")
    return project


def test_properties_that_do_not_apply_are_hidden_and_come_back(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        var scheduler := level.get_node("AIScheduler")
        var before: Array = await shown(scheduler)
        say(["budget" in before, "custom_rate" in before, "ai_share" in before])
        scheduler.set("target_rate", 1)
        await frames(3)
        var after: Array = await shown(scheduler)
        say(["budget" in after, "custom_rate" in after, "ai_share" in after])
        var door: Array = await shown(level.get_node("Door"))
        say("smell_distance" in door)
        level.get_node("Door").set("passes_smell", false)
        door = await shown(level.get_node("Door"))
        say(["smell_distance" in door, "passes_smell" in door, level.get_node("Door").get("smell_distance")])
    """)
    assert said == ["[true, false, false]", "[false, true, true]", "true", "[false, true, 1.0]"]


def test_no_group_is_a_header_with_nothing_below_it(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        for kind: String in ["PathService", "HabitMoveTo", "AIScheduler"]:
            var node: Node = ClassDB.instantiate(kind)
            node.name = kind + "Probe"
            level.add_child(node)
            node.owner = level
            var properties: Array = await shown(node)
            var sections := EditorInterface.get_inspector().find_children("*", "EditorInspectorSection", true, false)
            var empty := sections.filter(func(one: Node) -> bool:
                return one.find_children("*", "EditorProperty", true, false).is_empty())
            say([kind, properties.size() > 3, sections.size() > 1, empty.size()])
            node.free()
    """)
    assert said == [f'["{kind}", true, true, 0]' for kind in ("PathService", "HabitMoveTo", "AIScheduler")]


def test_an_unset_target_point_is_not_saved(project, prepared):
    said = run_in_editor(project, prepared, """
        var guard := Node2D.new()
        (await opened("res://level.tscn")).add_child(guard)
        guard.owner = guard.get_parent()
        var tree: Node = ClassDB.instantiate("HabitTree")
        var chase: Node = ClassDB.instantiate("HabitMoveTo")
        guard.add_child(tree)
        tree.add_child(chase)
        for node: Node in [tree, chase]: node.owner = guard
        var points := (await shown(chase)).filter(func(name: String) -> bool: return name == "target_point")
        var editors := EditorInterface.get_inspector().find_children("*", "EditorPropertyVector2", true, false)
        say([points, editors.map(func(one: EditorProperty) -> String: return one.get_edited_property())])
        for step in 3:
            var packed := PackedScene.new()      # as the editor saves
            packed.pack(guard)
            ResourceSaver.save(packed, "res://saved.tscn")
            say("target_point" in FileAccess.get_file_as_string("res://saved.tscn"))
            if step == 0: await change(chase, "target_point", Vector2(0, 0))
            if step == 1: await change(chase, "target_point", null)
        guard.free()
    """)
    assert said == ['[["target_point"], ["target_point"]]', "false", "true", "false"]


def test_a_2d_guard_that_is_opened_and_saved_stays_the_same(project, prepared):
    """A turn speed of 360° is the default in 3D alone; in 2D a scene has to store it, and no other default."""
    said = run_in_editor(project, prepared, """
        for name: String in ["2d", "3d"]:
            var path := "res://addons/ai_core/examples/guard_%s.tscn" % name
            var before := FileAccess.get_file_as_string(path)
            var guard: Node = null
            while guard == null or guard.scene_file_path != path: guard = await opened(path)
            var packed := PackedScene.new()
            packed.pack(guard)
            ResourceSaver.save(packed, "res://saved_%s.tscn" % name)
            var after := FileAccess.get_file_as_string("res://saved_%s.tscn" % name)
            for node: String in ["Chase", "Suspect", "Search", "Patrol"]:
                var parts := [before, after].map(func(text: String) -> Array:
                    var lines := Array(text.get_slice('name="%s"' % node, 1).get_slice("[", 0).split("\\n", false))
                    lines = lines.slice(1)
                    lines.sort()
                    return lines)
                say(parts[0].size() if parts[0] == parts[1] else parts)
    """)
    assert len(said) == 8
    assert [one for one in said if not one.isdecimal() or one == "0"] == []


def test_warnings_show_in_the_scene_dock_and_go_when_mended(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        say(await warned("Guard/Sensor"))
        say(await warned("Guard/Habits"))
        say(await warned("Room"))
        say(await warned("Door"))
        await change(level.get_node("AIScheduler/Senses"), "mode", 1)
        say(await warned("Room"))
        await change(level.get_node("Door"), "to_region", NodePath("../Room"))
        say(await warned("Door"))
        await change(level.get_node("AIScheduler/Senses"), "mode", 0)
        say(await warned("Room"))
    """)
    regional = "is not used: its SenseManager 'Senses' has mode Regional; set mode to Graph"
    assert said == [
        "", "", regional,
        f"{regional} | to_region is not set, so the portal leads nowhere; choose a SenseRegion3D",
        "", "from_region and to_region are the same region; choose another SenseRegion3D for to_region",
        regional,
    ]


def test_a_level_without_what_its_nodes_need_says_so(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        level.get_node("AIScheduler").free()
        await change(level, "position", Vector3.ONE)
        say(await warned("Guard/Sensor"))
        say(await warned("Guard/Habits"))
    """)
    assert said == [
        "found no SenseManager and senses nothing; add a SenseManager to the scene",
        "found no AIScheduler and will not run; put an AIScheduler above it, or anywhere in the scene",
    ]


def test_a_partial_scene_is_not_warned_about_missing_managers(project, prepared):
    said = run_in_editor(project, prepared, """
        var guard: Node = await opened("res://guard.tscn")
        say(await warned("Sensor"))
        say(await warned("Habits"))
    """)
    assert said == ["", "has no Habit below it and does nothing; add a Habit"]


def test_nothing_runs_in_the_editor(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        await frames(5)
        var scheduler := level.get_node("AIScheduler")
        say([scheduler.is_physics_processing_internal(), get_tree().get_nodes_in_group("ai_schedulers").size()])
        say(level.get_node("Guard/Sensor").has_method("can_sense"))
    """)
    assert said == ["[false, 0]", "true"]


def test_the_plugin_goes_off_and_on(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        var scheduler := level.get_node("AIScheduler")
        for enabled in [false, true]:
            EditorInterface.set_plugin_enabled("res://addons/ai_core/plugin.cfg", enabled)
            await frames(5)
            EditorInterface.edit_node(level)
            await frames(3)
            var applies := "custom_rate" in await shown(scheduler)
            var buttons := EditorInterface.get_inspector().find_children("*", "Button", true, false)
            say([applies, buttons.any(func(one: Button) -> bool: return one.text == "Phase quality")])
    """)
    assert said == ["[false, false]", "[false, true]"]


def test_the_help_of_a_class_tells_of_its_members(project, prepared):
    said = run_in_editor(project, prepared, """
        await opened("res://level.tscn")
        EditorInterface.get_script_editor().goto_help("class_name:Sensor3D")
        await frames(10)
        var pages := EditorInterface.get_script_editor().find_children("*", "EditorHelp", true, false)
        var text: String = pages[0].find_children("*", "RichTextLabel", true, false)[0].get_parsed_text()
        for part in ["Senses of a character", "Range of the sight cone", "if the sensor senses a target now"]:
            say(part in text)
    """)
    assert said == ["true", "true", "true"]


def test_an_ai_scheduler_tells_how_its_nodes_will_meet(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        for period in [3, 6, 6, 9, 18]:
            var one: Node = ClassDB.instantiate("AIBehavior")
            one.set("period", period)
            level.add_child(one)
        await frames(2)
        await shown(level.get_node("AIScheduler"))
        for one in EditorInterface.get_inspector().find_children("*", "Button", true, false):
            if one.text == "Phase quality": one.pressed.emit()
        await frames(2)
        for one in EditorInterface.get_inspector().find_children("*", "Label", true, false):
            if "run periodically" in one.text: say(one.text.split("\\n")[0])
    """)
    assert said == [
        "6 nodes run periodically: 1 to 3 per frame, 1.83 on average; after rephase() at most 2."]
