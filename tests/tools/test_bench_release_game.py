"""The exported game that a suite's scene runs in. Godot and its template are shell scripts here."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.benchmarking import records
from tools.benchmarking.declarations import Scene
from tools.benchmarking.release_game import build
from tools.build_bridge import platform_name
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed

SCENE = Scene("res://tests/benchmarks/demo/demo.tscn", modules=("tests.benchmarks.demo.nodes",), limit_s=5.0)
LOADER = Path("addons/ai_core/bin") / platform_name() / "libai_core_loader.so"
SOURCES = (
    "addons/ai_core/ai_core.gdextension", "addons/ai_core/debugging/debug_panel.gd",
    "addons/ai_core/bridge/gd.py", "addons/ai_core/bridge/values.pxi",
    str(LOADER), "ai_core/clock.py", "tests/benchmarks/demo/demo.tscn", "tests/benchmarks/demo/nodes.py",
    "tools/benchmarking/records.py",
)
ENDS = f"echo '{records.line(records.end())}'"


@pytest.fixture
def game(tmp_path, monkeypatch):
    """``game(does)``: a game whose program does what the shell script says."""
    monkeypatch.setenv("AI_CORE_CACHE", str(tmp_path / "cache"))
    for name in SOURCES:
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(name)

    def made(does=ENDS, libraries=None):
        packs = script(tmp_path / "godot", 'while [ "$1" != -- ]; do shift; done; echo packed > "$2"')
        engine = GodotEngine(packs, script(tmp_path / "template", does))
        folder = tmp_path / "game"
        folder.mkdir()
        return build(engine, tmp_path / "root", SCENE, folder, libraries=libraries)

    return made


def script(file: Path, does: str) -> Path:
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)
    return file


def test_the_pack_lies_beside_the_program_and_the_loader_too(game):
    folder = game().folder
    assert (folder / "benchmark.pck").read_text() == "packed\n"
    assert (folder / LOADER.name).is_file()


def test_python_finds_its_sources_below_the_game(game):
    folder = game().folder
    for name in ("ai_core/clock.py", "addons/ai_core/bridge/gd.py", "tests/benchmarks/demo/nodes.py"):
        assert (folder / name).is_file(), name
    assert not (folder / "addons/ai_core/bridge/values.pxi").exists()


def test_the_pack_holds_what_godot_reads_and_nothing_of_python(game):
    packed = game().folder / "packed"
    files = {str(file.relative_to(packed)) for file in packed.rglob("*") if file.is_file()}
    assert files == {
        "project.godot", "addons/ai_core/ai_core.gdextension", "addons/ai_core/debugging/debug_panel.gd",
        "tests/benchmarks/demo/demo.tscn", ".godot/extension_list.cfg", ".godot/global_script_class_cache.cfg",
    }
    assert f'run/main_scene="{SCENE.path}"' in (packed / "project.godot").read_text()


def test_another_build_of_the_bridge_takes_the_place_of_ours(game, tmp_path):
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / LOADER.name).write_text("native")
    assert (game(libraries=tmp_path / "native").folder / LOADER.name).read_text() == "native"


def test_scene_report_is_read_and_its_modules_are_named(game):
    record = records.samples("work", 1, {"ours": [1.0]})
    made = game(f"""test "$AI_CORE_MODULES" = {SCENE.modules[0]} && echo '{records.line(record)}'; {ENDS}""")
    assert made.measure() == [record, records.end()]


def test_a_scene_that_does_not_reach_its_end_fails(game):
    with pytest.raises(StepFailed, match="half way"):
        game("echo half way").measure()


def test_a_complaint_of_the_engine_fails_the_run(game):
    with pytest.raises(StepFailed, match="SCRIPT ERROR: no such function"):
        game(f"echo 'SCRIPT ERROR: no such function'; {ENDS}").measure()


def test_without_a_release_build_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    engine = GodotEngine(script(tmp_path / "godot", "echo 4.6.3.stable.official"))
    with pytest.raises(StepFailed, match="finding Godot's release build"):
        build(engine, tmp_path, SCENE, tmp_path)
