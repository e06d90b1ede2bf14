"""The editor opens a scene with nodes of ours: they are inert, show their settings, and survive a reload."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.addon_install import install
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared

PROJECT = """config_version=5

[application]

config/name="editor"

[editor_plugins]

enabled=PackedStringArray("res://addons/check/plugin.cfg")
"""
PLUGIN = '[plugin]\nname="check"\ndescription=""\nauthor=""\nversion="1"\nscript="plugin.gd"\n'
SCRIPT = """@tool
extends EditorPlugin

func _enter_tree() -> void:
	check.call_deferred()

func check() -> void:
	await get_tree().process_frame
	var sensor := ClassDB.instantiate("Sensor3D") as Node3D
	sensor.set("sight_range", 33.0)
	add_child(sensor)
	var names := sensor.get_property_list().map(func(one): return one.name)
	print("shown: ", "sight_range" in names and "Sight" in names and "hearing_threshold" in names)
	print("kept: ", sensor.get("sight_range"), " default: ", sensor.get("hearing_threshold"))
	print("revert: ", ClassDB.class_get_property_default_value("Sensor3D", "sight_range"))
	for name in ["AIScheduler", "SenseManager", "HabitTree", "PollingStation", "AIEventManager"]:
		add_child(ClassDB.instantiate(name))
	for i in 20: await get_tree().process_frame
	var packed := PackedScene.new()
	packed.pack(sensor)
	ResourceSaver.save(packed, "res://saved.tscn")
	for round in 3:
		print("reload: ", GDExtensionManager.reload_extension("res://addons/ai_core/ai_core.gdextension"))
		await get_tree().process_frame
	print("after: ", sensor.get("sight_range"), " ", ClassDB.class_exists("HabitTree"))
	sensor.queue_free()
	get_tree().quit()
"""
# Opening an editor on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An installed project whose editor plugin looked at our nodes, and what the editor said."""
    project = tmp_path_factory.mktemp("editor")
    (project / "addons/check").mkdir(parents=True)
    (project / "project.godot").write_text(PROJECT)
    (project / "addons/check/plugin.cfg").write_text(PLUGIN)
    (project / "addons/check/plugin.gd").write_text(SCRIPT)
    install(ROOT, project, prepared.python_settings)
    for arguments in (["--import"], ["--editor"]):
        finished = prepared.engine.run(["--headless", "--path", project, *arguments], LIMIT_S)
        assert finished.succeeded, finished.explain()
    return project, finished.output


def test_nothing_of_ours_complains_in_the_editor(opened):
    assert complaints(opened[1]) == []


def test_the_inspector_has_groups_properties_and_defaults(opened):
    assert "shown: true" in opened[1]
    assert "kept: 33.0 default: 1.0" in opened[1]
    assert "revert: 20.0" in opened[1]


def test_a_saved_scene_holds_only_what_differs_from_the_default(opened):
    lines = (opened[0] / "saved.tscn").read_text().split("[node")[1].splitlines()
    assert 'type="Sensor3D"' in lines[0]
    assert [line for line in lines[1:] if line] == ["sight_range = 33.0"]


def test_three_reloads_keep_classes_and_values(opened):
    assert opened[1].count("reload: 0") == 3
    assert "after: 33.0 true" in opened[1]
