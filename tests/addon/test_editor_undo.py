"""Refused values, undo, scripts and scenes in scenes, in the real editor: what is saved is what is shown."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project, run_in_editor
from tools.preparation import Prepared

LEVEL = """\
    [gd_scene load_steps=3 format=3]

    [ext_resource type="PackedScene" path="res://guard.tscn" id="1"]

    [sub_resource type="RuleSet" id="2"]
    resource_local_to_scene = true
    rules = "hide: danger | do rest"
    facts = { "danger": 0.0 }

    [node name="Level" type="Node3D"]

    [node name="AI" type="AIScheduler" parent="."]

    [node name="Senses" type="SenseManager" parent="AI"]

    [node name="Guard" parent="." instance=ExtResource("1")]

    [node name="Mind" type="RuleMind" parent="Guard"]
    rule_set = SubResource("2")

    [editable path="Guard"]
    """
GUARD = """\
    [gd_scene format=3]

    [node name="Guard" type="Node3D"]

    [node name="Sensor" type="Sensor3D" parent="."]
    """
PACK = """
        var packed := PackedScene.new()
        packed.pack(level)
        ResourceSaver.save(packed, "res://saved.tscn")
        var again: Node = load("res://saved.tscn").instantiate()
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("undo")
    make_project(project, prepared, {"guard.tscn": GUARD, "level.tscn": LEVEL}, main_scene="level.tscn")
    return project


def test_a_refused_value_is_not_shown_and_undo_restores_the_old(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        var sensor := level.get_node("Guard/Sensor")
        await change(sensor, "sight_range", 33.0)
        await change(sensor, "sight_range", -5.0)
        say(sensor.get("sight_range"))
        await undo()
        say(sensor.get("sight_range"))
        await undo()
        say(sensor.get("sight_range"))
        get_undo_redo().get_history_undo_redo(get_undo_redo().get_object_history_id(level)).redo()
        say(sensor.get("sight_range"))
        await change(level.get_node("AI"), "policy", 77)
        await change(level, "name", "Yard")
        await change(sensor, "sight_cones", [5])
    """ + PACK + """
        say([again.get_node("Guard/Sensor").get("sight_range"), again.get_node("AI").get("policy")])
        say(FileAccess.get_file_as_string("res://saved.tscn").count("sight_range"))
        again.free()
    """, complains=(
        "Sensor3D 'Level/Guard/Sensor' (res://level.tscn): sight_range must be at least 0.1, got -5.0; it stays 33.0",
        "AIScheduler 'Level/AI' (res://level.tscn): policy must be one of",
        "Sensor3D 'Yard/Guard/Sensor' (res://level.tscn): sight_cones[0] must be a SightCone, got 5",
    ))
    assert said == ["33.0", "33.0", "20.0", "33.0", "[33.0, 0]", "1"]


def test_scripts_types_and_resources_of_a_node_are_kept(project, prepared):
    said = run_in_editor(project, prepared, """
        var level: Node = await opened("res://level.tscn")
        var sensor := level.get_node("Guard/Sensor")
        sensor.set("sight_range", 12.0)
        var script := GDScript.new()
        script.source_code = "extends Sensor3D\\n@export var mood := 3\\nfunc _ready() -> void: print(\\">runs\\")\\n"
        ResourceSaver.save(script, "res://moody.gd")
        sensor.set_script(load("res://moody.gd"))
        sensor.set("mood", 4)
        await frames(3)
        say([sensor.get("sight_range"), sensor.get("mood")])
        var habit: Node = ClassDB.instantiate("Habit")
        habit.name = "Rest"
        habit.set("cooldown", 3.0)
        level.add_child(habit)
        var other: Node = ClassDB.instantiate("HabitWait")
        other.set("cooldown", habit.get("cooldown"))
        habit.replace_by(other, true)
        habit.free()
        other.name = "Rest"
        other.owner = level
    """ + PACK + """
        var twin: Node = load("res://saved.tscn").instantiate()
        say([again.get_node("Guard/Sensor").get("sight_range"), again.get_node("Guard/Sensor").get("mood")])
        say([again.get_node("Rest").get_class(), again.get_node("Rest").get("cooldown")])
        var mind := NodePath("Guard/Mind:rule_set")
        var rules: Array = [again, twin].map(func(one: Node) -> Resource: return one.get_node_and_resource(mind)[1])
        say([rules[0] == rules[1], rules[0].get("facts") == rules[1].get("facts"), rules[0].get_local_scene() == again])
        sensor.set_script(null)
        say(sensor.get("sight_range"))
        again.free()
        twin.free()
    """)
    assert said == ["[12.0, 4]", "[12.0, 4]", '["HabitWait", 3.0]', "[false, true, true]", "12.0"]
