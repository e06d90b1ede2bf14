"""A person's first minutes: an empty project, the addon installed, Godot started."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.addon_install import install, remove
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared
from tools.processes import Finished

PROJECT = """config_version=5

[application]

config/name="blank"
run/main_scene="res://main.tscn"
"""
SCENE = """[gd_scene load_steps=2 format=3]

[ext_resource type="Script" path="res://main.gd" id="1"]

[node name="Main" type="Node3D"]
script = ExtResource("1")

[node name="Scheduler" type="AIScheduler" parent="."]

[node name="Senses" type="SenseManager" parent="Scheduler"]

[node name="Sensor" type="Sensor3D" parent="."]

[node name="Intruder" type="SenseSource3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -4)
"""
SCRIPT = """extends Node3D

func _ready() -> void:
	$Sensor.target_gained.connect(func(target: Node, _who: Node) -> void: print("saw ", target.name))
	get_tree().create_timer(1.0).timeout.connect(get_tree().quit)
"""
# A first import on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, prepared: Prepared) -> Path:
    (tmp_path / "project.godot").write_text(PROJECT)
    (tmp_path / "main.tscn").write_text(SCENE)
    (tmp_path / "main.gd").write_text(SCRIPT)
    install(ROOT, tmp_path, prepared.python_settings)
    return tmp_path


def start(prepared: Prepared, project: Path, *arguments: str) -> Finished:
    """Start Godot as a user would, with none of our variables set."""
    finished = prepared.engine.run(["--headless", "--path", project, *arguments], LIMIT_S)
    assert finished.succeeded, finished.explain()
    return finished


def test_imported_twice_and_played_the_scene_reports_nothing(prepared, project):
    outputs = [
        start(prepared, project, "--import").output,
        start(prepared, project, "--import").output,
        start(prepared, project, "--fixed-fps", "60").output,
    ]
    assert [complaints(output) for output in outputs] == [[], [], []]
    assert "saw Intruder" in outputs[2]


def test_after_removing_the_addon_the_project_starts_without_it(prepared, project):
    start(prepared, project, "--import")
    (project / "main.tscn").write_text('[gd_scene format=3]\n\n[node name="Main" type="Node"]\n')
    remove(ROOT, project)
    assert not (project / "addons").exists()
    assert complaints(start(prepared, project, "--quit-after", "10").output) == []
