"""A picture of the editor, taken where no screen is: it shows the scene that was named, and nothing complains."""
from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tools.editor_screenshot import take_editor_screenshot
from tools.preparation import Prepared
from tools.progress import StepFailed
from tools.screenshot import SIZE

GUARD_LEVEL = "res://addons/ai_core/examples/guard_level_3d.tscn"
# Importing the demonstrations and drawing an editor in software takes 20 s here.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_it_is_a_png_of_the_editor_s_window(prepared: Prepared, tmp_path: Path):
    picture = tmp_path / "pictures" / "guard.png"
    take_editor_screenshot(prepared, "res://demo_project/museum/guard.tscn", "Sensor", picture)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == SIZE


def test_a_running_guard_is_shown_live_in_the_panel(prepared: Prepared, tmp_path: Path):
    picture = tmp_path / "live.png"
    take_editor_screenshot(prepared, GUARD_LEVEL, "Guard/Habits", picture, live_s=2.0)
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == SIZE


def test_a_node_that_is_not_in_the_scene_is_named(prepared: Prepared, tmp_path: Path):
    with pytest.raises(StepFailed, match="no such node in the scene: Nobody"):
        take_editor_screenshot(prepared, "res://demo_project/museum/guard.tscn", "Nobody", tmp_path / "guard.png")
