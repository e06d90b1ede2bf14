"""Which Python the loader starts, and what it says when there is none."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.addon_install import install
from tools.engine_output import complaints
from tools.preparation import ROOT, Prepared
from tools.processes import Finished

SCRIPT = """extends SceneTree

func _initialize() -> void:
	print("nodes: ", ClassDB.class_exists("AIScheduler"))
	quit()
"""
# A start takes half a second; a hang is what it guards against.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, prepared: Prepared) -> Path:
    (tmp_path / "project.godot").write_text('config_version=5\n[application]\nconfig/name="loader"\n')
    (tmp_path / "check.gd").write_text(SCRIPT)
    install(ROOT, tmp_path, prepared.python_settings)
    return tmp_path


def settings_file(project: Path) -> Path:
    return project / "addons" / "ai_core" / "bin" / "python.cfg"


def start(prepared: Prepared, project: Path, **environment: str) -> Finished:
    return prepared.engine.run(
        ["--headless", "--path", project, "-s", "check.gd"], LIMIT_S,
        env={"AI_CORE_PYTHON": "", "VIRTUAL_ENV": "", **environment},
    )


def test_the_python_of_the_settings_file_runs(prepared, project):
    finished = start(prepared, project)
    assert "nodes: true" in finished.output
    assert complaints(finished.output) == []


def test_a_verbose_start_says_on_what_it_runs(prepared, project):
    finished = prepared.engine.run(
        ["--headless", "--verbose", "--path", project, "-s", "check.gd"], LIMIT_S, env={"AI_CORE_PYTHON": ""})
    assert re.search(r"\[ai_core\] Godot 4\.\d+\.\d+ has all that is needed; Python 3\.\d+", finished.output)


def test_without_python_one_error_lists_every_place_searched(prepared, project):
    settings_file(project).unlink()
    finished = start(prepared, project, PATH="/nowhere")
    assert finished.succeeded
    assert "nodes: false" in finished.output
    assert len(complaints(finished.output)) == 1
    for place in ("$AI_CORE_PYTHON: is not set", "bin/python.cfg: there is none", "/runtime/", "/.venv: there is none",
                  "/venv: there is none", "$VIRTUAL_ENV: is not set", "python3: does not run"):
        assert place in finished.output
    assert "Put Python 3.11 or newer with NumPy into a virtual environment .venv" in finished.output


def test_a_python_that_was_asked_for_is_not_replaced_by_another(prepared, project):
    finished = start(prepared, project, AI_CORE_PYTHON="/nowhere/it's/python3")
    assert "nodes: false" in finished.output
    assert "/nowhere/it's/python3: does not run" in finished.output


def test_a_virtual_environment_without_python_is_refused(prepared, project):
    settings_file(project).unlink()
    (project / ".venv").mkdir()
    finished = start(prepared, project, PATH="/nowhere")
    assert "/.venv: holds no bin/python3" in finished.output


def test_a_settings_file_that_cannot_be_understood_is_named(prepared, project):
    settings_file(project).write_text("pyhton=/usr/bin/python3\n")
    finished = start(prepared, project)
    assert "python.cfg: knows only libpython, program, home and path" in finished.output


def test_a_place_in_the_settings_may_be_relative_to_the_file(prepared, project):
    settings = settings_file(project)
    (settings.parent / "libpython.so").symlink_to(prepared.library.libpython)
    settings.write_text(f"libpython={{dir}}/libpython.so\nprogram={prepared.python}\n")
    assert "nodes: true" in start(prepared, project).output


def test_a_module_of_the_game_does_not_replace_one_of_python(prepared, project):
    (project / "random.py").write_text("print('random.py of the game runs')\n")
    (project / "heapq.py").write_text("this is no Python\n")
    (project / "numpy").mkdir()
    (project / "village.py").write_text("print('village.py of the game runs')\n")
    with (project / "project.godot").open("a") as settings:
        settings.write('[ai_core]\npython_modules=PackedStringArray("village")\n')
    finished = start(prepared, project)
    assert "nodes: true" in finished.output
    assert "village.py of the game runs" in finished.output
    assert "random.py of the game runs" not in finished.output
    assert complaints(finished.output) == []
