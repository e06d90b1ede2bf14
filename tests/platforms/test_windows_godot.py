"""Windows, by wine, in Godot itself: the one that `dev.py windows-godot` built from its source."""
from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.platforms.projects import NODES
from tools import build_bridge, windows_godot, windows_python, wine, wine_numpy
from tools.cache_folder import cache_folder
from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.packaging import registry_python
from tools.packaging.command import package
from tools.packaging.game import PRESETS
from tools.packaging.game import make_project as make_project_of_game
from tools.preparation import ROOT, Prepared, build_for
from tools.processes import run
from tools.targets import TARGETS
from tools.test_packages import install_test_packages
from tools.zig import ensure_zig

TARGET = windows_python.TARGET
START_LIMIT_S, SUITE_LIMIT_S = 300.0, 5400.0
LAUNCHER = ROOT / "tools/godot_in_wine.py"
CHECK = """extends SceneTree
func _initialize() -> void:
	for name in {names}:
		print("class ", name, " ", ClassDB.class_exists(name))
	quit()
"""

pytestmark = [
    pytest.mark.skipif(
        not windows_godot.is_there(), reason="Godot for Windows was not built: dev.py windows-godot, once, an hour"),
    pytest.mark.timeout(SUITE_LIMIT_S),
]


@pytest.fixture(scope="module")
def python(prepared: Prepared) -> windows_python.WindowsPython:
    return windows_python.ensure(ROOT, prepared.python)


@pytest.fixture(scope="module")
def engine(python: windows_python.WindowsPython, tmp_path_factory: pytest.TempPathFactory) -> GodotEngine:
    """Godot for Windows as a program of this machine, with what NumPy needs in wine beside it."""
    folder = tmp_path_factory.mktemp("godot")
    shutil.copy(windows_godot.program(), folder / "godot.exe")
    for library in python.folder.glob("ai-*.dll"):
        shutil.copy(library, folder)
    words = [sys.executable, LAUNCHER, folder / "godot.exe", windows_python.wine_home()]
    program = folder / "godot"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    program.chmod(0o755)
    yield GodotEngine(program)
    wine.end_all(windows_python.wine_home())


@pytest.fixture(scope="module")
def project(
    prepared: Prepared, python: windows_python.WindowsPython, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """This repository with what is built for Windows, in a folder whose name needs letters of two alphabets."""
    folder = tmp_path_factory.mktemp("Jürgen Ω")
    build_for(TARGET, prepared)
    listed = run(["git", "ls-files", "-z"], timeout_s=START_LIMIT_S, cwd=ROOT).output
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / ".godot", folder / ".godot", dirs_exist_ok=True)
    built = build_bridge.library_folder(TARGET)
    shutil.copytree(built, folder / built.relative_to(ROOT))
    site = cache_folder() / "windows_test_packages"
    install_test_packages(ROOT, prepared.python, site, "win_amd64", version=registry_python.VERSION)
    path = ";".join(map(wine.windows_path, [site, folder / "tools"]))
    settings = {"libpython": python.folder / "python312.dll", "program": python.program, "home": python.folder}
    lines = [f"{name}={wine.windows_path(file)}" for name, file in settings.items()]
    (folder / "addons/ai_core/bin/python.cfg").write_text("\n".join([*lines, f"path={path}"]) + "\n")
    return folder


def test_every_class_is_there(engine, project):
    (project / "check.gd").write_text(CHECK.format(names=sorted(NODES)))
    finished = engine.run(["--headless", "--verbose", "--path", project, "-s", "res://check.gd"], START_LIMIT_S)
    assert finished.succeeded, finished.explain()
    assert complaints(finished.output) == []
    assert {f"class {name} true" for name in NODES} <= set(finished.output.splitlines())
    assert "has all that is needed; Python 3.12.7" in finished.output


def test_a_museum_exported_on_linux_plays_its_script(prepared, python, tmp_path):
    here, there = (package(prepared, tmp_path, targets=[one]) for one in (TARGETS["linux.x86_64"], TARGET))
    make_project_of_game(ROOT, here, "museum", tmp_path / "project")  # the engine that exports is this machine's
    with zipfile.ZipFile(there) as packed:
        packed.extractall(tmp_path / "project")
    preset = PRESETS.format(template=windows_godot.program(), options="")
    (tmp_path / "project/export_presets.cfg").write_text(preset.replace('"Linux"', '"Windows Desktop"'))
    game = tmp_path / "Jürgen Ω"
    game.mkdir()
    finished = prepared.engine.run(
        ["--headless", "--path", tmp_path / "project", "--export-release", "Windows Desktop", game / "museum.exe"],
        START_LIMIT_S)
    assert finished.succeeded, finished.explain()
    modules = game / "addons/ai_core/runtime" / TARGET.name / "Lib"
    wine_numpy.make_runnable(ensure_zig(prepared.python), [modules / "numpy", modules / "numpy.libs"], game)
    played = wine.run_in_wine(
        windows_python.wine_home(), [game / "museum.exe", "--headless", "--fixed-fps", "60", "--", "--scripted"],
        START_LIMIT_S, cwd=game)
    assert played.succeeded, played.explain()
    assert complaints(played.output) == []


def test_tests_inside_godot_pass(prepared, engine, project):
    command = [prepared.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/in_godot"]
    environment = {**engine.environment(), "GODOT": str(engine.program)}
    code = subprocess.run(command, cwd=project, env=environment, check=False, timeout=SUITE_LIMIT_S).returncode
    assert code == 0
