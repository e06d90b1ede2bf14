"""A game ends without a word: what was handed to our nodes, and what they draw, is let go with them."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.addon.editor_project import make_project
from tools.engine_output import complaints
from tools.preparation import ROOT, build

SCRIPT = """extends SceneTree

func _initialize() -> void:
	await process_frame
	var scheduler := AIScheduler.new()
	var events := AIEventManager.new()
	var station := PollingStation.new()
	var tree := HabitTree.new()
	scheduler.add_child(events)
	scheduler.add_child(station)
	root.add_child(scheduler)
	scheduler.add_behavior(func(_elapsed_s: float) -> void: pass)
	events.listen("alarm", func(_code: String, _arguments: Array) -> void: pass)
	station.add_topic("one", func() -> int: return 1)
	tree.set_value("callable", func() -> void: pass)
	var habit := Habit.new()
	habit.condition = "is_hungry"
	tree.set_value("is_hungry", true)
	tree.add_child(habit)
	scheduler.add_child(tree)
	print("answer: ", station.poll("one"))
	for i in 5: await physics_frame
	tree.free()
	scheduler.queue_free()
	quit()
"""
DRAWN = """extends SceneTree

func _initialize() -> void:
	await process_frame
	var scheduler := AIScheduler.new()
	var senses := SenseManager.new()
	senses.show_in_game = true
	scheduler.add_child(senses)
	scheduler.add_child(Sensor3D.new())
	root.add_child(scheduler)
	for i in 5: await physics_frame
	print("drawn: ", senses.get_child(-1, true).get_class())
	quit()
"""
# The budget is for one of them in a frame, so that the others wait when the game ends.
WAITING = """extends SceneTree

func _initialize() -> void:
	await process_frame
	var scheduler := AIScheduler.new()
	scheduler.budget = 0.001
	root.add_child(scheduler)
	for i in 20: scheduler.add_behavior(func(_elapsed_s: float) -> void: pass)
	for i in 5: await physics_frame
	print("behaviors: ", scheduler.get_stats().behaviors.size())
	quit()
"""
SLICING = """extends SceneTree

func _initialize() -> void:
	await process_frame
	var scheduler := AIScheduler.new()
	root.add_child(scheduler)
	var slicer := Timeslicer.new()
	scheduler.add_child(slicer)
	slicer.set_job(func(key: Callable) -> Callable: return key)
	for i in 50: slicer.add_job(func() -> int: return i)
	for i in 5: await physics_frame
	print("keys: ", slicer.get_keys().size())
	quit()
"""
OPENED = """[gd_scene format=3]

[sub_resource type="SenseModality" id="fear"]
modality_name = "fear"

[node name="Level" type="Node3D"]

[node name="AI" type="AIScheduler" parent="."]

[node name="Senses" type="SenseManager" parent="AI"]
modalities = [SubResource("fear")]

[node name="Eyes" type="Sensor3D" parent="."]
"""
# A start takes half a second; a hang is what it guards against.
LIMIT_S = 240.0


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), [
    (SCRIPT, "answer: 1"), (DRAWN, "drawn: MeshInstance3D"), (WAITING, "behaviors: 20"), (SLICING, "keys: 50"),
])
def test_what_nodes_hold_is_not_leaked_at_exit(tmp_path: Path, text: str, said: str):
    prepared = build(ROOT)
    script = tmp_path / "exit.gd"
    script.write_text(text)
    finished = prepared.engine.run(["--headless", "--verbose", "--path", ROOT, "-s", script], LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert said in finished.output
    assert complaints(finished.output) == []


@pytest.mark.slow
def test_closing_the_editor_with_an_open_scene_leaks_nothing(tmp_path: Path):
    prepared = build(ROOT)
    make_project(tmp_path, prepared, {"level.tscn": OPENED}, main_scene="level.tscn")
    finished = prepared.engine.run(
        ["--headless", "--editor", "--path", tmp_path, "res://level.tscn", "--quit-after", "60"], LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert "Resource still in use" not in finished.output
    assert "resources still in use" not in finished.output
