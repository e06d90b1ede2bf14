"""A game exported with the release template runs from any folder, with no Python in reach, as it does in the editor."""
from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest

from tests.addon.without_python import run_without_python
from tools.addon_install import install
from tools.engine_output import complaints
from tools.packaging.game import PRESETS, export, make_project
from tools.preparation import ROOT, Prepared, build
from tools.progress import StepFailed

# Debian's release template says so of every Label in a PanelContainer, with or without us; see the manual.
OF_THE_TEMPLATE = "Attempt to disconnect a nonexistent connection"
LIMIT_S = 240.0

# Packing and exporting take 20 s here, and several times as long on a busy machine.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    found = build(ROOT)
    if found.engine.release_template is None:
        pytest.skip("no release template of this Godot is installed")
    return found


@pytest.fixture(scope="module")
def game(prepared: Prepared, archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The museum, exported, then moved to another folder."""
    exported = export(prepared, archive, "museum", tmp_path_factory.mktemp("exported") / "here")
    elsewhere = exported.parents[1] / "moved to" / "another folder"
    elsewhere.parent.mkdir()
    shutil.move(exported.parent, elsewhere)
    return elsewhere / exported.name


def timeline(output: str) -> list[str]:
    return [line for line in output.splitlines() if re.match(r" *\d+\.\d\d s  ", line)]


def names_in(pack: Path, folder: str) -> set[bytes]:
    # The pack's own list has no "res://"; in the cache of uids a number may follow a name, and begin with "c".
    return set(re.findall(rb"(?<!res://)" + re.escape(folder).encode() + rb"/\w+\.gdc", pack.read_bytes()))


def test_the_exported_museum_tells_the_same_story(prepared, game):
    script = ["--headless", "--fixed-fps", "60"]
    played = run_without_python(
        prepared.engine, game.parent, [*script, "--", "--scripted"], program=game, limit_s=LIMIT_S)
    assert played.succeeded, played.explain()
    assert [line for line in complaints(played.output) if OF_THE_TEMPLATE not in line] == []
    assert "summary: 11 of 11 expected happenings" in played.output
    scene = "res://demo_project/scenes/museum.tscn"
    in_editor = prepared.engine.run([*script, "--path", ROOT, scene, "--", "--scripted"], LIMIT_S)
    assert len(timeline(played.output)) > 10
    assert timeline(played.output) == timeline(in_editor.output)


def test_an_export_carries_no_sources_docs_or_editor_parts(game):
    files = {file.relative_to(game.parent).as_posix() for file in game.parent.rglob("*") if file.is_file()}
    assert [name for name in files if name.endswith((".py", ".gd", ".svg"))] == []
    assert "addons/ai_core/bridge/documentation.pyc" not in files
    sensor = (game.parent / "addons/ai_core/nodes/senses/sensor.pyc").read_bytes()
    source = ast.parse((ROOT / "addons/ai_core/nodes/senses/sensor.py").read_text())
    texts = [ast.get_docstring(one) for one in ast.walk(source) if isinstance(one, (ast.ClassDef, ast.FunctionDef))]
    assert len(list(filter(None, texts))) > 20
    assert [text for text in texts if text and text.splitlines()[0].encode() in sensor] == []
    assert names_in(game.with_suffix(".pck"), "addons/ai_core/editor") == set()
    assert "addons/ai_core/licenses/cpython.txt" in files
    assert not any("python.cfg" in name for name in files)


def test_with_its_options_off_a_game_carries_what_the_editor_has(prepared, archive, tmp_path):
    options = (
        'ai_core/strip_documentation=false\nai_core/strip_editor_parts=false\n'
        'ai_core/leave_out=PackedStringArray("scenarios")'
    )
    program = export(prepared, archive, "museum", tmp_path / "game", options=options)
    files = {file.relative_to(program.parent).as_posix() for file in program.parent.rglob("*") if file.is_file()}
    assert "addons/ai_core/nodes/senses/sensor.py" in files
    assert "addons/ai_core/bridge/documentation.py" in files
    assert "demo_project/city/city_life.py" in files
    assert [name for name in files if name.startswith("demo_project/scenarios")] == []
    assert names_in(program.with_suffix(".pck"), "addons/ai_core/editor")


def test_an_export_without_private_python_says_what_is_missing(prepared, archive, tmp_path):
    project, out = tmp_path / "project", tmp_path / "out"
    for folder in (project, out):
        folder.mkdir()
    make_project(ROOT, archive, "museum", project)
    shutil.rmtree(project / "addons")
    install(ROOT, project, prepared.python_settings)
    template = prepared.engine.release_template
    (project / "export_presets.cfg").write_text(PRESETS.format(template=template, options=""))
    finished = prepared.engine.run(
        ["--headless", "--path", project, "--export-release", "Linux", out / "game.x86_64"], LIMIT_S)
    assert "res://addons/ai_core/runtime/linux.x86_64 is missing, so the game would find no Python" in finished.output


def test_a_missing_scene_is_refused_before_anything_is_made(prepared, archive, tmp_path):
    with pytest.raises(StepFailed, match="circus"):
        export(prepared, archive, "circus", tmp_path / "out")
