"""Our nodes as guests in projects that know GDScript only, also under other runners: no errors, orphans, output."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.every_node import FILES, write_every_node
from tools.addon_install import install
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared

# A runner as users' are: it fails on errors, counts orphans, frees scenes between tests.
RUNNER = """extends SceneTree

func _initialize() -> void:
	await process_frame
	var names := Array(ClassDB.get_class_list()).filter(func(name: String) -> bool:
		return ClassDB.class_get_api_type(name) == ClassDB.API_EXTENSION and ClassDB.can_instantiate(name))
	var before := orphans()
	for name: String in names:
		var made: Object = ClassDB.instantiate(name)
		if made is Node: made.free()
	made_and_freed_once(names.size(), orphans() - before)
	var scene: PackedScene = load("res://every_node.tscn")
	for round in 10:
		var level := scene.instantiate()
		root.add_child(level)
		for i in 5: await physics_frame
		level.queue_free()
		await process_frame
		await process_frame
	print("orphans after ten scenes: ", orphans() - before)
	quit()

func made_and_freed_once(count: int, left: int) -> void:
	print("classes: ", count > 30, ", orphans: ", left)

func orphans() -> int:
	return int(Performance.get_monitor(Performance.OBJECT_ORPHAN_NODE_COUNT))
"""
# What a game does with scenes, threads and an autoload.
LIFE = """extends Node

var seen := 0

func _ready() -> void:
	await get_tree().process_frame
	var own: int = $AI.get_stats().behaviors.size()
	ResourceLoader.load_threaded_request("res://every_node.tscn")
	while ResourceLoader.load_threaded_get_status("res://every_node.tscn") == ResourceLoader.THREAD_LOAD_IN_PROGRESS:
		await get_tree().process_frame
	var loaded: PackedScene = ResourceLoader.load_threaded_get("res://every_node.tscn")
	get_tree().change_scene_to_packed(loaded)
	for i in 5: await get_tree().physics_frame
	print("loaded in a thread")
	for round in 5:
		get_tree().change_scene_to_file("res://every_node.tscn")
		for i in 5: await get_tree().physics_frame
	print("scenes changed")
	var thread := Thread.new()
	thread.start(func() -> Node: return loaded.instantiate())
	while thread.is_alive(): await get_tree().process_frame
	var made: Node = thread.wait_to_finish()
	get_tree().root.add_child(made)
	for i in 5: await get_tree().physics_frame
	made.queue_free()
	await get_tree().process_frame
	print("made in a thread")
	print("left in the autoload: ", $AI.get_stats().behaviors.size() - own)
	get_tree().quit()
"""
AUTOLOAD = """[gd_scene format=3]

[ext_resource type="Script" path="res://life.gd" id="life"]

[node name="Life" type="Node"]
script = ExtResource("life")

[node name="AI" type="AIScheduler" parent="."]

[node name="Events" type="AIEventManager" parent="AI"]
"""
# A start on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, prepared: Prepared) -> Path:
    write_every_node(tmp_path)
    install(ROOT, tmp_path, prepared.python_settings)
    return tmp_path


def said_by(prepared: Prepared, project: Path, *arguments: str) -> list[str]:
    finished = prepared.engine.run(["--headless", "--fixed-fps", "60", "--path", project, *arguments], LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert complaints(finished.output) == [], finished.output
    return [line for line in finished.output.splitlines() if line and not line.startswith("Godot Engine")]


def test_under_a_strict_runner_every_node_is_silent(prepared, project):
    (project / "every_node.gd").write_text(FILES["every_node.gd"].replace("print(", "str("))
    (project / "run.gd").write_text(RUNNER)
    said = said_by(prepared, project, "-s", "run.gd")
    assert said == ["classes: true, orphans: 0", "orphans after ten scenes: 0"]


def test_change_of_scenes_threads_and_an_autoload_are_survived(prepared, project):
    (project / "every_node.gd").write_text(FILES["every_node.gd"].replace("print(", "str("))
    (project / "life.gd").write_text(LIFE)
    (project / "life.tscn").write_text(AUTOLOAD)
    with (project / "project.godot").open("a") as settings:
        settings.write('\n[autoload]\n\nLife="*res://life.tscn"\n')
    said = said_by(prepared, project)
    assert said == [
        "loaded in a thread", "scenes changed", "made in a thread", "left in the autoload: 0",
    ]
