"""Finding and judging demonstration scenes. Godot is a shell script here."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.demo import play_in_window, play_scripted, scene_path
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed


@pytest.fixture
def root(tmp_path):
    scenes = tmp_path / "demo_project" / "scenes"
    scenes.mkdir(parents=True)
    (scenes / "museum.tscn").touch()
    return tmp_path


def godot_that(root: Path, does: str) -> GodotEngine:
    program = root / "godot"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return GodotEngine(program)


def test_a_scene_is_found_by_name_and_by_path(root):
    assert scene_path(root, "museum") == "res://demo_project/scenes/museum.tscn"
    assert scene_path(root, "res://demo_project/scenes/museum.tscn") == "res://demo_project/scenes/museum.tscn"


def test_an_unknown_scene_is_refused_with_the_known_ones(root):
    with pytest.raises(StepFailed) as failure:
        scene_path(root, "musuem")
    assert failure.value.remedy == "use one of: museum"


def test_the_script_is_asked_for_after_the_two_dashes(root, capfd):
    assert play_scripted(godot_that(root, 'echo "$@"'), root, "museum") == 0
    assert capfd.readouterr().out.split() == [
        "--headless", "--fixed-fps", "60", "--path", str(root),
        "res://demo_project/scenes/museum.tscn", "--", "--scripted",
        f"--recording={root}/recordings/demo_museum.jsonl",
    ]


def test_self_recorded_scene_gets_pictures_and_old_ones_get_none(root, monkeypatch):
    drawn = []
    monkeypatch.setattr("tools.recording_commands.timeline", lambda options: drawn.append(options.out.name) or 0)
    recorded = root / "recordings" / "demo_museum.jsonl"
    recorded.parent.mkdir()
    recorded.touch()
    assert play_scripted(godot_that(root, "true"), root, "museum") == 0
    assert drawn == []
    assert play_scripted(godot_that(root, f"touch {recorded}"), root, "museum") == 0
    assert drawn == ["demo_museum.svg", "demo_museum.png"]


def test_the_exit_status_of_the_story_passes_through(root):
    assert play_scripted(godot_that(root, "exit 3"), root, "museum") == 3


def test_a_complaint_of_the_engine_fails_a_story_that_went_well(root, capfd):
    assert play_scripted(godot_that(root, "echo 'ERROR: something'"), root, "museum") == 1
    assert "complained 1 times, first: ERROR: something" in capfd.readouterr().err


def test_a_window_without_a_display_is_refused(root, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(StepFailed, match="neither DISPLAY nor WAYLAND_DISPLAY"):
        play_in_window(godot_that(root, "true"), root, "museum")
